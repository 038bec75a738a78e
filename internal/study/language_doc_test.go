package study_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/study"
)

// example is a fenced block of the reference: dlk is a whole file, dlk-lines a part of one.
var example = regexp.MustCompile("(?ms)^```(dlk|dlk-lines)(?: [^ \n]+)?\n(.*?)^```$")

// around is what the parts of files in the reference take for granted.
const around = `let lease   = 10
let stall   = 14
let arrival = 12
at 0        A acquire ttl lease
at arrival  B acquire ttl lease
at stall    C read
`

// An example is believed by whoever reads it, so it must do what it says: it runs, claims something, and each claim holds
// and could have failed.
func TestLanguageDocExamplesHoldWhatTheyClaim(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "language.md"))
	if err != nil {
		t.Fatal(err)
	}
	// A checkout may have turned line ends into CRLF.
	text := strings.ReplaceAll(string(doc), "\r\n", "\n")
	found := example.FindAllStringSubmatchIndex(text, -1)
	if len(found) < 10 {
		t.Fatalf("%d examples found", len(found))
	}
	for _, m := range found {
		kind, source := text[m[2]:m[3]], text[m[4]:m[5]]
		line := 1 + strings.Count(text[:m[4]], "\n")
		if kind == "dlk-lines" {
			source = around + source
		}
		script, ds := dsl.Parse("language.md", []byte(source))
		if ds.HasErrors() {
			t.Errorf("language.md:%d: %+v", line, ds)
			continue
		}
		st, ds := study.Open(script, nil)
		if st == nil {
			t.Errorf("language.md:%d: %+v", line, ds)
			continue
		}
		file, err := st.Do(t.Context(), study.Options{})
		if err != nil {
			t.Errorf("language.md:%d: %v", line, err)
			continue
		}
		if file.Inconclusive() {
			t.Errorf("language.md:%d: a limit was reached", line)
		}
		for _, it := range file.Items {
			name, claims := claimsOf(it)
			if len(claims) == 0 {
				t.Errorf("language.md:%d: %q claims nothing", line, name)
			}
			for _, c := range claims {
				if !c.OK || c.Vacuous != "" {
					t.Errorf("language.md:%d: %q: %s: got %q, vacuous %q, cells %v, held %v", line, name, c.Expect.Source, c.Got, c.Vacuous, c.Cells, c.Held)
				}
			}
		}
	}
}

func claimsOf(it study.Item) (string, []study.Claim) {
	switch {
	case it.Run != nil:
		return it.Run.Name, it.Run.Claims
	case it.Sweep != nil:
		return it.Sweep.Name, it.Sweep.Claims
	case it.Explore != nil:
		return it.Explore.Name, it.Explore.Claims
	}
	return "", nil
}

// The reference names the limits of values as they are; those of a file are looked at where they are.
func TestLanguageDocNamesTheLimitsOfValues(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "language.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, limits, found := strings.Cut(string(doc), "\n## Limits\n")
	if !found {
		t.Fatal("there is no section about limits")
	}
	limits, _, _ = strings.Cut(limits, "\n## ")
	for _, n := range []int64{int64(compile.MaxTick), compile.MaxFirings, compile.MaxCells, compile.MaxAxisValues, compile.MaxLines,
		compile.MaxHoles, compile.MaxSlices, engine.MaxWork, engine.MaxRequests} {
		if !strings.Contains(limits, grouped(n)) {
			t.Errorf("the limit %s is not named", grouped(n))
		}
	}
	if want := grouped(engine.MaxValueBytes>>20) + " MiB"; !strings.Contains(limits, want) {
		t.Errorf("the limit %s is not named", want)
	}
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
