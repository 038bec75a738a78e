package search

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"dlock/audit"
	"dlock/engine"
)

// yardstick is the family of docs/explore.md: clients with retries, each but the first with an open arrival, the first
// with an open pause between its read and its write. Who goes first within a tick is open too.
func yardstick(clients int, pause, arrivals int32, f engine.Fencing) *engine.Program {
	p := &engine.Program{
		Settings: engine.Settings{Servers: 5, Quorum: 3, Fencing: f, Leases: true, OwnerCheck: true, Horizon: engine.Tick(arrivals) + 200},
		Ties:     true,
		Holes:    []engine.Hole{{N: pause + 1, By: 1}},
	}
	for c := range int32(clients) {
		name := string('A' + c)
		p.Clients = append(p.Clients, name)
		p.Owners = append(p.Owners, name)
		p.Texts = append(p.Texts, name)
		step := engine.Step{Line: 10*c + 1, Verb: engine.Acquire, Client: c, TTL: 10, Retry: 1, RetryUntil: engine.Forever, Owner: c,
			PauseFor: -1, Blocks: engine.Span{Lo: c, Hi: c + 1}}
		if c > 0 {
			p.Holes = append(p.Holes, engine.Hole{N: arrivals + 1, By: 1})
			step.Hole = c + 1
		}
		p.Steps = append(p.Steps, step)
		p.Roots = append(p.Roots, c)
	}
	for c := range int32(clients) {
		lo := int32(len(p.Steps))
		hole := int32(0)
		if c == 0 {
			hole = 1
		}
		after := engine.Step{Client: c, Repeat: engine.AfterOutcome, PauseFor: -1, Owner: c}
		read, write, release := after, after, after
		read.Line, read.Verb, read.At = 10*c+2, engine.Read, 1
		write.Line, write.Verb, write.At, write.Text, write.Hole = 10*c+3, engine.Append, 2, c, hole
		release.Line, release.Verb, release.At, release.Hole = 10*c+4, engine.Release, 3, hole
		p.Steps = append(p.Steps, read, write, release)
		p.Blocks = append(p.Blocks, engine.Block{On: 1 << engine.Granted, Steps: engine.Span{Lo: lo, Hi: lo + 3}})
	}
	return p
}

func run(t testing.TB, p *engine.Program) *Result {
	t.Helper()
	s, err := New(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Result) stale() string {
	n := count{}.big()
	for _, c := range r.Classes {
		if c.Broken.Has(audit.StaleWrite) {
			n.Add(n, c.Members)
		}
	}
	return n.String()
}

func TestYardstick(t *testing.T) {
	for _, tc := range []struct {
		clients        int
		fencing        engine.Fencing
		members, stale string
	}{
		{2, engine.FencingOff, "1832", "548"},
		{2, engine.FencingOn, "1832", "0"},
		{3, engine.FencingOff, "17801814", "8188716"},
		{3, engine.FencingOn, "17801814", "0"},
		{4, engine.FencingOff, "1740865604410512", "930020255668608"},
	} {
		r := run(t, yardstick(tc.clients, 30, 30, tc.fencing))
		if r.Members.String() != tc.members || r.stale() != tc.stale {
			t.Errorf("%d clients, fencing %d: %s members, %s with a stale write; want %s and %s",
				tc.clients, tc.fencing, r.Members, r.stale(), tc.members, tc.stale)
		}
		if tc.fencing == engine.FencingOff && r.Smallest[audit.StaleWrite].Harm != 12 {
			t.Errorf("%d clients: the smallest stale write is at %d, want 12", tc.clients, r.Smallest[audit.StaleWrite].Harm)
		}
	}
}

// A search that is used again knows nothing of what it did before.
func TestReset(t *testing.T) {
	again, err := New(yardstick(3, 30, 30, engine.FencingOff), 0)
	if err != nil {
		t.Fatal(err)
	}
	taken := yardstick(2, 3, 3, engine.FencingOff)
	taken.Holes = make([]engine.Hole, MaxHoles+1)
	for _, p := range []*engine.Program{
		yardstick(3, 10, 10, engine.FencingOff), yardstick(2, 30, 30, engine.FencingOn), taken, yardstick(2, 5, 9, engine.FencingOff),
	} {
		err := again.Reset(p)
		if p == taken {
			if !errors.Is(err, ErrTrait) {
				t.Errorf("a family of too many holes gives %v", err)
			}
			continue
		}
		got, err2 := again.Run(context.Background())
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if want := run(t, p); !reflect.DeepEqual(got, want) {
			t.Errorf("%d clients: the second search says %+v, want %+v", len(p.Clients), got, want)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := again.Run(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted search gives %v", err)
	}
	p := yardstick(2, 5, 9, engine.FencingOff)
	if err := again.Reset(p); err != nil {
		t.Fatal(err)
	}
	if got, err := again.Run(context.Background()); err != nil || !reflect.DeepEqual(got, run(t, p)) {
		t.Errorf("after an interrupt it says %+v, %v", got, err)
	}
}

// rows are the sizes of the yardstick that are measured.
var rows = []struct {
	name    string
	clients int
	bound   int32
}{{"2 clients at 30", 2, 30}, {"3 clients at 30", 3, 30}, {"3 clients at 200", 3, 200}, {"4 clients at 30", 4, 30}}

func BenchmarkYardstick(b *testing.B) {
	for _, bc := range rows {
		b.Run(bc.name, func(b *testing.B) {
			p := yardstick(bc.clients, bc.bound, bc.bound, engine.FencingOff)
			var r *Result
			for b.Loop() {
				r = run(b, p)
			}
			members, _ := r.Members.Float64()
			b.ReportMetric(members, "members")
			b.ReportMetric(float64(r.States), "states")
			b.ReportMetric(float64(r.States)*float64(b.N)/b.Elapsed().Seconds(), "states/s")
			b.ReportMetric(float64(r.Bytes)/float64(r.States), "bytes/state")
		})
	}
}
