package compile

import (
	"slices"

	"dlock/dsl"
)

// faultList collects diagnostics over the plans of a file. The same fault at the same place is told once, for the first
// run or cell that has it: runs that share a line share its mistake.
type faultList struct {
	list  []fault
	where func() (text string, cell bool) // the place that is being looked at, may be nil
	plan  int                             // the number of the plan that is being looked at
	quiet bool                            // only count
	n     int                             // errors, repetitions included
}

type fault struct {
	dsl.Diagnostic
	where string // "in run …"
	cell  bool   // where names a cell
	plan  int    // the last plan that has it
	plans int    // how many plans have it
}

func (f *faultList) add(code string, at dsl.Span, summary, detail, hint string) {
	f.put(dsl.Diagnostic{Code: code, Summary: summary, Detail: detail, Hint: hint, Span: at})
}

func (f *faultList) warn(code string, at dsl.Span, summary, detail, hint string) {
	f.put(dsl.Diagnostic{Code: code, Severity: dsl.Warning, Summary: summary, Detail: detail, Hint: hint, Span: at})
}

func (f *faultList) put(d dsl.Diagnostic) {
	if d.Severity == dsl.Error {
		f.n++
	}
	if f.quiet {
		return
	}
	for i := range f.list {
		// What comes from the command line has no place in the file; there the words tell faults apart.
		if g := &f.list[i]; g.Code == d.Code && g.Span == d.Span && (d.Span.Start.Line > 0 || g.Summary == d.Summary) {
			if g.plan != f.plan {
				g.plan, g.plans = f.plan, g.plans+1
			}
			return
		}
	}
	g := fault{Diagnostic: d, plan: f.plan, plans: 1}
	if f.where != nil {
		g.where, g.cell = f.where()
	}
	f.list = append(f.list, g)
}

// merge takes over what a binder found.
func (f *faultList) merge(o *faultList) {
	where := f.where
	for i := range o.list {
		g := &o.list[i]
		f.where = func() (string, bool) { return g.where, g.cell }
		f.put(g.Diagnostic)
	}
	f.where = where
}

// reset forgets everything and keeps the memory.
func (f *faultList) reset() { f.n, f.list = 0, f.list[:0] }

// diagnostics gives the list in order, at most one error for each line of the file, and each with the place that has it
// unless every one of the plans does.
func (f *faultList) diagnostics(plans int) dsl.Diagnostics {
	var out dsl.Diagnostics
	for i := range f.list {
		g := &f.list[i]
		d := g.Diagnostic
		if g.where != "" && (g.cell || g.plans < plans) {
			if d.Detail != "" {
				d.Detail += " "
			}
			d.Detail += "This is so " + g.where + "."
		}
		out = append(out, d)
	}
	told := map[int]bool{}
	return slices.DeleteFunc(out.Sort(), func(d dsl.Diagnostic) bool {
		line := d.Span.Start.Line
		again := line > 0 && d.Severity == dsl.Error && told[line]
		told[line] = told[line] || d.Severity == dsl.Error
		return again
	})
}
