package audit

import "dlock/engine"

// findGone notes which clients crashed at some time of the run.
func (a *Auditor) findGone(rec *engine.Record) {
	a.gone = cleared(a.gone, len(rec.Program.Clients))
	for i := range rec.Faults {
		if f := &rec.Faults[i]; f.Kind == engine.FaultClientCrash {
			a.gone[f.Client] = true
		}
	}
}

// stillAsking tells whether a trial was cut off by the horizon while its client lived.
func (a *Auditor) stillAsking(t *engine.Trial) bool {
	return t.Retry && t.End == engine.TrialHorizon && !a.gone[t.Client]
}

// starvation: a living client that retries was still asking at the horizon and was never granted. Counted in clients.
//
// Knuth ("Additional comments on a problem in concurrent programming control", 1966) asked of a mutual exclusion algorithm
// that nobody can be kept out for ever; this is its finite form (docs/language.md 7). Others may well have been granted.
func (a *Auditor) starvation(rec *engine.Record, into *Report) {
	a.granted = cleared(a.granted, len(rec.Program.Clients))
	for i := range rec.Grants {
		a.granted[rec.Grants[i].Client] = true
	}
	for i := range rec.Trials {
		t := &rec.Trials[i]
		if !a.stillAsking(t) || a.granted[t.Client] {
			continue
		}
		a.granted[t.Client] = true // counted once
		if into.found(Starvation) {
			f := breach(Starvation, t.Ended.Tick)
			f.Line, f.Client, f.Index = t.Line, t.Client, int32(i)
			into.Findings = append(into.Findings, f)
		}
	}
	into.inTime(Starvation)
}
