package engine

import "slices"

// Machine runs one program at a time. It keeps its memory from run to run, so that the cells of a sweep allocate nothing
// once it is warm. Use it from one goroutine.
type Machine struct {
	p   *Program
	rec *Record

	cur      Moment // the piece of work being done
	seq      int32
	age      int32
	work     int
	requests int
	bytes    int

	queue   []item
	servers []server
	clients []client
	ops     []op
	answers []answer
	trials  []trial
	// held is, for each client and server, the newest promise that may still run, by client*servers+server; chain leads
	// from a promise to the one before it.
	held  []int32
	chain []int32
	// cuts marks which client is cut off from which server, by client*(servers+1)+server; the last column is the
	// resource. The number is the fault's index plus one.
	cuts []int32

	horizon Tick
	holes   []hole
	masks   []uint64 // by step: the holes of its subtree
	uses    uses
	prompt  []bool  // by step: it takes no time and nothing follows it in its tick
	ready   []int32 // what Look found
	touch   []touch // what each of them touches
	slack   []int32
	live    liveSet
	alike   alike
	// Marks are tokens that are kept an eye on while forking; snapshots carry them, since they may renumber tokens.
	Marks      [2]int64
	pasts      []past
	casts      int64 // quorums cast
	settledOps int   // so many operations have nothing more to settle
	// BeliefsAside says that the caller of a fork no longer asks who believes what; snapshots carry it and leave beliefs out.
	BeliefsAside bool

	resource resource
	ordered  int64 // tokens ordered: the last number given
	forking  bool  // equal values have equal indices in every state
	heirs    heirs
	slots    []int32 // the values that stand for a snapshot's slots
	lengths  []int32
}

// What Marks are: the highest token granted, which Settle keeps, and that of an accepted write, which is the caller's.
const (
	MarkGranted = iota
	MarkAccepted
)

// NewMachine makes a machine without a program.
func NewMachine() *Machine { return &Machine{} }

// Run runs a program from start to end and gives its record.
func Run(p *Program) *Record {
	rec := &Record{}
	NewMachine().Run(p, rec)
	return rec
}

// Run runs a program from start to end and refills rec, whose earlier content is lost. The program must not change as long
// as the record is in use.
func (m *Machine) Run(p *Program, rec *Record) {
	m.forking = false
	m.start(p, rec)
	for m.rec.Limit == NoLimit && m.step() {
	}
	m.finish()
}

// start lays out a fresh world and queues every line that is scheduled by itself.
func (m *Machine) start(p *Program, rec *Record) {
	rec.reset(p)
	m.p, m.rec = p, rec
	m.cur, m.seq, m.age, m.work, m.requests, m.bytes, m.ordered = Moment{}, 0, 0, 0, 0, 0, 0
	m.pasts, m.casts, m.settledOps = m.pasts[:0], 0, 0
	m.queue, m.ops, m.answers, m.trials, m.chain = m.queue[:0], m.ops[:0], m.answers[:0], m.trials[:0], m.chain[:0]

	m.servers = resize(m.servers, p.Settings.Servers)
	for i := range m.servers {
		m.servers[i] = server{lease: None, owner: None, crash: None, op: None}
	}
	m.lengths = m.lengths[:0]
	initial := m.value(None, p.Settings.Initial)
	m.clients = resize(m.clients, len(p.Clients))
	rec.Tokens = resize(rec.Tokens, len(p.Clients))
	for i := range m.clients {
		m.clients[i] = client{copied: initial, owner: int32(i), validUntil: never, belief: None}
		rec.Tokens[i] = 0
	}
	m.resource = resource{value: initial, accepted: -1}
	m.held = resize(m.held, len(p.Clients)*p.Settings.Servers)
	for i := range m.held {
		m.held[i] = None
	}
	m.cuts = resize(m.cuts, len(p.Clients)*(p.Settings.Servers+1))
	clear(m.cuts)

	m.horizon = p.Settings.Horizon
	m.holes = resize(m.holes, len(p.Holes))
	clear(m.holes)
	for _, i := range p.Roots {
		s := &p.Steps[i]
		it := item{tick: s.At, line: s.Line, server: None, client: s.Client, a: i, hole: s.Hole}
		if s.Repeat == Every {
			if s.At > s.Last {
				continue
			}
			it.kind = itemEvery
		}
		if s.Verb == Cut || s.Verb == Heal || s.Verb == ClientClock {
			it.client = None // it befalls the client: no pause holds it up
		}
		m.push(it)
	}
}

