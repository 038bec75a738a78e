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

func (sh *shaper) layout(clients []string, bodies []*dsl.Body, claims []*dsl.Expect) {
	p := sh.plan
	p.Claims = claims
	var roots []*dsl.Step
	for _, b := range bodies {
		roots = append(roots, b.Steps...)
	}
	slices.SortStableFunc(roots, func(a, b *dsl.Step) int { return cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset) })
	sh.nameClients(clients, roots)
	for _, root := range roots {
		sh.prog.Roots = append(sh.prog.Roots, int32(len(sh.prog.Steps)))
		sh.prog.Steps = append(sh.prog.Steps, engine.Step{})
		sh.tree(root)
	}
	for _, c := range p.Claims {
		client := engine.None
		if i, ok := sh.clients[c.Client]; ok {
			client = i
		}
		p.Subjects = append(p.Subjects, client)
		p.claims = append(p.claims, claimCode{at: sh.ev.add(c.At), n: sh.ev.add(c.N), iff: sh.ev.add(c.Iff), in: sh.ev.add(c.In)})
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
		out.Servers = sh.serverList(s.Actor.Servers)
	case len(s.From) > 0:
		out.Servers = sh.serverList(s.From)
	default:
		out.Servers = sh.serverList(s.On)
	}
	messages := engine.Span{Lo: int32(len(sh.prog.Messages))}
	for k := range s.Messages {
		m := &s.Messages[k]
		sh.prog.Messages = append(sh.prog.Messages, engine.Message{
			Servers: sh.serverList(m.Servers), Reply: m.Reply, Lost: m.Lost, Plus: m.When.Plus,
		})
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

// serverList appends the servers of some ranges, in their own order and each once. A server that no setting could
// provide is left out; the check of the cell reports it.
func (sh *shaper) serverList(ranges []dsl.ServerRange) engine.Span {
	if len(ranges) == 0 {
		return engine.Span{}
	}
	lo := len(sh.prog.ServerIDs)
	for _, r := range ranges {
		sh.plan.servers = append(sh.plan.servers, serverRef{hi: r.Hi, at: r.Span})
		sh.plan.highest = max(sh.plan.highest, r.Hi)
		for s := r.Lo; s <= min(r.Hi, dsl.MaxServers); s++ {
			sh.prog.ServerIDs = append(sh.prog.ServerIDs, int32(s)-1)
		}
	}
	slices.Sort(sh.prog.ServerIDs[lo:])
	sh.prog.ServerIDs = append(sh.prog.ServerIDs[:lo], slices.Compact(sh.prog.ServerIDs[lo:])...)
	return engine.Span{Lo: int32(lo), Hi: int32(len(sh.prog.ServerIDs))}
}
