package compile

import "dlock/dsl"

// faultList collects diagnostics. The same fault at the same place is told once, for the first run or cell that has it:
// five runs that share a line share its mistake.
type faultList struct {
	list  dsl.Diagnostics
	where func() string // "in run …", may be nil
	quiet bool          // only count
	n     int
}

func (f *faultList) add(code string, at dsl.Span, summary, detail, hint string) {
	f.n++
	if f.quiet {
		return
	}
	for i := range f.list {
		if f.list[i].Code == code && f.list[i].Span == at && (at.Start.Line > 0 || f.list[i].Summary == summary) {
			return
		}
	}
	if f.where != nil {
		if w := f.where(); w != "" {
			if detail != "" {
				detail += " "
			}
			detail += "This is so " + w + "."
		}
	}
	f.list = append(f.list, dsl.Diagnostic{Code: code, Summary: summary, Detail: detail, Hint: hint, Span: at})
}

func (f *faultList) warn(code string, at dsl.Span, summary, detail, hint string) {
	n := len(f.list)
	f.add(code, at, summary, detail, hint)
	f.n--
	if len(f.list) > n {
		f.list[n].Severity = dsl.Warning
	}
}
