package dsl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show writes a formula with all its parentheses.
func show(e Expr) string {
	switch e := e.(type) {
	case *Num:
		return fmt.Sprint(e.Value)
	case *Ref:
		if e.Setting {
			return "<" + e.Name + ">"
		}
		return e.Name
	case *Unary:
		return "(" + e.Op + " " + show(e.X) + ")"
	case *Binary:
		return "(" + show(e.X) + " " + e.Op + " " + show(e.Y) + ")"
	case *Call:
		var args []string
		for _, a := range e.Args {
			args = append(args, show(a))
		}
		return e.Fn + "(" + strings.Join(args, ", ") + ")"
	}
	return "?"
}

func showTime(t Time) string {
	if t.Expr == nil {
		return "-"
	}
	if t.Plus {
		return "+" + show(t.Expr)
	}
	return show(t.Expr)
}

func TestPrecedence(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{"1 + 2 * 3", "(1 + (2 * 3))"},
		{"1 * 2 + 3", "((1 * 2) + 3)"},
		{"1 - 2 - 3", "((1 - 2) - 3)"},
		{"8 / 4 / 2 % 3", "(((8 / 4) / 2) % 3)"},
		{"-a * b", "((- a) * b)"},
		{"a - -b", "(a - (- b))"},
		{"--a", "(- (- a))"},
		{"(1 + 2) * 3", "((1 + 2) * 3)"},
		{"-(a + b)", "(- (a + b))"},
		{"min(a, 1 + 2, max(b))", "min(a, (1 + 2), max(b))"},
		{"010", "10"},
		{"a-1", "(a - 1)"},
	} {
		s, ds := Parse("x.dlk", []byte("let a = 1\nlet b = 2\nlet x = "+c.in+"\nat x + a + b A read\n"))
		if len(ds) > 0 {
			t.Errorf("%s: %v", c.in, ds)
		} else if got := show(s.Lets[2].Expr); got != c.out {
			t.Errorf("%s: %s, want %s", c.in, got, c.out)
		}
	}
	for _, c := range []struct{ in, out string }{
		{"a < b", "(a < b)"},
		{"not a < b", "(not (a < b))"},
		{"not a < b and a > b", "((not (a < b)) and (a > b))"},
		{"a < b or a > b and a == b", "((a < b) or ((a > b) and (a == b)))"},
		{"not (a < b or a > b)", "(not ((a < b) or (a > b)))"},
		{"not (not a < b)", "(not (not (a < b)))"},
		{"a + 1 >= -b * 2", "((a + 1) >= ((- b) * 2))"},
		{"servers != quorum and lock-delay <= horizon", "((<servers> != <quorum>) and (<lock-delay> <= <horizon>))"},
	} {
		s, ds := Parse("x.dlk", []byte("let a = 1\nlet b = 2\nat a + b A read\nsweep \"s\" over a in 1..2 {\nexpect clean iff "+c.in+"\n}\n"))
		if len(ds) > 0 {
			t.Errorf("%s: %v", c.in, ds)
		} else if got := show(s.Blocks[0].Expects[0].Iff); got != c.out {
			t.Errorf("%s: %s, want %s", c.in, got, c.out)
		}
	}
}

