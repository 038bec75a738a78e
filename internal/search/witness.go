package search

import (
	"errors"
	"math"
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
	d := s.descent()
	return d.down(func(f *futures) (Cost, bool) {
		if d.broken.Has(l) {
			return f.least()
		}
		for _, b := range f.breaches {
			if b.law == l {
				return b.cost, true
			}
		}
		return Cost{}, false
	})
}

// Class gives the smallest member of an outcome class of the result.
func (s *Search) Class(c Class) (Member, error) {
	d := s.descent()
	return d.down(func(f *futures) (Cost, bool) {
		least, found := Cost{}, false
		for i := range f.outcomes {
			o := &f.outcomes[i]
			if o.broken|d.broken != c.Broken || s.rec.Value(d.rebase(o.final)) != c.Final {
				continue
			}
			if cost := (Cost{Away: o.away, Events: o.events}); !found || cost.Compare(least) < 0 {
				least, found = cost, true
			}
		}
		return least, found
	})
}

// least is the cost of the smallest of all futures.
func (f *futures) least() (Cost, bool) {
	o := outcome{away: math.MaxInt32}
	for i := range f.outcomes {
		if f.outcomes[i].smaller(&o) {
			o = f.outcomes[i]
		}
	}
	return Cost{Away: o.away, Events: o.events}, len(f.outcomes) > 0
}

var errLost = errors.New("no future of a state is what was looked for")

// descent walks down one member. It keeps to the clients as they are: only what becomes of its branches is looked up in
// states in which clients may have other places. So of equal members it finds the one that comes first by the file. In a search
// that was stopped it moves clients as the search did: of a state that was left on the way it is not known what would have come
// of it with clients in other places.
type descent struct {
	s       *Search
	member  Member
	broken  Laws
	state   []byte  // the last one
	chain   []link  // leads back to the values of the start
	who     []int32 // by place: the client that has it; nil while nobody was moved
	futures futures // what becomes of one of its branches
}

// link is a state on the way: its values as the state before knew them, and who has which place in it.
type link struct{ values, moved []int32 }

func (s *Search) descent() *descent {
	s.start()
	return &descent{s: s, member: Member{Holes: make([]int32, len(s.p.Holes))}}
}

// down takes the branch of least cost, of equal ones the first, at each choice until the end. What a branch costs is for the
// caller to find in what becomes of it.
func (d *descent) down(cost func(*futures) (Cost, bool)) (Member, error) {
	s := d.s
	limit := s.limit
	s.limit, s.stop = math.MaxInt32, func() error { return nil } // what is looked for was found within the limit
	defer func() { s.limit = limit }()
	for {
		f := d.run()
		if s.err != nil || f.Kind == engine.ForkDone {
			return d.member, s.err
		}
		d.keep(f)
		least, best := Cost{}, path(-1)
		if s.known {
			// Branches that were not taken any more may lead to what is known, and cost less: that was not counted.
			at, _ := s.find(d.state)
			nd := &s.nodes[s.table[at]-1]
			least, _ = cost(&futures{outcomes: s.outcomes.get(nd.outcomes), breaches: s.breaches.get(nd.breaches)})
		}
		for branch := d.first(f); branch >= 0; {
			far, next := d.take(f, branch, false)
			d.futures = futures{tick: f.Tick, last: -1, outcomes: d.futures.outcomes[:0], breaches: d.futures.breaches[:0]}
			s.walk(&d.futures, far)
			if s.known {
				s.err = nil // what was not decided is no fault
			}
			if s.err != nil {
				return Member{}, s.err
			}
			switch c, found := cost(&d.futures); {
			case !found || best >= 0 && c.Compare(least) >= 0:
			case !s.known || c == least:
				least, best = c, branch
			}
			branch = next
		}
		if best < 0 {
			return Member{}, errLost
		}
		d.take(f, best, true)
	}
}

// keep notes the state at a fork.
func (d *descent) keep(f engine.Fork) {
	s := d.s
	if !s.known {
		d.state = s.mon.save(s.m.Snapshot(d.state[:0], f.Tick, s.bound), s.m)
		d.chain = append(d.chain, link{values: s.m.Slots(nil)})
		return
	}
	d.state = s.mon.save(s.m.Canonical(d.state[:0], f.Tick, s.bound), s.m)
	l := link{s.m.Slots(nil), s.m.Moved(nil)}
	d.chain = append(d.chain, l)
	if l.moved == nil {
		return
	}
	who := slices.Clone(l.moved)
	for place, c := range l.moved {
		if d.who != nil {
			who[place] = d.who[c]
		}
	}
	d.who = who
}

// run does the work that leaves no choice, and gives the fork that it comes to.
func (d *descent) run() engine.Fork {
	s := d.s
	for steps := 0; ; steps++ {
		d.broken |= s.mon.look(s.m, s.rec)
		f := s.m.Look()
		if f.Kind == engine.ForkDone {
			d.broken |= s.mon.end(s.m, s.p)
			return f
		}
		s.mon.wait(s.m, s.p, f.Tick)
		forced := f.Kind == engine.ForkStep || f.Kind == engine.ForkHole && f.N == 1
		if !forced || steps == stretch {
			return f
		}
		d.note(f, 0)
		s.m.Take(f, 0)
	}
}

// first is the first branch of a fork: of one of holes, where a branch decides all that are open in its tick, the empty path.
func (d *descent) first(f engine.Fork) path {
	if f.Kind == engine.ForkHole && f.N > 1 {
		return onePath
	}
	return 0
}

// take goes back to the state and takes a branch. It gives how far that is from the first values, and the next branch; -1
// if it is the last.
func (d *descent) take(f engine.Fork, branch path, note bool) (far int32, next path) {
	s := d.s
	s.restore(d.state, f.Tick)
	g := s.m.Look()
	if f.Kind != engine.ForkHole || f.N == 1 {
		if note {
			d.note(g, int(branch))
		}
		s.m.Take(g, int(branch))
		if branch++; int(branch) == f.N {
			branch = -1
		}
		return 0, branch
	}
	var noted func(engine.Fork, int)
	if note {
		noted = d.note
	}
	far, branch = s.follow(g, branch, noted)
	if next = branch.next(); next == onePath {
		next = -1
	}
	return far, next
}

func (d *descent) note(f engine.Fork, branch int) {
	hole, line := f.Hole, int32(0)
	if f.Kind != engine.ForkHole {
		line = d.s.m.NextLine(branch)
	}
	switch {
	case f.Kind == engine.ForkHole && d.who != nil:
		hole = d.s.m.HoleAs(hole, d.who)
	case d.who != nil:
		line = d.s.m.LineAs(line, d.who)
	}
	if f.Kind == engine.ForkHole {
		d.member.Holes[hole] = f.First + int32(branch)
		return
	}
	d.member.Lines = append(d.member.Lines, line)
}

// rebase gives a value of the last state in terms of the start.
func (d *descent) rebase(v int32) int32 {
	for i := len(d.chain) - 1; i >= 0; i-- {
		v = d.s.m.Rebase(v, d.chain[i].values, d.chain[i].moved)
	}
	return v
}
