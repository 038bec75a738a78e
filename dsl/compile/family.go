package compile

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"dlock/dsl"
	"dlock/engine"
)

// Family is what an explore block ranges over. Its members are the combinations of its holes' values that "where" lets
// pass; with open ties, each of them in all its orders. A slice is a choice for every hole that is not late.
type Family struct {
	holes  []FamilyHole
	late   []int // the late ones
	early  []int // the others that stand in no line that may be there
	within map[int][]int
	ties   bool
	where  []code
	lines  []maybeLine
	relist bool // the lists of servers differ between slices

	raw     int64   // slices before "where"
	kept    []int32 // those that it lets pass; nil: all
	horizon engine.Tick
	broken  bool // its values are not known
}

// FamilyHole is one hole of a family with all of its values.
type FamilyHole struct {
	// Name is the let, setting or line that it is; otherwise "line 12", or "line 12 (2)" for the second one of that line.
	Name string
	Line int
	Kind dsl.HoleKind
	Span dsl.Span // what a choice is written in place of
	// Values are in the order of the file: numbers, servers counted from 1, or 0 and 1 for a line that may be there.
	Values []int64
	// In is the index of the maybe hole of the line that it stands in, or -1. If that line is not there, it is not chosen.
	In int
	// Late tells that the search decides it, as a hole of the program that BindSlice gives: the k-th late one is
	// Program.Holes[k].
	Late bool
}

// Text gives a value as the language writes it: a number, a server, or 0 or 1 for a line that may be there.
func (h *FamilyHole) Text(value int64) string {
	if h.Kind == dsl.ServerHole {
		return "s" + strconv.FormatInt(value, 10)
	}
	return strconv.FormatInt(value, 10)
}

// maybeLine is a line that may be there, with its blocks.
type maybeLine struct {
	hole  int
	steps engine.Span
}

// Family gives what the plan ranges over; nil for a run and a sweep.
func (p *Plan) Family() *Family { return p.family }

// Holes lists the holes in file order.
func (f *Family) Holes() []FamilyHole { return f.holes }

// Ties tells whether the order of several actors in one tick is open.
func (f *Family) Ties() bool { return f.ties }

// Slices is the number of slices that "where" lets pass, at most MaxSlices.
func (f *Family) Slices() int64 {
	if f.kept != nil {
		return int64(len(f.kept))
	}
	return f.raw
}

// Slice writes the i-th slice into choice, which has room for every hole: the index of each hole's value, the first hole
// varying slowest; -1 for late holes and for those of lines that are not there.
func (f *Family) Slice(i int64, choice []int64) {
	if f.kept != nil {
		i = int64(f.kept[i])
	}
	f.slice(i, choice)
}

// slice is Slice before "where".
func (f *Family) slice(i int64, choice []int64) {
	for h := range choice {
		choice[h] = -1
	}
	for _, h := range slices.Backward(f.early) {
		n := int64(len(f.holes[h].Values))
		if f.holes[h].Kind != dsl.MaybeHole {
			choice[h], i = i%n, i/n
			continue
		}
		n = 1 // the line is not there, or it is, with all that is chosen in it
		for _, in := range f.within[h] {
			n *= int64(len(f.holes[in].Values))
		}
		d := i % (1 + n)
		i /= 1 + n
		if choice[h] = min(d, 1); d == 0 {
			continue
		}
		d--
		for _, in := range slices.Backward(f.within[h]) {
			n := int64(len(f.holes[in].Values))
			choice[in], d = d%n, d/n
		}
	}
}

