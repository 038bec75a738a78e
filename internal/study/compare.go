package study

import (
	"slices"

	"dlock/audit"
	"dlock/engine"
)

// EventPair is an event of one run beside its counterpart in another, by their places in Record.Events; engine.None if
// there is none.
type EventPair struct{ A, B int32 }

// Difference is what is different between two runs of the same schedule.
type Difference struct {
	// Events lists, in order, the events that differ or that only one run has.
	Events []EventPair
	// Lock tells whether the lock's own history is the same: attempts, votes, leases, promises and grants, with their
	// ticks, tokens and servers.
	Lock bool
	// Grants and Leases tell the same of the grants and of the servers' leases alone.
	Grants, Leases bool
	// Holders tells whether the same clients held the lock at the same ticks.
	Holders bool
	Final   bool        // the final value is the same
	Laws    []audit.Law // the laws that are broken in a different number
	// Settings and Lets hold what has another value in b, with b's value.
	Settings, Lets []Value
}

// Same tells whether nothing that happened is different.
func (d *Difference) Same() bool {
	return len(d.Events) == 0 && d.Lock && d.Holders && d.Final && len(d.Laws) == 0
}

// Diff compares two runs of the same schedule under other values.
func Diff(a, b *Run) Difference {
	x, y := a.Record, b.Record
	d := Difference{
		Events:  diffEvents(x.Events, y.Events),
		Grants:  slices.EqualFunc(x.Grants, y.Grants, sameGrant),
		Leases:  slices.EqualFunc(x.Leases, y.Leases, sameLease),
		Holders: slices.Equal(a.Audit.Holders, b.Audit.Holders),
		Final:   x.Value(x.Final) == y.Value(y.Final),
	}
	d.Lock = d.Grants && d.Leases && slices.EqualFunc(x.Attempts, y.Attempts, sameAttempt) &&
		slices.EqualFunc(x.Votes, y.Votes, sameVote) && slices.EqualFunc(x.Promises, y.Promises, samePromise)
	for l := range audit.NumLaws {
		if a.Audit.Counts[l] != b.Audit.Counts[l] {
			d.Laws = append(d.Laws, l)
		}
	}
	d.Settings, d.Lets = changed(a.Settings, b.Settings), changed(a.Lets, b.Lets)
	return d
}

func changed(a, b []Value) []Value {
	var out []Value
	for _, v := range b {
		if !slices.Contains(a, v) {
			out = append(out, v)
		}
	}
	return out
}

// Two runs number their pieces of work differently as soon as one of them does a step more, so histories are compared by
// ticks and by order, not by those numbers.

func sameGrant(a, b engine.Grant) bool {
	a.Cast.Seq, a.Heard.Seq, b.Cast.Seq, b.Heard.Seq = 0, 0, 0, 0
	return a == b
}

func sameLease(a, b engine.Lease) bool {
	a.Start.Seq, a.End.Seq, b.Start.Seq, b.End.Seq = 0, 0, 0, 0
	return a == b
}

func sameAttempt(a, b engine.Attempt) bool {
	a.Sent.Seq, a.Decided.Seq, a.Cast.Seq, b.Sent.Seq, b.Decided.Seq, b.Cast.Seq = 0, 0, 0, 0, 0, 0
	return a == b
}

func sameVote(a, b engine.Vote) bool {
	a.Applied.Seq, b.Applied.Seq = 0, 0
	return a == b
}

func samePromise(a, b engine.Promise) bool {
	a.Start.Seq, a.End.Seq, b.Start.Seq, b.End.Seq = 0, 0, 0, 0
	return a == b
}

// sameEvent compares everything about two events but their running numbers and their places in other lists.
func sameEvent(a, b engine.Event) bool {
	a.At.Seq, b.At.Seq, a.Index, b.Index = 0, 0, 0, 0
	return a == b
}

// counterpart tells whether two events are the same step of the same schedule at the same time, whatever came of it.
func counterpart(a, b *engine.Event) bool {
	return a.At.Tick == b.At.Tick && a.Line == b.Line && a.Verb == b.Verb && a.Client == b.Client && a.Background == b.Background
}

// maxAligned bounds the table by which events are aligned: its size is the product of the events that are different.
const maxAligned = 4_000_000

// diffEvents aligns two lists of events by the longest sequence of counterparts, and gives what differs. Of runs too
// different for that, events are paired as they come.
func diffEvents(a, b []engine.Event) []EventPair {
	lo := 0
	for lo < min(len(a), len(b)) && sameEvent(a[lo], b[lo]) {
		lo++
	}
	ha, hb := len(a), len(b)
	for ha > lo && hb > lo && sameEvent(a[ha-1], b[hb-1]) {
		ha--
		hb--
	}
	var out []EventPair
	add := func(i, j int) { out = append(out, EventPair{int32(i), int32(j)}) }
	i, j := lo, lo
	n, m := ha-lo, hb-lo
	if n > 0 && m > 0 && n <= maxAligned/m {
		// length[x*(m+1)+y] is the longest alignment of what is left from x and y on.
		length := make([]int32, (n+1)*(m+1))
		for x := n - 1; x >= 0; x-- {
			for y := m - 1; y >= 0; y-- {
				best := max(length[(x+1)*(m+1)+y], length[x*(m+1)+y+1])
				if counterpart(&a[lo+x], &b[lo+y]) {
					best = max(best, length[(x+1)*(m+1)+y+1]+1)
				}
				length[x*(m+1)+y] = best
			}
		}
		for i < ha && j < hb {
			here := length[(i-lo)*(m+1)+j-lo]
			switch {
			case counterpart(&a[i], &b[j]) && here == length[(i-lo+1)*(m+1)+j-lo+1]+1:
				if !sameEvent(a[i], b[j]) {
					add(i, j)
				}
				i, j = i+1, j+1
			case here == length[(i-lo+1)*(m+1)+j-lo]:
				add(i, int(engine.None))
				i++
			default:
				add(int(engine.None), j)
				j++
			}
		}
	}
	for i < ha && j < hb { // only when the table would have been too large
		if !sameEvent(a[i], b[j]) {
			add(i, j)
		}
		i, j = i+1, j+1
	}
	for ; i < ha; i++ {
		add(i, int(engine.None))
	}
	for ; j < hb; j++ {
		add(int(engine.None), j)
	}
	return out
}
