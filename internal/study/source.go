package study

import (
	"fmt"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
)

// write gives a witness its text: the explored file with its holes filled in if lines in their order say it all, else a
// flat schedule. What does not run to the same end is not given, so Source may be empty: of a member in whose ticks answers
// are heard between other work, in an order that lines of a file cannot say. About one random witness in a thousand is such.
func (w *witnesses) write(wit *Witness, choice []int64) {
	r := wit.Run
	title := "the smallest member that breaks " + wit.Law.String()
	if w.ex.total.nDone < w.plan.Family().Slices() {
		title = "a member that breaks " + wit.Law.String()
	}
	if w.plan.Name != "" {
		title = w.plan.Name + ": " + title
	}
	if len(w.st.source) > 0 && !w.plan.Overridden {
		text := fillIn(string(w.st.source), w.plan, choice, title, pins(r, true))
		if src := sameEnd(text, r, true); src != "" {
			wit.Source, wit.InPlace = src, true
			return
		}
	}
	about := w.st.unit.Script.About
	for _, form := range []flatForm{{endless: true}, {polls: true, endless: true}, {}, {polls: true}} {
		if !form.endless && wit.Law.Kind() == audit.Liveness {
			break
		}
		if src := sameEnd(flatText(r, title, about, form), r, form.endless); src != "" {
			wit.Source = src
			return
		}
	}
}

// sameEnd gives the formatted text if it checks, and runs to the same final value, writes and broken laws as the run; those
// of liveness only if asked.
func sameEnd(text string, r *Run, liveness bool) string {
	out, ds := dsl.Format([]byte(text), "")
	if ds.HasErrors() {
		return ""
	}
	script, ds := dsl.Parse("", out)
	if ds.HasErrors() {
		return ""
	}
	unit, _ := compile.Compile(script, nil)
	if unit == nil || len(unit.Plans) != 1 {
		return ""
	}
	again, err := run(unit.Plans[0], true)
	if err != nil || again.Inconclusive() || anyFailed(again.Claims) {
		return ""
	}
	a, b := again.Record, r.Record
	for l := range audit.NumLaws {
		if again.Audit.Counts[l] != r.Audit.Counts[l] && (liveness || l.Kind() != audit.Liveness) {
			return ""
		}
	}
	if a.Value(a.Final) != b.Value(b.Final) || len(a.Writes) != len(b.Writes) {
		return ""
	}
	for i := range a.Writes {
		x, y := &a.Writes[i], &b.Writes[i]
		if a.Program.Clients[x.Client] != b.Program.Clients[y.Client] || x.Accepted != y.Accepted || x.Applied.Tick != y.Applied.Tick ||
			a.Value(x.Value) != b.Value(y.Value) {
			return ""
		}
	}
	return string(out)
}

// fillIn writes an explored file with its holes filled in: the explore block becomes a run, claims become the pins, other
// blocks go, comments stay.
func fillIn(source string, p *compile.Plan, choice []int64, title, pins string) string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(source, "\ufeff"), "\r\n", "\n"), "\n")
	if len(p.Family().Holes()) > 0 {
		fillHoles(lines, p.Family().Holes(), choice)
	}
	var b strings.Builder
	depth, skip, mine := 0, -1, -1
	for i, line := range lines {
		first, opens, closes := shape(line)
		if closes {
			depth--
		}
		switch {
		case skip >= 0:
			if closes && depth == skip && !opens {
				skip = -1
			}
		case i+1 == p.Line:
			mine = depth
			fmt.Fprintf(&b, "run %s {\n", compile.Quote(title))
		case first == "run" || first == "sweep" || first == "explore", strings.HasPrefix(line, absent) && opens:
			skip = depth
		case first == "expect" || first == "where" || first == "ties" || strings.HasPrefix(line, absent):
		case closes && !opens && depth == mine:
			b.WriteString(pins + "}\n")
			mine = -1
		default:
			b.WriteString(line + "\n")
		}
		if opens {
			depth++
		}
	}
	if p.Line == 0 { // a family without a block
		b.WriteString(pins)
	}
	return b.String()
}

// absent marks a line that is not there; no line of the language begins with it.
const absent = "\x00"

// fillHoles writes choices in place of holes, the last of a line first so that places stay right.
func fillHoles(lines []string, holes []compile.FamilyHole, choice []int64) {
	for h := len(holes) - 1; h >= 0; h-- {
		hole := &holes[h]
		at, line := hole.Span, &lines[hole.Line-1]
		from, to := column(*line, at.Start.Col), column(*line, at.End.Col)
		before := (*line)[:from]
		text := ""
		switch {
		case hole.Kind == dsl.MaybeHole && choice[h] >= 0 && hole.Values[choice[h]] == 0:
			*line = absent + *line
			continue
		case choice[h] < 0:
			// It stands in a line that is not there, so any value will do.
			text = fmt.Sprint(hole.Values[0])
		case hole.Kind == dsl.ServerHole:
			text = fmt.Sprintf("s%d", hole.Values[choice[h]])
		case hole.Kind == dsl.NumberHole:
			text = fmt.Sprint(hole.Values[choice[h]])
		}
		if jump := strings.TrimRight(strings.TrimSuffix(before, "+"), " "); hole.Kind == dsl.NumberHole && strings.HasSuffix(jump, " clock") {
			before = jump + " "
			if text[0] != '-' {
				text = "+" + text
			}
		}
		after := (*line)[to:]
		if opened, closed := strings.CutSuffix(before, "("); closed && text[0] != '-' && strings.HasPrefix(after, ")") && !endsWord(opened) {
			before, after = opened, after[1:] // they held the hole together, and a number needs none
		}
		*line = before + text + after
	}
}

// endsWord tells whether a text ends with a name, so that a parenthesis behind it belongs to a call.
func endsWord(s string) bool {
	return s != "" && (s[len(s)-1] == '_' || s[len(s)-1] >= '0' && s[len(s)-1] <= '9' || s[len(s)-1]|0x20 >= 'a' && s[len(s)-1]|0x20 <= 'z')
}

// column turns a column in characters, from 1, into a place in bytes.
func column(line string, col int) int {
	n := 1
	for i := range line {
		if n == col {
			return i
		}
		n++
	}
	return len(line)
}

// shape gives a line's first word, and whether it closes a block or opens one.
func shape(line string) (first string, opens, closes bool) {
	inString := false
	end := len(line)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && inString:
			i++
		case c == '"':
			inString = !inString
		case c == '#' && !inString:
			end = i
		}
		if end < len(line) {
			break
		}
	}
	text := strings.TrimSpace(strings.TrimPrefix(line[:end], absent))
	first, _, _ = strings.Cut(text, " ")
	return first, strings.HasSuffix(text, "{"), strings.HasPrefix(text, "}")
}