// newFamily gives the holes their values.
func newFamily(holes []*dsl.Hole, ev *evaluator, r *room, faults *faultList) *Family {
	f := &Family{within: map[int][]int{}}
	if len(holes) > MaxHoles {
		faults.add(dsl.CodeLimit, holes[MaxHoles].Span, fmt.Sprintf("a family has at most %d holes", MaxHoles), "", "close some of them")
		f.broken, holes = true, holes[:MaxHoles]
	}
	index := map[*dsl.Hole]int{}
	unnamed := map[int]int{} // by line
	for i, h := range holes {
		index[h] = i
		ev.sc.nodes[ev.sc.holes[h]].axis = i
		out := FamilyHole{Name: h.Name, Line: h.Line, Kind: h.Kind, Span: h.Span, In: -1}
		if in, ok := index[h.In]; ok && h.In != nil {
			out.In = in
		}
		if h.Name == "" {
			out.Name = fmt.Sprintf("line %d", h.Line)
			if unnamed[h.Line]++; unnamed[h.Line] > 1 {
				out.Name = fmt.Sprintf("line %d (%d)", h.Line, unnamed[h.Line])
			}
		}
		values, ok := holeValues(h, ev, axisRoom{r.cells}, faults)
		out.Values = values
		f.broken = f.broken || !ok
		r.cells -= int64(len(values))
		f.holes = append(f.holes, out)
	}
	return f
}

// holeValues computes the values of a hole, which stand once each.
func holeValues(h *dsl.Hole, ev *evaluator, room axisRoom, faults *faultList) (values []int64, ok bool) {
	switch h.Kind {
	case dsl.MaybeHole:
		return []int64{0, 1}, true
	case dsl.ServerHole:
		for _, s := range h.Servers {
			for n := s.Lo; n <= min(s.Hi, dsl.MaxServers); n++ {
				values = append(values, int64(n))
			}
		}
	default:
		if values, ok = numberValues(h, ev, room, faults); !ok {
			return nil, false
		}
	}
	sorted := slices.Sorted(slices.Values(values))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			one := FamilyHole{Kind: h.Kind}
			faults.add(dsl.CodeHoleValues, h.Span, one.Text(sorted[i])+" stands twice among the values of this hole", "Its members would be counted twice.", "name each value once")
			return nil, false
		}
	}
	return values, len(values) > 0
}

func numberValues(h *dsl.Hole, ev *evaluator, room axisRoom, faults *faultList) (values []int64, ok bool) {
	ok = true
	number := func(e dsl.Expr, otherwise int64) int64 {
		if e == nil {
			return otherwise
		}
		if ev.sc.exprVaries(e) {
			faults.add(dsl.CodeHoleValues, e.Span(), "the values of this hole depend on another hole", "They are the same for all members.", "")
			ok = false
			return otherwise
		}
		v, fine := ev.eval(ev.add(e))
		ok = ok && fine
		return v
	}
	step := number(h.Step, 1)
	for i := range h.Items {
		it := &h.Items[i]
		lo := number(it.Lo, 0)
		hi := lo
		if it.Hi != nil {
			hi = number(it.Hi, 0)
		}
		if !ok {
			return nil, false
		}
		var p problem
		if values, p = room.expand(values, lo, hi, step); p.code != "" {
			if p.code == dsl.CodeAxis {
				p.code = dsl.CodeHoleValues
			}
			if p.code == dsl.CodeLimit {
				p.summary, p.hint = fmt.Sprintf("a hole has at most %d values, and so have all families of a file together with their slices %d", MaxAxisValues, MaxCells), ""
			}
			faults.add(p.code, it.Span, p.summary, "", p.hint)
			return nil, false
		}
	}
	return values, true
}

