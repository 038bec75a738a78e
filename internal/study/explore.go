package study

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/search"
)

// Explore is an explore block after its family was searched. Its numbers are exact, for the slices that are done: all of
// them unless Stopped says otherwise. A slice is one choice of the holes that are enumerated.
type Explore struct {
	Name     string
	Line     int
	Holes    []Hole
	Ties     bool    // who goes first within a tick is part of a member
	Settings []Value // those that are the same in all members
	Members  *big.Int
	Clean    *big.Int // members in which no law of safety is broken
	Broken   [audit.NumLaws]*big.Int
	Classes  []Class   // by laws, then final value
	Smallest []Witness // for each broken law, in the order of the laws
	Claims   []Claim
	Border   *Border // of one or two open numbers, where it is small enough to draw
	Walked   bool    // some members were walked one by one
	Counted  bool    // some were counted
	Slices   int64
	Done     int64
	Stopped  string // why not all slices are done; "" if they are
	Partial  bool   // of slices that are not done some members were decided, and are among the numbers
	Halted   bool   // the limit or an interrupt stopped it; otherwise nobody asked for the slices that are missing
	Part     *Part  // what another process can go on from
	States   int64  // kept while counting
	Branches int64
}

// Border shows for every value of one or two open numbers what is broken there.
type Border struct {
	Axes  []Axis       // their Broken is not filled in
	Cells []BorderCell // the first axis varying slowest
}

// BorderCell is the members with one value of each open number: one, or all its orders; none where "where" lets it not pass.
type BorderCell struct {
	Members *big.Int
	Broken  [audit.NumLaws]*big.Int // members that break each law; nil for none
}

// Failed tells whether a claim of the block failed or is vacuous.
func (e *Explore) Failed() bool { return anyFailed(e.Claims) }

// Inconclusive tells whether the search did not come to its end.
func (e *Explore) Inconclusive() bool { return e.Stopped != "" }

// Class is the members that end with one value and one set of broken laws.
type Class struct {
	Final   string
	Broken  search.Laws
	Members *big.Int
	Witness *Witness // the smallest of them; nil if the search was stopped
}

// Witness is one member of a family.
type Witness struct {
	Law     audit.Law // which it breaks, in Explore.Smallest; else audit.NumLaws
	Choices []Value   // by hole; those that are not chosen are left out
	Away    int32     // choices that are not the first value of their hole
	Harm    engine.Tick
	Run     *Run // what happens in it
	// Source is, in Explore.Smallest, the member as a file of its own, which runs to the same end; InPlace tells that it is the explored file with
	// its holes filled in, rather than a flat schedule in the order in which things were done.
	Source  string
	InPlace bool
}

// maxBorder is how many cells the drawn region of a family may have.
const maxBorder = 2500

// anyNumber is no limit: of states, for what is known to be within the limit that it was counted with.
const anyNumber = 1 << 31

// maxSamples is how many members are looked at for whether a claim could have failed.
const maxSamples = 2000

// Explore searches an explore block.
func (st *Study) explore(ctx context.Context, p *compile.Plan, o Options) (*Explore, error) {
	fam := p.Family()
	claims := statements(p)
	walk := o.Brute
	for i := range claims {
		walk = walk || !countable(&claims[i])
	}
	ex := &explorer{
		st: st, plan: p, claims: claims, walk: walk, limit: o.Limit, most: o.Limit, kept: o.Checkpoint, progress: o.Progressing, states: o.Checkpoint != nil || o.PartOnly, until: o.Until,
		total: &familyTally{done: make([]bool, fam.Slices())}, held: zeros(len(claims)),
	}
	if ex.limit <= 0 {
		ex.limit, ex.most = search.DefaultLimit, MaxWalked
	}
	if ex.progress == nil {
		ex.progress = &Progress{}
	}
	if err := ex.resumeAll(o.Parts); err != nil {
		return nil, err
	}
	ex.progress.start(ex.total, fam.Slices())
	for l := range audit.NumLaws {
		if o.Until.Has(l) && ex.total.smallest[l].Found {
			ex.err = search.ErrFound
		}
	}
	for i := range fam.Slices() {
		if !ex.total.done[i] && !o.MergeOnly && (o.Shards <= 1 || i%int64(o.Shards) == int64(o.Shard)) {
			ex.mine = append(ex.mine, i)
		}
	}
	if ex.err == nil {
		ex.run(ctx, o.Jobs)
	}
	if _, expected := stops(ex.err); !expected {
		return nil, ex.err
	}
	if o.PartOnly {
		return st.sums(p, ex, true), nil
	}
	return st.answer(ctx, p, ex)
}

