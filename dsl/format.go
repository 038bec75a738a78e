package dsl

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// Format writes a file in the one form that the language has. It changes white space and leading zeros and nothing else:
// comments, parentheses and the order of suffixes stay. It refuses a file whose syntax is broken, and then returns no
// text but the diagnostics; a file with other faults is formatted all the same.
func Format(src []byte, name string) ([]byte, Diagnostics) {
	f := readFile(name, src)
	if f.broken || !wellFormed(f) {
		check(f) // finds the other faults, so that one look at the file is enough
		return nil, slices.DeleteFunc(f.diagnostics(), func(d Diagnostic) bool { return d.Severity == Warning })
	}
	p := &printer{steps: []column{nil}}
	for _, r := range f.rows {
		p.add(r)
	}
	return p.print(), nil
}

// wellFormed tells whether every line is known and the braces match; otherwise indentation would be a guess.
func wellFormed(f *file) bool {
	depth := 0
	for _, r := range f.rows {
		if r.tree != nil && r.tree.Unknown != nil {
			return false
		}
		if r.closes() {
			if depth--; depth < 0 {
				return false
			}
		}
		if r.opens() {
			if depth++; depth > MaxNesting {
				return false
			}
		}
	}
	return depth == 0
}

// printed is a line on its way out. head is the part whose width is aligned with that of its neighbours, tail the rest.
type printed struct {
	depth    int
	head     string
	gap      int  // blanks between the widest head and its tail
	sentence bool // one blank is enough if all heads are of one width
	tail     string
	comment  string
}

// column is a set of lines whose tails begin in one column.
type column []int

// printer collects the lines of a file, and the columns that they share.
type printer struct {
	lines   []printed
	steps   []column // one for each open block
	columns []column
	lets    column // the contiguous groups that are open
	expects column
}

const (
	indentBlanks = 2
	stepGap      = 2 // between a time and its actor
	valueGap     = 1
	commentGap   = 2
	// A head or a line wider than this takes part in no column, so that one long line does not push all others to the
	// right, nor blow the file up.
	widestHead = 40
	widestLine = 100
)

func (p *printer) add(r *row) {
	if len(r.tokens) == 0 && r.comment == "" {
		p.endGroups()
		p.blank()
		return
	}
	if r.closes() {
		p.endGroups()
		p.closeBlock()
	}
	l := printed{depth: len(p.steps) - 1, comment: r.comment}
	if len(r.tokens) > 0 {
		p.statement(&l, r)
	}
	p.lines = append(p.lines, l)
	if r.opens() {
		p.endGroups()
		p.steps = append(p.steps, nil)
	}
}

// blank adds an empty line, unless there is one already or a block has just begun.
func (p *printer) blank() {
	if n := len(p.lines); n > 0 && p.lines[n-1] != (printed{}) && !p.lines[n-1].opens() {
		p.lines = append(p.lines, printed{})
	}
}

func (l *printed) opens() bool { return strings.HasSuffix(l.head+l.tail, "{") }

// closeBlock ends the block that a brace closes; its last line is not an empty one.
func (p *printer) closeBlock() {
	if n := len(p.lines); n > 0 && p.lines[n-1] == (printed{}) {
		p.lines = p.lines[:n-1]
	}
	n := len(p.steps) - 1
	p.columns = append(p.columns, p.steps[n])
	p.steps = p.steps[:n]
}

// endGroups ends the contiguous groups of lets and claims.
func (p *printer) endGroups() {
	p.columns = append(p.columns, p.lets, p.expects)
	p.lets, p.expects = nil, nil
}

// statement cuts a line where its column begins.
func (p *printer) statement(l *printed, r *row) {
	words := spelled(r)
	at := len(words) // the first word of the tail
	switch t := r.tree; {
	case t.Let != nil:
		p.endExpects()
		at, l.gap = 2, valueGap
		p.lets = append(p.lets, len(p.lines))
	case t.Expect != nil:
		p.endLets()
		if cl := t.Expect.Claim.At; cl != nil && cl.Value == nil {
			at, l.gap = r.index(cl.Who.Pos), valueGap
			p.expects = append(p.expects, len(p.lines))
		} else if cl != nil {
			at, l.gap = r.index(cl.Value.Pos)-1, valueGap
			p.expects = append(p.expects, len(p.lines))
		}
	default:
		p.endGroups()
		var pos lexer.Position
		switch {
		case t.After != nil:
			pos = t.After.Doing.Verb.Pos
		case t.Step != nil:
			pos = t.Step.actorPos()
		}
		if pos.Line > 0 {
			at, l.gap, l.sentence = r.index(pos), stepGap, t.Step != nil
			n := len(p.steps) - 1
			p.steps[n] = append(p.steps[n], len(p.lines))
		}
	}
	l.head, l.tail = join(words[:at]), join(words[at:])
}

func (p *printer) endExpects() {
	p.columns, p.expects = append(p.columns, p.expects), nil
}

