package audit

import (
	"cmp"
	"slices"

	"dlock/engine"
)

// Auditor judges records one after the other and keeps its working memory between them, so that a sweep of millions of
// cells allocates only while the records still grow. The zero value is ready; one Auditor serves one goroutine.
type Auditor struct {
	edges    []edge    // of the promises, in order of time; overlap and double-hold read them
	spare    []edge    // of the stays, of the ends of stretches, and of what keeps servers busy, one after the other
	live     []int32   // by client and server: how many intervals are open there
	count    []int32   // by client: servers that count for it
	open     []int32   // by client: its open stretch, or engine.None
	down     []int32   // by server: how many crashes are open
	touched  []int32   // clients whose count moved at the moment being looked at
	mark     []bool    // by client: is it in touched
	stays    []stay    // who was let into which lease
	held     []stretch // a quorum of living leases
	promised []stretch // a quorum of promises
	believed []stretch
	last     []int32  // by client: its latest interval or stretch
	met      []uint64 // by client: the set of clients that it met
	active   []uint64 // the set of clients inside a stretch
	landed   []int32  // writes in the order in which the resource decided them
	lawful   []bool   // by write: was its client the holder when it was applied
	until    []engine.Moment
	pending  []int32 // accepted writes that nothing made vanish yet
	grants   []int32
	votes    []int32 // by attempt: votes cast and kept
	heard    []int32 // by attempt: votes heard
	gone     []bool  // by client: it crashed
	granted  []bool  // by client: it was granted once
	tries    []try
	first    []int32 // by client: its first entry in tries
	waits    []Interval
	pairs    []pair
	latest   []int32 // by step: its trial that was the last to end at the horizon
	slots    []slot
}

// Judge judges one record.
func Judge(rec *engine.Record) *Report {
	into := new(Report)
	new(Auditor).Judge(rec, into)
	return into
}

// Judge judges rec and overwrites into, whose slices are used again.
func (a *Auditor) Judge(rec *engine.Record, into *Report) {
	*into = Report{Findings: into.Findings[:0], Holders: into.Holders[:0], Blocked: into.Blocked[:0]}

	a.holders(rec, into)
	a.orderWrites(rec)
	a.orderPromises(rec)

	a.overlap(rec, into)
	a.doubleHold(rec, into)
	a.doubleBelief(rec, into)
	a.staleWrite(rec, into)
	a.lostUpdate(rec, into)
	a.unlockedWrite(rec, into)
	a.tokenRegress(rec, into)
	a.refusedHolder(rec, into)
	a.findGone(rec)
	a.starvation(rec, into)
	a.deadlock(rec, into)
	a.orphan(rec, into)

	a.measure(rec, into)
	into.Fault = faultOf(rec, into)
}

// found counts a breach and tells whether it is to be listed too.
func (r *Report) found(l Law) bool {
	r.Counts[l]++
	return r.Counts[l] <= MaxFindings
}

// inTime puts a law's findings, the last ones of the list, into the order of time.
func (r *Report) inTime(l Law) {
	from := len(r.Findings)
	for from > 0 && r.Findings[from-1].Law == l {
		from--
	}
	slices.SortStableFunc(r.Findings[from:], func(a, b Finding) int { return cmp.Compare(a.T, b.T) })
}

// breach is a finding about nobody yet.
func breach(l Law, t engine.Tick) Finding {
	return Finding{Law: l, T: t, Line: engine.None, Client: engine.None, Other: engine.None, Server: engine.None}
}

// cleared gives a slice of n zero values, in the memory of s if that is large enough.
func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// filled is cleared with another value than zero.
func filled[T any](s []T, n int, v T) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = v
	}
	return s
}
