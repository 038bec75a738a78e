package engine

// hole is a number that the adversary decides late: the values before first are ruled out; once decided, first is it.
type hole struct {
	first   int32
	decided bool
}

// ForkKind is what stands open before the next piece of work.
type ForkKind uint8

// The kinds of forks.
const (
	ForkDone  ForkKind = iota // nothing is left to do
	ForkStep                  // one piece of work, no choice
	ForkHole                  // 0: the hole's first open value is it, 1: it is a later one
	ForkOrder                 // who of several actors goes first in this tick; 0 is the one whose line comes first
)

// Fork is what stands open, with the number of its branches and what it is about.
type Fork struct {
	Kind   ForkKind
	N      int
	Hole   int32 // ForkHole: which
	First  int32 // ForkHole: the index of the hole's first open value
	Tick   Tick
	Orders int32 // ForkStep: how many orders of its tick this one stands for, beyond others' choices; 0 or 1 for one
}

// Begin lays out a program's world without running it; Look and Take then walk one schedule of the family. Values are
// shared by all states that the machine restores until it begins another program.
func (m *Machine) Begin(p *Program, rec *Record) {
	m.forking, m.slots = true, m.slots[:0]
	m.heirs.reset()
	m.slack = m.slack[:0]
	m.start(p, rec)
	m.masks = subtreeHoles(p, m.masks)
	m.uses = usesOf(p)
	m.prompt = promptSteps(p, m.prompt)
	m.findAlike()
	m.Marks, m.BeliefsAside = [2]int64{}, false
}

// Again goes back to the beginning of the program that Begin laid out; values keep their indices.
func (m *Machine) Again() {
	values, lengths := m.rec.Values, m.lengths
	m.forking = false // the first value is made anew, and is the first one again
	m.start(m.p, m.rec)
	m.forking, m.rec.Values, m.lengths = true, values, lengths
	m.slack, m.Marks, m.BeliefsAside = m.slack[:0], [2]int64{}, false
}

// BeginWhole lays out a program's world for a walk of one whole member: Look and Take as after Begin, but without
// snapshots, with a complete record, and with every order of a tick left to the caller.
func (m *Machine) BeginWhole(p *Program, rec *Record) {
	m.forking = false
	m.slack = m.slack[:0]
	m.start(p, rec)
}

// Look says what stands open now. It does the work that is no choice of anybody's: what a pause holds up, what a crashed
// client would have done.
func (m *Machine) Look() Fork {
	if m.rec.Limit != NoLimit {
		return Fork{}
	}
again:
	for {
		if len(m.queue) == 0 {
			return Fork{}
		}
		now := m.queue[0].tick
		held, due := -1, -1
		for i := range m.queue {
			it := &m.queue[i]
			if it.tick != now {
				continue
			}
			gone := m.gone(it)
			if gone && m.forking {
				// A snapshot leaves it out, and with it or without it the machine has to say the same.
				m.remove(i)
				continue again
			}
			if !gone && it.hole != 0 {
				if due < 0 || it.before(&m.queue[due]) {
					due = i
				}
				continue
			}
			if m.idle(it) && (held < 0 || it.before(&m.queue[held])) && m.firstOfActor(it) {
				held = i
			}
		}
		if due >= 0 {
			it := &m.queue[due]
			h := m.holes[it.hole-1]
			n := 2
			if h.first == m.p.Holes[it.hole-1].N-1 {
				n = 1
			}
			return Fork{Kind: ForkHole, N: n, Hole: it.hole - 1, First: h.first, Tick: now}
		}
		if held < 0 {
			break
		}
		m.do(m.remove(held))
	}
	m.gather()
	first := &m.queue[m.ready[0]]
	if n := int32(len(m.ready)); n > 1 {
		if m.forking && m.standsAlone(first.tick) {
			return Fork{Kind: ForkStep, N: 1, Tick: first.tick, Orders: n}
		}
		return Fork{Kind: ForkOrder, N: len(m.ready), Tick: first.tick}
	}
	return Fork{Kind: ForkStep, N: 1, Tick: first.tick}
}

