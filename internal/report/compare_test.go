package report

import (
	"strings"
	"testing"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/internal/study"
)

// comparedUnder compares a schedule under configurations of one setting each.
func comparedUnder(t *testing.T, source string, over ...compile.Override) string {
	t.Helper()
	var runs []*study.Run
	var labels []string
	for _, o := range over {
		script, ds := dsl.Parse("x.dlk", []byte(source))
		if script == nil || ds.HasErrors() {
			t.Fatal(ds)
		}
		st, ds := study.New(script, []compile.Override{o})
		if st == nil {
			t.Fatal(ds)
		}
		f, err := st.Do(t.Context(), study.Options{})
		if err != nil {
			t.Fatal(err)
		}
		runs, labels = append(runs, f.Items[0].Run), append(labels, o.Name+"="+o.Value)
	}
	var b strings.Builder
	if err := Compare(&b, runs, labels, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Where the lock's history is not the same, something differs, even if no line of what happens does.
func TestCompareNamesWhatNoLineTells(t *testing.T) {
	const source = `servers 3
horizon 60
at 0 A acquire ttl none on s1 s2
at 1 B acquire ttl 5 retry every 3
`
	got := comparedUnder(t, source, compile.Override{Name: "tokens", Value: "counters"}, compile.Override{Name: "tokens", Value: "ordered"})
	flat := narrowed(got)
	for _, want := range []string{"The lock's own history is not the same", "No line of what happens, but the lock's own history (10 leases more than stand here):",
		"1 B lease token 1, [1, 1) on s3 token 0, [1, 1) on s3"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	same := comparedUnder(t, source, compile.Override{Name: "leases", Value: "on"}, compile.Override{Name: "leases", Value: "on"})
	if !strings.Contains(same, "Nothing: the runs are the same, line by line.") {
		t.Errorf("got\n%s", same)
	}
}
