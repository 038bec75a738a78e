package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
)

// flatForm says what of the waiting a flat schedule tells.
type flatForm struct {
	polls   bool // polls that were refused have lines
	endless bool // who still asks at the horizon keeps its retry; otherwise the laws of liveness are none of its business
}

// flatText writes one run as a schedule of absolute lines, in the order in which they were done: what went first within a
// tick stands first, also where a line's message lands or is heard in that tick. Retries and watchdogs become the single
// requests that they made. Claims pin what happened.
func flatText(r *Run, title, about string, form flatForm) string {
	f := flattener{rec: r.Record, p: r.Record.Program, form: form, asked: map[int32]int{}, lineOf: map[request]int{}}
	if about != "" {
		for line := range strings.SplitSeq(about, "\n") {
			f.b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
		}
	}
	fmt.Fprintf(&f.b, "scenario %s\n\n", compile.Quote(title))
	f.settings(r.Settings)
	for i := range f.rec.Events {
		f.event(&f.rec.Events[i])
	}
	for _, i := range inOrder(f.after) {
		f.b.WriteString(f.lines[i])
	}
	f.b.WriteString(pins(r, form.endless))
	return f.b.String()
}

// pins is the claims that say what happened in a run: the final value, each write, each broken law.
func pins(r *Run, liveness bool) string {
	var b strings.Builder
	rec := r.Record
	b.WriteString("\n")
	fmt.Fprintf(&b, "expect final %s\n", compile.Quote(rec.Value(rec.Final)))
	for i := range rec.Writes {
		w := &rec.Writes[i]
		if w.Applied == engine.Never() {
			continue
		}
		word := engine.Rejected
		if w.Accepted {
			word = engine.Accepted
		}
		fmt.Fprintf(&b, "expect at %d %s %s\n", w.Applied.Tick, rec.Program.Clients[w.Client], word)
	}
	for l := range audit.NumLaws {
		if n := r.Audit.Counts[l]; n > 0 && (liveness || l.Kind() != audit.Liveness) {
			fmt.Fprintf(&b, "expect %s %d\n", l, n)
		}
	}
	return b.String()
}

type flattener struct {
	b     strings.Builder
	rec   *engine.Record
	p     *engine.Program
	form  flatForm
	asked map[int32]int // the lines of the trials that ask to the horizon

	lines  []string
	after  [][]int // by line: the lines that were at work just after it in some tick
	lineOf map[request]int
	tick   engine.Tick // of the event before this one
	last   int         // its line
}

// request is what all events of one request have in common.
type request struct {
	verb  engine.Verb
	step  int32
	index int32
	sent  engine.Tick
}

// inOrder puts lines behind those that were at work before them, and leaves them as they are where that says nothing. Where
// no order can do so, the answer is one that does not: whoever asks runs the text.
func inOrder(after [][]int) []int {
	out := make([]int, 0, len(after)) // from the last to the first
	seen := make([]bool, len(after))
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, j := range slices.Backward(after[i]) {
			visit(j)
		}
		out = append(out, i)
	}
	for i := range slices.Backward(after) {
		visit(i)
	}
	slices.Reverse(out)
	return out
}

// settings writes the settings that are not the language's defaults.
func (f *flattener) settings(values []Value) {
	n := f.b.Len()
	servers := int64(f.p.Settings.Servers)
	asks := f.form.endless && slices.ContainsFunc(f.rec.Trials, func(t engine.Trial) bool { return t.End == engine.TrialHorizon })
	for _, v := range values {
		text := v.Text()
		if words := dsl.SettingWords(v.Name); v.Word != "" && !v.Str && len(words) > 0 && words[0] == v.Word {
			continue
		}
		switch {
		case v.Name == "horizon" && !asks, v.Name == "servers" && v.N == 5, v.Name == "lock-delay" && v.N == 0,
			v.Name == "quorum" && v.N == servers/2+1 && v.Word == "", v.Str && v.Word == "":
			continue
		case v.Str:
			text = compile.Quote(v.Word)
		}
		fmt.Fprintf(&f.b, "%s %s\n", v.Name, text)
	}
	if f.b.Len() > n {
		f.b.WriteString("\n")
	}
}

// event writes the line of a request, or of what befell the world. Later events of the same request write nothing, but tell
// which lines must stand before its own.
func (f *flattener) event(e *engine.Event) {
	key := request{e.Verb, e.Step, e.Index, e.Sent}
	n, known := f.lineOf[key]
	if !known {
		n = f.line(e)
		if n < 0 {
			return
		}
		f.lineOf[key] = n
	}
	if e.At.Tick == f.tick && f.last != n && len(f.lines) > 1 {
		f.after[f.last] = append(f.after[f.last], n)
	}
	f.tick, f.last = e.At.Tick, n
}

// line gives the number of the line that an event's request has, which is new or, of a trial that asks to the horizon, that
// of its first request; -1 if it has none.
func (f *flattener) line(e *engine.Event) int {
	s := &f.p.Steps[e.Step]
	first := e.Outcome == engine.Sent || e.At.Tick == e.Sent && !f.sentBefore(e)
	suffix := ""
	t := f.endless(e)
	switch {
	case t != engine.None:
		if n, known := f.asked[t]; known {
			return n
		}
		f.asked[t] = len(f.lines)
		suffix = retry(s)
	case e.Verb == engine.Acquire && !f.form.polls && e.Outcome == engine.Waiting,
		e.Verb == engine.WatchdogStop,
		e.Verb == engine.Acquire && e.Index == engine.None,
		!first:
		return -1
	}
	f.lines = append(f.lines, fmt.Sprintf("at %d %s%s\n", e.Sent, f.words(s, e), suffix))
	f.after = append(f.after, nil)
	return len(f.lines) - 1
}

