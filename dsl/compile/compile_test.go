package compile

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dlock/dsl"
	"dlock/engine"
)

func parse(t *testing.T, src string) *dsl.Script {
	t.Helper()
	s, ds := dsl.Parse("test.dlk", []byte(src))
	if ds.HasErrors() {
		t.Fatalf("the script has errors: %v\n%s", ds, src)
	}
	return s
}

func unit(t *testing.T, src string, over ...Override) *Unit {
	t.Helper()
	u, ds := Compile(parse(t, src), over)
	if u == nil {
		t.Fatalf("the values have errors: %v\n%s", ds, src)
	}
	return u
}

// program gives the program of the first plan's first cell.
func program(t *testing.T, src string, over ...Override) *engine.Program {
	t.Helper()
	p := unit(t, src, over...).Plans[0]
	cell := make([]int64, len(p.Axes))
	p.Cell(0, cell)
	prog, ds := p.Binder().Bind(cell)
	if prog == nil {
		t.Fatalf("%v\n%s", ds, src)
	}
	return prog
}

// lets gives the values of the first plan's lets.
func lets(t *testing.T, src string, over ...Override) map[string]int64 {
	t.Helper()
	p := unit(t, src, over...).Plans[0]
	b := p.Binder()
	cell := make([]int64, len(p.Axes))
	p.Cell(0, cell)
	b.Bind(cell)
	out := map[string]int64{}
	for _, v := range b.Lets() {
		out[v.Name] = v.N
	}
	return out
}

func TestExpressions(t *testing.T) {
	tests := []struct {
		expr string
		want int64
	}{
		{"1 + 2 * 3", 7},
		{"(1 + 2) * 3", 9},
		{"10 - 4 - 3", 3},
		{"-3 + 5", 2},
		{"7 / 2", 3},
		{"-7 / 2", -4},
		{"7 / -2", -4},
		{"-7 / -2", 3},
		{"7 % 3", 1},
		{"-7 % 3", 2},
		{"7 % -3", -2},
		{"-6 % 3", 0},
		{"6 / -1", -6},
		{"6 % -1", 0},
		{"010 + 1", 11},
		{"min(4, 2, 3)", 2},
		{"max(4, 2, 9, 1)", 9},
		{"max(min(5, 3), 2) + 1", 4},
		{"9223372036854775807", 9223372036854775807},
		{"-9223372036854775807 - 1", -9223372036854775808},
		{"2 * -3 * 4", -24},
		{"20 / 3 / 2", 3},
	}
	for _, tt := range tests {
		if got := lets(t, "let x = "+tt.expr+"\nat max(0, x * 0) A read\n")["x"]; got != tt.want {
			t.Errorf("%s is %d, want %d", tt.expr, got, tt.want)
		}
	}
}

// TestArithmetic compares the checked arithmetic with integers that have no bounds.
func TestArithmetic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func() int64 {
		n := int64(rnd.Uint64())
		switch rnd.IntN(4) {
		case 0:
			return n % 10
		case 1:
			return n >> rnd.IntN(60)
		case 2:
			return []int64{0, 1, -1, 1<<63 - 1, -1 << 63, 1 << 31, -1 << 31, 1 << 32}[rnd.IntN(8)]
		default:
			return n
		}
	}
	ops := []struct {
		op  op
		big func(z, x, y *big.Int) *big.Int
	}{
		{opAdd, (*big.Int).Add},
		{opSub, (*big.Int).Sub},
		{opMul, (*big.Int).Mul},
		{opDiv, floorDiv},
		{opMod, func(z, x, y *big.Int) *big.Int { return z.Sub(x, new(big.Int).Mul(y, floorDiv(new(big.Int), x, y))) }},
		{opMin, func(z, x, y *big.Int) *big.Int { return z.Set(slices.MinFunc([]*big.Int{x, y}, (*big.Int).Cmp)) }},
		{opMax, func(z, x, y *big.Int) *big.Int { return z.Set(slices.MaxFunc([]*big.Int{x, y}, (*big.Int).Cmp)) }},
	}
	for range 200_000 {
		x, y, o := number(), number(), ops[rnd.IntN(len(ops))]
		got, fault := binary(o.op, x, y)
		if y == 0 && (o.op == opDiv || o.op == opMod) {
			if fault != mathByZero {
				t.Fatalf("%d by zero gives %d", x, got)
			}
			continue
		}
		want := o.big(new(big.Int), big.NewInt(x), big.NewInt(y))
		if want.IsInt64() != (fault == mathFine) || fault == mathFine && want.Int64() != got {
			t.Fatalf("operation %d of %d and %d gives %d (fault %d), want %s", o.op, x, y, got, fault, want)
		}
	}
}

func floorDiv(z, x, y *big.Int) *big.Int {
	r := new(big.Int)
	z.QuoRem(x, y, r)
	if r.Sign() != 0 && (r.Sign() < 0) != (y.Sign() < 0) {
		z.Sub(z, big.NewInt(1))
	}
	return z
}

