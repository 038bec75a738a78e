package audit

import "dlock/engine"

// unlockedWrite: a write was accepted whose client was not the holder when it was applied. Counted in writes.
//
// The study guide's unlocked_writes (5.6, 6.6): the lock was bypassed, which is not yet the same as wrong data. A
// finding's Other is the client that did hold it then, if there was one.
func (a *Auditor) unlockedWrite(rec *engine.Record, into *Report) {
	for _, i := range a.landed {
		w := &rec.Writes[i]
		if !w.Accepted || a.lawful[i] {
			continue
		}
		if into.found(UnlockedWrite) {
			f := breach(UnlockedWrite, w.Applied.Tick)
			f.Line, f.Client, f.Other = w.Line, w.Client, a.holderAt(w.Applied)
			f.Token, f.Index = w.Token, i
			into.Findings = append(into.Findings, f)
		}
	}
}