// sums puts into an Explore what adding up the slices gives; with partOnly, only those that a part can tell of.
func (st *Study) sums(p *compile.Plan, ex *explorer, partOnly bool) *Explore {
	t, fam := ex.total, p.Family()
	if !partOnly {
		t, _ = ex.known()
	}
	e := &Explore{
		Name: p.Name, Line: p.Line, Holes: fam.Holes(), Ties: fam.Ties(), Members: new(big.Int), Clean: new(big.Int),
		Walked: t.walked, Counted: t.counted, Slices: fam.Slices(), Done: t.nDone, States: t.states, Branches: t.branches, Partial: len(ex.partial) > 0 && !partOnly,
	}
	switch e.Part = ex.part(); {
	case ex.states && ex.only != nil && !t.done[ex.mine[0]]:
		e.Part = ex.partWith(ex.only)
	case ex.begun != nil && !t.done[ex.begun.Slice]:
		e.Part.Begun = ex.begun // it was stopped before it went on from there
	}
	for l := range e.Broken {
		e.Broken[l] = new(big.Int)
	}
	if e.Done < e.Slices {
		e.Stopped, _ = stops(ex.err)
		if e.Halted = e.Stopped != ""; !e.Halted {
			e.Stopped = "parts are missing or unfinished"
		}
	}
	for _, c := range t.classes {
		e.Members.Add(e.Members, c.Members)
		if cleanLaws(c.Broken) {
			e.Clean.Add(e.Clean, c.Members)
		}
		for l := range audit.NumLaws {
			if c.Broken.Has(l) {
				e.Broken[l].Add(e.Broken[l], c.Members)
			}
		}
		e.Classes = append(e.Classes, Class{Final: c.Final, Broken: c.Broken, Members: c.Members})
	}
	return e
}

// answer puts what the slices gave into an Explore: sums, witnesses, claims, the border.
func (st *Study) answer(ctx context.Context, p *compile.Plan, ex *explorer) (*Explore, error) {
	t, held := ex.known()
	e := st.sums(p, ex, false)
	// Witnesses are looked for without the caller's context: the slices that hold them are done, and one takes no longer
	// than it took before.
	w := witnesses{st: st, plan: p, ex: ex, held: held, free: context.WithoutCancel(ctx)}
	for l := range audit.NumLaws {
		if b := t.smallest[l]; b.Found {
			wit, err := w.find(b, l,
				func(s *search.Search) (search.Member, error) { return s.Smallest(l) },
				func(rep *audit.Report, _ string) bool { return rep.Counts[l] > 0 },
				func(rep *audit.Report, h engine.Tick) bool { return firstHarm(rep, l, h) == b.Cost.Harm })
			if err != nil {
				return nil, err
			}
			if wit != nil {
				e.Smallest = append(e.Smallest, *wit)
			}
		}
	}
	for i := range e.Classes {
		c := &t.classes[i]
		wit, err := w.find(c.Best, audit.NumLaws,
			func(s *search.Search) (search.Member, error) {
				return s.Class(search.Class{Broken: c.Broken, Final: c.Final})
			},
			func(rep *audit.Report, final string) bool { return lawsOf(rep) == c.Broken && final == c.Final },
			func(*audit.Report, engine.Tick) bool { return true })
		if err != nil {
			return nil, err
		}
		e.Classes[i].Witness = wit
		if e.Settings == nil && wit != nil {
			e.Settings = slices.DeleteFunc(slices.Clone(wit.Run.Settings), func(v Value) bool { return p.Varies(v.Name) })
		}
	}
	if err := e.judge(&w); err != nil {
		return nil, err
	}
	if e.Stopped == "" {
		border, err := w.border(ctx)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		e.Border = border
	}
	return e, nil
}