// firstOfActor tells whether an item is the first of its tick: of its actor's, if ties are open, since one actor's own order
// stays; else of all.
func (m *Machine) firstOfActor(it *item) bool {
	if !m.p.Ties {
		return !m.queue[0].before(it)
	}
	actor := m.actor(it)
	for i := range m.queue {
		o := &m.queue[i]
		if o.tick == it.tick && o.before(it) && m.actor(o) == actor {
			return false
		}
	}
	return true
}

// gone tells whether an item is no work any more: its client is gone, or its watchdog was replaced or stopped.
func (m *Machine) gone(it *item) bool {
	return it.client != None && (m.clients[it.client].crashed || it.kind == itemRenew && !m.watching(it))
}

// idle tells whether an item is no work: its client is gone or paused, or its watchdog was replaced.
func (m *Machine) idle(it *item) bool {
	if it.client == None {
		return false
	}
	if m.gone(it) {
		return true
	}
	c := &m.clients[it.client]
	return c.pausedUntil > it.tick && !(it.kind == itemStep && m.p.Steps[it.a].Verb == Crash)
}

// gather finds, for each actor that has work at the first tick, its first piece; in the order of the law.
func (m *Machine) gather() {
	m.ready = m.ready[:0]
	now := m.queue[0].tick
	if !m.p.Ties {
		m.ready = append(m.ready, 0)
		return
	}
	for i := range m.queue {
		it := &m.queue[i]
		if it.tick != now {
			continue
		}
		at := len(m.ready)
		actor := m.actor(it)
		known := false
		for k, r := range m.ready {
			if m.actor(&m.queue[r]) == actor {
				known = true
				if it.before(&m.queue[r]) {
					m.ready[k] = int32(i)
				}
				break
			}
		}
		if !known {
			m.ready = append(m.ready[:at], int32(i))
		}
	}
	for i := 1; i < len(m.ready); i++ {
		for k := i; k > 0 && m.queue[m.ready[k]].before(&m.queue[m.ready[k-1]]); k-- {
			m.ready[k], m.ready[k-1] = m.ready[k-1], m.ready[k]
		}
	}
}

// actor tells whose work an item is: polls and deliveries belong to their sender, a line of several servers to the first
// of them, cuts and clock faults of clients to the network.
func (m *Machine) actor(it *item) int32 {
	if it.client != None {
		return it.client
	}
	clients := int32(len(m.clients))
	if it.kind == itemLand {
		return m.ops[it.a].client
	}
	s := &m.p.Steps[it.a]
	switch s.Verb {
	case ResourceForget:
		return clients
	case Cut, Heal, ClientClock:
		return clients + 1
	}
	if s.Servers.Len() == 0 {
		return clients + 2
	}
	return clients + 2 + m.p.ServerIDs[s.Servers.Lo]
}

// Take goes on with a branch of what Look just said.
func (m *Machine) Take(o Fork, branch int) {
	switch o.Kind {
	case ForkHole:
		m.takeHole(o.Hole, branch)
	case ForkOrder:
		m.work++
		m.do(m.remove(int(m.ready[branch])))
	default:
		if o.Orders > 1 {
			m.slack = append(m.slack, o.Orders)
		}
		m.work++
		m.do(m.remove(int(m.ready[0])))
	}
	if m.work > MaxWork {
		m.rec.Limit = LimitEvents
	}
}

// takeHole decides a hole, or rules its first open value out and moves what waits for it to the next one.
func (m *Machine) takeHole(h int32, branch int) {
	hole := &m.holes[h]
	if branch == 0 {
		hole.decided = true
		for i := range m.queue {
			if m.queue[i].hole == h+1 {
				m.queue[i].hole = 0
			}
		}
		return
	}
	hole.first++
	by := m.p.Holes[h].By
	for i := range m.queue {
		if m.queue[i].hole == h+1 {
			m.queue[i].tick += by
		}
	}
	m.heapify()
}