// reached lists the holes that the schedule, the settings, the claims or "where" depend on, in file order: the others are
// not chosen.
func (p *Plan) reached(b *dsl.Block, roots []*dsl.Step) []*dsl.Hole {
	var holes []*dsl.Hole
	seen := map[int32]bool{}
	var visit func(e dsl.Expr)
	hole := func(h *dsl.Hole) {
		if slot, ok := p.sc.holes[h]; ok && !seen[slot] {
			seen[slot] = true
			holes = append(holes, h)
		}
	}
	visit = func(e dsl.Expr) {
		leaves(e, func(leaf dsl.Expr) {
			if a, ok := leaf.(*dsl.Any); ok {
				hole(a.Hole)
				return
			}
			slot, ok := p.sc.leaf(leaf)
			if !ok || seen[slot] || int(slot) >= p.sc.named {
				return
			}
			seen[slot] = true
			if n := &p.sc.nodes[slot]; n.from == byExpr {
				visit(n.expr)
			}
		})
	}
	for _, s := range roots {
		if s.Maybe != nil {
			hole(s.Maybe.Hole)
		}
		stepParts(s, visit, hole)
	}
	for i := range numSettings {
		if n := &p.sc.nodes[i]; n.from == byExpr {
			visit(n.expr)
		}
	}
	for _, c := range p.Claims {
		visit(c.At)
		visit(c.N)
		visit(c.Iff)
		visit(c.In)
	}
	if b != nil {
		for _, e := range b.Where {
			visit(e)
		}
		for _, a := range b.Axes {
			visit(a.Step)
			for _, it := range a.Items {
				visit(it.Lo)
				visit(it.Hi)
			}
		}
	}
	slices.SortFunc(holes, func(a, b *dsl.Hole) int { return cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset) })
	return holes
}

// stepParts calls f for every number of a step and its blocks, and hole for every server that is left open there.
func stepParts(s *dsl.Step, f func(dsl.Expr), hole func(*dsl.Hole)) {
	servers := func(list []dsl.ServerRange) {
		for _, r := range list {
			if r.Hole != nil {
				hole(r.Hole)
			}
		}
	}
	for _, e := range [...]dsl.Expr{s.When.At, s.When.K, s.When.From, s.When.To, s.Watchdog, s.Before.Expr, s.PauseFor, s.Until.Expr, s.ClockBy} {
		f(e)
	}
	if s.TTL != nil {
		f(s.TTL.N)
	}
	if s.Retry != nil {
		f(s.Retry.K)
		f(s.Retry.Until.Expr)
	}
	for i := range s.Messages {
		f(s.Messages[i].When.Expr)
		servers(s.Messages[i].Servers)
	}
	servers(s.Actor.Servers)
	servers(s.On)
	servers(s.From)
	for _, o := range s.Outcomes {
		for _, in := range o.Steps {
			stepParts(in, f, hole)
		}
	}
}

// openHole refuses a hole in a run or a sweep.
func openHole(h *dsl.Hole, f *faultList) {
	hint := "write a value in its place, or look at every one with an explore block"
	switch {
	case h.Name != "" && h.Kind == dsl.MaybeHole:
		hint = "close it with --set " + h.Name + "=1 or --set " + h.Name + "=0, or look at both with an explore block"
	case h.Name != "":
		hint = "close it with --set " + h.Name + "=VALUE, or look at every value with an explore block"
	case h.Kind == dsl.MaybeHole:
		hint = "write the line without `maybe`, name it to close it with --set, or look at both with an explore block"
	case h.Kind == dsl.NumberHole:
		hint = "write a value in its place, make it a let to close it with --set, or look at every one with an explore block"
	}
	f.add(dsl.CodeOpenHole, h.Span, "what this leaves open is not decided", "A run has one schedule, and a cell of a sweep too.", hint)
}

// holeSet is a set of holes of one family.
type holeSet [MaxHoles / 64]uint64

func (s *holeSet) add(h int) { s[h/64] |= 1 << (h % 64) }

func (s *holeSet) union(t *holeSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s *holeSet) has(h int) bool { return s[h/64]&(1<<(h%64)) != 0 }

// dependence is what a number depends on. plus is the hole of which it is the value plus a constant, or -1.
type dependence struct {
	on   holeSet
	plus int
}

// none tells whether it depends on nothing.
func (d *dependence) none() bool { return d.on == holeSet{} }

// dependences finds what numbers depend on, by following their code.
type dependences struct {
	cb    *codebook
	nodes []dependence // by slot
	stack []dependence
}

