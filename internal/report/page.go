package report

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// DefaultWidth is the width that goldens are written in and that transcripts fit into.
const DefaultWidth = 100

// A page is what is to be said, before it is known whether it becomes text for a terminal or Markdown. Its texts are
// made safe when they are put in.
type page struct {
	blocks []block
}

type block struct {
	kind  blockKind
	text  []span   // title, heading, section, para
	lines [][]span // figure
	head  []string // table
	rows  [][]cell
	rule  []columns // how each column is set
	most  int       // the most that a column takes, the last one apart; longer cells and heads go on below
	first int       // the most that the first column takes; 0: as the others
}

type blockKind uint8

const (
	title   blockKind = iota // the name of the scenario
	heading                  // a run, a sweep
	section                  // a part of a run
	para                     // running text that belongs to what stands above it
	prose                    // running text by itself
	figure                   // lines to be shown as they are
	table                    // rows of cells; the last column is wrapped
)

// columns says how a column of a table is set.
type columns uint8

const (
	left columns = iota
	right
)

// A cell is what stands in one place of a table.
type cell []span

// A span is a stretch of text with one tone.
type span struct {
	text string
	tone tone
}

func say(s string) span          { return span{safe(s), plain} }
func mark(t tone, s string) span { return span{safe(s), t} }

func (p *page) add(kind blockKind, text ...span) {
	p.blocks = append(p.blocks, block{kind: kind, text: text})
}

// draw starts a figure or continues it with one more line.
func (p *page) draw(line ...span) {
	if n := len(p.blocks); n == 0 || p.blocks[n-1].kind != figure {
		p.blocks = append(p.blocks, block{kind: figure})
	}
	last := &p.blocks[len(p.blocks)-1]
	last.lines = append(last.lines, line)
}

// grid starts a table. A column's heading that starts with ">" is set to the right.
func (p *page) grid(head ...string) *block {
	b := block{kind: table, most: widest, head: make([]string, len(head)), rule: make([]columns, len(head))}
	for i, h := range head {
		h, toRight := strings.CutPrefix(h, ">")
		b.head[i] = safe(h)
		if toRight {
			b.rule[i] = right
		}
	}
	p.blocks = append(p.blocks, b)
	return &p.blocks[len(p.blocks)-1]
}

// row adds a row of cells that are each of one tone.
func (b *block) row(cells ...span) {
	row := make([]cell, len(cells))
	for i, c := range cells {
		row[i] = cell{c}
	}
	b.rows = append(b.rows, row)
}

func (c cell) width() int {
	n := 0
	for _, s := range c {
		n += width(s.text)
	}
	return n
}

// The blanks before the parts of a page and between the columns of a table.
const (
	indent = "  "
	gap    = 2
)

// widest is the most that a column of a table takes, if nothing else is said.
const widest = 36

// The narrowest that the last column of a table and the others are squeezed to; below it the table grows over the width.
const (
	minLast   = 24
	minColumn = 8
)

// printText writes a page for a terminal.
func printText(w io.Writer, p *page, o Options) error {
	t := textPrinter{w: bufio.NewWriter(w), width: o.width(), palette: o.Palette}
	for i := range p.blocks {
		t.block(&p.blocks[i], i == 0)
	}
	return t.w.Flush()
}

func (o Options) width() int {
	if o.Width <= 0 {
		return DefaultWidth
	}
	return o.Width
}

type textPrinter struct {
	w       *bufio.Writer // keeps its first error until Flush
	width   int
	palette *Palette
}

func (t *textPrinter) put(s string) { _, _ = t.w.WriteString(s) }

func (t *textPrinter) block(b *block, first bool) {
	if !first && b.kind != para && b.kind != figure && b.kind != table {
		t.put("\n")
	}
	switch b.kind {
	case title, heading:
		t.wrapped("", "  ", b.text)
	case section:
		t.wrapped("", indent, b.text)
	case para:
		t.wrapped(indent, indent, b.text)
	case prose:
		t.wrapped("", "", b.text)
	case figure:
		for _, line := range b.lines {
			t.line(indent, line)
		}
	case table:
		t.table(b)
	}
}

func (t *textPrinter) line(before string, spans []span) {
	t.put(strings.TrimRight(before+t.painted(spans), " ") + "\n")
}

func (t *textPrinter) painted(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(t.palette.paint(s.tone, s.text))
	}
	return b.String()
}

func (t *textPrinter) wrapped(first, next string, spans []span) {
	for i, line := range wrap(spans, t.width-width(first)) {
		if i == 0 {
			t.line(first, line)
		} else {
			t.line(next, line)
		}
	}
}

func (t *textPrinter) table(b *block) {
	last := len(b.head) - 1
	widths := make([]int, last+1)
	for i, h := range b.head {
		widths[i] = width(h)
		for _, row := range b.rows {
			if i < len(row) {
				widths[i] = max(widths[i], row[i].width())
			}
		}
	}
	before := indent
	room := t.width - width(before)
	for i, w := range widths[:last] {
		most := b.most
		if i == 0 && b.first > 0 {
			most = b.first
		}
		if w > most {
			widths[i] = b.wrappedWidth(i, most)
		}
		room -= widths[i] + gap
	}
	floors := b.floors()
	for want := min(widths[last], minLast); room < want; room++ { // take it from the widest that can still give
		wide := -1
		for i, w := range widths[:last] {
			if w > floors[i] && (wide < 0 || w > widths[wide]) {
				wide = i
			}
		}
		if wide < 0 {
			break
		}
		widths[wide]--
	}
	widths[last] = min(widths[last], max(room, minLast))
	if strings.Join(b.head, "") != "" {
		head := make([]cell, len(b.head))
		for i, h := range b.head {
			head[i] = cell{{h, dim}}
		}
		t.row(before, b, widths, head)
	}
	for _, row := range b.rows {
		t.row(before, b, widths, row)
	}
}

