package study

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/search"
)

// yardstick is the family of docs/explore.md for two clients.
const yardstick = `# Every pause, arrival and order.
let stall = any 0..30
let b     = any 0..30

at 0 A acquire ttl 10 retry every 1 {
  +1          read
  +2 + stall  append "A"
  +3 + stall  release
}
at b B acquire ttl 10 retry every 1 {
  +1  read
  +2  append "B"
  +3  release
}

explore "every pause, arrival and order" {
  ties any
  expect stale-write in 548
  expect no overlap
  expect sometimes final "AB"
}
`

func exploreText(t *testing.T, text string, o Options) *Explore {
	t.Helper()
	s, ds := dsl.Parse("test.dlk", []byte(text))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	st, ds := New(s, nil)
	if st == nil {
		t.Fatal(ds)
	}
	f, err := st.WithSource([]byte(text)).Do(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range f.Items {
		if it.Explore != nil {
			return it.Explore
		}
	}
	t.Fatal("the file has no explore block")
	return nil
}

func TestExploreYardstick(t *testing.T) {
	e := exploreText(t, yardstick, Options{Jobs: 2})
	if e.Members.String() != "1832" || e.Broken[audit.StaleWrite].String() != "548" || e.Failed() || e.Inconclusive() || e.Walked {
		t.Fatalf("%s members, %s stale, failed %t, inconclusive %t, walked %t", e.Members, e.Broken[audit.StaleWrite], e.Failed(),
			e.Inconclusive(), e.Walked)
	}
	for _, w := range e.Smallest {
		if w.Law == audit.StaleWrite {
			// Six steps: A acquires at 0 and reads at 1, B acquires at 10, reads at 11 and appends at 12, then A appends at 12.
			if w.Harm != 12 || w.Away != 1 {
				t.Errorf("the smallest stale write is at %d, %d choices away; want 12 and 1", w.Harm, w.Away)
			}
			for _, line := range []string{"at 0   A acquire ttl 10", "at 10  B acquire ttl 10", "at 12  A append \"A\""} {
				if !strings.Contains(strings.Join(strings.Fields(w.Source), " "), strings.Join(strings.Fields(line), " ")) {
					t.Errorf("the witness lacks %q:\n%s", line, w.Source)
				}
			}
		}
	}
}

// A write that is under way since 3 lands at 8 behind one that is sent at 8: as a file, its line stands below.
func TestFlatWitnessLandsInOrder(t *testing.T) {
	e := exploreText(t, `servers 3
let d = any 0, 5
at 0 A acquire ttl 5 reply +d from s1 {
  +1  read
  +3  append "A" arrives +d
}
at 2 B acquire ttl 5 retry every 2 until 20 {
  +1  read
  +2  append "B"
}
explore "open" {
  ties any
}
`, Options{Jobs: 1})
	for _, w := range e.Smallest {
		if w.Law != audit.StaleWrite {
			continue
		}
		text := strings.Join(strings.Fields(w.Source), " ")
		if want := `at 6 B acquire ttl 5 at 7 B read at 8 B append "B" at 3 A append "A" arrives +5`; w.InPlace || !strings.Contains(text, want) {
			t.Errorf("the witness is in place (%t) or lacks %s:\n%s", w.InPlace, want, w.Source)
		}
		return
	}
	t.Error("no member breaks stale-write")
}

// A jump of a clock keeps its sign where its hole is filled in.
func TestFilledInJumps(t *testing.T) {
	for _, tc := range [][2]string{
		{"any 4..6", "clock +4"}, {"any -6..4", "clock -6"}, {"+any -6, 4", "clock -6"}, {"+any 4, 6", "clock +4"},
		{"-(any 2..3)", "clock -2"}, {"+(any -2, 3)", "clock +(-2)"},
	} {
		e := exploreText(t, "at 0 A acquire ttl 5\nat 1 A read\nat 2 s1 clock "+tc[0]+"\nat 9 A append \"A\"\nexplore \"x\" {\n}\n", Options{Jobs: 1})
		if len(e.Smallest) != 1 || !e.Smallest[0].InPlace || !strings.Contains(e.Smallest[0].Source, "s1 "+tc[1]+"\n") {
			t.Errorf("clock %s: the witness lacks %q: %+v", tc[0], tc[1], e.Smallest)
		}
	}
}

// Parentheses that held a hole together go where it is filled in; those of a call and of a sign stay.
func TestFilledInParentheses(t *testing.T) {
	for _, tc := range [][2]string{
		{"arrives +(any 0, 3)", "arrives +0"}, {"arrives (any 9, 10)", "arrives 9"}, {"arrives +(1 + any 0..3)", "arrives +(1 + 0)"},
		{"arrives +min(any 2..3)", "arrives +min(2)"}, {"arrives 12 - (any -1..1)", "arrives 12 - (-1)"}, {"arrives +((any 3..4) * 2)", "arrives +(3 * 2)"},
	} {
		e := exploreText(t, "at 0 A acquire ttl 5\nat 9 A append \"A\" "+tc[0]+"\nexplore \"x\" {\n}\n", Options{Jobs: 1})
		if len(e.Smallest) == 0 || !strings.Contains(e.Smallest[0].Source, tc[1]+"\n") {
			t.Errorf("%s: the witness lacks %q: %+v", tc[0], tc[1], e.Smallest)
		}
	}
}

// A claim that needs every member names the first one that speaks against it, however the members were found out.
func TestCounterexampleOfWalkedClaims(t *testing.T) {
	const text = `let stall = any 0..12
at 0 A acquire ttl 8 {
  +1          read
  +2 + stall  append "A"
}
explore "open" {
  expect at 5 A accepted in 1
  expect always at 1 A holds
  expect never at 7 A accepted
  expect sometimes at 50 A accepted
  expect stale-write 0
}
`
	for _, o := range []Options{{Jobs: 1}, {Jobs: 2, Brute: true}} {
		e := exploreText(t, text, o)
		for i, want := range []string{"", "", "stall 5", "", ""} {
			got := ""
			if c := e.Claims[i]; len(c.Cells) == 1 && len(c.Cells[0].At) == 1 {
				got = c.Cells[0].At[0].Name + " " + c.Cells[0].At[0].Text()
			}
			if got != want {
				t.Errorf("%s: against it speaks %q, want %q", e.Claims[i].Expect.Source, got, want)
			}
		}
	}
}

// What is said of all members leaves out the settings that differ: those that are open, and those that follow from them.
func TestSettingsOfAllMembers(t *testing.T) {
	e := exploreText(t, `servers any 1, 3
let d = any 0..2
lock-delay d + 1
fencing on
at 0 A acquire ttl 5
at 1 A append "A"
explore "open" {
}
`, Options{Jobs: 1})
	if len(e.Settings) == 0 {
		t.Fatal("there are no settings")
	}
	for _, v := range e.Settings {
		switch v.Name {
		case "servers", "quorum", "lock-delay":
			t.Errorf("%s differs between the members", v.Name)
		case "fencing":
			if v.Word != "on" {
				t.Errorf("fencing is %s", v.Text())
			}
		}
	}
}

// A family is counted whatever its messages do; only one of more clients than a word has bits is walked.
func TestWhatIsWalked(t *testing.T) {
	many := "let n = any 0..3\n"
	for i := range search.MaxClients + 1 {
		many += fmt.Sprintf("at n C%d read\n", i)
	}
	for text, walked := range map[string]bool{
		"at any 1..3 A acquire ttl 6 reply lost from any s1..s5\n": false,
		many: true,
	} {
		e := exploreText(t, text+"explore \"open\" {\n}\n", Options{Jobs: 1})
		if e.Walked != walked || e.Counted == walked || e.Members.Sign() == 0 {
			t.Errorf("%d members: walked %t, counted %t; want walked %t", e.Members, e.Walked, e.Counted, walked)
		}
	}
}
