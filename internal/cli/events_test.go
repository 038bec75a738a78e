package cli

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dlock/dsl"
	"dlock/internal/golden"
	"dlock/internal/study"
)

const eventful = `scenario "much happens"
let lease = 10
at 0  A acquire ttl lease watchdog every 2
at 1  A read
at 2  s1 s2 s5 crash
at 3  A check
at 4  s1 s2 s5 restart wiped
at 5  cut A from s1..s3
at 6  A append "x" arrives +3 reply lost
at 8  heal A
at 9  B acquire ttl 10 retry every 1 until 14 {
  +1  renew ttl 10
  +2  write "y"
  +3  release
}
at 9  C acquire ttl 5
at 10 A watchdog stop
at 11 A pause for 3
at 15 s1..s3 clock +5
at 16 C notice
at 17 resource forget
at 18 s1..s5 revoke
at 19 A crash
at 20 B write "z" guard lock

run "one of a name that is longer than the sixty columns that the head of a run has for it" {
}
run "two" {
  fencing on
}
`

// TestEveryEventLineIsReadBack holds golden's reading of transcripts to the report's writing of them: whichever event
// line changes, the difference is about the typed event behind it.
func TestEveryEventLineIsReadBack(t *testing.T) {
	script, ds := dsl.Parse("eventful.dlk", []byte(eventful))
	st, ds := prepare(script, ds)
	if st == nil {
		t.Fatal(ds)
	}
	now, _, err := render(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	event := regexp.MustCompile(`^ +(\d+)(?:\.\.\d+)?  (A|B|C|s\d|resource)`)
	lines := strings.Split(string(now.Text), "\n")
	found, run := 0, ""
	inStory := false
	for i, l := range lines {
		if _, name, ok := strings.Cut(l, `run "`); ok {
			run, _, _ = strings.Cut(name, `"`)
			inStory = true
		}
		m := event.FindStringSubmatch(l)
		inStory = inStory && l != ""
		if m == nil || !inStory || strings.Contains(l, "lease of ") {
			continue
		}
		found++
		old := append([]string(nil), lines...)
		old[i] += " 12345"
		d := transcripts().Compare([]byte(strings.Join(old, "\n")), now)
		switch {
		case d == nil || d.Kind != golden.Value || d.Event == nil:
			t.Errorf("line %d is not traced back: %+v\n%s", i+1, d, l)
		case strconv.FormatInt(d.Event.Tick, 10) != m[1] || d.Event.Line == 0 || !strings.HasPrefix(d.Event.Run, strings.TrimSuffix(run, "…")) || d.Event.World() == "":
			t.Errorf("line %d, run %q, is traced back to %+v\n%s", i+1, run, *d.Event, l)
		}
	}
	if found < 50 {
		t.Errorf("only %d event lines found in\n%s", found, now.Text)
	}
}

func TestWorldBeforeAnEvent(t *testing.T) {
	script, ds := dsl.Parse("w.dlk", []byte("at 0 A acquire ttl 5\nat 1 A append \"x\"\nat 1 A release\nat 7 B read\n"))
	st, ds := prepare(script, ds)
	if st == nil {
		t.Fatal(ds)
	}
	file, err := st.Do(context.Background(), study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`nobody has a lease; the resource holds "", version 0`,
		`A has leases on 5 of 5 servers; A believes that it holds the lock; the resource holds "", version 0`,
		`A has leases on 5 of 5 servers; A believes that it holds the lock; the resource holds "x", version 1`,
		`nobody has a lease; the resource holds "x", version 1`,
	}
	got := events(file)
	if len(got) != len(want) {
		t.Fatalf("%d events", len(got))
	}
	for i := range got {
		if w := got[i].World(); w != want[i] {
			t.Errorf("before event %d: %s, want %s", i, w, want[i])
		}
	}
}
