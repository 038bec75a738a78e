package engine

// never marks a client that has no lease by its own reckoning.
const never Tick = -1 << 62

// client is what a client knows and is.
type client struct {
	clock       clock
	pausedUntil Tick
	deferTo     Tick // the pause's end that deferLine belongs to
	deferLine   int32
	crashed     bool
	checked     bool // its last check said yes
	copied      int32
	version     int64
	token       int64
	owner       int32
	ttl         Tick // of its last acquire or renew
	validUntil  Tick // on its own clock; never without a grant
	belief      int32
	watchdog    int32 // the generation of the renewals under way, 0 for none
	dogs        int32 // generations given out
	lossTold    bool  // the watchdog's "when lost" ran
	waits       bool  // the horizon ended its asking: whether it could ever have the lock depends on its clock and owner id
}

// trial is an acquire with its retries.
type trial struct {
	step   int32
	until  Tick
	record int32
}

func (m *Machine) pause(i int32) {
	s := &m.p.Steps[i]
	end := s.PauseUntil
	switch {
	case s.PauseFor >= 0:
		end = m.cur.Tick + s.PauseFor
	case s.UntilPlus:
		end += m.cur.Tick
	}
	m.rec.Pauses = append(m.rec.Pauses, PauseOp{Client: s.Client, Start: m.cur, End: max(end, m.cur.Tick), Line: s.Line})
	m.clients[s.Client].pausedUntil = end
	m.simple(i, int32(len(m.rec.Pauses)-1))
}

func (m *Machine) crashClient(i int32) {
	s := &m.p.Steps[i]
	c := &m.clients[s.Client]
	if n := len(m.rec.Pauses); c.pausedUntil > m.cur.Tick {
		for p := n - 1; p >= 0; p-- {
			if pause := &m.rec.Pauses[p]; pause.Client == s.Client {
				pause.End = m.cur.Tick
				break
			}
		}
	}
	m.disbelieve(s.Client, ByCrash)
	c.crashed, c.watchdog = true, 0
	for t := range m.rec.Trials {
		if tr := &m.rec.Trials[t]; tr.Client == s.Client && tr.End == TrialOpen {
			tr.End, tr.Ended = TrialCrash, m.cur
		}
	}
	m.simple(i, m.fault(Fault{Kind: FaultClientCrash, Client: s.Client, Server: None, End: Never(), Line: s.Line}))
}

// believe starts a stretch of belief, unless the client believes already.
func (m *Machine) believe(client, line int32) {
	c := &m.clients[client]
	if c.belief != None {
		return
	}
	m.rec.Beliefs = append(m.rec.Beliefs, Belief{Client: client, Start: m.cur, End: Never(), Line: line})
	c.belief = int32(len(m.rec.Beliefs) - 1)
}

// disbelieve ends a belief. What the client knows to be lost is not valid by its own clock either.
func (m *Machine) disbelieve(client int32, why Ending) {
	c := &m.clients[client]
	c.validUntil = never
	if c.belief == None {
		return
	}
	b := &m.rec.Beliefs[c.belief]
	b.End, b.Ended = m.cur, why
	c.belief = None
}

// acquire begins a trial: the first attempt of an acquire.
func (m *Machine) acquire(i int32) {
	s := &m.p.Steps[i]
	until := s.RetryUntil
	if s.RetryPlus {
		until = plus(until, m.cur.Tick)
	}
	m.rec.Trials = append(m.rec.Trials, Trial{
		Client: s.Client, Step: i, Line: s.Line, First: m.cur.Tick, Ended: Never(), Retry: s.Retry > 0,
	})
	m.trials = append(m.trials, trial{step: i, until: until, record: int32(len(m.rec.Trials) - 1)})
	c := &m.clients[s.Client]
	c.owner = s.Owner
	m.poll(int32(len(m.trials) - 1))
}

// poll makes one attempt of a trial.
func (m *Machine) poll(t int32) {
	tr := &m.trials[t]
	s := &m.p.Steps[tr.step]
	rt := &m.rec.Trials[tr.record]
	// A pause can carry a poll past the end of the retrying.
	if ended := m.retryEnd(tr, m.cur.Tick); ended != TrialOpen && rt.Polls > 0 {
		m.clients[s.Client].waits = m.clients[s.Client].waits || ended == TrialHorizon
		rt.End, rt.Ended = ended, m.cur
		m.event(Event{Verb: Acquire, Outcome: Denied, Client: s.Client, Step: tr.step, Line: s.Line,
			Sent: m.cur.Tick, Heard: m.cur.Tick, Index: None})
		m.outcome(tr.step, Denied)
		return
	}
	rt.Polls++
	rt.Last = m.cur.Tick
	m.rec.Attempts = append(m.rec.Attempts, Attempt{
		Client: s.Client, Step: tr.step, Trial: tr.record, Line: s.Line, Sent: m.cur, Decided: Never(), Cast: Never(),
	})
	m.clients[s.Client].ttl = s.TTL
	m.ask(op{verb: Acquire, step: tr.step, trial: t, attempt: int32(len(m.rec.Attempts) - 1), ttl: s.TTL, on: s.Servers})
}

