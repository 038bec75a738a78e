package report

import (
	"slices"
	"strings"

	"dlock/engine"
)

// A timeline draws, for each client, when it holds the lock, when it believes so, and what it does meanwhile. One column
// is one tick where that fits.
type timeline struct {
	lo    engine.Tick // the tick of the first column
	scale engine.Tick // ticks in a column
	cols  int
	names int // columns of the widest row label
}

// The most that a timeline shows; beyond it a picture tells nothing and the tables have all.
const (
	maxTimelineClients = 10
	maxTimelineName    = 14
	// The bars take at least and at most so many columns, by what the labels and the numbers beside them leave.
	minBars = 20
	maxBars = 60
)

// bar is a stretch of one row.
type bar struct {
	start, end engine.Tick // end Forever: it never ends
}

// row is one line of a timeline.
type row struct {
	label string
	sign  byte
	bars  []bar
	marks []writeMark
	held  []bar // of a row of beliefs: when they are true
	doubt bool  // the row is one of beliefs
}

type writeMark struct {
	at   engine.Tick
	sign byte // W accepted, X rejected
}

// draw draws the holds and beliefs of a run. It draws nothing where nobody ever held the lock or believed so.
func (t *teller) draw(p *page, o Options) {
	rows, hidden := t.rows()
	if len(rows) == 0 {
		return
	}
	p.add(section, mark(bold, "Who holds the lock, and who believes that it does"))
	tl := t.layout(rows, o.width()-len(indent))
	for _, line := range tl.axis() {
		p.draw(mark(dim, line))
	}
	for _, r := range rows {
		p.draw(tl.row(r)...)
	}
	if hidden > 0 {
		p.draw(mark(dim, "and "+count(hidden, "more client")+" that the list of leases has"))
	}
	if tl.scale > 1 {
		p.draw(mark(dim, "One column is "+number(tl.scale)+" ticks; a stretch that touches a column fills it."))
	}
}

// rows makes the rows that have something in them, by client.
func (t *teller) rows() (rows []row, hidden int) {
	shown := 0
	for c := range int32(len(t.rec.Program.Clients)) {
		held, believed, acts := t.held(c), t.believed(c), t.acts(c)
		if len(held)+len(believed) == 0 {
			continue
		}
		if shown++; shown > maxTimelineClients {
			hidden++
			continue
		}
		name := shorten(safe(t.client(c)), maxTimelineName)
		rows = append(rows, row{label: name + " holds", sign: '=', bars: held})
		rows = append(rows, row{label: name + " believes", sign: '-', bars: believed, held: held, doubt: true})
		if len(acts.bars)+len(acts.marks) > 0 {
			acts.label = name + " acts"
			rows = append(rows, acts)
		}
	}
	return rows, hidden
}

func (t *teller) held(client int32) []bar {
	var bars []bar
	for _, i := range t.holds[client] {
		bars = append(bars, bar{t.aud.Holders[i].Start, t.aud.Holders[i].End})
	}
	return bars
}

func (t *teller) believed(client int32) []bar {
	var bars []bar
	for _, i := range t.beliefs[client] {
		if b := &t.rec.Beliefs[i]; b.End.Tick > b.Start.Tick {
			bars = append(bars, bar{b.Start.Tick, b.End.Tick})
		}
	}
	return bars
}

// acts has a client's pauses and the moments at which its writes land.
func (t *teller) acts(client int32) row {
	r := row{sign: 'z'}
	for _, i := range t.pauses[client] {
		if p := &t.rec.Pauses[i]; p.End > p.Start.Tick {
			r.bars = append(r.bars, bar{p.Start.Tick, p.End})
		}
	}
	for _, i := range t.sent[client] {
		w := &t.rec.Writes[i]
		if w.Applied.Tick == engine.Forever {
			continue
		}
		m := writeMark{at: w.Applied.Tick, sign: 'W'}
		if !w.Accepted {
			m.sign = 'X'
		}
		r.marks = append(r.marks, m)
	}
	return r
}

