package study

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
)

// Cells are dealt out in chunks: large enough that dealing costs nothing, small enough that all workers end together.
const (
	maxChunk      = 512
	chunksPerJob  = 16
	chunksWaiting = 4 // per job: how far the workers may run ahead of Options.Each
)

// sweeper is what the workers of one sweep share.
type sweeper struct {
	plan     *compile.Plan
	claims   []statement
	chunk    int64
	next     atomic.Int64 // the chunk to deal out
	kept     []Cell       // all of them, or none
	progress *progress
}

// sweep computes every cell. Which worker does which cell changes nothing: counts add up in any order, and what names
// cells goes by their numbers.
func sweep(ctx context.Context, p *compile.Plan, o Options, keep bool, progress *progress) (*Sweep, error) {
	s := &Sweep{Name: p.Name, Line: p.Line, Axes: axesOf(p), Clients: p.Clients(), Cells: p.Cells}
	jobs := int64(max(o.Jobs, 1))
	sw := &sweeper{plan: p, claims: statements(p), progress: progress}
	sw.chunk = min(max(p.Cells/(jobs*chunksPerJob), 1), maxChunk)
	jobs = min(jobs, (p.Cells+sw.chunk-1)/sw.chunk)
	if keep {
		s.Kept = make([]Cell, p.Cells)
		sw.kept = s.Kept
	}
	workers := make([]*worker, jobs)
	for i := range workers {
		workers[i] = newWorker(sw)
	}
	var stream *stream
	if o.Each != nil && s.Kept == nil {
		stream = newStream(int(jobs)*chunksWaiting, o.Each)
	}
	// A worker that panics stops the others, which may be waiting for the chunk that it had.
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() {
			if err := guarded(func() { w.work(ctx, stream) }); err != nil {
				stop(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	total := workers[0].tally
	for _, w := range workers[1:] {
		total.merge(&w.tally)
	}
	if total.fault != nil {
		return nil, &ScriptError{total.fault}
	}
	if o.Each != nil {
		for i := range s.Kept {
			o.Each(s.Kept[i])
		}
	}
	s.Broken, s.Clean, s.Unbroken, s.Limited = total.broken, total.clean, total.unbroken, total.limited
	for a := range s.Axes {
		s.Axes[a].Broken = total.slices[a]
	}
	if total.limited > 0 {
		s.LimitedAt = workers[0].at(total.limitedAt)
	}
	for i := range sw.claims {
		s.Claims = append(s.Claims, workers[0].verdict(i, &total.claims[i], total.limited > 0))
	}
	return s, nil
}

func axesOf(p *compile.Plan) []Axis {
	axes := make([]Axis, len(p.Axes))
	for i := range p.Axes {
		a := &p.Axes[i]
		axes[i] = Axis{Name: a.Name, Values: make([]Value, a.Len())}
		for k := range axes[i].Values {
			axes[i].Values[k] = a.Value(k)
		}
	}
	return axes
}

// worker computes cells one after the other in memory of its own, which it uses again for each.
type worker struct {
	*sweeper
	binder  *compile.Binder
	machine *engine.Machine
	auditor audit.Auditor
	rec     engine.Record
	rep     audit.Report
	judge   judge
	cell    []int64
	tally   tally
	final   string // of the cell before: neighbours often end alike
}

func newWorker(sw *sweeper) *worker {
	w := &worker{sweeper: sw, binder: sw.plan.Binder(), machine: engine.NewMachine(), cell: make([]int64, len(sw.plan.Axes))}
	w.judge = judge{rec: &w.rec, rep: &w.rep}
	w.tally.claims = make([]claimTally, len(sw.claims))
	w.tally.slices = make([][][audit.NumLaws]int64, len(sw.plan.Axes))
	for a := range sw.plan.Axes {
		if n := sw.plan.Axes[a].Len(); n <= MaxKeptCells {
			w.tally.slices[a] = make([][audit.NumLaws]int64, n)
		}
	}
	return w
}

// work does chunks until there are none left.
func (w *worker) work(ctx context.Context, out *stream) {
	for ctx.Err() == nil && w.tally.fault == nil {
		if out != nil && !out.enter(ctx) {
			return
		}
		c := w.next.Add(1) - 1
		lo := c * w.chunk
		hi := min(lo+w.chunk, w.plan.Cells)
		if lo >= hi {
			return
		}
		var cells []Cell
		switch {
		case w.kept != nil:
			cells = w.kept[lo:hi]
		case out != nil:
			cells = make([]Cell, hi-lo)
		}
		if cells != nil {
			w.furnish(cells)
		}
		for i := lo; i < hi; i++ {
			var into *Cell
			if cells != nil {
				into = &cells[i-lo]
			}
			w.do(i, into)
		}
		if out != nil {
			out.put(c, cells)
		}
		w.progress.add(hi - lo)
	}
}

// furnish gives the cells of a chunk their lists, out of one piece each.
func (w *worker) furnish(cells []Cell) {
	axes, clients := len(w.plan.Axes), len(w.plan.Clients())
	values, blocked := make([]Value, len(cells)*axes), make([]int64, len(cells)*clients)
	for i := range cells {
		cells[i].At = values[i*axes : (i+1)*axes : (i+1)*axes]
		cells[i].Blocked = blocked[i*clients : (i+1)*clients : (i+1)*clients]
	}
}

// run computes a cell into the worker's record and report.
func (w *worker) run(i int64) bool {
	w.plan.Cell(i, w.cell)
	prog, ds := w.binder.Bind(w.cell)
	if prog == nil {
		w.tally.fault, w.tally.faultAt = ds, i
		return false
	}
	w.machine.Run(prog, &w.rec)
	w.auditor.Judge(&w.rec, &w.rep)
	return true
}

func (w *worker) at(i int64) []Value {
	w.plan.Cell(i, w.cell)
	return w.plan.At(w.cell)
}

// do computes a cell and counts what is in it; into is nil if nobody wants the cell itself.
func (w *worker) do(i int64, into *Cell) {
	if !w.run(i) {
		return
	}
	t := &w.tally
	ok := false
	if w.rec.Limit != engine.NoLimit {
		if t.limited == 0 {
			t.limitedAt = i
		}
		t.limited++
	} else {
		ok = w.judgeClaims(i)
		w.countLaws(i)
	}
	if into == nil {
		return
	}
	if !w.judge.sameValue(w.rec.Final, w.final) {
		w.final = w.judge.text(w.rec.Final)
	}
	into.Final, into.Counts, into.OK, into.Limit = w.final, w.rep.Counts, ok, w.rec.Limit
	for a := range into.At {
		into.At[a] = w.plan.Axes[a].Of(w.cell[a])
	}
	for c := range into.Blocked {
		into.Blocked[c] = int64(w.rep.Blocked[c])
	}
}

// countLaws counts the laws that are broken in a cell, over all cells and for each value of each axis.
func (w *worker) countLaws(i int64) {
	t := &w.tally
	if w.rep.Clean() {
		t.clean++
	}
	if w.rep.Counts == [audit.NumLaws]int64{} {
		t.unbroken++
		return
	}
	for l, n := range w.rep.Counts {
		if n > 0 {
			t.broken[l]++
		}
	}
	for a := len(t.slices) - 1; a >= 0; a-- {
		n := int64(w.plan.Axes[a].Len())
		if t.slices[a] != nil {
			slice := &t.slices[a][i%n]
			for l, n := range w.rep.Counts {
				if n > 0 {
					slice[l]++
				}
			}
		}
		i /= n
	}
}

func (w *worker) judgeClaims(i int64) bool {
	ok := true
	for k := range w.claims {
		c, t, v := &w.claims[k], &w.tally.claims[k], w.binder.Claim(k)
		if c.expect.Iff != nil {
			t.wasTrue = t.wasTrue || v.Iff
			t.wasFalse = t.wasFalse || !v.Iff
		}
		if !w.judge.holds(c, v) {
			ok = false
			if t.broken < MaxFailures {
				t.first[t.broken] = i
			}
			t.broken++
			continue
		}
		if t.meaningful || c.expect.Iff != nil {
			continue
		}
		if why := w.judge.vacuous(c, v); why == meaningful {
			t.meaningful = true
		} else if t.why == meaningful {
			t.why, t.whyAt = why, i
		}
	}
	return ok
}

// verdict makes the claim of a sweep out of what was counted. It computes the first few cells that break it once more,
// to say what was there instead.
func (w *worker) verdict(k int, t *claimTally, limited bool) Claim {
	c := &w.claims[k]
	out := Claim{Expect: c.expect, Unchecked: w.plan.Overridden, Broken: t.broken, OK: t.broken == 0 && !limited}
	out.Inconclusive = t.broken == 0 && limited
	for _, i := range t.first[:min(t.broken, MaxFailures)] {
		if w.run(i) {
			out.Cells = append(out.Cells, Failure{At: w.plan.At(w.cell), Got: w.judge.got(c, w.binder.Claim(k))})
		}
	}
	switch {
	case len(out.Cells) > 0:
		out.Got = out.Cells[0].Got
	case !out.OK:
	case c.expect.Iff != nil && (!t.wasTrue || !t.wasFalse):
		out.Vacuous = oneTruth.String()
	case c.expect.Iff == nil && !t.meaningful:
		out.Vacuous = t.why.String()
	}
	return out
}

// tally is what one worker counted.
type tally struct {
	broken    [audit.NumLaws]int64
	slices    [][][audit.NumLaws]int64 // by axis and value; nil for an axis that is too long
	clean     int64
	unbroken  int64
	limited   int64
	limitedAt int64
	claims    []claimTally
	fault     dsl.Diagnostics
	faultAt   int64
}

// claimTally is what one worker saw of a claim.
type claimTally struct {
	broken            int64
	first             [MaxFailures]int64 // the lowest cells that break it
	meaningful        bool               // it could have failed in some cell
	why               vacuity            // and why it could not in whyAt, the lowest of the others
	whyAt             int64
	wasTrue, wasFalse bool // values of its condition
}

func (t *tally) merge(o *tally) {
	for l := range t.broken {
		t.broken[l] += o.broken[l]
	}
	for a := range t.slices {
		for v := range t.slices[a] {
			for l := range t.slices[a][v] {
				t.slices[a][v][l] += o.slices[a][v][l]
			}
		}
	}
	t.clean += o.clean
	t.unbroken += o.unbroken
	if o.limited > 0 && (t.limited == 0 || o.limitedAt < t.limitedAt) {
		t.limitedAt = o.limitedAt
	}
	t.limited += o.limited
	if o.fault != nil && (t.fault == nil || o.faultAt < t.faultAt) {
		t.fault, t.faultAt = o.fault, o.faultAt
	}
	for i := range t.claims {
		t.claims[i].merge(&o.claims[i])
	}
}

func (t *claimTally) merge(o *claimTally) {
	first := slices.Concat(t.first[:min(t.broken, MaxFailures)], o.first[:min(o.broken, MaxFailures)])
	slices.Sort(first)
	copy(t.first[:], first)
	t.broken += o.broken
	t.meaningful = t.meaningful || o.meaningful
	if o.why != meaningful && (t.why == meaningful || o.whyAt < t.whyAt) {
		t.why, t.whyAt = o.why, o.whyAt
	}
	t.wasTrue, t.wasFalse = t.wasTrue || o.wasTrue, t.wasFalse || o.wasFalse
}

// stream hands chunks on in order. A worker enters before it takes a chunk, and only so many chunks are inside at a time:
// the memory does not grow with the cells.
type stream struct {
	room    chan struct{}
	mu      sync.Mutex
	waiting map[int64][]Cell
	next    int64
	each    func(Cell)
}

func newStream(room int, each func(Cell)) *stream {
	return &stream{room: make(chan struct{}, room), waiting: map[int64][]Cell{}, each: each}
}

func (s *stream) enter(ctx context.Context) bool {
	select {
	case s.room <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// put gives a chunk in, and hands on every chunk whose turn has come.
func (s *stream) put(chunk int64, cells []Cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[chunk] = cells
	for {
		ready, ok := s.waiting[s.next]
		if !ok {
			return
		}
		delete(s.waiting, s.next)
		s.next++
		<-s.room
		for _, c := range ready {
			s.each(c)
		}
	}
}

// progress adds up what is done over all workers.
type progress struct {
	mu          sync.Mutex
	done, total int64
	tell        func(done, total int64)
}

func newProgress(tell func(done, total int64), plans []*compile.Plan) *progress {
	p := &progress{tell: tell}
	for _, plan := range plans {
		p.total += plan.Cells
	}
	return p
}

func (p *progress) add(n int64) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.tell(p.done, p.total)
}