// Safety is the laws of safety.
const Safety search.Laws = 1<<audit.Overlap | 1<<audit.DoubleHold | 1<<audit.StaleWrite | 1<<audit.LostUpdate | 1<<audit.UnlockedWrite

func cleanLaws(s search.Laws) bool { return s&Safety == 0 }

// witnesses finds members again, from the slice that they lie in.
type witnesses struct {
	st   *Study
	plan *compile.Plan
	ex   *explorer
	held []*big.Int      // by claim, where members were walked
	free context.Context //nolint:containedctx // it lives as long as one answer is put together

	slice   int64
	counted *slicer        // of the slice that was counted again
	cells   *search.Search // of one cell of the border after the other
}

var errFound = errors.New("found")

// find gives the smallest member of a slice: the one that was found with it, or else it is looked for again, by counting or
// walking the slice. With a law, what it breaks, it is written down too. It is nil if the slice was stopped, and the member cannot
// be found in what is known of it.
func (w *witnesses) find(b best, law audit.Law, down func(*search.Search) (search.Member, error),
	fits func(rep *audit.Report, final string) bool, costs func(rep *audit.Report, horizon engine.Tick) bool,
) (*Witness, error) {
	s := newSlicer(w.plan, nil, false, anyNumber) // it was within the limit when it was counted
	at, err := b.At, error(nil)
	switch {
	case at != nil && !s.has(b.Slice, at):
		err = fmt.Errorf("%w: a smallest member is none of its slice", ErrPart)
	case at == nil && w.ex.stopped(b.Slice):
		return nil, nil //nolint:nilnil // as it says
	case at == nil:
		at, err = w.again(s, b, down, fits, costs)
	}
	if err != nil {
		return nil, err
	}
	wit, err := w.member(at, b.Cost, law)
	if errors.Is(err, search.ErrOrder) {
		err = fmt.Errorf("%w: %w", ErrPart, err)
	}
	if err != nil {
		return nil, err
	}
	rec := wit.Run.Record
	if s.away(at.Choice) != b.Cost.Away || int32(len(rec.Events)) != b.Cost.Events || !fits(wit.Run.Audit, rec.Value(rec.Final)) ||
		!costs(wit.Run.Audit, rec.Program.Settings.Horizon) {
		return nil, fmt.Errorf("%w: a smallest member does not do what it is said to do", ErrPart)
	}
	return wit, nil
}

// again looks for a smallest member that another process knew of: by going down the search of its slice, or by walking up to the
// first that fits and costs no more.
func (w *witnesses) again(s *slicer, b best, down func(*search.Search) (search.Member, error),
	fits func(rep *audit.Report, final string) bool, costs func(rep *audit.Report, horizon engine.Tick) bool,
) (at *place, err error) {
	err = errWalk
	if !w.ex.walk {
		err = w.count(b.Slice)
	}
	if err == nil {
		m, err := down(w.counted.search)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPart, err)
		}
		return w.counted.placeOf(m), nil
	}
	if !errors.Is(err, errWalk) {
		return nil, err
	}
	err = s.each(w.free, b.Slice, func(c []int64, rec *engine.Record, order []int32) error {
		rep := audit.Judge(rec)
		if s.away(c) == b.Cost.Away && int32(len(rec.Events)) == b.Cost.Events && fits(rep, rec.Value(rec.Final)) &&
			costs(rep, rec.Program.Settings.Horizon) {
			at = &place{slices.Clone(c), slices.Clone(order)}
			return errFound
		}
		return nil
	})
	switch {
	case errors.Is(err, errFound):
		return at, nil
	case err == nil:
		err = fmt.Errorf("%w: a smallest member is not in its slice", ErrPart)
	}
	return nil, err
}

