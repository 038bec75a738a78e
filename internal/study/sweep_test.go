package study

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl/compile"
	"dlock/engine"
)

func TestSweepClaims(t *testing.T) {
	const src = pauseSweep + `
sweep "sweep" over lease in 1..20 by stall in 2..20 {
  expect stale-write iff stall > max(lease, arrival)    # ok
  expect no stale-write iff stall <= max(lease, arrival) # ok
  expect stale-write iff stall > max(lease, 0 - 5)      # broken 66 first [lease = 1 stall = 2] [lease = 1 stall = 3] [lease = 1 stall = 4] [lease = 1 stall = 5] [lease = 1 stall = 6] got: the condition is true, but stale-write is 0
  expect stale-write iff stall == 20 and lease > 100     # broken 124 first [lease = 1 stall = 13] [lease = 1 stall = 14] [lease = 1 stall = 15] [lease = 1 stall = 16] [lease = 1 stall = 17] got: it is so, although the condition is false
  expect no refused-holder iff lease > 0                # vacuous: the condition is the same in every cell
  expect no overlap                                     # ok
  expect no refused-holder                              # vacuous: fencing is off
  expect B never renewed                                # vacuous: the client does nothing that could have that outcome
  expect B token 2                                      # ok
}
`
	f := finished(t, src)
	s := f.Items[0].Sweep
	if s.Cells != 380 || len(s.Kept) != 380 || fmt.Sprint(s.Clients) != "[A B]" {
		t.Errorf("%d cells, %d kept, clients %v", s.Cells, len(s.Kept), s.Clients)
	}
	lines := strings.Split(src, "\n")
	for i := range s.Claims {
		c := &s.Claims[i]
		line := lines[c.Expect.Span.Start.Line-1]
		_, want, _ := strings.Cut(line, "# ")
		got := verdict(c)
		if c.Broken > 0 {
			var first []string
			for _, cell := range c.Cells {
				first = append(first, fmt.Sprint(cell.At))
			}
			got = fmt.Sprintf("broken %d first %s %s", c.Broken, strings.Join(first, " "), got)
		}
		if got != want {
			t.Errorf("%s\n  is %s", line, got)
		}
	}
	for i, c := range s.Kept {
		if fmt.Sprint(c.At) != fmt.Sprintf("[lease = %d stall = %d]", 1+i/19, 2+i%19) {
			t.Fatalf("cell %d is %v", i, c.At)
		}
	}
}

