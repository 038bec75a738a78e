package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/search"
)

// MaxWalked is how many members an explore block may have where each has to be walked, unless Options.Limit says otherwise.
const MaxWalked = 2_000_000

// tallyClass is an outcome class as it adds up over slices, with where its smallest member is.
type tallyClass struct {
	Broken  search.Laws `json:"broken"`
	Final   string      `json:"final"`
	Members *big.Int    `json:"members"`
	Best    best        `json:"best"`
}

// best is the cost of a smallest member and the slice that it lies in.
type best struct {
	Cost  search.Cost `json:"cost"`
	Slice int64       `json:"slice"`
	Found bool        `json:"found"`
}

// better keeps the smaller of two; of equals the one of the earlier slice, so that the order of adding changes nothing.
func (b *best) better(c best) {
	if !c.Found {
		return
	}
	if !b.Found || cmp.Or(c.Cost.Compare(b.Cost), cmp.Compare(c.Slice, b.Slice)) < 0 {
		*b = c
	}
}

// familyTally is what is known of a family so far: of the slices that are done.
type familyTally struct {
	classes  []tallyClass
	smallest [audit.NumLaws]best
	done     []bool
	nDone    int64
	walked   bool
	states   int64
	branches int64
}

func (t *familyTally) class(broken search.Laws, final string) *tallyClass {
	at, found := slices.BinarySearchFunc(t.classes, tallyClass{Broken: broken, Final: final}, func(a, b tallyClass) int {
		return cmp.Or(cmp.Compare(a.Broken, b.Broken), cmp.Compare(a.Final, b.Final))
	})
	if !found {
		t.classes = slices.Insert(t.classes, at, tallyClass{Broken: broken, Final: final, Members: new(big.Int)})
	}
	return &t.classes[at]
}

func (t *familyTally) add(u *familyTally) {
	for i := range u.classes {
		c := &u.classes[i]
		into := t.class(c.Broken, c.Final)
		into.Members.Add(into.Members, c.Members)
		into.Best.better(c.Best)
	}
	for l := range u.smallest {
		t.smallest[l].better(u.smallest[l])
	}
	t.walked = t.walked || u.walked
	t.states += u.states
	t.branches += u.branches
}

func (t *familyTally) finish(slice int64) {
	if !t.done[slice] {
		t.done[slice] = true
		t.nDone++
	}
}

// slicer answers the slices of a family one after the other; use one for each goroutine.
type slicer struct {
	plan   *compile.Plan
	fam    *compile.Family
	binder *compile.Binder
	claims []statement
	walk   bool // every member has to be walked: a claim looks at more than laws and final values
	limit  int64
	choice []int64
	// what walking found, by claim: members in which it holds
	held []*big.Int
}

func newSlicer(p *compile.Plan, claims []statement, walk bool, limit int64) *slicer {
	s := &slicer{plan: p, fam: p.Family(), binder: p.Binder(), claims: claims, walk: walk, limit: limit}
	s.choice = make([]int64, len(s.fam.Holes()))
	return s
}

// errWalk says that a slice cannot be counted and has to be walked.
var errWalk = errors.New("the slice has to be walked")