// step does the first piece of work that is due, and tells whether there was one.
func (m *Machine) step() bool {
	if len(m.queue) == 0 {
		return false
	}
	m.work++
	if m.work > MaxWork {
		m.rec.Limit = LimitEvents
		return false
	}
	m.do(m.pop())
	return true
}

// do does one piece of work, as a moment of its own.
func (m *Machine) do(it item) {
	m.seq++
	m.cur = Moment{it.tick, m.seq}
	if it.client != None && m.heldUp(&it) {
		return
	}
	m.rec.Last = it.tick
	switch it.kind {
	case itemStep:
		m.execute(it.a)
	case itemEvery:
		m.again(&it)
		m.execute(it.a)
	case itemPoll:
		m.poll(it.a)
	case itemRenew:
		m.watch(&it)
	case itemLand:
		m.land(it.a, it.server)
	case itemReply:
		m.hear(it.a, it.b)
		m.drain(it.a)
		m.decide(it.a)
	case itemSilent:
		m.decide(it.a)
	}
}

// heldUp deals with a client's work when the client is gone or paused, and tells whether it did.
func (m *Machine) heldUp(it *item) bool {
	c := &m.clients[it.client]
	if c.crashed {
		return true
	}
	if c.pausedUntil <= m.cur.Tick {
		return false
	}
	switch {
	case it.kind == itemStep && m.p.Steps[it.a].Verb == Crash:
		return false
	case it.kind == itemEvery:
		m.again(it)
		return true
	case it.kind == itemRenew:
		if m.watching(it) {
			m.rewatch(it)
		}
		return true
	}
	// What a pause holds up is taken at its end in the order in which it came due: a later piece never stands before an
	// earlier one, whatever their lines.
	if c.deferTo != c.pausedUntil {
		c.deferTo, c.deferLine = c.pausedUntil, 0
	}
	c.deferLine = max(c.deferLine, m.lineOf(it))
	put := *it
	put.tick, put.line, put.server = c.pausedUntil, c.deferLine, None
	m.push(put)
	return true
}

// lineOf gives the source line of a client's piece of work; an item that was put off before may stand at another one.
func (m *Machine) lineOf(it *item) int32 {
	switch it.kind {
	case itemPoll:
		return m.p.Steps[m.trials[it.a].step].Line
	case itemReply, itemSilent:
		return m.ops[it.a].line
	}
	return m.p.Steps[it.a].Line
}

// again queues the next firing of an every line.
func (m *Machine) again(it *item) {
	s := &m.p.Steps[it.a]
	if next := it.tick + s.K; next <= s.Last {
		put := *it
		put.tick = next
		m.push(put)
	}
}

// finish closes what still runs when nothing is left to do: time goes on, so leases end when their servers' clocks say.
func (m *Machine) finish() {
	for i := range m.servers {
		s := &m.servers[i]
		if !s.live {
			continue
		}
		if s.due == Forever {
			m.rec.Leases[s.lease].End, m.rec.Leases[s.lease].Ended = Never(), Open
			continue
		}
		m.rec.Leases[s.lease].End, m.rec.Leases[s.lease].Ended = Moment{s.due, 0}, RanOut
	}
	for i := range m.clients {
		m.rec.Tokens[i] = m.clients[i].token
	}
	m.rec.Final = m.resource.value
}

// event appends a line of the record.
func (m *Machine) event(e Event) {
	e.At = m.cur
	m.rec.Events = append(m.rec.Events, e)
}

// outcome queues the blocks that wait for a step's outcome.
func (m *Machine) outcome(step int32, o Outcome) {
	s := &m.p.Steps[step]
	for b := s.Blocks.Lo; b < s.Blocks.Hi; b++ {
		blk := &m.p.Blocks[b]
		if blk.On&(1<<o) == 0 {
			continue
		}
		for i := blk.Steps.Lo; i < blk.Steps.Hi; i++ {
			n := &m.p.Steps[i]
			it := item{tick: m.cur.Tick + n.At, line: n.Line, server: None, client: n.Client, a: i}
			if n.Hole != 0 {
				h := &m.holes[n.Hole-1]
				it.tick += Tick(h.first) * m.p.Holes[n.Hole-1].By
				if !h.decided {
					it.hole = n.Hole
				}
			}
			m.push(it)
		}
	}
}

