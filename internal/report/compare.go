package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
)

// Compare writes how runs of one schedule differ: what is the same is said once, what differs stands side by side where
// the width allows it and one below the other where it does not. Labels names the runs. It returns the first error of w.
func Compare(w io.Writer, runs []*study.Run, labels []string, o Options) error {
	return printText(w, comparison(runs, labels, o), o)
}

// CompareMarkdown writes what Compare writes, as Markdown. It returns the first error of w.
func CompareMarkdown(w io.Writer, runs []*study.Run, labels []string, o Options) error {
	return printMarkdown(w, comparison(runs, labels, o))
}

// minSide is the narrowest column in which a run stands beside another.
const minSide = 24

// compared is one line of several runs: the same step, or what it came to in each of them.
type compared struct {
	happening
	order int          // where it stands within its tick
	in    []*happening // by run; nil where it does not happen
}

func comparison(runs []*study.Run, labels []string, o Options) *page {
	p := &page{}
	names := make([]string, len(runs))
	for i := range runs {
		if names[i] = "run " + number(i+1); i < len(labels) {
			names[i] = name(labels[i])
		}
	}
	p.add(title, mark(bold, strings.Join(names, " | ")))
	if len(runs) == 0 {
		return p
	}
	if same := commonSettings(runs); same != "" {
		p.add(para, say("In all of them: "+same+"."))
	}
	p.add(para, lockHistory(runs, names)...)
	lines, cut := align(runs)
	different := slices.DeleteFunc(slices.Clone(lines), func(c compared) bool { return c.same() })
	p.add(section, mark(bold, "What differs"))
	rows := differences(runs, different)
	if len(rows) == 0 {
		var more int
		rows, more = untold(runs)
		if len(rows) == 0 {
			p.add(para, say("Nothing: the runs are the same, line by line."))
			return p
		}
		p.add(para, say("No line of what happens, but the lock's own history"+unlisted(more)+":"))
	}
	if side := (o.width() - len(indent) - factWidth(rows) - gap*len(runs)) / len(runs); side >= minSide {
		sideBySide(p, rows, names, side)
	} else {
		oneBelowTheOther(p, rows, names)
	}
	if cut {
		p.add(para, say("Only the first "+number(maxLines)+" lines of each run are compared."))
	}
	if n := len(lines) - len(different); n > 0 {
		p.add(para, say(count(n, "other line")+" "+are(n)+" the same in all of them."))
	}
	return p
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// fact is one thing that differs.
type fact struct {
	tick, who, what string
	in              []cell
}

// factWidth is what the columns before the runs take.
func factWidth(facts []fact) int {
	tick, who, what := len("tick"), len("who"), len("what")
	for _, f := range facts {
		tick, who, what = max(tick, width(f.tick)), max(who, width(f.who)), max(what, width(f.what))
	}
	return tick + who + min(what, widest) + 2*gap
}

func differences(runs []*study.Run, lines []compared) []fact {
	var facts []fact
	for _, c := range lines {
		f := fact{tick: stretch(c.from, c.to), who: safe(c.who), what: safe(c.what)}
		for _, h := range c.in {
			switch {
			case h == nil:
				f.in = append(f.in, cell{mark(dim, "does not happen")})
			case h.why == "":
				f.in = append(f.in, cell{mark(h.tone, h.outcome)})
			default:
				f.in = append(f.in, cell{mark(h.tone, h.outcome), say("  " + h.why)})
			}
		}
		facts = append(facts, f)
	}
	if !sameFinal(runs) {
		f := fact{what: "final value"}
		for _, r := range runs {
			f.in = append(f.in, cell{mark(bold, value(r.Record.Value(r.Record.Final)))})
		}
		facts = append(facts, f)
	}
	if !sameLaws(runs) {
		f := fact{what: "laws broken"}
		for _, r := range runs {
			f.in = append(f.in, brokenCell(&r.Audit.Counts))
		}
		facts = append(facts, f)
	}
	return facts
}

// untold tells how the lock's history differs where every line of what happens is the same: by its leases, as with other
// tokens for an attempt that is denied, or by what only the record of votes has.
func untold(runs []*study.Run) (facts []fact, more int) {
	most, votes := 0, false
	for _, r := range runs[1:] {
		d := study.Diff(runs[0], r)
		votes = votes || !d.Lock
	}
	for _, r := range runs {
		most = max(most, len(r.Record.Leases))
	}
	for i := range most {
		var f fact
		told := map[string]bool{}
		for _, r := range runs {
			if i >= len(r.Record.Leases) {
				f.in, told[""] = append(f.in, cell{mark(dim, "is not there")}), true
				continue
			}
			l := &r.Record.Leases[i]
			lives := "token " + number(l.Token) + ", " + interval(l.Start.Tick, l.End.Tick) + " on " + serverList([]int32{l.Server})
			if f.who == "" {
				f.tick, f.who, f.what = number(l.Start.Tick), safe(r.Record.Program.Clients[l.Client]), "lease"
			}
			f.in, told[lives] = append(f.in, cell{say(lives)}), true
		}
		if len(told) == 1 {
			continue
		}
		if len(facts) == maxUntold {
			more++
			continue
		}
		facts = append(facts, f)
	}
	if len(facts) == 0 && votes {
		f := fact{what: "votes"}
		for i := range runs {
			words := "as in the first"
			if d := study.Diff(runs[0], runs[i]); !d.Lock {
				words = "cast or heard otherwise"
			}
			f.in = append(f.in, cell{say(words)})
		}
		facts = append(facts, f)
	}
	return facts, more
}

// unlisted says how many leases more there are than stand below.
func unlisted(more int) string {
	if more == 0 {
		return ""
	}
	return " (" + count(more, "lease") + " more than stand here)"
}

// maxUntold is how many leases are listed that differ where nothing else does: the first few show what it is about.
const maxUntold = 10

// brokenCell lists the laws that are broken, or says that none is.
func brokenCell(counts *[audit.NumLaws]int64) cell {
	var parts []string
	for _, l := range laws() {
		if n := counts[l]; n > 0 {
			parts = append(parts, l.String()+" "+number(n))
		}
	}
	if len(parts) == 0 {
		return cell{mark(good, "none")}
	}
	return cell{say(strings.Join(parts, ", "))}
}

func sideBySide(p *page, facts []fact, names []string, side int) {
	g := p.grid(append([]string{">tick", "who", "what"}, names...)...)
	g.most = max(side, minSide)
	for _, f := range facts {
		g.rows = append(g.rows, append([]cell{{say(f.tick)}, {say(f.who)}, {say(f.what)}}, f.in...))
	}
}

func oneBelowTheOther(p *page, facts []fact, names []string) {
	g := p.grid(">tick", "who", "what", "in", "")
	for _, f := range facts {
		for i, c := range f.in {
			row := []cell{{}, {}, {}, {say(names[i])}, c}
			if i == 0 {
				row = []cell{{say(f.tick)}, {say(f.who)}, {say(f.what)}, {say(names[i])}, c}
			}
			g.rows = append(g.rows, row)
		}
	}
}

// commonSettings lists the settings that are worth a word and the lets that have the same value in every run.
func commonSettings(runs []*study.Run) string {
	common := func(values []study.Value, of func(*study.Run) []study.Value) []study.Value {
		return slices.DeleteFunc(slices.Clone(values), func(v study.Value) bool {
			return slices.ContainsFunc(runs, func(r *study.Run) bool { return !slices.Contains(of(r), v) })
		})
	}
	r := *runs[0]
	r.Settings = common(r.Settings, func(r *study.Run) []study.Value { return r.Settings })
	r.Lets = common(r.Lets, func(r *study.Run) []study.Value { return r.Lets })
	return headline(&r)
}

// lockHistory says whether the lock itself did the same in every run.
func lockHistory(runs []*study.Run, names []string) []span {
	var other []string
	for i, r := range runs[1:] {
		if d := study.Diff(runs[0], r); !d.Lock {
			other = append(other, names[i+1])
		}
	}
	rec := runs[0].Record
	if len(other) > 0 {
		return []span{say("The lock's own history is "), mark(bold, "not the same"), say(": " + that(len(other)) + " of " +
			list(other, "and") + " " + differs(len(other)) + " from that of " + names[0] + ".")}
	}
	return []span{say("The lock's own history is "), mark(bold, "identical"), say(": " + count(len(rec.Attempts), "attempt") + ", " +
		count(len(rec.Votes), "vote") + ", " + count(len(rec.Leases), "lease") + ", " + count(len(rec.Grants), "grant") +
		", tick by tick and token by token.")}
}

func that(n int) string {
	if n == 1 {
		return "that"
	}
	return "those"
}

func differs(n int) string {
	if n == 1 {
		return "differs"
	}
	return "differ"
}

func sameFinal(runs []*study.Run) bool {
	first := runs[0].Record.Value(runs[0].Record.Final)
	return !slices.ContainsFunc(runs, func(r *study.Run) bool { return r.Record.Value(r.Record.Final) != first })
}

func sameLaws(runs []*study.Run) bool {
	return !slices.ContainsFunc(runs, func(r *study.Run) bool { return r.Audit.Counts != runs[0].Audit.Counts })
}

func (c *compared) same() bool {
	for _, h := range c.in {
		if h == nil || h.outcome != c.in[0].outcome || h.why != c.in[0].why || h.to != c.in[0].to {
			return false
		}
	}
	return true
}

// align brings the lines of several runs together: lines of the same tick, actor and deed are one, the first with the
// first, the second with the second. It tells whether a run has more lines than it looked at.
func align(runs []*study.Run) (lines []compared, cut bool) {
	type key struct {
		from      engine.Tick
		who, what string
		nth       int
	}
	at := map[key]int{}
	for i, r := range runs {
		seen := map[key]int{}
		story, left := newTeller(r).story()
		cut = cut || left > 0
		for order, h := range story {
			k := key{from: h.from, who: h.who, what: h.what}
			seen[k]++
			k.nth = seen[k]
			j, ok := at[k]
			if !ok {
				j = len(lines)
				at[k] = j
				lines = append(lines, compared{happening: h, order: order, in: make([]*happening, len(runs))})
			}
			lines[j].in[i] = &h
			lines[j].to = max(lines[j].to, h.to)
		}
	}
	slices.SortStableFunc(lines, func(a, b compared) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.order, b.order))
	})
	return lines, cut
}