func (d *dependences) of(c code) dependence {
	d.stack = d.stack[:0]
	for _, in := range d.cb.ins[c.lo:c.hi] {
		n := len(d.stack)
		switch in.op {
		case opConst:
			d.stack = append(d.stack, dependence{plus: -1})
		case opSlot, opMargin:
			d.stack = append(d.stack, d.nodes[in.arg])
		case opNeg, opNot:
			d.stack[n-1].plus = -1
		case opAnd, opOr:
			// The code jumps over the other side or drops this one; both count.
			d.stack[n-1].plus = -1
		default:
			x, y := d.stack[n-2], d.stack[n-1]
			d.stack = d.stack[:n-1]
			plus := -1
			switch {
			case in.op == opAdd && x.none():
				plus = y.plus
			case (in.op == opAdd || in.op == opSub) && y.none():
				plus = x.plus
			}
			x.on.union(&y.on)
			x.plus = plus
			d.stack[n-2] = x
		}
	}
	all := dependence{plus: -1}
	if len(d.stack) == 1 {
		return d.stack[0]
	}
	for i := range d.stack {
		all.on.union(&d.stack[i].on)
	}
	return all
}

// findLate finds the holes that the search can decide as it goes: those that are nothing but the tick of lines.
func (p *Plan) findLate() {
	f, proto := p.family, p.proto
	d := &dependences{cb: proto.cb, nodes: make([]dependence, len(p.sc.nodes))}
	for i := range d.nodes {
		d.nodes[i].plus = -1
	}
	for _, i := range p.sc.moving {
		n := &p.sc.nodes[i]
		switch {
		case n.from == byHole && n.axis >= 0:
			d.nodes[i].on.add(n.axis)
			d.nodes[i].plus = n.axis
		case n.from == byExpr:
			d.nodes[i] = d.of(n.code)
		}
	}
	var spoiled holeSet
	spoil := func(c code) {
		on := d.of(c).on
		spoiled.union(&on)
	}
	for i := range numSettings {
		spoiled.union(&d.nodes[i].on)
	}
	for i := range p.claims {
		c := &p.claims[i]
		spoil(c.at)
		spoil(c.n)
		spoil(c.iff)
	}
	for _, c := range f.where {
		spoil(c)
	}
	plus := make([]int, len(p.fields))
	for i := range p.fields {
		fd := &p.fields[i]
		dep := d.of(fd.code)
		plus[i] = dep.plus
		if dep.plus < 0 || fd.kind != fieldAt || proto.prog.Steps[fd.step].Repeat == engine.Every {
			plus[i] = -1
			spoiled.union(&dep.on)
		}
	}
	number := map[int]int32{}
	for h := range f.holes {
		hole := &f.holes[h]
		if !spoiled.has(h) && hole.even() && len(f.late) < MaxLate {
			hole.Late = true
			f.late = append(f.late, h)
			number[h] = int32(len(f.late))
			continue
		}
		if hole.In < 0 {
			f.early = append(f.early, h)
		} else {
			f.within[hole.In] = append(f.within[hole.In], h)
		}
	}
	for i := range p.fields {
		if plus[i] >= 0 {
			p.fields[i].late = number[plus[i]]
		}
	}
	for i := range p.lists {
		l := &p.lists[i]
		f.relist = f.relist || len(l.holes) > 0 || slices.ContainsFunc(f.lines, func(m maybeLine) bool { return m.steps.Lo <= l.step && l.step < m.steps.Hi })
	}
}

// even tells whether the values of a hole ascend in equal steps.
func (h *FamilyHole) even() bool {
	if h.Kind != dsl.NumberHole || len(h.Values) == 0 {
		return false
	}
	by := h.by()
	for i := 1; i < len(h.Values); i++ {
		if d := uint64(h.Values[i]) - uint64(h.Values[i-1]); h.Values[i] < h.Values[i-1] || d != uint64(by) || d > uint64(MaxTick) {
			return false
		}
	}
	return h.reach() <= MaxTick
}