// count counts a slice again, unless it was the last one that was.
func (w *witnesses) count(slice int64) error {
	if w.counted != nil && w.slice == slice {
		return nil
	}
	if w.counted == nil {
		w.counted = newSlicer(w.plan, nil, false, anyNumber)
		w.counted.known = func(func(*familyTally) best) best { return best{Found: true} } // nothing costs less than nothing
	}
	w.slice = slice
	_, err := w.counted.count(w.free, slice)
	if err != nil {
		w.slice = -1
	}
	return err
}

// member runs one member, and writes it down if it is to show how a law is broken.
func (w *witnesses) member(at *place, cost search.Cost, law audit.Law) (*Witness, error) {
	b := w.plan.Binder()
	prog, ds := b.BindMember(at.Choice)
	if prog == nil {
		return nil, &ScriptError{ds}
	}
	rec, err := search.Replay(prog, at.Lines)
	if err != nil {
		return nil, err
	}
	r := &Run{Name: w.plan.Name, Line: w.plan.Line, Settings: b.Settings(), Lets: b.Lets(), Record: rec, Audit: audit.Judge(rec)}
	wit := &Witness{Law: law, Choices: w.chosen(at.Choice), Away: cost.Away, Harm: cost.Harm, Run: r}
	if law < audit.NumLaws {
		w.write(wit, at.Choice)
	}
	return wit, nil
}

// chosen names a member's choices.
func (w *witnesses) chosen(choice []int64) []Value {
	var all []Value
	for h, hole := range w.plan.Family().Holes() {
		if choice[h] < 0 {
			continue
		}
		v := Value{Name: hole.Name, N: hole.Values[choice[h]]}
		if hole.Kind == dsl.ServerHole {
			v.Word = fmt.Sprintf("s%d", v.N)
		}
		all = append(all, v)
	}
	return all
}

// judge judges the block's claims by the classes, or by what walking counted.
func (e *Explore) judge(w *witnesses) error {
	samples := &sampler{w: w, e: e}
	for i := range w.ex.claims {
		c := &w.ex.claims[i]
		held := new(big.Int)
		if w.ex.walk {
			held = w.held[i]
		} else {
			for k := range e.Classes {
				if holdsIn(c, &e.Classes[k]) {
					held.Add(held, e.Classes[k].Members)
				}
			}
		}
		out := Claim{Expect: c.expect, Unchecked: w.plan.Overridden, Held: held}
		want := big.NewInt(w.number(i))
		all := held.Cmp(e.Members) == 0
		broken := false // by the members that are known already, whatever the others do
		switch c.expect.Quant {
		case dsl.Bare, dsl.Always:
			out.OK, broken = all, !all
		case dsl.NeverIn:
			out.OK, broken = held.Sign() == 0, held.Sign() > 0
		case dsl.Sometimes:
			out.OK = held.Sign() > 0
		case dsl.InCount:
			out.OK, broken = held.Cmp(want) == 0, held.Cmp(want) > 0
		}
		out.Inconclusive = e.Stopped != "" && !broken && !(c.expect.Quant == dsl.Sometimes && out.OK)
		if out.Inconclusive {
			out.OK = false
		}
		switch {
		case !out.OK && !out.Inconclusive:
			if out.Got = fmt.Sprintf("in %s of %s members", Grouped(held), Grouped(e.Members)); e.Stopped != "" {
				out.Got += " so far"
			}
			f, err := e.counterexample(w, i)
			if err != nil {
				return err
			}
			if f != nil {
				out.Cells = append(out.Cells, *f)
			}
		case out.OK:
			v, err := samples.vacuous(c, i, want)
			if err != nil {
				return err
			}
			out.Vacuous = v.String()
		}
		e.Claims = append(e.Claims, out)
	}
	return nil
}