// layout chooses the window and the scale: round numbers of ticks a column, so that the axis can be read.
func (t *teller) layout(rows []row, room int) *timeline {
	lo, hi := engine.Forever, engine.Tick(0)
	see := func(x engine.Tick) {
		if x != engine.Forever {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	tl := &timeline{}
	numbers := 0
	for _, r := range rows {
		tl.names, numbers = max(tl.names, width(r.label)), max(numbers, width(r.numbers()))
		for _, b := range r.bars {
			see(b.start)
			see(b.end)
		}
		for _, m := range r.marks {
			see(m.at)
			see(m.at + 1)
		}
	}
	bars := engine.Tick(min(max(room-tl.names-numbers-2*gap, minBars), maxBars))
	if lo < bars/2 {
		lo = 0
	}
	tl.scale = roundScale((hi - lo) / (bars - 2))
	tl.lo = lo / (10 * tl.scale) * (10 * tl.scale)
	for (hi-tl.lo)/tl.scale >= bars {
		tl.scale = roundScale(tl.scale)
		tl.lo = lo / (10 * tl.scale) * (10 * tl.scale)
	}
	tl.cols = min(int((hi-tl.lo)/tl.scale)/10*10+11, int(bars))
	return tl
}

// roundScale gives the next of 1, 2, 5, 10, 20, 50, … above n.
func roundScale(n engine.Tick) engine.Tick {
	s := engine.Tick(1)
	for i := 0; s <= n; i++ {
		if i%3 == 1 {
			s = s / 2 * 5
		} else {
			s *= 2
		}
	}
	return s
}

// axis gives the two lines above the rows: every tenth column with its tick, and the rule below the numbers.
func (tl *timeline) axis() []string {
	var numbers, rule strings.Builder
	for c := range tl.cols {
		switch {
		case c%10 == 0:
			label := number(tl.lo + engine.Tick(c)*tl.scale)
			if blanks := c - numbers.Len(); blanks >= 0 {
				numbers.WriteString(strings.Repeat(" ", blanks) + label)
			}
			rule.WriteByte('|')
		case c%5 == 0:
			rule.WriteByte('+')
		default:
			rule.WriteByte('.')
		}
	}
	before := strings.Repeat(" ", tl.names+gap)
	return []string{before + numbers.String(), before + rule.String()}
}

// row draws one row, and lists its stretches as numbers after it. A belief is marked where it is wrong.
func (tl *timeline) row(r row) []span {
	cells := tl.fill(r.bars, r.sign)
	for _, m := range r.marks {
		cells[(m.at-tl.lo)/tl.scale] = m.sign
	}
	spans := []span{say(r.label + strings.Repeat(" ", tl.names-width(r.label)+gap))}
	if r.doubt {
		truth := tl.fill(r.held, '=')
		for c := 0; c < tl.cols; {
			from := c
			wrong := cells[c] != ' ' && truth[c] == ' '
			for c++; c < tl.cols && (cells[c] != ' ' && truth[c] == ' ') == wrong; c++ {
			}
			s := span{string(cells[from:c]), plain}
			if wrong {
				s.tone = bad
			}
			spans = append(spans, s)
		}
	} else {
		spans = append(spans, say(string(cells)))
	}
	return append(spans, say("  "+r.numbers()))
}

// fill draws stretches into the columns of a row; one that never ends has an arrow at the edge.
func (tl *timeline) fill(bars []bar, sign byte) []byte {
	cells := []byte(strings.Repeat(" ", tl.cols))
	for _, b := range bars {
		to := tl.cols
		if b.end != engine.Forever {
			to = min(to, int((b.end-tl.lo+tl.scale-1)/tl.scale))
		}
		for c := int((b.start - tl.lo) / tl.scale); c < to; c++ {
			cells[c] = sign
		}
		if b.end == engine.Forever {
			cells[tl.cols-1] = '>'
		}
	}
	return cells
}

// maxListed is how many stretches a row lists as numbers.
const maxListed = 2

func (r *row) numbers() string {
	if r.doubt && len(r.bars) == 0 {
		return "never"
	}
	var parts []string
	for i, b := range r.bars {
		if i == maxListed {
			parts = append(parts, "…")
			break
		}
		text := interval(b.start, b.end)
		if r.sign == 'z' {
			text = "z paused"
		}
		parts = append(parts, text)
		if r.sign == 'z' {
			break
		}
	}
	if slices.ContainsFunc(r.marks, func(m writeMark) bool { return m.sign == 'W' }) {
		parts = append(parts, "W writes")
	}
	if slices.ContainsFunc(r.marks, func(m writeMark) bool { return m.sign == 'X' }) {
		parts = append(parts, "X refused")
	}
	return strings.Join(parts, "  ")
}