func (m *Machine) heapify() {
	q := m.queue
	for n := 1; n < len(q); n++ {
		for i := n; i > 0 && q[i].before(&q[(i-1)/2]); i = (i - 1) / 2 {
			q[i], q[(i-1)/2] = q[(i-1)/2], q[i]
		}
	}
}

// Slack gives, by factors, how many members the walk since the last call stands for beyond one: orders of a tick that come
// to the same. At the end of a schedule the open values of the holes that were never decided are among them.
func (m *Machine) Slack(factors []int32, done bool) []int32 {
	factors = append(factors, m.slack...)
	m.slack = m.slack[:0]
	if done {
		for i, h := range m.holes {
			if !h.decided {
				factors = append(factors, m.p.Holes[i].N-h.first)
			}
		}
	}
	return factors
}

// NextLine is the source line of the piece that branch 0 of a ForkStep, or the given branch of a ForkOrder, would do.
func (m *Machine) NextLine(branch int) int32 {
	it := &m.queue[m.ready[branch]]
	if it.client == None {
		if it.kind == itemLand {
			return m.ops[it.a].line
		}
		return m.p.Steps[it.a].Line
	}
	return m.lineOf(it)
}

// Free tells whether a server would not refuse a client that asks for a ttl at a tick before which nothing happens any more;
// Forever is the end of time.
func (m *Machine) Free(client, server int32, ttl, at Tick) bool {
	s, c := &m.servers[server], &m.clients[client]
	if at != Forever {
		m.cur.Tick = max(m.cur.Tick, at)
	}
	m.settle(server)
	switch {
	case s.crash != None:
		return false
	case !s.held:
		return true
	}
	clock, end, over := s.clock.finally(at), s.ended, !s.live
	switch {
	case m.p.Settings.Judge == JudgeCaller:
		clock, end = c.clock.finally(at), s.stamp
		over = clock >= end
	case m.p.Settings.Judge == JudgeCallerTTL:
		end = plus(s.lastVote, m.ttl(ttl))
		over = clock >= end
	case s.live && at == Forever && s.due != Forever:
		end, over = s.stamp, true
	}
	if end == Forever || !over {
		return m.p.Settings.Reentrant && s.owner == c.owner
	}
	return clock >= plus(end, m.p.Settings.LockDelay)
}

// End closes the record of a schedule that was walked to its end.
func (m *Machine) End() { m.finish() }

// SetHorizon replaces the program's horizon.
func (m *Machine) SetHorizon(t Tick) { m.horizon = t }

// heirs gives equal values equal indices: it lists the values that follow each one, which are few.
type heirs struct {
	first []int32 // by value: the last one made that follows it, 0 for none, else plus 1
	next  []int32 // by value: the one made before that follows the same, likewise
	roots []int32 // like first, for what follows no value (None) and the slots' own names (below None)
}

func (h *heirs) reset() { h.first, h.next, h.roots = h.first[:0], h.next[:0], h.roots[:0] }

// after gives where the list of those that follow a value begins.
func (h *heirs) after(prev int32) *int32 {
	if prev >= 0 {
		return &h.first[prev]
	}
	for len(h.roots) <= int(None-prev) {
		h.roots = append(h.roots, 0)
	}
	return &h.roots[None-prev]
}