// by is the distance between the values of a late hole, reach that between the first and the last.
func (h *FamilyHole) by() engine.Tick {
	if len(h.Values) < 2 {
		return 1
	}
	return engine.Tick(h.Values[1] - h.Values[0])
}

func (h *FamilyHole) reach() engine.Tick { return engine.Tick(len(h.Values)-1) * h.by() }

// count multiplies the slices, within what is left of the limits.
func (f *Family) count(p *Plan, r *room, faults *faultList) {
	total := uint64(1)
	times := func(a, b uint64) uint64 {
		if hi, lo := bits.Mul64(a, b); hi == 0 && lo <= MaxSlices {
			return lo
		}
		return MaxSlices + 1
	}
	for _, h := range f.early {
		n := uint64(len(f.holes[h].Values))
		if f.holes[h].Kind == dsl.MaybeHole {
			n = 1
			for _, in := range f.within[h] {
				n = times(n, uint64(len(f.holes[in].Values)))
			}
			n++
		}
		total = times(total, n)
	}
	f.raw = int64(total)
	switch {
	case f.broken:
		f.raw = 0
	case total > MaxSlices || f.raw > r.cells:
		var most []string
		for _, h := range f.early {
			if len(f.holes[h].Values) > 1 {
				most = append(most, f.holes[h].Name)
			}
		}
		faults.add(dsl.CodeLimit, p.at, fmt.Sprintf("a family has at most %d slices", MaxSlices),
			"A slice is a choice for every hole that is more than the tick of a line: "+shortened(most)+".", "close some of them, or let them range over less")
		f.raw, f.broken = 0, true
	}
	r.cells -= f.raw
}

// shortened joins words, of many the first few.
func shortened(words []string) string {
	const most = 8 // a message is one line
	if len(words) > most {
		words = append(slices.Clone(words[:most]), "…")
	}
	return strings.Join(words, ", ")
}

// checkFamily binds every slice that "where" lets pass, reports the faults of the first one that has any, and finds the
// last tick of them all: the members share one horizon.
func (p *Plan) checkFamily(faults *faultList) {
	f := p.family
	if f.broken {
		return
	}
	b := p.Binder()
	choice := make([]int64, len(f.holes))
	if len(f.where) > 0 {
		f.kept = make([]int32, 0, min(f.raw, 1<<10))
	}
	var last engine.Tick
	for i := range f.raw {
		f.slice(i, choice)
		keep, known := b.keeps(choice)
		if known && !keep {
			continue
		}
		if known {
			b.choose(choice, true)
		}
		if b.faults.n > 0 {
			faults.merge(b.faults)
			return
		}
		last = max(last, b.last)
		if f.kept != nil {
			f.kept = append(f.kept, int32(i))
		}
	}
	f.horizon = last + HorizonSlack
	if f.Slices() == 0 {
		faults.add(dsl.CodeHoleValues, p.at, "`where` keeps no member", "There is nothing to explore.", "")
	}
}

// keeps tells whether "where" lets a slice pass, if that can be known: what it is computed from may have faults.
func (b *Binder) keeps(choice []int64) (keep, known bool) {
	b.pick(choice)
	keep = true
	for _, c := range b.plan.family.where {
		v, ok := b.eval(c)
		if !ok {
			return false, false
		}
		keep = keep && v != 0
	}
	return keep, true
}

// BindSlice computes the program of a slice: its late holes are holes of the program, and its ties are open if the family's
// are. The program is valid until the next call. It is nil if the slice has faults, which none has that Compile let pass.
func (b *Binder) BindSlice(choice []int64) (*engine.Program, dsl.Diagnostics) {
	return b.bindChoice(choice, true)
}

// BindMember computes the program of a member: choice has the index of a value for every hole, those of lines that are not
// there aside. It is an ordinary program but for its ties, which are open if the family's are. "where" is not asked.
func (b *Binder) BindMember(choice []int64) (*engine.Program, dsl.Diagnostics) {
	return b.bindChoice(choice, false)
}

