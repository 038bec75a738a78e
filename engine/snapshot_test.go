package engine_test

import (
	"bytes"
	"testing"

	"dlock/engine"
	"dlock/internal/randprog"
)

// A machine that is restored from its own snapshot before every piece of work comes to the same end as one that runs
// through, and its next snapshot is the one that it was restored from.
func TestRestoredMachineComesToTheSameEnd(t *testing.T) {
	m, rec := engine.NewMachine(), &engine.Record{}
	for seed := range uint64(3000) {
		p := randprog.New(seed, randprog.All)
		want := engine.Run(p)
		m.Begin(p, rec)
		writes, accepted := 0, 0
		slots := [][]int32{}
		for {
			f := m.Look()
			if f.Kind == engine.ForkDone {
				break
			}
			snap := m.Snapshot(nil, f.Tick, true)
			slots = append(slots, m.Slots(nil))
			if rest := m.Restore(snap, f.Tick, true); len(rest) != 0 {
				t.Fatalf("seed %d: %d bytes of a snapshot are left over", seed, len(rest))
			}
			f = m.Look()
			if again := m.Snapshot(nil, f.Tick, true); !bytes.Equal(snap, again) {
				t.Fatalf("seed %d, tick %d: the snapshot of a restored machine differs\n%x\n%x", seed, f.Tick, snap, again)
			}
			before := len(rec.Events)
			m.Take(f, 0)
			for _, e := range rec.Events[before:] {
				switch e.Outcome {
				case engine.Accepted:
					accepted++
					writes++
				case engine.Rejected:
					writes++
				}
			}
		}
		final := m.Final()
		for i := len(slots) - 1; i >= 0; i-- {
			final = m.Rebase(final, slots[i], nil)
		}
		wantWrites, wantAccepted := 0, 0
		for i := range want.Writes {
			if w := &want.Writes[i]; w.Applied != engine.Never() {
				wantWrites++
				if w.Accepted {
					wantAccepted++
				}
			}
		}
		if got := rec.Value(final); got != want.Value(want.Final) || writes != wantWrites || accepted != wantAccepted {
			t.Fatalf("seed %d: ends in %q with %d of %d writes accepted, want %q with %d of %d", seed, got, accepted, writes,
				want.Value(want.Final), wantAccepted, wantWrites)
		}
	}
}