func TestConditions(t *testing.T) {
	tests := []struct {
		cond string
		want bool
	}{
		{"x == 3", true},
		{"x != 3", false},
		{"x < 3 or x > 2", true},
		{"x <= 3 and x >= 3", true},
		{"not x == 3", false},
		{"not (x < 3) and x < 4", true},
		{"x < 2 and 1 / (x - 3) > 0", false}, // the second part is not looked at
		{"x > 2 or 1 / (x - 3) > 0", true},
		{"servers == 7 and quorum == 4", true},
		{"horizon == 205", true},
		{"lock-delay == 2", true},
	}
	for _, tt := range tests {
		p := unit(t, "servers 7\nlock-delay 2\nlet x = 1\nat 5 A acquire ttl x\nsweep \"s\" over x in 3 {\n  expect grants 1 iff "+tt.cond+"\n}\n").Plans[0]
		b := p.Binder()
		if _, ds := b.Bind([]int64{3}); ds != nil {
			t.Fatal(ds)
		}
		if got := b.Claim(0).Iff; got != tt.want {
			t.Errorf("%s is %v", tt.cond, got)
		}
	}
}

func TestPrecedence(t *testing.T) {
	const src = `
let a = b + 1
let b = 2
let c = 100
at a A acquire ttl c
sweep "s" over b in 10..11 {
  let c = a * 2
}
run "r" {
  let b = 7
}
`
	s := parse(t, src)
	tests := []struct {
		name string
		plan int
		over []Override
		want string
	}{
		{"a swept value goes before the file's, and formulas follow it", 0, nil, "a = 11, b = 10, c = 22"},
		{"a block's value goes before the top level's", 1, nil, "a = 8, b = 7, c = 100"},
		{"the command line goes before a swept value", 0, []Override{{"b", "5"}}, "a = 6, b = 5, c = 12"},
		{"the command line goes before a block's value", 1, []Override{{"b", "5"}}, "a = 6, b = 5, c = 100"},
		{"the command line replaces a formula", 1, []Override{{"a", "3"}}, "a = 3, b = 7, c = 100"},
		{"the last one for a name counts", 1, []Override{{"c", "1"}, {"c", "2"}}, "a = 8, b = 7, c = 2"},
	}
	for _, tt := range tests {
		u, ds := Compile(s, tt.over)
		if u == nil {
			t.Fatal(ds)
		}
		p := u.Plans[tt.plan]
		b := p.Binder()
		cell := make([]int64, len(p.Axes))
		p.Cell(0, cell)
		b.Bind(cell)
		if got := cellText(b.Lets()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if p.Overridden != (tt.over != nil) {
			t.Errorf("%s: overridden is %v", tt.name, p.Overridden)
		}
	}
}

func TestSettings(t *testing.T) {
	const all = `
servers 7
quorum 5
fencing strict
fence-at grant
leases off
handback confirmed
tokens ordered
validity 3
judge caller-ttl
lock-delay 4
reentrant on
owner-check off
initial "x\"y"
horizon 50
at 1 A acquire ttl 5
`
	full := engine.Settings{
		Servers: 7, Quorum: 5, Fencing: engine.FencingStrict, FenceAt: engine.FenceAtGrant, Handback: engine.HandbackConfirmed,
		Tokens: engine.TokensOrdered, Validity: true, Margin: 3, Judge: engine.JudgeCallerTTL, LockDelay: 4, Reentrant: true,
		Initial: `x"y`, Horizon: 50,
	}
	standard := engine.Settings{Servers: 5, Quorum: 3, Leases: true, OwnerCheck: true, Horizon: 201}
	change := func(s engine.Settings, f func(*engine.Settings)) engine.Settings {
		f(&s)
		return s
	}
	tests := []struct {
		src  string
		over []Override
		want engine.Settings
	}{
		{"at 1 A acquire ttl 5\n", nil, standard},
		{all, nil, full},
		{"servers 4\nat 1 A acquire ttl 5\n", nil, change(standard, func(s *engine.Settings) { s.Servers, s.Quorum = 4, 3 })},
		{all, []Override{{"servers", "51"}, {"quorum", "majority"}}, change(full, func(s *engine.Settings) { s.Servers, s.Quorum = 51, 26 })},
		{all, []Override{{"fencing", "on"}, {"validity", "on"}}, change(full, func(s *engine.Settings) { s.Fencing, s.Margin = engine.FencingOn, 0 })},
		{all, []Override{{"validity", "off"}, {"initial", "z"}}, change(full, func(s *engine.Settings) { s.Validity, s.Margin, s.Initial = false, 0, "z" })},
		{all, []Override{{"leases", "on"}, {"owner-check", "on"}, {"reentrant", "off"}}, change(full, func(s *engine.Settings) { s.Leases, s.OwnerCheck, s.Reentrant = true, true, false })},
	}
	for _, tt := range tests {
		if got := program(t, tt.src, tt.over...).Settings; got != tt.want {
			t.Errorf("%v %v:\ngot  %+v\nwant %+v", tt.src, tt.over, got, tt.want)
		}
	}
	var text []string
	p := unit(t, all).Plans[0]
	b := p.Binder()
	b.Bind(nil)
	for _, v := range b.Settings() {
		text = append(text, v.String())
	}
	want := `servers = 7, quorum = 5, fencing = strict, fence-at = grant, leases = off, handback = confirmed, tokens = ordered, ` +
		`validity = 3, judge = caller-ttl, lock-delay = 4, reentrant = on, owner-check = off, initial = "x\"y", horizon = 50`
	if got := strings.Join(text, ", "); got != want {
		t.Errorf("the settings are\n%s, want\n%s", got, want)
	}
}

func TestHorizon(t *testing.T) {
	tests := []struct {
		src  string
		want engine.Tick
	}{
		{"at 17 A release\nat 3 A read\n", 217},
		{"every 5 from 0 to 12 A read\n", 210}, // the last firing is at 10
		{"at 3 A acquire ttl 5 {\n  +500 read\n}\n", 203},
		{"at 3 A pause for 90\n", 203},
		{"horizon 9\nat 3 A read\n", 9},
		{"expect grants 0\n", 200},
	}
	for _, tt := range tests {
		if got := program(t, tt.src).Settings.Horizon; got != tt.want {
			t.Errorf("%q: the horizon is %d, want %d", tt.src, got, tt.want)
		}
	}
}

// TestProgram checks a schedule with everything in it, field by field where it matters.
func TestProgram(t *testing.T) {
	const src = `servers 5
let k = 2
at 0 A acquire ttl 10 on s3 s1..s2 s2 retry every k until +9 watchdog every 3 as "x" arrives +1 at s2 reply +4 {
  +1 append "A" guard version guard lock guard before +5 {
    +0 release
  } when rejected {
    +2 acquire ttl none
  }
  +3 write "w" if valid
} when denied {
  +7 notice
}
every 5 from 1 to 11 B renew ttl 4 recreate
at 2 s2 s4..s5 crash
at 3 s2 restart wiped
at 4 s1 clock -5
at 4 A clock stop
at 5 resource forget
at 6 cut A from s1..s2 resource
at 7 cut B
at 8 heal A
at 9 B append "A" if checked guard before 12
at 10 C pause until +4
at 20 C crash
at 21 A acquire ttl 3 as "B"
`
	prog := program(t, src)
	if got, want := fmt.Sprint(prog.Clients, prog.Owners, prog.Texts), "[A B C] [A B C x] [A w]"; got != want {
		t.Errorf("names are %s, want %s", got, want)
	}
	if len(prog.Roots) != 14 {
		t.Fatalf("%d roots", len(prog.Roots))
	}
	root := func(i int) engine.Step { return prog.Steps[prog.Roots[i]] }
	servers := func(s engine.Span) string { return fmt.Sprint(prog.ServerIDs[s.Lo:s.Hi]) }
	a := root(0)
	if a.Line != 3 || a.Verb != engine.Acquire || a.TTL != 10 || a.Retry != 2 || a.RetryUntil != 9 || !a.RetryPlus || a.Watchdog != 3 || a.Owner != 3 {
		t.Errorf("acquire: %+v", a)
	}
	if got := servers(a.Servers); got != "[0 1 2]" {
		t.Errorf("acquire asks %s", got)
	}
	if a.Messages.Len() != 2 || a.Blocks.Len() != 2 {
		t.Fatalf("acquire: %+v", a)
	}
	m := prog.Messages[a.Messages.Lo : a.Messages.Lo+2]
	if got := servers(m[0].Servers); m[0].Reply || !m[0].Plus || m[0].At != 1 || got != "[1]" {
		t.Errorf("arrives: %+v at %s", m[0], got)
	}
	if !m[1].Reply || !m[1].Plus || m[1].At != 4 || m[1].Servers.Len() != 0 {
		t.Errorf("reply: %+v", m[1])
	}
	granted, denied := prog.Blocks[a.Blocks.Lo], prog.Blocks[a.Blocks.Lo+1]
	if granted.On != 1<<engine.Granted || denied.On != 1<<engine.Denied || granted.Steps.Len() != 2 || denied.Steps.Len() != 1 {
		t.Errorf("blocks: %+v %+v", granted, denied)
	}
	app, w := prog.Steps[granted.Steps.Lo], prog.Steps[granted.Steps.Lo+1]
	if app.Repeat != engine.AfterOutcome || app.At != 1 || app.Client != 0 || app.Line != 4 ||
		app.Guards != engine.GuardVersion|engine.GuardLock|engine.GuardBefore || app.Before != 5 || !app.BeforePlus || app.Blocks.Len() != 2 {
		t.Errorf("append: %+v", app)
	}
	if w.Verb != engine.Write || w.If != engine.CondValid || w.Line != 9 || prog.Texts[w.Text] != "w" {
		t.Errorf("write: %+v", w)
	}
	inner := prog.Steps[prog.Blocks[app.Blocks.Lo+1].Steps.Lo]
	if inner.Verb != engine.Acquire || inner.TTL != engine.Forever || inner.Client != 0 || inner.Line != 7 || inner.At != 2 {
		t.Errorf("the acquire after a rejection: %+v", inner)
	}
	if s := root(1); s.Repeat != engine.Every || s.At != 1 || s.K != 5 || s.Last != 11 || !s.Recreate || s.TTL != 4 || s.Client != 1 {
		t.Errorf("every: %+v", s)
	}
	if s := root(2); s.Verb != engine.ServerCrash || s.Client != engine.None || servers(s.Servers) != "[1 3 4]" {
		t.Errorf("crash: %+v of %s", s, servers(s.Servers))
	}
	if s := root(3); s.Verb != engine.ServerRestart || s.Restart != engine.RestartWiped {
		t.Errorf("restart: %+v", s)
	}
	if s := root(4); s.Verb != engine.ServerClock || s.ClockBy != -5 {
		t.Errorf("clock: %+v", s)
	}
	if s := root(5); s.Verb != engine.ClientClock || !s.ClockStop || s.Client != 0 {
		t.Errorf("client's clock: %+v", s)
	}
	if s := root(6); s.Verb != engine.ResourceForget {
		t.Errorf("forget: %+v", s)
	}
	if s := root(7); s.Verb != engine.Cut || s.Client != 0 || !s.Resource || servers(s.Servers) != "[0 1]" {
		t.Errorf("cut: %+v from %s", s, servers(s.Servers))
	}
	if s := root(8); s.Verb != engine.Cut || s.Client != 1 || s.Resource || s.Servers.Len() != 0 {
		t.Errorf("cut from everything: %+v", s)
	}
	if s := root(10); s.If != engine.CondChecked || s.Guards != engine.GuardBefore || s.Before != 12 || s.BeforePlus {
		t.Errorf("append: %+v", s)
	}
	if s := root(11); s.Verb != engine.Pause || s.PauseFor >= 0 || s.PauseUntil != 4 || !s.UntilPlus {
		t.Errorf("pause: %+v", s)
	}
	if s := root(12); s.Verb != engine.Crash || s.Client != 2 {
		t.Errorf("client's crash: %+v", s)
	}
	if s := root(13); s.Owner != 1 {
		t.Errorf("an owner id that is a client's name is that client's: %+v", s)
	}
}

// TestMerge checks that lines of the top level and of a block are one schedule, ordered by their place in the file.
func TestMerge(t *testing.T) {
	const src = `
at 5 A read
expect grants 0
run "r" {
  at 5 B read
  every 1 from 5 to 5 C read
  expect writes 0
}
at 5 D read
run "s" {
  expect E never granted
}
at 6 E read
`
	u := unit(t, src)
	var got []string
	for _, p := range u.Plans {
		prog, _ := p.Binder().Bind(nil)
		var lines []int32
		for _, r := range prog.Roots {
			lines = append(lines, prog.Steps[r].Line)
		}
		var claims []string
		for i, c := range p.Claims {
			claims = append(claims, fmt.Sprint(strings.TrimSpace(c.Source), " ", p.Subjects[i]))
		}
		got = append(got, strings.TrimSpace(fmt.Sprintln(p.Name, p.Line, p.Kind, prog.Clients, lines, claims)))
	}
	want := []string{
		"r 4 run [A B C D E] [2 5 6 9 13] [expect grants 0 -1 expect writes 0 -1]",
		"s 10 run [A D E] [2 9 13] [expect grants 0 -1 expect E never granted 2]",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		src  string
		want string // "CODE line: part of the summary", joined by "; "
	}{
		{"let x = 0\nat 1 / x A read\n", "D200 2: zero"},
		{"let x = 5 % 0\nat x A read\n", "D200 1: zero"},
		{"let x = 9223372036854775807\nat x + 1 A read\n", "D201 2: too large"},
		{"let x = 4611686018427387904 * 2\nlet y = x\nat y A read\n", "D201 1: too large"}, // and nothing about y
		{"at 0 - 1 A read\n", "D202 1: -1"},
		{"at 1000000001 A read\n", "D202 1: at most"},
		{"at 1 A acquire ttl 0 - 5\n", "D202 1: the ttl is -5"},
		{"at 1 A pause for 0 - 1\n", "D202 1: the pause is -1"},
		{"at 1 A acquire ttl 5 {\n  +(0 - 2) read\n}\n", "D202 2: -2"},
		{"at 1 A acquire ttl 5 retry every 0\n", "D208 1: 1 or more"},
		{"at 1 A acquire ttl 5 watchdog every 0\n", "D208 1: 1 or more"},
		{"every 0 from 1 to 5 A read\n", "D208 1: 1 or more"},
		{"every 1 from 6 to 5 A read\n", "D208 1: empty"},
		{"every 1 from 0 to 900000000 A read\n", "D209 1: fire"},
		{"servers 0\nat 1 A read\n", "D203 1: servers is 0"},
		{"servers 1001\nat 1 A read\n", "D203 1: servers is 1001"},
		{"lock-delay 0 - 1\nat 1 A read\n", "D203 1: lock-delay"},
		{"horizon 0 - 1\nat 1 A read\n", "D203 1: horizon"},
		{"quorum 6\nat 1 A read\n", "D214 1: 6"},
		{"quorum 0\nat 1 A read\n", "D214 1: quorum is 0"},
		{"let n = 3\nservers n\nat 1 s4 crash\n", "D204 3: s4"},
		{"let n = 3\nservers n\nat 1 A acquire ttl 5 on s1 s2..s6\nat 2 A release reply lost from s5\n", "D204 3: s6; D204 4: s5"},
		{"at 1 A read\nexpect at 0 - 1 A holds\n", "D202 2: -1"},
		{"at 1 A read\nexpect grants 0 - 1\n", "D202 2: -1"},
		{"at 1 A acquire ttl 0\n", "warning D213 1: ttl 0"},
		{"at 1 A read\nat 2 / 0 A read\nat 0 - 3 A read\nservers 0\n", "D200 2: zero; D202 3: -3; D203 4: servers"},
		{"let x = 1\nlet unused = 1 / 0\nat x A read\n", "D200 2: zero"},
	}
	for _, tt := range tests {
		_, ds := Compile(parse(t, tt.src), nil)
		checkFaults(t, tt.src, ds, tt.want)
	}
}

func checkFaults(t *testing.T, name string, ds dsl.Diagnostics, want string) {
	t.Helper()
	var parts []string
	if want != "" {
		parts = strings.Split(want, "; ")
	}
	ok := len(parts) == len(ds)
	for i := 0; ok && i < len(ds); i++ {
		head, words, _ := strings.Cut(parts[i], ": ")
		got := fmt.Sprintf("%s %d", ds[i].Code, ds[i].Span.Start.Line)
		if ds[i].Severity == dsl.Warning {
			got = "warning " + got
		}
		ok = got == head && strings.Contains(ds[i].Summary+" "+ds[i].Detail+" "+ds[i].Hint, words)
	}
	if !ok {
		t.Errorf("%s\ngot  %+v\nwant %s", name, ds, want)
	}
}

func TestPausedSteps(t *testing.T) {
	tests := []struct {
		src  string
		want string
	}{
		{"at 2 A pause for 5\nat 3 A read\n", "D205 2: tick 7 or later"},
		{"at 2 A pause for 5\nat 6 A read\n", "D205 2: until just before 7"},
		{"at 2 A pause for 5\nat 7 A read\n", ""},                         // the end is outside
		{"at 2 A pause for 5\nat 2 A read\n", "D205 2: paused at tick 2"}, // after the pause in the same tick
		{"at 2 A read\nat 2 A pause for 5\n", ""},                         // before it
		{"at 2 A pause for 0\nat 2 A read\n", ""},
		{"at 2 A pause until 7\nat 4 A read\n", "D205 2: tick 4"},
		{"at 2 A pause until +3\nat 4 A read\nat 5 A read\n", "D205 2: tick 4"},
		{"at 4 A pause until 3\n", "D206 1: would end before"},
		{"at 4 A pause until 4\nat 4 A read\n", ""},
		{"at 2 A pause for 5\nat 3 B read\nat 3 A crash\nat 4 A clock +3\nat 4 cut A\nat 5 heal A\nat 4 s1 crash\n", ""},
		{"at 2 A pause for 5\nevery 1 from 0 to 20 A read\n", ""},
		{"at 2 A pause for 5\nat 4 A pause for 9\n", "D205 2: tick 4"},
		{"at 2 A pause for 50\nat 4 B pause for 2\nat 9 A read\n", "D205 3: until just before 52"},
		{"at 2 A pause for 50\nat 2 A pause for 1\nat 9 A read\n", "D205 2: tick 2; D205 3: until just before 52"},
		{"at 0 A acquire ttl 5 {\n  +1 pause for 9\n}\nat 3 A read\n", ""}, // a pause that a block began
		{"at 1 A pause for 9\nat 0 A acquire ttl 5 {\n  +3 read\n}\n", ""},
		{"every 10 from 0 to 30 A pause for 3\nat 12 A read\n", "D205 2: until just before 13"},
		{"every 10 from 0 to 30 A pause for 3\nat 13 A read\nat 33 A read\nat 9 A read\n", ""},
		{"every 10 from 0 to 30 A pause for 3\nat 32 A read\nat 30 A read\n", "D205 2: tick 32; D205 3: tick 30"},
		{"every 4 from 0 to 30 A pause for 6\nat 6 A read\nat 9 A read\n", "D205 3: until just before 14"}, // the pause due at 4 is dropped
		{"every 4 from 0 to 8 A pause until 20\nat 15 A read\n", "D205 2: until just before 20"},
		{"every 4 from 0 to 30 A pause until 20\n", "D206 1: starts at 28"},
	}
	for _, tt := range tests {
		_, ds := Compile(parse(t, tt.src), nil)
		checkFaults(t, tt.src, ds, tt.want)
	}
}

func TestMessageOrder(t *testing.T) {
	tests := []struct {
		src  string
		want string
	}{
		{"at 5 A read arrives 7 reply 9\n", ""},
		{"at 5 A read arrives 4\n", "D207 1: land at 4"},
		{"at 5 A read reply 4\n", "D207 1: heard at 4"},
		{"at 5 A read arrives 7 reply 6\n", "D207 1: heard at 6 and lands at 7"},
		{"at 5 A read arrives +3 reply +2\n", "D207 1: heard at +2 and lands at +3"},
		{"at 5 A read arrives +3 reply 7\n", "D207 1: heard at 7 and lands at 8"},
		{"at 5 A read arrives 8 reply +2\n", "D207 1: heard at 7 and lands at 8"},
		{"at 5 A read arrives 8 reply +3\n", ""},
		{"at 5 A read arrives never reply 9\n", ""},
		{"at 5 A read arrives 9 reply lost\n", ""},
		{"at 5 A acquire ttl 9 arrives 9 at s3 reply 7\n", "D207 1: heard at 7 and lands at 9"},
		{"at 5 A acquire ttl 9 arrives 9 at s3 reply 7 reply 9 from s3\n", ""},
		{"at 5 A acquire ttl 9 arrives 9 arrives 6 at s1..s5 reply 7\n", ""}, // nobody is left for the first
		{"servers 6\nat 5 A acquire ttl 9 arrives 9 arrives 6 at s1..s5 reply 7\n", "D207 2: heard at 7 and lands at 9"},
		{"at 5 A acquire ttl 9 on s1 s2 arrives 9 at s3 reply 7\n", ""}, // s3 is not asked
		{"every 2 from 1 to 8 A read arrives 7\n", ""},
		{"every 2 from 1 to 8 A read arrives 6\n", "D207 1: sent at 7"},
		{"at 5 A acquire ttl 9 {\n  +1 read arrives 2 reply 9\n}\n", ""}, // its send is not known here
		{"at 5 A acquire ttl 9 {\n  +1 read arrives 9 reply 8\n}\n", "D207 2: heard at 8 and lands at 9"},
	}
	for _, tt := range tests {
		_, ds := Compile(parse(t, tt.src), nil)
		checkFaults(t, tt.src, ds, tt.want)
	}
}

// TestWhere checks which run or cell a fault is said to be in.
func TestWhere(t *testing.T) {
	tests := []struct {
		src  string
		want string
	}{
		{"at 0 - 1 A read\nrun \"a\" {\n  fencing on\n}\nrun \"b\" {\n  fencing off\n}\n", "D202 1: -1"},
		{"let x = 1\nat x - 2 A read\nrun \"a\" {\n  let x = 9\n}\nrun \"b\" {\n  let x = 0\n}\n", `D202 2: so in run "b"`},
		{"let x = 1\nat 9 - x A read\nsweep \"s\" over x in 1..20 {\n  expect grants 0\n}\n", `D202 2: so in the cell x = 10 of sweep "s"`},
		{"let x = 1\nlet y = 2\nat y A acquire ttl x - y\nsweep \"s\" over x in 5..9 by y in 3..8 {\n  expect grants 1\n}\n", `D202 3: cell x = 5, y = 6 of`},
		{"at 1 s5 crash\nsweep \"s\" over servers in 5, 7, 3 {\n  expect grants 0\n}\n", "D204 1: cell servers = 3"},
		{"quorum 4\nat 1 A read\nsweep \"s\" over servers in 5, 3 {\n  expect grants 0\n}\n", "D214 1: cell servers = 3"},
		{"at 1 A read\nsweep \"s\" over quorum in 1..6 {\n  expect grants 0\n}\n", "D214 2: cell quorum = 6"},
		{"let a = 3\nat 2 A pause for a\nat 4 A read\nsweep \"s\" over a in 1..3 {\n  expect grants 0\n}\n", "D205 3: cell a = 3"},
	}
	for _, tt := range tests {
		_, ds := Compile(parse(t, tt.src), nil)
		checkFaults(t, tt.src, ds, tt.want)
		if tt.want == "D202 1: -1" && strings.Contains(ds[0].Detail, "so in") {
			t.Errorf("a fault of every run is said to be that of one: %s", ds[0].Detail)
		}
	}
}

func TestOverrideFaults(t *testing.T) {
	s := parse(t, "let lease = 1\nat 1 A acquire ttl lease\nrun \"r\" {\n  let inner = 2\n  at inner A read\n}\n")
	tests := []struct {
		over Override
		want string
	}{
		{Override{"lease", "5"}, ""},
		{Override{"inner", "-0"}, ""},
		{Override{"lease", "x"}, "D210 0: no integer"},
		{Override{"lease", ""}, "D210 0: no integer"},
		{Override{"lease", "99999999999999999999"}, "D210 0: too large a number"},
		{Override{"leas", "5"}, "D210 0: did you mean `lease`?"},
		{Override{"servers", "many"}, "D210 0: servers takes a number"},
		{Override{"servers", "0"}, "D210 0: from 1 to 1000"},
		{Override{"fencing", "1"}, "D210 0: fencing takes off, on or strict"},
		{Override{"fencing", "strict"}, ""},
		{Override{"quorum", "majority"}, ""},
		{Override{"quorum", "9"}, "D214 0: more than the 5 servers"},
		{Override{"initial", "any \"text\""}, ""},
		{Override{"lease", "-5"}, "D202 2: the ttl is -5"},
		{Override{"word", "number"}, "D210 0: nothing in the file"},
		{Override{"servers", "number"}, "D210 0: servers takes"},
	}
	for _, tt := range tests {
		_, ds := Compile(s, []Override{tt.over})
		checkFaults(t, fmt.Sprint(tt.over), ds, tt.want)
	}
}

func TestAxes(t *testing.T) {
	const tail = " {\n  expect grants 1\n}\n"
	head := "let x = 1\nlet y = 4\nat x A acquire ttl y\n"
	tests := []struct {
		axes string
		want string // the axes' values, or a fault
	}{
		{"over x in 1..4", "[1 2 3 4]"},
		{"over x in 2..29 step 3", "[2 5 8 11 14 17 20 23 26 29]"},
		{"over x in 1..10 step 4", "[1 5 9]"},
		{"over x in 1, 3..5, 9", "[1 3 4 5 9]"},
		{"over x in y..y + 2", "[4 5 6]"},
		{"over servers in 1, 3, 5 by fencing in off, on, strict", "[1 3 5] [off on strict]"},
		{"over quorum in majority, 1", "[majority 1]"},
		{"over x in 1..2 by y in 3..4", "[1 2] [3 4]"},
		{"over x in 5..4", "D212 4: empty"},
		{"over x in 1..4 step 0", "D212 4: step is 0"},
		{"over x in 1..99999999", "D209 4: at most"},
		{"over x in 1..y by y in 1..2", "D212 4: depend on what the sweep varies"},
		{"over x in 1..4000 by y in 1..4000", "D209 4: cells in all"},
		{"over x in 1..2 / 0", "D200 4: zero"},
	}
	for _, tt := range tests {
		u, ds := Compile(parse(t, head+"sweep \"s\" "+tt.axes+tail), nil)
		if tt.want[0] == 'D' {
			checkFaults(t, tt.axes, ds, tt.want)
			continue
		}
		if u == nil {
			t.Errorf("%s: %v", tt.axes, ds)
			continue
		}
		var got []string
		cells := int64(1)
		for i := range u.Plans[0].Axes {
			a := &u.Plans[0].Axes[i]
			var values []string
			for k := range a.Len() {
				values = append(values, a.Value(k).Text())
			}
			got = append(got, fmt.Sprint(values))
			cells *= int64(a.Len())
		}
		if strings.Join(got, " ") != tt.want || u.Plans[0].Cells != cells {
			t.Errorf("%s: %v, %d cells, want %s", tt.axes, got, u.Plans[0].Cells, tt.want)
		}
	}
}

// TestLimits checks that small texts cannot ask for much: each of these is refused before its size is reached.
func TestLimits(t *testing.T) {
	const head = "let x = 1\nlet y = 4\nat x A acquire ttl y\n"
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	sweep := func(i int, axes string) string {
		return fmt.Sprintf("sweep \"s%d\" over %s {\n  expect grants 1\n}\n", i, axes)
	}
	tests := []struct{ name, src, want string }{
		{"values of an axis", head + sweep(0, "x in 0..1000000"), "D209 4: at most 1000000 values"},
		{"cells of a sweep", head + sweep(0, "x in 1..4000 by y in 1..2501"), "D209 4: cells in all"},
		{"cells of words", head + sweep(0, "x in 1..4000 by y in 1..2000 by fencing in off, on"), "D209 4: cells in all"},
		{"cells of a file", head + sweep(0, "x in 1..3000 by y in 1..2000") + sweep(1, "x in 1..3000 by y in 1..2000"), "D209 7: cells in all"},
		{"lines of a file", repeat(2000, func(i int) string { return fmt.Sprintf("at %d A read\n", i) }) +
			repeat(200, func(i int) string { return fmt.Sprintf("run \"r%d\" {\n  servers 3\n}\n", i) }), "D209 2298: lines in all"},
		{"work of a file", head + "let z = x" + repeat(1000, func(int) string { return " + 1" }) + "\n" + sweep(0, "x in 1..3000 by y in 1..3000"), "D209 5: takes too long"},
	}
	for _, tt := range tests {
		_, ds := Compile(parse(t, tt.src), nil)
		checkFaults(t, tt.name, ds, tt.want)
	}
}

// TestPages checks the pages about values: the wrong example of each provokes its code, the right one nothing.
func TestPages(t *testing.T) {
	checked := 0
	for _, page := range dsl.Codes() {
		examples := strings.Split(page.Text, "```dlk\n")
		if page.Code < dsl.CodeDivisionByZero || page.Code == dsl.CodeServerBeyond || len(examples) != 3 {
			continue
		}
		checked++
		for i, want := range []string{page.Code, ""} {
			src, _, _ := strings.Cut(examples[i+1], "```")
			_, ds := Compile(parse(t, src), nil)
			if got := strings.Join(codesOf(ds), " "); got != want {
				t.Errorf("%s: %q gives %s", page.Code, src, got)
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d pages have examples", checked)
	}
}

func codesOf(ds dsl.Diagnostics) []string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Code)
	}
	return out
}

