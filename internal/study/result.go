// Package study turns a checked file into answers: its runs, the cells of its sweeps, and whether what it claims about
// them is true. It runs the engine and the audit and words nothing; internal/report does that.
package study

import (
	"strconv"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Value is a let or a setting with the value that it had in a run.
type Value struct {
	Name string
	N    int64
	Word string // for settings that are words; then N is meaningless
}

// Text gives the value as the language writes it.
func (v Value) Text() string {
	if v.Word != "" {
		return v.Word
	}
	return itoa(v.N)
}

// Claim is an expect with its verdict.
type Claim struct {
	Expect    *dsl.Expect
	OK        bool
	Unchecked bool   // the command line overrides something, so the file's claim is not about this run
	Vacuous   string // why it could not have failed; "" if it could
	Got       string // what was there instead, in a few words; "" if OK
	// Cells holds, for a claim of a sweep that failed, the first few cells that break it.
	Cells []Failure
	// Broken counts the cells in which it fails.
	Broken int64
}

// Failure is a cell in which a claim does not hold.
type Failure struct {
	At  []Value
	Got string
}

// Run is one run of a file, ready to be shown.
type Run struct {
	Name     string // "" for a file without blocks
	Line     int
	Settings []Value // every setting, in the language's order
	Lets     []Value // every let, in file order
	Record   *engine.Record
	Audit    *audit.Report
	Claims   []Claim
}

// Failed tells whether a claim of the run failed or is vacuous.
func (r *Run) Failed() bool { return anyFailed(r.Claims) }

// File is everything that a file says and what came of it.
type File struct {
	Script *dsl.Script
	Items  []Item // run and sweep blocks in file order; one unnamed run for a file without blocks
}

// Item is a run or a sweep.
type Item struct {
	Run   *Run
	Sweep *Sweep
}

// Sweep is a sweep block after all of its cells ran.
type Sweep struct {
	Name   string
	Line   int
	Axes   []Axis
	Cells  int64
	Broken [audit.NumLaws]int64 // cells in which the law is broken
	Claims []Claim
	// Kept holds the cells, in order, if there are at most MaxKeptCells; a larger sweep streams them instead.
	Kept []Cell
}

// Failed tells whether a claim of the sweep failed or is vacuous.
func (s *Sweep) Failed() bool { return anyFailed(s.Claims) }

// Axis is one dimension of a sweep; its values in order.
type Axis struct {
	Name   string
	Values []Value
}

// Cell is the outcome of one cell.
type Cell struct {
	At      []Value // one for each axis
	Final   string
	Counts  [audit.NumLaws]int64
	Blocked []int64 // by client: ticks from first try to first grant; -1 if never
	OK      bool    // every claim holds in it
}

func anyFailed(claims []Claim) bool {
	for i := range claims {
		if c := &claims[i]; !c.Unchecked && (!c.OK || c.Vacuous != "") {
			return true
		}
	}
	return false
}
