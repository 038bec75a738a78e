// Package randprog makes small random programs from a seed, for tests that compare two ways to the same answer. Every
// program is one that a file of the language could have been compiled to; nothing here runs or judges it.
package randprog

import (
	"math/rand/v2"
	"slices"

	"dlock/engine"
)

// Features is a set of parts of the language that a program may use.
type Features uint16

// Basic is what every program may use: acquire with retry, as and on, release, read, append, write, check, pause, crash,
// notice, the client-side conditions, every and outcome blocks. The others add to it.
const (
	Messages Features = 1 << iota // delayed and lost requests and answers
	Faults                        // server crashes, forced unlock, a resource that forgets, cuts
	Clocks                        // clocks that jump or stop
	Renewals                      // renew and watchdogs
	Guards                        // resource-side guards
	Settings                      // every setting away from its default, not only those of Basic
	NoReacts                      // takes away: blocks and conditions, so that no step depends on an outcome

	Basic Features = 0
	All            = Messages | Faults | Clocks | Renewals | Guards | Settings
)

const (
	maxClients = 4
	maxServers = 5
	lastTick   = 40 // single lines stand up to here
	lastStart  = 30 // critical sections begin up to here, so that most of a program lies below tick 40
	lastDelay  = 9  // a message takes fewer ticks than this
	maxDepth   = 2  // of nested outcome blocks
)

// New makes the program of a seed: the same seed and features give the same program.
func New(seed uint64, f Features) *engine.Program {
	g := &gen{rng: rand.New(rand.NewPCG(seed, uint64(f))), f: f}
	g.world()
	for c := range int32(len(g.p.Clients)) {
		for range 1 + g.n(2) {
			g.section(c)
		}
		g.noise(c)
	}
	g.faults()
	g.dropPaused()
	g.rng.Shuffle(len(g.roots), func(i, j int) { g.roots[i], g.roots[j] = g.roots[j], g.roots[i] })
	if g.one(2) { // half of the files are written in the order of time
		slices.SortStableFunc(g.roots, func(a, b *node) int { return int(a.step.At - b.step.At) })
	}
	g.flatten()
	return g.p
}

// node is a step with what hangs on it, before the lists are made flat.
type node struct {
	step     engine.Step
	servers  []int32
	messages []message
	blocks   []block
}

type message struct {
	engine.Message
	servers []int32
}

type block struct {
	on    uint32
	steps []*node
}

type gen struct {
	rng   *rand.Rand
	f     Features
	p     *engine.Program
	roots []*node
}

func (g *gen) n(n int) int         { return g.rng.IntN(n) }
func (g *gen) one(in int) bool     { return g.rng.IntN(in) == 0 }
func (g *gen) has(f Features) bool { return g.f&f != 0 }
func (g *gen) t(n int) engine.Tick { return engine.Tick(g.rng.IntN(n)) }
func (g *gen) reacts() bool        { return !g.has(NoReacts) }
func bit(o engine.Outcome) uint32  { return 1 << o }
func (g *gen) pick(n ...int) int   { return n[g.n(len(n))] }
func (g *gen) add(n *node)         { g.roots = append(g.roots, n) }
func (g *gen) client() engine.Step { return engine.Step{PauseFor: engine.Tick(engine.None)} }

// world chooses the settings, the clients and the texts.
func (g *gen) world() {
	servers := g.pick(1, 1, 2, 3, 3, 4, maxServers)
	s := engine.Settings{
		Servers: servers, Quorum: servers/2 + 1, Leases: !g.one(12), OwnerCheck: true,
		Fencing: engine.Fencing(g.pick(0, 0, 1, 1, 2)), Handback: engine.Handback(g.pick(0, 0, 0, 1, 2)),
		Horizon: engine.Tick(40 + g.n(30)),
	}
	if g.one(8) {
		s.Quorum = 1 + g.n(servers)
	}
	if g.one(4) {
		s.Initial = "-"
	}
	if g.one(10) {
		s.Horizon = g.t(30)
	}
	if g.has(Settings) {
		s.FenceAt = engine.FenceAt(g.pick(0, 0, 1, 2))
		s.Tokens = engine.Tokens(g.pick(0, 0, 1))
		s.Judge = engine.Judge(g.pick(0, 0, 0, 1, 2))
		s.Reentrant, s.OwnerCheck, s.Validity = g.one(3), !g.one(4), g.one(4)
		if s.Validity {
			s.Margin = g.t(3)
		}
		if g.one(4) {
			s.LockDelay = g.t(6)
		}
	}
	g.p = &engine.Program{Settings: s}
	clients := 2 + g.n(maxClients-1)
	for c := range clients {
		g.p.Clients = append(g.p.Clients, string(rune('A'+c)))
	}
	g.p.Owners = append(append(g.p.Owners, g.p.Clients...), "job")
	g.p.Texts = append(append(g.p.Texts, g.p.Clients...), "x")
}

