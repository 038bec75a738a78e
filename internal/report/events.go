package report

import (
	"slices"
	"strings"

	"dlock/engine"
)

// happened tells one event.
func (t *teller) happened(e *engine.Event) happening {
	s := t.step(e.Step)
	h := happening{from: e.At.Tick, to: e.At.Tick, outcome: e.Outcome.String()}
	h.who, h.what = t.actor(e, s), t.action(e, s)
	switch e.Outcome {
	case engine.Sent:
		h.why = t.underway(e, s)
	case engine.Unheard:
		h.why = t.unheard(e)
	default:
		t.explain(e, s, &h)
	}
	if e.Outcome != engine.Sent && e.Sent < e.At.Tick {
		h.why = join([]string{h.why, "sent at " + tick(e.Sent)}, "; ")
	}
	if e.Heard != engine.Forever && e.Heard > e.At.Tick {
		h.why = join([]string{h.why, "heard at " + tick(e.Heard)}, "; ")
	}
	return h
}

// unheard says what an answer that never comes leaves behind.
func (t *teller) unheard(e *engine.Event) string {
	switch e.Verb {
	case engine.Append, engine.Write:
		return t.writeUnheard(e)
	case engine.Read:
		return "no answer comes: its copy stays as it was"
	case engine.Release:
		return "no answer comes: it has let go all the same"
	default:
		return "no answer comes: it believes what it did before"
	}
}

func (t *teller) explain(e *engine.Event, s *engine.Step, h *happening) {
	switch e.Verb {
	case engine.Acquire:
		t.explainAcquire(e, h)
	case engine.Renew, engine.Release, engine.Check:
		t.explainAsk(e, h)
	case engine.Read:
		if r := at(t.rec.Reads, e.Index); r != nil {
			h.outcome = value(t.rec.Value(r.Value))
			h.why = "version " + number(r.Version)
		}
	case engine.Append, engine.Write:
		t.explainWrite(e, s, h)
	case engine.Pause:
		if p := at(t.rec.Pauses, e.Index); p != nil {
			h.outcome, h.why = "paused", "executes nothing in "+interval(p.Start.Tick, p.End)
		}
	case engine.Notice:
		h.outcome, h.why = "knows", "that it no longer holds the lock"
	case engine.Crash:
		h.outcome, h.why = "gone", "its later steps with it"
	case engine.WatchdogStop:
		h.outcome, h.why = "stopped", "nothing renews the lease any more"
	default:
		t.explainFault(e, s, h)
	}
}

// actor says who acts.
func (t *teller) actor(e *engine.Event, s *engine.Step) string {
	switch e.Verb {
	case engine.Cut, engine.Heal:
		return t.client(s.Client)
	case engine.ResourceForget:
		return "resource"
	}
	if e.Client >= 0 {
		return t.client(e.Client)
	}
	return serverList(t.servers(s))
}

// servers lists those that a step names; none named means all.
func (t *teller) servers(s *engine.Step) []int32 {
	ids := t.rec.Program.ServerIDs
	if s.Servers.Len() == 0 || int(s.Servers.Hi) > len(ids) {
		all := make([]int32, t.settings().Servers)
		for i := range all {
			all[i] = int32(i)
		}
		return all
	}
	named := slices.Clone(ids[s.Servers.Lo:s.Servers.Hi])
	slices.Sort(named)
	return named
}