// floors gives what the columns but the last are not squeezed below: the longest word, if that is no monster.
func (b *block) floors() []int {
	floors := make([]int, len(b.head)-1)
	for i := range floors {
		longest := longestWord(b.head[i])
		for _, row := range b.rows {
			if i < len(row) {
				for _, s := range row[i] {
					longest = max(longest, longestWord(s.text))
				}
			}
		}
		floors[i] = max(minColumn, min(longest, 2*minColumn))
	}
	return floors
}

func longestWord(s string) int {
	longest := 0
	for s != "" {
		n := wordEnd(s)
		longest = max(longest, width(strings.TrimLeft(s[:n], " ")))
		s = s[n:]
	}
	return longest
}

// wrappedWidth gives what a column needs when its cells go on below after at most n columns.
func (b *block) wrappedWidth(column, n int) int {
	need := 0
	see := func(c cell) {
		for _, line := range c.wrap(n) {
			need = max(need, cell(line).width())
		}
	}
	see(cell{{b.head[column], dim}})
	for _, row := range b.rows {
		if column < len(row) {
			see(row[column])
		}
	}
	return need
}

// wrap is wrap for a cell, whose every line starts with the blanks that it starts with.
func (c cell) wrap(n int) [][]span {
	if len(c) == 0 || !strings.HasPrefix(c[0].text, " ") {
		return wrap(c, n)
	}
	bare := append(cell{}, c...)
	bare[0].text = strings.TrimLeft(c[0].text, " ")
	blanks := len(c[0].text) - len(bare[0].text)
	lines := wrap(bare, n-blanks)
	for i, line := range lines {
		lines[i] = append([]span{{strings.Repeat(" ", blanks), plain}}, line...)
	}
	return lines
}

// row prints one row of a table; a cell that is wider than its column goes on below.
func (t *textPrinter) row(before string, b *block, widths []int, cells []cell) {
	parts := make([][][]span, len(cells))
	height := 0
	for i, c := range cells {
		parts[i] = c.wrap(widths[i])
		height = max(height, len(parts[i]))
	}
	for y := range height {
		var line []span
		for i := range cells {
			var part []span
			if y < len(parts[i]) {
				part = parts[i][y]
			}
			blanks := widths[i]
			for _, s := range part {
				blanks -= width(s.text)
			}
			pad := span{strings.Repeat(" ", max(blanks, 0)), plain}
			if b.rule[i] == right {
				line = append(append(line, pad), part...)
			} else {
				line = append(append(line, part...), pad)
			}
			line = append(line, span{strings.Repeat(" ", gap), plain})
		}
		t.line(before, line)
	}
}

// wrap breaks spans at blanks into lines of at most n columns; a word that is longer is broken where the line ends.
func wrap(spans []span, n int) [][]span {
	n = max(n, 1)
	var lines [][]span
	var line []span
	used := 0
	flush := func() {
		lines = append(lines, line)
		line, used = nil, 0
	}
	put := func(s string, t tone) {
		if k := len(line); k > 0 && line[k-1].tone == t {
			line[k-1].text += s
		} else {
			line = append(line, span{s, t})
		}
		used += width(s)
	}
	for _, s := range spans {
		for rest := s.text; rest != ""; {
			word := rest[:wordEnd(rest)]
			glued := len(rest) == len(s.text) && strings.ContainsRune(".,;:)", rune(word[0]))
			rest = rest[len(word):]
			if used > 0 && used+width(word) > n {
				var begun []span
				if glued { // a full stop after a coloured word belongs to that word
					line, begun = lastWord(line)
				}
				flush()
				for _, b := range begun {
					put(b.text, b.tone)
				}
				word = strings.TrimLeft(word, " ")
			}
			for width(word) > n {
				head := clip(word, n-used)
				if head == "" && used == 0 {
					break // one character is wider than the line
				}
				if head != "" {
					put(head, s.tone)
				}
				flush()
				word = word[len(head):]
			}
			if word != "" {
				put(word, s.tone)
			}
		}
	}
	if line != nil || lines == nil {
		flush()
	}
	return lines
}

// lastWord splits a line before its last word. A line that ends with a blank, or is of one word, is not split.
func lastWord(line []span) (before, word []span) {
	k := len(line) - 1
	cut := strings.LastIndexByte(line[k].text, ' ')
	switch {
	case cut > 0 && cut+1 < len(line[k].text):
		word = []span{{line[k].text[cut+1:], line[k].tone}}
		before = slices.Clone(line)
		before[k].text = line[k].text[:cut]
		return before, word
	case cut < 0 && k > 0 && strings.HasSuffix(line[k-1].text, " "):
		return line[:k], []span{line[k]}
	}
	return line, nil
}

// wordEnd gives where the first word of a text ends, which the blanks before it belong to. An interval is one word, and so
// are a few servers and a name with its value: broken in the middle they can be taken for something else.
func wordEnd(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] != ' ' || s[i-1] == ' ' {
			continue
		}
		before, after := s[strings.LastIndexByte(s[:i], ' ')+1:i], s[i+1:]
		switch {
		case strings.HasPrefix(before, "[") && strings.HasSuffix(before, ","):
		case before == "=" || strings.HasPrefix(after, "= "):
		case isServer(after) && (before == "at" || before == "from" || isServer(before) && i < 2*minColumn):
		default:
			return i
		}
	}
	return len(s)
}

// isServer tells whether a text starts with the name of a server.
func isServer(s string) bool { return len(s) > 1 && s[0] == 's' && s[1] >= '0' && s[1] <= '9' }
