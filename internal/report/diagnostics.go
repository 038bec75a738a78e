package report

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"dlock/dsl"
)

// Diagnostics writes faults and suspicions about scripts, each with its source line and a caret under the span, and a
// last line that counts them. Sources holds the texts by the names in the spans; a diagnostic of another file is written
// without its line. It returns the first error of w, and writes nothing if there is nothing to say.
func Diagnostics(w io.Writer, ds dsl.Diagnostics, sources map[string][]byte, columns int, p *Palette) error {
	if len(ds) == 0 {
		return nil
	}
	t := textPrinter{w: bufio.NewWriter(w), width: Options{Width: columns}.width(), palette: p}
	for i := range ds {
		t.diagnostic(&ds[i], sources)
	}
	t.total(ds)
	return t.w.Flush()
}

func (t *textPrinter) diagnostic(d *dsl.Diagnostic, sources map[string][]byte) {
	word := mark(bad, d.Severity.String())
	if d.Severity == dsl.Warning {
		word.tone = bold
	}
	at := safe(d.Span.File)
	if d.Span.Start.Line > 0 {
		at += ":" + number(d.Span.Start.Line) + ":" + number(d.Span.Start.Col)
	}
	t.wrapped("", indent, []span{say(at + ": "), word, say("[" + d.Code + "]: "), mark(bold, d.Summary)})
	if source, ok := sources[d.Span.File]; ok && d.Span.Start.Line > 0 {
		t.excerpt(source, d.Span)
	}
	if d.Detail != "" {
		t.wrapped(indent, indent, []span{say(d.Detail)})
	}
	if d.Hint != "" {
		t.wrapped(indent, indent+"      ", []span{say("hint: " + d.Hint)})
	}
	t.put("\n")
}

// tabColumns is what a tab becomes in an excerpt: the caret's place must not depend on a terminal's tab stops.
const tabColumns = 4

// excerpt shows the source line with a caret under the span. A line that is too long is shown around the span.
func (t *textPrinter) excerpt(source []byte, sp dsl.Span) {
	line, col := lineAt(source, sp.Start)
	end := len(line)
	if sp.End.Line == sp.Start.Line {
		end = min(end, col+max(sp.End.Offset-sp.Start.Offset, 0))
	}
	before, inside, after := shown(line[:col]), shown(line[col:end]), shown(line[end:])
	gutter := number(sp.Start.Line) + " | "
	room := max(t.width-len(indent)-len(gutter), minLast)
	under := max(width(inside), 1)
	if width(before)+under+width(after) > room {
		// Keep what stands before the span only as far as half the room, so that the span itself is seen.
		if width(before) > room/2 {
			before = "…" + clipLeft(before, room/2-1)
		}
		if left := room - width(before); width(inside) > left {
			inside, after = clip(inside, left-1)+"…", ""
			under = left
		} else if width(inside)+width(after) > left {
			after = clip(after, left-width(inside)-1) + "…"
		}
	}
	t.line(indent, []span{{gutter, dim}, {before + inside + after, plain}})
	t.line(indent, []span{
		{strings.Repeat(" ", len(gutter)-2) + "| ", dim},
		{strings.Repeat(" ", width(before)), plain},
		{"^" + strings.Repeat("~", under-1), bad},
	})
}

// lineAt cuts a position's line out of a source, without its line break, and gives the position's offset in it.
func lineAt(source []byte, pos dsl.Pos) (line string, at int) {
	offset := min(max(pos.Offset, 0), len(source))
	from := bytes.LastIndexByte(source[:offset], '\n') + 1
	to := len(source)
	if n := bytes.IndexByte(source[offset:], '\n'); n >= 0 {
		to = offset + n
	}
	line = strings.TrimSuffix(string(source[from:to]), "\r")
	at = min(offset-from, len(line))
	if from == 0 && strings.HasPrefix(line, "\ufeff") && at >= len("\ufeff") {
		line, at = strings.TrimPrefix(line, "\ufeff"), at-len("\ufeff")
	}
	for at > 0 && at < len(line) && !utf8.RuneStart(line[at]) {
		at--
	}
	return line, at
}

// shown is a piece of source as an excerpt shows it: blanks for tabs, everything unsafe spelled out.
func shown(s string) string {
	return safe(strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabColumns)))
}

func (t *textPrinter) total(ds dsl.Diagnostics) {
	var errors, warnings int
	code := ds[0].Code
	for i := range ds {
		if ds[i].Severity == dsl.Warning {
			warnings++
			continue
		}
		if errors == 0 {
			code = ds[i].Code
		}
		errors++
	}
	var parts []string
	if errors > 0 {
		parts = append(parts, count(errors, "error"))
	}
	if warnings > 0 {
		parts = append(parts, count(warnings, "warning"))
	}
	t.wrapped("", "", []span{say(list(parts, "and") + "; `dlock explain " + code + "` says more about " + code)})
}
