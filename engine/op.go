package engine

// op is a request to several servers or to the resource, from its send to the moment its client knows what came of it.
type op struct {
	id         int32
	verb       Verb
	client     int32
	step       int32
	line       int32
	trial      int32
	attempt    int32
	index      int32 // its entry in the record: Asks, Reads or Writes
	grant      int32 // in the record, for an acquire that was granted
	event      int32 // in the record, for a write that was decided
	on         Span
	owner      int32
	sent       Moment
	sentClock  Tick // the client's clock at the send
	ttl        Tick
	background bool
	recreate   bool

	asked  int32 // servers asked
	out    int32 // answers that may still come
	doomed int32 // requests still under way whose answer is known to be lost
	yes    int32 // heard
	no     int32 // heard
	cast   int32 // votes cast for it, heard or not
	token  int64 // the highest heard
	best   int64 // the highest cast
	number int64 // tokens ordered: what the log gave it
	castAt Tick  // when the vote that made the quorum was cast
	again  bool
	remade bool  // renew: a lease was taken anew
	first  int32 // its first vote in the record

	decided bool
	outcome Outcome
	past    int32 // its place in Machine.pasts, for an acquire while forking
}

// answer is what a server said, on its way to the client.
type answer struct {
	yes   bool
	token int64
	vote  int32 // in the record; None for answers that are no votes
}

// route says when a request lands and when its answer is heard, Forever for what is lost.
func (m *Machine) route(step int32, server int32) (lands, heard Tick) {
	now := m.cur.Tick
	lands, heard = now, 0
	s := &m.p.Steps[step]
	for i := s.Messages.Lo; i < s.Messages.Hi; i++ {
		msg := &m.p.Messages[i]
		if !m.names(msg.Servers, server) {
			continue
		}
		at := msg.At
		switch {
		case msg.Lost:
			at = Forever
		case msg.Plus:
			at += now
		}
		if msg.Reply {
			heard = at
		} else {
			lands = max(at, now)
		}
	}
	return lands, heard
}

// names tells whether a span of servers has the server in it; an empty span has all.
func (m *Machine) names(sp Span, server int32) bool {
	if sp.Len() == 0 {
		return true
	}
	for _, s := range m.p.ServerIDs[sp.Lo:sp.Hi] {
		if s == server {
			return true
		}
	}
	return false
}

func (m *Machine) isCut(client, server int32) bool {
	row := int(client) * (len(m.servers) + 1)
	if server == None {
		return m.cuts[row+len(m.servers)] != 0
	}
	return m.cuts[row+int(server)] != 0
}

// begin fills in what every operation has.
func (m *Machine) begin(o *op) {
	s := &m.p.Steps[o.step]
	c := &m.clients[s.Client]
	o.client, o.line, o.owner = s.Client, s.Line, c.owner
	o.sent, o.sentClock = m.cur, c.clock.at(m.cur.Tick)
	o.first = int32(len(m.rec.Votes))
	o.grant, o.event, o.castAt = None, None, Forever
	o.id = int32(len(m.ops))
}

// ask sends a request to the servers and does all of it that takes no time. Background renewals use no message suffixes:
// those belong to the line's own request.
func (m *Machine) ask(o op) {
	m.begin(&o)
	if o.verb == Acquire && m.forking {
		m.newPast(&o)
	}
	if o.verb != Acquire {
		o.attempt = None
		m.rec.Asks = append(m.rec.Asks, Ask{Client: o.client, Verb: o.verb, Line: o.line, Sent: m.cur, Decided: Never()})
		o.index = int32(len(m.rec.Asks) - 1)
	}
	m.ops = append(m.ops, o)
	id := o.id
	m.eachServer(o.on, func(sv int32) {
		m.requests++
		if m.requests > MaxRequests {
			m.rec.Limit = LimitRequests
			return
		}
		op := &m.ops[id]
		op.asked++
		lands, heard := m.cur.Tick, Tick(0)
		if !o.background {
			lands, heard = m.route(o.step, sv)
		}
		switch {
		case lands == Forever || m.isCut(o.client, sv):
			m.novote(op, sv)
		case lands > m.cur.Tick:
			if heard == Forever {
				op.doomed++
			} else {
				op.out++
			}
			m.push(item{tick: lands, line: o.line, server: sv, client: None, kind: itemLand, a: id})
		default:
			if heard != Forever {
				op.out++
			}
			m.arrive(id, sv, heard)
		}
	})
	op := &m.ops[id]
	if op.verb != Acquire {
		m.rec.Asks[op.index].Asked = op.asked
	}
	m.decide(id)
	if !m.ops[id].decided {
		m.event(Event{Verb: o.verb, Outcome: Sent, Client: o.client, Step: o.step, Line: o.line, Sent: m.cur.Tick,
			Heard: Forever, Index: m.entry(&m.ops[id]), Background: o.background})
	}
}

