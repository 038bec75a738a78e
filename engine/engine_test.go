package engine

import "testing"

// pauseProgram is the study guide's schedule (section 6): A acquires, reads, is paused past its lease and writes.
func pauseProgram(f Fencing) *Program {
	step := func(line int32, client int32, v Verb, at Tick) Step {
		return Step{Line: line, Verb: v, Client: client, At: at, PauseFor: -1, RetryUntil: Forever, Owner: client}
	}
	a := step(1, 0, Acquire, 0)
	a.TTL = 10
	p := step(3, 0, Pause, 2)
	p.PauseFor = 14
	w := step(4, 0, Append, 16)
	b := step(6, 1, Acquire, 12)
	b.TTL, b.Retry, b.Blocks = 10, 1, Span{0, 1}
	after := func(line int32, v Verb, n Tick) Step {
		s := step(line, 1, v, n)
		s.Repeat = AfterOutcome
		return s
	}
	bw := after(8, Append, 2)
	bw.Text = 1
	return &Program{
		Settings: Settings{Servers: 5, Quorum: 3, Fencing: f, Leases: true, OwnerCheck: true, Horizon: 217},
		Clients:  []string{"A", "B"},
		Owners:   []string{"A", "B"},
		Texts:    []string{"A", "B"},
		Roots:    []int32{0, 1, 2, 3, 4, 5},
		Steps: []Step{a, step(2, 0, Read, 1), p, w, step(5, 0, Release, 17), b,
			after(7, Read, 1), bw, after(9, Release, 3)},
		Blocks: []Block{{On: 1 << Granted, Steps: Span{6, 9}}},
	}
}

func TestPause(t *testing.T) {
	for _, tc := range []struct {
		fencing Fencing
		final   string
		last    bool
	}{{FencingOff, "A", true}, {FencingOn, "B", false}, {FencingStrict, "B", false}} {
		rec := Run(pauseProgram(tc.fencing))
		if got := rec.Value(rec.Final); got != tc.final {
			t.Errorf("fencing %d: final value %q, want %q", tc.fencing, got, tc.final)
		}
		if n := len(rec.Writes); n != 2 || rec.Writes[1].Accepted != tc.last || rec.Writes[1].Applied.Tick != 16 {
			t.Errorf("fencing %d: writes %+v", tc.fencing, rec.Writes)
		}
		if n := len(rec.Leases); n != 10 {
			t.Fatalf("fencing %d: %d leases, want 10", tc.fencing, n)
		}
		for i, l := range rec.Leases {
			start, end := Tick(0), Tick(10)
			if i >= 5 {
				start, end = 12, 15
			}
			if l.Start.Tick != start || l.End.Tick != end {
				t.Errorf("lease %d is [%d, %d), want [%d, %d)", i, l.Start.Tick, l.End.Tick, start, end)
			}
		}
	}
}

func TestRunAllocatesNothingOnceWarm(t *testing.T) {
	p, m, rec := pauseProgram(FencingOff), NewMachine(), &Record{}
	if n := testing.AllocsPerRun(100, func() { m.Run(p, rec) }); n != 0 {
		t.Errorf("%v allocations for each run, want none", n)
	}
}

func BenchmarkRun(b *testing.B) {
	p, m, rec := pauseProgram(FencingOff), NewMachine(), &Record{}
	b.ReportAllocs()
	for b.Loop() {
		m.Run(p, rec)
	}
	b.ReportMetric(float64(len(rec.Events)), "events/run")
}
