package report

import (
	"errors"
	"io"
	"strings"
	"testing"

	"dlock/dsl"
)

// diagnosticAt makes the diagnostic of the first place at which a word stands in a source.
func diagnosticAt(source, word string) dsl.Diagnostic {
	offset := strings.Index(source, word)
	line := strings.Count(source[:offset], "\n") + 1
	col := len([]rune(source[strings.LastIndex(source[:offset], "\n")+1:offset])) + 1
	start := dsl.Pos{Offset: offset, Line: line, Col: col}
	end := dsl.Pos{Offset: offset + len(word), Line: line, Col: col + len([]rune(word))}
	return dsl.Diagnostic{Code: "D050", Summary: "not a verb", Span: dsl.Span{File: "f.dlk", Start: start, End: end}}
}

func TestDiagnosticExcerpts(t *testing.T) {
	long := "at 0 A acquire " + strings.Repeat("on s1 ", 100) + "here " + strings.Repeat("on s1 ", 100)
	for name, c := range map[string]struct{ source, word, line, caret string }{
		"plain":     {"servers 5\nat 0 A aquire ttl 10\n", "aquire", "  2 | at 0 A aquire ttl 10", "    |        ^~~~~~"},
		"tab":       {"\tat 1 A foo", "foo", "  1 |     at 1 A foo", "    |            ^~~"},
		"wide":      {`at 2 A append "日本語" bar`, "bar", `  1 | at 2 A append "日本語" bar`, "    |                        ^~~"},
		"crlf":      {"at 0 A foo\r\nat 1 A read\r\n", "foo", "  1 | at 0 A foo", "    |        ^~~"},
		"bom":       {"\ufeffat 0 A foo", "foo", "  1 | at 0 A foo", "    |        ^~~"},
		"control":   {"at 0 A \x1bfoo", "foo", `  1 | at 0 A \x1bfoo`, "    |            ^~~"},
		"long line": {long, "here", "  1 | … s1 on s1 on s1 on s1 on s1 on s1 on s1 on s1 here on s1 on s1 on s1 on s1 on s1 on s1 on s1…", "    |                                                ^~~~"},
		"long span": {strings.Repeat("x", 300), strings.Repeat("x", 300), "  1 | " + strings.Repeat("x", 93) + "…", "    | ^" + strings.Repeat("~", 93)},
	} {
		got := text(t, func(w io.Writer) error {
			return Diagnostics(w, dsl.Diagnostics{diagnosticAt(c.source, c.word)}, map[string][]byte{"f.dlk": []byte(c.source)}, 0, nil)
		})
		lines := strings.Split(got, "\n")
		if lines[1] != c.line || lines[2] != c.caret {
			t.Errorf("%s:\n%s\nwant\n%s\n%s", name, got, c.line, c.caret)
		}
		for _, l := range lines {
			if width(l) > DefaultWidth {
				t.Errorf("%s: %d columns", name, width(l))
			}
		}
	}
}

func TestDiagnosticWords(t *testing.T) {
	source := "at 0 A aquire\nlet z = 1\n"
	first, second := diagnosticAt(source, "aquire"), diagnosticAt(source, "let z = 1")
	first.Detail, first.Hint = "A client can only do what the language has a verb for.", "did you mean `acquire`?"
	second.Severity, second.Code, second.Summary = dsl.Warning, "D100", "nothing uses the let `z`"
	got := text(t, func(w io.Writer) error {
		return Diagnostics(w, dsl.Diagnostics{first, second}, map[string][]byte{"f.dlk": []byte(source)}, 100, nil)
	})
	want := "f.dlk:1:8: error[D050]: not a verb\n" +
		"  1 | at 0 A aquire\n" +
		"    |        ^~~~~~\n" +
		"  A client can only do what the language has a verb for.\n" +
		"  hint: did you mean `acquire`?\n" +
		"\n" +
		"f.dlk:2:1: warning[D100]: nothing uses the let `z`\n" +
		"  2 | let z = 1\n" +
		"    | ^~~~~~~~~\n" +
		"\n" +
		"1 error and 1 warning; `dlock explain D050` says more about D050\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDiagnosticsOfNowhere gives positions that are not in the text, or no text.
func TestDiagnosticsOfNowhere(t *testing.T) {
	d := diagnosticAt("at 0 A foo", "foo")
	for _, source := range []string{"", "x", "日", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		for _, offset := range []int{-1, 0, 1, 2, 7, 1 << 40} {
			d.Span.Start.Offset, d.Span.End.Offset = offset, offset-3
			got := text(t, func(w io.Writer) error {
				return Diagnostics(w, dsl.Diagnostics{d}, map[string][]byte{"f.dlk": []byte(source)}, 20, nil)
			})
			if !strings.Contains(got, "not a verb") || !strings.Contains(got, "^") {
				t.Errorf("%q at %d: %s", source, offset, got)
			}
		}
	}
	d.Span = dsl.Span{File: "other.dlk"}
	if got := text(t, func(w io.Writer) error { return Diagnostics(w, dsl.Diagnostics{d}, nil, 0, nil) }); !strings.HasPrefix(got, "other.dlk: error[D050]: not a verb\n\n") {
		t.Errorf("without a source: %s", got)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("the pipe is closed")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestErrorsOfTheWriterComeBack(t *testing.T) {
	for name, write := range outputs(hostileFile(), Options{}) {
		if err := write(brokenWriter{}); !errors.Is(err, errBroken) && name != "diagnostics, 0" {
			t.Errorf("%s gives %v", name, err)
		}
	}
}
