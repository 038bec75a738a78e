// Package compile turns a checked script into programs for the engine: one plan for each run, sweep or family of the file,
// whose numbers are filled in cell by cell or slice by slice. It finds every fault of value (a division by zero, a tick
// below zero, a step inside its own client's pause); it runs nothing and judges nothing.
package compile

import (
	"fmt"

	"dlock/dsl"
)

// Unit is a file that is ready to run.
type Unit struct {
	Script *dsl.Script
	// Plans holds one plan for each block in file order, or one without a name for a file without blocks.
	Plans []*Plan
	over  []setValue
	split []string
	room  room
}

// room is what is left of the limits that all plans of a file share.
type room struct {
	cells, lines, work int64
	full               bool // a sweep or a hole did not fit: that is said once, and nothing of what follows
}

func fullRoom() room { return room{cells: MaxCells, lines: MaxLines, work: MaxCellWork} }

// Compile builds the plans of a checked script, with the overrides going before what the file says, and computes the values
// of every run and of every cell to find what is wrong with them. Holes of the names in split are tried value by value, even if
// they could be decided late. With errors among the diagnostics there is no unit.
func Compile(s *dsl.Script, over []Override, split ...string) (*Unit, dsl.Diagnostics) {
	f := &faultList{}
	u := &Unit{Script: s, over: overrides(s, over, f), split: split, room: fullRoom()}
	if len(s.Blocks) == 0 {
		u.Plans = append(u.Plans, u.checkedPlan(nil, dsl.RunBlock, nil, f))
	}
	for _, b := range s.Blocks {
		if f.plan++; u.room.full || !u.roomForLines(b, f) {
			break
		}
		u.Plans = append(u.Plans, u.checkedPlan(b, b.Kind, nil, f))
	}
	if f.n > 0 {
		return nil, f.diagnostics(len(u.Plans))
	}
	return u, f.diagnostics(len(u.Plans))
}

// Explore builds the one family of a file without blocks. Its claims are those of the top level.
func Explore(s *dsl.Script, over []Override, split ...string) (*Unit, dsl.Diagnostics) {
	f := &faultList{}
	u := &Unit{Script: s, over: overrides(s, over, f), split: split, room: fullRoom()}
	u.Plans = append(u.Plans, u.checkedPlan(nil, dsl.ExploreBlock, nil, f))
	if f.n > 0 {
		return nil, f.diagnostics(1)
	}
	return u, f.diagnostics(1)
}

// Sweep builds a sweep over axes that the file does not have: of the named run, or with the name "" of the top level alone.
// What the file's own claims say is not about such a sweep, so the plan has none. With errors there is no plan.
func (u *Unit) Sweep(run string, specs []AxisSpec) (*Plan, dsl.Diagnostics) {
	f := &faultList{}
	alone := Unit{Script: u.Script, over: u.over, room: fullRoom()}
	axes := specAxes(specs, letNames(u.Script), f)
	block, ok := u.runBlock(run)
	if !ok {
		f.add(dsl.CodeAxis, dsl.Span{}, fmt.Sprintf("the file has no run %q", run), "", "")
	}
	if f.n > 0 {
		return nil, f.diagnostics(1)
	}
	p := alone.checkedPlan(block, dsl.RunBlock, axes, f)
	if f.n > 0 {
		return nil, f.diagnostics(1)
	}
	p.Kind = dsl.SweepBlock
	return p, f.diagnostics(1)
}

// runBlock finds a run; the name "" is the top level, which has no block.
func (u *Unit) runBlock(name string) (*dsl.Block, bool) {
	for _, b := range u.Script.Blocks {
		if b.Kind == dsl.RunBlock && b.Name == name && name != "" {
			return b, true
		}
	}
	return nil, name == ""
}

// roomForLines takes the lines of a block's plan out of what is left, or reports that there are too many.
func (u *Unit) roomForLines(b *dsl.Block, f *faultList) bool {
	u.room.lines -= int64(lines(&u.Script.Body) + lines(&b.Body))
	if u.room.lines < 0 {
		f.add(dsl.CodeLimit, b.Span, fmt.Sprintf("the blocks have more than %d lines in all", MaxLines),
			"Each has the top level's lines as well as its own.", "put fewer blocks into one file")
	}
	return u.room.lines >= 0
}

