package search

import (
	"encoding/binary"
	"slices"

	"dlock/audit"
	"dlock/engine"
)

// monitor judges the laws while a schedule is walked: each from what the record just gained and from what is still open
// in it. docs/laws.md has the definitions; the tests hold its verdicts against the audit's on whole records.
//
// orphan is not among them: the search takes no acquires whose messages take time, so every quorum is heard of at once.
type monitor struct {
	bound  bool
	events int32       // since the state that the walk began at
	poll   engine.Tick // the last tick at which a retry or a watchdog asked; -1 for none

	base, seen                int // events: at the state, and looked at
	promises, beliefs, grants int // looked at

	granted  uint64  // clients that ever got the lock, as bits; only where the horizon is part of a state
	placed   []int32 // scratch
	starving []int32 // the steps of acquires whose retrying the horizon ended, ascending
}

// Marks that snapshots carry: the highest token granted, and the highest token of an accepted write.
const (
	markGranted = iota
	markAccepted
)

// begin begins at a state: what the record holds then is not news.
func (o *monitor) begin(rec *engine.Record) {
	o.base, o.seen, o.events, o.poll = len(rec.Events), len(rec.Events), 0, -1
	o.promises, o.beliefs, o.grants = len(rec.Promises), len(rec.Beliefs), len(rec.Grants)
}

// load begins at a restored state; the rest of its key is the monitor's.
func (o *monitor) load(rest []byte, rec *engine.Record) {
	o.begin(rec)
	if !o.bound {
		return
	}
	var n int
	o.granted, n = binary.Uvarint(rest)
	o.starving = o.starving[:0]
	for rest = rest[n:]; len(rest) > 0; rest = rest[n:] {
		var step uint64
		step, n = binary.Uvarint(rest)
		o.starving = append(o.starving, int32(step))
	}
}

// save appends what the monitor has to remember, with clients in the places that the machine's last snapshot gave them.
func (o *monitor) save(key []byte, m *engine.Machine) []byte {
	if !o.bound {
		return key
	}
	key = binary.AppendUvarint(key, m.PlacedSet(o.granted))
	o.placed = o.placed[:0]
	for _, step := range o.starving {
		o.placed = append(o.placed, m.PlacedStep(step))
	}
	slices.Sort(o.placed)
	for _, step := range o.placed {
		key = binary.AppendUvarint(key, uint64(step))
	}
	return key
}

// look judges the last piece of work, and gives the laws that it broke.
func (o *monitor) look(m *engine.Machine, rec *engine.Record) Laws {
	var broken Laws
	for ; o.seen < len(rec.Events); o.seen++ {
		e := &rec.Events[o.seen]
		switch {
		case e.Outcome == engine.Accepted:
			broken |= o.accepted(m, &rec.Writes[e.Index])
		case e.Outcome == engine.Rejected:
			if (e.Reason == engine.ReasonStale || e.Reason == engine.ReasonStrict) && m.Holds(e.Client) {
				broken |= 1 << audit.RefusedHolder
			}
		case e.Verb == engine.Acquire || e.Background:
			o.poll = max(o.poll, e.Sent)
		}
	}
	o.events = int32(o.seen - o.base)
	for ; o.grants < len(rec.Grants); o.grants++ {
		g := &rec.Grants[o.grants]
		o.granted |= 1 << g.Client
		if g.Again {
			continue
		}
		if g.Token <= m.Marks[markGranted] {
			broken |= 1 << audit.TokenRegress
		}
		m.Marks[markGranted] = max(m.Marks[markGranted], g.Token)
	}
	if o.promises < len(rec.Promises) {
		broken |= o.promised(m.Now(), rec)
	}
	if o.beliefs < len(rec.Beliefs) && !m.BeliefsAside {
		o.beliefs = len(rec.Beliefs)
		open := 0
		for i := range rec.Beliefs {
			if rec.Beliefs[i].End == engine.Never() {
				open++
			}
		}
		if open > 1 {
			broken |= 1 << audit.DoubleBelief
			m.BeliefsAside = true // once is enough, and states that differ in nothing else are one
		}
	}
	if o.bound {
		for i := range rec.Trials {
			if t := &rec.Trials[i]; t.End == engine.TrialHorizon {
				if at, known := slices.BinarySearch(o.starving, t.Step); !known {
					o.starving = slices.Insert(o.starving, at, t.Step)
				}
			}
		}
	}
	return broken
}

func (o *monitor) accepted(m *engine.Machine, w *engine.WriteOp) Laws {
	var broken Laws
	if w.Token < m.Marks[markAccepted] {
		broken |= 1 << audit.StaleWrite
	}
	m.Marks[markAccepted] = max(m.Marks[markAccepted], w.Token)
	if w.Verb == engine.Append && w.Base < w.Version-1 {
		broken |= 1 << audit.LostUpdate
	}
	if !m.Holds(w.Client) {
		broken |= 1 << audit.UnlockedWrite
	}
	return broken
}

// promised looks for other clients' promises that are open beside new ones.
func (o *monitor) promised(now engine.Moment, rec *engine.Record) Laws {
	var broken Laws
	fresh := o.promises
	o.promises = len(rec.Promises)
	quorum := rec.Program.Settings.Quorum
	for i := fresh; i < len(rec.Promises); i++ {
		p := &rec.Promises[i]
		if !now.Before(p.End) {
			continue
		}
		for k := range rec.Promises {
			q := &rec.Promises[k]
			if q.Client == p.Client || !now.Before(q.End) {
				continue
			}
			if q.Server == p.Server {
				broken |= 1 << audit.Overlap
			}
			if quorum == 1 || promisedServers(now, rec, p.Client) >= quorum && promisedServers(now, rec, q.Client) >= quorum {
				broken |= 1 << audit.DoubleHold
			}
		}
	}
	return broken
}

// promisedServers counts the servers at which a client has an open promise.
func promisedServers(now engine.Moment, rec *engine.Record, client int32) int {
	n := 0
	for i := range rec.Promises {
		p := &rec.Promises[i]
		if p.Client != client || !now.Before(p.End) {
			continue
		}
		again := false
		for k := range i {
			q := &rec.Promises[k]
			again = again || q.Client == client && q.Server == p.Server && now.Before(q.End)
		}
		if !again {
			n++
		}
	}
	return n
}

// end judges what only the end of a schedule shows: who was still asking at the horizon, and whether waiting could ever
// have helped.
func (o *monitor) end(m *engine.Machine, p *engine.Program) Laws {
	var broken Laws
	for _, step := range o.starving {
		c := p.Steps[step].Client
		if m.Crashed(c) {
			continue
		}
		if o.granted&(1<<c) == 0 {
			broken |= 1 << audit.Starvation
		}
		if free(m, p, c, p.Steps[step].Servers) < p.Settings.Quorum {
			broken |= 1 << audit.Deadlock
		}
	}
	return broken
}

func free(m *engine.Machine, p *engine.Program, client int32, asked engine.Span) int {
	n := 0
	if asked.Len() == 0 {
		for s := range int32(p.Settings.Servers) {
			if !m.Blocked(client, s) {
				n++
			}
		}
		return n
	}
	for _, s := range p.ServerIDs[asked.Lo:asked.Hi] {
		if !m.Blocked(client, s) {
			n++
		}
	}
	return n
}
