package compile

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"dlock/dsl"
	"dlock/engine"
)

// checkSettings looks at what the settings say about each other and about the servers that the schedule names.
func (b *Binder) checkSettings() {
	if !b.good[setServers] {
		return
	}
	servers := b.slots[setServers]
	if q := b.slots[setQuorum]; b.good[setQuorum] && q > servers {
		b.faults.add(dsl.CodeQuorumRange, b.sc.nodes[setQuorum].span, fmt.Sprintf("a quorum of %d is more than the %d servers", q, servers),
			"No attempt could ever win. The quorum is counted over all servers.", "")
	}
	if servers >= int64(b.plan.highest) {
		return
	}
	for _, r := range b.plan.servers {
		if int64(r.hi) > servers {
			b.faults.add(dsl.CodeServerBeyond, r.at, fmt.Sprintf("there is no server s%d", r.hi), fmt.Sprintf("The servers are s1 to s%d.", servers),
				"set servers to more, or name another one")
		}
	}
}

// window is a stretch [start, end) of one client's absolute pause. In a series it comes again every k ticks up to last.
type window struct {
	client, line int32
	start, end   engine.Tick
	k, last      engine.Tick
	hole         int32       // 1 plus the late hole that the start waits for
	fixedEnd     bool        // the end waits for none
	reach        engine.Tick // the furthest end of this and all earlier windows of the client
	reachLine    int32       // the line and start of the pause that reaches it
	reachStart   engine.Tick
}

// stepCheck is what there is to check about one step once its numbers are known.
type stepCheck struct {
	src   *dsl.Step
	step  int32
	root  bool
	own   bool // done by its client, so that it cannot be done in a pause
	open  bool // servers that its messages depend on are left open
	pairs []messagePair
}

// messagePair is a reply and the request that it answers, at one server or more. arrive is engine.None when nothing is
// said about the request: it lands when it is sent.
type messagePair struct {
	arrive, reply int32 // into dsl.Step.Messages
	servers       int   // only if there are more servers than this
}

func newStepCheck(s *dsl.Step, i int32, prog *engine.Program) stepCheck {
	step := &prog.Steps[i]
	c := stepCheck{src: s, step: i, root: step.Repeat != engine.AfterOutcome}
	switch step.Verb {
	case engine.Crash, engine.ClientClock, engine.Cut, engine.Heal:
	default:
		c.own = step.Client != engine.None
	}
	c.pairs = messagePairs(s, step, prog)
	open := func(list []dsl.ServerRange) {
		c.open = c.open || slices.ContainsFunc(list, func(r dsl.ServerRange) bool { return r.Hole != nil })
	}
	open(s.On)
	for k := range s.Messages {
		open(s.Messages[k].Servers)
	}
	return c
}

// messagePairs finds which reply belongs to which request, a later message overriding an earlier one for the servers that
// it names.
func messagePairs(s *dsl.Step, step *engine.Step, prog *engine.Program) []messagePair {
	if len(s.Messages) == 0 {
		return nil
	}
	asked := prog.ServerIDs[step.Servers.Lo:step.Servers.Hi]
	all := messagePair{engine.None, engine.None, 0} // for every server that no message names
	named := map[int32]messagePair{}
	put := func(p messagePair, k int32, m *engine.Message) messagePair {
		if m.Reply {
			p.reply = k
		} else {
			p.arrive = k
		}
		return p
	}
	for k := range s.Messages {
		m := &prog.Messages[int(step.Messages.Lo)+k]
		if m.Servers.Len() == 0 {
			all = put(all, int32(k), m)
			for id, p := range named {
				named[id] = put(p, int32(k), m)
			}
			continue
		}
		for _, id := range prog.ServerIDs[m.Servers.Lo:m.Servers.Hi] {
			if _, ok := slices.BinarySearch(asked, id); !ok && len(asked) > 0 {
				continue
			}
			p, ok := named[id]
			if !ok {
				p = all
			}
			named[id] = put(p, int32(k), m)
		}
	}
	var pairs []messagePair
	keep := func(p messagePair) {
		if p.reply == engine.None || s.Messages[p.reply].Lost || p.arrive != engine.None && s.Messages[p.arrive].Lost {
			return
		}
		if !slices.ContainsFunc(pairs, func(q messagePair) bool { return q.arrive == p.arrive && q.reply == p.reply }) {
			pairs = append(pairs, p)
		}
	}
	for _, p := range named {
		keep(p)
	}
	if len(asked) == 0 {
		all.servers = len(named)
		keep(all)
	} else if len(named) < len(asked) {
		keep(all)
	}
	slices.SortFunc(pairs, func(a, b messagePair) int {
		return cmp.Or(cmp.Compare(a.reply, b.reply), cmp.Compare(a.arrive, b.arrive))
	})
	return pairs
}

