package compile

import (
	"slices"

	"dlock/dsl"
)

// Rest finds the faults of value in what is left of a script that has errors already, so that people see all of a file's
// faults at once: in the statements that stand in no line with an error and need no name that such a line should have
// given. Only what those statements say by themselves is judged, one fault a line at most.
func Rest(s *dsl.Script, errors dsl.Diagnostics) dsl.Diagnostics {
	r := rest{faulty: map[int]bool{}, lost: map[string]bool{}}
	for _, d := range errors {
		if d.Severity == dsl.Error {
			r.faulty[d.Span.Start.Line] = true
		}
		switch d.Code {
		case dsl.CodeStrayBrace, dsl.CodeNestedBlocks, dsl.CodeNestingTooDeep, dsl.CodeTooManyBlocks:
			r.torn = true
		}
	}
	r.loseLets(s)
	left := &dsl.Script{File: s.File, Clients: s.Clients, Body: r.body(&s.Body)}
	for _, b := range s.Blocks {
		if r.sound(b.Span) && !slices.ContainsFunc(b.Axes, func(a *dsl.Axis) bool { return !r.axis(a) }) {
			c := *b
			c.Body = r.body(&b.Body)
			c.Where = slices.DeleteFunc(slices.Clone(b.Where), func(e dsl.Expr) bool { return !r.sound(e.Span()) || !r.known(e) })
			left.Blocks = append(left.Blocks, &c)
		}
	}
	_, found := Compile(left, nil)
	var out dsl.Diagnostics
	for _, d := range found.Sort() {
		line := d.Span.Start.Line
		if d.Severity == dsl.Error && r.certain(d.Code, left) && !r.faulty[line] {
			r.faulty[line] = true
			out = append(out, d)
		}
	}
	return out
}

// certain tells whether a fault is one whatever the lines that were left out would have said.
func (r *rest) certain(code string, left *dsl.Script) bool {
	switch code {
	case dsl.CodeDivisionByZero, dsl.CodeOverflow, dsl.CodeStepNumber, dsl.CodeSettingRange, dsl.CodeEmptyEvery, dsl.CodePauseEnd, dsl.CodeMessageOrder:
		return true
	case dsl.CodeInsidePause:
		return !r.torn
	case dsl.CodeQuorumRange:
		// Unless the file says how many servers there are, the line that should have said it may be a faulty one.
		return slices.ContainsFunc(left.Settings, func(s *dsl.Setting) bool { return s.Name == "servers" })
	}
	return false
}

// rest is what a script's errors leave.
type rest struct {
	faulty map[int]bool
	lost   map[string]bool // lets, and named lines, that an error took away, or that need one of those
	torn   bool            // which lines belong to which block is a guess
}

func (r *rest) sound(at dsl.Span) bool { return !r.faulty[at.Start.Line] }

// known tells whether an expression needs no name that is lost.
func (r *rest) known(e dsl.Expr) bool {
	ok := true
	if e != nil {
		leaves(e, func(leaf dsl.Expr) {
			if ref, is := leaf.(*dsl.Ref); is && r.lost[ref.Name] {
				ok = false
			}
		})
	}
	return ok
}

func (r *rest) loseLets(s *dsl.Script) {
	bodies := []*dsl.Body{&s.Body}
	for _, b := range s.Blocks {
		bodies = append(bodies, &b.Body)
	}
	have := map[string]bool{}
	for more := true; more; {
		more = false
		for _, b := range bodies {
			for _, l := range b.Lets {
				have[l.Name] = true
				if !r.lost[l.Name] && (!r.sound(l.Span) || !r.known(l.Expr)) {
					r.lost[l.Name], more = true, true
				}
			}
		}
	}
	// A name that no statement gives was in a line that could not be read, or is an error of the line that uses it.
	for _, b := range bodies {
		for _, st := range b.Steps {
			stepParts(st, func(e dsl.Expr) { r.loseUnknown(e, have) }, func(*dsl.Hole) {})
		}
		for _, l := range b.Lets {
			r.loseUnknown(l.Expr, have)
		}
		for _, x := range b.Settings {
			r.loseUnknown(x.Value.Expr, have)
		}
	}
}

func (r *rest) loseUnknown(e dsl.Expr, have map[string]bool) {
	if e == nil {
		return
	}
	leaves(e, func(leaf dsl.Expr) {
		if ref, is := leaf.(*dsl.Ref); is && !ref.Setting && !have[ref.Name] {
			r.lost[ref.Name] = true
		}
	})
}

// body leaves out what is not sound. Claims are left out altogether: they are about what happens, and that is not known.
func (r *rest) body(b *dsl.Body) dsl.Body {
	var out dsl.Body
	for _, s := range b.Settings {
		if r.sound(s.Span) && r.known(s.Value.Expr) {
			out.Settings = append(out.Settings, s)
		}
	}
	for _, l := range b.Lets {
		if !r.lost[l.Name] {
			out.Lets = append(out.Lets, l)
		}
	}
	out.Steps = r.steps(b.Steps)
	return out
}

func (r *rest) steps(list []*dsl.Step) []*dsl.Step {
	var out []*dsl.Step
	for _, s := range list {
		alone := *s
		alone.Outcomes = nil
		ok := r.sound(s.Span)
		stepParts(&alone, func(e dsl.Expr) { ok = ok && r.known(e) }, func(h *dsl.Hole) { ok = ok && r.sound(h.Span) })
		if !ok {
			continue
		}
		for _, o := range s.Outcomes {
			c := *o
			c.Steps = r.steps(o.Steps)
			alone.Outcomes = append(alone.Outcomes, &c)
		}
		out = append(out, &alone)
	}
	return out
}

func (r *rest) axis(a *dsl.Axis) bool {
	ok := r.sound(a.Span) && !r.lost[a.Name] && r.known(a.Step)
	for i := range a.Items {
		ok = ok && r.known(a.Items[i].Lo) && r.known(a.Items[i].Hi)
	}
	return ok
}