// retryEnd says what keeps a trial from asking again at a tick; TrialOpen if nothing does.
func (m *Machine) retryEnd(tr *trial, at Tick) TrialEnd {
	switch {
	case at > tr.until:
		return TrialUntil
	case at > m.horizon:
		return TrialHorizon
	}
	return TrialOpen
}

// denied ends an attempt, and goes on with the trial or ends it.
func (m *Machine) denied(o *op) {
	a := &m.rec.Attempts[o.attempt]
	a.Decided, o.outcome = m.cur, Denied
	m.handBack(o)
	tr := &m.trials[o.trial]
	rt := &m.rec.Trials[tr.record]
	s := &m.p.Steps[o.step]
	next := m.cur.Tick + s.Retry
	if s.Retry == 0 {
		rt.End = TrialDenied
	} else {
		rt.End = m.retryEnd(tr, next)
		m.clients[s.Client].waits = m.clients[s.Client].waits || rt.End == TrialHorizon
	}
	if rt.End == TrialOpen {
		o.outcome = Waiting
		m.push(item{tick: next, line: s.Line, server: None, client: o.client, kind: itemPoll, a: o.trial})
	}
	a.Outcome = o.outcome
	m.settled(o)
	if o.outcome == Denied {
		rt.Ended = m.cur
		m.outcome(o.step, Denied)
	}
}

// granted ends an attempt well: its client takes the highest token heard and believes from here on.
func (m *Machine) granted(o *op) {
	a := &m.rec.Attempts[o.attempt]
	s := &m.p.Steps[o.step]
	c := &m.clients[o.client]
	o.outcome = Granted
	a.Decided, a.Outcome, a.Token = m.cur, Granted, o.token
	rt := &m.rec.Trials[m.trials[o.trial].record]
	rt.End, rt.Ended = TrialGranted, m.cur
	m.rec.Grants = append(m.rec.Grants, Grant{
		Client: o.client, Attempt: o.attempt, Token: o.token, Cast: a.Cast, Heard: m.cur, Again: a.Again, Line: o.line,
	})
	o.grant = int32(len(m.rec.Grants) - 1)
	c.token = o.token
	m.fenceGrant(o.token)
	c.validUntil = plus(o.sentClock, m.ttl(o.ttl))
	m.believe(o.client, o.line)
	if s.Watchdog > 0 {
		c.dogs++
		c.watchdog, c.lossTold = c.dogs, false
		m.pushRenewal(o.step, o.client, c.watchdog, m.cur.Tick+s.Watchdog)
	}
	m.settled(o)
	m.outcome(o.step, Granted)
}

func (m *Machine) pushRenewal(step, client, dog int32, at Tick) {
	if at <= m.horizon {
		m.push(item{tick: at, line: m.p.Steps[step].Line, server: None, client: client, kind: itemRenew, a: step, b: dog})
	}
}

func (m *Machine) watching(it *item) bool { return m.clients[it.client].watchdog == it.b }

func (m *Machine) rewatch(it *item) {
	m.pushRenewal(it.a, it.client, it.b, it.tick+m.p.Steps[it.a].Watchdog)
}

// watch makes a watchdog's renewal, which goes on whatever comes of it.
func (m *Machine) watch(it *item) {
	if !m.watching(it) {
		return
	}
	m.rewatch(it)
	m.renew(it.a, m.p.Steps[it.a].TTL, true)
}

func (m *Machine) renew(i int32, ttl Tick, background bool) {
	s := &m.p.Steps[i]
	m.clients[s.Client].ttl = ttl
	m.ask(op{verb: Renew, step: i, ttl: ttl, background: background, recreate: s.Recreate})
}

// release lets go at the send: the client stops believing and relies on nothing, whether or not a server hears of it.
func (m *Machine) release(i int32) {
	s := &m.p.Steps[i]
	c := &m.clients[s.Client]
	m.disbelieve(s.Client, ByRelease)
	c.watchdog = 0
	for sv := range m.servers {
		m.cutPromises(s.Client, int32(sv))
	}
	m.ask(op{verb: Release, step: i})
}

// ttl is a duration as the settings let it count.
func (m *Machine) ttl(n Tick) Tick {
	if !m.p.Settings.Leases {
		return Forever
	}
	return n
}