// checkSchedule looks at what the numbers of the steps say about each other, and gives the last scheduled tick.
func (b *Binder) checkSchedule() engine.Tick {
	var last engine.Tick
	var firings int64
	b.windows, b.series, b.moving = b.windows[:0], b.series[:0], b.moving[:0]
	for i := range b.plan.checks {
		c := &b.plan.checks[i]
		s := &b.prog.Steps[c.step]
		if b.bad[c.step] || b.gone[c.step] {
			continue
		}
		final := s.At + b.reach(s.Hole)
		if s.Repeat == engine.Every {
			if s.Last < s.At {
				b.faults.add(dsl.CodeEmptyEvery, c.src.When.To.Span(), fmt.Sprintf("from %d to %d is an empty stretch", s.At, s.Last), "The line would never be done.", "")
				b.bad[c.step] = true
				continue
			}
			n := int64((s.Last - s.At) / s.K)
			final = s.At + engine.Tick(n)*s.K
			firings += n + 1
			if firings > MaxFirings {
				b.faults.add(dsl.CodeLimit, c.src.Span, fmt.Sprintf("the \"every\" lines fire more than %d times", MaxFirings), "", "")
				b.bad[c.step] = true
				continue
			}
		}
		if c.root {
			last = max(last, final)
		}
		if s.Verb == engine.Pause && c.root {
			b.addPause(c, s, final)
		}
		if len(c.src.Messages) > 0 {
			b.checkMessages(c, s, final)
		}
	}
	b.checkPaused()
	return last
}

// addPause notes the stretches of an absolute pause; final is the last tick at which it starts.
func (b *Binder) addPause(c *stepCheck, s *engine.Step, final engine.Tick) {
	w := window{client: s.Client, line: s.Line, start: s.At, hole: s.Hole}
	switch {
	case s.PauseFor != engine.Tick(engine.None):
		w.end = s.At + s.PauseFor
	case s.UntilPlus:
		w.end = s.At + s.PauseUntil
	case s.PauseUntil < final:
		b.pickLast(s)
		b.faults.add(dsl.CodePauseEnd, c.src.Until.Span, fmt.Sprintf("the pause starts at %d and would end before, at %d", final, s.PauseUntil), "", "")
		b.pickLate(s.Hole, -1)
		return
	default:
		w.end, w.fixedEnd = s.PauseUntil, true
		final = s.At // later ones fall into the first
	}
	switch length := w.end - w.start; {
	case length == 0:
	case w.hole > 0:
		b.moving = append(b.moving, w)
	case s.Repeat == engine.Every && final > s.At:
		// A pause that comes due while the one before lasts is dropped like everything that is done "every" so often.
		w.k, w.last = (length+s.K-1)/s.K*s.K, final
		b.series = append(b.series, w)
	default:
		b.windows = append(b.windows, w)
	}
}

// checkPaused finds the absolute steps that lie inside an absolute pause of their client. At the tick of the pause itself
// the order of the lines decides.
func (b *Binder) checkPaused() {
	b.checkMovingPauses()
	if len(b.windows)+len(b.series) == 0 {
		return
	}
	slices.SortFunc(b.windows, func(x, y window) int {
		return cmp.Or(cmp.Compare(x.client, y.client), cmp.Compare(x.start, y.start), cmp.Compare(x.line, y.line))
	})
	for i := range b.windows {
		w := &b.windows[i]
		w.reach, w.reachLine, w.reachStart = w.end, w.line, w.start
		if i > 0 && b.windows[i-1].client == w.client && b.windows[i-1].reach > w.end {
			prev := &b.windows[i-1]
			w.reach, w.reachLine, w.reachStart = prev.reach, prev.reachLine, prev.reachStart
		}
	}
	for i := range b.plan.checks {
		c := &b.plan.checks[i]
		s := &b.prog.Steps[c.step]
		if !c.own || s.Repeat != engine.Once || b.bad[c.step] || b.gone[c.step] {
			continue
		}
		if s.Hole == 0 {
			b.checkOnePaused(c, s)
			continue
		}
		if !b.pauses(s.Client) {
			continue
		}
		hole, at := b.prog.Holes[s.Hole-1], *s
		for k := range hole.N {
			b.pickLate(s.Hole, int64(k))
			if b.checkOnePaused(c, &at) {
				break
			}
			at.At += hole.By
		}
		b.pickLate(s.Hole, -1)
	}
}

// pauses tells whether a client has an absolute pause at a known tick.
func (b *Binder) pauses(client int32) bool {
	of := func(w window) bool { return w.client == client }
	return slices.ContainsFunc(b.windows, of) || slices.ContainsFunc(b.series, of)
}

// checkMovingPauses finds the absolute steps that lie inside an absolute pause which waits for a late hole, for some value.
func (b *Binder) checkMovingPauses() {
	for i := range b.moving {
		w := &b.moving[i]
		for k := range b.plan.checks {
			c := &b.plan.checks[k]
			s := &b.prog.Steps[c.step]
			if c.own && s.Repeat == engine.Once && s.Client == w.client && !b.bad[c.step] && !b.gone[c.step] {
				b.checkMovingPause(c, s, *w)
			}
		}
	}
}