// number is the count of members that a claim with "in N" names.
func (w *witnesses) number(i int) int64 {
	b := w.plan.Binder()
	s := newSlicer(w.plan, nil, false, 0)
	if w.plan.Family().Slices() > 0 {
		s.fam.Slice(0, s.choice)
		b.BindSlice(s.choice)
	}
	return b.Claim(i).In
}

// Grouped writes a count with commas between its thousands.
func Grouped(n *big.Int) string {
	s := n.String()
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func holdsIn(c *statement, class *Class) bool {
	switch c.expect.Kind {
	case dsl.ClaimFinal:
		return class.Final == c.expect.Text
	case dsl.ClaimClean:
		return cleanLaws(class.Broken)
	default:
		return class.Broken.Has(c.law) != c.expect.None
	}
}

// counterexample is a member that speaks against a claim about all members, or against one about none: the smallest where
// classes tell, else the first in order.
func (e *Explore) counterexample(w *witnesses, claim int) (*Failure, error) {
	c := &w.ex.claims[claim]
	against := false
	switch c.expect.Quant {
	case dsl.NeverIn:
		against = true
	case dsl.Bare, dsl.Always:
	default:
		return nil, nil //nolint:nilnil // no single member speaks against the others
	}
	if !countable(c) {
		return w.first(claim, against)
	}
	var least *Witness
	for i := range e.Classes {
		w := e.Classes[i].Witness
		if w == nil || holdsIn(c, &e.Classes[i]) != against {
			continue
		}
		if least == nil || w.Away < least.Away || w.Away == least.Away && len(w.Run.Record.Events) < len(least.Run.Record.Events) {
			least = w
		}
	}
	if least == nil {
		return nil, nil //nolint:nilnil // the search was stopped
	}
	return &Failure{At: least.Choices}, nil
}

// first walks to the first member in which a claim holds, or does not.
func (w *witnesses) first(claim int, holds bool) (*Failure, error) {
	s := newSlicer(w.plan, nil, false, anyNumber)
	var f *Failure
	for slice, done := range w.ex.total.done {
		if !done && !w.ex.stopped(int64(slice)) {
			continue
		}
		err := s.each(w.free, int64(slice), func(choice []int64, rec *engine.Record, _ []int32) error {
			j := judge{rec: rec, rep: audit.Judge(rec)}
			if j.says(&w.ex.claims[claim], s.binder.Claim(claim)) != holds {
				return nil
			}
			f = &Failure{At: w.chosen(choice)}
			return errFound
		})
		if err != nil {
			if errors.Is(err, errFound) {
				err = nil
			}
			return f, err
		}
	}
	return f, nil
}

// sampler looks for a member in which a claim could have failed. A claim that says that something is in no member is
// vacuous if it could not have been in any: the witnesses are looked at first, then members in order. Of a family of more
// than maxSamples members the rest goes unseen, and a claim may count as vacuous that is not.
type sampler struct {
	w *witnesses
	e *Explore
}

func (s *sampler) vacuous(c *statement, i int, want *big.Int) (vacuity, error) {
	absent := *c
	expect := *c.expect
	absent.expect = &expect
	switch c.expect.Quant {
	case dsl.NeverIn:
		if expect.Kind == dsl.ClaimLaw {
			expect.None = !expect.None
		}
	case dsl.InCount:
		if want.Sign() > 0 {
			return meaningful, nil
		}
		if expect.Kind == dsl.ClaimLaw {
			expect.None = !expect.None
		}
	case dsl.Sometimes:
		return meaningful, nil
	}
	v := meaningful
	look := func(rec *engine.Record, rep *audit.Report, values compile.ClaimValues) bool {
		j := judge{rec: rec, rep: rep}
		v = j.vacuous(&absent, values)
		return v == meaningful
	}
	for k := range s.e.Classes {
		if w := s.e.Classes[k].Witness; w != nil && look(w.Run.Record, w.Run.Audit, compile.ClaimValues{}) {
			return meaningful, nil
		}
	}
	n := 0
	for slice := range s.e.Slices {
		sl := newSlicer(s.w.plan, nil, false, anyNumber)
		err := sl.each(s.w.free, slice, func(_ []int64, rec *engine.Record, _ []int32) error {
			if n++; n > maxSamples || look(rec, audit.Judge(rec), sl.binder.Claim(i)) {
				return errFound
			}
			return nil
		})
		if errors.Is(err, errFound) {
			break
		}
		if err != nil && !errors.Is(err, search.ErrLimit) {
			return v, err
		}
	}
	return v, nil
}

// border computes the region of a family of one or two open numbers, cell by cell. It is nil where there is nothing to draw,
// and where it was interrupted.
func (w *witnesses) border(ctx context.Context) (*Border, error) {
	holes := w.plan.Family().Holes()
	if len(holes) == 0 || len(holes) > 2 {
		return nil, nil //nolint:nilnil // there is nothing to draw
	}
	cells := 1
	b := &Border{}
	for i := range holes {
		if holes[i].Kind != dsl.NumberHole || len(holes[i].Values) > maxBorder/cells {
			return nil, nil //nolint:nilnil // there is nothing to draw
		}
		cells *= len(holes[i].Values)
		a := Axis{Name: holes[i].Name}
		for _, v := range holes[i].Values {
			a.Values = append(a.Values, Value{Name: a.Name, N: v})
		}
		b.Axes = append(b.Axes, a)
	}
	passes := w.passing()
	binder := w.plan.Binder()
	choice := make([]int64, len(holes))
	for i := range cells {
		rest := i
		for h := len(holes) - 1; h >= 0; h-- {
			choice[h] = int64(rest % len(holes[h].Values))
			rest /= len(holes[h].Values)
		}
		cell := BorderCell{Members: new(big.Int)}
		if passes(choice) {
			if err := w.cell(ctx, binder, choice, &cell); err != nil {
				return nil, err
			}
		}
		b.Cells = append(b.Cells, cell)
	}
	return b, nil
}

// passing tells which members of a family without maybes "where" lets pass.
func (w *witnesses) passing() func(choice []int64) bool {
	fam := w.plan.Family()
	known := map[string]bool{}
	slice := make([]int64, len(fam.Holes()))
	for i := range fam.Slices() {
		fam.Slice(i, slice)
		known[fmt.Sprint(slice)] = true
	}
	return func(choice []int64) bool {
		c := slices.Clone(choice)
		for h, hole := range fam.Holes() {
			if hole.Late {
				c[h] = -1
			}
		}
		return known[fmt.Sprint(c)]
	}
}

// cell counts, for one value of each hole, the members that break each law: one member, or all its orders.
func (w *witnesses) cell(ctx context.Context, b *compile.Binder, choice []int64, cell *BorderCell) error {
	prog, ds := b.BindMember(choice)
	if prog == nil {
		return &ScriptError{ds}
	}
	var r *search.Result
	var err error
	if w.cells == nil {
		w.cells, err = search.New(prog, anyNumber)
	} else {
		err = w.cells.Reset(prog)
	}
	if err == nil {
		r, err = w.cells.Run(ctx)
	}
	if err == nil {
		for _, c := range r.Classes {
			cell.add(c.Broken, c.Members)
		}
		return nil
	}
	one := big.NewInt(1)
	return search.Orders(ctx, prog, func(rec *engine.Record, _ []int32) error {
		cell.add(lawsOf(audit.Judge(rec)), one)
		return nil
	})
}

func (c *BorderCell) add(broken search.Laws, members *big.Int) {
	c.Members.Add(c.Members, members)
	for l := range audit.NumLaws {
		if broken.Has(l) {
			if c.Broken[l] == nil {
				c.Broken[l] = new(big.Int)
			}
			c.Broken[l].Add(c.Broken[l], members)
		}
	}
}
