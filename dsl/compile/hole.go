package compile

import (
	"cmp"
	"fmt"
	"slices"

	"dlock/dsl"
)

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
		values, ok := holeValues(h, ev, axisRoom{r.cells, &r.full}, faults)
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

// openHole refuses a hole in a run or a sweep. A file without blocks is one run, and can be explored as it is.
func openHole(h *dsl.Hole, blocks bool, f *faultList) {
	look, all := "look at every one", " with an explore block"
	switch {
	case h.Kind == dsl.MaybeHole:
		look = "look at both"
	case h.Name != "":
		look = "look at every value"
	}
	if !blocks {
		all = " with `dlock explore " + cmp.Or(h.Span.File, "FILE") + "`"
	}
	hint := "write a value in its place"
	switch {
	case h.Name != "" && h.Kind == dsl.MaybeHole:
		hint = "close it with --set " + h.Name + "=1 or --set " + h.Name + "=0"
	case h.Name != "":
		hint = "close it with --set " + h.Name + "=VALUE"
	case h.Kind == dsl.MaybeHole:
		hint = "write the line without `maybe`, name it to close it with --set"
	case h.Kind == dsl.NumberHole:
		hint = "write a value in its place, make it a let to close it with --set"
	}
	what := [...]string{dsl.NumberHole: "a number is left open", dsl.ServerHole: "a server is left open", dsl.MaybeHole: "whether this line is there is left open"}[h.Kind]
	f.add(dsl.CodeOpenHole, h.Span, what, "A run has one schedule, and a cell of a sweep too.", hint+", or "+look+all)
}