// entry is the operation's place in the record's list for its verb.
func (m *Machine) entry(o *op) int32 {
	if o.verb == Acquire {
		return o.attempt
	}
	return o.index
}

// land is a request that was under way and lands now.
func (m *Machine) land(id, server int32) {
	o := &m.ops[id]
	if o.verb == Read || o.verb == Append || o.verb == Write {
		m.landResource(id)
		return
	}
	_, heard := m.routeAt(o, server)
	if heard == Forever {
		o.doomed--
	}
	m.arrive(id, server, heard)
	m.drain(id)
	m.decideLater(id)
}

// routeAt gives the operation's route as it was at its send.
func (m *Machine) routeAt(o *op, server int32) (lands, heard Tick) {
	now := m.cur
	m.cur = o.sent
	lands, heard = m.route(o.step, server)
	m.cur = now
	return lands, heard
}

// drain does what else is due for the same operation in this tick before anything is decided: an attempt counts every
// vote of the tick of its decision.
func (m *Machine) drain(id int32) {
	for {
		at := m.nextOf(m.ops[id].client)
		if at < 0 {
			return
		}
		it := &m.queue[at]
		if it.tick != m.cur.Tick || it.a != id || it.kind != itemReply && it.kind != itemLand {
			return
		}
		o := &m.ops[id]
		if o.verb == Read || o.verb == Append || o.verb == Write || it.kind == itemReply && m.absent(o.client) {
			return
		}
		next := m.remove(at)
		m.work++
		if next.kind == itemReply {
			m.hear(id, next.b)
			continue
		}
		_, heard := m.routeAt(o, next.server)
		if heard == Forever {
			o.doomed--
		}
		m.arrive(id, next.server, heard)
	}
}

// nextOf finds what comes next in the queue; where the order of actors is open, of a client's own work, for whom a line
// stands before whose is not settled then. It is -1 if there is nothing.
func (m *Machine) nextOf(client int32) int {
	if !m.p.Ties {
		return min(len(m.queue), 1) - 1
	}
	next := -1
	for i := range m.queue {
		it := &m.queue[i]
		if it.tick == m.cur.Tick && m.actor(it) == client && (next < 0 || it.before(&m.queue[next])) {
			next = i
		}
	}
	return next
}

func (m *Machine) absent(client int32) bool {
	c := &m.clients[client]
	return c.crashed || c.pausedUntil > m.cur.Tick
}

// arrive lets a server act on a request now and sends its answer, which is heard at the given tick: now if that has
// passed, never if it is Forever or lost on the way.
func (m *Machine) arrive(id, sv int32, heard Tick) {
	o := &m.ops[id]
	s := &m.servers[sv]
	if s.crash != None {
		if heard != Forever {
			o.out--
		}
		m.novote(o, sv)
		return
	}
	m.settle(sv)
	a := answer{vote: None}
	switch o.verb {
	case Acquire:
		a = m.vote(id, sv)
	case Renew:
		a = m.renewAt(id, sv)
	case Release:
		a.yes = m.releaseAt(o, sv)
	case Check:
		a.yes = m.owns(s, o)
	}
	if o.verb != Acquire && a.yes {
		m.rec.Asks[o.index].Yes++
	}
	if heard != Forever && m.isCut(o.client, sv) {
		heard = Forever
		o.out--
	}
	if heard == Forever {
		if a.vote != None {
			m.rec.Votes[a.vote].Lost = true
			if a.yes && o.decided && o.outcome != Granted && m.p.Settings.Handback == HandbackAll && !m.clients[o.client].crashed {
				m.giveBack(id, a.vote)
			}
		}
		return
	}
	m.answers = append(m.answers, a)
	n := int32(len(m.answers) - 1)
	if heard <= m.cur.Tick && !m.absent(o.client) {
		m.hear(id, n)
		return
	}
	m.push(item{tick: max(heard, m.cur.Tick), line: o.line, server: sv, client: o.client, kind: itemReply, a: id, b: n})
}

