// Package randtext writes programs as files of the language, for tests that start from a text. It writes what
// randprog makes; a program that no file could say is none of its business.
package randtext

import (
	"fmt"
	"strconv"
	"strings"

	"dlock/engine"
)

// Write gives a file that compiles to a program of the same meaning. With lets, ttls, pauses and ticks that can be
// divided by three are lets that are shared by equal numbers.
func Write(p *engine.Program, lets bool) string {
	w := &writer{p: p, named: map[engine.Tick]bool{}, lets: lets}
	var body strings.Builder
	for _, i := range p.Roots {
		w.step(&body, i, "")
	}
	var head strings.Builder
	w.settings(&head)
	for v := range engine.Tick(100) {
		if w.named[v] {
			fmt.Fprintf(&head, "let n%d = %d\n", v, v)
		}
	}
	return head.String() + body.String()
}

type writer struct {
	p     *engine.Program
	lets  bool
	named map[engine.Tick]bool
}

// number writes a number that may be a let.
func (w *writer) number(t engine.Tick) string {
	if w.lets && t > 0 && t < 100 && t%3 == 0 {
		w.named[t] = true
		return "n" + strconv.Itoa(int(t))
	}
	return strconv.FormatInt(int64(t), 10)
}

func (w *writer) settings(b *strings.Builder) {
	s := &w.p.Settings
	word := func(name string, words ...string) func(i int) {
		return func(i int) {
			if i > 0 {
				fmt.Fprintf(b, "%s %s\n", name, words[i])
			}
		}
	}
	fmt.Fprintf(b, "servers %d\n", s.Servers)
	if s.Quorum != s.Servers/2+1 {
		fmt.Fprintf(b, "quorum %d\n", s.Quorum)
	}
	word("fencing", "off", "on", "strict")(int(s.Fencing))
	word("fence-at", "write", "read", "grant")(int(s.FenceAt))
	word("leases", "on", "off")(bit(!s.Leases))
	word("handback", "all", "confirmed", "off")(int(s.Handback))
	word("tokens", "counters", "ordered")(int(s.Tokens))
	word("judge", "server", "caller", "caller-ttl")(int(s.Judge))
	word("reentrant", "off", "on")(bit(s.Reentrant))
	word("owner-check", "on", "off")(bit(!s.OwnerCheck))
	if s.Validity {
		fmt.Fprintf(b, "validity %d\n", s.Margin)
	}
	if s.LockDelay > 0 {
		fmt.Fprintf(b, "lock-delay %d\n", s.LockDelay)
	}
	if s.Initial != "" {
		fmt.Fprintf(b, "initial %q\n", s.Initial)
	}
	fmt.Fprintf(b, "horizon %d\n", s.Horizon)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *writer) servers(s engine.Span) string {
	var words []string
	for _, i := range w.p.ServerIDs[s.Lo:s.Hi] {
		words = append(words, "s"+strconv.Itoa(int(i)+1))
	}
	return strings.Join(words, " ")
}

func plus(yes bool) string {
	if yes {
		return "+"
	}
	return ""
}

func (w *writer) step(b *strings.Builder, i int32, indent string) {
	s := &w.p.Steps[i]
	var actor string
	switch {
	case s.Verb == engine.Cut || s.Verb == engine.Heal:
		actor = s.Verb.String() + " " + w.p.Clients[s.Client] + " from"
		if s.Servers.Len() > 0 {
			actor += " " + w.servers(s.Servers)
		}
		if s.Resource {
			actor += " resource"
		}
	case s.Client != engine.None:
		actor = w.p.Clients[s.Client] + " " + s.Verb.String()
	case s.Verb == engine.ResourceForget:
		actor = "resource forget"
	default:
		actor = w.servers(s.Servers) + " " + s.Verb.String()
	}
	switch s.Repeat {
	case engine.Every:
		fmt.Fprintf(b, "%severy %d from %s to %d %s", indent, s.K, w.number(s.At), s.Last, actor)
	case engine.AfterOutcome:
		fmt.Fprintf(b, "%s+%d %s", indent, s.At, s.Verb)
	default:
		fmt.Fprintf(b, "%sat %s %s", indent, w.number(s.At), actor)
	}
	b.WriteString(w.suffixes(s))
	for k := s.Blocks.Lo; k < s.Blocks.Hi; k++ {
		if k > s.Blocks.Lo {
			b.WriteString(indent + "}")
		}
		block := &w.p.Blocks[k]
		for o := range engine.NumOutcomes {
			if block.On&(1<<o) != 0 {
				fmt.Fprintf(b, " when %s {\n", o)
			}
		}
		for j := block.Steps.Lo; j < block.Steps.Hi; j++ {
			w.step(b, j, indent+"  ")
		}
	}
	if s.Blocks.Len() > 0 {
		b.WriteString(indent + "}")
	}
	b.WriteByte('\n')
}

func (w *writer) suffixes(s *engine.Step) string {
	var b strings.Builder
	switch s.Verb {
	case engine.Acquire, engine.Renew:
		if s.TTL == engine.Forever {
			b.WriteString(" ttl none")
		} else {
			b.WriteString(" ttl " + w.number(s.TTL))
		}
		if s.Verb == engine.Acquire && s.Servers.Len() > 0 {
			b.WriteString(" on " + w.servers(s.Servers))
		}
		if s.Retry > 0 {
			fmt.Fprintf(&b, " retry every %d", s.Retry)
			if s.RetryUntil != engine.Forever {
				fmt.Fprintf(&b, " until %s%d", plus(s.RetryPlus), s.RetryUntil)
			}
		}
		if s.Watchdog > 0 {
			fmt.Fprintf(&b, " watchdog every %d", s.Watchdog)
		}
		if s.Owner != s.Client {
			fmt.Fprintf(&b, " as %q", w.p.Owners[s.Owner])
		}
		if s.Recreate {
			b.WriteString(" recreate")
		}
	case engine.Append, engine.Write:
		fmt.Fprintf(&b, " %q", w.p.Texts[s.Text])
	case engine.Pause:
		if s.PauseFor >= 0 {
			b.WriteString(" for " + w.number(s.PauseFor))
		} else {
			fmt.Fprintf(&b, " until %s%d", plus(s.UntilPlus), s.PauseUntil)
		}
	case engine.ClientClock, engine.ServerClock:
		if s.ClockStop {
			b.WriteString(" stop")
		} else {
			fmt.Fprintf(&b, " %+d", s.ClockBy)
		}
	case engine.ServerRestart:
		b.WriteString([...]string{"", " empty", " wiped"}[s.Restart])
	}
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
		fmt.Fprintf(&b, " guard before %s%d", plus(s.BeforePlus), s.Before)
	}
	for k := s.Messages.Lo; k < s.Messages.Hi; k++ {
		m := &w.p.Messages[k]
		words, end, at := " arrives", " never", " at "
		if m.Reply {
			words, end, at = " reply", " lost", " from "
		}
		if !m.Lost {
			end = fmt.Sprintf(" %s%d", plus(m.Plus), m.At)
		}
		b.WriteString(words + end)
		if m.Servers.Len() > 0 {
			b.WriteString(at + w.servers(m.Servers))
		}
	}
	return b.String()
}
