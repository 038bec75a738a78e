package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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
	At    *place      `json:"at,omitempty"` // which member it is, once that was found out
}

// place is a member: the index of each hole's value, and the source lines of its work in order.
type place struct {
	Choice []int64 `json:"choice"`
	Lines  []int32 `json:"lines"`
}

// under tells whether the other one is better.
func (b *best) under(c best) bool {
	return c.Found && (!b.Found || cmp.Or(c.Cost.Compare(b.Cost), cmp.Compare(c.Slice, b.Slice)) < 0)
}

// better keeps the smaller of two; of equals the one of the earlier slice, so that the order of adding changes nothing. It
// tells whether the other one was better.
func (b *best) better(c best) bool {
	if !b.under(c) {
		return false
	}
	*b = c
	return true
}

// familyTally is what is known of a family so far: of the slices that are done.
type familyTally struct {
	classes  []tallyClass
	smallest [audit.NumLaws]best
	done     []bool
	nDone    int64
	walked   bool // some slices were
	counted  bool // some slices were
	states   int64
	branches int64
}

func (t *familyTally) find(broken search.Laws, final string) (at int, found bool) {
	return slices.BinarySearchFunc(t.classes, tallyClass{Broken: broken, Final: final}, func(a, b tallyClass) int {
		return cmp.Or(cmp.Compare(a.Broken, b.Broken), cmp.Compare(a.Final, b.Final))
	})
}

// class gives a class, made if there is none.
func (t *familyTally) class(broken search.Laws, final string) *tallyClass {
	at, found := t.find(broken, final)
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
	t.walked, t.counted = t.walked || u.walked, t.counted || u.counted
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

// explorer shares the slices of one family out.
type explorer struct {
	st       *Study
	plan     *compile.Plan
	claims   []statement
	walk     bool
	limit    int64 // of states in a slice
	most     int64 // of members that are walked, in all
	until    search.Laws
	mine     []int64 // the slices to do, ascending
	next     atomic.Int64
	progress *Progress
	kept     func(func() *Part) // told of every slice that is done, and now and then
	states   bool               // parts are kept, with the states of a slice that is all there is to do
	begun    *begun             // where such a slice goes on

	mu      sync.Mutex
	total   *familyTally
	held    []*big.Int
	members int64            // walked, in the slices that count
	early   map[int64]*found // what was found before a slice in front of it was
	taken   int              // how many of mine count
	only    *search.Search   // of the slice, if it is one alone and was stopped
	partial []*found         // slices that were stopped, of which something is known
	err     error
}

// found is what came of a slice; with an error that stopped it, as far as it came.
type found struct {
	slice   int64
	tally   *familyTally
	held    []*big.Int
	members int64 // walked
	search  *search.Search
	err     error
}

// work does slices until there are none left, or one stops the search. A panic stops it too.
func (e *explorer) work(ctx context.Context) {
	s := newSlicer(e.plan, e.claims, e.walk, e.limit)
	s.until = e.until
	s.most, s.states, s.within, s.saved = e.most, &e.progress.states, &e.progress.within, e.begun
	s.known = func(of func(*familyTally) best) best {
		e.mu.Lock()
		defer e.mu.Unlock()
		return of(e.total)
	}
	if e.kept != nil && len(e.mine) == 1 {
		s.keep = func() { e.kept(func() *Part { return e.partWith(s.search) }) }
	}
	fault := guarded(func() {
		for {
			at := e.next.Add(1) - 1
			if at >= int64(len(e.mine)) {
				return
			}
			f := e.slice(ctx, s, e.mine[at])
			if f.err != nil {
				e.next.Store(int64(len(e.mine)))
			}
			e.put(at, f)
		}
	})
	if fault != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.err = fault
		e.next.Store(int64(len(e.mine)))
	}
}

