package promela

import (
	"fmt"
	"slices"
	"strings"

	"dlock/engine"
)

// adder takes the lines of one slice into the model.
type adder struct {
	model *model
	p     *engine.Program
	slice int64
	seen  map[int32]bool // lines of this slice
	size  size
}

func (a *adder) program() error {
	for _, r := range a.p.Roots {
		if err := a.step(r, place{}); err != nil {
			return err
		}
		s := &a.p.Steps[r]
		a.size.roots = max(a.size.roots, min(s.At+a.reach(s), forever))
		a.model.lines[s.Line].starts.add(fmt.Sprintf("due[L%d] = %d;", s.Line, s.At), a.slice)
	}
	return nil
}

// reach is how far a step's hole can move it.
func (a *adder) reach(s *engine.Step) engine.Tick {
	if s.Hole == 0 {
		return 0
	}
	h := a.p.Holes[s.Hole-1]
	return engine.Tick(h.N-1) * h.By
}

// step takes in a line and the lines of its blocks; in is the block that it stands in, none for a line by itself.
func (a *adder) step(i int32, in place) error {
	s := &a.p.Steps[i]
	if err := a.supported(s); err != nil {
		return err
	}
	if a.seen[s.Line] {
		return &UnsupportedError{s.Line, "a line with several steps"}
	}
	a.seen[s.Line] = true
	m := a.model
	l := m.lines[s.Line]
	if l == nil {
		l = &line{number: s.Line, client: s.Client, verb: s.Verb, hole: s.Hole, says: a.says(s)}
		m.lines[s.Line] = l
		a.count(s, in)
	} else if l.client != s.Client || l.verb != s.Verb || l.hole != s.Hole {
		return errMixed
	}
	if s.Hole != 0 {
		h := &m.holes[s.Hole-1]
		if *h != (engine.Hole{}) && *h != a.p.Holes[s.Hole-1] {
			return &UnsupportedError{s.Line, "a hole whose values differ from member to member"}
		}
		*h = a.p.Holes[s.Hole-1]
	}
	if says := a.says(s); l.says != says {
		l.says = a.subject(s) + " " + s.Verb.String() // what the values are differs from slice to slice
	}
	a.measure(s, in)
	actor := int32(0)
	if m.ties {
		actor = a.actor(s)
	}
	if !slices.Contains(m.actors, actor) {
		m.actors = append(m.actors, actor)
	}
	// Places in the list of actors are known only once all slices are in.
	l.actor.add(fmt.Sprint(actor), a.slice)
	l.parts.add(a.work(s), a.slice)
	for b := s.Blocks.Lo; b < s.Blocks.Hi; b++ {
		for n := a.p.Blocks[b].Steps.Lo; n < a.p.Blocks[b].Steps.Hi; n++ {
			if err := a.step(n, place{s.Line, b - s.Blocks.Lo + 1}); err != nil {
				return err
			}
		}
	}
	return nil
}

// supported checks one line.
func (a *adder) supported(s *engine.Step) error {
	what := ""
	switch {
	case s.Repeat == engine.Every:
		what = "every"
	case s.Messages.Len() > 0:
		what = "a message that takes time or is lost"
	case s.Verb == engine.Acquire && s.Watchdog > 0:
		what = "a watchdog"
	case s.Verb == engine.Acquire && s.Owner != s.Client:
		what = `an owner id of its own (as "…")`
	}
	switch s.Verb {
	case engine.Renew, engine.WatchdogStop, engine.ClientClock, engine.ServerClock, engine.Cut, engine.Heal:
		what = s.Verb.String()
	}
	if what != "" {
		return &UnsupportedError{s.Line, what}
	}
	return nil
}

// count notes what a line needs that is the same in all slices.
func (a *adder) count(s *engine.Step, in place) {
	m := a.model
	switch s.Verb {
	case engine.Acquire:
		if s.Retry > 0 {
			m.retries = append(m.retries, s.Line)
		}
	case engine.Pause:
		m.uses.pauses = true
	case engine.Crash:
		if !slices.Contains(m.crashes, s.Client) {
			m.crashes = append(m.crashes, s.Client)
		}
	case engine.ServerCrash, engine.ServerRestart, engine.ServerRevoke:
		m.uses.serversFail = true
	}
	m.uses.valid = m.uses.valid || s.If == engine.CondValid
	m.uses.guardVersion = m.uses.guardVersion || s.Guards&engine.GuardVersion != 0
	if s.Hole != 0 {
		h := &m.waiting[s.Hole-1]
		h.many = h.many || len(h.lines) > 0 && h.in != in
		h.lines, h.in = append(h.lines, s.Line), in
	}
}