// hear takes a server's answer into account; decide follows.
func (m *Machine) hear(id, n int32) {
	o := &m.ops[id]
	if o.verb == Read || o.verb == Append || o.verb == Write {
		if n == silence {
			m.noAnswer(id)
		} else {
			m.hearResource(id)
		}
		return
	}
	a := &m.answers[n]
	o.out--
	if a.vote != None {
		m.rec.Votes[a.vote].Heard = m.cur.Tick
	}
	if !a.yes {
		o.no++
		return
	}
	o.yes++
	if o.attempt != None {
		m.rec.Attempts[o.attempt].HeardYes = o.yes
	} else {
		m.rec.Asks[o.index].Heard = o.yes
	}
	token := a.token
	if o.number != 0 {
		token = o.number
	}
	if !o.decided {
		o.token = max(o.token, token)
		return
	}
	switch {
	case o.verb != Acquire:
	case o.outcome != Granted:
		if m.p.Settings.Handback != HandbackOff {
			m.giveBack(id, a.vote)
		}
	case m.rec.Grants[o.grant].Heard.Tick == m.cur.Tick && token > o.token:
		// A vote of the tick of the decision counts, also when another line's work came between.
		o.token = token
		m.rec.Grants[o.grant].Token = token
		m.rec.Attempts[o.attempt].Token = token
		m.clients[o.client].token = token
		m.fenceGrant(token)
	}
}

// decideLater decides after a landing. The answer that never comes is noticed by the client, so a pause holds that up.
func (m *Machine) decideLater(id int32) {
	o := &m.ops[id]
	if o.decided || m.clients[o.client].crashed {
		return
	}
	if m.absent(o.client) {
		m.push(item{tick: m.cur.Tick, line: o.line, server: None, client: o.client, kind: itemSilent, a: id})
		return
	}
	m.decide(id)
}

// decide ends the operation if enough answers were heard, or can no longer be: an answer that never comes counts as a
// refusal once all others are in; if none comes at all, once the last request landed.
func (m *Machine) decide(id int32) {
	o := &m.ops[id]
	if o.decided || m.rec.Limit != NoLimit {
		return
	}
	quorum := int32(m.p.Settings.Quorum)
	heard := o.yes + o.no
	good := o.yes >= quorum
	bad := !good && (o.asked-o.no < quorum || o.out == 0 && (heard > 0 || o.doomed == 0))
	if !good && !bad {
		return
	}
	o.decided = true
	if o.verb == Acquire {
		if o.number != 0 {
			o.token = o.number
		}
		if good && m.tooOld(o) {
			m.rec.Attempts[o.attempt].Invalid = true
			good = false
		}
		if good {
			m.granted(o)
		} else {
			m.denied(o)
		}
		return
	}
	m.answered(o, good, heard > 0)
}

// tooOld is Redlock's validity rule: the ttl, less the margin, has passed since the send on the client's clock.
func (m *Machine) tooOld(o *op) bool {
	ttl := m.ttl(o.ttl)
	if !m.p.Settings.Validity || ttl == Forever {
		return false
	}
	return m.clients[o.client].clock.at(m.cur.Tick)-o.sentClock >= ttl-m.p.Settings.Margin
}

// answered ends a renew, release or check.
func (m *Machine) answered(o *op, good, heard bool) {
	c := &m.clients[o.client]
	switch {
	case !heard:
		o.outcome = Unheard
	case o.verb == Renew && good:
		o.outcome = Renewed
	case o.verb == Renew:
		o.outcome = Lost
	case o.verb == Release && good:
		o.outcome = Released
	case o.verb == Release:
		o.outcome = Expired
	case good:
		o.outcome = Yes
	default:
		o.outcome = No
	}
	ask := &m.rec.Asks[o.index]
	ask.Decided, ask.Outcome = m.cur, o.outcome
	switch o.outcome {
	case Renewed:
		c.validUntil = plus(o.sentClock, m.ttl(o.ttl))
		if o.remade {
			ask.Token = o.token
			if o.number != 0 {
				ask.Token = o.number
			}
			c.token = ask.Token
			m.fenceGrant(ask.Token)
			m.believe(o.client, o.line)
		}
	case Lost:
		m.disbelieve(o.client, ByLost)
	case Yes:
		c.checked = true
	case No:
		c.checked = false
		m.disbelieve(o.client, ByNo)
	}
	m.settled(o)
	if o.background {
		// The block belongs to the grant: it runs once, at the first renewal that comes back lost.
		if o.outcome == Lost && !c.lossTold {
			c.lossTold = true
			m.outcome(o.step, Lost)
		}
		return
	}
	m.outcome(o.step, o.outcome)
}

// settled records what came of an operation.
func (m *Machine) settled(o *op) {
	heard := m.cur.Tick
	if o.outcome == Unheard {
		heard = Forever
	}
	m.event(Event{Verb: o.verb, Outcome: o.outcome, Client: o.client, Step: o.step, Line: o.line, Sent: o.sent.Tick, Heard: heard,
		Token: m.clients[o.client].token, Index: m.entry(o), Background: o.background})
}
