package margin

import (
	"slices"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/numbers"
)

// findKnobs lists the numbers that can be moved, in the order of the file. A place that is nothing but a let's name moves
// with its let; every other place also moves by itself, whatever formula it holds.
func (s *scan) findKnobs(prog *engine.Program) {
	steps := map[int]*engine.Step{}
	for i := range prog.Steps {
		steps[int(prog.Steps[i].Line)] = &prog.Steps[i]
	}
	ticks, counts := map[string]bool{}, map[string]bool{} // lets that times are made of, and numbers of servers
	var all []numbers.Place
	for _, b := range s.bodies() {
		all = append(all, numbers.Of(b.Steps)...)
		for _, set := range b.Settings {
			switch {
			case set.Value.Expr == nil:
			case set.Name == "servers" || set.Name == "quorum":
				s.reach(set.Value.Expr, counts)
			default:
				s.reach(set.Value.Expr, ticks)
			}
		}
	}
	for i := range all {
		s.reach(*all[i].Expr, ticks)
	}
	for _, v := range s.out.Lets {
		if l := s.let(v.Name); l != nil && ticks[v.Name] && !counts[v.Name] {
			s.knobs = append(s.knobs, &Knob{Name: v.Name, Line: l.Span.Start.Line, Value: engine.Tick(v.N)})
		}
	}
	s.settingKnobs()
	for i := range all {
		s.placeKnob(all[i], steps, prog)
	}
	slices.SortStableFunc(s.knobs, func(a, b *Knob) int { return a.Line - b.Line })
}

// reach notes every let that a formula leads to.
func (s *scan) reach(e dsl.Expr, into map[string]bool) {
	numbers.Refs(e, func(r *dsl.Ref) {
		if into[r.Name] {
			return
		}
		into[r.Name] = true
		if l := s.let(r.Name); l != nil && !slices.ContainsFunc(s.over, func(o compile.Override) bool { return o.Name == r.Name }) {
			s.reach(l.Expr, into)
		}
	})
}

// settingKnobs adds the settings that are ticks and stand in the file as a number.
func (s *scan) settingKnobs() {
	for _, name := range [...]string{"lock-delay", "validity"} {
		var set *dsl.Setting
		for _, b := range s.bodies() {
			for _, one := range b.Settings {
				if one.Name == name {
					set = one
				}
			}
		}
		if set == nil || set.Value.Expr == nil {
			continue
		}
		if _, bare := set.Value.Expr.(*dsl.Ref); bare {
			continue
		}
		for _, v := range s.out.Settings {
			if v.Name == name && v.Word == "" {
				s.knobs = append(s.knobs, &Knob{Name: name, Setting: true, Line: set.Span.Start.Line, Value: engine.Tick(v.N)})
			}
		}
	}
}

// placeKnob adds a number of a line. An "every" is moved as a whole by its first tick.
func (s *scan) placeKnob(p numbers.Place, steps map[int]*engine.Step, prog *engine.Program) {
	k := &Knob{Place: p, Line: p.Step.Span.Start.Line, exprs: []*dsl.Expr{p.Expr}}
	step := steps[k.Line]
	if _, bare := (*p.Expr).(*dsl.Ref); bare || step == nil {
		return
	}
	k.Value = p.Value(step, prog.Messages)
	if p.Kind == numbers.From {
		k.exprs = append(k.exprs, &p.Step.When.To)
	}
	s.knobs = append(s.knobs, k)
}
