package report

import (
	"io"
	"testing"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
)

func BenchmarkPause(b *testing.B) {
	f := pauseFile()
	for b.Loop() {
		if err := Transcript(io.Discard, f, Options{Palette: NewPalette(true)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLongRun has two clients that take turns at every tick, and a third whose writes are all refused.
func BenchmarkLongRun(b *testing.B) {
	w := newWorld("A", "B", "C")
	w.p.Settings.Fencing = engine.FencingOn
	every := func(s *engine.Step) { s.Repeat, s.K, s.Last, s.TTL = engine.Every, 2, 100_000, 1 }
	w.at(0, "A", engine.Acquire, every).at(1, "B", engine.Acquire, every)
	for _, c := range []string{"A", "B", "C"} {
		w.at(2, c, engine.Write, func(s *engine.Step) { every(s); s.Text = w.text("x") })
	}
	f := fileOf(w.run(""))
	for b.Loop() {
		if err := Transcript(io.Discard, f, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSweepJSON(b *testing.B) {
	f := sweepFile(sweepOf([]string{"lease", "stall"}, 100, func(at []int64) map[audit.Law]int64 {
		return map[audit.Law]int64{audit.StaleWrite: at[0] % 2}
	}))
	for b.Loop() {
		if err := SweepJSON(io.Discard, []*study.File{f}); err != nil {
			b.Fatal(err)
		}
	}
}