// count answers a slice by the search, and gives the search for the sake of its witnesses.
func (s *slicer) count(ctx context.Context, i int64) (*familyTally, *search.Search, error) {
	s.fam.Slice(i, s.choice)
	prog, ds := s.binder.BindSlice(s.choice)
	if prog == nil {
		return nil, nil, &ScriptError{ds}
	}
	away := s.away(s.choice)
	limit := int(min(s.limit, 1<<40))
	sr, err := search.New(prog, limit)
	if err == nil {
		var r *search.Result
		if r, err = sr.Run(ctx); err == nil {
			t := &familyTally{states: int64(r.States), branches: int64(r.Branches)}
			for _, c := range r.Classes {
				c.Cost.Away += away
				k := t.class(c.Broken, c.Final)
				k.Members.Set(c.Members)
				k.Best = best{c.Cost, i, true}
			}
			for l := range audit.NumLaws {
				if r.Broken.Has(l) {
					cost := r.Smallest[l]
					cost.Away += away
					t.smallest[l] = best{cost, i, true}
				}
			}
			return t, sr, nil
		}
	}
	if errors.Is(err, search.ErrTrait) || errors.Is(err, search.ErrEndless) {
		err = errWalk
	}
	return nil, nil, err
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

// each calls visit with every member of a slice, in order: the late holes' values, then the orders of ties.
func (s *slicer) each(ctx context.Context, i int64, visit func(choice []int64, rec *engine.Record, lines []int32) error) error {
	s.fam.Slice(i, s.choice)
	holes := s.fam.Holes()
	choice := slices.Clone(s.choice)
	var late []int
	for h := range holes {
		if holes[h].Late {
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

// walked answers a slice by walking every member.
func (s *slicer) walked(ctx context.Context, i int64, members *atomic.Int64) (*familyTally, error) {
	t := &familyTally{walked: true}
	var auditor audit.Auditor
	var rep audit.Report
	one := big.NewInt(1)
	held := make([]int64, len(s.claims))
	err := s.each(ctx, i, func(choice []int64, rec *engine.Record, _ []int32) error {
		if members.Add(1) > s.limit {
			return search.ErrLimit
		}
		auditor.Judge(rec, &rep)
		cost := search.Cost{Away: s.away(choice), Events: int32(len(rec.Events))}
		k := t.class(lawsOf(&rep), rec.Value(rec.Final))
		k.Members.Add(k.Members, one)
		k.Best.better(best{cost, i, true})
		for l := range audit.NumLaws {
			if rep.Counts[l] > 0 {
				cost.Harm = firstHarm(&rep, l, rec.Program.Settings.Horizon)
				t.smallest[l].better(best{cost, i, true})
			}
		}
		j := judge{rec: rec, rep: &rep}
		for c := range s.claims {
			if j.says(&s.claims[c], s.binder.Claim(c)) {
				held[c]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for c, n := range held {
		s.held[c].Add(s.held[c], big.NewInt(n))
	}
	return t, nil
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

// explorer shares the slices of one family out.
type explorer struct {
	plan   *compile.Plan
	claims []statement
	walk   bool
	limit  int64
	mine   []int64 // the slices to do
	next   atomic.Int64
	walked atomic.Int64
	mu     sync.Mutex
	total  *familyTally
	held   []*big.Int
	err    error
	note   func(done int64)
}

// work does slices until there are none left, or one stops the search.
func (e *explorer) work(ctx context.Context) {
	s := newSlicer(e.plan, e.claims, e.walk, e.limit)
	s.held = make([]*big.Int, len(e.claims))
	for i := range s.held {
		s.held[i] = new(big.Int)
	}
	for {
		at := e.next.Add(1) - 1
		if at >= int64(len(e.mine)) {
			break
		}
		slice := e.mine[at]
		err := errWalk
		var t *familyTally
		if !e.walk {
			t, _, err = s.count(ctx, slice)
		}
		if errors.Is(err, errWalk) {
			t, err = s.walked(ctx, slice, &e.walked)
		}
		e.mu.Lock()
		if err != nil {
			if e.err == nil {
				e.err = err
			}
			e.next.Store(int64(len(e.mine)))
		} else {
			e.total.add(t)
			e.total.finish(slice)
			e.note(e.total.nDone)
		}
		e.mu.Unlock()
		if err != nil {
			break
		}
	}
	e.mu.Lock()
	for i := range e.held {
		e.held[i].Add(e.held[i], s.held[i])
	}
	e.mu.Unlock()
}

// run does the slices on several goroutines. What comes out depends only on which slices are done.
func (e *explorer) run(ctx context.Context, jobs int) {
	var wg sync.WaitGroup
	for range min(max(jobs, 1), len(e.mine)) {
		wg.Go(func() { e.work(ctx) })
	}
	wg.Wait()
}

// describe says why a search stopped early, in a few words.
func describe(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, search.ErrLimit):
		return "the limit is reached"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "interrupted"
	case errors.Is(err, search.ErrTooMany):
		return "there are 2^128 members or more"
	}
	return fmt.Sprint(err)
}
