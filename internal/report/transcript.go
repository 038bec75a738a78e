package report

import (
	"io"
	"slices"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

// Transcript writes everything that a file says and what came of it, for a terminal. It is also what a golden holds, so
// the same file always gives the same bytes. It returns the first error of w.
func Transcript(w io.Writer, f *study.File, o Options) error {
	return printText(w, filePage(f, o), o)
}

// Markdown writes what Transcript writes, as Markdown. It returns the first error of w.
func Markdown(w io.Writer, f *study.File, o Options) error {
	return printMarkdown(w, filePage(f, o))
}

func filePage(f *study.File, o Options) *page {
	p := &page{}
	if f.Script != nil {
		p.add(title, mark(bold, scriptTitle(f.Script)))
		if !o.Quiet {
			p.about(f.Script.About)
		}
	}
	for _, item := range f.Items {
		switch {
		case item.Run != nil && o.Quiet:
			quietRun(p, item.Run)
		case item.Run != nil:
			runPage(p, item.Run, o)
		case item.Sweep != nil && o.Quiet:
			quietSweep(p, item.Sweep)
		case item.Sweep != nil:
			sweepPage(p, f.Script, item.Sweep, o)
		case item.Explore != nil && o.Quiet:
			quietExplore(p, item.Explore)
		case item.Explore != nil:
			explorePage(p, item.Explore, nil, o)
		case item.Passed != nil:
			passedPage(p, item.Passed)
		}
	}
	return p
}

// about shows the file's description; an empty line of it starts a new paragraph, and an indented one stays as it is.
func (p *page) about(text string) {
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			p.add(para, say(strings.Join(lines, " ")))
		}
		lines = nil
	}
	for _, line := range strings.Split(text, "\n") {
		bare := strings.TrimSpace(line)
		switch line = safe(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " ")); {
		case bare == "":
			flush()
		case strings.HasPrefix(line, "  ") && width(line) <= maxKeptLine:
			flush()
			p.draw(say(line))
		default:
			lines = append(lines, bare)
		}
	}
	flush()
}

// maxKeptLine is how wide an indented line of a description may be; a wider one would have to be wrapped anyhow.
const maxKeptLine = 80

func quietRun(p *page, r *study.Run) {
	p.add(heading, mark(bold, runName(r)))
	p.add(para, say(newTeller(r).verdict()))
	claims(p, r.Claims, true)
}

func runPage(p *page, r *study.Run, o Options) {
	t := newTeller(r)
	p.add(heading, mark(bold, runName(r)), say("  "+headline(r)))
	events(p, t)
	t.draw(p, o)
	t.leases(p)
	t.writes(p)
	t.laws(p)
	claims(p, r.Claims, false)
	p.add(section, mark(bold, "What happened"))
	p.add(para, say(t.verdict()))
}

// headline lists the settings that say what kind of world it is, those that are not the default, and the lets.
func headline(r *study.Run) string {
	var parts, lets []string
	for i, v := range shownSettings(r.Settings) {
		if i == 0 && v.Name == "servers" {
			parts = append(parts, count(v.N, "server"))
			continue
		}
		parts = append(parts, v.Name+" "+settingText(v))
	}
	for _, v := range r.Lets {
		lets = append(lets, v.Name+" = "+v.Text())
	}
	return join([]string{strings.Join(parts, ", "), strings.Join(lets, ", ")}, "; ")
}

// shownSettings keeps the number of servers, the quorum and the fencing, which every reader asks for, and what is not
// the default.
func shownSettings(settings []study.Value) []study.Value {
	var shown []study.Value
	for _, v := range settings {
		switch v.Name {
		case "servers", "quorum", "fencing":
		case "lock-delay":
			if v.N == 0 {
				continue
			}
		case "horizon":
			continue // it follows from the schedule
		case "initial":
			if v.Word == "" {
				continue
			}
		default:
			if words := dsl.SettingWords(v.Name); len(words) > 0 && v.Word == words[0] {
				continue
			}
		}
		shown = append(shown, v)
	}
	return shown
}

func settingText(v study.Value) string {
	if v.Str {
		return value(v.Word)
	}
	return v.Text()
}

// events prints the happenings of a run as a table.
func events(p *page, t *teller) {
	lines, left := t.story()
	if len(lines) == 0 {
		p.add(para, say("Nothing happens."))
		return
	}
	g := p.grid(">tick", "who", "what", "", "")
	g.most = 28 // what came of it and why needs the room more than a line of many suffixes
	for _, h := range lines {
		outcome, what := mark(h.tone, h.outcome), say(h.what)
		if h.calm {
			outcome.tone = dim
		}
		g.row(say(stretch(h.from, h.to)), say(h.who), what, outcome, say(h.why))
	}
	if left > 0 {
		p.add(para, mark(dim, "and "+count(left, "more event")+"; --format json has all"))
	}
}

// maxRows is how many rows the tables of leases and writes show. The events above them and the JSON have all.
const maxRows = 100

