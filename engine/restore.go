package engine

import "math/bits"

// Restore makes the machine go on from a snapshot as if the present were the given tick. The horizon is for the caller to
// set. The record begins anew: it holds what is still open (leases, promises, beliefs, faults, what is under way) with
// moments of the present, and what happens from here on. It gives what of snap lies behind the state.
func (m *Machine) Restore(snap []byte, now Tick, horizon bool) []byte {
	values := m.rec.Values
	m.rec.reset(m.p)
	m.rec.Values = values
	m.cur, m.seq, m.age, m.requests, m.work, m.casts, m.settledOps = Moment{now, 0}, 0, 0, 0, 0, 0, 0
	m.pasts = m.pasts[:0]
	m.queue, m.ops, m.answers, m.trials, m.chain = m.queue[:0], m.ops[:0], m.answers[:0], m.trials[:0], m.chain[:0]
	m.slack = m.slack[:0]
	r := reader{snap, now}
	if m.uses.time {
		r.num()
	}
	if horizon {
		m.horizon = r.tick()
	}
	for h := range m.holes {
		switch n := r.num(); {
		case n == 0:
			m.holes[h] = hole{decided: true}
		case n%2 == 0:
			m.holes[h] = hole{first: int32(n/2 - 1), decided: true}
		default:
			m.holes[h] = hole{first: int32(n / 2)}
		}
	}
	m.BeliefsAside = r.flag()
	for i := range m.Marks {
		m.Marks[i] = r.num()
	}
	for c := range m.clients {
		m.loadClient(&r, int32(c))
	}
	for sv := range m.servers {
		m.loadServer(&r, int32(sv))
	}
	for i := range m.held {
		m.held[i] = None
	}
	for n := r.num(); n > 0; n-- {
		client, server, end := int32(r.num()), int32(r.num()), r.tick()
		m.rec.Promises = append(m.rec.Promises, Promise{Client: client, Server: server, Start: m.cur, End: Moment{end, 0}})
		slot := int(client)*len(m.servers) + int(server)
		m.chain = append(m.chain, m.held[slot])
		m.held[slot] = int32(len(m.rec.Promises) - 1)
	}
	for i := range m.cuts {
		m.cuts[i] = 0
		if r.flag() {
			client, col := i/(len(m.servers)+1), int32(i%(len(m.servers)+1))
			if int(col) == len(m.servers) {
				col = None
			}
			m.rec.Faults = append(m.rec.Faults, Fault{Kind: FaultCut, Client: int32(client), Server: col, Start: m.cur, End: Never()})
			m.cuts[i] = int32(len(m.rec.Faults))
		}
	}
	m.resource = resource{value: m.slotValue(r.num()), version: r.num(), highest: r.num(), accepted: r.num() - 1}
	m.ordered = r.num()
	for n := r.num(); n > 0; n-- {
		m.loadTrial(&r)
	}
	for n := r.num(); n > 0; n-- {
		m.loadOp(&r)
	}
	for n := r.num(); n > 0; n-- {
		m.loadItem(&r)
	}
	m.mendOps()
	return r.b
}

// SavedTick is the tick that a snapshot is of, or where that makes no difference, any.
func (m *Machine) SavedTick(snap []byte, horizon bool) Tick {
	r := reader{snap, 0}
	switch {
	case m.uses.time:
		return Tick(r.num())
	case horizon:
		return m.p.Settings.Horizon - r.tick()
	}
	return 0
}

func (m *Machine) loadClient(r *reader, i int32) {
	f := r.byte()
	c := client{crashed: f&2 != 0, checked: f&8 != 0, lossTold: f&64 != 0, waits: f&128 != 0, belief: None, owner: i, validUntil: never}
	if f&4 != 0 {
		m.rec.Beliefs = append(m.rec.Beliefs, Belief{Client: i, Start: m.cur, End: Never()})
		c.belief = int32(len(m.rec.Beliefs) - 1)
	}
	if f&32 != 0 {
		c.watchdog, c.dogs = 1, 1
	}
	if f&1 != 0 {
		if f&16 != 0 {
			c.pausedUntil = r.tick()
			c.deferTo, c.deferLine = c.pausedUntil, int32(r.num())
		}
		c.copied, c.version, c.token = m.slotValue(r.num()), r.num(), r.num()
		c.owner = int32(r.num())
		if m.uses.callerTTL {
			c.ttl = Tick(r.num() - 1)
		}
		if m.uses.valid && r.byte() == 1 {
			c.validUntil = r.tick()
		}
		c.clock = r.clock()
	} else if c.waits {
		c.owner, c.clock = int32(r.num()), r.clock()
	}
	m.clients[i] = c
}

