package report

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"plain, 日本語 é":        "plain, 日本語 é",
		"a\nb\tc":             `a\nb\tc`,
		"\x1b[31mred\x1b[0m":  `\x1b[31mred\x1b[0m`,
		"bell\a nul\x00 \x7f": `bell\x07 nul\x00 \x7f`,
		"c1 \u009b31m":        `c1 \u009b31m`,
		"bidi \u202eabc":      `bidi \u202eabc`,
		"zero\u200bwidth":     `zero\u200bwidth`,
		"line\u2028end":       `line\u2028end`,
		"bad \xff\xfe utf8":   `bad \xff\xfe utf8`,
		"tag \U000e0041":      `tag \U000e0041`,
		"replacement \ufffd":  "replacement \ufffd",
	} {
		if got := safe(in); got != want {
			t.Errorf("safe(%q) = %q, want %q", in, got, want)
		}
		if again := safe(safe(in)); again != safe(in) {
			t.Errorf("safe is not idempotent on %q: %q", in, again)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		``:         `""`,
		`say "hi"`: `"say \"hi\""`,
		`back\s`:   `"back\\s"`,
		"a\nb":     `"a\nb"`,
		"\x1b]0;x": `"\x1b]0;x"`,
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
	long := value(strings.Repeat("a", 500) + strings.Repeat("日", 500))
	if w := width(long); w > maxShownValue || !strings.Contains(long, "…") || !strings.HasSuffix(long, `日"`) {
		t.Errorf("a long value is shown as %s, %d columns", long, w)
	}
}

func TestMarkdownEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"a|b":                 `a\|b`,
		"<script>&":           `&lt;script&gt;&amp;`,
		"*bold* _it_ `code`":  "\\*bold\\* \\_it\\_ \\`code\\`",
		"[x](http://e.com)":   `\[x\](http\://e.com)`,
		"www.example.com":     `www\.example.com`,
		"# no heading":        `\# no heading`,
		"1. no list":          `1\. no list`,
		"2) no list":          `2\) no list`,
		"- no list":           `\- no list`,
		"version 1.2 - a + b": "version 1.2 - a + b",
		"me@example.com $x$":  `me\@example.com \$x\$`,
	} {
		if got := markdown(in); got != want {
			t.Errorf("markdown(%q) = %s, want %s", in, got, want)
		}
	}
}

// The last columns of a table are for remarks: without any they are left out, and one remark keeps those before it.
func TestMarkdownColumnsWithoutRemarks(t *testing.T) {
	for want, c := range map[string]struct {
		head []string
		rows [][]span
	}{
		"| n | |---:| | 1 |": {[]string{">n", "", ""}, [][]span{{say("1"), say(""), {}}}},
		"| n |  |  | |---|---|---| | 1 |  |  | | 2 |  | x |": {[]string{"n", "", ""}, [][]span{{say("1")}, {say("2"), say(""), say("x")}}},
		"| n | m | |---|---| | 1 |  |":                       {[]string{"n", "m"}, [][]span{{say("1"), say("")}}},
		"|  | |---| |  |":                                    {[]string{"", ""}, [][]span{{say(""), say("")}}},
	} {
		p := &page{}
		g := p.grid(c.head...)
		for _, r := range c.rows {
			g.row(r...)
		}
		if got := strings.TrimSpace(strings.ReplaceAll(markdownTable(g), "\n", " ")); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"abc": 3, "日本": 4, "é": 1, "e\u0301": 1, "…": 1} {
		if got := width(s); got != want {
			t.Errorf("width(%q) = %d, want %d", s, got, want)
		}
	}
	if got := clip("日本語", 5); got != "日本" {
		t.Errorf("clip keeps %q", got)
	}
	if got := clipLeft("日本語", 3); got != "語" {
		t.Errorf("clipLeft keeps %q", got)
	}
}

// hostile is text that tries to leave its place in every format.
const hostile = "x\x1b[2J\x1b]0;t\a\u202e\u009b\xff\r\n| # ``` <b>&</b> `q` \"\\"

