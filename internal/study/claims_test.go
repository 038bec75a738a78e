package study

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dlock/dsl/compile"
)

// Each claim of these scripts carries its verdict in a comment: "ok", "got: what was there instead" or "vacuous: why".
var claimScripts = []struct{ name, src string }{
	{"a pause that outlives the lease", pauseSweep + `
expect final "A"               # ok
expect final "AB"              # got: the final value is "A"
expect at 0 value ""           # ok
expect at 13 value ""          # ok
expect at 14 value "B"         # ok
expect at 15 value "A"         # got: at 15 the value is "B"
expect at 16 value "A"         # ok
expect at 9 A holds            # ok
expect at 10 A holds           # got: at 10 nobody holds
expect at 10 nobody holds      # ok
expect at 12 nobody holds      # got: at 12 B holds
expect at 15 nobody holds      # ok
expect at 16 A believes        # ok
expect at 17 A believes        # got: at 17 nobody believes
expect at 13 nobody believes   # got: at 13 A and B believe
expect at 17 nobody believes   # ok
expect at 0 A granted          # ok
expect at 1 A granted          # got: at 1 A has: read heard
expect at 5 A granted          # got: A is granted at 0
expect at 5 A denied           # got: A is never denied
expect at 16 A accepted        # ok
expect at 16 A rejected        # got: at 16 A has: append accepted
expect at 1 A heard            # ok
expect at 17 A expired         # ok
expect at 15 B released        # ok
expect A never rejected        # ok
expect A never accepted        # got: A is accepted at 16
expect B never denied          # ok
expect A never yes             # vacuous: the client does nothing that could have that outcome
expect A never renewed         # vacuous: the client does nothing that could have that outcome
expect A never skipped         # vacuous: the client does nothing that could have that outcome
expect A never unheard         # ok
expect A blocked 0             # ok
expect B blocked 1             # got: B was blocked for 0
expect A token 1               # ok
expect B token 1               # got: its last token is 2
expect grants 2                # ok
expect grants 3                # got: there are 2
expect writes 2                # ok
expect writes 0                # got: there are 2
expect idle 0                  # ok
expect idle 2                  # got: the lock was idle for 0
expect stale-write 1           # ok
expect stale-write             # ok
expect stale-write 2           # got: stale-write is 1
expect no stale-write          # got: stale-write is 1
expect lost-update             # ok
expect no overlap              # ok
expect overlap 0               # ok
expect overlap                 # got: overlap is 0
expect no double-hold          # ok
expect no refused-holder       # vacuous: fencing is off
expect no token-regress        # ok
expect no starvation           # ok
expect no deadlock             # ok
expect no orphan               # ok
expect clean                   # got: stale-write is 1, lost-update is 1, unlocked-write is 1
`},
	{"one client alone", `
at 0 A acquire ttl 5
at 1 A append "x"
at 2 A release
expect clean              # ok
expect no overlap         # vacuous: no two clients ever asked one server
expect no double-hold     # vacuous: fewer than two clients ever asked for the lock
expect no double-belief   # vacuous: fewer than two clients ever asked for the lock
expect no stale-write     # vacuous: no two writes with different tokens arrived
expect stale-write 0      # vacuous: no two writes with different tokens arrived
expect no lost-update     # vacuous: nobody appended after another client's accepted write
expect no unlocked-write  # ok
expect no token-regress   # vacuous: fewer than two locks were granted
expect no starvation      # vacuous: nobody retries
expect no deadlock        # vacuous: nobody retries
expect no orphan          # ok
expect at 9 nobody holds  # ok
expect A never denied     # ok
expect A never lost       # vacuous: the client does nothing that could have that outcome
`},
	{"nobody asks", `
fencing on
at 1 A read
at 4 B write "x" arrives never
expect clean                # vacuous: no two clients asked one server and no write arrived
expect no unlocked-write    # vacuous: no write arrived
expect no refused-holder    # vacuous: no write arrived
expect no orphan            # vacuous: nobody ever asked for the lock
expect at 3 nobody holds    # vacuous: nobody ever asked for the lock
expect at 3 nobody believes # vacuous: nobody ever asked for the lock
expect A never granted      # vacuous: the client does nothing that could have that outcome
expect B never accepted     # vacuous: the client does nothing that could have that outcome
expect at 4 B unheard       # ok
expect B never unheard      # got: B is unheard at 4
expect A blocked 0          # got: A never asked
expect A token 0            # ok
expect final ""             # ok
expect grants 0             # ok
expect idle 0               # ok
`},
	{"a client that crashes before it acts", `
at 1 A crash
at 2 A acquire ttl 5
at 3 B acquire ttl 5
expect A never granted   # vacuous: the client never acts
expect A token 0         # vacuous: the client never acts
expect B never granted   # got: B is granted at 3
expect at 3 B holds      # ok
expect at 8 nobody holds # ok
`},
	{"different servers", `
quorum 2
at 0 A acquire ttl 9 on s1 s2
at 0 B acquire ttl 9 on s3 s4
expect no overlap  # vacuous: no two clients ever asked one server
expect double-hold # ok
expect clean       # got: double-hold is 1
`},
	{"a request that never lands asks nobody", `
at 0 A acquire ttl 9 arrives never
at 0 B acquire ttl 9
expect no overlap     # vacuous: no two clients ever asked one server
expect no double-hold # ok
expect at 0 A denied  # ok
`},
	{"retries end in one denial", `
leases off
at 0 A acquire ttl 9
at 1 B acquire ttl 9 retry every 2 until 8
expect at 1 B denied   # got: at 1 B has: acquire waiting
expect at 7 B denied   # ok
expect B never granted # ok
expect B blocked 0     # got: B was never granted
expect no starvation   # ok
expect A never denied  # ok
`},
	{"own appends are no rivals", `
at 0 A acquire ttl 5
at 1 A append "x"
at 2 A append "y"
at 6 B acquire ttl 5
at 9 B write "z"
expect no lost-update # vacuous: nobody appended after another client's accepted write
expect no stale-write # ok
`},
	{"an append after another's write", `
at 1 B write "z"
at 2 A append "x"
expect lost-update 1   # ok
expect no lost-update  # got: lost-update is 1
expect final "x"       # ok
`},
	{"an append before another's write", `
at 1 A append "x"
at 2 B write "z"
expect no lost-update  # vacuous: nobody appended after another client's accepted write
`},
	{"conditions of the client", `
at 0 A acquire ttl 5
at 1 A check
at 2 A append "x" if checked
at 9 A append "y" if valid
expect at 1 A yes        # ok
expect A never no        # ok
expect A never skipped   # got: A is skipped at 9
expect at 9 A skipped    # ok
expect at 9 A accepted   # got: at 9 A has: append skipped
expect A never renewed   # vacuous: the client does nothing that could have that outcome
`},
	{"texts", `
initial "a\"b"
at 1 A read
at 2 A append "\n\\"
expect at 1 value "a\"b"      # ok
expect final "a\"b\n\\"       # ok
expect final "b\n\\"          # got: the final value is "a\"b\n\\"
expect final "xa\"b\n\\"      # got: the final value is "a\"b\n\\"
expect final ""               # got: the final value is "a\"b\n\\"
`},
	{"a watchdog renews", `
at 0 A acquire ttl 5 watchdog every 2
at 9 A release
expect at 4 A renewed  # ok
expect A never lost    # ok
expect at 8 A holds    # ok
`},
}

