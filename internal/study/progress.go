package study

import (
	"math"
	"math/big"
	"sync/atomic"
)

// Progress tells, at any time and to any goroutine, how far a search has come.
type Progress struct {
	slices, total, members atomic.Int64
	states, within         atomic.Int64
	resumed                [2]atomic.Int64 // slices and members that were known before
}

// Resumed gives the slices and members that were decided already when the search began.
func (p *Progress) Resumed() (slices, members int64) { return p.resumed[0].Load(), p.resumed[1].Load() }

// ManyMembers is where the progress of a search stops counting members: a count can be longer than any number here.
const ManyMembers = 1e15

// Done gives the slices that are done and the slices there are, and how many members are decided, up to ManyMembers.
func (p *Progress) Done() (slices, total, members int64) {
	return p.slices.Load(), p.total.Load(), min(p.members.Load(), ManyMembers) + min(p.within.Load(), ManyMembers)
}

// States gives how many states were kept so far while counting, in steps of about a thousand.
func (p *Progress) States() int64 { return p.states.Load() }

func (p *Progress) start(t *familyTally, slices int64) {
	p.slices.Store(t.nDone)
	p.total.Store(slices)
	p.members.Store(0)
	p.states.Store(0)
	for i := range t.classes {
		p.add(t.classes[i].Members)
	}
	p.resumed[0].Store(p.slices.Load())
	p.resumed[1].Store(p.members.Load())
}

func (p *Progress) add(n *big.Int) {
	have := big.NewInt(p.members.Load())
	if have.Add(have, n); have.IsInt64() {
		p.members.Store(have.Int64())
	} else {
		p.members.Store(math.MaxInt64)
	}
}
