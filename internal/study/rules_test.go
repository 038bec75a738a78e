package study_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlock/dsl"
	"dlock/internal/study"
)

// eachSchedule runs every file of a folder of testdata and hands each one's text and outcome to judge, in a test of its own.
func eachSchedule(t *testing.T, dir string, judge func(t *testing.T, text string, file *study.File)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.dlk"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schedules in %s: %v", dir, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".dlk"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			script, ds := dsl.Parse(name, text)
			if ds.HasErrors() {
				t.Fatalf("%+v", ds)
			}
			st, ds := study.New(script, nil)
			if ds.HasErrors() {
				t.Fatalf("%+v", ds)
			}
			file, err := st.Do(t.Context(), study.Options{})
			if err != nil {
				t.Fatal(err)
			}
			judge(t, string(text), file)
		})
	}
}

// Every file of testdata/rules pins a sentence of docs/language.md, which its name and its comment give. Its claims were
// worked out from the sentence by hand; a vacuous one would pin nothing.
func TestRulesOfTheLanguage(t *testing.T) {
	eachSchedule(t, "rules", func(t *testing.T, _ string, file *study.File) {
		t.Helper()
		for _, it := range file.Items {
			if len(it.Run.Claims) == 0 {
				t.Errorf("run %q claims nothing", it.Run.Name)
			}
			for _, c := range it.Run.Claims {
				if c.Failed() {
					t.Errorf("line %d, run %q: %s: got %q, vacuous %q", c.Expect.Span.Start.Line, it.Run.Name, c.Expect.Source, c.Got, c.Vacuous)
				}
			}
		}
	})
}
