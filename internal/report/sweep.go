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

// SweepText writes only the sweeps of a file. It returns the first error of w.
func SweepText(w io.Writer, f *study.File, o Options) error { return printText(w, sweepsPage(f, o), o) }

// SweepMarkdown writes what SweepText writes, as Markdown. It returns the first error of w.
func SweepMarkdown(w io.Writer, f *study.File, o Options) error {
	return printMarkdown(w, sweepsPage(f, o))
}

func sweepsPage(f *study.File, o Options) *page {
	p := &page{}
	if f.Script != nil {
		p.add(title, mark(bold, scriptTitle(f.Script)))
	}
	for _, item := range f.Items {
		switch {
		case item.Sweep == nil:
		case o.Quiet:
			quietSweep(p, item.Sweep)
		default:
			sweepPage(p, f.Script, item.Sweep, o)
		}
	}
	return p
}

func sweepName(s *study.Sweep) string {
	if s.Name == "" {
		return "sweep"
	}
	return "sweep " + quote(name(s.Name))
}

func quietSweep(p *page, s *study.Sweep) {
	p.add(heading, mark(bold, sweepName(s)))
	p.add(para, say(count(s.Cells, "cell")+": "+brokenIn(s)+"."))
	claims(p, s.Claims, true)
}

// brokenIn says in how many cells each law is broken.
func brokenIn(s *study.Sweep) string {
	var parts []string
	for _, l := range laws() {
		if n := s.Broken[l]; n > 0 {
			parts = append(parts, l.String()+" in "+number(n))
		}
	}
	if len(parts) == 0 {
		return "no law is broken in any"
	}
	return list(parts, "and")
}

func sweepPage(p *page, script *dsl.Script, s *study.Sweep, o Options) {
	axes := make([]string, len(s.Axes))
	for i, a := range s.Axes {
		axes[i] = a.Name
	}
	p.add(heading, mark(bold, sweepName(s)), say("  "+strings.Join(axes, " by ")+", "+count(s.Cells, "cell")))
	var mapped, signed bool
	switch {
	case len(s.Kept) == 0:
		p.add(para, say("Too many cells to show one by one; --format csv lists them. By slices:"))
		signed = slicesTable(p, s, o)
	case len(s.Axes) == 1:
		signed = cellTable(p, script, s, o)
	case len(s.Axes) == 2 && int64(len(s.Kept)) == s.Cells && len(s.Kept) == len(s.Axes[0].Values)*len(s.Axes[1].Values):
		mapped, signed = true, true
		cellMap(p, s, o)
	default:
		signed = slicesTable(p, s, o)
	}
	if s.Limited > 0 {
		p.add(para, mark(bad, count(s.Limited, "cell")), say(" stopped early at a limit, so that nothing can be said about them; the first is "+
			cellName(s.LimitedAt)+"."))
	}
	sweepLaws(p, s, signed, mapped)
	claims(p, s.Claims, false)
}

// lawHeads gives the headings of columns that count broken laws: their names, or their signs where the names need more
// than the room.
func lawHeads(broken []audit.Law, room int) (heads []string, signed bool) {
	need := 0
	for _, l := range broken {
		heads = append(heads, ">"+l.String())
		need += len(l.String()) + gap
	}
	if need <= room {
		return heads, false
	}
	for i, l := range broken {
		heads[i] = ">" + sign(l)
	}
	return heads, true
}

// sweepLaws says in how many cells each law is broken, and what the signs of a map or a heading mean.
func sweepLaws(p *page, s *study.Sweep, signed, mapped bool) {
	said := "  broken in how many of the " + count(s.Cells, "cell")
	if mapped {
		said += "; the map shows the sign of the first of these in each cell"
	}
	p.add(section, mark(bold, "Laws"), say(said))
	g := p.grid("", "", "", "")
	var kept []string
	for _, l := range gravest() {
		if n := s.Broken[l]; n > 0 {
			g.row(say(sign(l)), mark(bad, "BROKEN in "+number(n)), say(l.String()), say(meaning(l)))
		} else {
			kept = append(kept, l.String())
		}
	}
	if n := s.Unbroken; n > 0 && mapped {
		g.row(say("."), say("in "+number(n)), say("none"), say("no law is broken"))
	}
	if len(kept) > 0 {
		g.row(say(""), mark(good, "ok in all"), say(count(len(kept), "law")), say(strings.Join(kept, ", ")))
	}
	if !signed {
		g.head, g.rule = g.head[1:], g.rule[1:]
		for i := range g.rows {
			g.rows[i] = g.rows[i][1:]
		}
	}
}

