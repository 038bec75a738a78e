package compile

import (
	"cmp"
	"slices"

	"dlock/dsl"
	"dlock/engine"
)

// shaper lays out a program: everything of it but its numbers, which it notes as fields.
type shaper struct {
	plan      *Plan
	ev        *evaluator
	prog      engine.Program
	texts     map[string]int32
	owners    map[string]int32
	clients   map[string]int32
	constants []field
}

// rootSteps lists the steps of the bodies in file order, without those that the command line takes away.
func rootSteps(bodies []*dsl.Body, sc *scope, over []setValue) []*dsl.Step {
	var roots []*dsl.Step
	for _, b := range bodies {
		for _, s := range b.Steps {
			if sc.addMaybe(s.Maybe, over) {
				sc.addStep(s)
				roots = append(roots, s)
			}
		}
	}
	slices.SortStableFunc(roots, func(a, b *dsl.Step) int { return cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset) })
	return roots
}

func (sh *shaper) layout(clients []string, roots []*dsl.Step) {
	p := sh.plan
	sh.nameClients(clients, roots)
	for _, root := range roots {
		lo := int32(len(sh.prog.Steps))
		sh.prog.Roots = append(sh.prog.Roots, lo)
		sh.prog.Steps = append(sh.prog.Steps, engine.Step{})
		sh.tree(root)
		if root.Maybe == nil || p.family == nil {
			continue
		}
		if slot, ok := p.sc.holes[root.Maybe.Hole]; ok {
			p.family.lines = append(p.family.lines, maybeLine{hole: p.sc.nodes[slot].axis, steps: engine.Span{Lo: lo, Hi: int32(len(sh.prog.Steps))}})
		}
	}
	for _, c := range p.Claims {
		client := engine.None
		if i, ok := sh.clients[c.Client]; ok {
			client = i
		}
		p.Subjects = append(p.Subjects, client)
		p.claims = append(p.claims, claimCode{at: sh.ev.add(c.At), n: sh.ev.add(c.N), iff: sh.ev.add(c.Iff), in: sh.members(c)})
	}
}

// nameClients numbers the clients that act or are claimed about, in the file's order.
func (sh *shaper) nameClients(clients []string, roots []*dsl.Step) {
	used := map[string]bool{}
	for _, s := range roots {
		used[s.Actor.Client] = true // the lines of a block have their step's actor
	}
	for _, c := range sh.plan.Claims {
		used[c.Client] = true
	}
	for _, name := range clients {
		if used[name] {
			i := int32(len(sh.prog.Clients))
			sh.clients[name], sh.owners[name] = i, i
			sh.prog.Clients = append(sh.prog.Clients, name)
		}
	}
	sh.prog.Owners = slices.Clone(sh.prog.Clients)
}

// tree lays out a root step, for which there is room at the end of the steps, and the blocks below it level by level: the
// steps of one block must lie side by side.
func (sh *shaper) tree(root *dsl.Step) {
	type pending struct {
		step *dsl.Step
		at   int32
	}
	client := engine.None
	if root.Actor.Client != "" {
		client = sh.clients[root.Actor.Client]
	}
	queue := []pending{{root, int32(len(sh.prog.Steps)) - 1}}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		sh.step(next.step, next.at, client)
		blocks := engine.Span{Lo: int32(len(sh.prog.Blocks))}
		for _, o := range next.step.Outcomes {
			span := engine.Span{Lo: int32(len(sh.prog.Steps))}
			for _, s := range o.Steps {
				queue = append(queue, pending{s, int32(len(sh.prog.Steps))})
				sh.prog.Steps = append(sh.prog.Steps, engine.Step{})
			}
			span.Hi = int32(len(sh.prog.Steps))
			sh.prog.Blocks = append(sh.prog.Blocks, engine.Block{On: outcomeBits(o.Words), Steps: span})
		}
		blocks.Hi = int32(len(sh.prog.Blocks))
		sh.prog.Steps[next.at].Blocks = blocks
	}
}

// OutcomeOf gives the engine's outcome for a word of the language.
func OutcomeOf(word string) (engine.Outcome, bool) {
	for o := engine.Outcome(0); o < engine.NumOutcomes; o++ {
		if o.String() == word {
			return o, word != ""
		}
	}
	return 0, false
}

