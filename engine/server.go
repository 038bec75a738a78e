package engine

// server is one lock server: its token counter, its clock and at most one lease. The lease's state stays after its end
// (held without live), because with judge caller or lock-delay a later asker still looks at it.
type server struct {
	clock clock
	crash int32 // the fault that has it down, None while it is up
	token int64 // the last number given

	held     bool // there is lease state
	live     bool // by its own clock the lease has not ended; once ended, a clock set back does not revive it
	owner    int32
	op       int32  // the operation whose vote it is
	lease    int32  // in the record
	stamp    Tick   // the reading at which it is over
	due      Tick   // the true tick at which the server's clock gets there
	ended    Tick   // !live: the server's reading when it ended
	lastVote Tick   // the server's reading at the last vote or renewal
	voters   uint64 // the clients that were voted into the living lease, as bits; for snapshots, of at most 64 clients
}

// settle ends the lease if the server's clock has passed its end. Leases that end come first in their tick, so a lease
// that is due is closed at the start of the tick even if nobody looked at it then.
func (m *Machine) settle(sv int32) {
	s := &m.servers[sv]
	if !s.live || s.due > m.cur.Tick {
		return
	}
	m.endLease(sv, Moment{s.due, 0}, RanOut)
	s.ended = s.stamp
}

// endLease closes the record of the living lease. The lease's state stays; drop forgets it.
func (m *Machine) endLease(sv int32, at Moment, why Ending) {
	s := &m.servers[sv]
	s.live = false
	l := &m.rec.Leases[s.lease]
	l.End, l.Ended = at, why
}

func (m *Machine) drop(sv int32, why Ending) {
	s := &m.servers[sv]
	if s.live {
		m.endLease(sv, m.cur, why)
	}
	if s.held {
		m.rec.Leases[s.lease].Gone = m.cur
	}
	s.held, s.owner = false, None
}

// extend sets when the server's lease is over, counted from a reading; a lease of no tick is over at once.
func (m *Machine) extend(sv int32, from, ttl Tick) {
	s := &m.servers[sv]
	s.lastVote = s.clock.at(m.cur.Tick)
	s.stamp = plus(from, ttl)
	s.due = s.clock.reaches(s.stamp, m.cur.Tick)
	l := &m.rec.Leases[s.lease]
	l.Stamp, l.Voted = s.stamp, s.lastVote
	if s.due <= m.cur.Tick {
		m.endLease(sv, m.cur, RanOut)
		s.ended = s.lastVote
	}
}

// base is the reading from which a ttl counts on the server: its own clock's, or with judge caller the asker's at the send.
func (m *Machine) base(s *server, o *op) Tick {
	if m.p.Settings.Judge == JudgeCaller {
		return o.sentClock
	}
	return s.clock.at(m.cur.Tick)
}

// over tells whether the lease state counts as over for the asker, some ticks of delay added.
func (m *Machine) over(s *server, o *op, ttl, delay Tick) bool {
	switch m.p.Settings.Judge {
	case JudgeCaller:
		return o.sentClock >= plus(s.stamp, delay)
	case JudgeCallerTTL:
		return s.clock.at(m.cur.Tick) >= plus(plus(s.lastVote, m.ttl(ttl)), delay)
	}
	return !s.live && (delay == 0 || s.clock.at(m.cur.Tick) >= s.ended+delay)
}

// owns tells whether the asker's lease lives on the server.
func (m *Machine) owns(s *server, o *op) bool {
	return s.held && s.owner == o.owner && !m.over(s, o, m.clients[o.client].ttl, 0)
}

// vote is a server's answer to an acquire.
func (m *Machine) vote(id, sv int32) answer {
	o := &m.ops[id]
	s := &m.servers[sv]
	v := Vote{Attempt: o.attempt, Server: sv, Holder: None, Lease: None, Applied: m.cur, Heard: Forever}
	defer func() { m.rec.Votes = append(m.rec.Votes, v) }()
	a := answer{vote: int32(len(m.rec.Votes))}
	switch {
	case m.p.Settings.Reentrant && m.owns(s, o):
		m.moveLease(sv, o)
		s.voters |= 1 << o.client
		v.Kind, v.Token, v.Lease = VoteAgain, m.rec.Leases[s.lease].Token, s.lease
	case s.held && !m.over(s, o, o.ttl, m.p.Settings.LockDelay):
		v.Kind = VoteNo
		if !m.over(s, o, o.ttl, 0) {
			v.Holder = m.rec.Leases[s.lease].Client
		}
		return a
	default:
		m.openLease(id, sv)
		v.Kind, v.Token, v.Lease = VoteYes, s.token, s.lease
	}
	a.yes, a.token = true, v.Token
	m.counted(id, v.Token)
	if m.p.Settings.Tokens == TokensOrdered {
		v.Token = o.number
		if v.Kind == VoteYes {
			m.numberLease(v.Lease, o.number)
		}
	}
	a.token = v.Token
	return a
}

