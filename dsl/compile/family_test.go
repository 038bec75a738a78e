package compile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dlock/dsl"
	"dlock/engine"
)

// explored compiles a schedule with an explore block that has the given lines, and gives its plan.
func explored(t *testing.T, schedule, block string) *Plan {
	t.Helper()
	u := unit(t, schedule+"explore \"all\" {\n"+block+"}\n")
	return u.Plans[len(u.Plans)-1]
}

// told words the holes of a family: name, values, the hole that it stands in, ~ before those that are decided late.
func told(f *Family) string {
	var out []string
	for _, h := range f.Holes() {
		s := h.Name + " ="
		if h.Late {
			s = "~" + s
		}
		for _, v := range h.Values {
			s += " " + h.Text(v)
		}
		if h.In >= 0 {
			s += " in " + f.holes[h.In].Name
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestHoles(t *testing.T) {
	const asks = "at 0 A acquire ttl 10\n"
	for _, tt := range []struct{ schedule, block, want string }{
		{"let x = any 0..2\nat x A read\n", "", "~x = 0 1 2"},
		{"let x = any 0..10 step 4\nat x A read\n", "", "~x = 0 4 8"},
		{"let x = any 7, 3\nat x A read\n", "", "x = 7 3"},
		{"let x = any 3, 5, 7\nat x A read\n", "", "~x = 3 5 7"},
		{"let x = any 3, 5, 8\nat x A read\n", "", "x = 3 5 8"},
		{"let x = any 4\nat x A read\n", "", "~x = 4"},
		{"let n = 2\nlet x = any -n..n, 9\nat x + 2 A read\n", "", "x = -2 -1 0 1 2 9"},
		{"let x = any 0..1\nlet y = x + 3\nat 2 + y - 1 A read\n", "", "~x = 0 1"},
		{"at any 0..1 A read\n", "", "~line 1 = 0 1"},
		{"at any 0..1 + any 2..3 A read\n", "", "line 1 = 0 1; line 1 (2) = 2 3"},
		{"let x = any 0..1\nlet y = any 0..1\nat x A read\nat x + y A read\n", "", "x = 0 1; y = 0 1"},

		// Whatever is more than the tick of a line is chosen beforehand.
		{"let x = any 0..1\nat 2 * x A read\n", "", "x = 0 1"},
		{"let x = any 0..1\nat 5 - x A read\n", "", "x = 0 1"},
		{"let x = any 0..1\nat 0 - -x A read\n", "", "x = 0 1"},
		{"let x = any 0..1\nat max(x, 0) A read\n", "", "x = 0 1"},
		{"let x = any 0..1\nat x A read\nat 9 A pause for x\n", "", "x = 0 1"},
		{"let x = any 1..2\nat x A acquire ttl x\n", "", "x = 1 2"},
		{"let x = any 0..1\nevery 2 from x to 9 A check\n", "", "x = 0 1"},
		{"let x = any 0..1\nat x A read\n", "expect at x A holds\n", "x = 0 1"},
		{"let x = any 0..1\nat x A read\n", "where x < 5\n", "x = 0 1"},
		{"let x = any 0..1\nat x A read\nlock-delay x\n", "", "x = 0 1"},
		{"let x = any 0..1\nat x A read reply +x\n", "", "x = 0 1"},
		{"let x = any 1..2\nat 0 A acquire ttl 5 retry every x watchdog every 2\nat x A read\n", "", "x = 1 2"},
		{"let x = any 0..1\nlet y = any 0..1\nlet z = x + y\nat x A read\nat y A read\nat 3 A pause for z\n", "", "x = 0 1; y = 0 1"},
		{"let x = any 0..1\nlet y = any 0..1\nat x A read\nat y A read\n", "", "~x = 0 1; ~y = 0 1"},
		{"let x = any 0..1\n" + asks[:len(asks)-1] + " {\n  +x read {\n  +1 + x append \"A\"\n}\n}\n", "", "~x = 0 1"},

		{"lock-delay any 1..2\n" + asks, "", "lock-delay = 1 2"},
		{"at 3 any s1..s3 crash\n", "", "line 1 = s1 s2 s3"},
		{"at 0 A acquire ttl 5 on s1 any s3 s2 any s4..s5\n", "", "line 1 = s3 s2; line 1 (2) = s4 s5"},
		{asks + "at 3 cut A from any s1..s2\n", "", "line 2 = s1 s2"},
		{asks + "at 3 A check arrives +1 at any s1 s3 reply +any 2..3 from s1\n", "", "line 2 = s1 s3; line 2 (2) = 2 3"},

		{"maybe at 3 A read\n", "", "line 1 = 0 1"},
		{"maybe gone at any 3..4 any s1..s2 crash\n", "", "gone = 0 1; ~line 1 = 3 4 in gone; line 1 (2) = s1 s2 in gone"},
		{"maybe at 3 A acquire ttl any 1..2 {\n  +any 0..1 read\n} when denied {\n  +1 check arrives +any 2..3\n}\nat any 5..6 A read\n", "",
			"line 1 = 0 1; line 1 (2) = 1 2 in line 1; ~line 2 = 0 1 in line 1; line 4 = 2 3 in line 1; ~line 6 = 5 6"},
		{"let x = any 0..1\nmaybe at x A read\n", "", "~x = 0 1; line 2 = 0 1"},

		// What nothing of the block depends on is not chosen.
		{"let x = any 0..1\nlet y = x + 1\n" + asks, "", ""},
		{"let x = any 0..1\nat x A read\n", "let x = 4\n", ""},
		{"let x = any 0..1\nat x A read\n", "let x = any 5..6\n", "~x = 5 6"},
		{asks, "expect no overlap\n", ""},
	} {
		p := explored(t, tt.schedule, tt.block)
		if got := told(p.Family()); got != tt.want {
			t.Errorf("%s%s gives %q, want %q", tt.schedule, tt.block, got, tt.want)
		}
	}
}

func TestSlices(t *testing.T) {
	for _, tt := range []struct {
		schedule, block string
		want            string // the choices of each slice
	}{
		{"at any 0..9 A read\n", "", "[-1]"},
		{"let x = any 7, 3\nlet y = any 4, 2, 0\nat x A read\nat y A read\n", "", "[0 0] [0 1] [0 2] [1 0] [1 1] [1 2]"},
		{"maybe at any 7, 3 any s1..s2 crash\nlet x = any 2, 1\nat x A read\n", "",
			"[0 -1 -1 0] [0 -1 -1 1] [1 0 0 0] [1 0 0 1] [1 0 1 0] [1 0 1 1] [1 1 0 0] [1 1 0 1] [1 1 1 0] [1 1 1 1]"},
		{"maybe a at any 0..3 A read\nmaybe b at 2 any s1 s2 crash\n", "where a + b <= 1\n", "[0 -1 0 -1] [0 -1 1 0] [0 -1 1 1] [1 -1 0 -1]"},
		{"let x = any 0..9\nat x A read\n", "where x % 3 == 1\nwhere x > 2\n", "[4] [7]"},
		{"let x = any 0..3\nat 6 / x A read\n", "where x > 1\n", "[2] [3]"}, // what is not there can have no fault
	} {
		f := explored(t, tt.schedule, tt.block).Family()
		var got []string
		choice := make([]int64, len(f.Holes()))
		for i := range f.Slices() {
			f.Slice(i, choice)
			got = append(got, fmt.Sprint(choice))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s%s gives\n%s, want\n%s", tt.schedule, tt.block, s, tt.want)
		}
	}
}

// TestBindSlice looks at the program of a slice, and at those of members.
func TestBindSlice(t *testing.T) {
	p := explored(t, "servers 3\nlet x = any 2..8 step 3\nmaybe down at any 4..5 s1 any s2..s3 crash\nat 1 + x A acquire ttl any 9, 6 on any s1..s3 {\n  +x  read\n}\nat 7 B read\n",
		"ties any\nexpect at 3 A holds\n")
	f, b := p.Family(), p.Binder()
	if got, want := told(f), "~x = 2 5 8; down = 0 1; ~line 3 = 4 5 in down; line 3 (2) = s2 s3 in down; line 4 = 9 6; line 4 (2) = s1 s2 s3"; got != want {
		t.Fatalf("holes %q, want %q", got, want)
	}
	type bound struct {
		choice []int64
		member bool
		want   string
	}
	for _, tt := range []bound{
		{[]int64{-1, 0, -1, -1, 1, 2}, false, "holes [{3 3} {1 1}] roots 2: acquire 3~1 ttl 6 [2] read 2~1; read 7"},
		{[]int64{-1, 1, -1, 1, 0, 0}, false, "holes [{3 3} {2 1}] roots 3: crash 4~2 [0 2]; acquire 3~1 ttl 9 [0] read 2~1; read 7"},
		{[]int64{1, 1, 1, 0, 0, 1}, true, "holes [] roots 3: crash 5 [0 1]; acquire 6 ttl 9 [1] read 5; read 7"},
		{[]int64{2, 0, -1, -1, 0, 0}, true, "holes [] roots 2: acquire 9 ttl 9 [0] read 8; read 7"},
		{[]int64{-1, 1, -1, 1, 0, 0}, false, "holes [{3 3} {2 1}] roots 3: crash 4~2 [0 2]; acquire 3~1 ttl 9 [0] read 2~1; read 7"},
	} {
		bind := b.BindSlice
		if tt.member {
			bind = b.BindMember
		}
		prog, ds := bind(tt.choice)
		if prog == nil {
			t.Fatal(ds)
		}
		if got := outline(prog); got != tt.want {
			t.Errorf("%v:\n%s, want\n%s", tt.choice, got, tt.want)
		}
		if !prog.Ties || prog.Settings.Horizon != 209 {
			t.Errorf("%v: ties %v, horizon %d", tt.choice, prog.Ties, prog.Settings.Horizon)
		}
	}
}

// outline words the lines that a program leads to.
func outline(p *engine.Program) string {
	step := func(i int32) string {
		s := &p.Steps[i]
		out := fmt.Sprintf("%v %d", s.Verb, s.At)
		if s.Hole > 0 {
			out += fmt.Sprintf("~%d", s.Hole)
		}
		if s.Verb == engine.Acquire {
			out += fmt.Sprintf(" ttl %d", s.TTL)
		}
		if s.Servers.Len() > 0 {
			out += fmt.Sprint(" ", p.ServerIDs[s.Servers.Lo:s.Servers.Hi])
		}
		return out
	}
	var lines []string
	for _, r := range p.Roots {
		out := step(r)
		for _, b := range p.Blocks[p.Steps[r].Blocks.Lo:p.Steps[r].Blocks.Hi] {
			for i := b.Steps.Lo; i < b.Steps.Hi; i++ {
				out += " " + step(i)
			}
		}
		lines = append(lines, out)
	}
	return fmt.Sprintf("holes %v roots %d: %s", p.Holes, len(p.Roots), strings.Join(lines, "; "))
}

func TestBindSliceAllocatesNothing(t *testing.T) {
	p := explored(t, "let x = any 0..9\nlet y = any 5, 1\nmaybe at 3 any s1..s5 crash\nat x A acquire ttl 5 on s1 any s2..s3\nat y B read\n", "where y > 0\nexpect at y A holds\n")
	f, b := p.Family(), p.Binder()
	choice := make([]int64, len(f.Holes()))
	bind := func() {
		for i := range f.Slices() {
			f.Slice(i, choice)
			b.BindSlice(choice)
		}
	}
	bind()
	if n := testing.AllocsPerRun(10, bind); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestClosing closes holes from outside, and in blocks.
func TestClosing(t *testing.T) {
	const file = "let x = any 0..9\nlet y = x + 1\nlock-delay any 0..3\nmaybe gone at y any s1..s5 crash\nmaybe at 3 A acquire ttl 5\nexplore \"all\" {\n  where gone == 1\n}\n"
	for _, tt := range []struct {
		over []Override
		want string
	}{
		{nil, "~x = 0 1 2 3 4 5 6 7 8 9; lock-delay = 0 1 2 3; gone = 0 1; line 4 = s1 s2 s3 s4 s5 in gone; line 5 = 0 1"},
		{[]Override{{"x", "4"}}, "lock-delay = 0 1 2 3; gone = 0 1; line 4 = s1 s2 s3 s4 s5 in gone; line 5 = 0 1"},
		{[]Override{{"y", "4"}}, "lock-delay = 0 1 2 3; gone = 0 1; line 4 = s1 s2 s3 s4 s5 in gone; line 5 = 0 1"},
		{[]Override{{"gone", "1"}, {"lock-delay", "2"}}, "~x = 0 1 2 3 4 5 6 7 8 9; line 4 = s1 s2 s3 s4 s5; line 5 = 0 1"},
	} {
		p := unit(t, file, tt.over...).Plans[0]
		if got := told(p.Family()); got != tt.want {
			t.Errorf("%v gives %q, want %q", tt.over, got, tt.want)
		}
	}
	if _, ds := Compile(parse(t, file), []Override{{"gone", "0"}}); len(ds) != 1 || ds[0].Summary != "`where` keeps no member" {
		t.Errorf("without the line: %v", ds)
	}
	if _, ds := Compile(parse(t, file), []Override{{"gone", "2"}}); len(ds) != 1 || ds[0].Code != dsl.CodeOverride {
		t.Errorf("gone = 2: %v", ds)
	}
	for _, closed := range []string{
		"let x = any 0..9\nat x A read\nrun \"r\" {\n  let x = 3\n}\n",
		"let x = any 0..9\nat x A read\nsweep \"s\" over x in 1..3 {\n}\n",
		"let x = any 0..9\nat 0 A read\nrun \"r\" {\n}\nexplore \"e\" {\n  at x A read\n}\n",
	} {
		unit(t, closed)
	}
	prog := program(t, "let x = any 0..9\nmaybe down at 3 s1 crash\nmaybe here at 4 A read\nat x A read\n", Override{"x", "7"}, Override{"down", "0"}, Override{"here", "1"})
	if got, want := outline(prog), "holes [] roots 2: read 4; read 7"; got != want {
		t.Errorf("closed: %q, want %q", got, want)
	}
	if got := lets(t, "let open = any 0..9\nlet more = open + 1\nlet x = 2\nat x A read\n"); len(got) != 1 || got["x"] != 2 {
		t.Errorf("lets that nothing depends on are not known: %v", got)
	}
}

// TestExploreWithoutBlock explores a file that has only its top level.
func TestExploreWithoutBlock(t *testing.T) {
	s := parse(t, "let x = any 0..9\nat x A acquire ttl 5\nexpect grants 1\n")
	u, ds := Explore(s, nil)
	if u == nil {
		t.Fatal(ds)
	}
	p := u.Plans[0]
	if p.Kind != dsl.ExploreBlock || told(p.Family()) != "~x = 0 1 2 3 4 5 6 7 8 9" || len(p.Claims) != 1 {
		t.Errorf("%v %q, %d claims", p.Kind, told(p.Family()), len(p.Claims))
	}
	if u, _ := Explore(s, []Override{{"x", "3"}}); u == nil || u.Plans[0].Family().Slices() != 1 {
		t.Error("a family without holes has one slice")
	}
	// It has no line of its own: what is wrong with it as a whole lies with the first thing that is left open.
	for src, line := range map[string]int{
		"let x = any 1..1000\nlet y = any 1..1001\nat x A pause for y\nat 5000 A acquire ttl x\n":                         1,
		"at 0 A pause for 1\n" + strings.Repeat("at any 0..999999 A check\n", 2) + strings.Repeat("at 0 A check\n", 3000): 2,
	} {
		if _, ds := Explore(parse(t, src), nil); len(ds) == 0 || ds[0].Code != dsl.CodeLimit || ds[0].Span.Start.Line != line || ds[0].Span.File == "" {
			t.Errorf("%.60q: %v, want D209 on line %d", src, ds, line)
		}
	}
}

func TestFamilyFaults(t *testing.T) {
	explore := func(schedule, block string) string { return schedule + "explore \"all\" {\n" + block + "}\n" }
	for _, tt := range []struct{ src, want string }{
		{"let x = any 0..3\nat x A read\n", "D215 1:9 close it with --set x=VALUE, or look at every value with `dlock explore test.dlk`"},
		{"maybe at 3 A read\nrun \"r\" {\n}\n", "D215 1:1 write the line without `maybe`, name it to close it with --set, or look at both with an explore block"},
		{"maybe gone at 3 A read\nrun \"r\" {\n}\n", "D215 1:1 close it with --set gone=1 or --set gone=0, or look at both with an explore block"},
		{"at any 3..4 A read\n", "D215 1:4 write a value in its place, make it a let to close it with --set, or look at every one with `dlock explore test.dlk`"},
		{"at 3 any s1..s2 crash\n", "D215 1:6 write a value in its place, or look at every one with `dlock explore test.dlk`"},
		{"let x = any 1..3\nlet y = 1\nat y A read\nsweep \"s\" over y in 1..x {\n}\n", "D215 1:9 close it with --set x=VALUE, or look at every value with an explore block"},
		{"let x = any 0..3\nat 1 A acquire ttl 5\nrun \"a\" {\n}\nrun \"b\" {\n  expect at x A holds\n}\n", "D215 1:9 This is so in run \"b\"."},

		{explore("let x = any 5..1\nat x A read\n", ""), "D216 1:13 the range 5..1 is empty"},
		{explore("let n = 0\nlet x = any 1..5 step n\nat x A read\n", ""), "D216 2:13 the step is 0"},
		{explore("let x = any 1..5, 3\nat x A read\n", ""), "D216 1:9 3 stands twice"},
		{explore("at 3 any s2 s1..s3 crash\n", ""), "D216 1:6 s2 stands twice"},
		{explore("let x = any 1..5\nlet y = any 0..x\nat x A read\nat y A read\n", ""), "D216 2:16 depend on another hole"},
		{explore("let x = any 1..5\nlet y = any 0..x\nat y A read\n", ""), "D216 2:16 depend on another hole"},
		{explore("let x = any 1..5\nat x A read\n", "expect clean in x\n"), "D216 4:17 the number of members depends on a hole"},
		{explore("let x = any 1..5\nat x A read\n", "where x > 5\n"), "D216 3:1 `where` keeps no member"},
		{explore("let big = 1000000000\nlet x = any 0..big\nat x A read\n", ""), "D209 2:13 a hole has at most 1000000 values"},
		{explore("let x = any 1..1000\nlet y = any 1..1001\nat x A pause for y\nat 5000 A acquire ttl x\n", ""), "D209 5:1 a family has at most 1000000 slices | x, y."},
		{explore(strings.Repeat("at any 1..2 A read\n", MaxHoles+1), ""), "D209 257:4 a family has at most 256 holes"},
		{explore("at 0 A pause for 1\n"+strings.Repeat("at any 0..999999 A check\n", 2)+strings.Repeat("at 0 A check\n", 3000), ""), "D209 3004:1 takes too long"},

		{explore("let x = any 0..3\nat 10 / x A read\n", ""), "D200 2:4 division by zero | This is so with x = 0 in explore \"all\"."},
		{explore("let x = any 0..3\nat x - 2 A read\n", ""), "D202 2:4 the tick is -2"},
		{explore("let big = 999999990\nlet x = any 0..30 step 5\nat big + x A read\n", ""), "D202 3:4 the tick is 1000000020, but may be at most 1000000000 | This is so with x = 30 in explore \"all\"."},
		{explore("let x = any 7, 3\nat 5 A pause until x\n", ""), "D206 2:20 This is so with x = 3 in explore \"all\"."},
		{explore("let x = any 0..7\nat x A pause until 5\n", ""), "D206 2:20 the pause starts at 7 and would end before, at 5 | This is so with x = 7 in explore \"all\"."},
		{explore("let x = any 0..9\nat 2 A pause for 3\nat x A read\n", ""), "D205 3:1 A is paused at tick 2 | This is so with x = 2 in explore \"all\"."},
		{explore("let x = any 0..9\nat x A pause for 3\nat 7 A read\n", ""), "D205 3:1 A is paused at tick 7 | This is so with x = 5 in explore \"all\"."},
		{explore("let x = any 0..9\nlet y = any 1..9 step 4\nat x A pause for 3\nat y A read\n", ""), "D205 4:1 A is paused at tick 1 | This is so with x = 0, y = 1 in explore \"all\"."},
		{explore("let x = any 0..9\nat x A read arrives 8\n", ""), "D207 2:13 the request would land at 8, before it is sent at 9 | This is so with x = 9 in explore \"all\"."},
		{explore("let x = any 0..9\nat x A check arrives +1 reply 9\n", ""), "D207 2:25 This is so with x = 9 in explore \"all\"."},
		{explore("at 5 A check arrives +3 at any s1..s2 reply +1 from any s2..s3\n", ""), "D207 1:39 This is so with line 1 = s2, line 1 (2) = s2 in explore \"all\"."},
		{explore("servers any 5, 3\nat 3 s4 crash\n", ""), "D204 2:6 This is so with servers = 3 in explore \"all\"."},
		{explore("let n = 3\nservers n\nat 3 any s1..s4 crash\n", ""), "D204 3:10 there is no server s4"},
		{explore("servers any 1..5\nquorum 4\nat 3 A acquire ttl 4\n", ""), "D214 2:8 This is so with servers = 1 in explore \"all\"."},
		{explore("quorum any 0..5\nat 3 A acquire ttl 4\n", ""), "D214 1:8 This is so with quorum = 0 in explore \"all\"."},
	} {
		start := time.Now()
		_, ds := Compile(parse(t, tt.src), nil)
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%.60q takes %v", tt.src, d)
		}
		if len(ds) == 0 {
			t.Errorf("%.200s\nis right, want %s", tt.src, tt.want)
			continue
		}
		d := ds[0]
		place := fmt.Sprintf("%s %d:%d", d.Code, d.Span.Start.Line, d.Span.Start.Col)
		said := strings.Join([]string{d.Summary, d.Hint, d.Detail}, " ")
		good := strings.HasPrefix(tt.want, place+" ")
		for part := range strings.SplitSeq(strings.TrimPrefix(tt.want, place+" "), " | ") {
			good = good && strings.Contains(said, part)
		}
		if !good {
			t.Errorf("%.200s\ngot  %s %s\nwant %s", tt.src, place, said, tt.want)
		}
	}
}

// TestMovingPauses compares what is said about pauses and steps whose ticks are decided late with every member by itself.
func TestMovingPauses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	hole := func() string {
		lo := rng.IntN(9)
		return fmt.Sprintf("(any %d..%d step %d)", lo, lo+rng.IntN(9), 1+rng.IntN(4))
	}
	wrong, late := 0, 0
	for range 3000 {
		var lines []string
		for range 1 + rng.IntN(2) {
			lines = append(lines, fmt.Sprintf("at %s A pause %s\n", []string{"x", "y", fmt.Sprint(rng.IntN(9)), "x + 2", hole()}[rng.IntN(5)],
				[]string{fmt.Sprintf("for %d", rng.IntN(4)), fmt.Sprintf("until %d", 14+rng.IntN(6)), "until +2"}[rng.IntN(3)]))
		}
		if rng.IntN(4) == 0 {
			lines = append(lines, fmt.Sprintf("every 5 from %d to 30 A pause for 2\n", rng.IntN(5)))
		}
		for range 1 + rng.IntN(2) {
			lines = append(lines, fmt.Sprintf("at %s A check\n", []string{"x", "y", fmt.Sprint(rng.IntN(20)), "y + 5", "20 + " + hole()}[rng.IntN(5)]))
		}
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		src := "let x = " + hole() + "\nlet y = " + hole() + "\n" + strings.Join(lines, "") + "explore \"all\" {\n}\n"
		s := parse(t, src)
		u, f := &Unit{Script: s, room: fullRoom()}, &faultList{}
		p := u.newPlan(s.Blocks[0], dsl.ExploreBlock, nil, f)
		if f.n > 0 {
			t.Fatalf("%v\n%s", f.list, src)
		}
		p.checkFamily(f)
		var first []int64
		choice := make([]int64, len(p.family.holes))
		b := p.Binder()
		var try func(h int) bool
		try = func(h int) bool {
			if h == len(choice) {
				prog, _ := b.BindMember(choice)
				return prog == nil
			}
			for choice[h] = range int64(len(p.family.holes[h].Values)) {
				if try(h + 1) {
					return true
				}
			}
			return false
		}
		if try(0) {
			first = slices.Clone(choice)
		}
		if (first != nil) != (f.n > 0) {
			t.Fatalf("the family: %v; a member that is wrong: %v\n%s", f.list, first, src)
		}
		if f.n > 0 {
			wrong++
		}
		if len(p.family.late) > 1 {
			late++
		}
	}
	if wrong < 500 || wrong > 2500 || late < 500 {
		t.Errorf("%d of 3000 are wrong, %d have late holes", wrong, late)
	}
}

// TestFamilyHorizon: all members go on as long as the one with the latest tick.
func TestFamilyHorizon(t *testing.T) {
	for _, tt := range []struct {
		schedule, block string
		want            engine.Tick
	}{
		{"at any 3..9 A read\n", "", 209},
		{"let x = any 9, 3\nat x A read\n", "", 209},
		{"let x = any 9, 3\nat x A read\n", "where x < 5\n", 203},
		{"at 1 A read\nmaybe at 7 A read\n", "", 207},
		{"at 1 A read\nmaybe gone at 7 A read\n", "where gone == 0\n", 201},
		{"at any 3..9 A read\nhorizon 50\n", "", 50},
		{"at 3 A read\nhorizon any 70, 60\n", "", 70},
		{"let k = any 1..4\nevery k from 0 to 10 A check\n", "", 210},
	} {
		p := explored(t, tt.schedule, tt.block)
		choice := make([]int64, len(p.Family().Holes()))
		p.Family().Slice(0, choice)
		for i, bind := range [...]func(*Binder, []int64) (*engine.Program, dsl.Diagnostics){(*Binder).BindSlice, (*Binder).BindMember} {
			if prog, _ := bind(p.Binder(), choice); prog == nil || prog.Settings.Horizon != tt.want {
				t.Errorf("%s%s %d: %v", tt.schedule, tt.block, i, prog)
			}
		}
	}
}

// TestManySlices checks that a family as large as it may be is compiled in bounded time.
func TestManySlices(t *testing.T) {
	start := time.Now()
	p := explored(t, "let x = any 1..1000\nlet y = any 1..1000\nat 1 A acquire ttl x\nat 5 A pause for y\n", "where x + y <= 1001\n")
	if n := p.Family().Slices(); n != 500_500 {
		t.Errorf("%d slices", n)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("%v for a million slices", d)
	}
}
