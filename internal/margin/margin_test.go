package margin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/numbers"
	"dlock/internal/randprog"
	"dlock/internal/randtext"
	"dlock/internal/study"
)

// side is a verdict of a run as it is read from the transcript's own sources.
func side(r *study.Run, v *Verdict) string {
	switch v.Subject {
	case OfLaw:
		return fmt.Sprint(r.Audit.Counts[v.Law] > 0)
	case OfFinal:
		return r.Record.Value(r.Record.Final)
	}
	nth := 0
	for i := range r.Record.Events { // in the order of time: a client's writes are sent in the order in which they come up
		e := &r.Record.Events[i]
		if e.Line != v.Line || e.Verb != engine.Append && e.Verb != engine.Write {
			continue
		}
		if e.Outcome == engine.Accepted || e.Outcome == engine.Rejected || e.Outcome == engine.Skipped {
			if nth == v.Nth {
				return e.Outcome.String()
			}
			nth++
		}
	}
	return "none"
}

func runOf(text string, over []compile.Override) *study.Run {
	script, ds := dsl.Parse("t.dlk", []byte(text))
	if ds.HasErrors() {
		return nil
	}
	st, _ := study.New(script, over)
	if st == nil {
		return nil
	}
	f, err := st.Do(context.Background(), study.Options{})
	if err != nil || f.Items[0].Run == nil || f.Items[0].Run.Inconclusive() {
		return nil
	}
	return f.Items[0].Run
}

// moved runs a text with one number changed: a let from outside, a number of a line in the text itself.
func moved(t *testing.T, text string, k *Knob, to engine.Tick) *study.Run {
	t.Helper()
	if k.Name != "" {
		return runOf(text, []compile.Override{{Name: k.Name, Value: fmt.Sprint(to)}})
	}
	script, _ := dsl.Parse("t.dlk", []byte(text))
	by := to - k.Value
	out := text
	all := numbers.Of(script.Steps)
	for i := len(all) - 1; i >= 0; i-- { // from the end, so that spans stay
		p := &all[i]
		whole := k.Place.Kind == numbers.From && p.Kind == numbers.To
		if p.Step.Span.Start.Line != k.Line || p.Kind != k.Place.Kind && !whole || p.Message != k.Place.Message {
			continue
		}
		at := (*p.Expr).Span()
		formula := text[at.Start.Offset:at.End.Offset]
		value := fmt.Sprintf("%s + %d", formula, by)
		if by < 0 {
			value = fmt.Sprintf("%s - %d", formula, -by)
		}
		if p.Kind == numbers.Jump {
			value = fmt.Sprintf("%+d", to)
			at.Start.Offset -= len(formula) - len(strings.TrimLeft(formula, "+-"))
			if text[at.Start.Offset-1] == '+' {
				at.Start.Offset--
			}
		}
		out = out[:at.Start.Offset] + value + out[at.End.Offset:]
	}
	if out == text {
		t.Fatalf("there is no number %v in line %d of\n%s", k.Place.Kind, k.Line, text)
	}
	return runOf(out, nil)
}

// check holds every flip to what a file with that number does, and sees to it that no smaller shift does the same.
func check(t *testing.T, text string, r *Run) {
	t.Helper()
	now := runOf(text, nil)
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Subject == OfWrite && v.Now.Fate == Adrift {
			continue
		}
		was := side(now, v)
		for j, f := range v.Flips {
			if j > 0 && abs(f.Shift) < abs(v.Flips[j-1].Shift) {
				t.Fatalf("the flips are not in order: %+v", v.Flips)
			}
			if f.To != f.Knob.Value+f.Shift || f.Shift == 0 || abs(f.Shift) > r.Reach {
				t.Fatalf("no shift: %+v", f)
			}
			then := moved(t, text, f.Knob, f.To)
			if then == nil {
				t.Fatalf("line %d, %v %s to %d makes no sense\n%s", f.Knob.Line, f.Knob.Place.Kind, f.Knob.Name, f.To, text)
			}
			if v.Subject == OfWrite && (f.Then.Fate == Adrift || v.Nth > 0) {
				continue // an answer is told by its send, and here by its decision
			}
			if got := side(then, v); got == was {
				t.Fatalf("line %d, %v %s to %d: %v stays %q\n%s", f.Knob.Line, f.Knob.Place.Kind, f.Knob.Name, f.To, v, got, text)
			}
			if v.Subject != OfLaw || j > 0 {
				continue
			}
			for by := engine.Tick(1); by < abs(f.Shift); by++ {
				for _, k := range []engine.Tick{f.Knob.Value - by, f.Knob.Value + by} {
					if then := moved(t, text, f.Knob, k); then != nil && side(then, v) != was {
						t.Fatalf("a smaller shift does it too: line %d to %d, not %d\n%s", f.Knob.Line, k, f.To, text)
					}
				}
			}
		}
	}
}