// action writes what was done as the language does, with every value computed.
func (t *teller) action(e *engine.Event, s *engine.Step) string {
	var b strings.Builder
	b.WriteString(e.Verb.String())
	ttl := func(n engine.Tick) {
		if n == engine.Forever {
			b.WriteString(" ttl none")
		} else {
			b.WriteString(" ttl " + number(n))
		}
	}
	switch e.Verb {
	case engine.Acquire:
		ttl(s.TTL)
		if s.Servers.Len() > 0 {
			b.WriteString(" on " + serverList(t.servers(s)))
		}
		if s.Owner != s.Client && s.Owner >= 0 && int(s.Owner) < len(t.rec.Program.Owners) {
			b.WriteString(" as " + value(t.rec.Program.Owners[s.Owner]))
		}
	case engine.Renew:
		ttl(s.TTL)
		if s.Recreate {
			b.WriteString(" recreate")
		}
		if e.Background {
			return "renew by watchdog"
		}
	case engine.Append, engine.Write:
		if s.Text >= 0 && int(s.Text) < len(t.rec.Program.Texts) {
			b.WriteString(" " + value(t.rec.Program.Texts[s.Text]))
		}
		b.WriteString(conditions(s))
	case engine.Pause:
		if s.PauseFor >= 0 {
			b.WriteString(" for " + number(s.PauseFor))
		} else {
			b.WriteString(" until " + plus(s.UntilPlus) + number(s.PauseUntil))
		}
	case engine.ClientClock, engine.ServerClock:
		switch {
		case s.ClockStop:
			b.WriteString(" stop")
		case s.ClockBy < 0:
			b.WriteString(" " + number(s.ClockBy))
		default:
			b.WriteString(" +" + number(s.ClockBy))
		}
	case engine.ServerRestart:
		b.WriteString([...]string{"", " empty", " wiped"}[s.Restart])
	case engine.Cut, engine.Heal:
		if s.Servers.Len() > 0 || s.Resource {
			b.WriteString(" from")
		}
		if s.Servers.Len() > 0 {
			b.WriteString(" " + serverList(t.servers(s)))
		}
		if s.Resource {
			b.WriteString(" resource")
		}
	}
	b.WriteString(t.messages(s))
	return b.String()
}

// messages writes what a line says about when its requests land and its answers are heard.
func (t *teller) messages(s *engine.Step) string {
	var b strings.Builder
	for i := s.Messages.Lo; i < s.Messages.Hi; i++ {
		m := at(t.rec.Program.Messages, i)
		if m == nil {
			continue
		}
		verb, where, lost := " arrives ", " at ", "never"
		if m.Reply {
			verb, where, lost = " reply ", " from ", "lost"
		}
		when := plus(m.Plus) + number(m.At)
		if m.Lost {
			when = lost
		}
		b.WriteString(verb + when)
		if m.Servers.Len() > 0 {
			b.WriteString(where + serverList(t.servers(&engine.Step{Servers: m.Servers})))
		}
	}
	return b.String()
}

func plus(is bool) string {
	if is {
		return "+"
	}
	return ""
}

// conditions writes the suffixes of a write that decide about it.
func conditions(s *engine.Step) string {
	var b strings.Builder
	switch s.If {
	case engine.CondChecked:
		b.WriteString(" if checked")
	case engine.CondValid:
		b.WriteString(" if valid")
	}
	if s.Guards&engine.GuardVersion != 0 {
		b.WriteString(" guard version")
	}
	if s.Guards&engine.GuardLock != 0 {
		b.WriteString(" guard lock")
	}
	if s.Guards&engine.GuardBefore != 0 {
		b.WriteString(" guard before " + plus(s.BeforePlus) + number(s.Before))
	}
	return b.String()
}

// underway says when a request that takes time lands. An acquire's votes have it; for the other questions to servers it
// follows from their line and from who was cut off when it was sent.
func (t *teller) underway(e *engine.Event, s *engine.Step) string {
	first, last := engine.Forever, engine.Tick(-1)
	see := func(lands engine.Tick) {
		if lands != engine.Forever {
			first, last = min(first, lands), max(last, lands)
		}
	}
	switch e.Verb {
	case engine.Append, engine.Write:
		if w := at(t.rec.Writes, e.Index); w != nil {
			see(w.Applied.Tick)
		}
	case engine.Read:
		if r := at(t.rec.Reads, e.Index); r != nil {
			see(r.Applied.Tick)
		}
	case engine.Acquire:
		if a := at(t.votes, e.Index); a != nil {
			for _, v := range *a {
				see(t.rec.Votes[v].Applied.Tick)
			}
		}
	default:
		if a := at(t.rec.Asks, e.Index); a != nil {
			for _, server := range t.servers(&engine.Step{}) {
				if !t.cutOff(a.Client, server, a.Sent) {
					see(t.lands(s, server, e.Sent))
				}
			}
		}
	}
	switch {
	case last < 0:
		return "lost on the way: it never lands"
	case last <= e.Sent:
		return "lands at once; the answer is under way"
	}
	return "under way, lands at " + stretch(first, last)
}

