package engine

// resource is the storage service: one value with a version, and what it knows of tokens.
type resource struct {
	value    int32
	version  int64
	highest  int64 // the highest token it knows
	accepted int64 // the highest token of an accepted write, -1 for none
}

// read copies the resource's value and version into the client when the answer is heard.
func (m *Machine) read(i int32) {
	o := op{verb: Read, step: i}
	m.begin(&o)
	m.rec.Reads = append(m.rec.Reads, ReadOp{Client: o.client, Sent: m.cur, Applied: Never(), Heard: Forever, Value: None,
		Token: m.clients[o.client].token, Line: o.line})
	o.index = int32(len(m.rec.Reads) - 1)
	m.send(o)
}

// write sends an append or a write, unless the client's own condition holds it back.
func (m *Machine) write(i int32) {
	s := &m.p.Steps[i]
	c := &m.clients[s.Client]
	reason := ReasonNone
	switch {
	case s.If == CondChecked && !c.checked:
		reason = ReasonUnchecked
	case s.If == CondValid && (c.validUntil == never || c.clock.at(m.cur.Tick) >= c.validUntil):
		reason = ReasonInvalid
	}
	if reason != ReasonNone {
		m.event(Event{Verb: s.Verb, Outcome: Skipped, Client: s.Client, Step: i, Line: s.Line, Sent: m.cur.Tick, Heard: m.cur.Tick,
			Token: c.token, Index: None, Reason: reason})
		m.outcome(i, Skipped)
		return
	}
	prev := None
	if s.Verb == Append {
		prev = c.copied
	}
	o := op{verb: s.Verb, step: i}
	m.begin(&o)
	m.rec.Writes = append(m.rec.Writes, WriteOp{Client: o.client, Verb: s.Verb, Sent: m.cur, Applied: Never(), Heard: Forever,
		Value: m.value(prev, m.p.Texts[s.Text]), Base: c.version, Token: c.token, Line: o.line})
	o.index = int32(len(m.rec.Writes) - 1)
	m.send(o)
}

// send brings an operation to the resource: now, later or never.
func (m *Machine) send(o op) {
	m.ops = append(m.ops, o)
	id := o.id
	lands, _ := m.route(o.step, None)
	switch {
	case lands == Forever || m.isCut(o.client, None):
		m.noAnswer(id)
	case lands > m.cur.Tick:
		m.event(Event{Verb: o.verb, Outcome: Sent, Client: o.client, Step: o.step, Line: o.line, Sent: m.cur.Tick, Heard: Forever,
			Token: m.clients[o.client].token, Index: o.index})
		m.push(item{tick: lands, line: o.line, server: None, client: None, kind: itemLand, a: id})
	default:
		m.landResource(id)
	}
}

// landResource lets the resource act, and sends its answer back.
func (m *Machine) landResource(id int32) {
	o := &m.ops[id]
	_, heard := m.routeAt(o, None)
	if m.isCut(o.client, None) {
		heard = Forever
	}
	if o.verb == Read {
		r := &m.rec.Reads[o.index]
		r.Applied, r.Value, r.Version = m.cur, m.resource.value, m.resource.version
		if m.p.Settings.FenceAt >= FenceAtRead {
			m.resource.highest = max(m.resource.highest, r.Token)
		}
	} else {
		m.decideWrite(o)
	}
	switch {
	case heard == Forever:
		m.noAnswer(id)
	case heard <= m.cur.Tick && !m.absent(o.client):
		m.hearResource(id)
	default:
		m.push(item{tick: max(heard, m.cur.Tick), line: o.line, server: None, client: o.client, kind: itemReply, a: id, b: None})
	}
}