func (m *Machine) loadServer(r *reader, sv int32) {
	f := r.byte()
	s := server{held: f&1 != 0, live: f&2 != 0, crash: None, op: None, owner: None, lease: None}
	s.token, s.clock = r.num(), r.clock()
	if f&4 != 0 {
		m.rec.Faults = append(m.rec.Faults, Fault{Kind: FaultServerCrash, Client: None, Server: sv, Start: m.cur, End: Never()})
		s.crash = int32(len(m.rec.Faults) - 1)
	}
	if s.held {
		if f&8 != 0 {
			s.op = int32(r.num())
		}
		s.owner = int32(r.num())
		l := Lease{Server: sv, Client: int32(r.num()), Owner: s.owner, Token: r.num(), Attempt: None, Promise: None,
			Start: m.cur, End: Never()}
		s.stamp = r.tick()
		if !s.live {
			s.ended = r.tick()
			l.End, l.Ended = m.cur, RanOut
		}
		if m.p.Settings.Judge == JudgeCallerTTL {
			s.lastVote = r.tick()
		}
		s.voters = uint64(r.num())
		m.loadVoters(&s, &l)
		s.due = s.clock.reaches(s.stamp, m.cur.Tick)
		m.rec.Leases = append(m.rec.Leases, l)
		s.lease = int32(len(m.rec.Leases) - 1)
	}
	m.servers[sv] = s
}

// loadVoters brings back who else was voted into a living lease, since the holder is every one of them.
func (m *Machine) loadVoters(s *server, l *Lease) {
	for others := s.voters &^ (1 << l.Client); others != 0; others &= others - 1 {
		m.rec.Attempts = append(m.rec.Attempts, Attempt{Client: int32(bits.TrailingZeros64(others)), Step: None, Trial: None,
			Sent: m.cur, Decided: m.cur, Cast: Never()})
		m.rec.Votes = append(m.rec.Votes, Vote{Attempt: int32(len(m.rec.Attempts) - 1), Server: l.Server, Kind: VoteAgain, Holder: None,
			Token: l.Token, Lease: int32(len(m.rec.Leases)), Applied: m.cur, Heard: m.cur.Tick})
	}
}

func (m *Machine) loadTrial(r *reader) {
	step, until, polled := int32(r.num()), r.tick(), r.flag()
	t := Trial{Client: m.p.Steps[step].Client, Step: step, Line: m.p.Steps[step].Line, Retry: m.p.Steps[step].Retry > 0, Ended: Never()}
	if polled {
		t.Polls = 1
	}
	m.rec.Trials = append(m.rec.Trials, t)
	m.trials = append(m.trials, trial{step: step, until: until, record: int32(len(m.rec.Trials) - 1)})
}

func (m *Machine) loadOp(r *reader) {
	o := op{id: int32(len(m.ops)), verb: Verb(r.byte()), step: int32(r.num()), client: int32(r.num()), owner: int32(r.num()),
		grant: None, event: None, attempt: None, trial: None}
	o.line = m.p.Steps[o.step].Line
	o.sent, o.sentClock, o.ttl = Moment{r.tick(), 0}, r.tick(), Tick(r.num()-1)
	f := r.byte()
	o.background, o.recreate, o.again, o.remade, o.decided = f&1 != 0, f&2 != 0, f&4 != 0, f&8 != 0, f&16 != 0
	o.outcome = Outcome(r.byte())
	for _, n := range [...]*int32{&o.asked, &o.out, &o.doomed, &o.yes, &o.no, &o.cast} {
		*n = int32(r.num())
	}
	o.token, o.best, o.number = r.num(), r.num(), r.num()
	o.castAt = Forever
	if m.p.Settings.FenceAt == FenceAtGrant && r.flag() {
		o.castAt = m.cur.Tick
	}
	o.first = int32(len(m.rec.Votes))
	switch o.verb {
	case Acquire:
		m.loadAttempt(r, &o)
		m.loadSlow(r, &o)
	case Read:
		rd := ReadOp{Client: o.client, Sent: o.sent, Applied: Never(), Heard: Forever, Value: m.slotValue(r.num()), Version: r.num(),
			Token: r.num(), Line: o.line}
		if r.flag() {
			rd.Applied = m.cur
		}
		m.rec.Reads = append(m.rec.Reads, rd)
		o.index = int32(len(m.rec.Reads) - 1)
	case Append, Write:
		wr := WriteOp{Client: o.client, Verb: o.verb, Sent: o.sent, Applied: Never(), Heard: Forever, Value: m.slotValue(r.num()),
			Base: r.num(), Version: r.num(), Token: r.num(), Line: o.line}
		f := r.byte()
		wr.Accepted = f&1 != 0
		if f&2 != 0 {
			wr.Applied = m.cur
		}
		wr.Reason = Reason(r.byte())
		m.rec.Writes = append(m.rec.Writes, wr)
		o.index = int32(len(m.rec.Writes) - 1)
		// The event that tells of the decision is in the past; what is heard later is written into this stand-in.
		m.rec.Events = append(m.rec.Events, Event{Client: o.client, Step: o.step, Line: o.line, Index: None})
		o.event = int32(len(m.rec.Events) - 1)
	default:
		m.rec.Asks = append(m.rec.Asks, Ask{Client: o.client, Verb: o.verb, Line: o.line, Sent: o.sent, Decided: Never(), Asked: o.asked})
		o.index = int32(len(m.rec.Asks) - 1)
	}
	m.ops = append(m.ops, o)
}