// slice answers one slice.
func (e *explorer) slice(ctx context.Context, s *slicer, slice int64) *found {
	f := &found{slice: slice, err: errWalk}
	if err := ctx.Err(); err != nil {
		return &found{slice: slice, err: err}
	}
	if !e.walk {
		f.tally, f.err = s.count(ctx, slice)
		f.search = s.search
	}
	if errors.Is(f.err, errWalk) {
		f.held = zeros(len(e.claims))
		s.held = f.held
		f.tally, f.members, f.err = s.walked(ctx, slice, e.progress)
	}
	return f
}

// put takes what came of a slice. Slices count in their order, up to the first that reaches the limit, so that what a
// limited search finds out does not depend on how many workers it has.
func (e *explorer) put(at int64, f *found) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.early[at] = f
	for e.err == nil {
		f, ok := e.early[int64(e.taken)]
		if !ok {
			return
		}
		delete(e.early, int64(e.taken))
		if f.err == nil && e.members+f.members > e.most && f.members > 0 {
			f = &found{err: search.ErrLimit}
		}
		if f.err != nil {
			e.keep(f)
			e.err = f.err
			e.next.Store(int64(len(e.mine)))
			return
		}
		e.take(e.mine[e.taken], f)
		e.taken++
	}
}

// keep keeps what is known of a slice that was stopped.
func (e *explorer) keep(f *found) {
	_, expected := stops(f.err)
	if expected && f.tally != nil && len(f.tally.classes) > 0 {
		e.partial = append(e.partial, f)
	}
	if expected && len(e.mine) == 1 {
		e.only = f.search
	}
}

// stopped tells whether a slice was stopped, and something is known of it.
func (e *explorer) stopped(slice int64) bool {
	return slices.ContainsFunc(e.partial, func(f *found) bool { return f.slice == slice })
}

// known is what is known of all slices, those that were stopped included.
func (e *explorer) known() (*familyTally, []*big.Int) {
	if len(e.partial) == 0 {
		return e.total, e.held
	}
	t, held := &familyTally{done: e.total.done, nDone: e.total.nDone}, zeros(len(e.held))
	t.add(e.total)
	for i, n := range e.held {
		held[i].Set(n)
	}
	for _, f := range e.partial {
		t.add(f.tally)
		for i, n := range f.held {
			held[i].Add(held[i], n)
		}
	}
	return t, held
}

// take adds what was found in a slice.
func (e *explorer) take(slice int64, f *found) {
	e.members += f.members
	e.total.add(f.tally)
	e.total.finish(slice)
	for i, n := range f.held {
		e.held[i].Add(e.held[i], n)
	}
	e.progress.slices.Store(e.total.nDone)
	if f.members == 0 {
		for i := range f.tally.classes {
			e.progress.add(f.tally.classes[i].Members)
		}
	}
	if e.kept != nil {
		e.kept(e.part)
	}
}

func zeros(n int) []*big.Int {
	all := make([]*big.Int, n)
	for i := range all {
		all[i] = new(big.Int)
	}
	return all
}

// run does the slices on several goroutines. What comes out depends only on which slices are done.
func (e *explorer) run(ctx context.Context, jobs int) {
	e.early = map[int64]*found{}
	var wg sync.WaitGroup
	for range min(max(jobs, 1), len(e.mine)) {
		wg.Go(func() { e.work(ctx) })
	}
	wg.Wait()
	if ctx.Err() == nil || !errors.Is(e.err, ctx.Err()) {
		return
	}
	// An interrupted search keeps what it has, in whatever order it came.
	for at := range int64(len(e.mine)) {
		switch f, ok := e.early[at]; {
		case !ok:
		case f.err != nil:
			e.keep(f)
		case e.members+f.members <= e.most:
			e.take(e.mine[at], f)
		}
	}
}

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

// stops says in a few words why a search stopped early; false if it is no matter of limits and interrupts, but a fault.
func stops(err error) (string, bool) {
	switch {
	case err == nil:
		return "", true
	case errors.Is(err, search.ErrLimit):
		return "the limit is reached", true
	case errors.Is(err, search.ErrFound):
		return "a member that breaks a law was found", true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "interrupted", true
	case errors.Is(err, search.ErrTooMany):
		return "there are 2^128 members or more", true
	}
	return "", false
}