// hostileFile has hostile text wherever a file may hold any.
func hostileFile() *study.File {
	w := newWorld("A", "B")
	w.p.Settings.Initial = hostile
	w.p.Owners = append(append([]string{}, w.p.Owners...), hostile)
	w.at(0, "A", engine.Acquire, func(s *engine.Step) { s.TTL, s.Owner = 5, 2 }).at(1, "A", engine.Read, nil).appends(2, "A", hostile)
	w.at(3, "A", engine.Write, func(s *engine.Step) { s.Text = w.text(hostile) })
	r := w.run(hostile, study.Value{Name: "n", N: 1})
	for i := range r.Settings {
		if r.Settings[i].Name == "initial" {
			r.Settings[i].Str = true
		}
	}
	r.Claims = []study.Claim{{Expect: &dsl.Expect{Source: hostile}, Got: hostile}, {Expect: &dsl.Expect{Source: hostile}, OK: true, Vacuous: hostile}}
	sweep := sweepOf([]string{"n"}, 2, noLaw)
	sweep.Name, sweep.Kept[0].Final = hostile, hostile
	f := fileOf(r)
	f.Script.File, f.Script.Title, f.Script.About, f.Script.Clients = hostile, hostile, hostile, []string{"A", "B"}
	f.Script.Blocks = []*dsl.Block{{Kind: dsl.RunBlock, Name: hostile}}
	f.Items = append(f.Items, study.Item{Sweep: sweep})
	return f
}

// outputs lists every text that this package makes of a file.
func outputs(f *study.File, o Options) map[string]func(w io.Writer) error {
	var runs []*study.Run
	for _, item := range f.Items {
		if item.Run != nil {
			runs = append(runs, item.Run, item.Run)
		}
	}
	labels := []string{f.Script.File, f.Script.Title}
	grid := &Grid{Columns: labels, Rows: []GridRow{{Name: f.Script.File, Cells: []GridCell{{Final: hostile}, {Note: hostile}}}}}
	quiet := o
	quiet.Quiet = true
	return map[string]func(w io.Writer) error{
		"transcript": func(w io.Writer) error { return Transcript(w, f, o) },
		"quiet":      func(w io.Writer) error { return Transcript(w, f, quiet) },
		"sweeps":     func(w io.Writer) error { return SweepText(w, f, o) },
		"compare":    func(w io.Writer) error { return Compare(w, runs, labels, o) },
		"matrix":     func(w io.Writer) error { return Matrix(w, grid, o) },
		"list":       func(w io.Writer) error { return List(w, []*dsl.Script{f.Script}, o) },
		"explain":    func(w io.Writer) error { return Explain(w, dsl.CodePage{Code: "D001", Text: hostile}, o) },
		"json":       func(w io.Writer) error { return JSON(w, []*study.File{f}) },
		"csv":        func(w io.Writer) error { return SweepCSV(w, []*study.File{f}) },
		"markdown":   func(w io.Writer) error { return Markdown(w, f, o) },
		"compare.md": func(w io.Writer) error { return CompareMarkdown(w, runs, labels, o) },
		"sweeps.md":  func(w io.Writer) error { return SweepMarkdown(w, f, o) },
		"matrix.md":  func(w io.Writer) error { return MatrixMarkdown(w, grid, o) },
		"diagnostics": func(w io.Writer) error {
			return Diagnostics(w, hostileDiagnostics(), hostileSources(), o.Width, o.Palette)
		},
		"diagnostics, 0": func(w io.Writer) error { return Diagnostics(w, nil, nil, 0, nil) },
	}
}

func hostileDiagnostics() dsl.Diagnostics {
	end := dsl.Pos{Offset: len(hostile), Line: 1, Col: 20}
	return dsl.Diagnostics{{Code: "D001", Summary: hostile, Detail: hostile, Hint: hostile,
		Span: dsl.Span{File: hostile, Start: dsl.Pos{Offset: 2, Line: 1, Col: 3}, End: end}}}
}

func hostileSources() map[string][]byte { return map[string][]byte{hostile: []byte(hostile)} }

func TestHostileTextIsHarmless(t *testing.T) {
	for name, write := range outputs(hostileFile(), Options{}) {
		got := text(t, write)
		for i, r := range got {
			if r != '\n' && !isSafe(r, utf8.RuneLen(r)) {
				t.Errorf("%s lets %U through: …%q", name, r, got[max(0, i-20):i])
				break
			}
		}
		if strings.HasSuffix(name, ".md") && (strings.Contains(got, "<b>") || strings.Contains(got, "x\\x1b[2J\\x1b]0;t\\x07\\u202e\\u009b\\xff\\x0d\\n| #")) {
			t.Errorf("%s lets markup through:\n%s", name, got)
		}
	}
}