// stepWords sums a step up in one line.
func stepWords(s *Step) string {
	var b strings.Builder
	switch s.When.Kind {
	case At:
		fmt.Fprintf(&b, "at %s", show(s.When.At))
	case Every:
		fmt.Fprintf(&b, "every %s %s %s", show(s.When.K), show(s.When.From), show(s.When.To))
	case After:
		fmt.Fprintf(&b, "after %s", show(s.When.At))
	}
	fmt.Fprintf(&b, " %s%s%v %s", s.Actor.Client, showServers(s.Actor.Servers), s.Actor.Resource, s.Verb)
	if s.TTL != nil {
		if s.TTL.None {
			b.WriteString(" ttl none")
		} else {
			fmt.Fprintf(&b, " ttl %s", show(s.TTL.N))
		}
	}
	if s.On != nil {
		b.WriteString(" on " + showServers(s.On))
	}
	if s.Retry != nil {
		fmt.Fprintf(&b, " retry %s %s", show(s.Retry.K), showTime(s.Retry.Until))
	}
	if s.Watchdog != nil {
		b.WriteString(" watchdog " + show(s.Watchdog))
	}
	if s.As != "" {
		fmt.Fprintf(&b, " as %q", s.As)
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"recreate", s.Recreate}, {"checked", s.IfCheck}, {"valid", s.IfValid}, {"version", s.Version}, {"lock", s.Lock}, {"stop", s.ClockEnd}, {"resource", s.FromRes}} {
		if flag.set {
			b.WriteString(" " + flag.name)
		}
	}
	if s.Text != "" {
		fmt.Fprintf(&b, " %q", s.Text)
	}
	for _, at := range []struct {
		name string
		t    Time
	}{{"before", s.Before}, {"until", s.Until}} {
		if at.t.Expr != nil {
			b.WriteString(" " + at.name + " " + showTime(at.t))
		}
	}
	for _, e := range []struct {
		name string
		e    Expr
	}{{"for", s.PauseFor}, {"by", s.ClockBy}} {
		if e.e != nil {
			b.WriteString(" " + e.name + " " + show(e.e))
		}
	}
	for _, m := range s.Messages {
		fmt.Fprintf(&b, " [reply %v lost %v %s %s]", m.Reply, m.Lost, showTime(m.When), showServers(m.Servers))
	}
	if s.Lose != "" {
		b.WriteString(" " + s.Lose)
	}
	if s.From != nil {
		b.WriteString(" from " + showServers(s.From))
	}
	return b.String()
}

func showServers(rs []ServerRange) string {
	var out []string
	for _, r := range rs {
		out = append(out, fmt.Sprintf("%d-%d", r.Lo, r.Hi))
	}
	return strings.Join(out, ",")
}

// Every part of a step arrives in the tree.
func TestSteps(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{`at 0 A acquire ttl 10`, `at 0 Afalse acquire ttl 10`},
		{`at 0 A acquire ttl none on s1..s3 s5`, `at 0 Afalse acquire ttl none on 1-3,5-5`},
		{`at 0 A acquire as "id" watchdog every 3 retry every 2 until +9 ttl 1 + 2`, `at 0 Afalse acquire ttl (1 + 2) retry 2 +9 watchdog 3 as "id"`},
		{`at 0 A acquire ttl 5 retry every 2 until 9`, `at 0 Afalse acquire ttl 5 retry 2 9`},
		{`at 0 A acquire ttl 5 retry every 2`, `at 0 Afalse acquire ttl 5 retry 2 -`},
		{`at 0 A acquire ttl 5 arrives +1 at s3 arrives never at s4 s5 reply 9 reply lost from s1`,
			`at 0 Afalse acquire ttl 5 [reply false lost false +1 3-3] [reply false lost true - 4-4,5-5] [reply true lost false 9 ] [reply true lost true - 1-1]`},
		{`every 2 from 1 to 9 A renew ttl 3 recreate`, `every 2 1 9 Afalse renew ttl 3 recreate`},
		{`at 0 A append "a\"\\\n" if checked guard version guard lock guard before +9`, `at 0 Afalse append checked version lock "a\"\\\n" before +9`},
		{`at 0 A write "x" guard before 9 if valid`, `at 0 Afalse write valid "x" before 9`},
		{`at 0 A pause for 14`, `at 0 Afalse pause for 14`},
		{`at 0 A pause until +3`, `at 0 Afalse pause until +3`},
		{`at 0 A watchdog stop`, `at 0 Afalse watchdog stop`},
		{`at 0 A clock +20`, `at 0 Afalse clock by 20`},
		{`at 0 A clock -20`, `at 0 Afalse clock by (- 20)`},
		{`at 0 s2 s4..s5 clock stop`, `at 0 2-2,4-5false clock stop`},
		{`at 0 s2 restart wiped`, `at 0 2-2false restart wiped`},
		{`at 0 s1..s5 revoke`, `at 0 1-5false revoke`},
		{`at 0 resource forget`, `at 0 true forget`},
		{`at 0 cut A from s1 s3 resource`, `at 0 Afalse cut resource from 1-1,3-3`},
		{`at 0 cut A from resource`, `at 0 Afalse cut resource`},
		{`at 0 heal A`, `at 0 Afalse heal`},
	} {
		s, ds := Parse("x.dlk", []byte("at 0 A acquire ttl 3\n"+c.in+"\n"))
		if len(ds) > 0 {
			t.Errorf("%s: %v", c.in, ds)
		} else if got := stepWords(s.Steps[1]); got != c.out {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.out)
		}
	}
}