func TestFlipsOfRandomSchedules(t *testing.T) {
	flips := 0
	for seed := range uint64(12) {
		text := randtext.Write(randprog.New(seed, randprog.All), seed%2 == 0)
		if runOf(text, nil) == nil {
			continue
		}
		f, ds := Of(context.Background(), "t.dlk", []byte(text), Options{})
		if f == nil {
			t.Fatalf("%v\n%s", ds, text)
		}
		check(t, text, f.Runs[0])
		for _, v := range f.Runs[0].Verdicts {
			flips += len(v.Flips)
		}
	}
	if flips < 40 {
		t.Fatalf("only %d flips were found", flips)
	}
}

const pause = `let lease = 10
let stall = 14
let arrival = 12
at 0 A acquire ttl lease
at 1 A read
at 2 A pause for stall
at 2 + stall A append "A"
at 3 + stall A release
at arrival B acquire ttl lease retry every 1 {
  +1 read
  +2 append "B"
  +3 release
}
`

// The margins of the pause, worked out by hand: B writes two ticks before A. With a stall of 12 both write at 14, and A's
// line comes first; with an arrival of 14 both write at 16.
func TestPause(t *testing.T) {
	f, ds := Of(context.Background(), "t.dlk", []byte(pause), Options{})
	if f == nil {
		t.Fatal(ds)
	}
	r := f.Runs[0]
	if r.Short() || r.Reach != MaxShift {
		t.Fatalf("reach %d", r.Reach)
	}
	want := map[audit.Law]struct {
		name  string
		shift engine.Tick
	}{
		audit.StaleWrite:    {"stall", -2},
		audit.LostUpdate:    {"stall", -3}, // B reads at 13, and A's write must come no later than B's read
		audit.UnlockedWrite: {"lease", 7},  // a lease to 17 holds B off until A has written at 16
		audit.DoubleBelief:  {"", 0},
	}
	seen := 0
	for _, v := range r.Verdicts {
		w, ok := want[v.Law]
		if v.Subject != OfLaw || !ok || w.shift == 0 {
			continue
		}
		seen++
		if len(v.Flips) == 0 || v.Flips[0].Knob.Name != w.name || v.Flips[0].Shift != w.shift {
			t.Errorf("%v: %+v, want %v", v.Law, v.Flips, w)
		}
	}
	if seen != 3 {
		t.Errorf("%d of 3 verdicts were there", seen)
	}
	for _, v := range r.Verdicts {
		if v.Subject == OfLaw && v.Law == audit.Overlap && len(v.Flips) > 0 {
			t.Errorf("a shift breaks the lock itself: %+v", v.Flips[0])
		}
	}
	check(t, pause, r)
	again, _ := Of(context.Background(), "t.dlk", []byte(pause), Options{})
	if !reflect.DeepEqual(stripped(again.Runs[0]), stripped(r)) {
		t.Error("the second time finds something else")
	}
}

// stripped leaves out what differs between two trees of one text: the places in them.
func stripped(r *Run) []string {
	var all []string
	for _, v := range r.Verdicts {
		for _, f := range v.Flips {
			all = append(all, fmt.Sprint(v.Subject, v.Law, v.Line, v.Nth, f.Knob.Name, f.Knob.Line, f.Knob.Place.Kind, f.To, f.Then.Count, f.Then.Final, f.Then.Fate))
		}
	}
	return all
}

