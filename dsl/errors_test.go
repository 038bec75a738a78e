package dsl

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// want is an expected diagnostic, written at the end of the line that causes it:
//
//	at 0 A aquire ttl 10 # want D050 8-14 `aquire` is not a verb | did you mean `acquire`?
var want = regexp.MustCompile(` ?# want (D\d{3} .*)$`)

// said words a diagnostic as a want comment does: code, first column, column after the last one, summary, hint.
func said(d Diagnostic) string {
	s := fmt.Sprintf("%s %d-%d %s", d.Code, d.Span.Start.Col, d.Span.End.Col, d.Summary)
	if d.Hint != "" {
		s += " | " + d.Hint
	}
	return s
}

// The files in testdata/errors hold every mistake that people make, each beside what is said about it; and nothing else
// is said.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.dlk")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		wanted := map[int]string{}
		lines := strings.Split(string(src), "\n")
		for i, text := range lines {
			if m := want.FindStringSubmatch(text); m != nil {
				wanted[i+1] = m[1]
				lines[i] = strings.TrimSuffix(text, m[0]) // or it would close a text that is open
			}
		}
		_, ds := Parse(name, []byte(strings.Join(lines, "\n")))
		for _, d := range ds {
			line := d.Span.Start.Line
			if got := said(d); got != wanted[line] {
				t.Errorf("%s:%d:\n got %s\nwant %s", name, line, got, wanted[line])
			}
			if d.Span.File != name {
				t.Errorf("%s:%d: the span names the file %q", name, line, d.Span.File)
			}
			delete(wanted, line)
		}
		for line, text := range wanted {
			t.Errorf("%s:%d: nothing is said, want %s", name, line, text)
		}
	}
}