// cutOff tells whether a client is cut off from a server at a moment.
func (t *teller) cutOff(client, server int32, m engine.Moment) bool {
	return slices.ContainsFunc(t.rec.Faults, func(f engine.Fault) bool {
		return f.Kind == engine.FaultCut && f.Client == client && f.Server == server && f.Start.Before(m) && m.Before(f.End)
	})
}

// lands says when a line's request reaches a server, by the line's suffixes.
func (t *teller) lands(s *engine.Step, server int32, sent engine.Tick) engine.Tick {
	lands := sent
	for i := s.Messages.Lo; i < s.Messages.Hi; i++ {
		m := at(t.rec.Program.Messages, i)
		switch {
		case m == nil || m.Reply || m.Servers.Len() > 0 && !slices.Contains(t.rec.Program.ServerIDs[m.Servers.Lo:m.Servers.Hi], server):
		case m.Lost:
			lands = engine.Forever
		case m.Plus:
			lands = sent + m.At
		default:
			lands = max(m.At, sent)
		}
	}
	return lands
}

func (t *teller) explainAcquire(e *engine.Event, h *happening) {
	a := at(t.rec.Attempts, e.Index)
	if a == nil {
		h.why = "it stops asking"
		return
	}
	switch e.Outcome {
	case engine.Granted:
		h.why = "token " + number(a.Token) + ", " + votes(t.heardYes(a, e.Index), int32(len(t.votes[e.Index])))
		if a.Again {
			h.why += "; it held the lock already (reentrant)"
		}
		h.why += "; " + t.leasesOf(a, e.Index)
		if every := t.step(e.Step).Watchdog; every > 0 {
			h.why += "; renewed every " + number(every)
		}
	case engine.Waiting:
		h.why, h.calm = t.refusal(a, e.Index)+"; it asks again every "+number(t.step(e.Step).Retry), true
	case engine.Denied:
		h.why = t.refusal(a, e.Index)
		if tr := at(t.rec.Trials, a.Trial); tr != nil && tr.End == engine.TrialHorizon {
			h.why += "; it stops asking at the horizon"
		} else if tr != nil && tr.End == engine.TrialUntil {
			h.why += "; its retry is over"
		}
	}
}

// heardYes counts the votes that an attempt's client had heard when it was decided; others may have been under way.
func (t *teller) heardYes(a *engine.Attempt, index int32) int32 {
	n := int32(0)
	for _, v := range t.votes[index] {
		if v := &t.rec.Votes[v]; (v.Kind == engine.VoteYes || v.Kind == engine.VoteAgain) && !v.Lost && v.Heard <= a.Decided.Tick {
			n++
		}
	}
	return n
}

// leasesOf says how long the leases of a granted attempt run if nothing renews or ends them. With judge caller-ttl that is
// what its own client counts, and what another will count depends on who asks.
func (t *teller) leasesOf(a *engine.Attempt, index int32) string {
	s := t.leasesRun(a, index)
	if t.settings().Judge == engine.JudgeCallerTTL && t.settings().Leases {
		s += "; others count their own ttl"
	}
	return s
}

func (t *teller) leasesRun(a *engine.Attempt, index int32) string {
	ttl := t.step(a.Step).TTL
	if ttl == engine.Forever || !t.settings().Leases {
		return "its leases have no end"
	}
	if t.settings().Judge == engine.JudgeCaller {
		if t.skewed(a.Client, engine.None, a.Sent, engine.FaultClock, engine.FaultClockStop) {
			return "leases for " + number(ttl) + " from the send, by its own clock"
		}
		return "leases to " + tick(a.Sent.Tick+ttl)
	}
	first, last := engine.Forever, engine.Tick(0)
	for _, v := range t.votes[index] {
		if v := &t.rec.Votes[v]; v.Kind == engine.VoteYes || v.Kind == engine.VoteAgain {
			if t.skewed(engine.None, v.Server, v.Applied, engine.FaultClockStop) {
				return "leases for " + number(ttl) + " by the servers' clocks, not all of which move"
			}
			first, last = min(first, v.Applied.Tick), max(last, v.Applied.Tick)
		}
	}
	switch first {
	case engine.Forever:
		return "no lease"
	case last:
		return "leases " + interval(first, first+ttl)
	default:
		return "leases to " + stretch(first+ttl, last+ttl)
	}
}