// brokenLaws lists the laws that are broken in some cell.
func brokenLaws(s *study.Sweep) []audit.Law {
	return slices.DeleteFunc(laws(), func(l audit.Law) bool { return s.Broken[l] == 0 })
}

// waiters lists the clients that are blocked in some cell, and the clients that ask and are granted nothing in some cell.
func waiters(script *dsl.Script, s *study.Sweep) []int {
	var found []int
	for c, client := range s.Clients {
		asked := slices.ContainsFunc(s.Kept, func(k study.Cell) bool { return c < len(k.Blocked) && k.Blocked[c] >= 0 }) || asks(script, client)
		if asked && slices.ContainsFunc(s.Kept, func(k study.Cell) bool { return c < len(k.Blocked) && k.Blocked[c] != 0 }) {
			found = append(found, c)
		}
	}
	return found
}

// neverGranted says how a client fared in a cell in which it was never granted the lock.
func neverGranted(script *dsl.Script, client string, c *study.Cell) string {
	switch {
	case !asks(script, client):
		return "never"
	case !acquires(script, client, func(s *dsl.Step) bool { return s.Retry != nil }):
		return "denied"
	case c.Counts[audit.Deadlock] > 0 && acquires(script, client, func(s *dsl.Step) bool { return s.Retry != nil && s.Retry.Until.Expr == nil }):
		return "for ever"
	}
	return "never"
}

// asks tells whether a client has an acquire anywhere in the file.
func asks(script *dsl.Script, client string) bool {
	return acquires(script, client, func(*dsl.Step) bool { return true })
}

// acquires tells whether a client has such an acquire anywhere in the file.
func acquires(script *dsl.Script, client string, such func(*dsl.Step) bool) bool {
	if script == nil {
		return false
	}
	var in func(steps []*dsl.Step) bool
	in = func(steps []*dsl.Step) bool {
		for _, s := range steps {
			if s.Verb == dsl.Acquire && s.Actor.Client == client && such(s) {
				return true
			}
			for _, b := range s.Outcomes {
				if in(b.Steps) {
					return true
				}
			}
		}
		return false
	}
	if in(script.Steps) {
		return true
	}
	return slices.ContainsFunc(script.Blocks, func(b *dsl.Block) bool { return in(b.Steps) })
}

// cellTable shows the cells of a sweep of one dimension, a row each, and tells whether its headings are signs.
func cellTable(p *page, script *dsl.Script, s *study.Sweep, o Options) (signed bool) {
	broken, blocked := brokenLaws(s), waiters(script, s)
	waits := make([]string, len(blocked))
	room := o.width() - len(indent) - max(width(s.Axes[0].Name), width(cellValue(s.Kept[0].At, 0))) - gap
	for i, c := range blocked {
		waits[i] = ">" + shorten(safe(s.Clients[c]), maxTimelineName) + " waits"
		room -= width(waits[i]) - 1 + gap
	}
	finals := 0
	for i := range s.Kept {
		finals = max(finals, width(value(s.Kept[i].Final)))
	}
	heads, signed := lawHeads(broken, room-finals-gap)
	g := p.grid(slices.Concat([]string{">" + s.Axes[0].Name, "final"}, heads, waits, []string{""})...)
	for _, c := range s.Kept {
		row := []span{say(cellValue(c.At, 0)), say(value(c.Final))}
		for _, l := range broken {
			if n := c.Counts[l]; n > 0 {
				row = append(row, mark(bad, number(n)))
			} else {
				row = append(row, mark(dim, "."))
			}
		}
		for _, b := range blocked {
			switch {
			case b >= len(c.Blocked):
				row = append(row, say(blank))
			case c.Blocked[b] < 0:
				row = append(row, say(neverGranted(script, s.Clients[b], &c)))
			default:
				row = append(row, say(number(c.Blocked[b])))
			}
		}
		g.row(append(row, failsHere(c))...)
	}
	if len(blocked) == 0 && len(s.Clients) > 0 {
		p.add(para, say("Nobody waits for the lock in any cell."))
	}
	return signed
}