func TestClaims(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Expect
		n    string
	}{
		{`expect final "A"`, Expect{Kind: ClaimFinal, Text: "A"}, ""},
		{`expect at 15 value "B"`, Expect{Kind: ClaimValue, Text: "B"}, ""},
		{`expect at 9 A holds`, Expect{Kind: ClaimHolds, Client: "A"}, ""},
		{`expect at 9 nobody holds`, Expect{Kind: ClaimHolds}, ""},
		{`expect at 9 A believes`, Expect{Kind: ClaimBelieves, Client: "A"}, ""},
		{`expect at 9 nobody believes`, Expect{Kind: ClaimBelieves}, ""},
		{`expect at 9 A lost`, Expect{Kind: ClaimOutcome, Client: "A", Outcome: "lost"}, ""},
		{`expect A never no`, Expect{Kind: ClaimNever, Client: "A", Outcome: "no"}, ""},
		{`expect A blocked 2 + 3`, Expect{Kind: ClaimBlocked, Client: "A"}, "(2 + 3)"},
		{`expect A token 1`, Expect{Kind: ClaimToken, Client: "A"}, "1"},
		{`expect grants 2`, Expect{Kind: ClaimGrants}, "2"},
		{`expect writes 2`, Expect{Kind: ClaimWrites}, "2"},
		{`expect idle 6`, Expect{Kind: ClaimIdle}, "6"},
		{`expect stale-write 1`, Expect{Kind: ClaimLaw, Law: "stale-write"}, "1"},
		{`expect stale-write`, Expect{Kind: ClaimLaw, Law: "stale-write"}, ""},
		{`expect no overlap`, Expect{Kind: ClaimLaw, Law: "overlap", None: true}, ""},
		{`expect clean`, Expect{Kind: ClaimClean}, ""},
	} {
		s, ds := Parse("x.dlk", []byte("at 0 A acquire ttl 3\n  "+strings.ReplaceAll(c.in, " ", "   ")+" # why\n"))
		if len(ds) > 0 || len(s.Expects) != 1 {
			t.Errorf("%s: %v", c.in, ds)
			continue
		}
		e := *s.Expects[0]
		n := ""
		if e.N != nil {
			n = show(e.N)
		}
		if e.Source != c.in || n != c.n {
			t.Errorf("%s: source %q, number %q", c.in, e.Source, n)
		}
		if strings.Contains(c.in, " at ") != (e.At != nil) {
			t.Errorf("%s: time %v", c.in, e.At)
		}
		e.Span, e.Source, e.At, e.N = Span{}, "", nil, nil
		if e != c.want {
			t.Errorf("%s: %+v", c.in, e)
		}
	}
}

func TestAxesAndSettings(t *testing.T) {
	s, ds := Parse("x.dlk", []byte(`initial "x"
quorum majority
validity 2
let a = 3
at a A read
sweep "s" over a in 1, 3..9 step 2 by fencing in on, strict by quorum in majority, 2 by judge in caller-ttl {
}
`))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if v := s.Settings[0].Value; v.Text != "x" || v.Word != "" || v.Expr != nil {
		t.Errorf("initial: %+v", v)
	}
	if v := s.Settings[1].Value; v.Word != "majority" || v.Expr != nil {
		t.Errorf("quorum: %+v", v)
	}
	if v := s.Settings[2].Value; v.Word != "" || show(v.Expr) != "2" {
		t.Errorf("validity: %+v", v)
	}
	var got []string
	for _, a := range s.Blocks[0].Axes {
		text := fmt.Sprintf("%s %v:", a.Name, a.Setting)
		for _, it := range a.Items {
			switch {
			case it.Word != "":
				text += " " + it.Word
			case it.Hi != nil:
				text += " " + show(it.Lo) + ".." + show(it.Hi)
			default:
				text += " " + show(it.Lo)
			}
		}
		if a.Step != nil {
			text += " step " + show(a.Step)
		}
		got = append(got, text)
	}
	want := []string{"a false: 1 3..9 step 2", "fencing true: on strict", "quorum true: majority 2", "judge true: caller-ttl"}
	if !slices.Equal(got, want) {
		t.Errorf("axes %q", got)
	}
}

