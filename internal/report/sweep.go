package report

import (
	"io"
	"slices"
	"strings"

	"dlock/audit"
	"dlock/dsl"
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
	claims(p, slices.DeleteFunc(slices.Clone(s.Claims), holds))
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
	switch {
	case len(s.Kept) == 0:
		p.add(para, say("Too many cells to show one by one; --format csv lists them."))
	case len(s.Axes) == 1:
		cellTable(p, script, s)
	case len(s.Axes) == 2:
		cellMap(p, s, o)
	default:
		slicesTable(p, s)
	}
	p.add(section, mark(bold, "Laws"), say("  broken in how many of the "+count(s.Cells, "cell")))
	g := p.grid("", "", "")
	var kept []string
	for _, l := range laws() {
		if n := s.Broken[l]; n > 0 {
			g.row(mark(bad, "BROKEN in "+number(n)), say(l.String()), say(meaning(l)))
		} else {
			kept = append(kept, l.String())
		}
	}
	if len(kept) > 0 {
		g.row(mark(good, "ok in all"), say(count(len(kept), "law")), say(strings.Join(kept, ", ")))
	}
	claims(p, s.Claims)
}

// brokenLaws lists the laws that are broken in some cell.
func brokenLaws(s *study.Sweep) []audit.Law {
	return slices.DeleteFunc(laws(), func(l audit.Law) bool { return s.Broken[l] == 0 })
}

// waiters lists the clients that are blocked in some cell, and the clients that ask and are granted nothing in some cell.
func waiters(script *dsl.Script, s *study.Sweep) []int {
	if script == nil {
		return nil
	}
	var found []int
	for c, client := range script.Clients {
		asked := slices.ContainsFunc(s.Kept, func(k study.Cell) bool { return c < len(k.Blocked) && k.Blocked[c] >= 0 }) || asks(script, client)
		if asked && slices.ContainsFunc(s.Kept, func(k study.Cell) bool { return c < len(k.Blocked) && k.Blocked[c] != 0 }) {
			found = append(found, c)
		}
	}
	return found
}

// asks tells whether a client has an acquire anywhere in the file.
func asks(script *dsl.Script, client string) bool {
	var in func(steps []*dsl.Step) bool
	in = func(steps []*dsl.Step) bool {
		for _, s := range steps {
			if s.Verb == dsl.Acquire && s.Actor.Client == client {
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

// cellTable shows the cells of a sweep of one dimension, a row each.
func cellTable(p *page, script *dsl.Script, s *study.Sweep) {
	broken, blocked := brokenLaws(s), waiters(script, s)
	head := []string{">" + s.Axes[0].Name, "final"}
	for _, l := range broken {
		head = append(head, ">"+l.String())
	}
	for _, c := range blocked {
		head = append(head, ">"+script.Clients[c]+" waits")
	}
	g := p.grid(append(head, "")...)
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
				row = append(row, say("for ever"))
			default:
				row = append(row, say(number(c.Blocked[b])))
			}
		}
		g.row(append(row, failsHere(c))...)
	}
}

func cellValue(at []study.Value, axis int) string {
	if axis >= len(at) {
		return blank
	}
	return at[axis].Text()
}

func failsHere(c study.Cell) span {
	if c.OK {
		return span{}
	}
	return mark(bad, "a claim FAILS")
}

// cellMap draws the cells of a sweep of two dimensions: the first downwards, the second across, a sign for the gravest
// law that is broken in a cell. Maps that are wider than the page are cut into bands.
func cellMap(p *page, s *study.Sweep, o Options) {
	down, across := s.Axes[0], s.Axes[1]
	if len(s.Kept) < len(down.Values)*len(across.Values) || len(across.Values) == 0 {
		slicesTable(p, s)
		return
	}
	labels := width(down.Name)
	for _, v := range down.Values {
		labels = max(labels, width(v.Text()))
	}
	step := 1
	for _, v := range across.Values {
		step = max(step, width(v.Text()))
	}
	step++
	room := max(1, (o.width()-len(indent)*2-labels-gap)/step)
	for from := 0; from < len(across.Values); from += room {
		to := min(from+room, len(across.Values))
		p.draw(mark(dim, padLeft(down.Name, labels)+"  "+across.Name))
		head := padLeft("", labels) + " "
		for _, v := range across.Values[from:to] {
			head += padLeft(v.Text(), step)
		}
		p.draw(mark(dim, head))
		for y, v := range down.Values {
			line := []span{say(padLeft(v.Text(), labels) + " ")}
			for x := from; x < to; x++ {
				c := &s.Kept[y*len(across.Values)+x]
				l, broken := gravestIn(&c.Counts)
				mine := span{padLeft(".", step), plain}
				if broken {
					mine = span{padLeft(sign(l), step), plain}
					if l.Kind() == audit.Safety && l != audit.UnlockedWrite {
						mine.tone = bad
					}
				}
				if last := &line[len(line)-1]; last.tone == mine.tone {
					last.text += mine.text
				} else {
					line = append(line, mine)
				}
			}
			p.draw(line...)
		}
		p.draw(say(""))
	}
	legend(p, s)
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

// legend says what the signs of a map mean and how often each of them stands there.
func legend(p *page, s *study.Sweep) {
	var shown [audit.NumLaws + 1]int64
	for i := range s.Kept {
		l, _ := gravestIn(&s.Kept[i].Counts)
		shown[l]++
	}
	for _, l := range gravest() {
		if shown[l] > 0 {
			p.draw(say(sign(l) + " " + l.String() + ", " + count(shown[l], "cell") + ": " + meaning(l)))
		}
	}
	if n := shown[audit.NumLaws]; n > 0 {
		p.draw(say(". " + count(n, "cell") + " in which no law is broken"))
	}
}

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-width(s))) + s }

// slicesTable shows a sweep of more dimensions by its slices: for each value of each axis, in how many cells with that
// value each law is broken.
func slicesTable(p *page, s *study.Sweep) {
	broken := brokenLaws(s)
	head := []string{"slice", "", ">cells"}
	for _, l := range broken {
		head = append(head, ">"+l.String())
	}
	g := p.grid(head...)
	for a, axis := range s.Axes {
		for _, v := range axis.Values {
			var cells int64
			var counts [audit.NumLaws]int64
			for i := range s.Kept {
				c := &s.Kept[i]
				if a >= len(c.At) || c.At[a] != v {
					continue
				}
				cells++
				for l, n := range c.Counts {
					if n > 0 {
						counts[l]++
					}
				}
			}
			row := []span{say(axis.Name), say(v.Text()), say(number(cells))}
			for _, l := range broken {
				if n := counts[l]; n > 0 {
					row = append(row, mark(bad, number(n)))
				} else {
					row = append(row, mark(dim, "."))
				}
			}
			g.row(row...)
		}
	}
}
