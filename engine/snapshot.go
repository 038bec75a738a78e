package engine

import "slices"

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

// Snapshot appends the state at a tick, at which the next piece of work is due, to dst. With the horizon's distance, states
// are told apart by how long retries may go on.
func (m *Machine) Snapshot(dst []byte, now Tick, horizon bool) []byte {
	m.prepare(now)
	m.alike.moved = false
	return m.save(dst, horizon)
}

// Canonical is Snapshot with clients that are alike in places that the state gives them: Moved tells in which, and by it
// Rebase finds whose texts are meant. Without such clients it is Snapshot.
func (m *Machine) Canonical(dst []byte, now Tick, horizon bool) []byte {
	m.prepare(now)
	if m.placeAlike(m.mask()); m.alike.moved {
		m.arrange(&m.live)
	}
	return m.save(dst, horizon)
}

// prepare finds what a snapshot has to tell.
func (m *Machine) prepare(now Tick) {
	if now > m.cur.Tick {
		m.cur.Tick = now
	}
	m.alike.moved = false
	l := &m.live
	m.collect(l)
	m.arrange(l)
	m.saveRanks(l)
}

// mask gives the decided holes that somebody still looks at, as bits: those of the steps that are to come.
func (m *Machine) mask() uint64 {
	l := &m.live
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
	return mask
}

// save writes the state.
func (m *Machine) save(dst []byte, horizon bool) []byte {
	l, a := &m.live, &m.alike
	w := writer{dst, m.cur.Tick}
	if m.uses.time {
		w.num(int64(m.cur.Tick))
	}
	if horizon {
		w.tick(m.horizon)
	}
	mask := m.mask()
	for n := range int32(len(m.holes)) {
		h := a.inHole(n)
		switch hole := &m.holes[h]; {
		case hole.decided && mask&(1<<h) == 0:
			w.byte(0)
		case hole.decided:
			w.num(int64(2*hole.first + 2))
		default:
			w.num(int64(2*hole.first + 1))
		}
	}
	w.flag(m.BeliefsAside)
	for _, t := range m.Marks {
		w.num(l.rank.token(t))
	}
	for n := range int32(len(m.clients)) {
		m.saveClient(&w, a.inClient(n))
	}
	for sv := range m.servers {
		m.saveServer(&w, int32(sv))
	}
	m.savePromises(&w)
	for _, c := range m.cuts { // never of clients that are like others
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
		w.num(int64(a.step(m.p, m.trials[t].step)))
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

// collect finds the queue in order.
func (m *Machine) collect(l *liveSet) {
	l.order = l.order[:0]
	for i := range m.queue {
		it := &m.queue[i]
		if m.gone(it) {
			continue
		}
		l.order = append(l.order, int32(i))
	}
}

// arrange puts the queue into the order of the law, with clients in their places, and numbers what its items name.
func (m *Machine) arrange(l *liveSet) {
	for i := 1; i < len(l.order); i++ {
		for k := i; k > 0 && m.placedBefore(&m.queue[l.order[k]], &m.queue[l.order[k-1]]); k-- {
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

// placedBefore is the order of items with clients in their places.
func (m *Machine) placedBefore(x, y *item) bool {
	if !m.alike.moved || x.tick != y.tick {
		return x.before(y)
	}
	placed := *x
	placed.line = m.alike.line(m.p, m.whose(x), x.line)
	other := *y
	other.line = m.alike.line(m.p, m.whose(y), y.line)
	return placed.before(&other)
}

// whose gives the client whose line an item stands at; None if it is nobody's.
func (m *Machine) whose(it *item) int32 {
	if it.kind == itemLand {
		return m.ops[it.a].client
	}
	return it.client
}

func (m *Machine) saveClient(w *writer, i int32) {
	c := &m.clients[i]
	active := m.live.active[i] && !c.crashed
	paused := active && c.pausedUntil > m.cur.Tick
	w.flags(active, c.crashed, c.belief != None && !m.BeliefsAside, active && c.checked, paused, active && c.watchdog != 0, active && c.lossTold, c.waits && !c.crashed)
	if !active {
		if c.waits && !c.crashed {
			w.num(int64(m.alike.client(c.owner)))
			w.clock(&c.clock)
		}
		return
	}
	if paused {
		w.tick(c.pausedUntil)
		line := int32(0)
		if c.deferTo == c.pausedUntil {
			line = m.alike.line(m.p, i, c.deferLine)
		}
		w.num(int64(line))
	}
	w.num(m.live.slot(c.copied))
	w.num(m.live.rank.version(c.version))
	w.num(m.live.rank.token(c.token))
	w.num(int64(m.alike.client(c.owner)))
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
	w.num(int64(m.alike.client(s.owner)))
	w.num(int64(m.alike.client(l.Client)))
	w.num(m.live.rank.token(l.Token))
	w.tick(s.stamp)
	if !s.live {
		w.tick(s.ended)
	}
	if m.p.Settings.Judge == JudgeCallerTTL {
		w.tick(s.lastVote)
	}
	w.num(int64(m.alike.clients(s.voters)))
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
	for n := range int32(len(m.clients)) {
		row := int(m.alike.inClient(n)) * len(m.servers)
		for _, newest := range m.held[row : row+len(m.servers)] {
			first := len(m.live.proms)
			for p := newest; p != None; p = m.chain[p] {
				if m.cur.Before(m.rec.Promises[p].End) && m.rec.Promises[p].End.Tick > m.cur.Tick {
					m.live.proms = append(m.live.proms, p)
				}
			}
			slices.Reverse(m.live.proms[first:]) // the oldest first, as Restore builds the chain
		}
	}
	w.num(int64(len(m.live.proms)))
	for _, p := range m.live.proms {
		pr := &m.rec.Promises[p]
		w.num(int64(m.alike.client(pr.Client)))
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
	w.num(int64(m.alike.step(m.p, o.step)))
	w.num(int64(m.alike.client(o.client)))
	w.num(int64(m.alike.client(o.owner)))
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
		m.saveSlow(w, o)
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
	w.num(int64(m.alike.line(m.p, m.whose(it), it.line)))
	w.num(int64(it.server + 1))
	w.num(int64(m.alike.client(it.client) + 1))
	w.num(int64(m.alike.hole(it.hole-1) + 1))
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
		w.num(int64(m.alike.step(m.p, it.a)))
	}
}
