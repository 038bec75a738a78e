// Package study turns a checked file into answers: its runs, the cells of its sweeps, and whether what it claims about
// them is true. It runs the engine and the audit and words nothing; internal/report does that.
package study

import (
	"math/big"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
)

// Value is a let or a setting with the value that it had in a run or cell.
type Value = compile.Value

// Hole is a point of a family that is left open, with its values.
type Hole = compile.FamilyHole

// Claim is an expect with its verdict.
type Claim struct {
	Expect    *dsl.Expect
	OK        bool
	Unchecked bool // the command line overrides something, so the file's claim is not about this run
	// Inconclusive tells that the engine reached one of its limits before the claim could be judged. Then OK is false.
	Inconclusive bool
	Vacuous      string // why it could not have failed; "" if it could
	Got          string // what was there instead, in a few words; "" if OK
	// Cells holds, for a claim of a sweep that failed, the first few cells that break it.
	Cells []Failure
	// Broken counts the cells in which it fails.
	Broken int64
	// Replay is the command that runs the first of them by itself, quoted for a shell; "" where there is none.
	Replay string
	// Held counts, for a claim of an explore block, the members in which what it says is so.
	Held *big.Int
}

// Failed tells whether the claim is false or vacuous.
func (c *Claim) Failed() bool { return !c.Unchecked && !c.Inconclusive && (!c.OK || c.Vacuous != "") }

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

// Inconclusive tells whether the run stopped at a limit of the engine, which Record.Limit names.
func (r *Run) Inconclusive() bool { return r.Record.Limit != engine.NoLimit }

// File is everything that a file says and what came of it.
type File struct {
	Script *dsl.Script
	Items  []Item // run and sweep blocks in file order; one unnamed run for a file without blocks
}

// Failed tells whether a claim of any item failed or is vacuous.
func (f *File) Failed() bool {
	for _, it := range f.Items {
		if it.Run != nil && it.Run.Failed() || it.Sweep != nil && it.Sweep.Failed() || it.Explore != nil && it.Explore.Failed() {
			return true
		}
	}
	return false
}

// Inconclusive tells whether any run or cell stopped at a limit of the engine.
func (f *File) Inconclusive() bool {
	for _, it := range f.Items {
		if it.Run != nil && it.Run.Inconclusive() || it.Sweep != nil && it.Sweep.Inconclusive() || it.Explore != nil && it.Explore.Inconclusive() {
			return true
		}
	}
	return false
}

// Item is a run, a sweep or an explore block.
type Item struct {
	Run     *Run
	Sweep   *Sweep
	Explore *Explore
	Passed  *Passed
}

// Passed is an explore block that was passed over because Options.RunsOnly asked for runs and some of its holes are open.
type Passed struct {
	Name string
	Line int
	Open []Hole
}

// MaxKeptCells is how many cells a sweep keeps in memory. It is enough for any table or map that a person reads; the cells
// of a larger sweep are handed to Options.Each and forgotten.
const MaxKeptCells = 10_000

// maxKeptInAll bounds the cells that the sweeps of a file keep together: a later sweep keeps none if they are used up.
const maxKeptInAll = 10 * MaxKeptCells

// maxEntries is how much the records of all runs of a file may list together. The runs behind it are not done, and are as
// inconclusive as one that reached a limit of the engine.
const maxEntries = 4_000_000

// MaxFailures is how many cells that break a claim are named.
const MaxFailures = 5

// Sweep is a sweep block after all of its cells ran.
type Sweep struct {
	Name    string
	Line    int
	Axes    []Axis
	Clients []string // what the lists of a cell are ordered by
	Cells   int64
	Broken  [audit.NumLaws]int64 // cells in which the law is broken
	Clean   int64                // cells in which no law of safety is broken
	// Unbroken counts the cells in which no law at all is broken.
	Unbroken int64
	// Limited counts the cells that stopped at a limit of the engine, and LimitedAt is the first of them.
	Limited   int64
	LimitedAt []Value
	Claims    []Claim
	// Kept holds the cells, in order, if there are at most MaxKeptCells; a larger sweep streams them instead, and so do
	// those behind many others in one file.
	Kept []Cell
}

// Failed tells whether a claim of the sweep failed or is vacuous.
func (s *Sweep) Failed() bool { return anyFailed(s.Claims) }

// Inconclusive tells whether a cell stopped at a limit of the engine.
func (s *Sweep) Inconclusive() bool { return s.Limited > 0 }

// Axis is one dimension of a sweep; its values in order.
type Axis struct {
	Name   string
	Values []Value
	// Broken counts, by value, the cells with that value in which each law is broken: the sweep by slices. It is nil for
	// an axis of more than MaxKeptCells values.
	Broken [][audit.NumLaws]int64
}

// Cell is the outcome of one cell.
type Cell struct {
	At      []Value // one for each axis
	Final   string
	Counts  [audit.NumLaws]int64
	Blocked []int64 // by client: ticks from first try to first grant; -1 if never
	OK      bool    // every claim holds in it
	Limit   engine.LimitKind
}

func anyFailed(claims []Claim) bool {
	for i := range claims {
		if claims[i].Failed() {
			return true
		}
	}
	return false
}
