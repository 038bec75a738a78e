package audit

import "dlock/engine"

// refusedHolder: the resource refused, by its token, a write whose client was the holder when it was applied. Counted in
// writes.
//
// The price of a fence whose numbers are wrong (study guide 5.2 and 8: the highest of a quorum of counters need not rise)
// or whose test is too strict (7.3: with <= a lease is good for one write). Refusals by a guard are not counted: they are
// about the data or the lock, not about the token.
func (a *Auditor) refusedHolder(rec *engine.Record, into *Report) {
	for _, i := range a.landed {
		w := &rec.Writes[i]
		if w.Accepted || !a.lawful[i] || w.Reason != engine.ReasonStale && w.Reason != engine.ReasonStrict {
			continue
		}
		if into.found(RefusedHolder) {
			f := breach(RefusedHolder, w.Applied.Tick)
			f.Line, f.Client = w.Line, w.Client
			f.Token, f.Applied, f.Index = w.Token, w.Highest, i
			into.Findings = append(into.Findings, f)
		}
	}
}
