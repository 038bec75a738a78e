package audit

import "dlock/engine"

// orphan: a quorum voted for an attempt whose client never heard of it, and it was not handed back. Counted in attempts.
//
// The study guide names it (8, "No network": an acquire can succeed at the server while the client never hears the
// reply). Nobody works under such a grant and nobody will release it: only its lease ends it. It is one if the votes cast
// were a quorum, those heard were not, and those not handed back still are.
func (a *Auditor) orphan(rec *engine.Record, into *Report) {
	quorum := int32(rec.Program.Settings.Quorum)
	a.votes = cleared(a.votes, len(rec.Attempts))
	a.heard = cleared(a.heard, len(rec.Attempts))
	for i := range rec.Votes {
		v := &rec.Votes[i]
		if v.Attempt == engine.None || v.Kind != engine.VoteYes && v.Kind != engine.VoteAgain {
			continue
		}
		if v.Heard != engine.Forever {
			a.heard[v.Attempt]++
		}
		if !v.Returned {
			a.votes[v.Attempt]++
		}
	}
	for i := range rec.Attempts {
		t := &rec.Attempts[i]
		if t.Cast.Tick == engine.Forever || a.heard[i] >= quorum || a.votes[i] < quorum {
			continue
		}
		if into.found(Orphan) {
			f := breach(Orphan, t.Cast.Tick)
			f.Line, f.Client, f.Token, f.Index = t.Line, t.Client, t.Token, int32(i)
			into.Findings = append(into.Findings, f)
		}
	}
	into.inTime(Orphan)
}
