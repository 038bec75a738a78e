package report

import (
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/randprog"
	"dlock/internal/study"
)

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestRandomRuns tells many small random runs, and holds of every text: it fits into its width, colour is all that colour
// adds, the same run gives the same bytes, and the JSON can be read.
func TestRandomRuns(t *testing.T) {
	for seed := range uint64(400) {
		p := randprog.New(seed, randprog.All)
		rec := engine.Run(p)
		r := &study.Run{Name: "r", Record: rec, Audit: audit.Judge(rec)}
		f := &study.File{Script: &dsl.Script{File: "r.dlk"}, Items: []study.Item{{Run: r}}}
		plainText := transcript(t, f, Options{})
		for _, line := range strings.Split(plainText, "\n") {
			if width(line) > DefaultWidth {
				t.Errorf("seed %d: %d columns: %s", seed, width(line), line)
			}
			if strings.HasSuffix(line, " ") {
				t.Errorf("seed %d: blanks at the end of %q", seed, line)
			}
		}
		coloured := transcript(t, f, Options{Palette: NewPalette(true)})
		if got := trimLines(colour.ReplaceAllString(coloured, "")); got != plainText {
			t.Fatalf("seed %d: colour changes the text:\n%s", seed, got)
		}
		if again := transcript(t, f, Options{}); again != plainText {
			t.Fatalf("seed %d: two texts of one run differ", seed)
		}
		var v any
		if err := json.Unmarshal([]byte(text(t, func(w io.Writer) error { return JSON(w, []*study.File{f}) })), &v); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// TestAnyWidth writes everything at widths that nobody has.
func TestAnyWidth(t *testing.T) {
	for _, f := range []*study.File{hostileFile(), pauseFile(), fileOf(faultyWorld().run(""))} {
		for _, columns := range []int{-1, 1, 2, 9, 25, 61, 1000} {
			for name, write := range outputs(f, Options{Width: columns}) {
				if got := text(t, write); got == "" && name != "diagnostics, 0" && name != "csv" {
					t.Errorf("%s says nothing at %d columns", name, columns)
				}
			}
		}
	}
}

// TestNarrow holds that texts for a narrow terminal lose nothing but their shape.
func TestNarrow(t *testing.T) {
	letters := func(s string) string {
		all := strings.Split(strings.Join(strings.Fields(s), ""), "")
		slices.Sort(all)
		return strings.Join(all, "")
	}
	quiet := Options{Quiet: true}
	wide := transcript(t, pauseFile(), quiet)
	quiet.Width = 40
	narrow := transcript(t, pauseFile(), quiet)
	if letters(wide) != letters(narrow) {
		t.Errorf("narrow:\n%s", narrow)
	}
	for _, line := range strings.Split(narrow, "\n") {
		if width(line) > 40 {
			t.Errorf("%d columns: %s", width(line), line)
		}
	}
}
