package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/randprog"
	"dlock/internal/study"
	"dlock/internal/why"
)

// explained gives the answers about the broken laws of a file's runs.
func explained(t *testing.T, f *study.File) []Explained {
	t.Helper()
	var runs []Explained
	for _, it := range f.Items {
		answers, err := why.Explain(t.Context(), it.Run, nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, Explained{Run: it.Run, Answers: answers})
	}
	return runs
}

// whyOf gives what is told of the broken laws of a script's runs, its lines joined.
func whyOf(t *testing.T, source string) string {
	t.Helper()
	f := studied(t, source)
	runs := explained(t, f)
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

// TestWhyJSON: a link is an entry of a list that the JSON of the run has, and what a rerun sets gives the same rerun.
func TestWhyJSON(t *testing.T) {
	kinds, sets := map[string]bool{}, map[string]bool{}
	for name, source := range map[string]string{
		"a pause": "scenario \"two of them\"\n" + strings.ReplaceAll(twoNames, "ttl 5", "ttl 5 retry every 1"),
		"another client's release": `
owner-check off
at 0 A acquire ttl 20
at 1 A read
at 2 B acquire ttl 20 retry every 1
at 5 C release
at 7 B append "B"
at 9 A append "A"
`,
		"a late answer": `
servers 3
fencing on
validity 2
at 0 A acquire ttl 5 reply +4
at 5 B acquire ttl 400 on s1..s3
at 6 A append "A"
at 7 C acquire ttl 5 retry every 5
`,
	} {
		f := studied(t, source)
		write := func(w io.Writer) error { return WhyJSON(w, f.Script, explained(t, f)) }
		doc := text(t, write)
		file := decode[struct {
			Dlock          int
			Scenario, File string
			Runs           []struct {
				Kind, Verdict string
				Counts        map[string]int64
				Answers       []struct {
					Law     string
					Count   int64
					Finding jsonFinding
					Chain   []jsonLink
					Reruns  []struct {
						Change, Final, Says string
						Set                 map[string]any
						Line                int32
						Count               int64
						Gone, New           []string
					}
				}
			}
		}](t, doc)
		if file.Dlock != 1 || file.Scenario != f.Script.Title || file.File != "x.dlk" || len(file.Runs) != 1 || file.Runs[0].Kind != "why" {
			t.Fatalf("%s: %+v", name, file)
		}
		r, of := f.Items[0].Run, file.Runs[0]
		broken := 0
		for _, l := range laws() {
			if r.Audit.Counts[l] > 0 {
				broken++
			}
		}
		if len(of.Answers) != broken || broken == 0 {
			t.Errorf("%s: %d answers about %d laws", name, len(of.Answers), broken)
		}
		lists := map[string]int{"events": len(r.Record.Events), "leases": len(r.Record.Leases), "holders": len(r.Audit.Holders)}
		for _, a := range of.Answers {
			if a.Count != of.Counts[a.Law] || a.Finding.Law != a.Law || len(a.Reruns) == 0 {
				t.Errorf("%s: %s: %+v", name, a.Law, a)
			}
			for _, l := range a.Chain {
				kinds[l.Of] = true
				if int(l.Index) >= lists[l.Of] || l.Actor == "" || l.Says == "" {
					t.Errorf("%s: %s: link %+v", name, a.Law, l)
				}
			}
			for _, again := range a.Reruns {
				if again.Change == "" || again.Says == "" || again.Gone == nil || again.New == nil {
					t.Errorf("%s: %s: rerun %+v", name, a.Law, again)
				}
				if len(again.Set) == 0 {
					continue
				}
				var over []compile.Override
				for key, v := range again.Set {
					sets[key] = true
					over = append(over, compile.Override{Name: key, Value: fmt.Sprint(v)})
				}
				st, ds := study.New(f.Script, over)
				if st == nil {
					t.Fatalf("%s: %v: %v", name, over, ds)
				}
				got, err := st.Do(t.Context(), study.Options{})
				if err != nil {
					t.Fatal(err)
				}
				counts := got.Items[0].Run.Audit.Counts
				for _, l := range laws() {
					if n := counts[l]; l.String() == a.Law && n != again.Count || slices.Contains(again.New, l.String()) && n == 0 ||
						slices.Contains(again.Gone, l.String()) && n > 0 {
						t.Errorf("%s: %s with %v: %s is broken %d times, not %+v", name, a.Law, over, l, n, again)
					}
				}
				if final := got.Items[0].Run.Record; final.Value(final.Final) != again.Final {
					t.Errorf("%s: %s with %v: %q is left", name, a.Law, over, again.Final)
				}
			}
		}
	}
	for _, k := range []string{"events", "leases", "holders"} {
		if !kinds[k] {
			t.Errorf("no link is one of %s", k)
		}
	}
	for _, k := range dsl.SettingNames() {
		if !sets[k] && k != "initial" && k != "horizon" {
			t.Errorf("no rerun sets %s", k)
		}
	}
}

// A run in which nothing is broken, and one that a limit stopped, have no answers.
func TestWhyJSONWithoutAnswers(t *testing.T) {
	f := studied(t, "at 0 A acquire ttl 5\n")
	stopped := *f.Items[0].Run
	rec := *stopped.Record
	rec.Limit = engine.LimitEvents
	stopped.Record = &rec
	got := text(t, func(w io.Writer) error {
		return WhyJSON(w, f.Script, []Explained{{Run: f.Items[0].Run}, {Run: &stopped}})
	})
	if strings.Count(got, `"answers": []`) != 2 || strings.Count(got, `"limit": "pieces of work"`) != 1 {
		t.Error(got)
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
