package randprog

import (
	"reflect"
	"testing"

	"dlock/engine"
)

func TestSameSeedSameProgram(t *testing.T) {
	for seed := range uint64(200) {
		if !reflect.DeepEqual(New(seed, All), New(seed, All)) {
			t.Fatalf("seed %d gives two programs", seed)
		}
	}
	if reflect.DeepEqual(New(1, All), New(2, All)) {
		t.Error("two seeds give one program")
	}
}

// Every verb comes up, and none that the features leave out.
func TestFeatures(t *testing.T) {
	optional := map[engine.Verb]Features{
		engine.Renew: Renewals, engine.WatchdogStop: Renewals, engine.ClientClock: Clocks, engine.ServerClock: Clocks,
		engine.ServerCrash: Faults, engine.ServerRestart: Faults, engine.ServerRevoke: Faults, engine.ResourceForget: Faults,
		engine.Cut: Faults, engine.Heal: Faults,
	}
	for _, f := range []Features{Basic, Messages, Faults, Clocks, Renewals, Guards, Settings, All, All | NoReacts} {
		var seen [engine.Heal + 1]int
		for seed := range uint64(500) {
			p := New(seed, f)
			for i := range p.Steps {
				s := &p.Steps[i]
				seen[s.Verb]++
				if s.Guards != 0 && f&Guards == 0 || s.Watchdog != 0 && f&Renewals == 0 {
					t.Fatalf("features %b, seed %d: line %d has a guard or a watchdog", f, seed, s.Line)
				}
				if f&NoReacts != 0 && (s.Blocks.Len() > 0 || s.If != engine.CondNone) {
					t.Fatalf("features %b, seed %d: line %d depends on an outcome", f, seed, s.Line)
				}
			}
			if len(p.Messages) > 0 && f&Messages == 0 {
				t.Fatalf("features %b, seed %d: messages", f, seed)
			}
		}
		for v := engine.Acquire; v <= engine.Heal; v++ {
			want := optional[v] == 0 || f&optional[v] != 0
			if got := seen[v] > 0; got != want {
				t.Errorf("features %b: verb %d (%v) is there %d times", f, v, v, seen[v])
			}
		}
	}
}

// What every compiled program keeps: spans lie inside their lists, blocks belong to one client, lines are distinct, and
// no absolute step of a client stands inside an absolute pause of its own.
func TestProgramsAreWellFormed(t *testing.T) {
	inside := func(s engine.Span, n int) bool { return 0 <= s.Lo && s.Lo <= s.Hi && int(s.Hi) <= n }
	for seed := range uint64(2000) {
		p := New(seed, All)
		lines, parents := map[int32]bool{}, make([]int, len(p.Steps))
		for _, r := range p.Roots {
			parents[r]++
		}
		for i := range p.Steps {
			s := &p.Steps[i]
			if lines[s.Line] {
				t.Fatalf("seed %d: two steps at line %d", seed, s.Line)
			}
			lines[s.Line] = true
			if !inside(s.Servers, len(p.ServerIDs)) || !inside(s.Messages, len(p.Messages)) || !inside(s.Blocks, len(p.Blocks)) {
				t.Fatalf("seed %d: line %d has a span outside its list", seed, s.Line)
			}
			if s.Repeat == engine.Every && (s.K < 1 || s.Last < s.At) || s.At < 0 || s.TTL < 0 {
				t.Fatalf("seed %d: line %d: %+v", seed, s.Line, s)
			}
			for _, b := range p.Blocks[s.Blocks.Lo:s.Blocks.Hi] {
				for j := b.Steps.Lo; j < b.Steps.Hi; j++ {
					parents[j]++
					if p.Steps[j].Client != s.Client || p.Steps[j].Line <= s.Line || p.Steps[j].Repeat != engine.AfterOutcome {
						t.Fatalf("seed %d: line %d stands in the block of line %d", seed, p.Steps[j].Line, s.Line)
					}
				}
			}
			for _, m := range p.Messages[s.Messages.Lo:s.Messages.Hi] {
				if !inside(m.Servers, len(p.ServerIDs)) || !m.Lost && !m.Plus && (m.At < s.At || s.Retry > 0) {
					t.Fatalf("seed %d: line %d has the message %+v", seed, s.Line, m)
				}
			}
		}
		for i, n := range parents {
			if n != 1 {
				t.Fatalf("seed %d: step %d has %d places", seed, i, n)
			}
		}
		for _, r := range p.Roots {
			for _, q := range p.Roots {
				a, b := &p.Steps[r], &p.Steps[q]
				if r != q && a.Verb == engine.Pause && a.Client == b.Client && a.Repeat == engine.Once && b.Repeat == engine.Once &&
					b.Verb != engine.Crash && a.At <= b.At && b.At < end(a) {
					t.Fatalf("seed %d: line %d stands inside the pause of line %d", seed, b.Line, a.Line)
				}
			}
		}
	}
}
