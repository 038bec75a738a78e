package study

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/search"
)

// slicer answers the slices of a family one after the other; use one for each goroutine.
type slicer struct {
	plan   *compile.Plan
	fam    *compile.Family
	binder *compile.Binder
	claims []statement
	walk   bool        // every member has to be walked: a claim looks at more than laws and final values
	limit  int64       // of states
	most   int64       // of members that are walked
	until  search.Laws // a member that breaks one of these is enough
	choice []int64
	held   []*big.Int // what walking a slice found, by claim: members in which it holds
	search *search.Search
	states *atomic.Int64                      // told of the states that are kept
	within *atomic.Int64                      // told of the members that are decided in slices that are not done
	known  func(func(*familyTally) best) best // asks what is known of the other slices
	saved  *begun                             // what is known of a slice before it is counted
	keep   func()                             // called now and then while a slice is counted
}

func newSlicer(p *compile.Plan, claims []statement, walk bool, limit int64) *slicer {
	s := &slicer{plan: p, fam: p.Family(), binder: p.Binder(), claims: claims, walk: walk, limit: limit, within: &atomic.Int64{}}
	s.known = func(func(*familyTally) best) best { return best{} }
	s.choice = make([]int64, len(s.fam.Holes()))
	return s
}

// errWalk says that a slice cannot be counted and has to be walked.
var errWalk = errors.New("the slice has to be walked")

// count answers a slice by the search, and finds those of its smallest members that are smaller than what was known. If the
// search was stopped, the answer, if there is one, is about the members that were decided.
func (s *slicer) count(ctx context.Context, i int64) (*familyTally, error) {
	s.fam.Slice(i, s.choice)
	prog, ds := s.binder.BindSlice(s.choice)
	if prog == nil {
		return nil, &ScriptError{ds}
	}
	var err error
	if s.search == nil {
		s.search, err = search.New(prog, int(min(s.limit, 1<<40)))
	} else {
		err = s.search.Reset(prog)
	}
	var t *familyTally
	if err == nil {
		s.search.Watch(s.states)
		s.search.Until(s.until)
		decided := int64(0) // of this slice, as the progress knows
		s.search.Keep(func() {
			now := min(s.search.Decided(), ManyMembers)
			s.within.Add(now - decided)
			if decided = now; s.keep != nil {
				s.keep()
			}
		})
		defer func() { s.within.Add(-decided) }()
		if s.saved != nil && s.saved.Slice == i {
			s.search.LoadStates(s.saved.States)
		}
		var r *search.Result
		if r, err = s.search.Run(ctx); r != nil {
			var lost error
			if t, lost = s.tally(r, i); lost != nil {
				return nil, lost
			}
		}
	}
	switch {
	case errors.Is(err, search.ErrStates):
		err = fmt.Errorf("%s: %w: %w", s.saved.from, ErrPart, err)
	case errors.Is(err, search.ErrTrait):
		err = errWalk
	}
	return t, err
}

