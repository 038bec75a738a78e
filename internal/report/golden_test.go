package report

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

var update = flag.Bool("update", false, "write the expected texts anew")

// faultyWorld has one of everything that can go wrong in it.
func faultyWorld() *world {
	w := newWorld("A", "B", "worker")
	w.p.ServerIDs = []int32{2, 0, 1, 3, 4, 0}
	server := func(s *engine.Step) { s.Client, s.Servers = engine.None, engine.Span{Lo: 0, Hi: 1} }
	w.acquire(0, "A", 8, 0)
	w.at(1, "", engine.ServerCrash, server).at(2, "", engine.ServerClock, func(s *engine.Step) { server(s); s.ClockBy = 20 })
	w.acquire(2, "B", 10, 2)
	w.at(3, "A", engine.Check, nil)
	w.at(4, "", engine.ServerRestart, func(s *engine.Step) { server(s); s.Restart = engine.RestartEmpty })
	w.p.Messages = []engine.Message{{Plus: true, At: 7}, {Reply: true, Lost: true}}
	w.at(5, "A", engine.Append, func(s *engine.Step) { s.Text, s.Messages = w.text("A"), engine.Span{Lo: 0, Hi: 1} })
	w.at(6, "A", engine.Renew, func(s *engine.Step) { s.TTL = 3 })
	w.at(7, "worker", engine.Cut, func(s *engine.Step) { s.Servers, s.Resource = engine.Span{Lo: 1, Hi: 5}, true })
	w.acquire(7, "worker", 5, 0)
	w.at(9, "B", engine.Read, nil).appends(10, "B", "B")
	w.at(11, "worker", engine.Heal, nil)
	w.at(12, "B", engine.Append, func(s *engine.Step) { s.Text, s.If = w.text("b"), engine.CondChecked })
	w.at(13, "B", engine.Release, func(s *engine.Step) { s.Messages = engine.Span{Lo: 1, Hi: 2} })
	w.at(14, "", engine.ResourceForget, func(s *engine.Step) { s.Client = engine.None })
	return w.at(15, "A", engine.Notice, nil).at(16, "A", engine.Crash, nil)
}

// TestTexts compares whole texts with files that a person has read.
func TestTexts(t *testing.T) {
	pause := pauseFile()
	staircase := sweepOf([]string{"lease", "stall"}, 12, func(at []int64) map[audit.Law]int64 {
		switch {
		case at[1] > at[0]:
			return map[audit.Law]int64{audit.StaleWrite: 1, audit.LostUpdate: 1, audit.DoubleBelief: 1}
		case at[1] == at[0]:
			return map[audit.Law]int64{audit.LostUpdate: 1, audit.DoubleBelief: 1}
		}
		return nil
	})
	staircase.Claims = []study.Claim{
		{Expect: &dsl.Expect{Source: "expect no lost-update", Span: dsl.Span{Start: dsl.Pos{Line: 4}}}, Got: "lost-update 1", Broken: 78,
			Cells: []study.Failure{{At: staircase.Kept[0].At, Got: "lost-update 1"}}, Replay: "dlock run a.dlk --run s --set lease=0 --set stall=0"},
		{Expect: &dsl.Expect{Source: "expect no overlap"}, OK: true, Vacuous: "no two clients ever asked one server"},
	}
	row := sweepOf([]string{"servers"}, 4, func(at []int64) map[audit.Law]int64 {
		return map[audit.Law]int64{audit.StaleWrite: at[0] % 2}
	})
	cube := sweepOf([]string{"a", "b", "c"}, 2, func(at []int64) map[audit.Law]int64 {
		return map[audit.Law]int64{audit.Overlap: at[0] * at[2]}
	})
	runs := []*study.Run{pauseRun("", engine.FencingOff), pauseRun("", engine.FencingOn)}
	labels := []string{"fencing=off", "fencing=on"}
	for name, write := range map[string]func(w io.Writer) error{
		"pause.txt":         func(w io.Writer) error { return Transcript(w, pause, Options{}) },
		"pause.colour.txt":  func(w io.Writer) error { return Transcript(w, pause, Options{Palette: NewPalette(true)}) },
		"pause.quiet.txt":   func(w io.Writer) error { return Transcript(w, pause, Options{Quiet: true}) },
		"pause.md":          func(w io.Writer) error { return Markdown(w, pause, Options{}) },
		"faults.txt":        func(w io.Writer) error { return Transcript(w, fileOf(faultyWorld().run("")), Options{}) },
		"sweeps.txt":        func(w io.Writer) error { return SweepText(w, sweepFile(row, staircase, cube), Options{}) },
		"sweeps.md":         func(w io.Writer) error { return SweepMarkdown(w, sweepFile(row, staircase, cube), Options{}) },
		"sweeps.csv":        func(w io.Writer) error { return SweepCSV(w, []*study.File{sweepFile(row, cube)}) },
		"compare.txt":       func(w io.Writer) error { return Compare(w, runs, labels, Options{}) },
		"compare.small.txt": func(w io.Writer) error { return Compare(w, runs, labels, Options{Width: 60}) },
		"compare.md":        func(w io.Writer) error { return CompareMarkdown(w, runs, labels, Options{}) },
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