// section adds a critical section of a client: either at absolute ticks, whatever comes of the acquire, or in a block.
func (g *gen) section(c int32) {
	at := g.t(lastStart)
	acq := g.acquire(c)
	acq.step.At = at
	g.messages(acq)
	g.add(acq)
	if g.reacts() && g.one(2) {
		acq.blocks = append(acq.blocks, block{on: bit(engine.Granted), steps: g.work(c, 0)})
		if g.one(5) {
			acq.blocks = append(acq.blocks, block{on: bit(engine.Denied), steps: g.work(c, 0)})
		}
		return
	}
	for _, n := range g.work(c, 0) {
		n.step.Repeat, n.step.At = engine.Once, n.step.At+at
		g.add(n)
	}
}

// work makes the steps of a critical section, at ticks counted from its begin.
func (g *gen) work(c int32, depth int) []*node {
	var steps []*node
	at := engine.Tick(0)
	put := func(n *node) {
		n.step.Repeat, n.step.At = engine.AfterOutcome, at
		g.messages(n)
		g.react(n, depth)
		steps = append(steps, n)
		at += g.t(3)
	}
	at += g.t(3)
	if !g.one(4) {
		put(g.simple(c, engine.Read))
	}
	if g.one(3) {
		put(g.simple(c, engine.Check))
	}
	if g.has(Renewals) && g.one(3) {
		put(g.renew(c))
	}
	if g.one(3) {
		n := g.pause(c)
		put(n)
		if n.step.PauseFor > 0 {
			at += n.step.PauseFor
		}
	}
	for range 1 + g.n(2) {
		put(g.write(c))
	}
	if !g.one(3) {
		put(g.simple(c, engine.Release))
	}
	return steps
}

// react hangs a block on a step that can have different outcomes.
func (g *gen) react(n *node, depth int) {
	if !g.reacts() || depth >= maxDepth || !g.one(6) {
		return
	}
	var on []engine.Outcome
	switch n.step.Verb {
	case engine.Append, engine.Write:
		on = []engine.Outcome{engine.Accepted, engine.Rejected, engine.Skipped}
	case engine.Check:
		on = []engine.Outcome{engine.Yes, engine.No, engine.Unheard}
	case engine.Release:
		on = []engine.Outcome{engine.Released, engine.Expired, engine.Unheard}
	case engine.Renew:
		on = []engine.Outcome{engine.Renewed, engine.Lost, engine.Unheard}
	default:
		return
	}
	c := n.step.Client
	steps := g.work(c, depth+1)
	if n.step.Verb == engine.Append || g.one(3) {
		acq := g.acquire(c)
		acq.step.Repeat = engine.AfterOutcome
		acq.blocks = []block{{on: bit(engine.Granted), steps: steps}}
		steps = []*node{acq}
	}
	n.blocks = append(n.blocks, block{on: bit(on[g.n(len(on))]), steps: steps})
}

func (g *gen) ttl() engine.Tick {
	switch {
	case g.one(14):
		return engine.Forever
	case g.one(20):
		return 0
	}
	return 1 + g.t(g.pick(4, 12, 20))
}

func (g *gen) acquire(c int32) *node {
	n := g.simple(c, engine.Acquire)
	s := &n.step
	s.TTL, s.RetryUntil = g.ttl(), engine.Forever // without retry too: nothing cuts its one try short
	if g.one(3) {
		n.servers = g.some() // quorums that share one server only are what makes counters drift
	}
	if !g.one(3) {
		s.Retry = 1 + g.t(5)
		if g.one(5) {
			s.RetryUntil, s.RetryPlus = g.t(20), true
		} else if g.one(6) {
			s.RetryUntil = lastStart + g.t(20)
		}
	}
	if g.one(8) {
		s.Owner = int32(len(g.p.Owners) - 1)
	}
	if g.has(Renewals) && g.one(4) {
		s.Watchdog = 1 + g.t(5)
		if g.reacts() && g.one(4) {
			n.blocks = append(n.blocks, block{on: bit(engine.Lost), steps: []*node{g.after(g.simple(c, engine.Notice))}})
		}
	}
	return n
}

func (g *gen) after(n *node) *node {
	n.step.Repeat, n.step.At = engine.AfterOutcome, g.t(3)
	return n
}

func (g *gen) simple(c int32, v engine.Verb) *node {
	s := g.client()
	s.Verb, s.Client, s.Owner = v, c, c
	return &node{step: s}
}