// measure adds up how far the line can push the schedule's end.
func (a *adder) measure(s *engine.Step, in place) {
	m, z := a.model, &a.size
	m.places = m.places || s.Servers.Len() > 0
	if in != (place{}) {
		z.stretch(s.At + a.reach(s))
	}
	switch s.Verb {
	case engine.Acquire:
		if s.TTL != engine.Forever && m.settings.Leases {
			z.ttl = max(z.ttl, min(s.TTL, forever))
		}
		asks := int64(1)
		if s.Retry > 0 {
			z.stretch(s.Retry)
			asks += int64(m.settings.Horizon/s.Retry) + 1
			if s.RetryPlus && s.RetryUntil < m.settings.Horizon {
				z.stretch(s.RetryUntil)
			}
		}
		z.turns += asks
	case engine.Pause:
		z.turns += 1 + int64(len(a.p.Steps)) // it may put off every other line once
		if s.PauseFor >= 0 {
			z.stretch(s.PauseFor)
		} else {
			z.stretch(s.PauseUntil)
		}
	default:
		z.turns++
	}
}

// actor says whose work a line is, where ties are open: a client's, the resource's, or the first of its servers'.
func (a *adder) actor(s *engine.Step) int32 {
	clients := int32(len(a.p.Clients))
	switch {
	case s.Client != engine.None:
		return s.Client
	case s.Verb == engine.ResourceForget:
		return clients
	case s.Servers.Len() == 0:
		return clients + 1
	}
	return clients + 1 + a.p.ServerIDs[s.Servers.Lo]
}

// who is the client's name in the model.
func (a *adder) who(s *engine.Step) string { return clientName(a.p.Clients[s.Client]) }

func clientName(name string) string { return "client_" + name }

func (a *adder) subject(s *engine.Step) string {
	switch {
	case s.Client != engine.None:
		return a.p.Clients[s.Client]
	case s.Verb == engine.ResourceForget:
		return "resource"
	}
	return "servers"
}

// says is the line in words, for comments.
func (a *adder) says(s *engine.Step) string {
	text := a.subject(s) + " " + s.Verb.String()
	if s.Verb == engine.Acquire {
		if s.TTL == engine.Forever {
			text += " ttl none"
		} else {
			text += fmt.Sprintf(" ttl %d", s.TTL)
		}
		if s.Retry > 0 {
			text += fmt.Sprintf(" retry every %d", s.Retry)
		}
	}
	return text
}