// skewed tells whether one of some kinds of faults has befallen the clock of a client or a server before a moment.
func (t *teller) skewed(client, server int32, m engine.Moment, kinds ...engine.FaultKind) bool {
	return slices.ContainsFunc(t.rec.Faults, func(f engine.Fault) bool {
		return f.Client == client && f.Server == server && f.Start.Before(m) && slices.Contains(kinds, f.Kind)
	})
}

// outlived tells whether what refused a vote was a lease that had ended by its server's own clock: its asker, who judges it
// by itself, saw it otherwise.
func (t *teller) outlived(v *engine.Vote) bool {
	return t.settings().Judge != engine.JudgeServer && v.Holder >= 0 && t.livingAt(v.Server, v.Applied) == nil
}

// refusal says why an attempt was not granted.
func (t *teller) refusal(a *engine.Attempt, index int32) string {
	if a.Invalid {
		return "the quorum was heard too late: its ttl had passed since the send (validity)"
	}
	type blocker struct {
		holder   int32
		outlived bool
		servers  []int32
	}
	var blockers []blocker
	var silent, returned []int32
	for _, i := range t.votes[index] {
		v := &t.rec.Votes[i]
		switch v.Kind {
		case engine.VoteNothing:
			silent = append(silent, v.Server)
		case engine.VoteNo:
			outlived := t.outlived(v)
			at := slices.IndexFunc(blockers, func(b blocker) bool { return b.holder == v.Holder && b.outlived == outlived })
			if at < 0 {
				at = len(blockers)
				blockers = append(blockers, blocker{holder: v.Holder, outlived: outlived})
			}
			blockers[at].servers = append(blockers[at].servers, v.Server)
		default:
			if v.Returned {
				returned = append(returned, v.Server)
			}
		}
	}
	var parts []string
	if a.Yes > 0 {
		yes := t.heardYes(a, index)
		heard := votes(yes, int32(len(t.votes[index])))
		if a.Yes > yes {
			heard += " heard (" + number(a.Yes) + " were cast)"
		}
		parts = append(parts, heard+", "+number(t.settings().Quorum)+" needed")
	}
	for _, b := range blockers {
		slices.Sort(b.servers)
		where := serverList(b.servers)
		switch {
		case b.holder < 0:
			parts = append(parts, where+" closed by lock-delay")
		case b.outlived:
			who, by := t.client(a.Client), "ttl"
			if t.settings().Judge == engine.JudgeCaller {
				by = "clock"
			}
			parts = append(parts, "by "+who+"'s "+by+" "+t.client(b.holder)+" still has "+where)
		case b.holder == a.Client:
			parts = append(parts, "it has "+where+" already")
		default:
			parts = append(parts, t.client(b.holder)+" has "+where)
		}
	}
	if len(silent) > 0 {
		slices.Sort(silent)
		parts = append(parts, "no answer from "+serverList(silent))
	}
	if a.Yes > 0 {
		slices.Sort(returned)
		if len(returned) > 0 {
			parts = append(parts, "hands back "+serverList(returned))
		} else {
			parts = append(parts, "hands nothing back")
		}
	}
	return strings.Join(parts, "; ")
}

