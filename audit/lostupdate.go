package audit

import "dlock/engine"

// lostUpdate: an accepted write vanished, since a later accepted append was computed from a version before it. Counted
// in vanished writes.
//
// The lost update of the database literature (Berenson et al., "A Critique of ANSI SQL Isolation Levels", 1995, P4), here
// for the read-modify-write of the study guide's 7.6; docs/language.md 7 says why the project has it: a fence on writes
// alone compares tokens, and in a lost update no token need be low. A blind write replaces what was there on purpose and
// makes nothing vanish by itself.
//
// Versions rise with every accepted write, so those that are still there form a stack: an append whose base is b takes
// away all above b, and each of them is taken away once.
func (a *Auditor) lostUpdate(rec *engine.Record, into *Report) {
	stack := a.pending[:0]
	for _, i := range a.landed {
		w := &rec.Writes[i]
		if !w.Accepted {
			continue
		}
		if w.Verb == engine.Append {
			keep := len(stack)
			for keep > 0 && rec.Writes[stack[keep-1]].Version > w.Base {
				keep--
			}
			for _, v := range stack[keep:] {
				if into.found(LostUpdate) {
					f := breach(LostUpdate, w.Applied.Tick)
					f.Line, f.Client, f.Other = w.Line, w.Client, rec.Writes[v].Client
					f.Token, f.Index, f.By = w.Token, v, i
					into.Findings = append(into.Findings, f)
				}
			}
			stack = stack[:keep]
		}
		stack = append(stack, i)
	}
	a.pending = stack
}
