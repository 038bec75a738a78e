package shrink

import (
	"slices"
	"strings"
)

// doc is a formatted file as statements that can be taken out and changed. It knows braces and comments and no more of
// the language; whether what is left still means something is for the parser to say.
type doc struct {
	lead  []string // the leading comment
	below *node    // the statement that it stood above, by an empty line or not
	list  []*node
}

// node is a statement with its comments and blocks.
type node struct {
	blank bool     // an empty line stands above it
	above []string // the comment lines above it
	head  string   // its words, without brace and comment
	trail string   // the comment at the end of its line
	parts []*part
}

// part is one block of a statement.
type part struct {
	when  string // "when denied"; the words of a statement's first block are in its head
	trail string
	list  []*node
}

// statements counts the statements of a list and of all blocks below it.
func statements(list []*node) int {
	n := len(list)
	for _, s := range list {
		for _, p := range s.parts {
			n += statements(p.list)
		}
	}
	return n
}

// read reads a text that dsl.Format wrote.
func read(text string) *doc {
	d := &doc{}
	type open struct {
		into *[]*node
		node *node
	}
	stack := []open{{into: &d.list}}
	var above []string
	blank, started := false, false
	for line := range strings.Lines(text) {
		words, comment := cutComment(strings.TrimSpace(line))
		top := &stack[len(stack)-1]
		switch {
		case words == "" && comment == "":
			if !started && len(above) > 0 {
				d.lead, above, started = above, nil, true
			}
			blank = true
			continue
		case words == "":
			above = append(above, comment)
			continue
		}
		if !started { // the leading comment may stand right above the first statement
			d.lead, above, started = above, nil, true
		}
		if rest, closes := strings.CutPrefix(words, "}"); closes {
			stack = stack[:max(1, len(stack)-1)]
			if when, opens := strings.CutSuffix(strings.TrimSpace(rest), "{"); opens && top.node != nil {
				p := &part{when: strings.TrimSpace(when), trail: comment}
				top.node.parts = append(top.node.parts, p)
				stack = append(stack, open{&p.list, top.node})
			}
			above, blank = nil, false
			continue
		}
		n := &node{blank: blank, above: above, head: words, trail: comment}
		above, blank = nil, false
		if d.below == nil {
			d.below = n
		}
		*top.into = append(*top.into, n)
		if head, opens := strings.CutSuffix(words, "{"); opens {
			p := &part{}
			n.head = strings.TrimSpace(head)
			n.parts = append(n.parts, p)
			stack = append(stack, open{&p.list, n})
		}
	}
	return d
}

// cutComment splits a line at the "#" that is not inside a text.
func cutComment(line string) (words, comment string) {
	inside := false
	for i := 0; i < len(line); i++ {
		switch {
		case inside && line[i] == '\\':
			i++
		case line[i] == '"':
			inside = !inside
		case line[i] == '#' && !inside:
			return strings.TrimSpace(line[:i]), line[i:]
		}
	}
	return line, ""
}

// without gives the statement without its i-th block.
func (n *node) without(i int) (head string, parts []*part) {
	head, parts = n.head, slices.Delete(slices.Clone(n.parts), i, i+1)
	if i > 0 {
		return head, parts
	}
	if t := tokens(head); len(t) > 2 && head[t[len(t)-2].lo:t[len(t)-2].hi] == "when" {
		head = strings.TrimSpace(head[:t[len(t)-2].lo])
	}
	if len(parts) > 0 { // the next block becomes the first one
		head += " " + parts[0].when
		parts[0] = &part{list: parts[0].list}
	}
	return head, parts
}

// text writes the statements, without the order of a formatter. lines gets the statement of each line, if it is not nil.
func (d *doc) text(lines *[]*node) string {
	var b strings.Builder
	put := func(s string, n *node) {
		b.WriteString(s)
		b.WriteByte('\n')
		if lines != nil {
			*lines = append(*lines, n)
		}
	}
	var list func(all []*node)
	list = func(all []*node) {
		for _, n := range all {
			if n.blank {
				put("", nil)
			}
			for _, c := range n.above {
				put(c, nil)
			}
			line := n.head
			for i, p := range n.parts {
				if i > 0 {
					line = "}"
				}
				line = joined(line, p.when, "{", p.trailOf(i, n))
				put(line, first(i, n))
				list(p.list)
			}
			if len(n.parts) > 0 {
				put("}", nil)
			} else {
				put(joined(line, n.trail), n)
			}
		}
	}
	for _, c := range d.lead {
		put(c, nil)
	}
	if len(d.lead) > 0 && (len(d.list) == 0 || d.list[0] != d.below) {
		put("", nil) // or it would be taken for a comment on what has moved up
	}
	list(d.list)
	return b.String()
}

func (p *part) trailOf(i int, n *node) string {
	if i == 0 {
		return n.trail
	}
	return p.trail
}

// first gives the statement for the line that holds its words.
func first(i int, n *node) *node {
	if i == 0 {
		return n
	}
	return nil
}

func joined(words ...string) string {
	var kept []string
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// token is a word, a number, a text or a sign of a statement.
type token struct {
	lo, hi int
	number bool
}

// tokens splits the words of a statement. The formatter has put blanks around every minus between two operands, so a
// hyphen inside a word is the word's.
func tokens(s string) []token {
	var all []token
	for i := 0; i < len(s); {
		lo := i
		switch c := s[i]; {
		case c == ' ':
			i++
			continue
		case c == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(s))
		case digit(c):
			for i < len(s) && digit(s[i]) {
				i++
			}
		case wordByte(c):
			for i < len(s) && (wordByte(s[i]) || s[i] == '-') {
				i++
			}
		case strings.HasPrefix(s[i:], ".."):
			i += 2
		default:
			i++
		}
		all = append(all, token{lo, i, digit(s[lo])})
	}
	return all
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func wordByte(c byte) bool {
	return digit(c) || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// word gives the i-th word of a statement, "" if there is none.
func (n *node) word(i int) string {
	t := tokens(n.head)
	if i >= len(t) {
		return ""
	}
	return n.head[t[i].lo:t[i].hi]
}

// changed forgets what a comment may say about numbers that are no longer there.
func (n *node) changed() {
	if strings.ContainsAny(n.trail, "0123456789") {
		n.trail = ""
	}
	if strings.ContainsAny(strings.Join(n.above, ""), "0123456789") {
		n.above = nil
	}
}
