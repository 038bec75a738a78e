package compile

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"dlock/dsl"
	"dlock/engine"
)

// Family is what an explore block ranges over. Its members are the combinations of its holes' values that "where" lets
// pass; with open ties, each of them in all its orders. A slice is a choice for every hole that is not late.
type Family struct {
	holes  []FamilyHole
	late   []int // the late ones
	early  []int // the others that stand in no line that may be there
	within map[int][]int
	ties   bool
	where  []code
	lines  []maybeLine
	relist bool // the lists of servers differ between slices

	raw     int64   // slices before "where"
	kept    []int32 // those that it lets pass; nil: all
	horizon engine.Tick
	broken  bool // its values are not known
}

// FamilyHole is one hole of a family with all of its values.
type FamilyHole struct {
	// Name is the let, setting or line that it is; otherwise "line 12", or "line 12 (2)" for the second one of that line.
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

// Text gives a value as the language writes it: a number, a server, or 0 or 1 for a line that may be there.
func (h *FamilyHole) Text(value int64) string {
	if h.Kind == dsl.ServerHole {
		return "s" + strconv.FormatInt(value, 10)
	}
	return strconv.FormatInt(value, 10)
}

// maybeLine is a line that may be there, with its blocks.
type maybeLine struct {
	hole  int
	steps engine.Span
}

// Family gives what the plan ranges over; nil for a run and a sweep.
func (p *Plan) Family() *Family { return p.family }

// Holes lists the holes in file order.
func (f *Family) Holes() []FamilyHole { return f.holes }

// Ties tells whether the order of several actors in one tick is open.
func (f *Family) Ties() bool { return f.ties }

// Slices is the number of slices that "where" lets pass, at most MaxSlices.
func (f *Family) Slices() int64 {
	if f.kept != nil {
		return int64(len(f.kept))
	}
	return f.raw
}

// Slice writes the i-th slice into choice, which has room for every hole: the index of each hole's value, the first hole
// varying slowest; -1 for late holes and for those of lines that are not there.
func (f *Family) Slice(i int64, choice []int64) {
	if f.kept != nil {
		i = int64(f.kept[i])
	}
	f.slice(i, choice)
}

// slice is Slice before "where".
func (f *Family) slice(i int64, choice []int64) {
	for h := range choice {
		choice[h] = -1
	}
	for _, h := range slices.Backward(f.early) {
		n := int64(len(f.holes[h].Values))
		if f.holes[h].Kind != dsl.MaybeHole {
			choice[h], i = i%n, i/n
			continue
		}
		n = 1 // the line is not there, or it is, with all that is chosen in it
		for _, in := range f.within[h] {
			n *= int64(len(f.holes[in].Values))
		}
		d := i % (1 + n)
		i /= 1 + n
		if choice[h] = min(d, 1); d == 0 {
			continue
		}
		d--
		for _, in := range slices.Backward(f.within[h]) {
			n := int64(len(f.holes[in].Values))
			choice[in], d = d%n, d/n
		}
	}
}

// count multiplies the slices, within what is left of the limits.
func (f *Family) count(p *Plan, r *room, faults *faultList) {
	total := uint64(1)
	times := func(a, b uint64) uint64 {
		if hi, lo := bits.Mul64(a, b); hi == 0 && lo <= MaxSlices {
			return lo
		}
		return MaxSlices + 1
	}
	for _, h := range f.early {
		n := uint64(len(f.holes[h].Values))
		if f.holes[h].Kind == dsl.MaybeHole {
			n = 1
			for _, in := range f.within[h] {
				n = times(n, uint64(len(f.holes[in].Values)))
			}
			n++
		}
		total = times(total, n)
	}
	f.raw = int64(total)
	switch {
	case f.broken:
		f.raw = 0
	case total > MaxSlices || f.raw > r.cells:
		var most []string
		for _, h := range f.early {
			if len(f.holes[h].Values) > 1 {
				most = append(most, f.holes[h].Name)
			}
		}
		faults.add(dsl.CodeLimit, p.at, fmt.Sprintf("a family has at most %d slices", MaxSlices),
			"A slice is a choice for every hole that is more than the tick of a line: "+shortened(most)+".", "close some of them, or let them range over less")
		f.raw, f.broken = 0, true
	}
	r.cells -= f.raw
}

// shortened joins words, of many the first few.
func shortened(words []string) string {
	const most = 8 // a message is one line
	if len(words) > most {
		words = append(slices.Clone(words[:most]), "…")
	}
	return strings.Join(words, ", ")
}

// checkFamily binds every slice that "where" lets pass, reports the faults of the first one that has any, and finds the
// last tick of them all: the members share one horizon.
func (p *Plan) checkFamily(faults *faultList) {
	f := p.family
	if f.broken {
		return
	}
	b := p.Binder()
	choice := make([]int64, len(f.holes))
	if len(f.where) > 0 {
		f.kept = make([]int32, 0, min(f.raw, 1<<10))
	}
	var last engine.Tick
	for i := range f.raw {
		f.slice(i, choice)
		keep, known := b.keeps(choice)
		if known && !keep {
			continue
		}
		if known {
			b.choose(choice, true)
		}
		if b.faults.n > 0 {
			faults.merge(b.faults)
			return
		}
		last = max(last, b.last)
		if f.kept != nil {
			f.kept = append(f.kept, int32(i))
		}
	}
	f.horizon = last + HorizonSlack
	if f.Slices() == 0 {
		faults.add(dsl.CodeHoleValues, p.at, "`where` keeps no member", "There is nothing to explore.", "")
	}
}

// keeps tells whether "where" lets a slice pass, if that can be known: what it is computed from may have faults.
func (b *Binder) keeps(choice []int64) (keep, known bool) {
	b.pick(choice)
	keep = true
	for _, c := range b.plan.family.where {
		v, ok := b.eval(c)
		if !ok {
			return false, false
		}
		keep = keep && v != 0
	}
	return keep, true
}
