package report

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

func memberCounts(counts map[audit.Law]int64) (n [audit.NumLaws]*big.Int) {
	for l := range n {
		n[l] = big.NewInt(counts[audit.Law(l)])
	}
	return n
}

// explored is a family with one of everything that its report can show: more members than a 64-bit number holds, holes of
// each kind, names and values from outside, a border with ties and cells without members, claims of all verdicts.
func explored() *study.Explore {
	choices := []study.Value{{Name: "stall", N: 14}, {Name: "b", N: 12}}
	w := study.Witness{Law: audit.StaleWrite, Choices: choices, Away: 2, Harm: 16, Run: pauseRun("", engine.FencingOff),
		Source: "# \x1b[31mred\nat 0 A acquire ttl 10\n", InPlace: true}
	all, _ := new(big.Int).SetString("170141183460469231731687303715884105728", 10)
	e := &study.Explore{
		Name: "every pause\x1b[2J", Line: 7, Ties: true, Members: all, Clean: big.NewInt(1000), Slices: 40, Done: 40,
		Holes: []study.Hole{
			{Name: "stall", Kind: dsl.NumberHole, Values: []int64{12, 14, 16}, In: -1, Late: true},
			{Name: "b", Kind: dsl.NumberHole, Values: []int64{12, 3, 7}, In: -1},
			{Name: "gone", Kind: dsl.MaybeHole, Values: []int64{0, 1}, In: -1},
			{Name: "line 9", Kind: dsl.ServerHole, Values: []int64{1, 2, 3, 5}, In: 2},
		},
		Settings: w.Run.Settings, Broken: memberCounts(map[audit.Law]int64{audit.StaleWrite: 1234567, audit.DoubleBelief: 999}),
		Classes: []study.Class{
			{Final: "AB", Members: big.NewInt(1000), Witness: &study.Witness{Choices: []study.Value{{Name: "gone"}}}},
			{Final: "A\n|", Broken: 1<<audit.StaleWrite | 1<<audit.DoubleBelief, Members: big.NewInt(1234567), Witness: &w},
			{Final: "B", Broken: 1 << audit.DoubleBelief, Members: big.NewInt(1),
				Witness: &study.Witness{Choices: []study.Value{{Name: "gone", N: 1}, {Name: "line 9", N: 5, Word: "s5"}}}},
		},
		Smallest: []study.Witness{w},
		Claims: []study.Claim{
			{Expect: &dsl.Expect{Source: "expect stale-write in 3", Span: dsl.Span{Start: dsl.Pos{Line: 4}}}, Got: "in 1,234,567 of 2 members",
				Held: big.NewInt(1234567), Cells: []study.Failure{{At: choices}}},
			{Expect: &dsl.Expect{Source: "expect never overlap"}, OK: true, Held: new(big.Int)},
		},
		Border: &study.Border{Axes: []study.Axis{
			{Name: "stall", Values: []study.Value{{Name: "stall", N: 12}, {Name: "stall", N: 14}}},
			{Name: "b", Values: []study.Value{{Name: "b", N: 1}, {Name: "b", N: 2}, {Name: "b", N: 100}}},
		}},
	}
	four, two := big.NewInt(4), big.NewInt(2)
	for i, n := range []*big.Int{nil, two, four, nil, nil, nil} {
		c := study.BorderCell{Members: four}
		if c.Broken[audit.StaleWrite] = n; i == 3 {
			c.Members = new(big.Int)
		}
		if i == 5 {
			c.Broken[audit.DoubleBelief] = four
		}
		e.Border.Cells = append(e.Border.Cells, c)
	}
	return e
}

// exploredLine is a family of one open number that was interrupted.
func exploredLine() *study.Explore {
	e := explored()
	e.Name, e.Ties, e.Holes, e.Walked, e.Stopped, e.Done = "one number", false, e.Holes[:1], true, "interrupted", 3
	e.Members, e.Clean, e.Broken = big.NewInt(1), new(big.Int), memberCounts(map[audit.Law]int64{audit.StaleWrite: 1})
	e.Classes = e.Classes[1:2]
	e.Classes[0].Members = e.Members
	e.Border = &study.Border{Axes: []study.Axis{{Name: "stall"}}}
	one := big.NewInt(1)
	for i := range int64(7) {
		e.Border.Axes[0].Values = append(e.Border.Axes[0].Values, study.Value{Name: "stall", N: i})
		c := study.BorderCell{Members: big.NewInt(2)}
		switch {
		case i > 4:
			c.Broken[audit.StaleWrite], c.Broken[audit.LostUpdate] = big.NewInt(2), one
		case i == 4:
			c.Broken[audit.LostUpdate] = one
		case i == 3:
			c.Members = new(big.Int)
		}
		e.Border.Cells = append(e.Border.Cells, c)
	}
	for i := range e.Claims {
		e.Claims[i].OK, e.Claims[i].Inconclusive = false, true
	}
	return e
}

