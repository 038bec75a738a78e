package why_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/randprog"
	"dlock/internal/study"
	"dlock/internal/why"
)

func runOf(t *testing.T, file, name string) *study.Run {
	t.Helper()
	path := filepath.Join("..", "..", "scenarios", file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	script, ds := dsl.Parse(path, text)
	if ds.HasErrors() {
		t.Fatalf("%s: %+v", file, ds)
	}
	st, ds := study.New(script, nil)
	if ds.HasErrors() {
		t.Fatalf("%s: %+v", file, ds)
	}
	got, err := st.Do(t.Context(), study.Options{Runs: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	return got.Items[0].Run
}

// What keeps a law in a schedule that is known, and the ticks of the chain that led to the breach.
func TestKnownCauses(t *testing.T) {
	for _, tc := range []struct {
		file, run string
		law       audit.Law
		ticks     []engine.Tick
		helps     []why.ChangeKind // and breaks no other law
	}{
		{"pause.dlk", "unfenced", audit.StaleWrite, []engine.Tick{0, 1, 2, 10, 12, 13, 14, 16}, []why.ChangeKind{
			why.SetFencing, why.SetLeases, why.SetLockDelay, why.GuardVersion, why.GuardLock, why.GuardBefore, why.IfValid}},
		{"incidents/two-active-nodes.dlk", "fencing on, tokens compared on writes", audit.LostUpdate, []engine.Tick{0, 9, 10, 10, 11, 12, 13},
			[]why.ChangeKind{why.SetFenceAt, why.SetFenceAt, why.SetLeases, why.SetLockDelay, why.GuardVersion}},
		{"incidents/clock-jump.dlk", "as described", audit.Overlap, []engine.Tick{0, 2, 3},
			[]why.ChangeKind{why.SetLeases, why.SetJudge, why.SetLockDelay, why.SetQuorum, why.SetServers}},
		{"incidents/callers-clock.dlk", "the caller's clock", audit.DoubleHold, []engine.Tick{0, 0, 1, 1},
			[]why.ChangeKind{why.SetLeases, why.SetJudge, why.SetJudge, why.SetLockDelay}},
		{"incidents/forgetful-server.dlk", "the restart forgets", audit.Overlap, []engine.Tick{0, 1, 2, 2},
			[]why.ChangeKind{why.SetQuorum, why.SetServers, why.KeepState}},
		{"incidents/unchecked-release.dlk", "the owner is not checked", audit.Overlap, []engine.Tick{10, 12, 12, 13},
			[]why.ChangeKind{why.SetLeases, why.SetLockDelay, why.SetOwnerCheck}},
		{"amnesia.dlk", "it forgets", audit.LostUpdate, []engine.Tick{0, 1, 2, 2, 3, 4, 5, 6, 6},
			[]why.ChangeKind{why.SetFenceAt, why.SetFenceAt, why.KeepState, why.GuardVersion}},
		{"incidents/partial-hand-back.dlk", "hand back what was confirmed", audit.Orphan, []engine.Tick{0},
			[]why.ChangeKind{why.SetHandback, why.SetQuorum}},
		{"incidents/slow-grant.dlk", "no validity test", audit.DoubleBelief, []engine.Tick{10, 11, 12}, []why.ChangeKind{why.SetValidity}},
		{"incidents/shared-identity.dlk", "the name of the host", audit.Overlap, []engine.Tick{0, 2}, []why.ChangeKind{why.SetReentrant}},
		{"incidents/reset-fence.dlk", "the counter goes with the lock", audit.RefusedHolder, []engine.Tick{3, 4, 6, 7, 8},
			[]why.ChangeKind{why.SetTokens, why.SetServers, why.SetServers, why.SetServers, why.KeepState}},
		{"incidents/orphan-node.dlk", "nothing is heard, nothing is given back", audit.Deadlock, []engine.Tick{0, 2, 202}, []why.ChangeKind{why.SetHandback}},
		{"incidents/crash-before-ttl.dlk", "two steps", audit.Deadlock, []engine.Tick{0, 0, 3, 78}, nil},
	} {
		t.Run(tc.file+" "+tc.law.String(), func(t *testing.T) {
			answers, err := why.Explain(t.Context(), runOf(t, tc.file, tc.run), []audit.Law{tc.law})
			if err != nil || len(answers) != 1 {
				t.Fatalf("%d answers, %v", len(answers), err)
			}
			var ticks []engine.Tick
			for _, l := range answers[0].Chain {
				ticks = append(ticks, l.At.Tick)
			}
			if !slices.Equal(ticks, tc.ticks) {
				t.Errorf("the chain has ticks %v, want %v", ticks, tc.ticks)
			}
			var helps []why.ChangeKind
			for _, r := range answers[0].Reruns {
				if r.Helps() && !r.Harms() {
					helps = append(helps, r.Change.Kind)
				}
			}
			slices.Sort(helps)
			if !slices.Equal(helps, tc.helps) {
				t.Errorf("helps: %v, want %v", helps, tc.helps)
			}
		})
	}
}

// The smallest lock-delay that helps is named: with lease 10, stall 14 and a write of B's two ticks after its grant, B must not
// be let in before 14.
func TestSmallestLockDelay(t *testing.T) {
	answers, err := why.Explain(t.Context(), runOf(t, "pause.dlk", "unfenced"), []audit.Law{audit.StaleWrite})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range answers[0].Reruns {
		if r.Change.Kind == why.SetLockDelay && r.Change.Settings.LockDelay != 4 {
			t.Errorf("lock-delay %d is said to help", r.Change.Settings.LockDelay)
		}
	}
}

// What kept the client from hearing of its votes is part of the chain, and a request that ends at another tick is shown with its
// new end.
func TestUnheardVotes(t *testing.T) {
	for _, tc := range []struct {
		source string
		ticks  []engine.Tick
	}{
		{"servers 3\nat 0 A acquire ttl 12 reply +3\nat 2 A crash\n", []engine.Tick{0, 2}},
		{"servers 3\nat 0 A acquire ttl 10 arrives +2 reply +3\nat 1 cut A from s1..s3\n", []engine.Tick{0, 1, 2}},
	} {
		script, ds := dsl.Parse("x", []byte(tc.source))
		if ds.HasErrors() {
			t.Fatalf("%+v", ds)
		}
		st, ds := study.New(script, nil)
		if ds.HasErrors() {
			t.Fatalf("%+v", ds)
		}
		got, err := st.Do(t.Context(), study.Options{})
		if err != nil {
			t.Fatal(err)
		}
		answers, err := why.Explain(t.Context(), got.Items[0].Run, []audit.Law{audit.Orphan})
		if err != nil || len(answers) != 1 {
			t.Fatalf("%d answers, %v", len(answers), err)
		}
		var ticks []engine.Tick
		for _, l := range answers[0].Chain {
			ticks = append(ticks, l.At.Tick)
		}
		if !slices.Equal(ticks, tc.ticks) {
			t.Errorf("%s: the chain has ticks %v, want %v", tc.source, ticks, tc.ticks)
		}
		for _, r := range answers[0].Reruns {
			if r.Helps() && r.Shown.B == engine.None {
				t.Errorf("%s: a rerun without the finding shows no event of its own", tc.source)
			}
		}
	}
}

func TestNothingToExplain(t *testing.T) {
	run := runOf(t, "incidents/stalled-watchdog.dlk", "the watchdog is healthy")
	if answers, err := why.Explain(t.Context(), run, nil); err != nil || len(answers) != 0 {
		t.Errorf("%d answers, %v", len(answers), err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := why.Explain(ctx, runOf(t, "pause.dlk", "unfenced"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Of any program: every broken law is explained, by a chain of things that are in the record, in order; and a rerun is the
// program with that change and no other, whose answer can be had again.
func TestAnswersOfRandomPrograms(t *testing.T) {
	const programs = 150
	explained, helped := 0, 0
	for seed := range uint64(programs) {
		p := randprog.New(seed, randprog.All)
		before := *p
		before.Steps, before.Roots = slices.Clone(p.Steps), slices.Clone(p.Roots)
		rec := engine.Run(p)
		run := &study.Run{Record: rec, Audit: audit.Judge(rec)}
		answers, err := why.Explain(t.Context(), run, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, *p) {
			t.Fatalf("seed %d: explaining changes the program", seed)
		}
		broken := 0
		for _, n := range run.Audit.Counts {
			if n > 0 {
				broken++
			}
		}
		if broken != len(answers) {
			t.Fatalf("seed %d: %d laws are broken, %d explained", seed, broken, len(answers))
		}
		for _, a := range answers {
			explained++
			if len(a.Chain) == 0 {
				t.Errorf("seed %d: %v has no chain", seed, a.Law)
			}
			for i, l := range a.Chain {
				if i > 0 && l.At.Before(a.Chain[i-1].At) {
					t.Errorf("seed %d: the chain of %v goes back in time", seed, a.Law)
				}
			}
			for _, r := range a.Reruns {
				if r.Helps() {
					helped++
				}
				if got := audit.Judge(engine.Run(r.Run.Record.Program)).Counts[a.Law]; got != r.Count {
					t.Errorf("seed %d: a rerun says %d, run again %d", seed, r.Count, got)
				}
			}
		}
	}
	if explained < programs || helped < programs {
		t.Errorf("only %d laws explained, %d changes that help", explained, helped)
	}
}
