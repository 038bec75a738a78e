package why

import (
	"cmp"
	"slices"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
)

// tracer goes back from a finding to what led to it, and collects it without order or doubles.
type tracer struct {
	run   *study.Run
	rec   *engine.Record
	links []Link
}

// follow gives the chain of a finding.
func follow(run *study.Run, f *audit.Finding) []Link {
	t := tracer{run: run, rec: run.Record}
	switch f.Law {
	case audit.Overlap:
		t.promises(f.By, f.Index)
	case audit.DoubleHold:
		t.doubleHold(f)
	case audit.DoubleBelief:
		t.belief(f.Client, f.T)
		t.belief(f.Other, f.T)
	case audit.StaleWrite, audit.LostUpdate:
		t.write(f.By)
		t.write(f.Index)
		t.base(f.By)
		t.base(f.Index)
	case audit.UnlockedWrite:
		t.write(f.Index)
		t.base(f.Index)
	case audit.RefusedHolder:
		t.write(f.Index)
		t.highest(f)
		t.wipes(t.rec.Writes[f.Index].Applied)
	case audit.TokenRegress:
		t.regress(f)
	case audit.Starvation, audit.Deadlock:
		t.waiting(f.Index)
	case audit.Orphan:
		t.attempt(f.Index)
		t.unreachable(&t.rec.Attempts[f.Index])
	}
	slices.SortFunc(t.links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.At.Tick, b.At.Tick), cmp.Compare(a.At.Seq, b.At.Seq), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Index, b.Index))
	})
	return slices.Compact(t.links)
}

func (t *tracer) event(i int32) {
	if i != engine.None {
		e := &t.rec.Events[i]
		t.links = append(t.links, Link{Kind: LinkEvent, At: e.At, Line: e.Line, Index: i})
	}
}

// eventOf finds the event in which an entry of the record's lists was decided.
func eventOf(rec *engine.Record, index int32, verbs ...engine.Verb) int32 {
	for i := range rec.Events {
		if e := &rec.Events[i]; e.Index == index && e.Outcome != engine.Sent && slices.Contains(verbs, e.Verb) {
			return int32(i)
		}
	}
	return engine.None
}

func (t *tracer) write(i int32) {
	w := &t.rec.Writes[i]
	if w.Sent.Tick < w.Applied.Tick {
		for j := range t.rec.Events {
			if e := &t.rec.Events[j]; e.Index == i && e.Outcome == engine.Sent && (e.Verb == engine.Append || e.Verb == engine.Write) {
				t.event(int32(j))
			}
		}
	}
	t.event(eventOf(t.rec, i, engine.Append, engine.Write))
	t.grantBefore(w.Client, w.Sent)
	t.lostHold(w.Client, w.Applied)
}

// base adds where the copy came from that an append was computed from: a read, or a write of its own.
func (t *tracer) base(i int32) {
	w := &t.rec.Writes[i]
	if w.Verb != engine.Append {
		return
	}
	from := engine.None
	for j := range t.rec.Reads {
		if r := &t.rec.Reads[j]; r.Client == w.Client && r.Version == w.Base && r.Heard <= w.Sent.Tick && r.Applied.Before(w.Sent) {
			from = int32(j)
		}
	}
	if from != engine.None {
		t.event(eventOf(t.rec, from, engine.Read))
	}
}

// grantBefore adds the last grant, or renewal that took the lock anew, that a client had heard at a moment.
func (t *tracer) grantBefore(client int32, m engine.Moment) {
	last := engine.None
	for i := range t.rec.Events {
		e := &t.rec.Events[i]
		if e.Client != client || !e.At.Before(m) {
			continue
		}
		if e.Verb == engine.Acquire && e.Outcome == engine.Granted ||
			e.Verb == engine.Renew && e.Outcome == engine.Renewed && t.rec.Asks[e.Index].Token > 0 {
			last = int32(i)
		}
	}
	t.event(last)
}

// lastHold gives the last interval in which a client held the lock before or at a moment.
func lastHold(run *study.Run, client int32, m engine.Moment) int32 {
	last := engine.None
	for i := range run.Audit.Holders {
		if h := &run.Audit.Holders[i]; h.Client == client && h.Start <= m.Tick {
			last = int32(i)
		}
	}
	return last
}

