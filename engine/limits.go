package engine

// The limits of one run. They bound time and memory for any program; a run that reaches one stops and says which in
// Record.Limit.
const (
	// MaxRequests is how many requests to servers one run may make: 1,000 servers asked 1,000 times.
	MaxRequests = 1_000_000
	// MaxWork is how many pieces of work (steps, polls, deliveries) one run may do: as many as have a record of a few
	// hundred MiB.
	MaxWork = 600_000
	// MaxValueBytes bounds the lengths of all values that the writes of a run carry, added up, since a record lists each.
	MaxValueBytes = 16 << 20
	// MaxTick is the last tick at which something may happen; sums of ticks stay far from overflow below it.
	MaxTick Tick = 1 << 50
)
