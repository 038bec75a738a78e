package dsl

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
)

// formCase is a text, and the one form of it. Every row is parsed, printed and printed again, and seeds the fuzzers.
type formCase struct {
	name, in, out string // out "": in is in the one form already
}

var formCases = []formCase{
	{"nothing", "", ""},
	{"blank lines before and after", "\n\n \t\nservers 5\n\n \n", "servers 5\n"},
	{"only a comment", "#  keep   this ", "#  keep   this\n"},
	{"a byte order mark and CRLF", "\ufeffscenario \"x\"\r\nservers 5\r\n", "scenario \"x\"\nservers 5\n"},
	{"no last newline", "at 0 A read", "at 0 A read\n"},
	{"blank lines", "\n\nservers 5\n\n\n\nquorum 3\nrun \"x\" {\n\n\nfencing on\n\n\n}\n\n\n", "servers 5\n\nquorum 3\nrun \"x\" {\n  fencing on\n}\n"},
	{"numbers", "servers 007\nquorum 00\nat 010 A read\n", "servers 7\nquorum 0\nat 10 A read\n"},
	{"every setting", `servers 5
quorum majority
quorum 3
fencing strict
fence-at grant
leases off
handback confirmed
tokens ordered
validity on
validity lease / 10
judge caller-ttl
lock-delay 2
reentrant on
owner-check off
initial "x\n\t\"\\"
horizon 300
let lease = 10
`, ""},
	{"values of lets align", "let a=1\nlet abc  =  2\n# between\nlet ab = 3\n\nlet long_name = 4\nservers 5\nlet b = 5\n",
		"let a   = 1\nlet abc = 2\n# between\nlet ab  = 3\n\nlet long_name = 4\nservers 5\nlet b = 5\n"},
	{"formulas", "let a=- 1+2*( 3-4 )/b%5\nlet b=min( a ,max(1,2 , 3) )- -c\nlet c=((1))\n",
		"let a = -1 + 2 * (3 - 4) / b % 5\nlet b = min(a, max(1, 2, 3)) - -c\nlet c = ((1))\n"},
	{"b-1 is a subtraction", "at b-1 A read\nlet b=fence-at1\n", "at b - 1 A read\nlet b = fence - at1\n"},
	{"a let may be called like a suffix", "let ttl=1\nat ttl-1 A acquire on s1 ttl (ttl) -1\nat 1 A acquire ttl - 1\n",
		"let ttl = 1\nat ttl - 1  A acquire on s1 ttl (ttl) - 1\nat 1        A acquire ttl -1\n"},
	{"actors align", "at 0 A read\nat 10+lease B read\nevery 3 from 0 to 9 A check\n\nrun \"x\" {\nat 5 B read\nat 6 A read\n}\nat 1 s1 s3..s5 crash\n",
		"at 0                 A read\nat 10 + lease        B read\nevery 3 from 0 to 9  A check\n\nrun \"x\" {\n  at 5 B read\n  at 6 A read\n}\nat 1                 s1 s3..s5 crash\n"},
	{"a long time moves nobody else", "at 0 A read\nat 1 + " + strings.Repeat("a + ", 30) + "b A read\nat 10 A read\n",
		"at 0   A read\nat 1 + " + strings.Repeat("a + ", 30) + "b  A read\nat 10  A read\n"},
	{"acquire", `at 0   A acquire ttl 10
at 1   A acquire ttl none
at 2   A acquire ttl 0
at 3   A acquire on s1..s3 s5 ttl 10
at 4   A acquire ttl 10 retry every 2
at 5   A acquire retry every 2 until 9 ttl 10
at 6   A acquire ttl 10 retry every 2 until +9 as "id"
at 7   A acquire ttl 10 watchdog every 3
at 8   A acquire ttl 10 arrives +1 at s3 arrives never at s4 s5 reply +2 reply lost from s1 s2
at 9   A acquire ttl 10 arrives 12 reply 15
at 10  A acquire ttl 10 reply lost
`, ""},
	{"other verbs of clients", `at 0   A renew ttl 10
at 1   A renew ttl 10 recreate reply +3 from s1..s2
at 2   A release
at 3   A release arrives never
at 4   A read reply lost
at 5   A append "A"
at 6   A write "x" if checked
at 7   A append "A" if valid guard version guard lock guard before 9
at 8   A append "A" guard before +9 arrives 10 reply 12
at 9   A check reply lost from s1 s2 s3
at 10  A notice
at 11  A pause for 14
at 12  A pause until 30
at 13  A pause until +5
at 14  A crash
at 15  A watchdog stop
at 16  A clock +20
at 17  A clock -5
at 18  A clock stop
`, ""},
	{"servers, resource, network", `at 3   s2 crash
at 4   s2 restart
at 5   s2 s4..s5 restart empty
at 6   s2 restart wiped
at 7   s3 clock +20
at 8   s3 clock stop
at 9   s1..s5 revoke
at 10  resource forget
at 11  cut A from s1..s3
at 12  cut A from resource
at 13  cut A from s1 s3..s5 resource
at 14  cut A
at 15  heal A from s1..s3
at 16  heal A
at 17  A read
`, ""},
	{"blocks of outcomes", `at 0 A acquire ttl 10 retry every 1{
# why
+ 1 read
+10 append "A"{
+0 release
}  when  rejected   {
+2 acquire ttl 5 when denied {

+1 crash
}
}
}when denied{
+1 notice
}
`, `at 0 A acquire ttl 10 retry every 1 {
  # why
  +1   read
  +10  append "A" {
    +0  release
  } when rejected {
    +2  acquire ttl 5 when denied {
      +1  crash
    }
  }
} when denied {
  +1  notice
}
`},
	{"claims", `at 0 A acquire ttl 10
expect final "A"
expect at 15 value "B"
expect at 9  A holds
expect at 10 nobody holds
expect at 9  A believes
expect at 9  nobody believes
expect at 16 A rejected

expect at 1 A lost
expect A never granted
expect A never no
expect A blocked 5 + 3
expect A token 1
expect grants 2
expect writes 2
expect idle 6
expect stale-write 1
expect stale-write
expect no stale-write
expect overlap 0
expect clean
`, ""},
	{"a sweep", "let a = 1\nsweep \"x\"   over a in 1 , 3..9 step a+1 by fencing in on,off , strict by judge in caller-ttl by servers in 3..5 {\nexpect stale-write iff not(a<3 or a>=5)and servers!=4 and -a<=max(1,2)\n}\n",
		"let a = 1\nsweep \"x\" over a in 1, 3..9 step a + 1 by fencing in on, off, strict by judge in caller-ttl by servers in 3..5 {\n  expect stale-write iff not (a < 3 or a >= 5) and servers != 4 and -a <= max(1, 2)\n}\n"},
	{"holes", `let stall = any 0..30 step 5
let other = (any 3, -7, stall) + 1
maybe at 0        A crash
maybe gone at 10  any s1..s5 crash
at 0              A acquire ttl 10 on s1 any s2..s3
at 2              A clock any -3..3
at 3              s2 clock +any 4, -2
explore "all" {
  let stall = any 0..30
  ties any
  where stall + gone <= 1
  expect stale-write in 410  # of 961 members
  expect always no overlap
  expect never clean
  expect sometimes stale-write
  expect clean
}
`, ""},
	{"comments", "# about\n#\n#  more\n\nservers 5 # a\nfencing on# b\n\nat 0 A read #c\nrun \"x\" { # d\n# e\n}# f\n",
		"# about\n#\n#  more\n\nservers 5   # a\nfencing on  # b\n\nat 0 A read  #c\nrun \"x\" {    # d\n  # e\n}  # f\n"},
	{"letters beyond ASCII", "scenario \"ein Fehler – und 日本 🙂\" # ü\n", "scenario \"ein Fehler – und 日本 🙂\"  # ü\n"},
}

