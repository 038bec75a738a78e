package audit

import "dlock/engine"

// deadlock: a living client with retry still asks at the horizon, and nothing that is still to come would free a quorum
// of the servers that it asks. Counted in runs: a run has one or none.
//
// The study guide's 5.1: drop the expiry test and the schedule is safe and stuck. Coffman et al., "System Deadlocks"
// (1971), ask for a circle of waiting; here one lost holder is enough, since nobody can tell it from a slow one. Still to
// come are leases that end, servers that restart and lines of the file after the horizon. What stays in the way is a
// lease without end, a frozen clock, or a server that stays down; the client's own lease too, unless a second acquire by
// the holder is granted. A client that is cut off is starved and not deadlocked: the lock is free.
func (a *Auditor) deadlock(rec *engine.Record, into *Report) {
	// Of the trials of one line the last to end sees the least of the future; if it is not stuck, none is.
	a.latest = a.latest[:0]
	for i := range rec.Trials {
		t := &rec.Trials[i]
		if !a.stillAsking(t) {
			continue
		}
		if len(a.latest) == 0 {
			a.latest = filled(a.latest, len(rec.Program.Steps), engine.None)
			a.orderSlots(rec)
		}
		if l := a.latest[t.Step]; l == engine.None || rec.Trials[l].Ended.Before(t.Ended) {
			a.latest[t.Step] = int32(i)
		}
	}
	for _, i := range a.latest {
		if i == engine.None || !a.stuck(rec, &rec.Trials[i]) {
			continue
		}
		t := &rec.Trials[i]
		into.found(Deadlock)
		f := breach(Deadlock, t.Ended.Tick)
		f.Line, f.Client, f.Index = t.Line, t.Client, i
		into.Findings = append(into.Findings, f)
		return
	}
}

// slot is what an asker finds at a server.
type slot struct {
	lease int32 // whose state is there, over or not; None if the server is free
	over  bool  // by the server's own clock
	ended engine.Tick
	down  bool
	clock reading
	asked bool
}

// reading is what a clock shows: true time and an offset, or, once it is stopped, what it showed then and the jumps since.
type reading struct {
	offset  engine.Tick
	frozen  engine.Tick
	stopped bool
}

func (r *reading) at(t engine.Tick) engine.Tick {
	switch {
	case r.stopped:
		return r.frozen
	case t == engine.Forever:
		return t
	}
	return t + r.offset
}

func (r *reading) befall(f *engine.Fault) {
	switch {
	case f.Kind == engine.FaultClockStop:
		r.frozen, r.stopped = r.at(f.Start.Tick), true
	case r.stopped:
		r.frozen += f.By
	default:
		r.offset += f.By
	}
}

// after adds ticks to a reading that may be Forever.
func after(t, d engine.Tick) engine.Tick {
	if t == engine.Forever || d == engine.Forever {
		return engine.Forever
	}
	return t + d
}

// orderSlots lists, in order of time, all that changes what an asker finds at a server.
func (a *Auditor) orderSlots(rec *engine.Record) {
	edges := a.spare[:0]
	add := func(at engine.Moment, index int32, kind edgeKind) {
		if at.Tick != engine.Forever {
			edges = append(edges, edge{at: at, index: index, kind: kind})
		}
	}
	for i := range rec.Leases {
		l := &rec.Leases[i]
		if !l.Start.Before(l.Gone) {
			continue
		}
		add(l.Start, int32(i), edgeOn)
		add(l.Gone, int32(i), edgeOff)
		if l.Ended == engine.RanOut && l.Start.Before(l.End) {
			add(l.End, int32(i), edgeOver)
		}
	}
	for i := range rec.Faults {
		switch f := &rec.Faults[i]; f.Kind {
		case engine.FaultServerCrash:
			if f.Start.Before(f.End) {
				add(f.Start, int32(i), edgeDown)
				add(f.End, int32(i), edgeUp)
			}
		case engine.FaultClock, engine.FaultClockStop:
			add(f.Start, int32(i), edgeClock)
		}
	}
	sortEdges(edges)
	a.spare = edges
}

