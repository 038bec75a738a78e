package engine

import (
	"math/bits"
	"slices"
)

// A snapshot is a state between two pieces of work, written so that equal bytes mean equal futures: ticks count from the
// present, only what can still matter is there, and what can be renumbered is. It is the search's key and its fork: a
// machine goes on from it by Restore. Ticks of the past (when a lease began, when a message was sent) appear only where a
// rule still looks at them.

// liveSet is the scratch of one snapshot: what is still referred to, in the order in which it was met.
type liveSet struct {
	order   []int32 // queue places in the law's order
	ops     []int32
	trials  []int32
	active  []bool // by client: something of its is still to come
	opRank  []int32
	trialNo []int32
	proms   []int32
	values  []int32 // the values that can still be read or written, by slot
	rank    ranks
}

// Snapshot appends the state at a tick, at which the next piece of work is due, to dst. With the horizon's distance, states are told apart by how long retries may go on.
func (m *Machine) Snapshot(dst []byte, now Tick, horizon bool) []byte {
	if now > m.cur.Tick {
		m.cur.Tick = now
	}
	l := &m.live
	m.collect(l)
	w := writer{dst, m.cur.Tick}
	if m.uses.time {
		w.num(int64(m.cur.Tick))
	}
	if horizon {
		w.tick(m.horizon)
	}
	mask := uint64(0)
	for _, q := range l.order {
		it := &m.queue[q]
		if it.kind == itemStep || it.kind == itemEvery || it.kind == itemRenew {
			mask |= m.masks[it.a]
		}
	}
	for _, o := range l.ops {
		mask |= m.masks[m.ops[o].step]
	}
	for _, t := range l.trials {
		mask |= m.masks[m.trials[t].step]
	}
	for h := range m.holes {
		switch hole := &m.holes[h]; {
		case hole.decided && mask&(1<<h) == 0:
			w.byte(0)
		case hole.decided:
			w.num(int64(2*hole.first + 2))
		default:
			w.num(int64(2*hole.first + 1))
		}
	}
	m.saveRanks(l)
	for _, t := range m.Marks {
		w.num(l.rank.token(t))
	}
	for c := range m.clients {
		m.saveClient(&w, &m.clients[c], l.active[c])
	}
	for sv := range m.servers {
		m.saveServer(&w, int32(sv))
	}
	m.savePromises(&w)
	for _, c := range m.cuts {
		w.flag(c != 0)
	}
	r := &m.resource
	w.num(l.slot(r.value))
	w.num(l.rank.version(r.version))
	w.num(l.rank.token(r.highest))
	w.num(l.rank.token(r.accepted) + 1)
	w.num(l.rank.token(m.ordered))
	w.num(int64(len(l.trials)))
	for _, t := range l.trials {
		w.num(int64(m.trials[t].step))
		w.tick(m.trials[t].until)
		w.flag(m.rec.Trials[m.trials[t].record].Polls > 0)
	}
	w.num(int64(len(l.ops)))
	for _, o := range l.ops {
		m.saveOp(&w, &m.ops[o])
	}
	w.num(int64(len(l.order)))
	for _, q := range l.order {
		m.saveItem(&w, &m.queue[q])
	}
	return w.b
}