// lostHold adds how a client ceased to be the holder before a moment, and what kept it from knowing: pauses, a watchdog
// that stopped, renewals that failed, cuts.
func (t *tracer) lostHold(client int32, m engine.Moment) {
	h := lastHold(t.run, client, m)
	if h == engine.None {
		return
	}
	hold := &t.run.Audit.Holders[h]
	if hold.End > m.Tick {
		return
	}
	caused := false
	for i := range t.rec.Leases {
		l := &t.rec.Leases[i]
		switch {
		case l.Client != client || l.Start.Tick >= l.End.Tick:
		case l.End.Tick == hold.End:
			caused = t.leaseCause(int32(i)) || caused
		case l.Ended == engine.ByRestart && hold.Start < l.End.Tick && l.End.Before(m):
			t.leaseCause(int32(i)) // a server that was only down would have had the lease when it came up
		}
	}
	for i := range t.rec.Faults {
		f := &t.rec.Faults[i]
		if f.Kind == engine.FaultServerCrash && hold.Start <= f.Start.Tick && f.Start.Tick <= hold.End && hold.End < f.End.Tick && t.had(client, f) {
			t.fault(int32(i))
			caused = caused || f.Start.Tick == hold.End
		}
	}
	if !caused {
		t.links = append(t.links, Link{Kind: LinkHold, At: engine.Moment{Tick: hold.End}, Index: h})
	}
	for i := range t.rec.Pauses {
		if p := &t.rec.Pauses[i]; p.Client == client && p.Start.Tick < m.Tick && p.End > hold.Start {
			t.event(eventOf(t.rec, int32(i), engine.Pause))
		}
	}
	for i := range t.rec.Faults {
		f := &t.rec.Faults[i]
		if f.Kind == engine.FaultCut && f.Client == client && f.Server != engine.None && f.Start.Before(m) && hold.Start < f.End.Tick {
			t.fault(int32(i))
		}
	}
	for i := range t.rec.Events {
		e := &t.rec.Events[i]
		if e.Client != client || !e.At.Before(m) || e.At.Tick < hold.Start {
			continue
		}
		if e.Verb == engine.WatchdogStop || e.Verb == engine.Renew && e.Outcome != engine.Sent && !e.Background {
			t.event(int32(i))
		}
	}
	t.lastRenewal(client, hold)
}

// had tells whether a server had a client's lease when it crashed.
func (t *tracer) had(client int32, crash *engine.Fault) bool {
	return slices.ContainsFunc(t.rec.Leases, func(l engine.Lease) bool {
		return l.Client == client && l.Server == crash.Server && l.Start.Before(crash.Start) && crash.Start.Before(l.End)
	})
}

// lastRenewal adds the last renewal by a watchdog that moved the end of a hold.
func (t *tracer) lastRenewal(client int32, hold *audit.Interval) {
	last := engine.None
	for i := range t.rec.Events {
		if e := &t.rec.Events[i]; e.Client == client && e.Background && e.Outcome == engine.Renewed && e.At.Tick >= hold.Start && e.At.Tick < hold.End {
			last = int32(i)
		}
	}
	t.event(last)
}

// leaseCause adds what ended a lease, if that was more than its time, and tells whether it did.
func (t *tracer) leaseCause(i int32) bool {
	l := &t.rec.Leases[i]
	switch l.Ended {
	case engine.RanOut:
		for j := range t.rec.Faults {
			f := &t.rec.Faults[j]
			if f.Kind == engine.FaultClock && f.Server == l.Server && l.Start.Before(f.Start) && !l.End.Before(f.Start) {
				t.fault(int32(j))
				if f.Start == l.End {
					return true
				}
			}
		}
		return false
	case engine.ByRevoke, engine.ByRestart:
		for j := range t.rec.Faults {
			f := &t.rec.Faults[j]
			if f.Server == l.Server && (f.Start == l.End || f.End == l.End) && (f.Kind == engine.FaultRevoke || f.Kind == engine.FaultServerCrash) {
				t.fault(int32(j))
				if f.Kind == engine.FaultServerCrash {
					t.restart(f.End)
				}
			}
		}
		return true
	case engine.ByTakeover:
		t.links = append(t.links, Link{Kind: LinkLease, At: l.End, Index: i})
		for j := range t.rec.Leases {
			if n := &t.rec.Leases[j]; n.Server == l.Server && n.Start == l.End && n.Attempt != engine.None {
				t.clocks(n.Client, l.Server, l.End)
				t.attempt(n.Attempt)
			}
		}
		return true
	case engine.ByOther, engine.ByRelease:
		if l.Ended == engine.ByOther {
			t.links = append(t.links, Link{Kind: LinkLease, At: l.End, Index: i})
		}
		t.releases(l)
		return true
	default:
		return false
	}
}

