package report

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

// keys lists the keys of a JSON object in their order.
func keys(t *testing.T, raw json.RawMessage) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	var out []string
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		name, ok := key.(string)
		if !ok {
			t.Fatalf("%v is no key", key)
		}
		out = append(out, name)
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func decode[T any](t *testing.T, s string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

// TestJSONContract holds the keys that docs name, in their order; keys beyond them may be added.
func TestJSONContract(t *testing.T) {
	f := pauseFile()
	f.Items = append(f.Items, study.Item{Sweep: sweepOf([]string{"lease", "stall"}, 2, noLaw)})
	w := faultyWorld()
	f.Items = append(f.Items, study.Item{Run: w.run("faults")})
	got := text(t, func(w io.Writer) error { return JSON(w, []*study.File{f}) })
	top := decode[struct {
		Dlock int
		Runs  []map[string]json.RawMessage
	}](t, got)
	if top.Dlock != 1 || !slices.Equal(keys(t, json.RawMessage(got)), []string{"dlock", "file", "scenario", "about", "runs"}) {
		t.Errorf("top: %v", keys(t, json.RawMessage(got)))
	}
	ask := func(what string, raw json.RawMessage, want string) {
		t.Helper()
		have := keys(t, raw)
		last := -1
		for _, k := range strings.Fields(want) {
			i := slices.Index(have, k)
			if i < 0 || i < last {
				t.Errorf("%s: %q is missing or out of order in %v", what, k, have)
			}
			last = i
		}
	}
	first := func(raw json.RawMessage) json.RawMessage { return decode[[]json.RawMessage](t, string(raw))[0] }
	run, faults, sweep := top.Runs[0], top.Runs[3], top.Runs[2]
	names := make([]string, 0, audit.NumLaws)
	for _, l := range laws() {
		names = append(names, l.String())
	}
	if got := keys(t, run["counts"]); !slices.Equal(got, names) {
		t.Errorf("counts: %v", got)
	}
	if got := keys(t, run["lets"]); !slices.Equal(got, []string{"lease", "stall", "arrival"}) {
		t.Errorf("lets: %v", got)
	}
	ask("settings", run["settings"], "servers quorum fencing fence-at leases handback tokens validity judge lock-delay reentrant owner-check initial horizon")
	ask("findings", first(run["findings"]), "law t client line token applied says")
	ask("votes", first(faults["votes"]), "sent t heard client server vote token returned line")
	ask("leases", first(run["leases"]), "server client token start end promised ended line")
	ask("holders", first(run["holders"]), "client start end")
	ask("beliefs", first(run["beliefs"]), "client start end ended")
	ask("pauses", first(run["pauses"]), "client start end")
	ask("faults", first(faults["faults"]), "kind who start end")
	ask("reads", first(run["reads"]), "t client value version line")
	ask("writes", first(run["writes"]), "sent t heard client value base token accepted reason line")
	ask("clients", first(run["clients"]), "client granted blocked token")
	ask("events", first(run["events"]), "t actor verb outcome sent heard line says")
	ask("expects", first(run["expects"]), "line text ok vacuous")
	ask("cells", first(sweep["cells"]), "at final counts ok")
	for key, want := range map[string]string{"name": `"unfenced"`, "kind": `"run"`, "final": `"A"`, "horizon": "217", "fault": `"resource"`} {
		if string(run[key]) != want {
			t.Errorf("%s is %s", key, run[key])
		}
	}
	if string(sweep["kind"]) != `"sweep"` {
		t.Errorf("the sweep is a %s", sweep["kind"])
	}
	for _, x := range decode[[]struct {
		Kind string
		Who  string
		End  *int64
	}](t, string(faults["faults"])) {
		if x.Who == "" || x.Who == "nobody" {
			t.Errorf("nobody has the fault %s", x.Kind)
		}
	}
}

func TestJSONOfWhatNeverEnds(t *testing.T) {
	w := newWorld("A")
	w.p.Messages = []engine.Message{{Lost: true}}
	w.acquire(0, "A", engine.Forever, 0)
	w.at(1, "A", engine.Append, func(s *engine.Step) { s.Text, s.Messages = w.text("A"), engine.Span{Lo: 0, Hi: 1} })
	got := text(t, func(out io.Writer) error { return JSON(out, []*study.File{fileOf(w.run(""))}) })
	for _, want := range []string{`"end": null`, `"promised": null`, `"t": null`, `"heard": null`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "9223372036854775807") {
		t.Error("a tick that never comes is written as a number")
	}
}

// TestJSONShapes: one file is an object, any other number an array of them; no list is null.
func TestJSONShapes(t *testing.T) {
	f := &study.File{Script: &dsl.Script{File: "a.dlk"}}
	for n, want := range map[int]string{0: "[]\n", 1: "{\n", 2: "[\n"} {
		files := make([]*study.File, n)
		for i := range files {
			files[i] = f
		}
		got := text(t, func(w io.Writer) error { return JSON(w, files) })
		if !strings.HasPrefix(got, want) || strings.Contains(got, "null") {
			t.Errorf("%d files: %s", n, got)
		}
	}
	empty := newWorld("A").run("")
	got := text(t, func(w io.Writer) error { return JSON(w, []*study.File{fileOf(empty)}) })
	if strings.Count(got, "null") != 1 { // A was never granted anything
		t.Errorf("lists of nothing: %s", got)
	}
	if both := text(t, func(w io.Writer) error { return SweepJSON(w, []*study.File{pauseFile()}) }); !strings.Contains(both, `"runs": []`) {
		t.Errorf("runs among the sweeps: %s", both)
	}
}

func TestJSONKeepsText(t *testing.T) {
	for _, s := range []string{"<b>&", "\x1b[31m", "\u202e\u009b\U000e0041", "日本", "\u2028", "a\nb\tc\"\\"} {
		f := &study.File{Script: &dsl.Script{Title: s}}
		got := text(t, func(w io.Writer) error { return JSON(w, []*study.File{f}) })
		if back := decode[struct{ Scenario string }](t, got).Scenario; back != s {
			t.Errorf("%q comes back as %q", s, back)
		}
		if s == "<b>&" && !strings.Contains(got, s) {
			t.Errorf("%q is escaped: %s", s, got)
		}
	}
}