// collect finds what is still referred to: the queue in order, the operations and trials that its items name.
func (m *Machine) collect(l *liveSet) {
	l.order = l.order[:0]
	for i := range m.queue {
		it := &m.queue[i]
		if it.client != None && (m.clients[it.client].crashed || it.kind == itemRenew && !m.watching(it)) {
			continue
		}
		l.order = append(l.order, int32(i))
	}
	for i := 1; i < len(l.order); i++ {
		for k := i; k > 0 && m.queue[l.order[k]].before(&m.queue[l.order[k-1]]); k-- {
			l.order[k], l.order[k-1] = l.order[k-1], l.order[k]
		}
	}
	l.ops, l.trials = l.ops[:0], l.trials[:0]
	l.active = resize(l.active, len(m.clients))
	clear(l.active)
	l.opRank = resize(l.opRank, len(m.ops))
	l.trialNo = resize(l.trialNo, len(m.trials))
	for i := range l.opRank {
		l.opRank[i] = None
	}
	for i := range l.trialNo {
		l.trialNo[i] = None
	}
	for _, q := range l.order {
		it := &m.queue[q]
		switch it.kind {
		case itemLand, itemReply, itemSilent:
			if l.opRank[it.a] == None {
				l.opRank[it.a] = int32(len(l.ops))
				l.ops = append(l.ops, it.a)
			}
			l.active[m.ops[it.a].client] = true
			if o := &m.ops[it.a]; o.verb == Acquire {
				l.keepTrial(o.trial)
			}
		case itemPoll:
			l.keepTrial(it.a)
			l.active[it.client] = true
		default:
			if c := m.p.Steps[it.a].Client; c != None {
				l.active[c] = true
			}
		}
	}
}

func (l *liveSet) keepTrial(t int32) {
	if l.trialNo[t] == None {
		l.trialNo[t] = int32(len(l.trials))
		l.trials = append(l.trials, t)
	}
}

func (m *Machine) saveClient(w *writer, c *client, active bool) {
	active = active && !c.crashed
	paused := active && c.pausedUntil > m.cur.Tick
	w.flags(active, c.crashed, c.belief != None, active && c.checked, paused, active && c.watchdog != 0, active && c.lossTold)
	if !active {
		return
	}
	if paused {
		w.tick(c.pausedUntil)
		line := int32(0)
		if c.deferTo == c.pausedUntil {
			line = c.deferLine
		}
		w.num(int64(line))
	}
	w.num(m.live.slot(c.copied))
	w.num(m.live.rank.version(c.version))
	w.num(m.live.rank.token(c.token))
	w.num(int64(c.owner))
	if m.uses.callerTTL {
		w.num(int64(c.ttl) + 1)
	}
	if m.uses.valid {
		// What has run out stays so, unless a clock may be set back.
		if c.validUntil == never || !m.uses.clocks && c.clock.at(m.cur.Tick) >= c.validUntil {
			w.byte(0)
		} else {
			w.byte(1)
			w.tick(c.validUntil)
		}
	}
	w.clock(&c.clock)
}

func (m *Machine) saveServer(w *writer, sv int32) {
	s := &m.servers[sv]
	m.settle(sv)
	matters := m.matters(s)
	op := None
	if matters && s.op != None && int(s.op) < len(m.live.opRank) {
		op = m.live.opRank[s.op]
	}
	w.flags(matters, s.live, s.crash != None, op != None)
	w.num(m.live.rank.token(s.token))
	w.clock(&s.clock)
	if !matters {
		return
	}
	if op != None {
		w.num(int64(op))
	}
	l := &m.rec.Leases[s.lease]
	w.num(int64(s.owner))
	w.num(int64(l.Client))
	w.num(m.live.rank.token(l.Token))
	w.tick(s.stamp)
	if !s.live {
		w.tick(s.ended)
	}
	if m.p.Settings.Judge == JudgeCallerTTL {
		w.tick(s.lastVote)
	}
	w.num(int64(s.voters))
}

// matters tells whether anybody still looks at the server's lease: by its own clock a lease that ended is forgotten, unless
// lock-delay keeps the server closed.
func (m *Machine) matters(s *server) bool {
	return s.held && (s.live || m.p.Settings.Judge != JudgeServer || m.p.Settings.LockDelay > 0)
}

// openVote tells whether a vote is one that an attempt may still have to give back.
func (m *Machine) openVote(o *op, v *Vote) bool {
	return v.Attempt == o.attempt && v.Kind == VoteYes && !v.Returned
}

