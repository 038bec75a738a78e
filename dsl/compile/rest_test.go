package compile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlock/dsl"
)

func TestRestFindsValuesBesideOtherFaults(t *testing.T) {
	const text = `let n = 0
let broken = ,
let needs = broken + 1
let far = 10 / n

at 0   A aquire ttl 5
at 1   A acquire ttl -3
at 2   A renew ttl needs
at -1  B acquire ttl 5
at 3   B pauze for 1
at 20  C pause for 5
at 21  C append "C"
at 22  C read reply 30 ;
servers 2000
lock-delay 9223372036854775807 + 1

run "x" {
  at 5  A release
  at 6 - 9  A read
  quorum nobody
}
`
	s, ds := dsl.Parse("test.dlk", []byte(text))
	if s == nil || !ds.HasErrors() {
		t.Fatal("the text has faults")
	}
	var got []string
	for _, d := range Rest(s, ds) {
		got = append(got, fmt.Sprintf("%d %s", d.Span.Start.Line, d.Code))
	}
	want := "4 D200, 7 D202, 9 D202, 12 D205, 14 D203, 15 D201, 19 D202"
	if strings.Join(got, ", ") != want {
		t.Errorf("found %s, want %s", strings.Join(got, ", "), want)
	}
}

// What a faulty line would have said may change what else is wrong.
func TestRestIsSilentAboutWhatItCannotKnow(t *testing.T) {
	for _, text := range []string{
		"servrs 9\nquorum 7\nat 0 A acquire ttl 3\n",
		"run \"a\" {\nat 3 A pause for 9\n}\n}\nrun \"b\" {\nat 5 A read\n}\n",
		"}\nat 3 A pause for 9\nat 5 A read\n",
		"at 3 A pause for n\nat 5 A read\nlet n 1\n",
	} {
		s, ds := dsl.Parse("test.dlk", []byte(text))
		if !ds.HasErrors() {
			t.Fatalf("%q has no fault", text)
		}
		if more := Rest(s, ds); len(more) > 0 {
			t.Errorf("%q: %s", text, more[0].Summary)
		}
	}
	const text = "servers 3\nquorum 7\nat 0 A aquire ttl 3\n"
	s, ds := dsl.Parse("test.dlk", []byte(text))
	if more := Rest(s, ds); len(more) != 1 || more[0].Code != dsl.CodeQuorumRange {
		t.Errorf("%q: %v", text, more)
	}
}

// Whatever is left of a script, looking at it ends, and says nothing of a line that has an error already.
func TestRestOfBrokenScripts(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/*.dlk")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scenarios", err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			words := strings.SplitAfter(string(text), " ")
			for range 1 + rng.IntN(6) {
				at := rng.IntN(len(words))
				words[at] = []string{"", "- ", "xx ", "{\n", "}\n", "0 / 0 ", "-5 ", "99999999999 ", words[rng.IntN(len(words))]}[rng.IntN(9)]
			}
			s, ds := dsl.Parse(name, []byte(strings.Join(words, "")))
			if s == nil || !ds.HasErrors() {
				continue
			}
			lines := map[int]bool{}
			for _, d := range ds {
				if d.Severity == dsl.Error {
					lines[d.Span.Start.Line] = true
				}
			}
			for _, d := range Rest(s, ds) {
				found++
				if lines[d.Span.Start.Line] {
					t.Fatalf("%s: a second fault in line %d: %s", name, d.Span.Start.Line, d.Summary)
				}
				lines[d.Span.Start.Line] = true
			}
		}
	}
	if found == 0 {
		t.Error("no broken script had a fault of value")
	}
}
