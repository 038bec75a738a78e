package promela

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/randprog"
	"dlock/internal/search"
)

// family makes a small random family that a model can be written of: a random program, some of whose lines wait for a hole,
// mostly with open ties. What the model has not is taken out of it or replaced by what it has.
func family(seed uint64) *engine.Program {
	rng := rand.New(rand.NewPCG(seed, 19))
	p := randprog.New(seed, randprog.Guards|randprog.Settings|[]randprog.Features{randprog.Basic, randprog.Faults}[rng.IntN(2)])
	s := &p.Settings
	s.Judge, s.Reentrant, s.Validity, s.LockDelay = engine.JudgeServer, false, false, 0
	var roots, free []int32
	for _, r := range p.Roots {
		if v := p.Steps[r].Verb; v != engine.Cut && v != engine.Heal {
			roots = append(roots, r)
		}
	}
	p.Roots = roots
	for i := range p.Steps {
		st := &p.Steps[i]
		st.Messages = engine.Span{}
		if st.Repeat == engine.Every {
			st.Repeat = engine.Once
		}
		if st.Verb == engine.Acquire {
			st.Owner = st.Client
		}
		free = append(free, int32(i))
	}
	for range 1 + rng.IntN(2) {
		p.Holes = append(p.Holes, engine.Hole{N: int32(1 + rng.IntN(5)), By: engine.Tick(1 + rng.IntN(3))})
		for range 1 + rng.IntN(3) {
			p.Steps[free[rng.IntN(len(free))]].Hole = int32(len(p.Holes))
		}
	}
	p.Ties = rng.IntN(3) > 0
	return p
}

// TestSpinConfirmsRandomFamilies compares the verdicts on random families. Compiling a model takes a second, so they are few,
// and chosen: the search says beforehand which of them show something that those before did not.
func TestSpinConfirmsRandomFamilies(t *testing.T) {
	need(t)
	const (
		families = 24
		often    = 5 // after so many families that break a law, or keep it, another one shows little
		seeds    = 20_000
	)
	var seen [audit.NumLaws][2]int
	done := 0
	for seed := uint64(0); seed < seeds && done < families; seed++ {
		p := family(seed)
		want, ok := quick(t, p)
		if !ok || !fresh(&seen, want, often) {
			continue
		}
		done++
		agree(t, fmt.Sprintf("seed %d", seed), spin(t, single(p)), want)
		if t.Failed() {
			return
		}
	}
	for _, l := range Laws() {
		if seen[l][0] == 0 || seen[l][1] == 0 {
			t.Errorf("%v is kept in %d families and broken in %d: that shows nothing", l, seen[l][0], seen[l][1])
		}
	}
}

// fresh tells whether a verdict has a law in it that was not broken, or kept, so often before, and counts it if so.
func fresh(seen *[audit.NumLaws][2]int, verdict map[audit.Law]bool, often int) bool {
	some := false
	for _, l := range Laws() {
		some = some || seen[l][flag(verdict[l])] < often
	}
	if some {
		for _, l := range Laws() {
			seen[l][flag(verdict[l])]++
		}
	}
	return some
}

// quick is searched for families that the search can answer soon.
func quick(t *testing.T, p *engine.Program) (map[audit.Law]bool, bool) {
	t.Helper()
	s, err := search.New(p, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background())
	if errors.Is(err, search.ErrLimit) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	broken := map[audit.Law]bool{}
	for _, l := range Laws() {
		broken[l] = r.Broken.Has(l)
	}
	return broken, true
}