func outcomeBits(words []string) uint32 {
	var bits uint32
	for _, w := range words {
		if o, ok := OutcomeOf(w); ok {
			bits |= 1 << o
		}
	}
	return bits
}

// number notes that a number of a step or message is the value of e.
func (sh *shaper) number(kind fieldKind, index int32, e dsl.Expr, step int32) {
	if e == nil {
		return
	}
	f := field{kind: kind, index: index, step: step, code: sh.ev.add(e), at: e.Span()}
	if sh.ev.varies(f.code) {
		sh.plan.fields = append(sh.plan.fields, f)
	} else {
		sh.constants = append(sh.constants, f)
	}
}

func (sh *shaper) step(s *dsl.Step, i, client int32) {
	verb := engineVerb(s)
	out := engine.Step{
		Line: int32(s.Span.Start.Line), Verb: verb, Client: client,
		TTL: engine.Forever, RetryUntil: engine.Forever, PauseFor: engine.Tick(engine.None), Owner: engine.None, Text: engine.None,
		Recreate: s.Recreate, Resource: s.FromRes, ClockStop: s.ClockEnd,
	}
	switch s.When.Kind {
	case dsl.At:
		sh.number(fieldAt, i, s.When.At, i)
	case dsl.After:
		out.Repeat = engine.AfterOutcome
		sh.number(fieldAt, i, s.When.At, i)
	case dsl.Every:
		out.Repeat = engine.Every
		sh.number(fieldAt, i, s.When.From, i)
		sh.number(fieldEvery, i, s.When.K, i)
		sh.number(fieldLast, i, s.When.To, i)
	}
	if s.TTL != nil && !s.TTL.None {
		sh.number(fieldTTL, i, s.TTL.N, i)
	}
	if s.Retry != nil {
		sh.number(fieldRetry, i, s.Retry.K, i)
		out.RetryPlus = s.Retry.Until.Plus
		sh.number(fieldRetryUntil, i, s.Retry.Until.Expr, i)
	}
	sh.number(fieldWatchdog, i, s.Watchdog, i)
	sh.number(fieldBefore, i, s.Before.Expr, i)
	out.BeforePlus = s.Before.Plus
	sh.number(fieldPauseFor, i, s.PauseFor, i)
	sh.number(fieldPauseUntil, i, s.Until.Expr, i)
	out.UntilPlus = s.Until.Plus
	sh.number(fieldClockBy, i, s.ClockBy, i)

	switch verb {
	case engine.Acquire, engine.Renew:
		out.Owner = client
		if s.As != "" {
			out.Owner = intern(&sh.prog.Owners, sh.owners, s.As)
		}
	case engine.Append, engine.Write:
		out.Text = intern(&sh.prog.Texts, sh.texts, s.Text)
	case engine.ServerRestart:
		switch s.Lose {
		case "empty":
			out.Restart = engine.RestartEmpty
		case "wiped":
			out.Restart = engine.RestartWiped
		}
	}
	switch {
	case s.IfCheck:
		out.If = engine.CondChecked
	case s.IfValid:
		out.If = engine.CondValid
	}
	if s.Version {
		out.Guards |= engine.GuardVersion
	}
	if s.Lock {
		out.Guards |= engine.GuardLock
	}
	if s.Before.Expr != nil {
		out.Guards |= engine.GuardBefore
	}

	switch {
	case len(s.Actor.Servers) > 0:
		sh.servers(s.Actor.Servers, &out.Servers, serverList{step: i, message: engine.None})
	case len(s.From) > 0:
		sh.servers(s.From, &out.Servers, serverList{step: i, message: engine.None})
	default:
		sh.servers(s.On, &out.Servers, serverList{step: i, message: engine.None})
	}
	messages := engine.Span{Lo: int32(len(sh.prog.Messages))}
	for k := range s.Messages {
		m := &s.Messages[k]
		to := engine.Message{Reply: m.Reply, Lost: m.Lost, Plus: m.When.Plus}
		sh.servers(m.Servers, &to.Servers, serverList{step: i, message: int32(len(sh.prog.Messages))})
		sh.prog.Messages = append(sh.prog.Messages, to)
		if !m.Lost {
			sh.number(fieldMessage, int32(len(sh.prog.Messages))-1, m.When.Expr, i)
		}
	}
	messages.Hi = int32(len(sh.prog.Messages))
	out.Messages = messages
	sh.prog.Steps[i] = out
	sh.plan.checks = append(sh.plan.checks, newStepCheck(s, i, &sh.prog))
}

