package report

import (
	"io"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/randprog"
	"dlock/internal/study"
	"dlock/internal/why"
)

// whyOf gives what is told of the broken laws of a script's runs, its lines joined.
func whyOf(t *testing.T, source string) string {
	t.Helper()
	f := studied(t, source)
	var runs []Explained
	for _, it := range f.Items {
		answers, err := why.Explain(t.Context(), it.Run, nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, Explained{Run: it.Run, Answers: answers})
	}
	return strings.Join(strings.Fields(text(t, func(w io.Writer) error { return Why(w, f.Script, runs, Options{}) })), " ")
}

const twoNames = `
at 0  a acquire ttl 5
at 6  A acquire ttl 5
at 8  A append "A"
at 12 a append "a"
`

func TestWordsOfWhy(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   []string
		not    []string
	}{
		"clients that differ in a capital": {twoNames,
			[]string{"0 2 a is granted the lock", "6 3 A is granted the lock", `12 5 a's append "a" is accepted`}, []string{"0 2 A is"}},
		"a lower-case name begins a sentence": {strings.ReplaceAll(twoNames, "a ", "pay1 "),
			[]string{"pay1 is granted the lock", "pay1's leases are over"}, []string{"Pay1"}},
		"a restart of one server after another": {`
servers 3
at 0 A acquire ttl 20
at 1 s1 crash
at 2 s2 crash
at 3 s2 restart empty
at 5 A append "A"
`, []string{"1 4 s1 goes down", "2 5 s2 goes down", "3 6 s2 comes up"}, nil},
		"a change that breaks another law and no more": {`
servers 3
at 0  A acquire ttl 20
at 2  s2..s3 crash
at 3  s2..s3 restart empty
at 4  B acquire ttl 400
at 5  A append "a"
at 6  A crash
at 30 C acquire ttl 5 retry every 3
`, []string{"Without any effect on this breach", "leases off (which breaks deadlock besides)"}, []string{"on what happens"}},
		"the release of one that shares the owner id": {`
reentrant on
at 0 A acquire ttl 20 as "job"
at 1 B acquire ttl 20 as "job"
at 2 B release arrives +1 reply +1
at 4 A write "late"
`, []string{"1 4 B is granted the lock", "2 5 B sends release"}, nil},
		"nobody helps the starving": {`
servers 7
at 0 s1..s7 crash
at 2 B acquire ttl 5 retry every 5
`, []string{"No single rule that was tried keeps this schedule from breaking starvation or deadlock"}, []string{"keep starvation"}},
	} {
		got := whyOf(t, c.source)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not said in\n%s", name, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q is said in\n%s", name, not, got)
			}
		}
	}
}

// An event that a rerun lacks is told as one that does not happen.
func TestEventsThatDoNotHappen(t *testing.T) {
	told := 0
	for seed := range uint64(300) {
		rec := engine.Run(randprog.New(seed, randprog.All))
		run := &study.Run{Record: rec, Audit: audit.Judge(rec)}
		answers, err := why.Explain(t.Context(), run, nil)
		if err != nil {
			t.Fatal(err)
		}
		write := func(w io.Writer) error {
			return Why(w, &dsl.Script{File: "x.dlk"}, []Explained{{Run: run, Answers: answers}}, Options{Width: 1000})
		}
		got := narrowed(text(t, write))
		if strings.Contains(got, "come to pass") {
			t.Errorf("seed %d: %s", seed, got)
		}
		told += strings.Count(got, "it does not happen that")
	}
	if told == 0 {
		t.Error("no rerun lacks an event")
	}
}

func TestFullStopIsNotAlone(t *testing.T) {
	for n := 1; n < 40; n++ {
		lines := wrap([]span{{"a law is ", plain}, {"broken now", bad}, {".", plain}}, n)
		for i, line := range lines {
			if s := (cell(line)).width(); s == 1 && line[0].text == "." && n > len("broken.") {
				t.Errorf("in %d columns line %d is a full stop", n, i+1)
			}
		}
	}
}