func cellValue(at []study.Value, axis int) string {
	if axis >= len(at) {
		return blank
	}
	return at[axis].Text()
}

func failsHere(c study.Cell) span {
	switch {
	case c.Limit != engine.NoLimit:
		return mark(bad, "stopped at a limit")
	case c.OK:
		return span{}
	}
	return mark(bad, "a claim FAILS")
}

// cellMap draws the cells of a sweep of two dimensions, with a sign for the gravest law that is broken in a cell.
func cellMap(p *page, s *study.Sweep, o Options) {
	drawMap(p, &s.Axes[0], &s.Axes[1], o, func(y, x int) (string, bool) {
		c := &s.Kept[y*len(s.Axes[1].Values)+x]
		if c.Limit != engine.NoLimit {
			return "?", true
		}
		if l, broken := gravestIn(&c.Counts); broken {
			return sign(l), l.Kind() == audit.Safety && l != audit.UnlockedWrite
		}
		return ".", false
	})
}

// drawMap draws a plane of two axes: the first downwards, the second across. A cell has a sign, and tells whether it is a
// bad one. Maps that are wider than the page are cut into bands.
func drawMap(p *page, down, across *study.Axis, o Options, cell func(y, x int) (sign string, harm bool)) {
	labels := width(down.Name)
	for _, v := range down.Values {
		labels = max(labels, width(v.Text()))
	}
	widest := 1
	for _, v := range across.Values {
		widest = max(widest, width(v.Text()))
	}
	step, stride := widest+1, 1
	left := o.width() - len(indent)*2 - labels - gap
	if len(across.Values)*step > left { // what is too wide drops some of its headings before it is cut
		step, stride = 2, (widest+2)/2
	}
	room := max(1, left/step)
	for from := 0; from < len(across.Values); from += room {
		to := min(from+room, len(across.Values))
		p.draw(mark(dim, padLeft(down.Name, labels)+"  "+across.Name))
		head := ""
		for x := from; x < to; x += stride {
			value := across.Values[x].Text()
			blanks := labels + 1 + (x-from+1)*step - width(head) - width(value)
			if blanks > 0 || head == "" {
				head += strings.Repeat(" ", max(0, blanks)) + value
			}
		}
		p.draw(mark(dim, head))
		for y, v := range down.Values {
			line := []span{say(padLeft(v.Text(), labels) + " ")}
			for x := from; x < to; x++ {
				s, harm := cell(y, x)
				mine := span{padLeft(s, step), plain}
				if harm {
					mine.tone = bad
				}
				if last := &line[len(line)-1]; last.tone == mine.tone {
					last.text += mine.text
				} else {
					line = append(line, mine)
				}
			}
			p.draw(line...)
		}
		if to < len(across.Values) {
			p.draw(say(""))
		}
	}
}

// gravestIn gives the gravest law that is broken.
func gravestIn(counts *[audit.NumLaws]int64) (audit.Law, bool) {
	for _, l := range gravest() {
		if counts[l] > 0 {
			return l, true
		}
	}
	return audit.NumLaws, false
}

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }

// slicesTable shows a sweep of more dimensions, or of more cells than are kept, by its slices: for each value of each axis,
// in how many cells with that value each law is broken. It tells whether its headings are signs.
func slicesTable(p *page, s *study.Sweep, o Options) (signed bool) {
	broken := brokenLaws(s)
	heads, signed := lawHeads(broken, o.width()*2/3)
	g := p.grid(append([]string{"slice", "", ">cells"}, heads...)...)
	hidden := 0
	for _, axis := range s.Axes {
		for i, v := range axis.Values {
			if i >= len(axis.Broken) || i >= maxSlices {
				hidden += len(axis.Values) - i
				break
			}
			row := []span{say(axis.Name), say(v.Text()), say(number(s.Cells / int64(len(axis.Values))))}
			for _, l := range broken {
				if n := axis.Broken[i][l]; n > 0 {
					row = append(row, mark(bad, number(n)))
				} else {
					row = append(row, mark(dim, "."))
				}
			}
			g.row(row...)
		}
	}
	if hidden > 0 {
		p.add(para, mark(dim, "and "+count(hidden, "more slice")+"; take fewer values to see them"))
	}
	return signed
}

// maxSlices is how many values of an axis are shown as slices; nobody reads more, and a map of fewer values tells more.
const maxSlices = 100