func TestClaims(t *testing.T) {
	for _, tt := range claimScripts {
		f := finished(t, tt.src)
		lines := strings.Split(tt.src, "\n")
		claims := f.Items[0].Run.Claims
		if len(claims) != strings.Count(tt.src, "\nexpect ") {
			t.Errorf("%s: %d claims", tt.name, len(claims))
		}
		for i := range claims {
			c := &claims[i]
			line := lines[c.Expect.Span.Start.Line-1]
			_, want, _ := strings.Cut(line, "# ")
			if got := verdict(c); got != strings.TrimSpace(want) {
				t.Errorf("%s: %s\n  is %s", tt.name, line, got)
			}
			if c.Failed() != (want != "ok") {
				t.Errorf("%s: %s\n  failed is %v", tt.name, line, c.Failed())
			}
		}
	}
}

func verdict(c *Claim) string {
	switch {
	case c.Vacuous != "":
		return "vacuous: " + c.Vacuous
	case c.OK:
		return "ok"
	default:
		return "got: " + c.Got
	}
}

func finished(tb testing.TB, src string) *File {
	tb.Helper()
	f, err := studied(tb, src).Do(context.Background(), Options{Jobs: 2})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// TestOverridesUncheckClaims checks that a value from outside leaves the file's claims open, true or not.
func TestOverridesUncheckClaims(t *testing.T) {
	s := parsed(t, pauseSweep+"expect final \"A\"\nexpect final \"x\"\n")
	for _, tt := range []struct {
		over   []compile.Override
		failed bool
	}{{nil, true}, {[]compile.Override{{Name: "stall", Value: "14"}}, false}, {[]compile.Override{{Name: "fencing", Value: "on"}}, false}} {
		st, ds := New(s, tt.over)
		if st == nil {
			t.Fatal(ds)
		}
		f, err := st.Do(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Items[0].Run.Claims {
			if c.Unchecked != (tt.over != nil) {
				t.Errorf("%v: unchecked is %v", tt.over, c.Unchecked)
			}
		}
		if f.Failed() != tt.failed {
			t.Errorf("%v: failed is %v", tt.over, f.Failed())
		}
	}
}

// TestLimit checks that a run which stops at a limit proves nothing.
func TestLimit(t *testing.T) {
	const src = `
servers 1000
horizon 100000
at 0 A acquire ttl none
at 1 B acquire ttl 5 retry every 1
expect no stale-write
expect B never granted
expect grants 7
`
	f := finished(t, src)
	if !f.Inconclusive() || f.Failed() {
		t.Errorf("inconclusive is %v, failed is %v", f.Inconclusive(), f.Failed())
	}
	for _, c := range f.Items[0].Run.Claims {
		if c.OK || !c.Inconclusive || c.Got != "" {
			t.Errorf("%+v", c)
		}
	}
	sweep := strings.Replace(src, "expect no", "sweep \"s\" over servers in 3, 1000 {\n  expect grants 1\n}\nsweep \"t\" over servers in 1000, 5 {\n  expect grants 9\n}\nexpect no", 1)
	f = finished(t, strings.Replace(sweep, "expect grants 7\n", "", 1))
	s, bad := f.Items[0].Sweep, f.Items[1].Sweep
	if s.Limited != 1 || fmt.Sprint(s.LimitedAt) != "[servers = 1000]" || s.Failed() || !f.Inconclusive() {
		t.Errorf("%d cells at a limit, first %v, failed is %v", s.Limited, s.LimitedAt, s.Failed())
	}
	if !bad.Failed() {
		t.Errorf("a claim that a finished cell breaks has failed, whatever the others would say")
	}
	if ok := []bool{s.Kept[0].OK, s.Kept[1].OK}; !slices.Equal(ok, []bool{true, false}) {
		t.Errorf("the cells are %v", ok)
	}
}

func TestPickRuns(t *testing.T) {
	st := studied(t, "at 0 A read\nrun \"a\" {\n  servers 3\n}\nrun \"b\" {\n  servers 1\n}\nsweep \"c\" over servers in 1, 3 {\n  expect grants 0\n}\n")
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "a b c"},
		{[]string{"b"}, "b"},
		{[]string{"c", "a"}, "a c"},
		{[]string{"x", "a"}, `no run or sweep is named "x"`},
	} {
		f, err := st.Do(context.Background(), Options{Runs: tt.names})
		var got []string
		if err != nil {
			got = append(got, err.Error())
		} else {
			for _, it := range f.Items {
				if it.Run != nil {
					got = append(got, it.Run.Name)
				} else {
					got = append(got, it.Sweep.Name)
				}
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v gives %v", tt.names, got)
		}
	}
}
