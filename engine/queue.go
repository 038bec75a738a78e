package engine

type itemKind uint8

const (
	itemStep   itemKind = iota // a step takes its turn; a is the step
	itemEvery                  // a firing of an every line; a is the step
	itemPoll                   // a retry asks again; a is the trial
	itemRenew                  // a watchdog's renewal; a is the step, b the watchdog's generation
	itemLand                   // a request lands; a is the operation
	itemReply                  // an answer is heard; a is the operation, b the answer
	itemSilent                 // a client takes note that no answer will come; a is the operation
)

// item is a piece of work that is due. The order of items is the law of language.md 2: by tick, then by line, then by
// server, then by age. (Leases that end come before every item of a tick; see server.settle.)
type item struct {
	tick   Tick
	line   int32 // where it stands in the tick: the step's line, or a later one for work put off by a pause
	server int32
	age    int32
	client int32 // whose turn it is; None for servers and deliveries, which no pause holds up
	a, b   int32
	kind   itemKind
	hole   int32 // 1 plus the undecided hole that the tick waits for, 0 for none
}

func (x *item) before(y *item) bool {
	switch {
	case x.tick != y.tick:
		return x.tick < y.tick
	case x.line != y.line:
		return x.line < y.line
	case x.server != y.server:
		return x.server < y.server
	}
	return x.age < y.age
}

// push adds an item to the heap and gives it its age.
func (m *Machine) push(it item) {
	if it.tick > MaxTick {
		m.rec.Limit = LimitTicks
		return
	}
	it.age = m.age
	m.age++
	m.queue = append(m.queue, it)
	q := m.queue
	i := len(q) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q[i].before(&q[up]) {
			break
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
}

// pop takes the first item. The queue must not be empty.
func (m *Machine) pop() item {
	return m.remove(0)
}

// remove takes the item at a place of the heap.
func (m *Machine) remove(at int) item {
	q := m.queue
	top := q[at]
	last := len(q) - 1
	q[at] = q[last]
	q = q[:last]
	if at == last {
		m.queue = q
		return top
	}
	i := at
	for i > 0 && q[i].before(&q[(i-1)/2]) {
		q[i], q[(i-1)/2] = q[(i-1)/2], q[i]
		i = (i - 1) / 2
	}
	for {
		l := 2*i + 1
		if l >= last {
			break
		}
		if r := l + 1; r < last && q[r].before(&q[l]) {
			l = r
		}
		if !q[l].before(&q[i]) {
			break
		}
		q[i], q[l] = q[l], q[i]
		i = l
	}
	m.queue = q
	return top
}
