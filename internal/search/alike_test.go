package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/randprog"
)

// doubles makes a small random family with open ties in which some clients do what the first one does, under their own names.
// In a third of the families something small tells one of them apart after all.
func doubles(seed uint64) *engine.Program {
	rng := rand.New(rand.NewPCG(seed, 78))
	p := randprog.New(seed, []randprog.Features{randprog.Basic, randprog.All &^ randprog.Messages, randprog.All}[rng.IntN(3)])
	p.Ties = true
	p.Settings.Horizon = min(p.Settings.Horizon, 30)
	var first, roots []int32
	twins := int32(1 + rng.IntN(min(2, len(p.Clients)-1)))
	alone := rng.IntN(2) == 0 // without clients of another kind
	for _, r := range p.Roots {
		switch c := p.Steps[r].Client; {
		case c == 0:
			first = append(first, r)
			roots = append(roots, r)
		case c == engine.None || c > twins && !alone:
			roots = append(roots, r)
		}
	}
	if len(first) == 0 {
		return nil
	}
	for range 1 + rng.IntN(2) {
		p.Holes = append(p.Holes, engine.Hole{N: int32(1 + rng.IntN(3)), By: engine.Tick(1 + rng.IntN(2))})
		s := &p.Steps[first[rng.IntN(len(first))]]
		if s.Repeat != engine.Every {
			s.Hole = int32(len(p.Holes))
		}
	}
	d := &doubler{p: p, shared: rng.IntN(3) == 0}
	for c := int32(1); c <= twins; c++ {
		d.client, d.holes = c, map[int32]int32{}
		for _, r := range first {
			p.Steps = append(p.Steps, engine.Step{})
			at := int32(len(p.Steps) - 1)
			d.double(r, at)
			roots = append(roots, at)
		}
	}
	p.Roots = roots
	if rng.IntN(3) == 0 {
		s := &p.Steps[roots[len(roots)-1]]
		switch rng.IntN(4) {
		case 0:
			s.At++
		case 1:
			s.Owner = 0
		case 2:
			s.Text = 0
		case 3:
			s.Line = p.Steps[first[0]].Line
		}
	}
	return p
}

// doubler copies steps for another client.
type doubler struct {
	p      *engine.Program
	client int32
	shared bool // it waits for the same holes
	holes  map[int32]int32
}

func (d *doubler) double(from, to int32) {
	p := d.p
	s := p.Steps[from]
	s.Client, s.Line = d.client, s.Line+1000*d.client
	if s.Owner == 0 {
		s.Owner = d.client
	}
	if (s.Verb == engine.Append || s.Verb == engine.Write) && s.Text == 0 {
		s.Text = d.client
	}
	if h := s.Hole; h != 0 && !d.shared {
		if d.holes[h] == 0 {
			p.Holes = append(p.Holes, p.Holes[h-1])
			d.holes[h] = int32(len(p.Holes))
		}
		s.Hole = d.holes[h]
	}
	blocks := slices.Clone(p.Blocks[s.Blocks.Lo:s.Blocks.Hi])
	s.Blocks = engine.Span{Lo: int32(len(p.Blocks)), Hi: int32(len(p.Blocks) + len(blocks))}
	p.Steps[to] = s
	p.Blocks = append(p.Blocks, blocks...)
	for i, b := range blocks {
		lo := int32(len(p.Steps))
		p.Steps = append(p.Steps, make([]engine.Step, b.Steps.Len())...)
		p.Blocks[int(s.Blocks.Lo)+i].Steps = engine.Span{Lo: lo, Hi: lo + int32(b.Steps.Len())}
		for k := range int32(b.Steps.Len()) {
			d.double(b.Steps.Lo+k, lo+k)
		}
	}
}

// Clients that are alike change no answer: not the counts, not the smallest members, not which of equal members is named. Small
// families are held against walking every member too.
func TestAlikeClientsChangeNoAnswer(t *testing.T) {
	families := 1200
	if testing.Short() {
		families = 150
	}
	fewer, walkedToo, counted := 0, 0, 0
	for _, seed := range seeds(families, 3210) {
		p := doubles(seed)
		if p == nil {
			continue
		}
		r, members, err := answers(p, false)
		r2, members2, err2 := answers(p, true)
		if fmt.Sprint(err) != fmt.Sprint(err2) && !errors.Is(err2, ErrLimit) {
			t.Fatalf("seed %d: %v, and with clients told apart %v", seed, err, err2)
		}
		if err != nil || err2 != nil {
			continue
		}
		counted++
		if r.States < r2.States {
			fewer++
		}
		if r.States > r2.States {
			t.Fatalf("seed %d: %d states, and %d with clients told apart", seed, r.States, r2.States)
		}
		r.States, r.Branches, r.Bytes = r2.States, r2.Branches, r2.Bytes
		if !reflect.DeepEqual(r, r2) {
			t.Fatalf("seed %d:\n%+v\nand with clients told apart\n%+v", seed, r, r2)
		}
		if !reflect.DeepEqual(members, members2) {
			t.Fatalf("seed %d: smallest members\n%v\nand with clients told apart\n%v", seed, members, members2)
		}
		want, _, err := walked(p, 300)
		if err != nil {
			continue
		}
		walkedToo++
		got := map[string]int64{}
		for _, c := range r.Classes {
			got[fmt.Sprintf("%011b %q", c.Broken, c.Final)] += c.Members.Int64()
		}
		if fmt.Sprint(sorted(got)) != fmt.Sprint(sorted(want)) {
			t.Fatalf("seed %d: the search counts\n%v\nwalking counts\n%v", seed, sorted(got), sorted(want))
		}
	}
	if fewer < families/5 || walkedToo < families/10 || counted < families/3 {
		t.Errorf("of %d families %d were counted, %d with fewer states, %d were walked", families, counted, fewer, walkedToo)
	}
}

// answers searches a family and gives the smallest members of its classes and broken laws.
func answers(p *engine.Program, apart bool) (*Result, []Member, error) {
	s, err := New(p, 4_000)
	if err != nil {
		return nil, nil, err
	}
	s.apart = apart
	r, err := s.Run(context.Background())
	if err != nil {
		return nil, nil, err
	}
	var members []Member
	for _, c := range r.Classes {
		m, err := s.Class(c)
		if err != nil {
			return nil, nil, fmt.Errorf("class %v: %w", c, err)
		}
		members = append(members, m)
	}
	for l := range audit.NumLaws {
		if r.Broken.Has(l) {
			m, err := s.Smallest(l)
			if err != nil {
				return nil, nil, fmt.Errorf("%v: %w", l, err)
			}
			members = append(members, m)
		}
	}
	return r, members, nil
}