// tally puts together what a search gave.
func (s *slicer) tally(r *search.Result, slice int64) (*familyTally, error) {
	t := &familyTally{counted: true, states: int64(r.States), branches: int64(r.Branches)}
	away := s.away(s.choice)
	find := func(cost search.Cost, known *best, member func() (search.Member, error)) (best, error) {
		cost.Away += away
		b := best{Cost: cost, Slice: slice, Found: true}
		if !known.under(b) {
			return b, nil
		}
		m, err := member()
		if err == nil {
			b.At = s.placeOf(m)
		}
		return b, err
	}
	for _, c := range r.Classes {
		k := t.class(c.Broken, c.Final)
		k.Members.Set(c.Members)
		known := s.known(func(t *familyTally) best {
			if at, found := t.find(c.Broken, c.Final); found {
				return t.classes[at].Best
			}
			return best{}
		})
		var err error
		if k.Best, err = find(c.Cost, &known, func() (search.Member, error) { return s.search.Class(c) }); err != nil {
			return nil, err
		}
	}
	for l := range audit.NumLaws {
		if !r.Broken.Has(l) {
			continue
		}
		known := s.known(func(t *familyTally) best { return t.smallest[l] })
		var err error
		if t.smallest[l], err = find(r.Smallest[l], &known, func() (search.Member, error) { return s.search.Smallest(l) }); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// placeOf gives a member of the slice that was counted last.
func (s *slicer) placeOf(m search.Member) *place {
	at := &place{slices.Clone(s.choice), m.Lines}
	late := 0
	for h, hole := range s.fam.Holes() {
		if !hole.Late {
			continue
		}
		if s.there(h, at.Choice) {
			at.Choice[h] = int64(m.Holes[late])
		}
		late++
	}
	return at
}

// has tells whether a place, which may come from anywhere, is one of a slice.
func (s *slicer) has(slice int64, at *place) bool {
	s.fam.Slice(slice, s.choice)
	if len(at.Choice) != len(s.choice) {
		return false
	}
	for h, hole := range s.fam.Holes() {
		c := at.Choice[h]
		if hole.Late && s.there(h, at.Choice) {
			if c < 0 || c >= int64(len(hole.Values)) {
				return false
			}
		} else if c != s.choice[h] {
			return false
		}
	}
	return true
}

// away counts the choices that are not the first value of their hole.
func (s *slicer) away(choice []int64) int32 {
	n := int32(0)
	for _, c := range choice {
		if c > 0 {
			n++
		}
	}
	return n
}

// there tells whether a hole is chosen: those of a line that is not there are not.
func (s *slicer) there(h int, choice []int64) bool {
	in := s.fam.Holes()[h].In
	return in < 0 || choice[in] == 1
}

// each calls visit with every member of a slice, in order: the late holes' values, then the orders of ties.
func (s *slicer) each(ctx context.Context, i int64, visit func(choice []int64, rec *engine.Record, lines []int32) error) error {
	s.fam.Slice(i, s.choice)
	holes := s.fam.Holes()
	choice := slices.Clone(s.choice)
	var late []int
	for h := range holes {
		if holes[h].Late && s.there(h, choice) {
			late = append(late, h)
			choice[h] = 0
		}
	}
	for {
		prog, ds := s.binder.BindMember(choice)
		if prog == nil {
			return &ScriptError{ds}
		}
		err := search.Orders(ctx, prog, func(rec *engine.Record, lines []int32) error {
			if rec.Limit != engine.NoLimit {
				return search.ErrLimit
			}
			return visit(choice, rec, lines)
		})
		if err != nil {
			return err
		}
		k := len(late) - 1
		for ; k >= 0; k-- {
			h := late[k]
			if choice[h]++; choice[h] < int64(len(holes[h].Values)) {
				break
			}
			choice[h] = 0
		}
		if k < 0 {
			return nil
		}
	}
}

// walked answers a slice by walking every member, and counts them. If it is stopped, the answer is about those that it came to.
func (s *slicer) walked(ctx context.Context, i int64, progress *Progress) (*familyTally, int64, error) {
	t := &familyTally{walked: true}
	members := int64(0)
	var auditor audit.Auditor
	var rep audit.Report
	one := big.NewInt(1)
	held := make([]int64, len(s.claims))
	err := s.each(ctx, i, func(choice []int64, rec *engine.Record, lines []int32) error {
		if members == s.most {
			return search.ErrLimit
		}
		members++
		progress.members.Add(1)
		auditor.Judge(rec, &rep)
		cost := search.Cost{Away: s.away(choice), Events: int32(len(rec.Events))}
		k := t.class(lawsOf(&rep), rec.Value(rec.Final))
		k.Members.Add(k.Members, one)
		keep := func(b *best) {
			if b.better(best{Cost: cost, Slice: i, Found: true}) {
				b.At = &place{slices.Clone(choice), slices.Clone(lines)}
			}
		}
		keep(&k.Best)
		for l := range audit.NumLaws {
			if rep.Counts[l] > 0 {
				cost.Harm = firstHarm(&rep, l, rec.Program.Settings.Horizon)
				keep(&t.smallest[l])
			}
		}
		j := judge{rec: rec, rep: &rep}
		for c := range s.claims {
			if j.says(&s.claims[c], s.binder.Claim(c)) {
				held[c]++
			}
		}
		if lawsOf(&rep)&s.until != 0 {
			return search.ErrFound
		}
		return nil
	})
	for c, n := range held {
		s.held[c].SetInt64(n)
	}
	return t, members, err
}

func lawsOf(rep *audit.Report) search.Laws {
	var s search.Laws
	for l := range audit.NumLaws {
		if rep.Counts[l] > 0 {
			s |= 1 << l
		}
	}
	return s
}

// firstHarm is the tick at which a law was first broken; what only the end shows counts at the horizon.
func firstHarm(rep *audit.Report, law audit.Law, horizon engine.Tick) engine.Tick {
	if law.Kind() == audit.Liveness {
		return horizon
	}
	first := engine.Forever
	for i := range rep.Findings {
		if f := &rep.Findings[i]; f.Law == law {
			first = min(first, f.T)
		}
	}
	return first
}

// countable tells whether a claim looks only at which laws are broken and at the final value, so that classes decide it.
func countable(c *statement) bool {
	switch c.expect.Kind {
	case dsl.ClaimFinal, dsl.ClaimClean:
		return true
	case dsl.ClaimLaw:
		return c.expect.N == nil
	default:
		return false
	}
}
