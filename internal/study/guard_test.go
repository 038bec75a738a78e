package study_test

import (
	"testing"

	"dlock/dsl"
	"dlock/internal/study"
)

func TestGuardedWritesInEveryPlace(t *testing.T) {
	const source = `
at 0  A append "top" {
  +1  write "block" {
    +1  append "nested"
  }
}
at 0  B append "first"
run "r" {
  at 5  C append "run"
}
`
	script, ds := dsl.Parse("-", []byte(source))
	if ds.HasErrors() {
		t.Fatalf("%+v", ds)
	}
	writes := func(s *dsl.Script) int64 {
		st, ds := study.New(s, nil)
		if ds.HasErrors() {
			t.Fatalf("%+v", ds)
		}
		f, err := st.Do(t.Context(), study.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f.Items[0].Run.Audit.Writes
	}
	if n := writes(script); n != 5 {
		t.Fatalf("%d writes, want 5", n)
	}
	// A knows the versions that it wrote itself; B and C never read.
	if n := writes(study.Guarded(script, true, false)); n != 3 {
		t.Errorf("guard version: %d writes, want A's 3", n)
	}
	if n := writes(study.Guarded(script, false, true)); n != 0 {
		t.Errorf("guard lock: %d writes of clients that never asked for the lock, want 0", n)
	}
	if n := writes(script); n != 5 {
		t.Errorf("the script itself was changed: %d writes", n)
	}
}