// counted takes a vote that was cast into account: the one that makes the quorum is the moment of the grant.
func (m *Machine) counted(id int32, token int64) {
	o := &m.ops[id]
	o.cast++
	o.best = max(o.best, token)
	if o.attempt != None {
		m.rec.Attempts[o.attempt].Yes = o.cast
	}
	if int(o.cast) < m.p.Settings.Quorum {
		return
	}
	if int(o.cast) == m.p.Settings.Quorum {
		o.castAt = m.cur.Tick
		m.quorumCast(o)
	}
	if o.attempt != None && int(o.cast) == m.p.Settings.Quorum {
		o.again = m.p.Settings.Reentrant && m.heldBefore(id)
		m.rec.Attempts[o.attempt].Cast, m.rec.Attempts[o.attempt].Again = m.cur, o.again
	}
	fresh := o.verb == Acquire || o.remade
	if m.p.Settings.Tokens == TokensOrdered && fresh && o.number == 0 {
		m.number(id)
	}
	// A vote that is cast later raises the fence when it is heard as a part of the grant, or not at all: its number may never
	// become the grant's.
	if fresh && o.castAt == m.cur.Tick {
		m.fenceGrant(o.best)
	}
}

// fenceGrant tells the resource of a grant's token, where it learns tokens that early.
func (m *Machine) fenceGrant(token int64) {
	if m.p.Settings.FenceAt == FenceAtGrant {
		m.resource.highest = max(m.resource.highest, token)
	}
}

// heldBefore tells whether the asker's owner holds the lock without what the operation has won: then its grant is that of a
// holder who asks again. A single lease that is left over from an earlier attempt makes nobody the holder.
func (m *Machine) heldBefore(id int32) bool {
	o := &m.ops[id]
	n := 0
	for sv := range m.servers {
		m.settle(int32(sv))
		if s := &m.servers[sv]; s.crash == None && s.op != id && m.owns(s, o) {
			n++
		}
	}
	return n >= m.p.Settings.Quorum
}

// number gives an operation whose quorum is cast its place in the ordered log; a reentrant one keeps the one it has.
func (m *Machine) number(id int32) {
	o := &m.ops[id]
	if o.again {
		o.number = o.best
	}
	if o.number == 0 {
		m.ordered++
		o.number = m.ordered
	}
	o.best = o.number
	for l := range m.servers {
		if s := &m.servers[l]; s.held && s.op == id {
			m.numberLease(s.lease, o.number)
		}
	}
	for i := o.first; i < int32(len(m.rec.Votes)); i++ {
		if v := &m.rec.Votes[i]; v.Attempt == o.attempt && o.attempt != None && (v.Kind == VoteYes || v.Kind == VoteAgain) {
			v.Token = o.number
		}
	}
}

func (m *Machine) numberLease(lease int32, token int64) {
	l := &m.rec.Leases[lease]
	l.Token = token
	if l.Promise != None {
		m.rec.Promises[l.Promise].Token = token
	}
}

// openLease gives the server's lock to an operation: a new number, a new lease, a new promise.
func (m *Machine) openLease(id, sv int32) {
	o := &m.ops[id]
	s := &m.servers[sv]
	if s.live {
		m.endLease(sv, m.cur, ByTakeover)
	}
	if s.held {
		m.rec.Leases[s.lease].Gone = m.cur
	}
	token := int64(0)
	if m.p.Settings.Tokens == TokensCounters {
		s.token++
		token = s.token
	}
	m.rec.Leases = append(m.rec.Leases, Lease{
		Server: sv, Client: o.client, Owner: o.owner, Token: token, Attempt: o.attempt, Line: o.line,
		Promise: m.promise(o, sv, token), Start: m.cur, End: Never(), Gone: Never(),
	})
	s.held, s.live, s.owner, s.op, s.voters = true, true, o.owner, id, 1<<o.client
	s.lease = int32(len(m.rec.Leases) - 1)
	m.extend(sv, m.base(s, o), m.ttl(o.ttl))
}