func exploreFile(all ...*study.Explore) *study.File {
	f := &study.File{Script: &dsl.Script{File: "family.dlk", Title: "families", About: "Every\nmember."}}
	for _, e := range all {
		f.Items = append(f.Items, study.Item{Explore: e})
	}
	return f
}

// TestExploreTexts compares whole texts with files that a person has read.
func TestExploreTexts(t *testing.T) {
	empty := exploredLine()
	empty.Broken = memberCounts(nil)
	empty.Name, empty.Done, empty.Members, empty.Classes, empty.Smallest = "nothing yet", 0, new(big.Int), nil, nil
	f := exploreFile(explored(), exploredLine(), empty)
	passed := exploreFile()
	passed.Items = append(passed.Items, study.Item{Passed: &study.Passed{Name: "open", Open: explored().Holes}})
	for name, write := range map[string]func(w io.Writer) error{
		"explore.txt": func(w io.Writer) error { return Explore(w, f, nil, Options{}) },
		"explore.md": func(w io.Writer) error {
			return ExploreMarkdown(w, f, []audit.Law{audit.StaleWrite, audit.Overlap}, Options{})
		},
		"explore.quiet.txt":  func(w io.Writer) error { return Transcript(w, f, Options{Quiet: true}) },
		"explore.passed.txt": func(w io.Writer) error { return Transcript(w, passed, Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			got := text(t, write)
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path) //nolint:gosec // a fixed list of names
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s; got\n%s", path, got)
			}
		})
	}
}

func TestExploreIsSafeAndFits(t *testing.T) {
	got := text(t, func(w io.Writer) error { return Explore(w, exploreFile(explored(), exploredLine()), nil, Options{}) })
	for line := range strings.Lines(got) {
		if width(strings.TrimSuffix(line, "\n")) > DefaultWidth {
			t.Errorf("%d columns: %q", width(line), line)
		}
	}
	if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\n' }) {
		t.Errorf("control characters in\n%q", got)
	}
	first := strings.Index(got, "INCOMPLETE")
	if first < 0 || strings.Index(got[first-40:], "one number") > 40 {
		t.Error("that it is incomplete does not stand first")
	}
}

func TestExploreJSON(t *testing.T) {
	got := text(t, func(w io.Writer) error { return JSON(w, []*study.File{exploreFile(explored())}) })
	var doc struct {
		Runs []struct {
			Kind    string
			Members string
			Broken  map[string]string
			Holes   []struct{ Name, Kind, Values string }
			Classes []struct {
				Final   string
				Broken  []string
				Members string
			}
			Witness map[string]struct {
				Choices map[string]int64
				Source  string
			}
			Border struct {
				Cells []struct {
					At      map[string]int64
					Members string
					Broken  map[string]string
				}
			}
		}
	}
	d := json.NewDecoder(bytes.NewReader([]byte(got)))
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	r := doc.Runs[0]
	if r.Kind != "explore" || r.Members != "170141183460469231731687303715884105728" || r.Broken["stale-write"] != "1234567" ||
		r.Broken["overlap"] != "0" || len(r.Broken) != int(audit.NumLaws) {
		t.Errorf("%+v", r)
	}
	if r.Holes[0].Values != "12..16 step 2" || r.Holes[1].Values != "12, 3, 7" || r.Holes[3].Values != "s1..s3 s5" {
		t.Errorf("holes %+v", r.Holes)
	}
	if c := r.Classes[1]; c.Final != "A\n|" || len(c.Broken) != 2 || c.Members != "1234567" {
		t.Errorf("class %+v", c)
	}
	if w := r.Witness["stale-write"]; w.Choices["stall"] != 14 || !strings.HasPrefix(w.Source, "# \x1b") {
		t.Errorf("witness %+v", w)
	}
	if c := r.Border.Cells[2]; c.At["stall"] != 12 || c.At["b"] != 100 || c.Broken["stale-write"] != "4" {
		t.Errorf("cell %+v", c)
	}
	only := text(t, func(w io.Writer) error {
		return ExploreJSON(w, []*study.File{exploreFile(explored())}, []audit.Law{audit.Overlap})
	})
	if !strings.Contains(only, `"witness": {}`) {
		t.Error("no member breaks overlap, and there is a witness")
	}
}

// The values of a list are no range, and between them lie none that were looked at.
func TestNeighbours(t *testing.T) {
	for want, n := range map[string][]int64{
		"7": {7}, "3..4": {3, 4}, "3, 5": {3, 5}, "3, 5, 9": {3, 5, 9}, "0..10": {0, 5, 10}, "5, 3": {5, 3}, "-2, 7, 1": {-2, 7, 1},
	} {
		var values []study.Value
		for _, v := range n {
			values = append(values, study.Value{Name: "k", N: v})
		}
		if got := neighbours(values); got != want {
			t.Errorf("%v is written as %q, want %q", n, got, want)
		}
	}
}
