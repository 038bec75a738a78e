package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
	"dlock/internal/why"
)

// Explained is a run with the answers about its broken laws.
type Explained struct {
	Run     *study.Run
	Answers []why.Answer
	Only    []audit.Law // the laws that were asked about; none: all
}

// Why writes, for each broken law of runs, what led to it and what reruns with one rule changed have shown. It returns the
// first error of w.
func Why(w io.Writer, s *dsl.Script, runs []Explained, o Options) error {
	return printText(w, whyPage(s, runs), o)
}

// WhyMarkdown writes what Why writes, as Markdown. It returns the first error of w.
func WhyMarkdown(w io.Writer, s *dsl.Script, runs []Explained) error {
	return printMarkdown(w, whyPage(s, runs))
}

func whyPage(s *dsl.Script, runs []Explained) *page {
	p := &page{}
	p.add(title, mark(bold, scriptTitle(s)))
	for i := range runs {
		e := &runs[i]
		p.add(heading, mark(bold, runName(e.Run)), say("  "+headline(e.Run)))
		t := newTeller(e.Run)
		switch {
		case e.Run.Inconclusive():
			p.add(para, say(t.verdict()))
			continue
		case len(e.Answers) == 0 && len(e.Only) > 0:
			p.add(para, mark(good, "kept"), say("  "+list(lawNames(e.Only), "and")+" "+are(len(e.Only))+" not broken."))
			continue
		case len(e.Answers) == 0:
			p.add(para, mark(good, "kept"), say("  No law is broken."))
			continue
		}
		p.add(para, say(t.verdict()))
		for k := 0; k < len(e.Answers); {
			from := k
			for k++; k < len(e.Answers) && sameCause(&e.Answers[from], &e.Answers[k]); k++ {
			}
			t.answer(p, e.Answers[from:k])
		}
	}
	return p
}

func lawNames(laws []audit.Law) []string {
	names := make([]string, len(laws))
	for i, l := range laws {
		names[i] = l.String()
	}
	return names
}

// sameCause tells whether two answers tell the same story: one chain, and the same changes that help.
func sameCause(a, b *why.Answer) bool {
	return slices.Equal(a.Chain, b.Chain) && slices.EqualFunc(a.Reruns, b.Reruns, func(x, y why.Rerun) bool {
		return x.Change == y.Change && x.Helps() == y.Helps() && x.Harms() == y.Harms()
	})
}

// answer tells of laws that one chain of events has broken.
func (t *teller) answer(p *page, answers []why.Answer) {
	var broken []audit.Law
	for i := range answers {
		broken = append(broken, answers[i].Law)
	}
	p.add(section, mark(bold, "Why "), mark(bad, list(lawNames(broken), "and")), mark(bold, " "+are(len(broken))+" broken"))
	var found []string
	for i := range answers {
		a := &answers[i]
		s := t.capital(t.finding(&a.Finding)) + "."
		if a.Count > 1 {
			s += " This is the first of " + number(a.Count) + "."
		}
		found = append(found, s)
	}
	p.add(para, say(strings.Join(found, " ")))
	chain := p.grid(">tick", ">line", "what led to it")
	for i := range answers[0].Chain {
		l := &answers[0].Chain[i]
		line := ""
		if l.Line > 0 {
			line = number(l.Line)
		}
		chain.row(say(tick(l.At.Tick)), say(line), say(t.link(l)))
	}
	t.reruns(p, answers, broken)
}

