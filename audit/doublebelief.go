package audit

import (
	"cmp"
	"slices"

	"dlock/engine"
)

// doubleBelief: two clients believe at the same moment that they hold the lock. Counted in pairs of clients.
//
// A belief runs from hearing the grant until the client sends its release, crashes or notices (docs/language.md 7); the
// record has it. The lock can be innocent while beliefs overlap: that is the gap of the study guide's section 4, between
// what a client last heard and what is true by now.
func (a *Auditor) doubleBelief(rec *engine.Record, into *Report) {
	a.believed = a.believed[:0]
	for i := range rec.Beliefs {
		b := &rec.Beliefs[i]
		if b.Start.Before(b.End) {
			a.believed = append(a.believed, stretch{client: b.Client, line: b.Line, start: b.Start, end: b.End})
		}
	}
	slices.SortFunc(a.believed, func(x, y stretch) int {
		return cmp.Or(byMoment(x.start, y.start), cmp.Compare(x.client, y.client))
	})
	// A client believes or it does not: beliefs of its own that touch are one.
	a.last = filled(a.last, len(rec.Program.Clients), engine.None)
	kept := a.believed[:0]
	for _, b := range a.believed {
		if l := a.last[b.client]; l != engine.None && !kept[l].end.Before(b.start) {
			if kept[l].end.Before(b.end) {
				kept[l].end = b.end
			}
			continue
		}
		a.last[b.client] = int32(len(kept))
		kept = append(kept, b)
	}
	a.believed = kept
	a.meet(DoubleBelief, len(rec.Program.Clients), a.believed, into)
}
