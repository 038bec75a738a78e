package golden

import (
	"slices"
	"strconv"
	"strings"
)

// Language has the words by which the lines of a transcript are told apart: a golden is a text, and what it says about
// events is read back from it.
type Language struct {
	Verbs    []string // "watchdog stop" and other verbs of two words included
	Outcomes []string
	Laws     []string
}

// line is one line of a transcript, read as far as comparing needs.
type line struct {
	text   string // without colours
	part   part
	run    string // the run or sweep that it belongs to
	named  bool   // the events of its run go by that name
	event  happening
	values string // the numbers and quoted texts that the other fields do not hold, in order
	law    string // the line of a broken law, and how often it is broken
	count  string
}

// part is what a line belongs to.
type part int

const (
	title   part = iota // what stands before the first run: the scenario's name and description
	body                // what happens, and what is made of it
	claimed             // the file's claims of it
)

// claimsHead starts the claims of a run.
const claimsHead = "Claims"

// head tells whether the line is the head of the claims, which counts them.
func (n line) head() bool { return strings.HasPrefix(n.text, claimsHead) }

// claim gives the text of a claim without its verdict and without what came instead.
func (n line) claim() string {
	_, text, found := strings.Cut(n.text, "expect ")
	if !found {
		return ""
	}
	text, _, _ = strings.Cut(text, "  ")
	return text
}

// sameVerdict tells whether two lines of the same claim judge it alike.
func sameVerdict(a, b line) bool {
	before := func(n line) string {
		word, _, _ := strings.Cut(n.text, "expect ")
		return strings.TrimSpace(word)
	}
	return a.claim() == "" || before(a) == before(b)
}

// from and to give the ticks of an event line.
func (n line) from() int64 {
	first, _, _ := strings.Cut(n.event.tick, "..")
	tick, _ := strconv.ParseInt(first, 10, 64) // verbAt has seen that it is a number
	return tick
}

func (n line) to() int64 {
	_, last, several := strings.Cut(n.event.tick, "..")
	if !several {
		return n.from()
	}
	tick, _ := strconv.ParseInt(last, 10, 64)
	return tick
}

// since gives what an event line tells from a tick on.
func (n line) since(tick int64) line {
	last := n.to()
	if n.event.tick = strconv.FormatInt(tick, 10); last > tick {
		n.event.tick += ".." + strconv.FormatInt(last, 10)
	}
	return n
}

// happening is what an event line says; tick is "" for any other line.
type happening struct {
	tick    string
	step    deed
	outcome string
}

// deed is who does what.
type deed struct{ actor, verb string }

func (s deed) String() string { return s.actor + " " + s.verb }

// maxActorFields bounds how many words of a line may name its actor, as "s1 s3..s5" does, before the line is taken for
// something else than an event.
const maxActorFields = 8

// continued is how far a line is indented that goes on with the event above it.
const continued = 8

// read takes a transcript apart. An event line starts with its tick or ticks, its actor and its verb, and goes on in the
// lines below that are indented deeper; the line of a broken law has a word, the count and the law.
func (l Language) read(text string) []line {
	var out []line
	run, here, event := "", title, -1 // event: the place in out of the event that a line may go on with
	for raw := range strings.Lines(text) {
		n := line{text: strings.TrimRight(plain(strings.TrimSuffix(raw, "\n")), " ")}
		fields := splitFields(n.text)
		if name, ok := heading(fields); ok {
			run = name
		}
		switch {
		case n.text == "" || n.text[0] == ' ':
		case len(fields) > 0 && slices.Contains([]string{"run", "sweep", "explore"}, fields[0]):
			here = body
		case here != title && fields[0] == claimsHead:
			here = claimed
		case here == claimed:
			here = body
		}
		n.run, n.part = run, here
		rest := fields
		if at := l.verbAt(fields); at > 0 {
			verb, size := l.verb(fields[at:])
			rest = fields[at+size:]
			n.event = happening{tick: fields[0], step: deed{strings.Join(fields[1:at], " "), verb}, outcome: l.outcome(rest)}
			event = len(out)
		} else {
			n.law, n.count = l.brokenLaw(fields)
		}
		var vals []string
		for _, f := range rest {
			vals = append(vals, numbersAndTexts(f)...)
		}
		n.values = strings.Join(vals, " ")
		switch {
		case n.event.tick != "":
		case event >= 0 && strings.HasPrefix(n.text, strings.Repeat(" ", continued)):
			e := &out[event]
			e.values = strings.TrimSpace(e.values + " " + n.values)
			if n.values = ""; e.event.outcome == "" {
				e.event.outcome = l.outcome(fields)
			}
		default:
			event = -1
		}
		out = append(out, n)
	}
	return out
}

