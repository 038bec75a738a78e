package compile

import (
	"slices"

	"dlock/dsl"
	"dlock/engine"
)

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

// findLate finds the holes that the search can decide as it goes: those that are nothing but the tick of lines, except the
// named ones.
func (p *Plan) findLate(split []string) {
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
		if !spoiled.has(h) && !slices.Contains(split, hole.Name) && hole.even() && len(f.late) < MaxLate {
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
