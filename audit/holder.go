package audit

import (
	"cmp"
	"slices"

	"dlock/engine"
)

// stay is a stretch in which a living lease on a server lets a client in: the lease's own client from its first moment,
// and with a shared owner id everybody who was voted into it later, from that vote on.
type stay struct {
	client int32
	server int32
	start  engine.Moment
	end    engine.Moment
}

// holders finds who held the lock and when: the clients whose leases live, by the servers' own clocks, on a quorum of
// servers that are up (docs/language.md 7; the study guide's "which client held the lock according to the lock service",
// section 6.2). It is the ground that unlocked-write, refused-holder and idle stand on.
func (a *Auditor) holders(rec *engine.Record, into *Report) {
	a.stays = slices.Grow(a.stays[:0], len(rec.Leases))
	for i := range rec.Leases {
		l := &rec.Leases[i]
		a.stays = append(a.stays, stay{client: l.Client, server: l.Server, start: l.Start, end: l.End})
	}
	for i := range rec.Votes {
		v := &rec.Votes[i]
		if v.Kind != engine.VoteAgain || v.Lease == engine.None || v.Attempt == engine.None {
			continue
		}
		l := &rec.Leases[v.Lease]
		if c := rec.Attempts[v.Attempt].Client; c != l.Client {
			a.stays = append(a.stays, stay{client: c, server: l.Server, start: v.Applied, end: l.End})
		}
	}

	edges := slices.Grow(a.spare[:0], 2*len(a.stays))
	for i := range a.stays {
		edges = addEdges(edges, a.stays[i].start, a.stays[i].end, int32(i))
	}
	for i := range rec.Faults {
		f := &rec.Faults[i]
		if f.Kind != engine.FaultServerCrash || !f.Start.Before(f.End) {
			continue
		}
		edges = append(edges, edge{at: f.Start, index: int32(i), kind: edgeDown})
		if f.End.Tick != engine.Forever {
			edges = append(edges, edge{at: f.End, index: int32(i), kind: edgeUp})
		}
	}
	sortEdges(edges)
	a.spare = edges

	t := a.begin(rec)
	a.held = a.held[:0]
	for i := range edges {
		e := &edges[i]
		switch e.kind {
		case edgeOff:
			a.leave(t, a.stays[e.index].client, a.stays[e.index].server)
		case edgeOn:
			a.enter(t, a.stays[e.index].client, a.stays[e.index].server)
		case edgeDown:
			a.fall(t, rec.Faults[e.index].Server)
		case edgeUp:
			a.rise(t, rec.Faults[e.index].Server)
		}
		if i+1 == len(edges) || edges[i+1].at != e.at {
			a.held = a.settle(t, e.at, engine.None, a.held)
		}
	}
	a.wholeTicks(len(rec.Program.Clients), into)
}

// wholeTicks turns the stretches of moments into the intervals that people see. A stretch from [5, 7) to [9, 2) is seen
// after all of ticks 5 to 8, so its interval is [5, 9).
func (a *Auditor) wholeTicks(clients int, into *Report) {
	a.last = filled(a.last, clients, engine.None)
	for i := range a.held {
		s := &a.held[i]
		if s.start.Tick == s.end.Tick {
			continue
		}
		if l := a.last[s.client]; l != engine.None && into.Holders[l].End >= s.start.Tick {
			into.Holders[l].End = s.end.Tick
			continue
		}
		a.last[s.client] = int32(len(into.Holders))
		into.Holders = append(into.Holders, Interval{Client: s.client, Start: s.start.Tick, End: s.end.Tick})
	}
	slices.SortFunc(into.Holders, func(a, b Interval) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Client, b.Client))
	})
}

// orderWrites puts the writes that arrived into the order in which the resource decided them, and notes for each whether
// its client was the holder at that moment.
func (a *Auditor) orderWrites(rec *engine.Record) {
	a.landed = a.landed[:0]
	for i := range rec.Writes {
		if rec.Writes[i].Applied.Tick != engine.Forever {
			a.landed = append(a.landed, int32(i))
		}
	}
	slices.SortFunc(a.landed, func(x, y int32) int {
		return cmp.Or(byMoment(rec.Writes[x].Applied, rec.Writes[y].Applied), cmp.Compare(x, y))
	})

	a.lawful = cleared(a.lawful, len(rec.Writes))
	a.until = cleared(a.until, len(rec.Program.Clients))
	next := 0
	for _, i := range a.landed {
		w := &rec.Writes[i]
		for next < len(a.held) && !w.Applied.Before(a.held[next].start) {
			a.until[a.held[next].client] = a.held[next].end
			next++
		}
		a.lawful[i] = w.Applied.Before(a.until[w.Client])
	}
}

// holderAt gives the holder at a moment, the first in the order of clients if there are several, or engine.None.
func (a *Auditor) holderAt(m engine.Moment) int32 {
	who := engine.None
	for i := range a.held {
		s := &a.held[i]
		if !m.Before(s.start) && m.Before(s.end) && (who == engine.None || s.client < who) {
			who = s.client
		}
	}
	return who
}

// Holds tells whether a client held the lock as seen after all of tick t.
func (r *Report) Holds(client int32, t engine.Tick) bool {
	for _, h := range r.Holders {
		if h.Client == client && h.Start <= t && t < h.End {
			return true
		}
	}
	return false
}

// HolderAt gives the client that held the lock as seen after all of tick t, or engine.None if nobody did. If several
// did, which a quorum of less than a majority, lost leases or a shared owner id make possible, it is the first of them in
// the order of clients.
func (r *Report) HolderAt(t engine.Tick) int32 {
	who := engine.None
	for _, h := range r.Holders {
		if h.Start <= t && t < h.End && (who == engine.None || h.Client < who) {
			who = h.Client
		}
	}
	return who
}