func (p *printer) endLets() {
	p.columns, p.lets = append(p.columns, p.lets), nil
}

// actorPos is where the actor of a step begins.
func (l *stepLine) actorPos() lexer.Position {
	switch {
	case l.Net != nil:
		return l.Net.Verb.Pos
	case l.Actor.Resource != nil:
		return l.Actor.Resource.Pos
	case len(l.Actor.Servers) > 0:
		return l.Actor.Servers[0].Pos
	}
	return l.Actor.Client.Pos
}

// index finds the token at a position.
func (r *row) index(pos lexer.Position) int {
	for i, t := range r.tokens {
		if t.Pos.Offset >= pos.Offset {
			return i
		}
	}
	return len(r.tokens)
}

// print aligns the columns and writes the lines.
func (p *printer) print() []byte {
	p.endGroups()
	p.columns = append(p.columns, p.steps...)
	for n := len(p.lines); n > 0 && p.lines[n-1] == (printed{}); n = len(p.lines) {
		p.lines = p.lines[:n-1]
	}
	for _, col := range p.columns {
		p.align(col)
	}
	texts := make([]string, len(p.lines))
	for i, l := range p.lines {
		if l.head != "" {
			texts[i] = strings.Repeat(" ", l.depth*indentBlanks) + l.head + l.tail
		}
	}
	var out bytes.Buffer
	for i := 0; i < len(p.lines); {
		i = p.group(&out, texts, i)
	}
	return out.Bytes()
}

// align puts blanks between the heads and the tails of a column.
func (p *printer) align(col column) {
	widest, narrowest := 0, widestHead
	for _, i := range col {
		w := utf8.RuneCountInString(p.lines[i].head)
		narrowest = min(narrowest, w)
		if w <= widestHead {
			widest = max(widest, w)
		}
	}
	for _, i := range col {
		l := &p.lines[i]
		gap := l.gap
		if l.sentence && widest == narrowest {
			gap = 1 // nothing to align: "at 0 A acquire ttl 10" reads as it is spoken
		}
		l.tail = strings.Repeat(" ", max(0, widest-utf8.RuneCountInString(l.head))+gap) + l.tail
	}
}

// group writes one line, or the neighbouring lines that all end in a comment, whose comments share a column. It gives
// the index of the next line.
func (p *printer) group(out *bytes.Buffer, texts []string, from int) int {
	to, widest := from, 0
	for to < len(p.lines) && p.lines[to].comment != "" && texts[to] != "" {
		if w := utf8.RuneCountInString(texts[to]); w <= widestLine {
			widest = max(widest, w)
		}
		to++
	}
	for i := from; i < to; i++ {
		out.WriteString(texts[i])
		out.WriteString(strings.Repeat(" ", max(0, widest-utf8.RuneCountInString(texts[i]))+commentGap))
		out.WriteString(p.lines[i].comment)
		out.WriteByte('\n')
	}
	if to == from {
		if c := p.lines[from].comment; c != "" {
			out.WriteString(strings.Repeat(" ", p.lines[from].depth*indentBlanks) + c)
		}
		out.WriteString(texts[from])
		out.WriteByte('\n')
		to++
	}
	return to
}

// spelling is a token as it is written, and whether it follows the one before without a blank.
type spelling struct {
	text  string
	tight bool
}

// plainLine gives a row as the formatter writes it, without indentation, alignment and comment.
func plainLine(r *row) string { return join(spelled(r)) }

func join(words []spelling) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && !w.tight {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// spelled gives the tokens of a row with what stands between them.
func spelled(r *row) []spelling {
	signs := map[int]bool{} // offsets of signs that belong to what follows them
	collectSigns(reflect.ValueOf(r.tree), signs)
	out := make([]spelling, len(r.tokens))
	for i, t := range r.tokens {
		w := spelling{text: t.Value}
		if t.Type == tokInt {
			w.text = strings.TrimLeft(t.Value[:len(t.Value)-1], "0") + t.Value[len(t.Value)-1:]
		}
		if i > 0 {
			before := r.tokens[i-1]
			w.tight = t.Value == ")" || t.Value == "," || t.Value == ".." || before.Value == "(" || before.Value == ".." ||
				before.Type == tokOp && signs[before.Pos.Offset] ||
				t.Value == "(" && (before.Value == "min" || before.Value == "max")
		}
		out[i] = w
	}
	return out
}

// collectSigns finds the unary signs of a tree. It looks at every field, so that no production can be forgotten.
func collectSigns(v reflect.Value, signs map[int]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if s, ok := v.Interface().(*sign); ok {
			signs[s.Pos.Offset] = true
			return
		}
		collectSigns(v.Elem(), signs)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[lexer.Position]() {
			return
		}
		for i := range v.NumField() {
			collectSigns(v.Field(i), signs)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collectSigns(v.Index(i), signs)
		}
	}
}