// TestVacuousInSomeCells checks that a claim counts if it could have failed in one cell; if it could in none, the reason is
// that of the first.
func TestVacuousInSomeCells(t *testing.T) {
	f := finished(t, `
let late = 0
at 0    A acquire ttl 5
at 1    A pause for 9
at late B acquire ttl 5
at 20   C crash
sweep "s" over fencing in off, on {
  expect no overlap
  expect no refused-holder
}
sweep "t" over late in 0..3 {
  expect B never granted
  expect C never granted
}
`)
	s, u := f.Items[0].Sweep, f.Items[1].Sweep
	got := []string{verdict(&s.Claims[0]), verdict(&s.Claims[1]), verdict(&u.Claims[0]), verdict(&u.Claims[1])}
	want := []string{"ok", "vacuous: fencing is off", "ok", "vacuous: the client never acts"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestJobs checks that the number of workers changes nothing, whether cells are kept or streamed.
func TestJobs(t *testing.T) {
	const tail = ` {
  expect stale-write iff stall > max(lease, arrival + 1)
  expect no lost-update
}
run "last" {
  expect final "A"
}
`
	for _, axes := range []string{`over lease in 1..25 by stall in 2..29 step 3`, `over lease in 0..50 by stall in 1..20 by arrival in 0..10`} {
		st := studied(t, pauseSweep+"sweep \"s\" "+axes+tail)
		var want *File
		var wantCells []Cell
		for _, jobs := range []int{0, 1, 2, 3, 8} {
			var cells []Cell
			var last, total int64
			f, err := st.Do(context.Background(), Options{Jobs: jobs, Each: func(c Cell) { cells = append(cells, c) },
				Progress: func(d, n int64) {
					if d < last {
						t.Errorf("progress goes back from %d to %d", last, d)
					}
					last, total = d, n
				}})
			if err != nil {
				t.Fatal(err)
			}
			s := f.Items[0].Sweep
			if int64(len(cells)) != s.Cells || last != s.Cells+1 || total != last {
				t.Fatalf("%d cells of %d, progress %d of %d", len(cells), s.Cells, last, total)
			}
			if (s.Kept != nil) != (s.Cells <= MaxKeptCells) {
				t.Errorf("%d cells are kept of %d", len(s.Kept), s.Cells)
			}
			if want == nil {
				want, wantCells = f, cells
				continue
			}
			if !reflect.DeepEqual(s, want.Items[0].Sweep) || !reflect.DeepEqual(cells, wantCells) {
				t.Errorf("%d jobs give another result than none", jobs)
			}
		}
	}
}

// TestCellsAreRuns checks that a cell is what a run with the same values is.
func TestCellsAreRuns(t *testing.T) {
	const sweep = "sweep \"s\" over stall in 0..30 step 7 by fencing in off, on, strict by servers in 1, 4 {\n  expect grants 2\n}\n"
	s := parsed(t, pauseSweep+sweep)
	for _, c := range finished(t, pauseSweep+sweep).Items[0].Sweep.Kept {
		var over []compile.Override
		for _, v := range c.At {
			over = append(over, compile.Override{Name: v.Name, Value: v.Text()})
		}
		st, ds := New(s, over)
		if st == nil {
			t.Fatal(ds)
		}
		f, err := st.Do(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sw := f.Items[0].Sweep
		if sw.Cells != 1 || !reflect.DeepEqual(sw.Kept[0].Counts, c.Counts) || sw.Kept[0].Final != c.Final || !slices.Equal(sw.Kept[0].Blocked, c.Blocked) {
			t.Errorf("%v: the cell has %v, the run %v", c.At, c, sw.Kept[0])
		}
	}
}

func TestSweepFromOutside(t *testing.T) {
	st := studied(t, pauseSweep+"run \"fenced\" {\n  fencing on\n  expect final \"B\"\n}\n")
	axis := func(text string) compile.AxisSpec {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	tests := []struct {
		runs []string
		axes []compile.AxisSpec
		want string
	}{
		{nil, []compile.AxisSpec{axis("lease=1..25"), axis("stall=2..29:3")}, "250 cells, 145 double-belief, 120 stale"},
		{[]string{"fenced"}, []compile.AxisSpec{axis("lease=1..25"), axis("stall=2..29:3")}, "250 cells, 145 double-belief, 0 stale"},
		{nil, []compile.AxisSpec{axis("fencing=off,on")}, "2 cells, 2 double-belief, 1 stale"},
		{nil, []compile.AxisSpec{axis("nothing=1")}, `nothing in the file is named "nothing"`},
		{[]string{"unfenced"}, []compile.AxisSpec{axis("lease=1")}, `the file has no run "unfenced"`},
		{nil, []compile.AxisSpec{axis("stall=1,-20")}, "the pause is -20, but must be 0 or more"},
	}
	for _, tt := range tests {
		s, err := st.Sweep(context.Background(), tt.axes, Options{Runs: tt.runs, Jobs: 2})
		got := ""
		var bad *ScriptError
		switch {
		case errors.As(err, &bad):
			got = bad.Error()
		case err != nil:
			t.Fatal(err)
		default:
			got = fmt.Sprintf("%d cells, %d double-belief, %d stale", s.Cells, s.Broken[2], s.Broken[3])
			if len(s.Claims) > 0 {
				t.Errorf("the file's claims are not about %v", tt.axes)
			}
		}
		if got != tt.want {
			t.Errorf("%v over %v: %s, want %s", tt.axes, tt.runs, got, tt.want)
		}
	}
}

// TestCancel checks that a sweep ends soon after its context does, also while cells are streamed.
func TestCancel(t *testing.T) {
	st := studied(t, pauseSweep+"sweep \"s\" over lease in 1..1000 by stall in 2..1000 {\n  expect grants 2\n}\n")
	for _, each := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		o := Options{Jobs: 2, Progress: func(int64, int64) { cancel() }}
		if each {
			o.Each = func(Cell) {}
		}
		f, err := st.Do(ctx, o)
		if f != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("the result is %v, %v", f, err)
		}
		cancel()
	}
}

// TestCellsAllocateNothing checks that memory does not grow with the cells: ten times as many allocate no more.
func TestCellsAllocateNothing(t *testing.T) {
	allocations := func(last int) float64 {
		st := studied(t, fmt.Sprintf("%ssweep \"s\" over arrival in 11..12 by stall in 1..%d by lease in 5..14 {\n  expect final \"A\" iff stall > lease\n  expect no overlap\n}\n", pauseSweep, last))
		return testing.AllocsPerRun(1, func() {
			if _, err := st.Do(context.Background(), Options{Jobs: 1}); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := allocations(150), allocations(1500)
	if many > few+50 {
		t.Errorf("%v allocations for 3,000 cells, %v for 30,000", few, many)
	}
}

// TestStudyGuide holds the numbers of the study guide's sections 6.1 to 6.6.
func TestStudyGuide(t *testing.T) {
	f := finished(t, pauseSweep+`
expect no overlap
run "6.1 and 6.2, unfenced" {
  expect final "A"
  expect stale-write 1
  expect lost-update 1
  expect at 9 A holds
  expect at 10 nobody holds
  expect at 14 B holds
  expect at 16 nobody holds
  expect A token 1
  expect B token 2
  expect B blocked 0
  expect at 12 B granted
  expect at 15 B released
}
run "6.3, fenced" {
  fencing on
  expect final "B"
  expect no stale-write
  expect at 16 A rejected
  expect writes 1
}
sweep "6.4" over servers in 1, 3, 5, 7, 21, 51 {
  expect final "A"
  expect stale-write 1
  expect B blocked 0
}
sweep "6.5, the last column" over lease in 13..17 {
  expect at lease B granted
  expect stale-write iff lease < 14
  expect lost-update iff lease < 15
}
sweep "6.5, the grid" over lease in 1, 5, 8, 10, 12, 13, 14, 15, 16, 17, 20, 25, 30, 1000 by stall in 2..29 step 3 {
  expect stale-write iff stall > max(lease, arrival)
}
sweep "6.6, the grid fenced" over lease in 1, 5, 8, 10, 12, 13, 14, 15, 16, 17, 20, 25, 30, 1000 by stall in 2..29 step 3 {
  fencing on
  expect no stale-write
}
run "6.6, B arrives at 100" {
  let arrival = 100
  expect final "AB"
  expect unlocked-write 1
  expect no stale-write
}
run "5.1, without leases A returns" {
  leases off
  expect final "AB"
  expect clean
}
`)
	for _, it := range f.Items {
		var name string
		var claims []Claim
		if it.Run != nil {
			name, claims = it.Run.Name, it.Run.Claims
		} else {
			name, claims = it.Sweep.Name, it.Sweep.Claims
		}
		for i := range claims {
			if v := verdict(&claims[i]); v != "ok" {
				t.Errorf("%s: %s: %s", name, claims[i].Expect.Source, v)
			}
		}
	}
	if f.Items[4].Sweep.Cells != 140 {
		t.Errorf("the grid has %d cells", f.Items[4].Sweep.Cells)
	}
}

func TestDiff(t *testing.T) {
	runs := func(src string, over ...compile.Override) *Run {
		st, ds := New(parsed(t, src), over)
		if st == nil {
			t.Fatal(ds)
		}
		f, err := st.Do(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f.Items[0].Run
	}
	events := func(a, b *Run, d Difference) string {
		var out []string
		word := func(r *Run, i int32) string {
			if i == engine.None {
				return "nothing"
			}
			e := &r.Record.Events[i]
			return fmt.Sprintf("%d %s %s", e.At.Tick, e.Verb, e.Outcome)
		}
		for _, p := range d.Events {
			out = append(out, word(a, p.A)+" / "+word(b, p.B))
		}
		return strings.Join(out, "; ")
	}
	plain := runs(pauseSweep)

	fenced := runs(pauseSweep, compile.Override{Name: "fencing", Value: "on"})
	d := Diff(plain, fenced)
	if got, want := events(plain, fenced, d), "16 append accepted / 16 append rejected"; got != want {
		t.Errorf("the events differ: %s, want %s", got, want)
	}
	if !d.Lock || !d.Grants || !d.Leases || !d.Holders || d.Final || d.Same() {
		t.Errorf("fencing changes nothing about the lock: %+v", d)
	}
	if got := fmt.Sprintf("%v %v %v", d.Laws, d.Settings, d.Lets); got != "[stale-write lost-update unlocked-write] [fencing = on] []" {
		t.Errorf("what differs is %s", got)
	}

	if d := Diff(plain, runs(pauseSweep)); !d.Same() || len(d.Settings)+len(d.Lets) > 0 {
		t.Errorf("a run differs from itself: %+v", d)
	}

	short := runs(pauseSweep, compile.Override{Name: "stall", Value: "3"})
	d = Diff(plain, short)
	if d.Lock || d.Leases || d.Final || fmt.Sprint(d.Lets) != "[stall = 3]" {
		t.Errorf("a shorter pause: %+v", d)
	}
	later := runs(pauseSweep, compile.Override{Name: "lease", Value: "14"})
	d = Diff(plain, later)
	if got := events(plain, later, d); !strings.HasPrefix(got, "12 acquire granted / 12 acquire waiting; ") || d.Lock || d.Grants {
		t.Errorf("a longer lease: %s, %+v", got, d)
	}

	// A block that only one run does shifts the running numbers behind it, and nothing else.
	again := strings.Replace(pauseSweep, `append "A"`, "append \"A\" {\n  +0 read\n}", 1)
	x, y := runs(again+"at 30 C acquire ttl 3\n"), runs(again+"at 30 C acquire ttl 3\n", compile.Override{Name: "fencing", Value: "on"})
	d = Diff(x, y)
	if got, want := events(x, y, d), "16 append accepted / 16 append rejected; 16 read heard / nothing"; got != want || !d.Lock {
		t.Errorf("the events differ: %s, want %s; %+v", got, want, d)
	}
}

// TestSlices checks the counts by value against the cells themselves.
func TestSlices(t *testing.T) {
	s := finished(t, pauseSweep+"sweep \"s\" over lease in 1..9 by fencing in off, on by stall in 1..20 {\n  expect grants 2\n}\n").Items[0].Sweep
	var unbroken int64
	for i, c := range s.Kept {
		if c.Counts == [audit.NumLaws]int64{} {
			unbroken++
		}
		for l, n := range c.Counts {
			if n > 0 {
				s.Axes[0].Broken[i/40][l]--
				s.Axes[1].Broken[i/20%2][l]--
				s.Axes[2].Broken[i%20][l]--
			}
		}
	}
	if unbroken != s.Unbroken || unbroken == 0 {
		t.Errorf("%d cells are unbroken, not %d", unbroken, s.Unbroken)
	}
	for _, a := range s.Axes {
		for v, n := range a.Broken {
			if n != [audit.NumLaws]int64{} {
				t.Errorf("%s = %s is off by %v", a.Name, a.Values[v].Text(), n)
			}
		}
	}
}

// TestNoRoom checks what stands for a run that is not done because those before it filled the memory.
func TestNoRoom(t *testing.T) {
	r, err := run(studied(t, pauseSweep+"expect grants 2\n").unit.Plans[0], false)
	if err != nil || !r.Inconclusive() || r.Failed() || !r.Claims[0].Inconclusive || r.Record.Value(r.Record.Final) != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestKeptInAll checks that many sweeps together keep no more than their share.
func TestKeptInAll(t *testing.T) {
	src := "let x = 1\nat x A read\n"
	for i := range 12 {
		src += fmt.Sprintf("sweep \"s%d\" over x in 1..9000 {\n  expect grants 0\n}\n", i)
	}
	kept := 0
	for _, it := range finished(t, src).Items {
		if n := len(it.Sweep.Kept); n != 0 && n != 9000 {
			t.Errorf("%d cells are kept of one sweep", n)
		} else {
			kept += n
		}
	}
	if kept != 99_000 {
		t.Errorf("%d cells are kept", kept)
	}
}