// TestCellOrder checks that the first axis varies slowest.
func TestCellOrder(t *testing.T) {
	p := unit(t, "let x = 1\nlet y = 4\nat x A acquire ttl y\nsweep \"s\" over x in 1..2 by y in 7..9 {\n  expect grants 1\n}\n").Plans[0]
	var got []string
	cell := make([]int64, 2)
	for i := range p.Cells {
		p.Cell(i, cell)
		got = append(got, cellText(p.At(cell)))
	}
	want := "[x = 1, y = 7 x = 1, y = 8 x = 1, y = 9 x = 2, y = 7 x = 2, y = 8 x = 2, y = 9]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v", got)
	}
}

func TestParseAxis(t *testing.T) {
	tests := []struct {
		text, want string
	}{
		{"lease=1..25", "{lease [{ 1 25}] 1}"},
		{"stall=2..29:3", "{stall [{ 2 29}] 3}"},
		{" servers = 1, 3 ,5", "{servers [{ 1 1} { 3 3} { 5 5}] 1}"},
		{"fencing=off,on", "{fencing [{off 0 0} {on 0 0}] 1}"},
		{"x=-3..-1", "{x [{ -3 -1}] 1}"},
		{"lease", "error"},
		{"=1", "error"},
		{"lease=", "error"},
		{"lease=1..", "error"},
		{"lease=..5", "error"},
		{"lease=1,,2", "error"},
		{"lease=1..5:0", "error"},
		{"lease=1..5:x", "error"},
		{"lease=a..b", "error"},
	}
	for _, tt := range tests {
		a, err := ParseAxis(tt.text)
		got := fmt.Sprint(a)
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("%s: %s (%v), want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestSweepFromOutside(t *testing.T) {
	u := unit(t, "let x = 1\nat x A acquire ttl 5\nexpect grants 1\nrun \"r\" {\n  servers 3\n}\n")
	tests := []struct {
		run, axis string
		want      string
	}{
		{"", "x=1..3", "cells 3 servers 5"},
		{"r", "x=1..3", "cells 3 servers 3"},
		{"", "servers=1,3", "cells 2 servers 1"},
		{"q", "x=1..3", "D212 0: no run"},
		{"", "z=1..3", "D212 0: nothing in the file"},
		{"", "fencing=1..3", "D212 0: fencing takes"},
		{"", "fencing=maybe", "D212 0: fencing takes"},
		{"", "x=on", "D212 0: x takes numbers"},
		{"", "initial=1", "D212 0: cannot be swept"},
		{"", "x=3..1", "D212 0: empty"},
		{"", "servers=0..3", "D203 0: so in the cell servers = 0"},
		{"", "x=-1", "D202 2: so in the cell x = -1"},
	}
	for _, tt := range tests {
		a, err := ParseAxis(tt.axis)
		if err != nil {
			t.Fatal(err)
		}
		p, ds := u.Sweep(tt.run, []AxisSpec{a})
		if tt.want[0] == 'D' {
			checkFaults(t, tt.axis, ds, tt.want)
			continue
		}
		if p == nil {
			t.Errorf("%s: %v", tt.axis, ds)
			continue
		}
		cell := make([]int64, 1)
		p.Cell(0, cell)
		prog, _ := p.Binder().Bind(cell)
		if got := fmt.Sprintf("cells %d servers %d", p.Cells, prog.Settings.Servers); got != tt.want || len(p.Claims) > 0 {
			t.Errorf("%s: %s with %d claims, want %s", tt.axis, got, len(p.Claims), tt.want)
		}
	}
}

// TestBindAgain checks that a binder forgets what was wrong with the cell before, and that two binders share nothing.
func TestBindAgain(t *testing.T) {
	s := parse(t, "let x = 1\nat 10 / x A pause for x\nat 14 A acquire ttl 7 arrives 20 - x\nsweep \"s\" over x in 1..4 {\n  expect grants 1\n}\n")
	f := &faultList{}
	p := (&Unit{Script: s, room: fullRoom()}).newPlan(s.Blocks[0], dsl.SweepBlock, nil, f)
	if f.n > 0 {
		t.Fatal(f.list)
	}
	b, other := p.Binder(), p.Binder()
	for _, x := range []int64{1, 0, 2, 9, 3, -1, 4} {
		prog, ds := b.Bind([]int64{x})
		if bad := x < 1 || x > 6; bad != (prog == nil) || bad != (len(ds) > 0) {
			t.Fatalf("x = %d: %v", x, ds)
		}
		if prog == nil {
			continue
		}
		if prog.Steps[0].At != engine.Tick(10/x) || prog.Steps[0].PauseFor != engine.Tick(x) || prog.Messages[0].At != engine.Tick(20-x) {
			t.Errorf("x = %d: %+v", x, prog.Steps[0])
		}
		again, _ := other.Bind([]int64{1})
		if again.Steps[0].At != 10 || prog.Steps[0].At != engine.Tick(10/x) {
			t.Errorf("two binders share a program")
		}
	}
}

func TestBindAllocatesNothing(t *testing.T) {
	p := unit(t, `
let x = 1
let y = x + max(x, 3)
at 0 A pause for x
at 10 A acquire ttl y arrives +x reply +x * 2 from s1
every 3 from x to 9 B pause for 1
sweep "s" over x in 1..8 by fencing in off, on {
  expect stale-write iff x > 3 and servers == 5
}
`).Plans[0]
	b, cell := p.Binder(), make([]int64, 2)
	i := int64(0)
	b.Bind(cell)
	if n := testing.AllocsPerRun(100, func() {
		p.Cell(i%p.Cells, cell)
		i++
		if prog, _ := b.Bind(cell); prog == nil {
			t.Fatal("a cell has faults")
		}
	}); n > 0 {
		t.Errorf("%v allocations for a cell", n)
	}
}