func (m *Machine) savePromises(w *writer) {
	m.live.proms = m.live.proms[:0]
	for slot := range m.held {
		first := len(m.live.proms)
		for p := m.held[slot]; p != None; p = m.chain[p] {
			if m.cur.Before(m.rec.Promises[p].End) && m.rec.Promises[p].End.Tick > m.cur.Tick {
				m.live.proms = append(m.live.proms, p)
			}
		}
		slices.Reverse(m.live.proms[first:]) // the oldest first, as Restore builds the chain
	}
	w.num(int64(len(m.live.proms)))
	for _, p := range m.live.proms {
		pr := &m.rec.Promises[p]
		w.num(int64(pr.Client))
		w.num(int64(pr.Server))
		w.tick(pr.End.Tick)
	}
}

func (m *Machine) promiseRank(p int32) int64 {
	for i, q := range m.live.proms {
		if q == p {
			return int64(i) + 1
		}
	}
	return 0
}

func (m *Machine) saveOp(w *writer, o *op) {
	w.byte(byte(o.verb))
	w.num(int64(o.step))
	w.num(int64(o.client))
	w.num(int64(o.owner))
	w.tick(o.sent.Tick)
	w.tick(o.sentClock)
	w.num(int64(o.ttl) + 1)
	w.flags(o.background, o.recreate, o.again, o.remade, o.decided)
	w.byte(byte(o.outcome))
	for _, n := range [...]int32{o.asked, o.out, o.doomed, o.yes, o.no, o.cast} {
		w.num(int64(n))
	}
	w.num(m.live.rank.token(o.token))
	w.num(m.live.rank.token(o.best))
	w.num(m.live.rank.token(o.number))
	if m.p.Settings.FenceAt == FenceAtGrant {
		w.flag(o.castAt == m.cur.Tick)
	}
	switch o.verb {
	case Acquire:
		w.num(int64(m.live.trialNo[o.trial]))
		fresh := o.grant != None && m.rec.Grants[o.grant].Heard.Tick == m.cur.Tick
		w.flag(fresh)
		m.saveVotes(w, o)
	case Read:
		r := &m.rec.Reads[o.index]
		w.num(m.live.slot(r.Value))
		w.num(m.live.rank.version(r.Version))
		w.num(m.live.rank.token(r.Token))
		w.flag(r.Applied.Tick != Forever)
	case Append, Write:
		r := &m.rec.Writes[o.index]
		w.num(m.live.slot(r.Value))
		w.num(m.live.rank.version(r.Base))
		w.num(m.live.rank.version(r.Version))
		w.num(m.live.rank.token(r.Token))
		w.flags(r.Accepted, r.Applied.Tick != Forever)
		w.byte(byte(r.Reason))
	}
}

func (m *Machine) saveVotes(w *writer, o *op) {
	n := 0
	for i := o.first; i < int32(len(m.rec.Votes)); i++ {
		if m.openVote(o, &m.rec.Votes[i]) {
			n++
		}
	}
	w.num(int64(n))
	for i := o.first; i < int32(len(m.rec.Votes)); i++ {
		v := &m.rec.Votes[i]
		if !m.openVote(o, v) {
			continue
		}
		w.num(int64(v.Server))
		s := &m.servers[v.Server]
		w.flags(v.Heard != Forever, v.Lost, m.matters(s) && s.lease == v.Lease)
		w.num(m.live.rank.token(v.Token))
		w.num(m.promiseRank(m.rec.Leases[v.Lease].Promise))
	}
}

func (m *Machine) saveItem(w *writer, it *item) {
	w.byte(byte(it.kind))
	w.tick(it.tick)
	w.num(int64(it.line))
	w.num(int64(it.server + 1))
	w.num(int64(it.client + 1))
	w.num(int64(it.hole))
	switch it.kind {
	case itemLand, itemSilent:
		w.num(int64(m.live.opRank[it.a]))
	case itemReply:
		w.num(int64(m.live.opRank[it.a]))
		if it.b < 0 {
			w.num(int64(it.b))
			return
		}
		a := &m.answers[it.b]
		w.num(1)
		w.flag(a.yes)
		w.num(m.live.rank.token(a.token))
		vote := int64(0)
		if a.vote != None && m.rec.Votes[a.vote].Kind == VoteYes {
			vote = 1 + int64(m.rec.Votes[a.vote].Server)
		}
		w.num(vote)
	case itemPoll:
		w.num(int64(m.live.trialNo[it.a]))
	default:
		w.num(int64(it.a))
	}
}