func (t *teller) explainAsk(e *engine.Event, h *happening) {
	a := at(t.rec.Asks, e.Index)
	if a == nil {
		return
	}
	who, silent := t.client(e.Client), ""
	if servers, sure := t.silent(a, t.step(e.Step)); !sure {
		silent = "; other answers may be missing"
	} else if len(servers) > 0 {
		silent = "; no answer from " + serverList(servers)
	}
	part := number(a.Heard) + " of " + number(a.Asked) + " servers"
	unheard := a.Yes > a.Heard // some did as asked and their answers came later or never
	if unheard {
		part += ", as far as it hears (" + number(a.Yes) + " did it)"
		if e.Outcome == engine.Yes || e.Outcome == engine.No {
			part = number(a.Heard) + " of " + number(a.Asked) + " servers, as far as it hears (it has " + number(a.Yes) + ")"
		}
	}
	switch e.Outcome {
	case engine.Renewed:
		h.why = "on " + part
		if a.Token > 0 {
			h.why += ", anew with token " + number(a.Token)
		}
	case engine.Lost:
		h.why = "only " + part + " still had its lease"
		switch {
		case unheard:
			h.why = "only on " + part
		case silent != "":
			h.why = "only on " + part + silent
		case a.Heard == 0:
			h.why = "no server has a lease of it"
		}
	case engine.Released:
		h.why = "on " + part
	case engine.Expired:
		h.why = "its leases were over: nothing to give back"
		switch {
		case unheard:
			h.why = "only on " + part
		case silent != "":
			h.why = "only on " + part + silent
		case a.Heard > 0:
			h.why = "only " + part + " still had its lease"
		}
	case engine.Yes:
		h.why = who + " has " + part
	case engine.No:
		h.why = who + " has " + part
		if silent != "" && !unheard {
			h.why = who + " hears of " + part + silent
		} else if a.Heard == 0 && !unheard {
			h.why = who + " has no server"
		}
	}
}

// silent lists the servers whose answer to a question its client cannot have heard: they were down or cut off, or the line
// says so. It is not sure where something breaks or is mended in the very tick in which a request lands that was under way.
func (t *teller) silent(a *engine.Ask, s *engine.Step) (servers []int32, sure bool) {
	sure = true
	for _, server := range t.servers(&engine.Step{}) {
		lands := t.lands(s, server, a.Sent.Tick)
		if lands == engine.Forever || t.cutOff(a.Client, server, a.Sent) || t.replyLost(s, server) {
			servers = append(servers, server)
			continue
		}
		m := a.Sent
		if lands > m.Tick {
			m = engine.Moment{Tick: lands}
		}
		for i := range t.rec.Faults {
			f := &t.rec.Faults[i]
			if f.Server != server || f.Kind != engine.FaultServerCrash && (f.Kind != engine.FaultCut || f.Client != a.Client) {
				continue
			}
			if m != a.Sent && (f.Start.Tick == lands || f.End.Tick == lands) {
				sure = false
			} else if f.Start.Before(m) && m.Before(f.End) {
				servers = append(servers, server)
				break
			}
		}
	}
	return servers, sure
}

// replyLost tells whether a line says that a server's answer is lost.
func (t *teller) replyLost(s *engine.Step, server int32) bool {
	lost := false
	for i := s.Messages.Lo; i < s.Messages.Hi; i++ {
		m := at(t.rec.Program.Messages, i)
		if m != nil && m.Reply && (m.Servers.Len() == 0 || slices.Contains(t.rec.Program.ServerIDs[m.Servers.Lo:m.Servers.Hi], server)) {
			lost = m.Lost
		}
	}
	return lost
}

func (t *teller) explainFault(e *engine.Event, s *engine.Step, h *happening) {
	switch e.Verb {
	case engine.ServerCrash:
		h.outcome, h.why = "down", "answers nothing"
	case engine.ServerRestart:
		h.outcome = "up"
		h.why = [...]string{"with all it knew", "without its lease", "without its lease and its token counter"}[s.Restart]
		if len(t.servers(s)) > 1 {
			h.why = [...]string{"with all they knew", "without their leases", "without their leases and their token counters"}[s.Restart]
		}
	case engine.ServerClock, engine.ClientClock:
		h.outcome = "jumps"
		if s.ClockStop {
			h.outcome, h.why = "frozen", "no lease ends by this clock"
			if e.Verb == engine.ClientClock {
				h.why = "its own clock no longer moves"
			}
		}
	case engine.ServerRevoke:
		h.outcome, h.why = "unlocked", "by force; the holder is not told"
	case engine.ResourceForget:
		h.outcome, h.why = "forgets", "the highest token it has seen"
	case engine.Cut:
		h.outcome, h.why = "cut off", "what is sent from here on is lost"
	case engine.Heal:
		h.outcome = "connected"
	}
}