// heading recognises `run "fenced"` and `sweep "…"` at the start of a line.
func heading(fields []string) (string, bool) {
	if len(fields) >= 2 && slices.Contains([]string{"run", "sweep", "explore"}, fields[0]) && strings.HasPrefix(fields[1], `"`) {
		return fields[1], true
	}
	return "", false
}

// verbAt finds the verb of an event line, 0 if it is none.
func (l Language) verbAt(fields []string) int {
	if len(fields) < 3 || !isStretch(fields[0]) {
		return 0
	}
	for i := 2; i < min(len(fields), maxActorFields+2); i++ {
		if _, size := l.verb(fields[i:]); size > 0 {
			return i
		}
	}
	return 0
}

func (l Language) verb(fields []string) (verb string, size int) {
	for _, v := range l.Verbs {
		words := strings.Fields(v)
		if len(words) > size && len(words) <= len(fields) && slices.Equal(words, fields[:len(words)]) {
			verb, size = v, len(words)
		}
	}
	return verb, size
}

func (l Language) outcome(fields []string) string {
	for _, f := range fields {
		w := strings.ToLower(strings.Trim(f, ".,:;()"))
		if slices.Contains(l.Outcomes, w) {
			return w
		}
	}
	return ""
}

// brokenLaw recognises "BROKEN 2 overlap" and, of a sweep, "BROKEN in 2 overlap".
func (l Language) brokenLaw(fields []string) (law, count string) {
	for i := 2; i < min(len(fields), 4); i++ {
		if isNumber(fields[i-1]) && slices.Contains(l.Laws, fields[i]) {
			return fields[i], fields[i-1]
		}
	}
	return "", ""
}

// isStretch recognises a tick, or ticks as in 8..9.
func isStretch(s string) bool {
	from, to, several := strings.Cut(s, "..")
	return isNumber(from) && (!several || isNumber(to))
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}

// splitFields splits at blanks, but keeps a quoted text in one piece.
func splitFields(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		if s[i] == ' ' {
			i++
			continue
		}
		start, quoted := i, false
		for ; i < len(s) && (quoted || s[i] != ' '); i++ {
			switch {
			case quoted && s[i] == '\\':
				i++
			case s[i] == '"':
				quoted = !quoted
			}
		}
		i = min(i, len(s))
		out = append(out, s[start:i])
	}
	return out
}

// numbersAndTexts lists the numbers and quoted texts in a field such as `[12,15)` or `"A"`.
func numbersAndTexts(field string) []string {
	var out []string
	for i := 0; i < len(field); {
		start := i
		switch c := field[i]; {
		case c == '"':
			for i++; i < len(field) && field[i] != '"'; i++ {
				if field[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(field))
			out = append(out, field[start:i])
		case isDigit(c) || c == '-' && i+1 < len(field) && isDigit(field[i+1]):
			for i++; i < len(field) && isDigit(field[i]); i++ {
			}
			out = append(out, field[start:i])
		case isLetter(c): // a digit inside a name, as in s3, is no number
			for i++; i < len(field) && (isLetter(field[i]) || isDigit(field[i])); i++ {
			}
		default:
			i++
		}
	}
	return out
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