// Restore makes the machine go on from a snapshot as if the present were the given tick. The horizon is for the caller to
// set. The record begins anew: it holds what is still open (leases, promises, beliefs, faults, what is under way) with
// moments of the present, and what happens from here on. It gives what of snap lies behind the state.
func (m *Machine) Restore(snap []byte, now Tick, horizon bool) []byte {
	values := m.rec.Values
	m.rec.reset(m.p)
	m.rec.Values = values
	m.cur, m.seq, m.age, m.requests, m.work = Moment{now, 0}, 0, 0, 0, 0
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

func (m *Machine) loadClient(r *reader, i int32) {
	f := r.byte()
	c := client{crashed: f&2 != 0, checked: f&8 != 0, lossTold: f&64 != 0, belief: None, owner: i, validUntil: never}
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

// Slots gives the values that the last snapshot named by number: a machine restored from it calls them by their slots, and
// Rebase turns what it made of them back into values of the state before.
func (m *Machine) Slots(dst []int32) []int32 { return append(dst, m.live.values...) }

// Adopt gives the values of a machine that a snapshot was just taken of the names that Restore would give them, so that
// it can go on in place of a restored one.
func (m *Machine) Adopt() {
	name := func(v *int32) {
		if *v != None {
			*v = m.slotValue(m.live.slot(*v))
		}
	}
	for c := range m.clients {
		if m.live.active[c] && !m.clients[c].crashed {
			name(&m.clients[c].copied)
		}
	}
	name(&m.resource.value)
	for _, i := range m.live.ops {
		switch o := &m.ops[i]; o.verb {
		case Read:
			name(&m.rec.Reads[o.index].Value)
		case Append, Write:
			name(&m.rec.Writes[o.index].Value)
		}
	}
}

// Rebase gives the value that v, of a machine restored from a snapshot, is in terms of the snapshot's slots.
func (m *Machine) Rebase(v int32, slots []int32) int32 {
	n := m.rec.Values[v]
	switch {
	case n.Prev == None:
		return v
	case n.Prev < None:
		return slots[slotBase-n.Prev]
	}
	prev := m.Rebase(n.Prev, slots)
	if prev == n.Prev {
		return v
	}
	return m.sharedValue(prev, n.Text)
}

// slotBase is the Prev of the value that stands for slot 0; slot i has slotBase - i.
const slotBase int32 = -2

func (m *Machine) slotValue(n int64) int32 {
	if n == 0 {
		return None
	}
	for int64(len(m.slots)) < n {
		m.slots = append(m.slots, m.sharedValue(slotBase-int32(len(m.slots)), ""))
	}
	return m.slots[n-1]
}

// slot gives a value's number in the snapshot, from 1; 0 is no value. No rule compares values, so which they are need not
// tell states apart.
func (l *liveSet) slot(v int32) int64 {
	if v == None {
		return 0
	}
	for i, known := range l.values {
		if known == v {
			return int64(i) + 1
		}
	}
	l.values = append(l.values, v)
	return int64(len(l.values))
}

// ranks replaces versions, and tokens where that is sound, by their order: rules compare them and give out higher ones,
// so only the order tells states apart.
type ranks struct {
	versions []int64
	tokens   []int64
	exact    bool // tokens stand as they are
}

func (r *ranks) version(n int64) int64 { return order(r.versions, n) }

func (r *ranks) token(n int64) int64 {
	if r.exact || n <= 0 {
		return n
	}
	return order(r.tokens, n)
}

func order(sorted []int64, n int64) int64 {
	for i, known := range sorted {
		if known == n {
			return int64(i)
		}
	}
	return -1
}

// insert keeps a short list sorted and without repetition.
func insert(sorted []int64, n int64) []int64 {
	i := len(sorted)
	for i > 0 && sorted[i-1] >= n {
		if sorted[i-1] == n {
			return sorted
		}
		i--
	}
	sorted = append(sorted, 0)
	copy(sorted[i+1:], sorted[i:])
	sorted[i] = n
	return sorted
}

// saveRanks collects the versions and tokens that the snapshot will name. Tokens keep their numbers where several counters
// run, or where one can start again: there their distances matter.
func (m *Machine) saveRanks(l *liveSet) {
	r := &l.rank
	l.values = l.values[:0]
	r.versions, r.tokens, r.exact = r.versions[:0], append(r.tokens[:0], 0), m.uses.counters
	r.versions = insert(append(r.versions, 0), m.resource.version)
	token := func(n int64) {
		if !r.exact && n > 0 {
			r.tokens = insert(r.tokens, n)
		}
	}
	for _, t := range m.Marks {
		token(t)
	}
	token(m.resource.highest)
	token(m.resource.accepted)
	token(m.ordered)
	for c := range m.clients {
		if l.active[c] && !m.clients[c].crashed {
			r.versions = insert(r.versions, m.clients[c].version)
			token(m.clients[c].token)
		}
	}
	for sv := range m.servers {
		m.settle(int32(sv))
		s := &m.servers[sv]
		token(s.token)
		if m.matters(s) {
			token(m.rec.Leases[s.lease].Token)
		}
	}
	for _, i := range l.ops {
		o := &m.ops[i]
		token(o.token)
		token(o.best)
		token(o.number)
		switch o.verb {
		case Acquire:
			for v := o.first; v < int32(len(m.rec.Votes)); v++ {
				if m.openVote(o, &m.rec.Votes[v]) {
					token(m.rec.Votes[v].Token)
				}
			}
		case Read:
			rd := &m.rec.Reads[o.index]
			r.versions = insert(r.versions, rd.Version)
			token(rd.Token)
		case Append, Write:
			w := &m.rec.Writes[o.index]
			r.versions = insert(insert(r.versions, w.Base), w.Version)
			token(w.Token)
		}
	}
	for _, q := range l.order {
		if it := &m.queue[q]; it.kind == itemReply && it.b >= 0 {
			token(m.answers[it.b].token)
		}
	}
}

// writer writes small numbers small: most states are a few dozen bytes.
type writer struct {
	b   []byte
	now Tick
}

func (w *writer) byte(b byte) { w.b = append(w.b, b) }

func (w *writer) flag(f bool) {
	if f {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) flags(fs ...bool) {
	var b byte
	for i, f := range fs {
		if f {
			b |= 1 << i
		}
	}
	w.b = append(w.b, b)
}

func (w *writer) num(n int64) {
	u := uint64(n<<1) ^ uint64(n>>63)
	for u >= 0x80 {
		w.b = append(w.b, byte(u)|0x80)
		u >>= 7
	}
	w.b = append(w.b, byte(u))
}

// tick writes a tick's distance from the present, shifted so that Forever has a number of its own.
func (w *writer) tick(t Tick) {
	if t == Forever {
		w.b = append(w.b, 1)
		return
	}
	d := int64(t - w.now)
	if d < 0 {
		d--
	}
	w.num(d)
}

func (w *writer) clock(c *clock) {
	if c.stopped {
		w.byte(1)
		w.tick(c.reading)
		return
	}
	if c.offset == 0 {
		w.byte(0)
		return
	}
	w.byte(2)
	w.num(int64(c.offset))
}

type reader struct {
	b   []byte
	now Tick
}

func (r *reader) byte() byte {
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *reader) flag() bool { return r.byte() != 0 }

func (r *reader) num() int64 {
	var u uint64
	for shift := 0; ; shift += 7 {
		b := r.byte()
		u |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) tick() Tick {
	d := r.num()
	switch {
	case d == -1:
		return Forever
	case d < 0:
		d++
	}
	return r.now + Tick(d)
}

func (r *reader) clock() clock {
	switch r.byte() {
	case 1:
		return clock{stopped: true, reading: r.tick()}
	case 2:
		return clock{offset: Tick(r.num())}
	}
	return clock{}
}
