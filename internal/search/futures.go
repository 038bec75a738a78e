package search

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"dlock/audit"
	"dlock/engine"
)

// outcome is a class of a state's futures. Its final value is in terms of the state's own values.
type outcome struct {
	members count
	broken  Laws
	final   int32
	away    int32
	events  int32
}

func (o *outcome) smaller(p *outcome) bool {
	return o.away < p.away || o.away == p.away && o.events < p.events
}

// breach is the smallest of a state's futures in which a law is first broken; Harm counts from the state's own tick.
type breach struct {
	law  audit.Law
	cost Cost
}

// atHorizon is the harm of laws of liveness: they are broken at the horizon, wherever the present is.
const atHorizon engine.Tick = math.MaxInt64

// futures gathers what becomes of a state, branch by branch.
type futures struct {
	tick     engine.Tick
	factor   count // how many members each one of the branch that is being walked stands for
	last     engine.Tick
	outcomes []outcome
	breaches []breach
}

// Decided gives, to a function that Keep names, how many members are decided; of a number too large for it, the largest.
func (s *Search) Decided() int64 {
	sum, each := count{}, small(1)
	ok := true
	take := func(f *futures, begun bool) {
		for _, o := range f.outcomes {
			n, fits := o.members.times(each)
			if ok = ok && fits; ok {
				sum, ok = sum.add(n)
			}
		}
		if begun && ok {
			each, ok = each.times(f.factor)
		}
	}
	take(s.root, s.depth > 0)
	for i, f := range s.gather[:s.depth] {
		take(f, i < s.depth-1)
	}
	if !ok || !sum.isSmall() || sum[0] > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(sum[0])
}

func (s *Search) checked(c count, ok bool) count {
	if !ok {
		s.err = ErrTooMany
	}
	return c
}

// end adds a schedule that came to its end.
func (s *Search) end(into *futures, w *way, away int32) {
	s.merge(into, &outcome{members: w.factor, broken: w.broken, final: s.m.Final(), away: away, events: w.events})
	s.mergeWay(into, w, Cost{Away: away, Events: w.events})
}

// through adds a state's futures, as they are after what happened on the way to it. The values are the state's, as the
// caller knows them, and so are those who had the places of others.
func (s *Search) through(into *futures, w *way, n int32, values, moved []int32, away int32) {
	nd := s.nodes[n]
	if nd.outcomes.n == 0 {
		return // none of them was decided
	}
	at := w.fork.Tick
	if nd.last >= 0 {
		into.last = max(into.last, at+nd.last-into.tick)
	}
	least := Cost{Away: math.MaxInt32}
	several := w.factor != small(1)
	outcomes := s.outcomes.get(nd.outcomes)
	for i := range outcomes {
		o := outcomes[i]
		o.broken |= w.broken
		o.events += w.events
		o.away += away
		o.final = s.m.Rebase(o.final, values, moved)
		if several {
			o.members = s.checked(o.members.times(w.factor))
		}
		if o.away < least.Away || o.away == least.Away && o.events < least.Events {
			least = Cost{Away: o.away, Events: o.events}
		}
		s.merge(into, &o)
	}
	s.mergeWay(into, w, least)
	for _, b := range s.breaches.get(nd.breaches) {
		b.cost.Away += away
		if b.cost.Harm != atHorizon {
			b.cost.Harm += at - into.tick
		}
		if w.broken.Has(b.law) {
			if b.law != audit.TokenRegress {
				continue
			}
			// It is known later, and may be older: it is about the moment of a quorum.
			b.cost.Harm = min(b.cost.Harm, w.first[b.law]-into.tick)
		}
		b.cost.Events += w.events
		into.mergeBreach(b)
	}
}

// mergeWay adds the laws that were broken on the way, in the smallest of the futures that follow it.
func (s *Search) mergeWay(into *futures, w *way, c Cost) {
	for l := range audit.NumLaws {
		if w.broken.Has(l) {
			if c.Harm = atHorizon; l.Kind() != audit.Liveness {
				c.Harm = w.first[l] - into.tick
			}
			into.mergeBreach(breach{law: l, cost: c})
		}
	}
}

// merge adds an outcome; of two of one class the smaller one's cost is kept.
func (s *Search) merge(into *futures, o *outcome) {
	for i := range into.outcomes {
		l := &into.outcomes[i]
		if l.broken != o.broken || l.final != o.final {
			continue
		}
		if !l.members.grow(&o.members) {
			s.err = ErrTooMany
		}
		if o.smaller(l) {
			l.away, l.events = o.away, o.events
		}
		return
	}
	into.outcomes = append(into.outcomes, *o)
}

func (f *futures) mergeBreach(b breach) {
	for i := range f.breaches {
		if l := &f.breaches[i]; l.law == b.law {
			if b.cost.Compare(l.cost) < 0 {
				*l = b
			}
			return
		}
	}
	f.breaches = append(f.breaches, b)
}

// result puts the answer into the names of the world.
func (s *Search) result(root *futures) *Result {
	r := &Result{Members: new(big.Int), States: len(s.nodes), Branches: s.branches, Bytes: s.keys.n}
	for _, o := range root.outcomes {
		c := Class{Broken: o.broken, Final: s.rec.Value(o.final), Members: o.members.big(), Cost: Cost{Away: o.away, Events: o.events}}
		r.Members.Add(r.Members, c.Members)
		r.Classes = append(r.Classes, c)
	}
	slices.SortFunc(r.Classes, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.Broken, b.Broken), cmp.Compare(a.Final, b.Final), a.Cost.Compare(b.Cost))
	})
	merged := r.Classes[:0]
	for _, c := range r.Classes {
		if n := len(merged); n > 0 && merged[n-1].Broken == c.Broken && merged[n-1].Final == c.Final {
			merged[n-1].Members.Add(merged[n-1].Members, c.Members) // the same value came about in several ways
			continue
		}
		merged = append(merged, c)
	}
	r.Classes = merged
	for _, b := range root.breaches {
		r.Broken |= 1 << b.law
		if b.cost.Harm == atHorizon {
			b.cost.Harm = s.p.Settings.Horizon
		}
		r.Smallest[b.law] = b.cost
	}
	return r
}
