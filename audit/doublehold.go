package audit

import "dlock/engine"

// doubleHold: two clients have promises of a quorum at the same moment. Counted in pairs of clients.
//
// This is mutual exclusion at the lock itself (study guide 2: "at no instant did two clients both hold it"; docs/language.md
// 7). One overlapping promise on one server breaks overlap and leaves the lock intact; only when enough of them come
// together do two clients hold it. A finding's End equals its T when the two met within one tick only.
func (a *Auditor) doubleHold(rec *engine.Record, into *Report) {
	t := a.begin(rec)
	a.promised = a.promised[:0]
	for i := range a.edges {
		e := &a.edges[i]
		p := &rec.Promises[e.index]
		if e.kind == edgeOff {
			a.leave(t, p.Client, p.Server)
		} else {
			a.enter(t, p.Client, p.Server)
		}
		if i+1 == len(a.edges) || a.edges[i+1].at != e.at {
			a.promised = a.settle(t, e.at, p.Line, a.promised)
		}
	}
	a.meet(DoubleHold, len(rec.Program.Clients), a.promised, into)
}