func (g *gen) renew(c int32) *node {
	n := g.simple(c, engine.Renew)
	n.step.TTL, n.step.Recreate = g.ttl(), g.one(3)
	return n
}

func (g *gen) pause(c int32) *node {
	n := g.simple(c, engine.Pause)
	n.step.PauseFor = 1 + g.t(g.pick(4, 16))
	return n
}

func (g *gen) write(c int32) *node {
	n := g.simple(c, engine.Append)
	s := &n.step
	s.Text = c
	if g.one(4) {
		s.Verb, s.Text = engine.Write, int32(g.n(len(g.p.Texts)))
	}
	if g.reacts() && g.one(5) {
		s.If = engine.Cond(1 + g.n(2))
	}
	if g.has(Guards) && g.one(3) {
		s.Guards = engine.Guard(1 + g.n(7))
		if s.Guards&engine.GuardBefore != 0 {
			s.Before, s.BeforePlus = g.t(6), true
			if g.one(3) {
				s.Before, s.BeforePlus = g.t(lastTick), false
			}
		}
	}
	return n
}

// noise adds single steps of a client at ticks of their own.
func (g *gen) noise(c int32) {
	for range g.n(3) {
		var n *node
		switch g.n(9) {
		case 0:
			n = g.simple(c, engine.Read)
		case 1, 2:
			n = g.write(c)
		case 3:
			n = g.simple(c, engine.Check)
		case 4:
			n = g.simple(c, engine.Notice)
		case 5:
			n = g.simple(c, engine.Release)
		case 6:
			n = g.pause(c)
			switch g.n(6) {
			case 0:
				n.step.PauseUntil, n.step.UntilPlus, n.step.PauseFor = 1+g.t(9), true, engine.Tick(engine.None)
			case 1:
				n.step.PauseUntil, n.step.PauseFor = lastTick+g.t(9), engine.Tick(engine.None)
			}
		case 7:
			n = g.acquire(c)
			n.step.Watchdog, n.blocks = 0, nil
		case 8:
			if n = g.simple(c, engine.Check); g.has(Renewals) {
				n = g.renew(c)
			}
		}
		n.step.At = g.t(lastTick)
		g.messages(n)
		if v := n.step.Verb; v != engine.Pause && v != engine.Acquire && g.one(4) {
			n.step.Repeat, n.step.K = engine.Every, 1+g.t(6)
			n.step.Last = n.step.At + g.t(20)
			for i := range n.messages {
				n.messages[i].Plus = !n.messages[i].Lost
				n.messages[i].At %= lastDelay
			}
		}
		g.add(n)
	}
	if g.one(8) {
		n := g.simple(c, engine.Crash)
		n.step.At = g.t(lastTick)
		g.add(n)
	}
	if g.has(Renewals) && g.one(6) {
		n := g.simple(c, engine.WatchdogStop)
		n.step.At = g.t(lastTick)
		g.add(n)
	}
	if g.has(Clocks) && g.one(5) {
		n := g.simple(c, engine.ClientClock)
		n.step.At = g.t(lastTick)
		g.clock(&n.step)
		g.add(n)
		if g.one(3) {
			more := *n
			more.step.At = g.t(lastTick)
			g.clock(&more.step)
			g.add(&more)
		}
	}
}

func (g *gen) clock(s *engine.Step) {
	s.ClockBy = 0
	if s.ClockStop = g.one(3); !s.ClockStop {
		s.ClockBy = engine.Tick(g.n(31) - 15)
	}
}

// messages gives a step routes of its own. Blocks and retries demand offsets from the send.
func (g *gen) messages(n *node) {
	if !g.has(Messages) {
		return
	}
	switch n.step.Verb {
	case engine.Acquire, engine.Renew, engine.Release, engine.Check:
	case engine.Read, engine.Append, engine.Write:
	default:
		return
	}
	servers := n.step.Verb <= engine.Release || n.step.Verb == engine.Check
	for range g.pick(0, 0, 0, 1, 1, 2) {
		m := message{Message: engine.Message{Reply: g.one(2), Lost: g.one(4)}}
		if !m.Lost {
			m.At, m.Plus = g.t(lastDelay), true
			if n.step.Repeat == engine.Once && n.step.Retry == 0 && g.one(4) {
				m.At, m.Plus = m.At+n.step.At, false
			}
		}
		if servers && g.one(2) {
			m.servers = g.some()
		}
		n.messages = append(n.messages, m)
	}
}

// some chooses one server or more, in order.
func (g *gen) some() []int32 {
	var list []int32
	for s := range int32(g.p.Settings.Servers) {
		if g.one(2) {
			list = append(list, s)
		}
	}
	if list == nil {
		list = []int32{int32(g.n(g.p.Settings.Servers))}
	}
	return list
}