// texts gives every text that the tests know: the table, the pages and the files.
func texts(tb testing.TB) [][]byte {
	tb.Helper()
	var out [][]byte
	for _, c := range formCases {
		out = append(out, []byte(c.in))
	}
	for _, p := range pages() {
		out = append(out, []byte(p.wrong), []byte(p.right))
	}
	for _, pattern := range []string{"testdata", "testdata/errors"} {
		entries, err := os.ReadDir(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".dlk") {
				src, err := os.ReadFile(pattern + "/" + e.Name())
				if err != nil {
					tb.Fatal(err)
				}
				out = append(out, src)
			}
		}
	}
	return out
}

func TestForm(t *testing.T) {
	for _, c := range formCases {
		t.Run(c.name, func(t *testing.T) {
			wanted := c.out
			if wanted == "" {
				wanted = c.in
			}
			got, ds := Format([]byte(c.in), "x.dlk")
			if len(ds) > 0 {
				t.Fatalf("refused: %v", ds)
			}
			if string(got) != wanted {
				t.Errorf("got:\n%s\nwant:\n%s", got, wanted)
			}
			checkFormat(t, []byte(c.in))
		})
	}
	// Everything else that the tests know: where it can be formatted, the form is stable and means the same.
	for _, src := range texts(t) {
		checkFormat(t, src)
	}
}