// moveLease moves the end of a lease that the judge counts as living. If it had ended by the server's own clock, the
// record gets a new stretch of it.
func (m *Machine) moveLease(sv int32, o *op) {
	s := &m.servers[sv]
	l := m.rec.Leases[s.lease]
	if !s.live {
		m.rec.Leases[s.lease].Gone = m.cur
		l.Start, l.End, l.Ended, l.Line = m.cur, Never(), Open, o.line
		m.rec.Leases = append(m.rec.Leases, l)
		s.lease = int32(len(m.rec.Leases) - 1)
		s.live = true
	}
	m.extend(sv, m.base(s, o), m.ttl(o.ttl))
	if p := m.lastPromise(o.client, sv); p != None {
		m.rec.Promises[p].End, m.rec.Promises[p].Ended = m.promised(o)
		return
	}
	m.promise(o, sv, m.rec.Leases[s.lease].Token)
}

// promised gives the end of what an operation's client may rely on from now: true ticks, whatever the clocks show.
func (m *Machine) promised(o *op) (Moment, Ending) {
	from := m.cur.Tick
	if m.p.Settings.Judge == JudgeCaller {
		from = o.sent.Tick
	}
	switch end := plus(from, m.ttl(o.ttl)); {
	case end == Forever:
		return Never(), Open
	case end <= m.cur.Tick:
		return m.cur, RanOut
	default:
		return Moment{end, 0}, RanOut
	}
}

func (m *Machine) promise(o *op, sv int32, token int64) int32 {
	end, ended := m.promised(o)
	m.rec.Promises = append(m.rec.Promises, Promise{
		Server: sv, Client: o.client, Token: token, Line: o.line, Start: m.cur, End: end, Ended: ended,
	})
	p := int32(len(m.rec.Promises) - 1)
	m.chain = append(m.chain, m.lastPromise(o.client, sv))
	m.held[int(o.client)*len(m.servers)+int(sv)] = p
	return p
}

// lastPromise is the newest promise of a server to a client that still runs; one that was given back does not hide an older one.
func (m *Machine) lastPromise(client, sv int32) int32 {
	newest := &m.held[int(client)*len(m.servers)+int(sv)]
	for *newest != None && !m.cur.Before(m.rec.Promises[*newest].End) {
		*newest = m.chain[*newest]
	}
	return *newest
}

// cutPromises ends what a client may rely on at a server, since it released.
func (m *Machine) cutPromises(client, sv int32) {
	slot := int(client)*len(m.servers) + int(sv)
	for p := m.held[slot]; p != None; p = m.chain[p] {
		m.cutPromise(p, ByRelease)
	}
	m.held[slot] = None
}

func (m *Machine) cutPromise(p int32, why Ending) {
	if pr := &m.rec.Promises[p]; m.cur.Before(pr.End) {
		pr.End, pr.Ended = m.cur, why
	}
}

// novote records that a server gives no answer.
func (m *Machine) novote(o *op, sv int32) {
	if o.verb == Acquire {
		m.rec.Votes = append(m.rec.Votes, Vote{Attempt: o.attempt, Server: sv, Kind: VoteNothing, Holder: None, Lease: None,
			Applied: Never(), Heard: Forever, Lost: true})
	}
}

// handBack gives back the votes that a failed attempt won, as far as the setting says and the client can know. Votes
// whose answers are still under way are given back when they are heard.
func (m *Machine) handBack(o *op) {
	mode := m.p.Settings.Handback
	if mode == HandbackOff {
		return
	}
	for i := o.first; i < int32(len(m.rec.Votes)); i++ {
		v := &m.rec.Votes[i]
		if v.Attempt != o.attempt || v.Kind != VoteYes {
			continue
		}
		if v.Heard != Forever || v.Lost && mode == HandbackAll {
			m.giveBackVote(o, i)
		}
	}
}

func (m *Machine) giveBack(id, vote int32) {
	if vote != None && m.rec.Votes[vote].Kind == VoteYes {
		m.giveBackVote(&m.ops[id], vote)
	}
}

// giveBackVote frees one vote's lease, if the server is there to hear of it and the lease is still that vote's.
func (m *Machine) giveBackVote(o *op, vote int32) {
	v := &m.rec.Votes[vote]
	s := &m.servers[v.Server]
	if v.Returned || s.crash != None || m.isCut(o.client, v.Server) {
		return
	}
	v.Returned = true
	if m.forking {
		m.pastOf(o).returned++
	}
	m.settle(v.Server)
	if s.held && s.lease == v.Lease {
		m.drop(v.Server, ByHandback)
	}
	m.cutPromise(m.rec.Leases[v.Lease].Promise, ByHandback)
}