func (m *Machine) loadAttempt(r *reader, o *op) {
	o.trial = int32(r.num())
	a := Attempt{Client: o.client, Step: o.step, Trial: o.trial, Line: o.line, Sent: o.sent, Decided: Never(), Cast: Never(),
		Outcome: o.outcome, Token: o.token, Yes: o.cast, HeardYes: o.yes, Again: o.again}
	if int(o.cast) >= m.p.Settings.Quorum {
		a.Cast = m.cur
	}
	m.rec.Attempts = append(m.rec.Attempts, a)
	o.attempt = int32(len(m.rec.Attempts) - 1)
	if fresh := r.flag(); o.outcome == Granted {
		g := Grant{Client: o.client, Attempt: o.attempt, Token: o.token, Cast: m.cur, Heard: Moment{m.cur.Tick - 1, 0}, Line: o.line}
		if fresh {
			g.Heard.Tick = m.cur.Tick
		}
		m.rec.Grants = append(m.rec.Grants, g)
		o.grant = int32(len(m.rec.Grants) - 1)
	}
	for n := r.num(); n > 0; n-- {
		v := Vote{Attempt: o.attempt, Server: int32(r.num()), Kind: VoteYes, Holder: None, Applied: m.cur, Heard: Forever}
		f := r.byte()
		if f&1 != 0 {
			v.Heard = m.cur.Tick
		}
		v.Lost = f&2 != 0
		v.Token = r.num()
		promise := int32(r.num()) - 1
		if promise == None {
			m.rec.Promises = append(m.rec.Promises, Promise{Client: o.client, Server: v.Server, Start: m.cur, End: m.cur, Ended: RanOut})
			promise = int32(len(m.rec.Promises) - 1)
			m.chain = append(m.chain, None)
		}
		if s := &m.servers[v.Server]; f&4 != 0 {
			v.Lease = s.lease
		} else {
			m.rec.Leases = append(m.rec.Leases, Lease{Server: v.Server, Client: o.client, Owner: o.owner, Token: v.Token,
				Attempt: o.attempt, Line: o.line, Start: m.cur, End: m.cur})
			v.Lease = int32(len(m.rec.Leases) - 1)
		}
		m.rec.Leases[v.Lease].Promise, m.rec.Leases[v.Lease].Attempt = promise, o.attempt
		m.rec.Votes = append(m.rec.Votes, v)
	}
}

func (m *Machine) loadItem(r *reader) {
	it := item{kind: itemKind(r.byte()), tick: r.tick(), line: int32(r.num()), server: int32(r.num()) - 1, client: int32(r.num()) - 1,
		hole: int32(r.num())}
	it.a = int32(r.num())
	switch it.kind {
	case itemReply:
		if b := r.num(); b < 0 {
			it.b = int32(b)
			break
		}
		a := answer{yes: r.flag(), token: r.num(), vote: None}
		if sv := int32(r.num()) - 1; sv >= 0 {
			for v := m.ops[it.a].first; v < int32(len(m.rec.Votes)); v++ {
				if m.rec.Votes[v].Attempt == m.ops[it.a].attempt && m.rec.Votes[v].Server == sv {
					a.vote = v
				}
			}
		}
		m.answers = append(m.answers, a)
		it.b = int32(len(m.answers) - 1)
	case itemRenew:
		it.b = 1
	}
	m.push(it)
}

// mendOps lets servers' references to operations that are gone point at nothing that lives.
func (m *Machine) mendOps() {
	for i := range m.servers {
		if s := &m.servers[i]; s.op != None && int(s.op) >= len(m.ops) {
			s.op = None
		}
	}
}