// capital starts a sentence, unless it starts with a name: a client's, which may differ from another's in nothing but its
// capitals, or a server's.
func (t *teller) capital(s string) string {
	n := strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if n < 0 {
		n = len(s)
	}
	if n == 0 || s[0] < 'a' || s[0] > 'z' || isServer(s) || slices.Contains(t.rec.Program.Clients, s[:n]) {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// link words one event of a chain as a sentence.
func (t *teller) link(l *why.Link) string {
	switch l.Kind {
	case why.LinkHold:
		h := at(t.aud.Holders, l.Index)
		if h == nil {
			return ""
		}
		return t.client(h.Client) + "'s leases are over: it held the lock " + during(h.Start, h.End) + prefixed(", and ", t.stillBelieves(h.Client, h.End)) + "."
	case why.LinkLease:
		l := at(t.rec.Leases, l.Index)
		if l == nil {
			return ""
		}
		how := " ends"
		switch l.Ended {
		case engine.RanOut:
			how = " runs out"
		case engine.ByTakeover:
			how = " is taken over, since the next asker judges that it is over"
		case engine.ByOther:
			how = " is freed by another client, since the server does not check the owner"
		}
		return t.client(l.Client) + "'s lease on " + server(l.Server) + how + "."
	default:
		if e := at(t.rec.Events, l.Index); e != nil {
			return t.capital(t.sentence(e)) + "."
		}
		return ""
	}
}

// stillBelieves says that a client goes on believing after its hold has ended.
func (t *teller) stillBelieves(client int32, end engine.Tick) string {
	for i := range t.rec.Beliefs {
		b := &t.rec.Beliefs[i]
		if b.Client != client || b.Start.Tick >= end || b.End.Tick <= end {
			continue
		}
		if t.paused(client, end) {
			return "it cannot know, since it is paused"
		}
		if b.End.Tick == engine.Forever {
			return "it goes on believing that it has it"
		}
		return "it goes on believing that it has it until " + tick(b.End.Tick)
	}
	return ""
}

// sentence words an event with what came of it and why.
func (t *teller) sentence(e *engine.Event) string {
	h := t.happened(e)
	switch {
	case e.Verb == engine.Read && e.Outcome == engine.HeardRead:
		return t.clause(e, &h)
	case e.Verb == engine.Pause:
		return t.clause(e, &h) + ": it " + h.why
	}
	return join([]string{t.clause(e, &h), h.why}, ": ")
}

// clause words an event with what came of it.
func (t *teller) clause(e *engine.Event, h *happening) string {
	who, deed := h.who, h.who+"'s "+h.what
	switch {
	case e.Outcome == engine.Sent:
		return who + " sends " + h.what
	case e.Verb == engine.Read && e.Outcome == engine.HeardRead:
		return who + " reads " + h.outcome + prefixed(", ", h.why)
	case e.Outcome == engine.Waiting:
		return deed + " is refused, and it will ask again"
	case e.Outcome == engine.Granted && e.Verb == engine.Acquire:
		return who + " is granted the lock (" + h.what + ")"
	case e.Verb == engine.Pause:
		return who + " is paused"
	case e.Verb == engine.Crash:
		return who + " crashes"
	case e.Verb == engine.WatchdogStop:
		return who + "'s watchdog stops"
	case e.Verb == engine.Notice:
		return who + " notices that it does not hold the lock"
	case e.Verb == engine.Release && e.Outcome == engine.Released:
		return who + " releases the lock"
	case e.Verb == engine.Release && e.Outcome == engine.Expired:
		return who + " releases the lock too late"
	case e.Verb == engine.ServerClock || e.Verb == engine.ClientClock:
		return "the " + numbered(who, "clock", "clocks") + " of " + who + " " + h.outcome + strings.TrimPrefix(strings.TrimSuffix(h.what, " stop"), "clock")
	case e.Verb == engine.ServerCrash:
		return who + numbered(who, " goes down", " go down")
	case e.Verb == engine.ServerRestart:
		return who + numbered(who, " comes up (", " come up (") + h.what + ")"
	case e.Verb == engine.ServerRevoke:
		return "the lock on " + who + " is freed"
	case e.Verb == engine.ResourceForget:
		return "the resource forgets"
	case e.Verb == engine.Cut:
		return who + " is cut off (" + h.what + ")"
	case e.Verb == engine.Heal:
		return who + " is connected again (" + h.what + ")"
	case e.Verb == engine.Check:
		return deed + " says " + e.Outcome.String()
	default:
		return deed + " is " + strings.ToLower(h.outcome)
	}
}

// numbered picks the word for one server or the one for several.
func numbered(who, one, several string) string {
	if strings.ContainsAny(who, " .") {
		return several
	}
	return one
}

// reruns says which changes keep the law and which do not, and nothing that no rerun has shown.
func (t *teller) reruns(p *page, answers []why.Answer, broken []audit.Law) {
	a, law := &answers[0], list(lawNames(broken), "or")
	var helps, mixed, useless, idle []string
	type row struct {
		with  []string
		shows cell
		harms bool
	}
	var rows []row
	for i := range a.Reruns {
		r := &a.Reruns[i]
		word := t.change(r)
		switch {
		case r.Helps():
			shows := t.showing(a, r)
			same := slices.IndexFunc(rows, func(o row) bool { return slices.Equal(o.shows, shows) })
			if same < 0 {
				same = len(rows)
				rows = append(rows, row{shows: shows, harms: r.Harms()})
			}
			rows[same].with = append(rows[same].with, word)
			if r.Harms() {
				mixed = append(mixed, word)
			} else {
				helps = append(helps, word)
			}
		case untouched(answers, i):
			idle = append(idle, besides(word, r))
		default:
			useless = append(useless, besides(word, r))
		}
	}
	if len(rows) > 0 {
		slices.SortStableFunc(rows, func(a, b row) int { return boolOrder(a.harms) - boolOrder(b.harms) })
		g := p.grid("with", "the same schedule shows")
		for _, r := range rows {
			g.rows = append(g.rows, []cell{{say(list(r.with, "or"))}, r.shows})
		}
	}
	switch n := len(helps); {
	case n > 0:
		p.add(para, say("What would have to differ: "+list(helps, "or")+". "+oneOf(n)+" this schedule no longer breaks "+law+
			", nor any law that it kept before."))
	case len(mixed) > 0:
		p.add(para, say("What would have to differ: "+list(mixed, "or")+". "+oneOf(len(mixed))+" this schedule no longer breaks "+law+
			", but it breaks another law."))
	default:
		p.add(para, say("No single rule that was tried keeps this schedule from breaking "+law+": what would have to differ is the schedule itself."))
	}
	if len(useless) > 0 {
		p.add(para, say("Of no help, "+list(lawNames(broken), "and")+" "+are(len(broken))+" broken all the same: "+list(useless, "and")+"."))
	}
	if len(idle) > 0 {
		p.add(para, say("Without any effect on this breach: "+list(idle, "and")+"."))
	}
}

// untouched tells whether a change made no difference to breaches: every event came out as before, and they are counted as often.
func untouched(answers []why.Answer, change int) bool {
	return !slices.ContainsFunc(answers, func(a why.Answer) bool {
		r := &a.Reruns[change]
		return !r.Same() || r.Count != a.Count
	})
}

// besides names with a change that does not help what it breaks.
func besides(word string, r *why.Rerun) string {
	if !r.Harms() {
		return word
	}
	return word + " (which breaks " + list(lawNames(r.New), "and") + " besides)"
}

func oneOf(n int) string {
	if n == 1 {
		return "With it"
	}
	return "With any one of them"
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

// showing words what one rerun showed.
func (t *teller) showing(a *why.Answer, r *why.Rerun) cell {
	var parts []string
	if s := t.shown(r); s != "" {
		parts = append(parts, s)
	}
	if final := value(r.Final); final == value(t.rec.Value(t.rec.Final)) {
		parts = append(parts, final+" is left as before")
	} else {
		parts = append(parts, final+" is left")
	}
	all := slices.Clone(r.Gone)
	if r.Helps() {
		all = append(all, a.Law)
		slices.Sort(all)
	}
	if gone := lawNames(all); len(gone) > 0 {
		parts = append(parts, list(gone, "and")+" "+are(len(gone))+" gone")
	}
	c := cell{say(t.capital(strings.Join(parts, "; ")))}
	if left := t.stillBroken(a, r); len(left) > 0 {
		c = append(c, say("; "+list(left, "and")+" "+stay(len(left))))
	}
	if r.Harms() {
		c = append(c, say("; but "), mark(bad, list(lawNames(r.New), "and")+" "+are(len(r.New))+" broken"))
	}
	return append(c, say("."))
}

func stay(n int) string {
	if n == 1 {
		return "stays"
	}
	return "stay"
}

// stillBroken lists the laws of safety that both runs break, and the law that was asked about.
func (t *teller) stillBroken(a *why.Answer, r *why.Rerun) []string {
	var left []string
	for _, l := range laws() {
		if (l == a.Law || l.Kind() == audit.Safety) && t.aud.Counts[l] > 0 && r.Run.Audit.Counts[l] > 0 {
			left = append(left, l.String())
		}
	}
	return left
}

// shown words the event that came out differently in a rerun.
func (t *teller) shown(r *why.Rerun) string {
	before := at(t.rec.Events, r.Shown.A)
	after := at(r.Run.Record.Events, r.Shown.B)
	switch {
	case after != nil:
		other := newTeller(r.Run)
		h := other.happened(after)
		s := "at " + tick(after.At.Tick) + " " + other.clause(after, &h)
		if before != nil && before.Outcome == after.Outcome {
			return s + prefixed(": ", h.why)
		}
		return s
	case before != nil:
		h := t.happened(before)
		return "at " + tick(before.At.Tick) + " it does not happen that " + t.clause(before, &h)
	}
	return ""
}

// change names a change as the language writes it.
func (t *teller) change(r *why.Rerun) string {
	c := &r.Change
	name, v := setting(c)
	word := name + " " + fmt.Sprint(v)
	on := " on line " + number(c.Line)
	switch c.Kind {
	case why.SetFenceAt:
		if c.Fenced {
			return "fencing on with " + word
		}
	case why.SetLockDelay:
		switch {
		case c.Settings.LockDelay <= t.settings().LockDelay:
		case r.Helps():
			return word + " (no smaller one does)"
		default:
			return "any lock-delay up to " + number(c.Settings.LockDelay)
		}
	case why.KeepState:
		return "restarts that keep their state"
	case why.KeepFence:
		return "a resource that forgets nothing"
	case why.GuardVersion:
		return "guard version" + on
	case why.GuardLock:
		return "guard lock" + on
	case why.GuardBefore:
		return "guard before " + tick(c.Before) + on
	case why.IfValid:
		return "if valid" + on
	}
	return word
}

// setting gives the setting that a change is about, and the value that the rerun has for it; no name if it is about none.
func setting(c *why.Change) (name string, value any) {
	s := &c.Settings
	word := func(name string, i int) (string, any) {
		if words := dsl.SettingWords(name); i < len(words) {
			return name, words[i]
		}
		return name, ""
	}
	onOff := func(name string, on bool) (string, any) {
		if on {
			return name, "on"
		}
		return name, "off"
	}
	switch c.Kind {
	case why.SetFencing:
		return word("fencing", int(s.Fencing))
	case why.SetFenceAt:
		return word("fence-at", int(s.FenceAt))
	case why.SetLeases:
		return onOff("leases", s.Leases)
	case why.SetHandback:
		return word("handback", int(s.Handback))
	case why.SetTokens:
		return word("tokens", int(s.Tokens))
	case why.SetValidity:
		return onOff("validity", s.Validity)
	case why.SetJudge:
		return word("judge", int(s.Judge))
	case why.SetLockDelay:
		return "lock-delay", int64(s.LockDelay)
	case why.SetReentrant:
		return onOff("reentrant", s.Reentrant)
	case why.SetOwnerCheck:
		return onOff("owner-check", s.OwnerCheck)
	case why.SetQuorum:
		return "quorum", int64(s.Quorum)
	case why.SetServers:
		return "servers", int64(s.Servers)
	}
	return "", nil
}

type jsonWhy struct {
	Name     string       `json:"name"`
	Kind     string       `json:"kind"` // "why"
	Line     int          `json:"line"`
	Limit    string       `json:"limit"` // the limit that stopped the run early, "" for none; such a run has no answers
	Settings object       `json:"settings"`
	Lets     object       `json:"lets"`
	Final    string       `json:"final"`
	Verdict  string       `json:"verdict"`
	Fault    string       `json:"fault"`
	Counts   object       `json:"counts"`  // of every law, whichever was asked about
	Answers  []jsonAnswer `json:"answers"` // one for each broken law that was asked about
}

type jsonAnswer struct {
	Law     string      `json:"law"`
	Count   int64       `json:"count"`   // how often it is broken
	Finding jsonFinding `json:"finding"` // the first time, which chain and reruns are about
	Chain   []jsonLink  `json:"chain"`
	Reruns  []jsonRerun `json:"reruns"`
}

// jsonLink is what led to a finding: an entry of a list that the JSON of the same run has.
type jsonLink struct {
	T     engine.Tick `json:"t"`
	Line  int32       `json:"line"` // 0 if no line did it
	Actor string      `json:"actor"`
	Of    string      `json:"of"`    // "events"; "leases", one that ends; "holders", one that holds no longer
	Index int32       `json:"index"` // in that list, from 0
	Says  string      `json:"says"`
}

// jsonRerun is the same schedule with one change.
type jsonRerun struct {
	Change string     `json:"change"`
	Set    object     `json:"set"`  // what to set for the same rerun; empty if the change is to a step
	Line   int32      `json:"line"` // of the step that is changed, 0 for no single one
	Count  int64      `json:"count"`
	Final  string     `json:"final"`
	Gone   []string   `json:"gone"`   // other laws that are no longer broken
	New    []string   `json:"new"`    // laws that are broken only now
	Before *jsonEvent `json:"before"` // the event that shows the difference as it was, null if it did not happen
	After  *jsonEvent `json:"after"`  // and as it is in the rerun
	Says   string     `json:"says"`
}

// WhyJSON writes what Why writes as indented JSON, each law by itself, with every rerun. It returns the first error of w.
func WhyJSON(w io.Writer, s *dsl.Script, runs []Explained) error {
	out := headJSON(&study.File{Script: s})
	for i := range runs {
		out.Runs = append(out.Runs, whyJSON(&runs[i]))
	}
	return encodeJSON(w, []jsonFile{out})
}

func whyJSON(e *Explained) jsonWhy {
	r, t := e.Run, newTeller(e.Run)
	rec := r.Record
	out := jsonWhy{
		Name: r.Name, Kind: "why", Line: r.Line, Limit: limitWord(rec.Limit), Settings: valuesJSON(r.Settings), Lets: valuesJSON(r.Lets),
		Final: rec.Value(rec.Final), Verdict: t.verdict(), Fault: faultWord(r.Audit.Fault), Counts: countsJSON(&r.Audit.Counts),
		Answers: []jsonAnswer{},
	}
	for i := range e.Answers {
		a := &e.Answers[i]
		answer := jsonAnswer{Law: a.Law.String(), Count: a.Count, Finding: t.findingJSON(&a.Finding), Chain: []jsonLink{}, Reruns: []jsonRerun{}}
		for j := range a.Chain {
			answer.Chain = append(answer.Chain, t.linkJSON(&a.Chain[j]))
		}
		for j := range a.Reruns {
			answer.Reruns = append(answer.Reruns, t.rerunJSON(a, &a.Reruns[j]))
		}
		out.Answers = append(out.Answers, answer)
	}
	return out
}

func (t *teller) linkJSON(l *why.Link) jsonLink {
	out := jsonLink{T: l.At.Tick, Line: l.Line, Index: l.Index, Says: t.link(l)}
	switch l.Kind {
	case why.LinkHold:
		out.Of = "holders"
		if h := at(t.aud.Holders, l.Index); h != nil {
			out.Actor = t.client(h.Client)
		}
	case why.LinkLease:
		out.Of = "leases"
		if l := at(t.rec.Leases, l.Index); l != nil {
			out.Actor = t.client(l.Client)
		}
	case why.LinkEvent:
		out.Of = "events"
		if e := at(t.rec.Events, l.Index); e != nil {
			out.Actor = t.happened(e).who
		}
	}
	return out
}

func (t *teller) rerunJSON(a *why.Answer, r *why.Rerun) jsonRerun {
	c := &r.Change
	out := jsonRerun{Change: t.change(r), Set: object{}, Line: c.Line, Count: r.Count, Final: r.Final, Gone: lawNames(r.Gone), New: lawNames(r.New)}
	if name, v := setting(c); name != "" {
		out.Set = append(out.Set, member{name, v})
	}
	switch {
	case c.Fenced:
		out.Set = append(out.Set, member{"fencing", "on"})
	case c.Kind == why.SetServers: // the majority of them, whatever the quorum was
		out.Set = append(out.Set, member{"quorum", int64(c.Settings.Quorum)})
	}
	if e := at(t.rec.Events, r.Shown.A); e != nil {
		before := t.eventJSON(e)
		out.Before = &before
	}
	if e := at(r.Run.Record.Events, r.Shown.B); e != nil {
		after := newTeller(r.Run).eventJSON(e)
		out.After = &after
	}
	for _, s := range t.showing(a, r) {
		out.Says += s.text
	}
	return out
}