// faults adds lines about servers, the resource and the network.
func (g *gen) faults() {
	server := func(v engine.Verb, at engine.Tick) *node {
		n := &node{step: g.client(), servers: g.some()}
		n.step.Verb, n.step.Client, n.step.At = v, engine.None, at
		g.add(n)
		return n
	}
	if g.has(Clocks) && g.one(3) {
		first := server(engine.ServerClock, g.t(lastTick))
		g.clock(&first.step)
		if g.one(3) {
			more := server(engine.ServerClock, g.t(lastTick))
			more.servers = first.servers
			g.clock(&more.step)
		}
	}
	if !g.has(Faults) {
		return
	}
	for range g.n(3) {
		down := server(engine.ServerCrash, g.t(lastTick))
		if !g.one(4) {
			up := server(engine.ServerRestart, down.step.At+g.t(12))
			up.servers, up.step.Restart = down.servers, engine.Restart(g.n(3))
		}
	}
	if g.one(4) {
		server(engine.ServerRevoke, g.t(lastTick))
	}
	if g.one(5) {
		n := &node{step: g.client()}
		n.step.Verb, n.step.Client, n.step.At = engine.ResourceForget, engine.None, g.t(lastTick)
		g.add(n)
	}
	if g.one(3) {
		cut := g.simple(int32(g.n(len(g.p.Clients))), engine.Cut)
		cut.step.At, cut.step.Resource = g.t(lastTick), g.one(2)
		if !cut.step.Resource || g.one(2) {
			cut.servers = g.some()
		}
		g.add(cut)
		if !g.one(3) {
			heal := *cut
			heal.step.Verb, heal.step.At = engine.Heal, cut.step.At+g.t(12)
			g.add(&heal)
		}
	}
}

// dropPaused takes out what the checker refuses: an absolute step of a client inside an absolute pause of its own.
func (g *gen) dropPaused() {
	var kept []*node
	for _, n := range g.roots {
		if n.step.Verb == engine.Pause && !g.paused(kept, n) {
			kept = append(kept, n)
		}
	}
	for _, n := range g.roots {
		if n.step.Verb != engine.Pause && (n.step.Repeat != engine.Once || n.step.Verb == engine.Crash || !g.paused(kept, n)) {
			kept = append(kept, n)
		}
	}
	g.roots = kept
}

func end(s *engine.Step) engine.Tick {
	if s.Verb != engine.Pause {
		return s.At + 1
	}
	if s.PauseFor >= 0 {
		return s.At + s.PauseFor
	}
	if s.UntilPlus {
		return s.At + s.PauseUntil
	}
	return s.PauseUntil
}

func (g *gen) paused(list []*node, n *node) bool {
	return slices.ContainsFunc(list, func(p *node) bool {
		return p.step.Verb == engine.Pause && p.step.Repeat == engine.Once && p.step.Client == n.step.Client &&
			p.step.At < end(&n.step) && n.step.At < end(&p.step)
	})
}

// flatten writes the steps into the program's lists: roots first, then block by block, so that the steps of a block and
// the blocks of a step each lie side by side. Lines follow the file, in which a block stands below its step.
func (g *gen) flatten() {
	line := int32(0)
	var number func(list []*node)
	number = func(list []*node) {
		for _, n := range list {
			line++
			n.step.Line = line
			for _, b := range n.blocks {
				number(b.steps)
			}
		}
	}
	number(g.roots)

	p := g.p
	all := slices.Clone(g.roots)
	for i := range g.roots {
		p.Roots = append(p.Roots, int32(i))
	}
	for i := 0; i < len(all); i++ {
		n := all[i]
		n.step.Servers = g.span(n.servers)
		n.step.Messages.Lo = int32(len(p.Messages))
		for _, m := range n.messages {
			m.Servers = g.span(m.servers)
			p.Messages = append(p.Messages, m.Message)
		}
		n.step.Messages.Hi = int32(len(p.Messages))
		n.step.Blocks.Lo = int32(len(p.Blocks))
		for _, b := range n.blocks {
			from := int32(len(all))
			all = append(all, b.steps...)
			p.Blocks = append(p.Blocks, engine.Block{On: b.on, Steps: engine.Span{Lo: from, Hi: int32(len(all))}})
		}
		n.step.Blocks.Hi = int32(len(p.Blocks))
		p.Steps = append(p.Steps, n.step)
	}
}

func (g *gen) span(list []int32) engine.Span {
	lo := int32(len(g.p.ServerIDs))
	g.p.ServerIDs = append(g.p.ServerIDs, list...)
	return engine.Span{Lo: lo, Hi: int32(len(g.p.ServerIDs))}
}