func lines(b *dsl.Body) int { return len(b.Settings) + len(b.Lets) + len(b.Expects) + steps(b.Steps) }

func steps(list []*dsl.Step) int {
	n := len(list)
	for _, s := range list {
		for _, o := range s.Outcomes {
			n += steps(o.Steps)
		}
	}
	return n
}

// checkedPlan builds a plan and computes all of its cells or slices once.
func (u *Unit) checkedPlan(b *dsl.Block, kind dsl.BlockKind, axes []Axis, f *faultList) *Plan {
	p := u.newPlan(b, kind, axes, f)
	n := p.Cells
	if p.family != nil {
		n = p.family.raw
	}
	if u.room.work -= n * p.work(); u.room.work < 0 {
		f.add(dsl.CodeLimit, p.at, "computing the cells of the sweeps and the slices of the families takes too long",
			fmt.Sprintf("The lines and operations of a cell or slice, times their number, may be %d at most.", MaxCellWork), "sweep or explore fewer values, or a shorter schedule")
		p.Cells = 1
		if p.family != nil {
			p.family.broken = true
		}
	}
	if p.family != nil {
		p.checkFamily(f)
	} else {
		p.check(f)
	}
	return p
}

func (u *Unit) newPlan(b *dsl.Block, kind dsl.BlockKind, axes []Axis, f *faultList) *Plan {
	p := &Plan{Kind: kind, Overridden: len(u.over) > 0, Cells: 1}
	bodies := []*dsl.Body{&u.Script.Body}
	if b != nil {
		p.Name, p.Line, p.at = b.Name, b.Span.Start.Line, b.Span
		bodies = append(bodies, &b.Body)
	}
	before := f.n
	f.where = p.where
	defer func() { f.where = nil }()
	outside := axes != nil // the axes are not the file's, and then its claims are not about the plan
	if kind == dsl.SweepBlock {
		axes = blockAxes(b, bodies, u.over, axisRoom{u.room.cells, &u.room.full}, f)
	}
	p.Axes = axes
	for i := range axes {
		p.Cells *= int64(max(axes[i].Len(), 1))
	}
	u.room.cells -= p.Cells
	p.sc = newScope(bodies, axes, u.over)
	roots := rootSteps(bodies, p.sc, u.over)
	if !outside {
		for _, body := range bodies {
			p.Claims = append(p.Claims, body.Expects...)
		}
	}
	holes := p.reached(b, roots)
	if b == nil && len(holes) > 0 {
		p.at = holes[0].Span // what is wrong with a family without a block lies with what is left open
	}
	if kind != dsl.ExploreBlock {
		for _, h := range holes {
			openHole(h, len(u.Script.Blocks) > 0, f)
		}
	}
	p.sc.sort()
	ev := newEvaluator(p.sc, f)
	ev.compileNodes()
	ev.settle(ev.sc.fixed, nil)
	if kind == dsl.ExploreBlock {
		p.family = newFamily(holes, ev, &u.room, f)
	}
	sh := shaper{plan: p, ev: ev, texts: map[string]int32{}, owners: map[string]int32{}, clients: map[string]int32{}}
	sh.layout(u.Script.Clients, roots)
	p.proto = &Binder{
		evaluator: *ev, plan: p, prog: sh.prog,
		bad: make([]bool, len(sh.prog.Steps)), gone: make([]bool, len(sh.prog.Steps)), claims: make([]ClaimValues, len(p.Claims)),
	}
	if p.family != nil {
		p.proto.prog.Ties = b != nil && b.Ties
		p.family.ties = p.proto.prog.Ties
		if b != nil {
			for _, e := range b.Where {
				p.family.where = append(p.family.where, ev.add(e))
			}
			p.proto.evaluator = *ev
		}
		p.findLate(u.split)
		p.family.count(p, &u.room, f)
	}
	p.proto.fill(sh.constants)
	p.faulty = f.n > before
	return p
}
