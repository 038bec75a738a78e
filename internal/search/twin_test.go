package search

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/randprog"
)

// family makes a small random family: a random program, some of whose single lines wait for a hole, and half of the time
// open ties. Acquires take no time, as the search wants it.
func family(seed uint64) *engine.Program {
	rng := rand.New(rand.NewPCG(seed, 77))
	p := randprog.New(seed, []randprog.Features{randprog.Basic, randprog.All}[rng.IntN(2)])
	var free []int32
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Repeat != engine.Every {
			free = append(free, int32(i))
		}
	}
	for range 1 + rng.IntN(3) {
		p.Holes = append(p.Holes, engine.Hole{N: int32(1 + rng.IntN(4)), By: engine.Tick(1 + rng.IntN(3))})
		for range 1 + rng.IntN(2) {
			p.Steps[free[rng.IntN(len(free))]].Hole = int32(len(p.Holes))
		}
	}
	p.Ties = rng.IntN(2) == 0
	return p
}

// closed is a family's program with every hole at a value.
func closed(p *engine.Program, holes []int32) *engine.Program {
	q := *p
	q.Holes, q.Steps = nil, slices.Clone(p.Steps)
	for i := range q.Steps {
		if s := &q.Steps[i]; s.Hole != 0 {
			s.At += engine.Tick(holes[s.Hole-1]) * p.Holes[s.Hole-1].By
			s.Hole = 0
		}
	}
	return &q
}

var errEnough = errors.New("enough")

// walked counts a family's classes by walking every member, and finds the smallest cost at which each law is broken; too large
// families give errEnough.
func walked(p *engine.Program, most int) (map[string]int64, [audit.NumLaws]*Cost, error) {
	classes := map[string]int64{}
	var smallest [audit.NumLaws]*Cost
	holes := make([]int32, len(p.Holes))
	n := 0
	for {
		err := Orders(context.Background(), closed(p, holes), func(rec *engine.Record, _ []int32) error {
			if n++; n > most {
				return errEnough
			}
			if rec.Limit != engine.NoLimit {
				return errEnough
			}
			rep := audit.Judge(rec)
			var broken Laws
			for l := range audit.NumLaws {
				if rep.Counts[l] == 0 {
					continue
				}
				broken |= 1 << l
				c := Cost{Harm: engine.Forever, Events: int32(len(rec.Events))}
				if l.Kind() == audit.Liveness {
					c.Harm = p.Settings.Horizon
				}
				for _, h := range holes {
					c.Away += min(h, 1)
				}
				for i := range rep.Findings {
					if f := &rep.Findings[i]; f.Law == l && l.Kind() != audit.Liveness {
						c.Harm = min(c.Harm, f.T)
					}
				}
				if smallest[l] == nil || c.Compare(*smallest[l]) < 0 {
					smallest[l] = &c
				}
			}
			classes[fmt.Sprintf("%011b %q", broken, rec.Value(rec.Final))]++
			return nil
		})
		if err != nil {
			return nil, smallest, err
		}
		i := 0
		for ; i < len(holes); i++ {
			if holes[i]++; holes[i] < p.Holes[i].N {
				break
			}
			holes[i] = 0
		}
		if i == len(holes) {
			return classes, smallest, nil
		}
	}
}

// seeds gives the first n, and some that once were answered wrongly.
func seeds(n int, wrong ...uint64) []uint64 {
	for i := range uint64(n) {
		wrong = append(wrong, i)
	}
	return wrong
}

