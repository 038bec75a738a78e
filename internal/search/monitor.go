package search

import (
	"encoding/binary"
	"slices"

	"dlock/audit"
	"dlock/engine"
)

// monitor judges the laws while a schedule is walked: each from what the record just gained and from what is still open
// in it. docs/laws.md has the definitions; the tests hold its verdicts against the audit's on whole records.
type monitor struct {
	bound   bool
	regress engine.Tick // the earliest breach of token-regress that is known since then: it may lie in the past
	events  int32       // since the state that the walk began at
	poll    engine.Tick // the last tick at which a retry or a watchdog asked or is to ask; -1 for none

	base, seen                int // events: at the state, and looked at
	promises, beliefs, grants int // looked at

	granted  uint64  // clients that ever got the lock, as bits; only where the horizon is part of a state
	placed   []int32 // scratch
	starving []int32 // acquires whose retrying the horizon ended, ascending: twice the step, and 1 if a quorum was free since
}

// begin begins at a state: what the record holds then is not news.
func (o *monitor) begin(rec *engine.Record) {
	o.base, o.seen, o.events, o.poll, o.regress = len(rec.Events), len(rec.Events), 0, -1, engine.Forever
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
	for _, s := range o.starving {
		o.placed = append(o.placed, 2*m.PlacedStep(s/2)+s%2)
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
		case e.Outcome == engine.Waiting:
			// The horizon ends the retrying now if it comes before the next poll, even one that a crash would prevent.
			o.poll = max(o.poll, e.At.Tick+rec.Program.Steps[e.Step].Retry)
		case e.Verb == engine.Acquire || e.Background:
			o.poll = max(o.poll, e.Sent)
		}
	}
	o.events = int32(o.seen - o.base)
	for ; o.grants < len(rec.Grants); o.grants++ {
		o.granted |= 1 << rec.Grants[o.grants].Client
	}
	broken |= o.settled(m)
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
			if t := &rec.Trials[i]; t.End == engine.TrialHorizon && t.Ended == m.Now() {
				o.starving = slices.DeleteFunc(o.starving, func(s int32) bool { return s/2 == t.Step }) // the last to end counts
				at, _ := slices.BinarySearch(o.starving, 2*t.Step)
				o.starving = slices.Insert(o.starving, at, 2*t.Step)
			}
		}
	}
	return broken
}

// settled looks at what is known of acquires only when nothing of them is under way any more.
func (o *monitor) settled(m *engine.Machine) Laws {
	var broken Laws
	regress, orphan := m.Settle()
	if regress != engine.Forever {
		broken |= 1 << audit.TokenRegress
		o.regress = min(o.regress, regress)
	}
	if orphan {
		broken |= 1 << audit.Orphan
	}
	return broken
}

func (o *monitor) accepted(m *engine.Machine, w *engine.WriteOp) Laws {
	var broken Laws
	if w.Token < m.Marks[engine.MarkAccepted] {
		broken |= 1 << audit.StaleWrite
	}
	m.Marks[engine.MarkAccepted] = max(m.Marks[engine.MarkAccepted], w.Token)
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

// wait notes which of those who were still asking at the horizon could have the lock by a tick before which nothing happens
// any more. Until the next change servers only become free.
func (o *monitor) wait(m *engine.Machine, p *engine.Program, tick engine.Tick) {
	for i, s := range o.starving {
		if s%2 == 0 && free(m, p, s/2, tick) {
			o.starving[i]++
		}
	}
}

// end judges what only the end of a schedule shows: who was still asking at the horizon, and whether waiting could ever
// have helped.
func (o *monitor) end(m *engine.Machine, p *engine.Program) Laws {
	broken := o.settled(m)
	for _, s := range o.starving {
		c := p.Steps[s/2].Client
		if m.Crashed(c) {
			continue
		}
		if o.granted&(1<<c) == 0 {
			broken |= 1 << audit.Starvation
		}
		if s%2 == 0 && !free(m, p, s/2, engine.Forever) {
			broken |= 1 << audit.Deadlock
		}
	}
	return broken
}

// free tells whether an acquire would find a quorum of the servers that it asks free at a tick.
func free(m *engine.Machine, p *engine.Program, step int32, tick engine.Tick) bool {
	s := &p.Steps[step]
	n := 0
	if s.Servers.Len() == 0 {
		for sv := range int32(p.Settings.Servers) {
			if m.Free(s.Client, sv, s.TTL, tick) {
				n++
			}
		}
	}
	for _, sv := range p.ServerIDs[s.Servers.Lo:s.Servers.Hi] {
		if m.Free(s.Client, sv, s.TTL, tick) {
			n++
		}
	}
	return n >= p.Settings.Quorum
}