func (b *Binder) checkMovingPause(c *stepCheck, s *engine.Step, w window) {
	hole := b.prog.Holes[w.hole-1]
	for k := range hole.N {
		shift := engine.Tick(k) * hole.By
		at, end := w.start+shift, w.end
		if !w.fixedEnd {
			end += shift
		}
		first := at // of the ticks at which a step would be inside
		if s.Line <= w.line {
			first++
		}
		t, value := s.At, int64(k)
		switch {
		case s.Hole == w.hole:
			t += shift
		case s.Hole > 0:
			other := b.prog.Holes[s.Hole-1]
			if value = 0; t < first {
				value = int64((first - t + other.By - 1) / other.By)
			}
			if value = min(value, int64(other.N)-1); value >= 0 {
				t += engine.Tick(value) * other.By
			}
		}
		if first <= t && t < end {
			b.pickLate(w.hole, int64(k))
			if s.Hole > 0 {
				b.pickLate(s.Hole, value)
			}
			at := *s
			at.At = t
			b.paused(c, &at, w.line, w.start+shift, end)
			b.pickLate(w.hole, -1)
			b.pickLate(s.Hole, -1)
			return
		}
	}
}

// checkOnePaused looks for the pause that a step is in, reports it and tells whether there is one.
func (b *Binder) checkOnePaused(c *stepCheck, s *engine.Step) bool {
	// The first window that starts after the step; the ones before it are those that could hold the step.
	n := sort.Search(len(b.windows), func(i int) bool {
		w := &b.windows[i]
		return cmp.Or(cmp.Compare(w.client, s.Client), cmp.Compare(w.start, s.At), cmp.Compare(w.line, s.Line)) >= 0
	})
	if n > 0 {
		if w := &b.windows[n-1]; w.client == s.Client && w.reach > s.At {
			b.paused(c, s, w.reachLine, w.reachStart, w.reach)
			return true
		}
	}
	for i := range b.series {
		w := &b.series[i]
		if w.client != s.Client || s.At < w.start {
			continue
		}
		start := min(w.start+(s.At-w.start)/w.k*w.k, w.last)
		end := start + w.end - w.start
		if s.At < end && (start < s.At || w.line < s.Line) {
			b.paused(c, s, w.line, start, end)
			return true
		}
	}
	return false
}

func (b *Binder) paused(c *stepCheck, s *engine.Step, line int32, start, end engine.Tick) {
	client := b.prog.Clients[s.Client]
	b.faults.add(dsl.CodeInsidePause, c.src.Span, fmt.Sprintf("%s is paused at tick %d", client, s.At),
		fmt.Sprintf("The pause of line %d lasts from %d until just before %d, and %s executes nothing in it.", line, start, end, client),
		fmt.Sprintf("move the step to tick %d or later, or into a block, whose steps wait for the end of the pause", end))
}

// checkMessages looks for requests that land before they are sent and answers that are heard before the request landed.
// final is the last tick at which an absolute step is sent; the send of a block's step is not known here.
func (b *Binder) checkMessages(c *stepCheck, s *engine.Step, final engine.Tick) {
	message := func(k int32) *engine.Message { return &b.prog.Messages[s.Messages.Lo+k] }
	for k := range c.src.Messages {
		if m := message(int32(k)); c.root && !m.Lost && !m.Plus && m.At < final {
			what := "the request would land"
			if m.Reply {
				what = "the answer would be heard"
			}
			b.pickLast(s)
			b.faults.add(dsl.CodeMessageOrder, c.src.Messages[k].Span, fmt.Sprintf("%s at %d, before it is sent at %d", what, m.At, final), "", "")
			b.pickLate(s.Hole, -1)
			return
		}
	}
	pairs := c.pairs
	if c.open {
		pairs = messagePairs(c.src, s, &b.prog)
	}
	for _, p := range pairs {
		if b.slots[setServers] <= int64(p.servers) {
			continue
		}
		land, reply := engine.Message{Plus: true}, message(p.reply)
		if p.arrive != engine.None {
			land = *message(p.arrive)
		}
		heard, lands := reply.At, land.At
		switch {
		case land.Plus == reply.Plus:
		case !c.root:
			continue
		case land.Plus:
			lands += final
		default:
			heard += s.At
		}
		if heard < lands {
			if land.Plus {
				b.pickLast(s)
			}
			b.faults.add(dsl.CodeMessageOrder, c.src.Messages[p.reply].Span, "the answer would be heard before the request lands",
				fmt.Sprintf("It is heard at %s and lands at %s.", offset(heard, land.Plus && reply.Plus), offset(lands, land.Plus && reply.Plus)), "")
			b.pickLate(s.Hole, -1)
			return
		}
	}
}

// pickLast lets a fault name the last value of the late hole that a step waits for.
func (b *Binder) pickLast(s *engine.Step) {
	if s.Hole > 0 {
		b.pickLate(s.Hole, int64(b.prog.Holes[s.Hole-1].N)-1)
	}
}

func offset(t engine.Tick, plus bool) string {
	if plus {
		return fmt.Sprintf("+%d", t)
	}
	return fmt.Sprintf("%d", t)
}
