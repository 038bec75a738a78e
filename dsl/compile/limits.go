package compile

import "dlock/engine"

// The limits of values. Like those of a file, they are checked before anything of their size is allocated.
const (
	// MaxTick bounds every time and duration of a schedule, so that sums of a few of them cannot overflow an int64.
	MaxTick engine.Tick = 1_000_000_000
	// MaxFirings bounds how often the "every" lines of one run fire in all; the engine does no more than that in a run.
	MaxFirings = engine.MaxWork
	// MaxCells bounds a sweep: at a few microseconds a cell this is about a minute.
	MaxCells = 10_000_000
	// MaxAxisValues bounds one axis, whose values are all kept.
	MaxAxisValues = 1_000_000
	// HorizonSlack is how long after the last scheduled tick retries and watchdogs go on by default.
	HorizonSlack engine.Tick = 200
)