// releases adds the release that ended a lease, and how its client came to ask under that lease's owner id if it is not
// its own.
func (t *tracer) releases(l *engine.Lease) {
	for i := range t.rec.Events {
		e := &t.rec.Events[i]
		if e.Verb != engine.Release || e.Index < 0 {
			continue
		}
		ask := &t.rec.Asks[e.Index]
		under := l.End.Before(ask.Sent) || ask.Decided.Before(l.End)
		if e.At != l.End && (under || !t.asksAs(e.Client, l.Owner)) {
			continue
		}
		t.event(int32(i))
		if e.Client != l.Client && l.Ended == engine.ByRelease {
			t.grantBefore(e.Client, ask.Sent)
		}
	}
}

// asksAs tells whether a client asks for the lock under an owner id.
func (t *tracer) asksAs(client, owner int32) bool {
	return slices.ContainsFunc(t.rec.Program.Steps, func(s engine.Step) bool {
		return s.Verb == engine.Acquire && s.Client == client && s.Owner == owner
	})
}

// fault adds the line that broke something in the world.
func (t *tracer) fault(i int32) {
	f := &t.rec.Faults[i]
	for j := range t.rec.Events {
		if e := &t.rec.Events[j]; e.At == f.Start && e.Line == f.Line {
			t.event(int32(j))
			return
		}
	}
}

func (t *tracer) restart(m engine.Moment) {
	for j := range t.rec.Events {
		if e := &t.rec.Events[j]; e.At == m && e.Verb == engine.ServerRestart {
			t.event(int32(j))
		}
	}
}

// clocks adds the jumps of the two clocks that a judgement of a lease can depend on.
func (t *tracer) clocks(client, server int32, before engine.Moment) {
	for i := range t.rec.Faults {
		f := &t.rec.Faults[i]
		if (f.Kind == engine.FaultClock || f.Kind == engine.FaultClockStop) && f.Start.Before(before) &&
			(f.Server == server || f.Server == engine.None && f.Client == client) {
			t.fault(int32(i))
		}
	}
}

// attempt adds what came of an attempt, and its send if the answer took time.
func (t *tracer) attempt(i int32) {
	t.event(eventOf(t.rec, i, engine.Acquire))
	for j := range t.rec.Events {
		if e := &t.rec.Events[j]; e.Verb == engine.Acquire && e.Index == i && e.Outcome == engine.Sent {
			t.event(int32(j))
		}
	}
}

// unreachable adds what kept an attempt's client from hearing of its votes: a crash before it was decided, and cuts.
func (t *tracer) unreachable(a *engine.Attempt) {
	for i := range t.rec.Faults {
		f := &t.rec.Faults[i]
		if f.Client != a.Client || !f.Start.Before(a.Decided) || !a.Sent.Before(f.End) {
			continue
		}
		if f.Kind == engine.FaultClientCrash || f.Kind == engine.FaultCut && f.Server != engine.None {
			t.fault(int32(i))
		}
	}
}

// origin adds the step that a promise came from: an acquire or a renewal.
func (t *tracer) origin(i int32) {
	p := &t.rec.Promises[i]
	for j := range t.rec.Leases {
		if l := &t.rec.Leases[j]; l.Promise == i && l.Client == p.Client && l.Attempt != engine.None && l.Start == p.Start {
			t.attempt(l.Attempt)
			return
		}
	}
	for j := range t.rec.Votes {
		if v := &t.rec.Votes[j]; v.Kind == engine.VoteAgain && v.Server == p.Server && v.Applied == p.Start {
			t.attempt(v.Attempt)
			return
		}
	}
	for j := range t.rec.Events {
		if e := &t.rec.Events[j]; e.Client == p.Client && e.Verb == engine.Renew && e.Outcome != engine.Sent && !e.At.Before(p.Start) {
			t.event(int32(j))
			return
		}
	}
}

// promises adds where two promises of one server came from and how the record of the first came to be gone.
func (t *tracer) promises(first, second int32) {
	t.origin(first)
	t.origin(second)
	q := &t.rec.Promises[second]
	for i := range t.rec.Leases {
		l := &t.rec.Leases[i]
		if l.Promise == first && !q.Start.Before(l.End) && !t.leaseCause(int32(i)) {
			t.links = append(t.links, Link{Kind: LinkLease, At: l.End, Index: int32(i)})
		}
	}
}

func (t *tracer) doubleHold(f *audit.Finding) {
	met := false
	for i := range t.run.Audit.Findings {
		o := &t.run.Audit.Findings[i]
		if o.Law == audit.Overlap && o.T <= f.T && f.T < o.End && pair(t.rec, o, f) {
			t.promises(o.By, o.Index)
			met = true
		}
	}
	if !met {
		t.belief(f.Client, f.T)
		t.belief(f.Other, f.T)
	}
}