// noAnswer tells the client, when it next runs, that nothing will be heard.
func (m *Machine) noAnswer(id int32) {
	o := &m.ops[id]
	if m.clients[o.client].crashed {
		return
	}
	if m.absent(o.client) {
		m.push(item{tick: m.cur.Tick, line: o.line, server: None, client: o.client, kind: itemReply, a: id, b: silence})
		return
	}
	o.decided, o.outcome = true, Unheard
	m.event(Event{Verb: o.verb, Outcome: Unheard, Client: o.client, Step: o.step, Line: o.line, Sent: o.sent.Tick, Heard: Forever,
		Token: m.clients[o.client].token, Index: o.index})
	m.outcome(o.step, Unheard)
}

// silence marks a reply item that carries the news that there is none.
const silence int32 = -2

// decideWrite is the resource's decision on a write: the token check first, then the guards.
func (m *Machine) decideWrite(o *op) {
	w := &m.rec.Writes[o.index]
	s := &m.p.Steps[o.step]
	r := &m.resource
	w.Applied, w.Highest = m.cur, r.highest
	w.Reason = m.refuse(o, s, w)
	w.Accepted = w.Reason == ReasonNone
	out := Rejected
	if w.Accepted {
		out = Accepted
		r.version++
		r.value = w.Value
		r.highest = max(r.highest, w.Token)
		r.accepted = max(r.accepted, w.Token)
		w.Version = r.version
	}
	o.outcome = out
	m.event(Event{Verb: o.verb, Outcome: out, Client: o.client, Step: o.step, Line: o.line, Sent: o.sent.Tick, Heard: Forever,
		Token: w.Token, Index: o.index, Reason: w.Reason})
	o.event = int32(len(m.rec.Events) - 1)
}

func (m *Machine) refuse(o *op, s *Step, w *WriteOp) Reason {
	r := &m.resource
	fencing := m.p.Settings.Fencing
	if fencing != FencingOff && w.Token < r.highest {
		return ReasonStale
	}
	if fencing == FencingStrict && w.Token <= r.accepted {
		return ReasonStrict
	}
	if s.Guards&GuardVersion != 0 && w.Base != r.version {
		return ReasonVersion
	}
	if s.Guards&GuardLock != 0 && !m.holds(o) {
		return ReasonLock
	}
	if s.Guards&GuardBefore != 0 {
		before := s.Before
		if s.BeforePlus {
			before += o.sent.Tick
		}
		if m.cur.Tick >= before {
			return ReasonBefore
		}
	}
	return ReasonNone
}

// holds asks the lock, in the same step, whether the writer's owner holds it: leases that live by the servers' own
// clocks on a quorum of servers that are up.
func (m *Machine) holds(o *op) bool {
	n := 0
	for sv := range m.servers {
		m.settle(int32(sv))
		if s := &m.servers[sv]; s.crash == None && s.live && s.owner == o.owner {
			n++
		}
	}
	return n >= m.p.Settings.Quorum
}

// hearResource is the client hearing the resource's answer: an accepted write renews its copy, a refusal by the fence or
// by guard lock tells it that it no longer holds the lock.
func (m *Machine) hearResource(id int32) {
	o := &m.ops[id]
	c := &m.clients[o.client]
	o.decided = true
	if o.verb == Read {
		r := &m.rec.Reads[o.index]
		r.Heard = m.cur.Tick
		c.copied, c.version = r.Value, r.Version
		o.outcome = HeardRead
		m.event(Event{Verb: Read, Outcome: HeardRead, Client: o.client, Step: o.step, Line: o.line, Sent: o.sent.Tick,
			Heard: m.cur.Tick, Token: r.Token, Index: o.index})
		m.outcome(o.step, HeardRead)
		return
	}
	w := &m.rec.Writes[o.index]
	w.Heard = m.cur.Tick
	m.rec.Events[o.event].Heard = m.cur.Tick
	if w.Accepted {
		c.copied, c.version = w.Value, w.Version
	} else if w.Reason == ReasonStale || w.Reason == ReasonStrict || w.Reason == ReasonLock {
		m.disbelieve(o.client, ByRefusal)
	}
	m.outcome(o.step, o.outcome)
}
