package dsl

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// fault notes an error, or a warning if its code is one.
func (f *file) fault(code string, at Span, summary, detail, hint string) {
	severity := Error
	if code >= CodeUnusedLet && code < CodeDivisionByZero {
		severity = Warning
	}
	f.faults = append(f.faults, Diagnostic{Code: code, Severity: severity, Summary: summary, Detail: detail, Hint: hint, Span: at})
}

// syntaxFault notes a fault that leaves a row without a tree.
func (f *file) syntaxFault(r *row, code string, at Span, summary, detail, hint string) {
	r.bad, r.tree, f.broken = true, nil, true
	f.fault(code, at, summary, detail, hint)
}

// diagnostics gives the faults in order: of each line its first error or else its first warning, since one slip often
// looks wrong in several ways.
func (f *file) diagnostics() Diagnostics {
	chosen := map[int]int{} // line to index in out
	var out Diagnostics
	for _, d := range f.faults {
		i, seen := chosen[d.Span.Start.Line]
		switch {
		case !seen:
			chosen[d.Span.Start.Line] = len(out)
			out = append(out, d)
		case out[i].Severity == Warning && d.Severity == Error:
			out[i] = d
		}
	}
	return out.Sort()
}

func (f *file) span(start, end lexer.Position) Span {
	return Span{File: f.name, Start: toPos(start), End: toPos(end)}
}

func (f *file) tokenSpan(t lexer.Token) Span { return f.textSpan(t.Pos, t.Value) }

// textSpan is the span of text that stands at pos on one line.
func (f *file) textSpan(pos lexer.Position, text string) Span { return f.span(pos, after(pos, text)) }

func (f *file) wordSpan(w *word) Span { return f.textSpan(w.Pos, w.Text) }

func (f *file) quotedSpan(q *quoted) Span { return f.textSpan(q.Pos, q.Text) }

// lastToken is the span of the last token of a row.
func (f *file) lastToken(r *row) Span { return f.tokenSpan(r.tokens[len(r.tokens)-1]) }

// rowSpan is a whole line without indentation and comment.
func (f *file) rowSpan(r *row) Span {
	last := r.tokens[len(r.tokens)-1]
	return f.span(r.tokens[0].Pos, after(last.Pos, last.Value))
}

func toPos(p lexer.Position) Pos { return Pos{Offset: p.Offset, Line: p.Line, Col: p.Column} }

func after(pos lexer.Position, text string) lexer.Position {
	pos.Offset += len(text)
	pos.Column += utf8.RuneCountInString(text)
	return pos
}

func itoa(n int) string { return strconv.Itoa(n) }

// quote shows a word of the source inside a message.
func quote(s string) string {
	const most = 40 // a message is one line
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return "`" + s + "`"
}

// listed joins words for people: "a, b or c".
func listed(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return "`" + words[0] + "`"
	}
	return "`" + strings.Join(words[:len(words)-1], "`, `") + "` or `" + words[len(words)-1] + "`"
}
