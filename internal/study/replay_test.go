package study

import (
	"context"
	"testing"

	"dlock/dsl"
	"dlock/dsl/compile"
)

// What a failing claim of a sweep says to run is a run of that very cell, with the sweep's own settings.
func TestReplay(t *testing.T) {
	const text = `let lease = 5
at 0 A acquire ttl lease
at 3 A append "A"
sweep "it's" over fencing in off, on by lease in 1..4 {
  servers 3
  expect at 3 A holds
}
`
	script, ds := dsl.Parse("a b.dlk", []byte(text))
	if ds.HasErrors() {
		t.Fatal(ds[0].Summary)
	}
	do := func(o Options, over ...compile.Override) Item {
		t.Helper()
		st, ds := New(script, over)
		if ds.HasErrors() {
			t.Fatal(ds[0].Summary)
		}
		f, err := st.Do(context.Background(), o)
		if err != nil || len(f.Items) != 1 {
			t.Fatal(err, len(f.Items))
		}
		return f.Items[0]
	}
	c := do(Options{}).Sweep.Claims[0]
	if want := `dlock run 'a b.dlk' --run 'it'\''s' --set fencing=off --set lease=1`; c.Replay != want {
		t.Errorf("replay %s, want %s", c.Replay, want)
	}
	over := []compile.Override{{Name: "fencing", Value: "on"}, {Name: "lease", Value: "2"}}
	r := do(Options{RunsOnly: true}, over...).Run
	if r == nil {
		t.Fatal("the one cell is no run")
	}
	if s := r.Record.Program.Settings; s.Servers != 3 || s.Fencing == 0 || r.Record.Leases[0].End.Tick != 2 {
		t.Errorf("%+v is another cell", s)
	}
	if do(Options{}, over...).Sweep == nil || do(Options{RunsOnly: true}, over[:1]...).Sweep == nil {
		t.Error("a sweep that was asked for, or has cells left, is one")
	}
}