// asked is the condition on sv, the server, that is true for the servers of a line.
func (a *adder) asked(s *engine.Step) string {
	if s.Servers.Len() == 0 {
		return "true"
	}
	list := slices.Clone(a.p.ServerIDs[s.Servers.Lo:s.Servers.Hi])
	slices.Sort(list)
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] <= list[j]+1 {
			j++
		}
		if list[i] == list[j] {
			parts = append(parts, fmt.Sprintf("sv == %d", list[i]))
		} else {
			parts = append(parts, fmt.Sprintf("(sv >= %d && sv <= %d)", list[i], list[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, " || ")
}

// blocks is what follows an outcome: its lines get their turns.
func (a *adder) blocks(s *engine.Step, o engine.Outcome) string {
	var parts []string
	for b := s.Blocks.Lo; b < s.Blocks.Hi; b++ {
		blk := &a.p.Blocks[b]
		if blk.On&(1<<o) == 0 {
			continue
		}
		for n := blk.Steps.Lo; n < blk.Steps.Hi; n++ {
			st := &a.p.Steps[n]
			at := fmt.Sprintf("now + %d", st.At)
			if st.Hole != 0 {
				if at += fmt.Sprintf(" + value[%d]", st.Hole-1); a.p.Holes[st.Hole-1].By != 1 {
					at += fmt.Sprintf(" * %d", a.p.Holes[st.Hole-1].By)
				}
			}
			parts = append(parts, fmt.Sprintf("due[L%d] = %s", st.Line, at))
		}
	}
	if len(parts) == 0 {
		return "skip"
	}
	return strings.Join(parts, "; ")
}

// branch is an outcome with the condition that it has in the model.
type branch struct {
	when string
	on   engine.Outcome
}

// choose adds what follows the outcomes; nothing if nothing follows any of them.
func (a *adder) choose(s *engine.Step, branches ...branch) string {
	text, some := ";\nif", false
	for _, b := range branches {
		next := a.blocks(s, b.on)
		some = some || next != "skip"
		text += "\n:: " + b.when + " -> " + next
	}
	if !some {
		return ""
	}
	return text + "\nfi"
}

// answered adds what follows a request to the servers.
func (a *adder) answered(s *engine.Step, good, bad engine.Outcome) string {
	return a.choose(s, branch{"count >= QUORUM", good}, branch{"count < QUORUM && answers > 0", bad}, branch{"else", engine.Unheard})
}

// work is what a line does when it has its turn.
func (a *adder) work(s *engine.Step) string {
	switch s.Verb {
	case engine.Acquire:
		return a.acquire(s)
	case engine.Release:
		return fmt.Sprintf("let_go(%s)", a.who(s)) + a.answered(s, engine.Released, engine.Expired)
	case engine.Check:
		return fmt.Sprintf("look(%s)", a.who(s)) + a.answered(s, engine.Yes, engine.No)
	case engine.Read:
		return fmt.Sprintf("copy_value(%s)", a.who(s)) + a.choose(s, branch{"true", engine.HeardRead})
	case engine.Append, engine.Write:
		return a.write(s)
	case engine.Notice:
		return fmt.Sprintf("disbelieve(%s)", a.who(s))
	case engine.Pause:
		switch {
		case s.PauseFor >= 0:
			return fmt.Sprintf("pause_until(%s, now + %d)", a.who(s), s.PauseFor)
		case s.UntilPlus:
			return fmt.Sprintf("pause_until(%s, now + %d)", a.who(s), s.PauseUntil)
		}
		return fmt.Sprintf("pause_until(%s, %d)", a.who(s), s.PauseUntil)
	case engine.Crash:
		return fmt.Sprintf("disbelieve(%s);\ngone_%s()", a.who(s), a.p.Clients[s.Client])
	case engine.ResourceForget:
		return "forget_tokens()"
	}
	return a.servers(s)
}

func (a *adder) acquire(s *engine.Step) string {
	ttl := "NEVER"
	if s.TTL != engine.Forever && a.p.Settings.Leases {
		ttl = fmt.Sprint(s.TTL)
	}
	ask := fmt.Sprintf("ask(%s, %s, %s)", a.who(s), ttl, a.asked(s))
	if s.Retry == 0 {
		return ask + a.choose(s, branch{"granted", engine.Granted}, branch{"else", engine.Denied})
	}
	ends := "NEVER" // the horizon comes first
	if s.RetryUntil < a.p.Settings.Horizon {
		if ends = fmt.Sprint(s.RetryUntil); s.RetryPlus {
			ends = "now + " + ends
		}
	}
	return fmt.Sprintf("try(%s, %s, %s, R%d, %s, %d);\nif\n:: granted -> %s\n:: !over -> due[L%d] = now + %d\n:: else -> %s\nfi", a.who(s), ttl,
		a.asked(s), s.Line, ends, s.Retry, a.blocks(s, engine.Granted), s.Line, s.Retry, a.blocks(s, engine.Denied))
}

func (a *adder) write(s *engine.Step) string {
	who := a.who(s)
	version, lock, before := "false", "false", "false"
	if s.Guards&engine.GuardVersion != 0 {
		version = fmt.Sprintf("copy[%s] != version", who)
	}
	if s.Guards&engine.GuardLock != 0 {
		lock = "count < QUORUM"
	}
	if s.Guards&engine.GuardBefore != 0 {
		if before = fmt.Sprintf("now >= %d", min(s.Before, forever)); s.BeforePlus {
			before = fmt.Sprint(s.Before <= 0) // counted from the send, which is now
		}
	}
	land := fmt.Sprintf("land(%s, %v, %s, %s, %s)", who, s.Verb == engine.Append, version, lock, before) +
		a.choose(s, branch{"refused", engine.Rejected}, branch{"else", engine.Accepted})
	var cond string
	switch s.If {
	case engine.CondChecked:
		cond = fmt.Sprintf("checked[%s]", who)
	case engine.CondValid:
		cond = fmt.Sprintf("now < valid[%s]", who)
	default:
		return land
	}
	return fmt.Sprintf("if\n:: %s ->\n%s\n:: else -> %s\nfi", cond, indent(land, 1), a.blocks(s, engine.Skipped))
}

// servers is a line about servers.
func (a *adder) servers(s *engine.Step) string {
	do := "forget_lease(sv)"
	switch {
	case s.Verb == engine.ServerCrash:
		do = "down[sv] = true"
	case s.Verb == engine.ServerRestart && s.Restart == engine.RestartKept:
		do = "down[sv] = false"
	case s.Verb == engine.ServerRestart && s.Restart == engine.RestartEmpty:
		do = "down[sv] = false; forget_lease(sv)"
	case s.Verb == engine.ServerRestart:
		do = "down[sv] = false; forget_lease(sv); forget_counter(sv)"
	}
	return fmt.Sprintf("for (sv : 0 .. SERVERS - 1) { if :: %s -> %s :: else fi }", a.asked(s), do)
}

func indent(text string, by int) string {
	pad := strings.Repeat("  ", by)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l != "" && !strings.HasPrefix(l, "#") {
			lines[i] = pad + l
		}
	}
	return strings.Join(lines, "\n")
}
