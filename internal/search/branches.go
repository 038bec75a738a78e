package search

import (
	"math/bits"

	"dlock/engine"
)

// branch takes every way on from a state.
func (s *Search) branch(into *futures, n int32, f engine.Fork) {
	if f.Kind == engine.ForkHole && f.N > 1 {
		s.holes(into, n, f)
	} else {
		s.choices(into, n, f)
	}
}

// choices takes each branch of a fork.
func (s *Search) choices(into *futures, n int32, f engine.Fork) {
	for b := range f.N {
		if b > 0 {
			s.load(n, into.tick)
			f = s.m.Look()
		}
		s.branches++
		s.m.Take(f, b)
		if s.walk(into, away(f, b)); s.err != nil {
			return
		}
	}
}

// holes takes each combination of the holes that are open in one tick. Between two of them no other way leads, so the
// states there need not be known.
func (s *Search) holes(into *futures, n int32, f engine.Fork) {
	for path := onePath; ; s.load(n, into.tick) {
		if path != onePath {
			f = s.m.Look()
		}
		var far int32
		far, path = s.follow(f, path, nil)
		s.branches++
		if s.walk(into, far); s.err != nil {
			return
		}
		if path = path.next(); path == onePath {
			return
		}
	}
}

// follow decides the holes of a fork's tick along a path, and gives how far that is from the first values, and the path
// at its length.
func (s *Search) follow(f engine.Fork, p path, note func(engine.Fork, int)) (far int32, taken path) {
	tick, used := f.Tick, 0
	for more := true; more; used++ {
		b := p.branch(used)
		if note != nil {
			note(f, b)
		}
		far += away(f, b)
		s.m.Take(f, b)
		f = s.m.Look()
		more = moreHoles(f, tick, used)
	}
	return far, p.cut(used)
}

// moreHoles tells whether a fork belongs to the holes of a tick, of which some were decided.
func moreHoles(f engine.Fork, tick engine.Tick, used int) bool {
	return f.Kind == engine.ForkHole && f.N > 1 && f.Tick == tick && used+1 < maxPath
}

// path is a sequence of two-way branches, the first in the lowest bit, with a one behind the last.
type path int32

// onePath is the empty path; maxPath is how many holes of one tick a path may decide.
const onePath path = 1

const maxPath = 24

func (p path) branch(i int) int {
	if p>>i <= 1 {
		return 0 // beyond what is settled
	}
	return int(p>>i) & 1
}

// cut gives the path its length.
func (p path) cut(n int) path {
	if p>>n == 1 {
		return p
	}
	return p&(1<<p.len()-1) | 1<<n
}

func (p path) len() int { return bits.Len32(uint32(p)) - 1 }

// next is the path after this one in order, onePath after the last.
func (p path) next() path {
	for i := p.len() - 1; i >= 0; i-- {
		if p>>i&1 == 0 {
			return p&(1<<i-1) | 1<<i | 1<<(i+1)
		}
	}
	return onePath
}

// away tells how many choices a branch is away from the first values and the order of the lines.
func away(f engine.Fork, branch int) int32 {
	if f.Kind == engine.ForkHole && branch == 1 && f.First == 0 {
		return 1
	}
	return 0 // who goes first in a tick is no hole; of equal members the one in the order of the lines comes first
}
