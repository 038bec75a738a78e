package compile

import (
	"dlock/dsl"
	"dlock/engine"
)

// FamilyHole is one hole of a family with all of its values.
type FamilyHole struct {
	// Name is the let, setting or maybe that it is; otherwise "line 12", or "line 12 (2)" for the second one of that line.
	Name string
	Line int
	Kind dsl.HoleKind
	Span dsl.Span // what a choice is written in place of
	// Values are in the order of the file: numbers, servers counted from 1, or 0 and 1 for a line that may be there.
	Values []int64
	// In is the index of the maybe hole of the line that it stands in, or -1. If that line is not there, it is not chosen.
	In int
	// Late tells that the search decides it, as a hole of the program that BindSlice gives: the k-th late one is
	// Program.Holes[k].
	Late bool
}

// Family is what an explore block ranges over. Its members are the combinations of its holes' values that "where" lets
// pass; with open ties, each of them in all its orders. A slice is a choice for every hole that is not late.
type Family struct {
	holes  []FamilyHole
	ties   bool
	slices int64
}

// Family gives what the plan ranges over; nil for a run and a sweep.
func (p *Plan) Family() *Family { return p.family }

// Holes lists the holes in file order.
func (f *Family) Holes() []FamilyHole { return f.holes }

// Ties tells whether the order of several actors in one tick is open.
func (f *Family) Ties() bool { return f.ties }

// Slices is the number of slices that "where" lets pass, at most MaxSlices.
func (f *Family) Slices() int64 { return f.slices }

// Slice writes the i-th slice into choice, which has room for every hole: the index of each hole's value, the first hole
// varying slowest; -1 for late holes and those that are not chosen.
func (f *Family) Slice(i int64, choice []int64) {}

// BindSlice computes the program of a slice: its late holes are holes of the program, and its ties are open if the family's
// are. The program is valid until the next call. It is nil if the slice has faults, which none has that Compile let pass.
func (b *Binder) BindSlice(choice []int64) (*engine.Program, dsl.Diagnostics) { return nil, nil }

// BindMember computes the program of a member: choice has the index of a value for every hole, those of lines that are not
// there aside. It is an ordinary program but for its ties, which are open if the family's are.
func (b *Binder) BindMember(choice []int64) (*engine.Program, dsl.Diagnostics) { return nil, nil }