// execute does a step whose turn has come.
func (m *Machine) execute(i int32) {
	s := &m.p.Steps[i]
	switch s.Verb {
	case Acquire:
		m.acquire(i)
	case Renew:
		m.renew(i, s.TTL, false)
	case Release:
		m.release(i)
	case Check:
		m.ask(op{verb: Check, step: i})
	case Read:
		m.read(i)
	case Append, Write:
		m.write(i)
	case Notice:
		m.disbelieve(s.Client, ByNotice)
		m.simple(i, None)
	case Pause:
		m.pause(i)
	case Crash:
		m.crashClient(i)
	case WatchdogStop:
		m.clients[s.Client].watchdog = 0
		m.simple(i, None)
	case ClientClock:
		m.clockFault(i, &m.clients[s.Client].clock, None)
	case ServerCrash, ServerRestart, ServerClock, ServerRevoke:
		m.serverVerb(i)
	case ResourceForget:
		m.resource.highest, m.resource.accepted = 0, -1
		m.simple(i, m.fault(Fault{Kind: FaultForget, Client: None, Server: None, Line: s.Line}))
	case Cut:
		m.cut(i)
	case Heal:
		m.heal(i)
	}
}

// simple records a step that just happens.
func (m *Machine) simple(step, index int32) {
	s := &m.p.Steps[step]
	m.event(Event{Verb: s.Verb, Client: s.Client, Step: step, Line: s.Line, Sent: m.cur.Tick, Heard: m.cur.Tick, Index: index})
}

func (m *Machine) fault(f Fault) int32 {
	f.Start = m.cur
	if f.End == (Moment{}) {
		f.End = m.cur
	}
	m.rec.Faults = append(m.rec.Faults, f)
	return int32(len(m.rec.Faults) - 1)
}

func (m *Machine) clockFault(step int32, c *clock, server int32) {
	s := &m.p.Steps[step]
	f := Fault{Kind: FaultClock, Client: s.Client, Server: server, By: s.ClockBy, Line: s.Line}
	if s.ClockStop {
		f.Kind = FaultClockStop
		c.stop(m.cur.Tick)
	} else {
		c.jump(s.ClockBy)
	}
	index := m.fault(f)
	if server == None {
		m.simple(step, index)
	}
}

// value makes the value that follows prev by text, and gives its index.
func (m *Machine) value(prev int32, text string) int32 {
	if m.forking {
		return m.sharedValue(prev, text)
	}
	length := len(text)
	if prev != None {
		length += int(m.lengths[prev])
	}
	m.bytes += length
	if m.bytes > MaxValueBytes {
		m.rec.Limit = LimitValue
	}
	m.rec.Values = append(m.rec.Values, ValueNode{prev, text})
	m.lengths = append(m.lengths, int32(min(length, MaxValueBytes)))
	return int32(len(m.rec.Values) - 1)
}

// eachServer calls f for every server of a span, in order; an empty span means all of them.
func (m *Machine) eachServer(sp Span, f func(s int32)) {
	if sp.Len() == 0 {
		for s := range int32(len(m.servers)) {
			f(s)
		}
		return
	}
	for _, s := range m.p.ServerIDs[sp.Lo:sp.Hi] {
		f(s)
	}
}

// Value gives the text of a value of the resource.
func (r *Record) Value(v int32) string {
	if v == None {
		return ""
	}
	n := 0
	for i := v; i != None; i = r.Values[i].Prev {
		n += len(r.Values[i].Text)
	}
	b := make([]byte, n)
	for i := v; i != None; i = r.Values[i].Prev {
		n -= len(r.Values[i].Text)
		copy(b[n:], r.Values[i].Text)
	}
	return string(b)
}

func (r *Record) reset(p *Program) {
	*r = Record{
		Program: p,
		Events:  r.Events[:0], Attempts: r.Attempts[:0], Trials: r.Trials[:0], Votes: r.Votes[:0],
		Leases: r.Leases[:0], Promises: r.Promises[:0], Grants: r.Grants[:0], Beliefs: r.Beliefs[:0],
		Reads: r.Reads[:0], Writes: r.Writes[:0], Pauses: r.Pauses[:0], Faults: r.Faults[:0], Asks: r.Asks[:0],
		Values: r.Values[:0], Tokens: r.Tokens[:0],
	}
}

// resize gives a slice of length n that reuses the memory of s; its content is for the caller to set.
func resize[T any](s []T, n int) []T {
	return slices.Grow(s[:0], n)[:n]
}
