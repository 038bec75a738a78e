package search

import (
	"errors"
	"slices"

	"dlock/audit"
	"dlock/engine"
)

// Member is one schedule of a family, as the choices that lead to it.
type Member struct {
	Holes []int32 // by late hole: the index of its value
	Lines []int32 // the source line of each piece of work, in the order in which it is done
}

// Smallest gives the smallest member that breaks a law; Run must have found one.
func (s *Search) Smallest(l audit.Law) (Member, error) {
	return s.descend(func(n int32) int32 {
		nd := s.nodes[n]
		for _, b := range s.breaches[nd.breach : nd.breach+nd.breadth] {
			if b.law == l {
				return b.branch
			}
		}
		return -1
	}, func(broken Laws) bool { return broken.Has(l) })
}

// Class gives the smallest member of an outcome class of the result.
func (s *Search) Class(c Class) (Member, error) {
	// Going down, the class of what is still to come is found by trying: the outcomes of a state that, behind what
	// happened so far, make the class.
	return s.descendClass(c)
}

// descend walks from the start, at each state taking the branch that pick says, until done says that what was looked for
// has happened; from there on the smallest future is as good as any.
func (s *Search) descend(pick func(n int32) int32, done func(Laws) bool) (Member, error) {
	w := s.begin()
	for {
		broken, fork, n, err := w.next(s)
		if err != nil {
			return Member{}, err
		}
		if fork.Kind == engine.ForkDone {
			return w.member, nil
		}
		branch := int32(-1)
		if !done(broken) {
			branch = pick(n)
		}
		if branch < 0 {
			branch = s.least(n)
		}
		w.take(s, fork, n, branch)
	}
}

// least is the branch of a state's smallest future.
func (s *Search) least(n int32) int32 {
	nd := s.nodes[n]
	best := s.outcomes[nd.out]
	for _, o := range s.outcomes[nd.out+1 : nd.out+nd.n] {
		if o.smaller(&best) || !best.smaller(&o) && o.branch < best.branch {
			best = o
		}
	}
	return best.branch
}

// descent is a walk down one member.
type descent struct {
	member Member
	broken Laws
	// chain leads back to the values of the start: the values of each state on the way, as the state before knew them.
	chain [][]int32
}

func (s *Search) begin() *descent {
	s.m.Again()
	if !s.bound {
		s.m.SetHorizon(engine.MaxTick)
	}
	s.mon = monitor{bound: s.bound}
	d := &descent{member: Member{Holes: make([]int32, len(s.p.Holes))}}
	return d
}

var errLost = errors.New("no future of a state makes the class")

// next does the work that leaves no choice and gives the state it comes to.
func (d *descent) next(s *Search) (Laws, engine.Fork, int32, error) {
	for steps := 0; ; steps++ {
		d.broken |= s.mon.look(s.m, s.rec)
		f := s.m.Look()
		if f.Kind == engine.ForkDone {
			d.broken |= s.mon.end(s.m, s.p)
			return d.broken, f, 0, nil
		}
		forced := f.Kind == engine.ForkStep || f.Kind == engine.ForkHole && f.N == 1
		if !forced || steps == stretch {
			mark := len(s.values)
			n := s.state(f)
			d.chain = append(d.chain, slices.Clone(s.values[mark:]))
			s.values = s.values[:mark]
			return d.broken, f, n, s.err
		}
		d.note(s, f, 0)
		s.m.Take(f, 0)
	}
}

func (d *descent) take(s *Search, f engine.Fork, n, branch int32) {
	tick := f.Tick
	s.load(n, tick)
	f = s.m.Look()
	if f.Kind != engine.ForkHole || f.N == 1 {
		d.note(s, f, branch)
		s.m.Take(f, int(branch))
		return
	}
	for used := range path(branch).len() {
		b := path(branch).branch(used)
		d.note(s, f, int32(b))
		s.m.Take(f, b)
		f = s.m.Look()
	}
}

func (d *descent) note(s *Search, f engine.Fork, branch int32) {
	if f.Kind != engine.ForkHole {
		d.member.Lines = append(d.member.Lines, s.m.NextLine(int(branch)))
		return
	}
	d.member.Holes[f.Hole] = f.First
	if branch == 1 {
		d.member.Holes[f.Hole]++
	}
}

// descendClass walks down to the smallest member of a class, whose final value is a text of the start.
func (s *Search) descendClass(c Class) (Member, error) {
	d := s.begin()
	for {
		broken, f, n, err := d.next(s)
		if err != nil {
			return Member{}, err
		}
		if f.Kind == engine.ForkDone {
			return d.member, nil
		}
		nd := s.nodes[n]
		best := -1
		outs := s.outcomes[nd.out : nd.out+nd.n]
		for i := range outs {
			if outs[i].broken|broken != c.Broken || s.rec.Value(d.rebase(s, outs[i].final)) != c.Final {
				continue
			}
			if best < 0 || outs[i].smaller(&outs[best]) || !outs[best].smaller(&outs[i]) && outs[i].branch < outs[best].branch {
				best = i
			}
		}
		if best < 0 {
			return Member{}, errLost
		}
		d.take(s, f, n, outs[best].branch)
	}
}

// rebase gives a value of the last state in terms of the start.
func (d *descent) rebase(s *Search, v int32) int32 {
	for i := len(d.chain) - 1; i >= 0; i-- {
		v = s.m.Rebase(v, d.chain[i])
	}
	return v
}
