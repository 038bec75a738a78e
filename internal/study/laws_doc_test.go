package study_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/study"
)

// section is what docs/laws.md says about one law.
type section struct {
	law    audit.Law
	text   string
	source string // its schedule
}

func lawSections(t *testing.T) []section {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "laws.md"))
	if err != nil {
		t.Fatal(err)
	}
	// A checkout may have turned line ends into CRLF.
	parts := strings.Split(strings.ReplaceAll(string(doc), "\r\n", "\n"), "\n## `")
	var out []section
	for i, text := range parts[1:] {
		name, rest, _ := strings.Cut(text, "`\n")
		if i >= int(audit.NumLaws) || name != audit.Law(i).String() {
			t.Fatalf("section %d is about %q; every law has one, in the order of the laws", i+1, name)
		}
		_, after, ok := strings.Cut(rest, "```dlk\n")
		source, _, closed := strings.Cut(after, "```")
		if !ok || !closed {
			t.Fatalf("%s has no schedule", name)
		}
		out = append(out, section{law: audit.Law(i), text: rest, source: source})
	}
	if len(out) != int(audit.NumLaws) {
		t.Fatalf("%d laws have a section, want %d", len(out), audit.NumLaws)
	}
	return out
}

// runAll gives the runs of a source by name, or nil if the source is not a script.
func runAll(t *testing.T, source string) map[string]*study.Run {
	t.Helper()
	script, ds := dsl.Parse("laws.md", []byte(source))
	if ds.HasErrors() {
		return nil
	}
	st, ds := study.New(script, nil)
	if ds.HasErrors() {
		return nil
	}
	file, err := st.Do(t.Context(), study.Options{})
	if err != nil {
		return nil
	}
	runs := map[string]*study.Run{}
	for _, it := range file.Items {
		runs[it.Run.Name] = it.Run
	}
	return runs
}

func TestLawsDocSchedulesBreakTheirLaws(t *testing.T) {
	for _, s := range lawSections(t) {
		t.Run(s.law.String(), func(t *testing.T) {
			runs := runAll(t, s.source)
			if runs["broken"] == nil || runs["saved"] == nil {
				_, ds := dsl.Parse("laws.md", []byte(s.source))
				t.Fatalf("the schedule has no runs broken and saved: %+v", ds)
			}
			for name, r := range runs {
				for _, c := range r.Claims {
					if c.Failed() {
						t.Errorf("run %s: %s: got %q, vacuous %q", name, c.Expect.Source, c.Got, c.Vacuous)
					}
				}
			}
			claim := "expect " + s.law.String() + " 1"
			if !strings.Contains(s.source, claim+"\n") {
				t.Errorf("the run broken does not say %q", claim)
			}
			if n := runs["broken"].Audit.Counts[s.law]; n != 1 {
				t.Errorf("broken %d times, want 1", n)
			}
			if n := runs["saved"].Audit.Counts[s.law]; n != 0 {
				t.Errorf("broken %d times in the run that is said to be saved", n)
			}
		})
	}
}

// The smallest schedule: without any one of its lines the law is kept, or the checker finds it odd.
func TestLawsDocSchedulesHaveNoLineTooMany(t *testing.T) {
	step := regexp.MustCompile(`^\s*at \d+ `)
	warnings := func(source string) int {
		_, ds := dsl.Parse("laws.md", []byte(source))
		return len(ds)
	}
	for _, s := range lawSections(t) {
		broken, _, ok := strings.Cut(s.source, `run "saved"`)
		if !ok {
			t.Fatalf("%v: the schedule has no run saved", s.law)
		}
		lines := strings.SplitAfter(broken, "\n")
		tried := 0
		for i, line := range lines {
			if !step.MatchString(line) {
				continue
			}
			tried++
			rest := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
			r := runAll(t, rest)["broken"]
			if r != nil && r.Audit.Counts[s.law] > 0 && warnings(rest) <= warnings(broken) {
				t.Errorf("%v is broken without %q too", s.law, strings.TrimSpace(line))
			}
		}
		if tried == 0 {
			t.Errorf("%v: the schedule has no lines", s.law)
		}
	}
}

func TestLawsDocKinds(t *testing.T) {
	word := map[audit.Kind]string{
		audit.Safety: "safety", audit.BeliefKind: "belief", audit.TokenSafety: "tokens", audit.Liveness: "liveness",
	}
	for _, s := range lawSections(t) {
		if want := "*" + word[s.law.Kind()] + " · counted in "; !strings.Contains(s.text, want) {
			t.Errorf("%v: the section does not say %q", s.law, want)
		}
	}
}