func TestSearchAgreesWithWalking(t *testing.T) {
	families, skipped := 2500, 0
	if testing.Short() {
		families = 300
	}
	var seen [audit.NumLaws]int
	for _, seed := range seeds(families, 3419, 6856) {
		p := family(seed)
		want, smallest, err := walked(p, 400)
		if errors.Is(err, errEnough) {
			skipped++
			continue
		}
		s, err := New(p, 0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, err := s.Run(context.Background())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := map[string]int64{}
		for _, c := range r.Classes {
			got[fmt.Sprintf("%011b %q", c.Broken, c.Final)] += c.Members.Int64()
			for l := range audit.NumLaws {
				if c.Broken.Has(l) {
					seen[l]++
				}
			}
		}
		if fmt.Sprint(sorted(got)) != fmt.Sprint(sorted(want)) {
			t.Fatalf("seed %d: the search counts\n%v\nwalking counts\n%v", seed, sorted(got), sorted(want))
		}
		for _, c := range r.Classes {
			checkMember(t, seed, p, c, func() (Member, error) { return s.Class(c) })
		}
		for l := range audit.NumLaws {
			if (smallest[l] != nil) != r.Broken.Has(l) || smallest[l] != nil && *smallest[l] != r.Smallest[l] {
				t.Fatalf("seed %d: %v is broken at %v; walking says %v", seed, l, r.Smallest[l], smallest[l])
			}
			if r.Broken.Has(l) {
				m, err := s.Smallest(l)
				if err != nil {
					t.Fatalf("seed %d: %v: %v", seed, l, err)
				}
				rec, err := Replay(closed(p, m.Holes), m.Lines)
				if err != nil {
					t.Fatalf("seed %d: %v: %v", seed, l, err)
				}
				if audit.Judge(rec).Counts[l] == 0 {
					t.Fatalf("seed %d: the witness for %v does not break it", seed, l)
				}
			}
		}
	}
	if skipped > families/2 {
		t.Errorf("%d of %d families were too large to walk", skipped, families)
	}
	for l := range audit.NumLaws {
		if seen[l] == 0 {
			t.Errorf("no family breaks %v", l)
		}
	}
}

func sorted(m map[string]int64) []string {
	var out []string
	for k, n := range m {
		out = append(out, fmt.Sprintf("%s: %d", k, n))
	}
	sort.Strings(out)
	return out
}

// checkMember replays a witness and compares what it shows with its class.
func checkMember(t *testing.T, seed uint64, p *engine.Program, c Class, member func() (Member, error)) {
	t.Helper()
	m, err := member()
	if err != nil {
		t.Fatalf("seed %d: class %v: %v", seed, c, err)
	}
	rec, err := Replay(closed(p, m.Holes), m.Lines)
	if err != nil {
		t.Fatalf("seed %d: class %v: %v", seed, c, err)
	}
	rep := audit.Judge(rec)
	for l := range audit.NumLaws {
		if (rep.Counts[l] > 0) != c.Broken.Has(l) {
			t.Fatalf("seed %d: class %v: its witness differs in %v", seed, c, l)
		}
	}
	if rec.Value(rec.Final) != c.Final || c.Members.Cmp(new(big.Int)) <= 0 {
		t.Fatalf("seed %d: class %v: its witness ends in %q", seed, c, rec.Value(rec.Final))
	}
}

// While ties are open it changes no count which client's lines come first in the file.
func TestOrderOfTheFileChangesNoCount(t *testing.T) {
	families, counted, open := 1500, 0, 0
	if testing.Short() {
		families = 300
	}
	for seed := range uint64(families) {
		p := family(seed)
		if !p.Ties {
			continue
		}
		open++
		turned := *p
		turned.Steps = slices.Clone(p.Steps)
		for i := range turned.Steps {
			if s := &turned.Steps[i]; s.Client != engine.None {
				s.Line += 1000 * (int32(len(p.Clients)) - s.Client)
			}
		}
		a, err := counts(p)
		b, err2 := counts(&turned)
		if err != nil || err2 != nil {
			continue
		}
		counted++
		if a != b {
			t.Fatalf("seed %d: the search counts\n%s\nand with later clients' lines first\n%s", seed, a, b)
		}
	}
	if counted < open/2 {
		t.Errorf("of %d families %d were counted", open, counted)
	}
}

func counts(p *engine.Program) (string, error) {
	s, err := New(p, 10_000)
	if err != nil {
		return "", err
	}
	r, err := s.Run(context.Background())
	if err != nil {
		return "", err
	}
	got := map[string]int64{}
	for _, c := range r.Classes {
		got[fmt.Sprintf("%011b %q", c.Broken, c.Final)] += c.Members.Int64()
	}
	return fmt.Sprint(sorted(got)), nil
}
