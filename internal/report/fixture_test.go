package report

import (
	"bytes"
	"io"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

// world builds programs by hand, so that these tests need neither a parser nor a compiler.
type world struct{ p engine.Program }

func newWorld(clients ...string) *world {
	return &world{engine.Program{
		Settings: engine.Settings{Servers: 5, Quorum: 3, Leases: true, OwnerCheck: true, Horizon: 217},
		Clients:  clients,
		Owners:   clients,
	}}
}

func (w *world) text(s string) int32 {
	w.p.Texts = append(w.p.Texts, s)
	return int32(len(w.p.Texts) - 1)
}

func (w *world) who(name string) int32 {
	for i, c := range w.p.Clients {
		if c == name {
			return int32(i)
		}
	}
	return engine.None
}

// at adds a line of the schedule; edit fills in what the verb needs.
func (w *world) at(tick engine.Tick, client string, verb engine.Verb, edit func(*engine.Step)) *world {
	s := engine.Step{Line: int32(len(w.p.Steps) + 1), Verb: verb, Client: w.who(client), At: tick, RetryUntil: engine.Forever,
		Owner: w.who(client), PauseFor: engine.Tick(engine.None)}
	if edit != nil {
		edit(&s)
	}
	w.p.Steps = append(w.p.Steps, s)
	w.p.Roots = append(w.p.Roots, int32(len(w.p.Steps)-1))
	return w
}

func (w *world) acquire(tick engine.Tick, client string, ttl, retry engine.Tick) *world {
	return w.at(tick, client, engine.Acquire, func(s *engine.Step) { s.TTL, s.Retry = ttl, retry })
}

func (w *world) appends(tick engine.Tick, client, text string) *world {
	return w.at(tick, client, engine.Append, func(s *engine.Step) { s.Text = w.text(text) })
}

func (w *world) pause(tick engine.Tick, client string, n engine.Tick) *world {
	return w.at(tick, client, engine.Pause, func(s *engine.Step) { s.PauseFor = n })
}

func (w *world) run(name string, lets ...study.Value) *study.Run {
	rec := engine.Run(&w.p)
	s := w.p.Settings
	word := func(name, word string) study.Value { return study.Value{Name: name, Word: word} }
	onOff := map[bool]string{true: "on", false: "off"}
	return &study.Run{
		Name: name,
		Line: 1,
		Settings: []study.Value{
			{Name: "servers", N: int64(s.Servers)}, {Name: "quorum", N: int64(s.Quorum)},
			word("fencing", [...]string{"off", "on", "strict"}[s.Fencing]),
			word("fence-at", [...]string{"write", "read", "grant"}[s.FenceAt]), word("leases", onOff[s.Leases]),
			word("handback", [...]string{"all", "confirmed", "off"}[s.Handback]), word("tokens", "counters"), word("validity", onOff[s.Validity]),
			word("judge", "server"), {Name: "lock-delay", N: int64(s.LockDelay)}, word("reentrant", onOff[s.Reentrant]),
			word("owner-check", onOff[s.OwnerCheck]), word("initial", s.Initial), {Name: "horizon", N: int64(s.Horizon)},
		},
		Lets:   lets,
		Record: rec,
		Audit:  audit.Judge(rec),
	}
}

// pauseWorld is the schedule of docs/language.md section 1.
func pauseWorld(fencing engine.Fencing) *world {
	w := newWorld("A", "B")
	w.p.Settings.Fencing = fencing
	w.acquire(0, "A", 10, 0).at(1, "A", engine.Read, nil).pause(2, "A", 14).appends(16, "A", "A").at(17, "A", engine.Release, nil)
	return w.acquire(12, "B", 10, 1).at(13, "B", engine.Read, nil).appends(14, "B", "B").at(15, "B", engine.Release, nil)
}

func pauseRun(name string, fencing engine.Fencing) *study.Run {
	r := pauseWorld(fencing).run(name, study.Value{Name: "lease", N: 10}, study.Value{Name: "stall", N: 14}, study.Value{Name: "arrival", N: 12})
	r.Claims = []study.Claim{
		{Expect: &dsl.Expect{Source: "expect no overlap"}, OK: true},
		{Expect: &dsl.Expect{Source: `expect final "A"`, Span: dsl.Span{Start: dsl.Pos{Line: 28}}}, OK: fencing == engine.FencingOff, Got: map[bool]string{true: `"B"`}[fencing != engine.FencingOff]},
	}
	return r
}

func pauseFile() *study.File {
	return &study.File{
		Script: &dsl.Script{
			File: "scenarios/pause.dlk", Title: "a paused client overwrites finished work", Clients: []string{"A", "B"},
			About: "A pause that outlives the lease.\n\nA takes the lock, reads, and is stopped for 14 ticks. Its lease ends meanwhile, B does a complete\nand correctly locked critical section, and A wakes up and writes.",
		},
		Items: []study.Item{{Run: pauseRun("unfenced", engine.FencingOff)}, {Run: pauseRun("fenced", engine.FencingOn)}},
	}
}

// text gives what a function of this package writes.
func text(t *testing.T, write func(w io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func transcript(t *testing.T, f *study.File, o Options) string {
	t.Helper()
	return text(t, func(w io.Writer) error { return Transcript(w, f, o) })
}

func fileOf(runs ...*study.Run) *study.File {
	f := &study.File{Script: &dsl.Script{File: "x.dlk"}}
	for _, r := range runs {
		f.Items = append(f.Items, study.Item{Run: r})
	}
	return f
}

// sweepOf makes a sweep over n values of each axis; counts says which laws are broken in a cell.
func sweepOf(axes []string, n int, counts func(at []int64) map[audit.Law]int64) *study.Sweep {
	s := &study.Sweep{Name: "a sweep", Clients: []string{"A", "B"}, Cells: 1}
	for _, a := range axes {
		axis := study.Axis{Name: a}
		for v := range n {
			axis.Values = append(axis.Values, study.Value{Name: a, N: int64(v)})
		}
		axis.Broken = make([][audit.NumLaws]int64, n)
		s.Axes = append(s.Axes, axis)
		s.Cells *= int64(n)
	}
	for i := range s.Cells {
		at := make([]int64, len(axes))
		for a, rest := len(axes)-1, i; a >= 0; a-- {
			at[a] = rest % int64(n)
			rest /= int64(n)
		}
		c := study.Cell{Final: "A", OK: true, Blocked: []int64{0, at[0] - 1}}
		for a, v := range at {
			c.At = append(c.At, s.Axes[a].Values[v])
		}
		for l, k := range counts(at) {
			c.Counts[l] = k
			s.Broken[l] += min(k, 1)
			for a, v := range at {
				s.Axes[a].Broken[v][l] += min(k, 1)
			}
		}
		if c.Counts == [audit.NumLaws]int64{} {
			s.Unbroken++
		}
		s.Kept = append(s.Kept, c)
	}
	return s
}

func sweepFile(sweeps ...*study.Sweep) *study.File {
	f := &study.File{Script: &dsl.Script{File: "sweep.dlk", Title: "sweeps", Clients: []string{"A", "B"}}}
	for _, s := range sweeps {
		f.Items = append(f.Items, study.Item{Sweep: s})
	}
	return f
}

func noLaw([]int64) map[audit.Law]int64 { return nil }