// pair tells whether an overlap is between the two clients of another finding.
func pair(rec *engine.Record, o, f *audit.Finding) bool {
	a, b := rec.Promises[o.By].Client, rec.Promises[o.Index].Client
	return a == f.Client && b == f.Other || a == f.Other && b == f.Client
}

// belief adds how a client came to believe that it holds the lock, and how it lost the lock unawares.
func (t *tracer) belief(client int32, at engine.Tick) {
	after := engine.Moment{Tick: at + 1}
	t.grantBefore(client, after)
	if !t.run.Audit.Holds(client, at) {
		t.lostHold(client, after)
	}
}

// highest adds where the resource had the higher token from.
func (t *tracer) highest(f *audit.Finding) {
	refused := &t.rec.Writes[f.Index]
	for i := range t.rec.Writes {
		if w := &t.rec.Writes[i]; w.Accepted && w.Token == f.Applied && w.Applied.Before(refused.Applied) {
			t.event(eventOf(t.rec, int32(i), engine.Append, engine.Write))
			t.grantBefore(w.Client, w.Sent)
			return
		}
	}
	for i := range t.rec.Reads {
		if r := &t.rec.Reads[i]; r.Token == f.Applied && r.Applied.Before(refused.Applied) {
			t.event(eventOf(t.rec, int32(i), engine.Read))
			t.grantBefore(r.Client, r.Sent)
			return
		}
	}
	for i := range t.rec.Attempts {
		if a := &t.rec.Attempts[i]; a.Token == f.Applied && a.Cast.Before(refused.Applied) {
			t.attempt(int32(i))
			return
		}
	}
}

func (t *tracer) regress(f *audit.Finding) {
	late := &t.rec.Grants[f.Index]
	for i := range t.rec.Grants {
		if g := &t.rec.Grants[i]; g.Token == f.Applied && g.Client == f.Other && g.Cast.Before(late.Cast) {
			t.attempt(g.Attempt)
			break
		}
	}
	t.attempt(late.Attempt)
	t.wipes(late.Cast)
}

// wipes adds the restarts before a moment that lost a token counter.
func (t *tracer) wipes(before engine.Moment) {
	for i := range t.rec.Faults {
		if f := &t.rec.Faults[i]; f.Kind == engine.FaultServerCrash && f.Restart == engine.RestartWiped && f.End.Before(before) {
			t.fault(int32(i))
			t.restart(f.End)
		}
	}
}

// leaseThere adds where the lease came from that refused a vote: its client's grant, or an attempt that was never granted.
func (t *tracer) leaseThere(v *engine.Vote) {
	for i := len(t.rec.Leases) - 1; i >= 0; i-- {
		l := &t.rec.Leases[i]
		if l.Server != v.Server || l.Client != v.Holder || !l.Start.Before(v.Applied) || l.Attempt == engine.None {
			continue
		}
		if t.rec.Attempts[l.Attempt].Outcome == engine.Granted {
			break
		}
		t.attempt(l.Attempt)
		return
	}
	t.grantBefore(v.Holder, v.Applied)
}

// waiting adds the first and the last try of a client that was never let in, whose leases refused it, and what is still
// broken at the end.
func (t *tracer) waiting(trial int32) {
	first, last := engine.None, engine.None
	for i := range t.rec.Attempts {
		if t.rec.Attempts[i].Trial == trial {
			if first == engine.None {
				first = int32(i)
			}
			last = int32(i)
		}
	}
	if first == engine.None {
		return
	}
	t.event(eventOf(t.rec, first, engine.Acquire))
	t.event(eventOf(t.rec, last, engine.Acquire))
	for i := range t.rec.Votes {
		v := &t.rec.Votes[i]
		if v.Attempt != last || v.Kind != engine.VoteNo || v.Holder == engine.None {
			continue
		}
		t.leaseThere(v)
		for j := range t.rec.Faults {
			if f := &t.rec.Faults[j]; f.Kind == engine.FaultClientCrash && f.Client == v.Holder {
				t.fault(int32(j))
			}
		}
	}
	for i := range t.rec.Faults {
		f := &t.rec.Faults[i]
		open := f.End.Tick == engine.Forever && (f.Kind == engine.FaultServerCrash || f.Kind == engine.FaultCut && f.Client == t.rec.Attempts[last].Client)
		if open || f.Kind == engine.FaultClockStop {
			t.fault(int32(i))
		}
	}
}