// engineVerb tells a client's crash and clock from a server's.
func engineVerb(s *dsl.Step) engine.Verb {
	client := s.Actor.Client != ""
	switch s.Verb {
	case dsl.Acquire:
		return engine.Acquire
	case dsl.Renew:
		return engine.Renew
	case dsl.Release:
		return engine.Release
	case dsl.Read:
		return engine.Read
	case dsl.Append:
		return engine.Append
	case dsl.Write:
		return engine.Write
	case dsl.Check:
		return engine.Check
	case dsl.Notice:
		return engine.Notice
	case dsl.Pause:
		return engine.Pause
	case dsl.WatchdogStop:
		return engine.WatchdogStop
	case dsl.Restart:
		return engine.ServerRestart
	case dsl.Revoke:
		return engine.ServerRevoke
	case dsl.Forget:
		return engine.ResourceForget
	case dsl.Cut:
		return engine.Cut
	case dsl.Heal:
		return engine.Heal
	case dsl.Crash:
		if client {
			return engine.Crash
		}
		return engine.ServerCrash
	default:
		if client {
			return engine.ClientClock
		}
		return engine.ServerClock
	}
}

func intern(list *[]string, index map[string]int32, s string) int32 {
	if i, ok := index[s]; ok {
		return i
	}
	i := int32(len(*list))
	index[s] = i
	*list = append(*list, s)
	return i
}

// serverList is the servers of a step, or of a message of it.
type serverList struct {
	step, message int32 // message is engine.None for the step itself
	fixed         []int32
	holes         []int32 // slots
}

// servers lays out the servers of some ranges. A server that no setting could provide is left out; the check of the cell
// reports it.
func (sh *shaper) servers(ranges []dsl.ServerRange, span *engine.Span, l serverList) {
	if len(ranges) == 0 {
		return
	}
	name := func(r dsl.ServerRange) {
		sh.plan.servers = append(sh.plan.servers, serverRef{hi: r.Hi, at: r.Span})
		sh.plan.highest = max(sh.plan.highest, r.Hi)
	}
	for _, r := range ranges {
		if r.Hole != nil {
			for _, in := range r.Hole.Servers {
				name(in)
			}
			l.holes = append(l.holes, sh.plan.sc.holes[r.Hole])
			continue
		}
		name(r)
		for s := r.Lo; s <= min(r.Hi, dsl.MaxServers); s++ {
			l.fixed = append(l.fixed, int32(s)-1)
		}
	}
	sh.prog.ServerIDs, *span = l.put(sh.prog.ServerIDs, nil)
	sh.plan.lists = append(sh.plan.lists, l)
}

// put appends the servers of the list, in their own order and each once; without the values of the slots those of the
// holes are missing.
func (l *serverList) put(ids []int32, slots []int64) ([]int32, engine.Span) {
	lo := len(ids)
	ids = append(ids, l.fixed...)
	if slots != nil {
		for _, slot := range l.holes {
			ids = append(ids, int32(slots[slot])-1)
		}
	}
	slices.Sort(ids[lo:])
	ids = append(ids[:lo], slices.Compact(ids[lo:])...)
	return ids, engine.Span{Lo: int32(lo), Hi: int32(len(ids))}
}

// members compiles the number of members that a claim is about, which is the same in all of them.
func (sh *shaper) members(c *dsl.Expect) code {
	if c.In != nil && sh.plan.sc.exprVaries(c.In) {
		sh.ev.faults.add(dsl.CodeHoleValues, c.In.Span(), "the number of members depends on a hole", "It is claimed of all members together.", "")
	}
	return sh.ev.add(c.In)
}