func TestKnobs(t *testing.T) {
	const text = `servers n
let n = 3
let unused = 4
let base = 2
let late = base * 3
lock-delay 2
at late A acquire ttl 5 retry every 2 until +9 watchdog every 4 {
  +1 write "x" guard before base + 20
}
every 3 from 1 to 7 B check
at 9 s1 clock -5
at 20 B read arrives +late reply 29
`
	f, ds := Of(context.Background(), "t.dlk", []byte(text), Options{})
	if f == nil {
		t.Fatal(ds)
	}
	s := newScan(f.Script, nil, Options{})
	u, ds := compile.Compile(s.script, nil)
	if u == nil {
		t.Fatal(ds)
	}
	b := u.Plans[0].Binder()
	prog, _ := b.Bind(nil)
	s.out.Lets, s.out.Settings = b.Lets(), b.Settings()
	s.findKnobs(prog)
	var got []string
	for _, k := range s.knobs {
		name := k.Name
		if name == "" {
			name = k.Place.Kind.String()
		}
		got = append(got, fmt.Sprintf("%d %s %d", k.Line, name, k.Value))
	}
	want := []string{"4 base 2", "5 late 6", "6 lock-delay 2", "7 ttl 5", "7 retry every 2", "7 retry until 9", "7 watchdog every 4",
		"8 after 1", "8 guard before 22", "10 every 3", "10 from 1", "10 to 7", "11 at 9", "11 clock -5", "12 at 20", "12 reply 29"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := f.Runs[0].Knobs; n != len(want) {
		t.Errorf("%d numbers were moved, want %d", n, len(want))
	}
}

// Each run of a file has margins of its own; a context that ends leaves what is known so far.
func TestRunsAndInterrupts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "pause.dlk"))
	if err != nil {
		t.Fatal(err)
	}
	f, ds := Of(context.Background(), "pause.dlk", text, Options{Over: []compile.Override{{Name: "stall", Value: "3"}}})
	if f == nil || len(f.Runs) != 2 || f.Runs[0].Name != "unfenced" || f.Runs[1].Name != "fenced" {
		t.Fatal(ds)
	}
	for _, v := range f.Runs[0].Verdicts {
		if v.Subject == OfLaw && v.Law == audit.StaleWrite && (v.Now.Count != 0 || len(v.Flips) == 0) {
			t.Errorf("with a stall of 3 no write is stale, and some shift makes one so: %+v", v)
		}
	}
	one, _ := Of(context.Background(), "pause.dlk", text, Options{Run: "fenced"})
	if len(one.Runs) != 1 || one.Runs[0].Name != "fenced" {
		t.Errorf("asked for one run, got %d", len(one.Runs))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cut, _ := Of(ctx, "pause.dlk", text, Options{Run: "fenced"})
	if r := cut.Runs[0]; r.Reach != 0 || !r.Short() || len(r.Verdicts) == 0 {
		t.Errorf("interrupted: reach %d, %d verdicts", r.Reach, len(r.Verdicts))
	}
}

func BenchmarkPause(b *testing.B) {
	for b.Loop() {
		Of(context.Background(), "t.dlk", []byte(pause), Options{})
	}
}

// A long file is slow to move: its lines count, so that the limit stays one of seconds, and progress is told for every
// number, not for every distance.
func TestLongFilesCountAsWork(t *testing.T) {
	var text strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&text, "let a%d = %d\nat a%d A read\n", i, i, i)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last, calls int64
	f, ds := Of(ctx, "long.dlk", []byte(text.String()), Options{Progress: func(done, total int64) {
		if done < last || total != 3_000*int64(MaxShift) {
			t.Fatalf("%d of %d after %d", done, total, last)
		}
		last = done
		if calls++; calls == 5 {
			cancel()
		}
	}})
	if f == nil || calls < 5 {
		t.Fatalf("%d calls, %v", calls, ds)
	}
	script, _ := dsl.Parse("long.dlk", []byte(text.String()))
	s := newScan(script, nil, Options{})
	ended, end := context.WithCancel(t.Context())
	end()
	if r, ds := s.run(ended); r == nil {
		t.Fatal(ds)
	}
	before := s.work
	s.moved(s.knobs[0], 1)
	if cost := s.work - before; cost < 9_000 {
		t.Errorf("a run of 3000 lets, 3000 steps and 3000 events counts as %d", cost)
	}
}