func (m *Machine) sharedValue(prev int32, text string) int32 {
	list := m.heirs.after(prev)
	for v := *list - 1; v >= 0; v = m.heirs.next[v] - 1 {
		if m.rec.Values[v].Text == text {
			return v
		}
	}
	length := len(text)
	if prev >= 0 {
		length += int(m.lengths[prev])
	}
	if m.bytes += length; m.bytes > MaxValueBytes {
		m.rec.Limit = LimitValue
	}
	m.rec.Values = append(m.rec.Values, ValueNode{prev, text})
	m.lengths = append(m.lengths, int32(min(length, MaxValueBytes)))
	v := int32(len(m.rec.Values) - 1)
	m.heirs.first, m.heirs.next = append(m.heirs.first, 0), append(m.heirs.next, *list)
	*m.heirs.after(prev) = v + 1 // the list may have moved
	return v
}

// subtreeHoles gives, for each step, the set of holes that it or a step of its blocks waits for, as bits.
func subtreeHoles(p *Program, masks []uint64) []uint64 {
	masks = resize(masks, len(p.Steps))
	var of func(i int32) uint64
	of = func(i int32) uint64 {
		s := &p.Steps[i]
		var set uint64
		if s.Hole != 0 {
			set = 1 << (s.Hole - 1)
		}
		for b := s.Blocks.Lo; b < s.Blocks.Hi; b++ {
			for c := p.Blocks[b].Steps.Lo; c < p.Blocks[b].Steps.Hi; c++ {
				set |= of(c)
			}
		}
		masks[i] = set
		return set
	}
	for _, r := range p.Roots {
		of(r)
	}
	return masks
}

// uses says which parts of a state a program looks at, so that snapshots leave out the others.
type uses struct {
	time      bool // an absolute tick that is not in the queue from the start: then the time itself is part of a state
	counters  bool // tokens come from several counters, or from one that a wiped server starts again: distances matter
	valid     bool // "if valid" looks at the client's own reckoning
	clocks    bool // a clock may be set back
	callerTTL bool // judge caller-ttl asks for the client's last ttl
	ownLease  bool // a client's lease is its own: the servers' clocks judge, owners are checked and have one client each
}

func usesOf(p *Program) uses {
	u := uses{
		counters:  p.Settings.Tokens == TokensCounters && p.Settings.Servers > 1,
		callerTTL: p.Settings.Judge == JudgeCallerTTL,
		ownLease:  p.Settings.Judge == JudgeServer && p.Settings.OwnerCheck,
	}
	for i := range p.Messages {
		if m := &p.Messages[i]; !m.Lost && !m.Plus {
			u.time = true
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		u.valid = u.valid || s.If == CondValid
		u.ownLease = u.ownLease && (s.Verb != Acquire || s.Owner == s.Client)
		u.clocks = u.clocks || s.Verb == ClientClock || s.Verb == ServerClock
		u.counters = u.counters || s.Verb == ServerRestart && s.Restart == RestartWiped && p.Settings.Tokens == TokensCounters
		u.time = u.time || s.Repeat == Every ||
			s.Verb == Acquire && s.Retry > 0 && s.RetryUntil != Forever && !s.RetryPlus ||
			s.Guards&GuardBefore != 0 && !s.BeforePlus ||
			s.Verb == Pause && s.PauseFor < 0 && !s.UntilPlus
	}
	u.ownLease = u.ownLease && !u.clocks
	return u
}

// Holds tells whether a client's leases live, by the servers' own clocks, on a quorum of servers that are up. It is for
// searches, of at most 64 clients; a finished run is judged from its record.
func (m *Machine) Holds(client int32) bool {
	n := 0
	for sv := range m.servers {
		m.settle(int32(sv))
		if s := &m.servers[sv]; s.crash == None && s.live && s.voters&(1<<client) != 0 {
			n++
		}
	}
	return n >= m.p.Settings.Quorum
}

// Final is the resource's value, as an index that Rebase understands.
func (m *Machine) Final() int32 { return m.resource.value }

// Crashed tells whether a client is gone.
func (m *Machine) Crashed(client int32) bool { return m.clients[client].crashed }

// Now is the moment of the last piece of work.
func (m *Machine) Now() Moment { return m.cur }
