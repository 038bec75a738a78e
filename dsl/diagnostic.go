package dsl

import (
	"cmp"
	"slices"
)

// Severity says whether a diagnostic stops the script from running.
type Severity uint8

// An Error stops the script; a Warning is about a script that runs and may not mean what its writer thinks.
const (
	Error Severity = iota
	Warning
)

// String gives the word that people read.
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Pos is a place in a source text. Offset counts bytes from 0, Line and Col count from 1, Col in characters (runes).
type Pos struct {
	Offset int
	Line   int
	Col    int
}

// Span is the stretch [Start, End) of one source text.
type Span struct {
	File  string
	Start Pos
	End   Pos
}

// Diagnostic is one fault or suspicion about a script: a value, not a text. Rendering belongs to the report package.
type Diagnostic struct {
	Code     string // "D012"; CodePage explains it
	Severity Severity
	Summary  string // one short sentence without a full stop
	Detail   string // what the rule is and why, may be empty
	Hint     string // what to do, may be empty
	Span     Span
}

// Diagnostics is a list of diagnostics of one or more files.
type Diagnostics []Diagnostic

// HasErrors tells whether at least one diagnostic is an error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders by file, position, severity and code, so that equal inputs print equal bytes. It drops exact repetitions, and
// warnings about a line that has an error: they may go with it.
func (ds Diagnostics) Sort() Diagnostics {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Span.File, b.Span.File),
			cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Summary, b.Summary),
		)
	})
	ds = slices.Compact(ds)
	type line struct {
		file string
		n    int
	}
	faulty := map[line]bool{}
	for _, d := range ds {
		if d.Severity == Error {
			faulty[line{d.Span.File, d.Span.Start.Line}] = true
		}
	}
	return slices.DeleteFunc(ds, func(d Diagnostic) bool {
		at := line{d.Span.File, d.Span.Start.Line}
		return d.Severity == Warning && at.n > 0 && faulty[at]
	})
}