// more says how much a table leaves out.
func (p *page) more(total int, noun string) {
	if total > maxRows {
		p.add(para, mark(dim, "and "+count(total-maxRows, "more "+noun)+"; --format json has all"))
	}
}

// leases lists what the servers' records say, the evidence for or against the lock.
func (t *teller) leases(p *page) {
	if len(t.rec.Leases) == 0 {
		return
	}
	said := count(len(t.rec.Leases), "lease") + " on " + count(t.settings().Servers, "server") + ", "
	verdict := mark(good, "not one pair overlaps")
	if n := t.aud.Counts[audit.Overlap]; n > 0 {
		verdict = mark(bad, count(n, "pair")+" overlap")
		if n == 1 {
			verdict = mark(bad, "1 pair overlaps")
		}
	}
	p.add(section, mark(bold, "Leases"), say("  "+said), verdict)
	type kind struct {
		client     int32
		token      int64
		start, end engine.Tick
		ended      engine.Ending
	}
	type group struct {
		lease   *engine.Lease
		servers []int32
	}
	var groups []group
	places := map[kind]int{}
	for i := range t.rec.Leases {
		l := &t.rec.Leases[i]
		k := kind{l.Client, l.Token, l.Start.Tick, l.End.Tick, l.Ended}
		at, ok := places[k]
		if !ok {
			at = len(groups)
			places[k] = at
			groups = append(groups, group{lease: l})
		}
		groups[at].servers = append(groups[at].servers, l.Server)
	}
	g := p.grid("who", ">token", "lives in", "ends by", "on")
	for i, r := range groups {
		if i == maxRows {
			break
		}
		slices.Sort(r.servers)
		ended := r.lease.Ended.String()
		switch r.lease.Ended {
		case engine.Open:
			ended = "never"
		case engine.RanOut:
			ended = "running out"
		}
		g.row(say(t.client(r.lease.Client)), say(number(r.lease.Token)), say(interval(r.lease.Start.Tick, r.lease.End.Tick)),
			say(ended), say(serverList(slices.Compact(r.servers))))
	}
	p.more(len(groups), "row")
}

// writes lists every write that was sent.
func (t *teller) writes(p *page) {
	if len(t.rec.Writes) == 0 {
		return
	}
	p.add(section, mark(bold, "Writes"), say("  what is left is "+value(t.rec.Value(t.rec.Final))))
	g := p.grid(">sent", ">applied", "who", "writes", ">base", ">token", "", "")
	for i := range t.rec.Writes {
		if i == maxRows {
			break
		}
		w := &t.rec.Writes[i]
		applied := tick(w.Applied.Tick)
		if w.Applied.Tick == engine.Forever {
			applied = blank
		}
		base := number(w.Base)
		if w.Verb == engine.Write {
			base = blank // it does not look at what was there
		}
		g.row(say(tick(w.Sent.Tick)), say(applied), say(t.client(w.Client)), say(value(t.rec.Value(w.Value))), say(base),
			say(number(w.Token)), mark(t.verdictTone(int32(i)), verdictWord(w)), say(t.remark(int32(i))))
	}
	p.more(len(t.rec.Writes), "write")
}

// remark names the laws that a write broke, or why it was refused, and says if it vanished.
func (t *teller) remark(i int32) string {
	w, b := &t.rec.Writes[i], t.writers[i]
	var parts []string
	if !w.Accepted {
		parts = append(parts, w.Reason.String())
	}
	if b.vanished {
		parts = append(parts, "vanishes")
	}
	if b.stale != nil {
		parts = append(parts, audit.StaleWrite.String())
	}
	if len(b.lost) > 0 {
		parts = append(parts, audit.LostUpdate.String())
	}
	if b.unlocked != nil {
		parts = append(parts, audit.UnlockedWrite.String())
	}
	if b.refused != nil {
		parts = append(parts, audit.RefusedHolder.String())
	}
	return join(parts, ", ")
}

// laws gives every law its verdict: the broken ones with what broke them first, the others by name.
func (t *teller) laws(p *page) {
	p.add(section, mark(bold, "Laws"))
	g := p.grid("", "", "")
	var kept []string
	for _, l := range laws() {
		n := t.aud.Counts[l]
		if n == 0 {
			kept = append(kept, l.String())
			continue
		}
		says := meaning(l)
		if f := t.first(l); f != nil {
			says = t.whole(f)
		}
		if n > 1 {
			says += " (the first of " + number(n) + ")"
		}
		g.row(mark(bad, "BROKEN "+number(n)), say(l.String()), say(says))
	}
	ok := "ok"
	if t.rec.Limit != engine.NoLimit {
		ok = "ok so far" // what comes after the limit is not known
	}
	if len(kept) == int(audit.NumLaws) {
		g.row(mark(good, ok), say("all "+number(len(kept))), say(strings.Join(kept, ", ")))
	} else if len(kept) > 0 {
		g.row(mark(good, ok), say(number(len(kept))+" others"), say(strings.Join(kept, ", ")))
	}
}

// holds tells whether a claim was checked and is as it should be.
func holds(c *study.Claim) bool { return !c.Unchecked && !c.Inconclusive && !c.Failed() }