// renewAt is a server's answer to a renewal.
func (m *Machine) renewAt(id, sv int32) answer {
	o := &m.ops[id]
	s := &m.servers[sv]
	a := answer{vote: None}
	living := s.held && !m.over(s, o, o.ttl, 0)
	switch {
	case living && (s.owner == o.owner || !m.p.Settings.OwnerCheck):
		m.moveLease(sv, o)
		a.yes, a.token = true, m.rec.Leases[s.lease].Token
	case o.recreate && (!s.held || m.over(s, o, o.ttl, m.p.Settings.LockDelay)):
		o.remade = true
		m.openLease(id, sv)
		a.yes, a.token = true, m.rec.Leases[s.lease].Token
	default:
		return a
	}
	m.counted(id, a.token)
	if o.number != 0 && o.remade {
		m.numberLease(s.lease, o.number)
	}
	return a
}

// releaseAt is a server's answer to a release. A lease that has run out is beyond it, and changes no record.
func (m *Machine) releaseAt(o *op, sv int32) bool {
	s := &m.servers[sv]
	if !s.held || m.over(s, o, m.clients[o.client].ttl, 0) {
		return false
	}
	switch {
	case s.owner == o.owner:
		m.drop(sv, ByRelease)
	case !m.p.Settings.OwnerCheck:
		m.drop(sv, ByOther)
	default:
		return false
	}
	return true
}

// serverVerb does a line about servers: crash, restart, clock, revoke.
func (m *Machine) serverVerb(i int32) {
	s := &m.p.Steps[i]
	first := None
	m.eachServer(s.Servers, func(sv int32) {
		m.settle(sv)
		srv := &m.servers[sv]
		index := None
		switch s.Verb {
		case ServerCrash:
			if srv.crash == None {
				index = m.fault(Fault{Kind: FaultServerCrash, Client: None, Server: sv, End: Never(), Line: s.Line})
				srv.crash = index
			}
		case ServerRestart:
			index = m.restart(sv, s)
		case ServerClock:
			m.clockFault(i, &srv.clock, sv)
			index = int32(len(m.rec.Faults) - 1)
			m.reclock(sv)
		case ServerRevoke:
			index = m.fault(Fault{Kind: FaultRevoke, Client: None, Server: sv, Line: s.Line})
			m.drop(sv, ByRevoke)
		}
		if first == None {
			first = index
		}
	})
	m.simple(i, first)
}

// restart brings a server up; one that was not down restarts in an instant.
func (m *Machine) restart(sv int32, step *Step) int32 {
	how := step.Restart
	s := &m.servers[sv]
	if s.crash == None {
		s.crash = m.fault(Fault{Kind: FaultServerCrash, Client: None, Server: sv, Line: step.Line})
	}
	f := s.crash
	m.rec.Faults[f].End, m.rec.Faults[f].Restart = m.cur, how
	s.crash = None
	if how != RestartKept {
		m.drop(sv, ByRestart)
	}
	if how == RestartWiped {
		s.token = 0
	}
	return f
}

// reclock looks at the lease again after the server's clock changed.
func (m *Machine) reclock(sv int32) {
	s := &m.servers[sv]
	if !s.live {
		return
	}
	s.due = s.clock.reaches(s.stamp, m.cur.Tick)
	if s.due <= m.cur.Tick {
		m.endLease(sv, m.cur, RanOut)
		s.ended = s.clock.at(m.cur.Tick)
	}
}

// cut separates a client from servers or the resource; what is separated already stays so.
func (m *Machine) cut(i int32) {
	s := &m.p.Steps[i]
	row := m.cutRow(s.Client)
	first := None
	sever := func(col, server int32) {
		if row[col] != 0 {
			return
		}
		f := m.fault(Fault{Kind: FaultCut, Client: s.Client, Server: server, End: Never(), Line: s.Line})
		row[col] = f + 1
		if first == None {
			first = f
		}
	}
	if s.Servers.Len() > 0 || !s.Resource {
		m.eachServer(s.Servers, func(sv int32) { sever(sv, sv) })
	}
	if s.Resource || s.Servers.Len() == 0 {
		sever(int32(len(m.servers)), None)
	}
	m.simple(i, first)
}

// heal ends what a cut began, everywhere or for the parts that the line names.
func (m *Machine) heal(i int32) {
	s := &m.p.Steps[i]
	row := m.cutRow(s.Client)
	first := None
	mend := func(col int32) {
		if row[col] == 0 {
			return
		}
		f := row[col] - 1
		m.rec.Faults[f].End = m.cur
		row[col] = 0
		if first == None {
			first = f
		}
	}
	if s.Servers.Len() > 0 || !s.Resource {
		m.eachServer(s.Servers, func(sv int32) { mend(sv) })
	}
	if s.Resource || s.Servers.Len() == 0 {
		mend(int32(len(m.servers)))
	}
	m.simple(i, first)
}

func (m *Machine) cutRow(client int32) []int32 {
	width := len(m.servers) + 1
	return m.cuts[int(client)*width : int(client+1)*width]
}