// endless gives the trial that an event is of if it asks to the horizon, engine.None else.
func (f *flattener) endless(e *engine.Event) int32 {
	if !f.form.endless || e.Verb != engine.Acquire || e.Index == engine.None {
		return engine.None
	}
	t := f.rec.Attempts[e.Index].Trial
	if t == engine.None || f.rec.Trials[t].End != engine.TrialHorizon {
		return engine.None
	}
	return t
}

func retry(s *engine.Step) string {
	if s.RetryUntil == engine.Forever {
		return fmt.Sprintf(" retry every %d", s.Retry)
	}
	return fmt.Sprintf(" retry every %d until %s", s.Retry, tick(s.RetryUntil, s.RetryPlus))
}

// sentBefore tells whether an earlier event already stands for the request that this one tells the end of.
func (f *flattener) sentBefore(e *engine.Event) bool {
	switch e.Verb {
	case engine.Append, engine.Write:
		// Heard or unheard is told after accepted or rejected.
		return e.Outcome == engine.Unheard && e.Index != engine.None && f.rec.Writes[e.Index].Applied != engine.Never()
	default:
		return false
	}
}

// words is a step as the language writes it, without its time and its blocks.
func (f *flattener) words(s *engine.Step, e *engine.Event) string {
	var w []string
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	verb := e.Verb
	if s.Client != engine.None && verb != engine.Cut && verb != engine.Heal {
		add("%s", f.p.Clients[s.Client])
	}
	switch verb {
	case engine.Acquire:
		add("acquire ttl %s", ttl(s.TTL))
		if s.Servers.Len() > 0 {
			add("on %s", f.servers(s.Servers))
		}
		if f.p.Owners[s.Owner] != f.p.Clients[s.Client] {
			add("as %s", compile.Quote(f.p.Owners[s.Owner]))
		}
	case engine.Renew:
		add("renew ttl %s", ttl(s.TTL))
		if s.Recreate && !e.Background {
			add("recreate")
		}
	case engine.Append, engine.Write:
		add("%s %s", verb, compile.Quote(f.p.Texts[s.Text]))
		switch s.If {
		case engine.CondChecked:
			add("if checked")
		case engine.CondValid:
			add("if valid")
		}
		if s.Guards&engine.GuardVersion != 0 {
			add("guard version")
		}
		if s.Guards&engine.GuardLock != 0 {
			add("guard lock")
		}
		if s.Guards&engine.GuardBefore != 0 {
			add("guard before %s", tick(s.Before, s.BeforePlus))
		}
	case engine.Pause:
		if s.PauseFor >= 0 {
			add("pause for %d", s.PauseFor)
		} else {
			add("pause until %s", tick(s.PauseUntil, s.UntilPlus))
		}
	case engine.ClientClock, engine.ServerClock:
		if verb == engine.ServerClock {
			add("%s", f.servers(s.Servers))
		}
		if s.ClockStop {
			add("clock stop")
		} else {
			add("clock %+d", s.ClockBy)
		}
	case engine.ServerCrash, engine.ServerRevoke:
		add("%s %s", f.servers(s.Servers), verb)
	case engine.ServerRestart:
		add("%s restart", f.servers(s.Servers))
		switch s.Restart {
		case engine.RestartEmpty:
			add("empty")
		case engine.RestartWiped:
			add("wiped")
		}
	case engine.ResourceForget:
		add("resource forget")
	case engine.Cut, engine.Heal:
		add("%s %s", verb, f.p.Clients[s.Client])
		var from []string
		if s.Servers.Len() > 0 {
			from = append(from, f.servers(s.Servers))
		}
		if s.Resource {
			from = append(from, "resource")
		}
		if len(from) > 0 {
			add("from %s", strings.Join(from, " "))
		}
	default:
		add("%s", verb)
	}
	if !e.Background {
		for i := s.Messages.Lo; i < s.Messages.Hi; i++ {
			add("%s", f.message(&f.p.Messages[i]))
		}
	}
	return strings.Join(w, " ")
}

func (f *flattener) message(m *engine.Message) string {
	word, lost, where := "arrives", "never", "at"
	if m.Reply {
		word, lost, where = "reply", "lost", "from"
	}
	text := word + " " + tick(m.At, m.Plus)
	if m.Lost {
		text = word + " " + lost
	}
	if m.Servers.Len() > 0 {
		text += " " + where + " " + f.servers(m.Servers)
	}
	return text
}

func (f *flattener) servers(sp engine.Span) string {
	ids := slices.Clone(f.p.ServerIDs[sp.Lo:sp.Hi])
	if len(ids) == 0 {
		return fmt.Sprintf("s1..s%d", f.p.Settings.Servers)
	}
	var parts []string
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && ids[n] == ids[n-1]+1 {
			n++
		}
		if n > 2 {
			parts = append(parts, fmt.Sprintf("s%d..s%d", ids[0]+1, ids[n-1]+1))
		} else {
			n = 1
			parts = append(parts, fmt.Sprintf("s%d", ids[0]+1))
		}
		ids = ids[n:]
	}
	return strings.Join(parts, " ")
}

func ttl(t engine.Tick) string {
	if t == engine.Forever {
		return "none"
	}
	return strconv.FormatInt(int64(t), 10)
}

func tick(t engine.Tick, plus bool) string {
	if plus {
		return fmt.Sprintf("+%d", t)
	}
	return strconv.FormatInt(int64(t), 10)
}
