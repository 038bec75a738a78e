package audit

import "dlock/engine"

// staleWrite: a write was accepted with a token lower than one accepted before. Counted in writes.
//
// This is corruption as the study guide defines it (5.6, stale_overwrites): the resource now reflects a critical section
// that began before another one whose work it had already taken. Kleppmann, "How to do distributed locking" (2016), draws
// it. Before is by the order in which the resource decided.
func (a *Auditor) staleWrite(rec *engine.Record, into *Report) {
	highest := engine.None // the write with the highest token so far
	for _, i := range a.landed {
		w := &rec.Writes[i]
		if !w.Accepted {
			continue
		}
		if highest == engine.None || w.Token > rec.Writes[highest].Token {
			highest = i
			continue
		}
		by := &rec.Writes[highest]
		if w.Token < by.Token && into.found(StaleWrite) {
			f := breach(StaleWrite, w.Applied.Tick)
			f.Line, f.Client, f.Other = w.Line, w.Client, by.Client
			f.Token, f.Applied, f.Index, f.By = w.Token, by.Token, i, highest
			into.Findings = append(into.Findings, f)
		}
	}
}