// stuck tells whether, from the end of a trial to the end of time, there is no moment at which a quorum of the servers
// that it asks is free for it. Between two changes a server can only become free, by its clock or the asker's, so it is
// enough to look at the last moment before each change, and at the end of time.
func (a *Auditor) stuck(rec *engine.Record, t *engine.Trial) bool {
	p := rec.Program
	a.slots = filled(a.slots, p.Settings.Servers, slot{lease: engine.None})
	step := &p.Steps[t.Step]
	if step.Servers.Len() == 0 {
		for i := range a.slots {
			a.slots[i].asked = true
		}
	}
	for _, s := range p.ServerIDs[step.Servers.Lo:step.Servers.Hi] {
		a.slots[s].asked = true
	}
	who := asker{client: t.Client, owner: ownerOf(rec, t.Client), ttl: step.TTL}
	if !p.Settings.Leases {
		who.ttl = engine.Forever
	}

	for i := range a.spare {
		e := &a.spare[i]
		if t.Ended.Before(e.at) && (i == 0 || a.spare[i-1].at != e.at) && a.free(rec, &who, e.at.Tick) {
			return false
		}
		a.change(rec, &who, e)
	}
	return !a.free(rec, &who, engine.Forever)
}

// asker is a client that wants the lock.
type asker struct {
	client int32
	owner  int32
	ttl    engine.Tick
	clock  reading
}

// ownerOf gives the owner id that a client asks under: that of its last acquire.
func ownerOf(rec *engine.Record, client int32) int32 {
	for i := len(rec.Trials) - 1; i >= 0; i-- {
		if t := &rec.Trials[i]; t.Client == client {
			return rec.Program.Steps[t.Step].Owner
		}
	}
	return client
}

func (a *Auditor) change(rec *engine.Record, who *asker, e *edge) {
	switch e.kind {
	case edgeOn:
		l := &rec.Leases[e.index]
		s := &a.slots[l.Server]
		s.lease, s.over = e.index, !l.Start.Before(l.End)
		s.ended = s.clock.at(e.at.Tick)
	case edgeOver:
		if s := &a.slots[rec.Leases[e.index].Server]; s.lease == e.index {
			s.over, s.ended = true, s.clock.at(e.at.Tick)
		}
	case edgeOff:
		if s := &a.slots[rec.Leases[e.index].Server]; s.lease == e.index {
			s.lease = engine.None
		}
	case edgeDown, edgeUp:
		a.slots[rec.Faults[e.index].Server].down = e.kind == edgeDown
	case edgeClock:
		switch f := &rec.Faults[e.index]; {
		case f.Server != engine.None:
			a.slots[f.Server].clock.befall(f)
		case f.Client == who.client:
			who.clock.befall(f)
		}
	}
}

// free tells whether a quorum of the asked servers would say yes at a true tick, by what lies there now.
func (a *Auditor) free(rec *engine.Record, who *asker, now engine.Tick) bool {
	n := 0
	for i := range a.slots {
		if s := &a.slots[i]; s.asked && !s.down && s.lets(rec, who, now) {
			n++
		}
	}
	return n >= rec.Program.Settings.Quorum
}

// lets tells whether what lies at the server does not refuse the asker. Who is the judge decides whose clock is read:
// a clock that stands still never gets to the end of a lease.
func (s *slot) lets(rec *engine.Record, who *asker, now engine.Tick) bool {
	if s.lease == engine.None {
		return true
	}
	l, set := &rec.Leases[s.lease], &rec.Program.Settings
	var clock, end engine.Tick
	over := s.over
	switch set.Judge {
	case engine.JudgeCaller:
		clock, end = who.clock.at(now), l.Stamp
		over = clock >= end
	case engine.JudgeCallerTTL:
		clock, end = s.clock.at(now), after(l.Voted, who.ttl)
		over = clock >= end
	default:
		clock, end = s.clock.at(now), s.ended
	}
	if end == engine.Forever {
		over = false // also at the end of time
	}
	if !over {
		return set.Reentrant && l.Owner == who.owner
	}
	return clock >= after(end, set.LockDelay)
}
