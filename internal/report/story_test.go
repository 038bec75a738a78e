package report

import (
	"context"
	"io"
	"strings"
	"testing"

	"dlock/dsl"
	"dlock/internal/study"
)

// studied does everything that a script says.
func studied(t *testing.T, source string) *study.File {
	t.Helper()
	script, ds := dsl.Parse("x.dlk", []byte(source))
	if script == nil || ds.HasErrors() {
		t.Fatalf("%v in\n%s", ds, source)
	}
	st, ds := study.New(script, nil)
	if st == nil {
		t.Fatalf("%v in\n%s", ds, source)
	}
	f, err := st.Do(context.Background(), study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// narrowed joins the lines of a text and its blanks, so that it can be searched whatever its columns are.
func narrowed(s string) string { return strings.Join(strings.Fields(s), " ") }

// What servers did and what their client hears of it are told apart.
func TestAnswersThatAreNotHeard(t *testing.T) {
	got := narrowed(transcript(t, studied(t, `
servers 3
at 0 A acquire ttl 9
at 1 A renew ttl 9 reply lost from s1 s2
at 2 A acquire ttl 9
at 3 A check reply lost from s3
at 4 A release reply lost from s1
`), Options{}))
	for _, want := range []string{
		"lost only on 1 of 3 servers, as far as it hears (3 did",
		"yes A has 2 of 3 servers, as far as it hears (it has 3)",
		"released on 2 of 3 servers, as far as it hears (3 did it)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestLinesSayWhatTheirWriterWrote(t *testing.T) {
	got := narrowed(transcript(t, studied(t, `
at 0  A acquire ttl 20 reply lost from s1 s2
at 1  A read reply +2
at 3  A check arrives 5 at s4 s5
at 7  A append "a" if checked guard version arrives +1
at 9  A renew ttl 5 arrives never at s1
at 10 B acquire ttl 5 retry every 2 until 14
at 12 A release reply 13
`), Options{}))
	for _, want := range []string{
		"0 A acquire ttl 20 reply lost granted", "leases [0, 20) from s1 s2",
		`3 A read reply +2 "" version 0; sent at 1`,
		"3 A check arrives 5 at s4 s5 yes",
		`7 A append "a" if checked guard sent under way, lands at 8 version arrives +1`,
		"9 A renew ttl 5 arrives never renewed on 4 of 5 servers at s1",
		"12 A release reply 13 sent lands at once; the answer is under way",
		"it asks again every 2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// What was sent into a cut never lands, whatever the line says about when it would.
func TestWhatIsCutOffDoesNotLand(t *testing.T) {
	source := `
at 0  A acquire ttl 40
CUT
at 5  A renew ttl 40 arrives +3
at 10 A check arrives +3 reply +9
at 30 A release arrives +3
`
	for cut, wants := range map[string][]string{
		"":                                     {"5 A renew ttl 40 arrives +3 sent under way, lands at 8", "10 A check arrives +3 reply +9 sent under way, lands at 13", "30 A release arrives +3 sent under way, lands at 33"},
		"at 4 cut A from s1..s5":               {"5 A renew ttl 40 arrives +3 unheard no answer comes", "10 A check arrives +3 reply +9 unheard no answer comes", "30 A release arrives +3 unheard no answer comes"},
		"at 4 cut A from s1..s5\nat 20 heal A": {"5 A renew ttl 40 arrives +3 unheard", "30 A release arrives +3 sent under way, lands at 33"},
	} {
		got := narrowed(transcript(t, studied(t, strings.Replace(source, "CUT", cut, 1)), Options{}))
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", cut, want, got)
			}
		}
	}
	part := narrowed(transcript(t, studied(t, strings.Replace(strings.Replace(source, "CUT", "at 4 cut A from s1 s2", 1), "renew ttl 40 arrives +3", "renew ttl 40 arrives +3 at s1 s2 arrives +2 at s3..s5", 1)), Options{}))
	if !strings.Contains(part, "5 A renew ttl 40 arrives +3 sent under way, lands at 7 at s1 s2 arrives +2") {
		t.Errorf("two servers of five are cut off:\n%s", part)
	}
}

func TestDescriptionKeepsIndentedLines(t *testing.T) {
	got := transcript(t, studied(t, "# One.\n#\n# Two lines\n# of text:\n#\n#     a > b,\n#       and c\n#\n# Three.\nat 0 A acquire ttl 1\n"), Options{})
	if want := "  One.\n  Two lines of text:\n      a > b,\n        and c\n  Three.\n"; !strings.Contains(got, want) {
		t.Errorf("no\n%s in\n%s", want, got)
	}
}

func TestWaitsOfASweep(t *testing.T) {
	got := narrowed(text(t, func(w io.Writer) error {
		return SweepText(w, studied(t, `
let length = 3
at 0 A acquire ttl length
at 1 B acquire ttl 1 on s1..s3
at 2 C acquire ttl 1 retry every 1 until 5
at 9 D acquire ttl 1 on s1 s2 retry every 1
sweep "waits" over length in 1, 3, 300 {
  expect at 0 A granted
}
`), Options{})
	}))
	for _, want := range []string{`3 "" 1 1 1 denied 1 for ever`, `300 "" . 1 1 denied never for ever`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A sweep of more cells than are kept is shown by its slices, and claims that fit on a line stand on one.
func TestLargeSweepShowsSlices(t *testing.T) {
	got := text(t, func(w io.Writer) error {
		return SweepText(w, studied(t, `
let stall = 1
let gap = 1
at 0         A acquire ttl 10
at 1         A read
at 1 + stall A append "A"
at 12 + gap  B acquire ttl 10
at 13 + gap  B append "B"
sweep "large" over stall in 1..2000 by gap in 0..5 {
  expect stale-write iff stall > 12 + gap and stall + 1 > 13 + gap and 1 == 1 and 2 == 2
}
`), Options{})
	})
	for _, want := range []string{
		"Too many cells to show one by one; --format csv lists them. By slices:",
		"and 1900 more slices; take fewer values to see them",
		"  ok  expect stale-write iff stall > 12 + gap and stall + 1 > 13 + gap and 1 == 1 and 2 == 2\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, want := range []string{"stall 13 6 6 1 6 6", "gap 5 2000 2000 1983 2000 1992"} {
		if !strings.Contains(narrowed(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A map that is too wide for all of its headings keeps some of them, each above the right end of its column.
func TestWideMapDropsHeadings(t *testing.T) {
	got := text(t, func(w io.Writer) error {
		return SweepText(w, studied(t, `
let stall = 1
let x = 1
at 0         A acquire ttl 10
at 1 + stall A append "A"
sweep "wide" over x in 1, 2 by stall in 1995..2100 {
  expect unlocked-write
  expect at 0 A granted iff x > 0 and x + stall > 0
}
`), Options{})
	})
	if want := "  x  stall\n  1995  1998  2001  2004"; !strings.Contains(got, want) {
		t.Errorf("no\n%s in\n%s", want, got)
	}
	for _, line := range strings.Split(got, "\n") {
		if width(line) > DefaultWidth {
			t.Errorf("%d columns: %s", width(line), line)
		}
	}
}

// A line says no more than its client, or a server, could know.
func TestLinesClaimNoMoreThanIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ source, want, not string }{
		"a renewal of servers that are down": {`
servers 3
at 0 A acquire ttl 10
at 2 s1..s2 crash
at 3 A renew ttl 10
`, "only on 1 of 3 servers; no answer from s1 s2", "still had"},
		"a release while it is cut off": {`
servers 3
at 0 A acquire ttl 10
at 2 cut A from s1..s3
at 3 A release
`, "", "were over"},
		"a check that one server hears": {`
servers 3
at 0 A acquire ttl 10
at 2 cut A from s1..s2
at 3 A check
`, "A hears of 1 of 3 servers; no answer from s1 s2", "A has 1"},
		"a check that no server hears in time": {`
servers 3
at 0 A acquire ttl 10
at 2 s1..s3 crash
at 3 A check
`, "", "has no server"},
		"a server that comes up as the question lands": {`
servers 3
at 0 A acquire ttl 10
at 2 s1 s2 crash
at 5 s1 s2 restart
at 3 A renew ttl 10 arrives +2
`, "", "still had"},
		"a renewal of leases that are over": {`
servers 3
at 0 A acquire ttl 10
at 12 A renew ttl 10
`, "no server has a lease of it", "no answer"},
		"votes under way": {`
at 0 A acquire ttl 100 reply +50 from s4 s5
`, "token 1, 3 of 5 votes", "5 of 5 votes"},
		"a caller's clock that is ahead": {`
judge caller
at 0 B clock +9
at 1 B acquire ttl 10
`, "leases for 10 from the send, by its own clock", "leases to 11"},
		"a lease that others count by their own ttl": {`
servers 3
judge caller-ttl
at 0 A acquire ttl 10
`, "leases [0, 10); others count their own ttl", ""},
		"leases that are the same for all who ask": {`
judge server
at 0 A acquire ttl 10
`, "leases [0, 10)", "others count"},
		"a lease without end that others end": {`
judge caller-ttl
at 0 A acquire ttl none
at 9 B acquire ttl 5
`, "its leases have no end; others count their own ttl", ""},
		"an ordinary mutex, whatever is asked": {`
judge caller-ttl
leases off
at 0 A acquire ttl 10
`, "its leases have no end", "others count"},
		"a lease that has run out and refuses by the asker's ttl": {`
servers 3
judge caller-ttl
at 0 A acquire ttl 10
at 5 B acquire ttl 20
at 15 C acquire ttl 20
at 16 A acquire ttl 20
`, "denied by C's ttl A still has s1..s3", "by B's ttl"},
		"one's own lease that has run out": {`
servers 3
judge caller-ttl
at 0 A acquire ttl 10
at 16 A acquire ttl 20
`, "denied by A's ttl A still has s1..s3", "it has s1"},
		"polls before and after a lease runs out": {`
servers 1
judge caller
at 0 B clock -8
at 0 A acquire ttl 10
at 2 B acquire ttl 10 retry every 1
`, "2..9 B acquire ttl 10 waiting A has s1; it asks again every 1 10 s1 lease of A runs out A is not told and still believes that it holds the lock 10..17 B acquire ttl 10 waiting by B's clock A still has s1;", ""},
		"a server's clock that stands still": {`
servers 1
at 0 s1 clock stop
at 1 B acquire ttl 10
`, "leases for 10 by the servers' clocks", "leases [1, 11)"},
		"a lock let go by one that shares the owner id": {`
reentrant on
at 0 A acquire ttl 20 as "job"
at 1 B acquire ttl 20 as "job"
at 2 B release arrives +1
at 4 A write "late"
`, "B, which shares its owner id, released the lock at 3", "it had released"},
		"let go by one that shares the owner id, then taken": {`
servers 1
at 0 A acquire ttl 20 as "job"
at 1 B acquire ttl 20 as "job"
at 2 B release
at 3 C acquire ttl 20
`, "at 2 B, which shares the owner id of A's lease, released it", ""},
		"servers that come up together": {`
at 0 A acquire ttl 20
at 2 s1 s2 crash
at 3 s1 s2 restart empty
`, "without their leases", "without its lease"},
		"its own release": {`
at 0 A acquire ttl 20
at 2 A release
at 4 A write "late"
`, "it had released the lock at 2", "shares"},
	} {
		got := narrowed(transcript(t, studied(t, c.source), Options{}))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, got)
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q in\n%s", name, c.not, got)
		}
	}
}