// Columns count characters, offsets bytes; the line end and a byte order mark do not shift them.
func TestPositions(t *testing.T) {
	src := "\ufeffscenario \"日本\"\r\n\tat 0 Ä read\r\n"
	_, ds := Parse("x.dlk", []byte(src))
	if len(ds) != 1 || ds[0].Code != CodeOddCharacter {
		t.Fatal(ds)
	}
	start := ds[0].Span.Start
	if start != (Pos{Offset: strings.Index(src, "Ä"), Line: 2, Col: 7}) || ds[0].Span.End.Col != 8 {
		t.Errorf("%+v", ds[0].Span)
	}
	s, _ := Parse("x.dlk", []byte("at 0 A acquire ttl 3\r\n  at 5   A write \"日本\"  # x"))
	if span := s.Steps[1].Span; span.Start != (Pos{24, 2, 3}) || span.End.Col != 22 || span.End.Offset != 24+23 {
		t.Errorf("%+v", span)
	}
}

// Holes know where they stand, what closes them, and the line that has to be there for them.
func TestHoles(t *testing.T) {
	const src = `let stall = any 0..30 step 5
let more  = 1 + (any 3, -n)
let n     = 2
lock-delay any 1..2
maybe gone at any 3..4  A acquire ttl 5 on s1 any s2 s4..s5 {
  +any 0..1  read
}
maybe at stall + more  A crash
`
	s, ds := Parse("x.dlk", []byte(src))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	var got []string
	say := func(h *Hole) {
		in := ""
		if h.In != nil {
			in = " in " + src[h.In.Span.Start.Offset:h.In.Span.End.Offset]
		}
		got = append(got, fmt.Sprintf("%d %q %s%s", h.Line, h.Name, src[h.Span.Start.Offset:h.Span.End.Offset], in))
	}
	hole := func(e Expr) {
		if a, ok := e.(*Any); ok {
			say(a.Hole)
		} else {
			t.Errorf("%T is no hole", e)
		}
	}
	acquire, crash := s.Steps[0], s.Steps[1]
	hole(s.Lets[0].Expr)
	if b, ok := s.Lets[1].Expr.(*Binary); ok {
		hole(b.Y)
	}
	hole(s.Settings[0].Value.Expr)
	say(acquire.Maybe.Hole)
	hole(acquire.When.At)
	say(acquire.On[1].Hole)
	hole(acquire.Outcomes[0].Steps[0].When.At)
	say(crash.Maybe.Hole)
	want := []string{`1 "stall" any 0..30 step 5`, `2 "" any 3, -n`, `4 "lock-delay" any 1..2`, `5 "gone" maybe gone`, `5 "" any 3..4 in maybe gone`,
		`5 "" any s2 s4..s5 in maybe gone`, `6 "" any 0..1 in maybe gone`, `8 "" maybe`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if on := acquire.On; len(on) != 2 || on[0].Hi != 1 || on[1].Lo != 0 || len(on[1].Hole.Servers) != 2 || on[1].Hole.Servers[1].Hi != 5 {
		t.Errorf("servers %+v", acquire.On)
	}
}

// What looks like an assumed grant and is none, and the other way round.
func TestSuspicions(t *testing.T) {
	const two = "at 0 A acquire ttl 10\nat 1 A append \"A\"\n"
	for _, c := range []struct{ name, src, want string }{
		{"the lease is over by then", two + "at 10 B acquire ttl 10\nat 11 B append \"B\"\n", ""},
		{"the lease ends one tick later", two + "at 9 B acquire ttl 10\nat 11 B append \"B\"\n", "D103:4"},
		{"released before", two + "at 4 A release\nat 5 B acquire ttl 10\nat 6 B append \"B\"\n", ""},
		{"released in a block", "at 0 A acquire ttl 10 {\n+1 append \"A\"\n+2 release\n}\nat 3 B acquire ttl 5\nat 4 B append \"B\"\n", ""},
		{"a lease without end", "at 0 A acquire ttl none\nat 9 B acquire ttl 5\nat 99 B append \"B\"\n", "D103:3"},
		{"leases off", "leases off\n" + two + "at 20 B acquire ttl 5\nat 21 B append \"B\"\n", "D103:5"},
		{"retried until free", two + "at 5 B acquire ttl 5 retry every 1\nat 11 B append \"B\"\n", ""},
		{"retried, but too early", two + "at 5 B acquire ttl 5 retry every 1\nat 7 B append \"B\"\n", "D103:4"},
		{"claimed to be denied", two + "at 5 B acquire ttl 5\nat 6 B append \"B\"\nexpect at 5 B denied\n", ""},
		{"depends on its check", two + "at 5 B acquire ttl 5\nat 6 B check\nat 7 B append \"B\" if checked\n", ""},
		{"has a block for it", two + "at 5 B acquire ttl 5 {\n+1 read\n} when denied {\n+1 read\n}\nat 7 B append \"B\"\n", ""},
		{"an earlier line at the same tick", "at 3 B acquire ttl 5\nat 3 A acquire ttl 5\nat 4 A append \"A\"\nat 4 B append \"B\"\n", "D103:3"},
		{"through lets", "let a = 2 * 3\nlet b = max(a, 1) - 1\nat 0 A acquire ttl a\nat b B acquire ttl a\nat b + 1 B release\n", "D103:5"},
		{"through lets, over", "let a = 2 * 3\nat 0 A acquire ttl a\nat a B acquire ttl a\nat a + 1 B release\n", ""},
		{"servers fail", two + "at 4 s1..s3 crash\nat 5 B acquire ttl 5\nat 6 B append \"B\"\n", ""},
		{"in a run only", two + "run \"x\" {\nat 5 B acquire ttl 5\nat 6 B append \"B\"\n}\n", "D103:5"},
		{"the run cures it", two + "at lease B acquire ttl 5\nat 11 B append \"B\"\nlet lease = 4\nrun \"x\" {\nlet lease = 10\n}\n", ""},
		{"the same owner, let in again", "reentrant on\nat 0 A acquire ttl 10 as \"x\"\nat 5 B acquire ttl 10 as \"x\"\nat 6 B append \"B\"\n", ""},
		{"the same owner, not let in", "at 0 A acquire ttl 10 as \"x\"\nat 5 B acquire ttl 10 as \"x\"\nat 6 B append \"B\"\n", "D103:3"},
		{"the asker is the judge", "judge caller\n" + two + "at 5 B acquire ttl 5\nat 6 B append \"B\"\n", ""},
		{"an unlocked writer", "at 0 A write \"x\"\n", "D102:1"},
		{"an unlocked writer in a run", two + "run \"x\" {\nat 0 B append \"x\"\n}\n", "D102:4"},
		{"a client that only reads", "at 0 A read\n", ""},
		{"a fence that one run has", "fence-at read\nrun \"a\" {\nfencing on\n}\nrun \"b\" {\n}\nat 0 A read\n", ""},
		{"a fence that no run has", "fence-at read\nrun \"a\" {\n}\nrun \"b\" {\nfencing off\n}\nat 0 A read\n", "D101:1"},
		{"a fence that is swept", "fence-at read\nsweep \"a\" over fencing in off, on {\n}\nat 0 A read\n", ""},
		{"a fence set aside in a run", "fencing on\nrun \"a\" {\nfencing off\nfence-at grant\n}\nat 0 A read\n", "D101:4"},
		{"a let that only a sweep uses", "let a = 1\nat 0 A read\nsweep \"a\" over a in 1..2 {\n}\n", ""},
		{"a let that only a let uses", "let a = 1\nlet b = a\nat b A read\n", ""},
		{"a let on a line with a fault", "let a = 1\nat a A raed\n", "D050:2"},
	} {
		_, ds := Parse("x.dlk", []byte(c.src))
		var got []string
		for _, d := range ds {
			got = append(got, fmt.Sprintf("%s:%d", d.Code, d.Span.Start.Line))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"aquire", "acquire"}, {"acqurie", "acquire"}, {"raed", "read"}, {"reed", "read"}, {"READ", "read"}, {"relase", "release"},
		{"banana", ""}, {"x", ""}, {"", ""}, {strings.Repeat("r", MaxNameLength+1), ""},
	} {
		if got := Nearest(c.word, verbWords()); got != c.want {
			t.Errorf("%q: %q, want %q", c.word, got, c.want)
		}
	}
}