func (b *Binder) bindChoice(choice []int64, slice bool) (*engine.Program, dsl.Diagnostics) {
	if b.plan.family == nil {
		return b.Bind(nil)
	}
	b.choose(choice, slice)
	if b.faults.n > 0 || b.plan.faulty {
		return nil, b.faults.diagnostics(1)
	}
	b.fillSettings()
	return &b.prog, nil
}

// pick computes the names for a choice. A hole that is not chosen has its first value.
func (b *Binder) pick(choice []int64) {
	b.restart()
	f := b.plan.family
	b.choice = append(b.choice[:0], choice...)
	b.cell = b.cell[:0]
	for h := range f.holes {
		values := f.holes[h].Values
		k := int64(0)
		if h < len(choice) && 0 <= choice[h] && choice[h] < int64(len(values)) {
			k = choice[h]
		}
		b.cell = append(b.cell, values[k])
	}
	b.settle(b.sc.moving, b.cell)
}

// choose is bind for a slice or a member.
func (b *Binder) choose(choice []int64, slice bool) {
	b.pick(choice)
	f := b.plan.family
	b.prog.Holes = nil
	if slice {
		b.late = b.late[:0]
		for _, h := range f.late {
			hole := &f.holes[h]
			n := int32(len(hole.Values))
			if hole.In >= 0 && b.cell[hole.In] == 0 {
				n = 1
			}
			b.late = append(b.late, engine.Hole{N: n, By: hole.by()})
		}
		b.prog.Holes = b.late
	}
	b.putLines(f)
	b.fill(b.plan.fields)
	if f.relist {
		b.putServers()
	}
	b.checkSettings()
	b.last = b.checkSchedule()
	if b.sc.nodes[setHorizon].from == byDefault {
		b.slots[setHorizon], b.good[setHorizon] = int64(f.horizon), true
	}
	b.fillClaims()
}

// putLines takes the lines out that are not there, and puts the others back.
func (b *Binder) putLines(f *Family) {
	if len(f.lines) == 0 {
		return
	}
	proto := &b.plan.proto.prog
	for _, l := range f.lines {
		gone := b.cell[l.hole] == 0
		if gone == b.gone[l.steps.Lo] {
			continue
		}
		for i := l.steps.Lo; i < l.steps.Hi; i++ {
			b.gone[i] = gone
			s := proto.Steps[i]
			if gone {
				// Nothing leads to the step. It looks like one that does nothing, so that nobody who goes through all of
				// them sees it.
				s = engine.Step{Line: s.Line, Repeat: s.Repeat, Verb: engine.Notice, Client: s.Client, Owner: engine.None, Text: engine.None,
					TTL: engine.Forever, RetryUntil: engine.Forever, PauseFor: engine.Tick(engine.None)}
			}
			b.prog.Steps[i] = s
		}
	}
	b.prog.Roots = b.prog.Roots[:0]
	for _, r := range proto.Roots {
		if !b.gone[r] {
			b.prog.Roots = append(b.prog.Roots, r)
		}
	}
}

// putServers lays out the lists of servers anew.
func (b *Binder) putServers() {
	b.prog.ServerIDs = b.prog.ServerIDs[:0]
	for i := range b.plan.lists {
		l := &b.plan.lists[i]
		if b.gone[l.step] {
			continue
		}
		var span engine.Span
		b.prog.ServerIDs, span = l.put(b.prog.ServerIDs, b.slots)
		if l.message == engine.None {
			b.prog.Steps[l.step].Servers = span
		} else {
			b.prog.Messages[l.message].Servers = span
		}
	}
}

// choiceText words the values that are chosen: "stall = 14, line 12 = s3".
func (b *Binder) choiceText() string {
	var words []string
	for h := range b.plan.family.holes {
		hole := &b.plan.family.holes[h]
		if h < len(b.choice) && 0 <= b.choice[h] && b.choice[h] < int64(len(hole.Values)) {
			words = append(words, hole.Name+" = "+hole.Text(hole.Values[b.choice[h]]))
		}
	}
	return shortened(words)
}