// claims lists what the file claims, with verdicts, or only what does not hold.
func claims(p *page, list []study.Claim, onlyBad bool) { claimsIn(p, list, onlyBad, cellName) }

// claimsIn does so for a block whose cells or members have names of their own.
func claimsIn(p *page, list []study.Claim, onlyBad bool, named func([]study.Value) string) {
	if len(list) == 0 || onlyBad && !slices.ContainsFunc(list, func(c study.Claim) bool { return !holds(&c) }) {
		return
	}
	var failed, unchecked, undecided int
	for _, c := range list {
		switch {
		case c.Unchecked:
			unchecked++
		case c.Inconclusive:
			undecided++
		case c.Failed():
			failed++
		}
	}
	verdict := mark(good, "all hold")
	switch {
	case failed > 0:
		verdict = mark(bad, number(failed)+" of "+number(len(list))+" fail")
	case undecided > 0:
		verdict = mark(bad, "undecided, since a limit was reached")
		if slices.ContainsFunc(list, func(c study.Claim) bool { return c.Held != nil }) {
			verdict = mark(bad, number(undecided)+" of "+number(len(list))+" undecided, since not every member was looked at")
		}
	case unchecked > 0:
		verdict = mark(plain, "not checked, since the command line overrides the file")
	}
	p.add(section, mark(bold, "Claims"), say("  "), verdict)
	g := p.grid("", "", "")
	g.most = DefaultWidth // claims are read as one line
	if failed+undecided > 0 {
		g.most = 60 // and what is wrong with them beside it
	}
	for i := range list {
		c := &list[i]
		if onlyBad && holds(c) {
			continue
		}
		text := claimText(c)
		switch {
		case c.Unchecked:
			g.row(mark(dim, "unchecked"), say(text), say(""))
		case c.Inconclusive:
			g.row(mark(bad, "UNDECIDED"), say(text), say(claimWhy(c, named)))
		case !c.OK:
			g.row(mark(bad, "FAILS"), say(text), say(claimWhy(c, named)))
		case c.Vacuous != "":
			g.row(mark(bad, "VACUOUS"), say(text), say("it could not have failed: "+c.Vacuous))
		default:
			g.row(mark(good, "ok"), say(text), say(""))
		}
	}
	replays(p, list)
}

// replays gives the commands that tell the story of the first cell in which a claim fails, each once.
func replays(p *page, list []study.Claim) {
	var commands []string
	for i := range list {
		if r := list[i].Replay; r != "" && !slices.Contains(commands, r) {
			commands = append(commands, r)
		}
	}
	for i, r := range commands {
		if i == 0 {
			p.add(para, say("To see the first such cell as a run:"))
		}
		p.draw(say("    " + r))
	}
}

func claimText(c *study.Claim) string {
	if c.Expect == nil {
		return "expect"
	}
	return c.Expect.Source
}

func claimWhy(c *study.Claim, named func([]study.Value) string) string {
	var parts []string
	switch {
	case c.Held != nil && c.Got != "":
		parts = append(parts, "it is so "+c.Got)
	case c.Got != "":
		parts = append(parts, "got: "+c.Got)
	}
	type same struct { // cells in which the same was there instead
		got   string
		cells []string
	}
	var all []same
	for _, f := range c.Cells {
		if c.Held != nil {
			parts = append(parts, "as with "+named(f.At))
			continue
		}
		at := slices.IndexFunc(all, func(s same) bool { return s.got == f.Got })
		if at < 0 {
			at = len(all)
			all = append(all, same{got: f.Got})
		}
		all[at].cells = append(all[at].cells, named(f.At))
	}
	var cells []string
	for _, s := range all {
		if s.got == c.Got {
			cells = append(cells, strings.Join(s.cells, "; "))
		} else {
			cells = append(cells, s.got+" with "+strings.Join(s.cells, "; "))
		}
	}
	if more := c.Broken - int64(len(c.Cells)); more > 0 && len(cells) > 0 {
		cells = append(cells, "and "+number(more)+" more")
	}
	if c.Broken > 0 {
		parts = append(parts, "in "+count(c.Broken, "cell")+prefixed(": ", strings.Join(cells, "; ")))
	}
	if c.Expect != nil {
		parts = append(parts, sourceLine(int32(c.Expect.Span.Start.Line)))
	}
	return join(parts, "; ")
}

// cellName names a cell by the values of its axes.
func cellName(at []study.Value) string {
	parts := make([]string, len(at))
	for i, v := range at {
		parts[i] = v.Name + " " + v.Text()
	}
	return strings.Join(parts, ", ")
}

// runName names a run in headings.
func runName(r *study.Run) string {
	if r.Name == "" {
		return "run"
	}
	return "run " + quote(name(r.Name))
}

// scriptTitle is the scenario's title, or its file's name without the folders, which are no part of the story.
func scriptTitle(s *dsl.Script) string {
	if s.Title != "" {
		return name(s.Title)
	}
	return name(s.File[strings.LastIndexAny(s.File, `/\`)+1:])
}
