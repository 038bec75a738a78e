package study

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"dlock/dsl/compile"
	"dlock/internal/search"
)

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
		if e.members+f.members > e.most && f.members > 0 {
			f = &found{err: search.ErrLimit} // with what is known of it there would be more than the limit lets be run
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

// TooMany is why a search stopped whose numbers it cannot count.
const TooMany = "2^256 members or more are too many to count"

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
		return TooMany, true
	}
	return "", false
}