// The file of the language's first page is in the one form, and nothing about it is suspicious.
func TestFirstPage(t *testing.T) {
	src, err := os.ReadFile("testdata/pause.dlk")
	if err != nil {
		t.Fatal(err)
	}
	s, ds := Parse("pause.dlk", src)
	if len(ds) > 0 {
		t.Errorf("diagnostics: %v", ds)
	}
	out, ds := Format(src, "pause.dlk")
	if len(ds) > 0 || !bytes.Equal(out, src) {
		t.Errorf("diagnostics %v; formatted:\n%s", ds, out)
	}
	if s.Title != "a paused client overwrites finished work" || !strings.HasPrefix(s.About, "A pause that outlives the lease.\n\nA takes the lock") {
		t.Errorf("title %q, about %q", s.Title, s.About)
	}
	if !slices.Equal(s.Clients, []string{"A", "B"}) || len(s.Steps) != 6 || len(s.Lets) != 3 || len(s.Settings) != 1 || len(s.Expects) != 1 {
		t.Errorf("clients %v, %d steps, %d lets, %d settings, %d claims", s.Clients, len(s.Steps), len(s.Lets), len(s.Settings), len(s.Expects))
	}
	b := s.Steps[5]
	if len(b.Outcomes) != 1 || !slices.Equal(b.Outcomes[0].Words, []string{"granted"}) || len(b.Outcomes[0].Steps) != 3 || b.Outcomes[0].Steps[1].Text != "B" || b.Outcomes[0].Steps[1].Actor.Client != "B" {
		t.Errorf("the block of line %d: %+v", b.Span.Start.Line, b.Outcomes)
	}
	if e := s.Blocks[0].Expects[2]; e.Source != "expect at 9 A holds" || e.Kind != ClaimHolds || e.Client != "A" {
		t.Errorf("claim %+v", e)
	}
	sweep := s.Blocks[3]
	if sweep.Kind != SweepBlock || len(sweep.Axes) != 2 || sweep.Axes[1].Name != "stall" || !reflect.DeepEqual(numberOf(sweep.Axes[1].Step), []int64{3}) {
		t.Errorf("sweep %+v", sweep)
	}
	if top := s.Blocks[2].Axes[0]; !top.Setting || len(top.Items) != 6 {
		t.Errorf("axis %+v", top)
	}
}

// numberOf gives the value of a plain number, and nothing for any other formula.
func numberOf(e Expr) []int64 {
	if n, ok := e.(*Num); ok {
		return []int64{n.Value}
	}
	return nil
}

// checkFormat checks the formatter's promises on one text: it refuses only what has errors, its form is stable, and the
// text means the same afterwards.
func checkFormat(t *testing.T, src []byte) {
	t.Helper()
	script, ds := Parse("x.dlk", src)
	out, refused := Format(src, "x.dlk")
	if len(refused) > 0 {
		if !refused.HasErrors() || out != nil {
			t.Fatalf("refused with %v and %q", refused, out)
		}
		return
	}
	again, refused := Format(out, "x.dlk")
	if len(refused) > 0 || !bytes.Equal(again, out) {
		t.Fatalf("not stable: %v\n%s\n---\n%s", refused, out, again)
	}
	if got, wanted := tokensOf(out), tokensOf(src); !slices.Equal(got, wanted) {
		t.Fatalf("the words changed:\n%q\n%q", got, wanted)
	}
	after, ds2 := Parse("x.dlk", out)
	if !slices.Equal(codes(ds), codes(ds2)) {
		t.Fatalf("the diagnostics changed: %v, %v\n%s", ds, ds2, out)
	}
	forget(reflect.ValueOf(script))
	forget(reflect.ValueOf(after))
	if !reflect.DeepEqual(script, after) {
		t.Fatalf("the meaning changed:\n%s\n---\n%s", src, out)
	}
}

// tokensOf gives the words of a text as they mean: without white space, blank lines and leading zeros.
func tokensOf(src []byte) []string {
	var out []string
	for _, tok := range scan(string(src)) {
		switch tok.Type {
		case tokWhitespace, lexer.EOF:
		case tokNewline:
			if n := len(out); n > 0 && out[n-1] != "\n" {
				out = append(out, "\n")
			}
		case tokInt:
			out = append(out, strings.TrimLeft(tok.Value, "0")+".")
		default:
			out = append(out, strings.TrimSpace(tok.Value))
		}
	}
	if n := len(out); n > 0 && out[n-1] == "\n" {
		out = out[:n-1]
	}
	return out
}

// forget clears every span below a value: a formatted text has the same meaning in other places.
func forget(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			forget(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Span]() {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			forget(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			forget(v.Index(i))
		}
	}
}

// FuzzParse looks for texts that the front end cannot bear: it must come to an end and keep its diagnostics in order,
// with spans inside the text and at most one for a line.
func FuzzParse(f *testing.F) {
	for _, src := range texts(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 64<<10 {
			return
		}
		script, ds := Parse("x.dlk", src)
		if script == nil {
			t.Fatal("no script")
		}
		line := 0
		for _, d := range ds {
			s, e := d.Span.Start, d.Span.End
			if s.Line <= line {
				t.Fatalf("two diagnostics for line %d, or out of order: %v", s.Line, ds)
			}
			line = s.Line
			if s.Offset < 0 || e.Offset < s.Offset || e.Offset > len(src) || e.Line != s.Line || e.Col < s.Col || s.Col < 1 {
				t.Fatalf("odd span: %+v", d)
			}
			if _, ok := CodePageOf(d.Code); !ok || d.Summary == "" {
				t.Fatalf("no page or no words: %+v", d)
			}
		}
	})
}

// FuzzFormat looks for texts that the formatter changes twice, or whose meaning it changes.
func FuzzFormat(f *testing.F) {
	for _, src := range texts(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) <= 64<<10 {
			checkFormat(t, src)
		}
	})
}
