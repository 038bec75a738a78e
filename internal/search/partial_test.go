package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"dlock/audit"
	"dlock/engine"
)

// A search that reaches its limit knows something: of no class more members than there are, more of them with a higher limit,
// and members that do what is said of them.
func TestStoppedSearchKnowsWhatItDecided(t *testing.T) {
	families, partial := 150, 0
	for seed := range uint64(families) {
		p := family(seed)
		if seed%2 == 0 {
			p = doubles(seed)
		}
		if p == nil {
			continue
		}
		s, err := New(p, 3_000)
		if err != nil {
			continue
		}
		whole, err := s.Run(context.Background())
		if err != nil {
			continue
		}
		all := map[string]*big.Int{}
		for _, c := range whole.Classes {
			all[fmt.Sprint(c.Broken, c.Final)] = c.Members
		}
		before := new(big.Int)
		for limit := 1; limit < whole.States; limit += 1 + whole.States/7 {
			s, err := New(p, limit)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Run(context.Background())
			if !errors.Is(err, ErrLimit) {
				t.Fatalf("seed %d: with %d of %d states the search ends with %v", seed, limit, whole.States, err)
			}
			if r == nil {
				continue
			}
			partial++
			if r.Members.Cmp(before) < 0 || r.Members.Cmp(whole.Members) >= 0 {
				t.Fatalf("seed %d: with %d of %d states %v of %v members are known, and before %v", seed, limit, whole.States, r.Members, whole.Members, before)
			}
			before = r.Members
			for _, c := range r.Classes {
				if most := all[fmt.Sprint(c.Broken, c.Final)]; most == nil || c.Members.Cmp(most) > 0 {
					t.Fatalf("seed %d: %v members of class %v %q, where there are %v", seed, c.Members, c.Broken, c.Final, most)
				}
				if !sharedLines(p) { // a member is told by its lines
					checkMember(t, seed, p, c, func() (Member, error) { return s.Class(c) })
					m, _ := s.Class(c)
					checkCost(t, seed, p, m, c.Cost, audit.NumLaws)
				}
			}
			for l := range audit.NumLaws {
				if !r.Broken.Has(l) {
					continue
				}
				if !whole.Broken.Has(l) || r.Smallest[l].Compare(whole.Smallest[l]) < 0 {
					t.Fatalf("seed %d: %v at %v, and in the whole family at %v", seed, l, r.Smallest[l], whole.Smallest[l])
				}
				m, err := s.Smallest(l)
				if err != nil {
					t.Fatalf("seed %d: %v: %v", seed, l, err)
				}
				if !sharedLines(p) {
					checkCost(t, seed, p, m, r.Smallest[l], l)
				}
			}
		}
	}
	if partial < families {
		t.Errorf("%d answers of stopped searches", partial)
	}
	if r, err := New(yardstick(2, 3, 3, engine.FencingOff), 1); err == nil {
		if r, err := r.Run(context.Background()); r != nil || !errors.Is(err, ErrLimit) {
			t.Errorf("a search with nothing decided gives %v, %v", r, err)
		}
	}
}

// checkCost replays a member and holds it to its cost, with a law to its harm too.
func checkCost(t *testing.T, seed uint64, p *engine.Program, m Member, want Cost, law audit.Law) {
	t.Helper()
	rec, err := Replay(closed(p, m.Holes), m.Lines)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	rep := audit.Judge(rec)
	got := Cost{Events: int32(len(rec.Events))}
	for _, h := range m.Holes {
		got.Away += min(h, 1)
	}
	if law < audit.NumLaws {
		got.Harm = engine.Forever
		for i := range rep.Findings {
			if f := &rep.Findings[i]; f.Law == law {
				got.Harm = min(got.Harm, f.T)
			}
		}
		if law.Kind() == audit.Liveness && rep.Counts[law] > 0 {
			got.Harm = p.Settings.Horizon
		}
	}
	if got != want {
		t.Fatalf("seed %d, law %d: the member costs %v, want %v", seed, law, got, want)
	}
}

func sharedLines(p *engine.Program) bool {
	of := map[int32]int32{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if c, known := of[s.Line]; known && c != s.Client {
			return true
		}
		of[s.Line] = s.Client
	}
	return false
}

// What becomes of a state is the same whether the machine came to it or was brought to it.
func TestRestoredStatesHaveTheSameFutures(t *testing.T) {
	families, states := 500, 0
	if testing.Short() {
		families = 100
	}
	for _, seed := range seeds(families, 1060, 1064, 456) {
		p := family(seed)
		if seed%2 == 0 {
			p = doubles(seed)
		}
		if p == nil {
			continue
		}
		s, err := New(p, 2_000)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(context.Background()); err != nil && !errors.Is(err, ErrLimit) {
			continue
		}
		for n := range s.nodes {
			if states++; !slices.Contains(s.cut, int32(n)) && !s.holds(int32(n)) {
				t.Fatalf("seed %d: state %d of %d", seed, n, len(s.nodes))
			}
		}
	}
	if states < 50*families {
		t.Errorf("%d states of %d families", states, families)
	}
}

// A search that goes on from what a stopped one saved gives the answer of one from the start.
func TestSearchGoesOnFromItsStates(t *testing.T) {
	resumed, bound := 0, 0
	for seed := range uint64(200) {
		p := family(seed)
		if seed%2 == 0 {
			p = doubles(seed)
		}
		if p == nil {
			continue
		}
		want, members, err := answers(p, false)
		if err != nil || want.States < 2 {
			continue
		}
		s, err := New(p, 1+int(seed)%(want.States-1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(context.Background()); !errors.Is(err, ErrLimit) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for k := range 2 { // and once more from what that one saved
			var saved bytes.Buffer
			if err := s.SaveStates(&saved); err != nil {
				t.Fatal(err)
			}
			if s.bound {
				bound++
			}
			if s, err = New(p, 0); err != nil {
				t.Fatal(err)
			}
			s.LoadStates(saved.Bytes())
			got, err := s.Run(context.Background())
			if err != nil {
				t.Fatalf("seed %d, time %d: %v", seed, k, err)
			}
			if most := want.Branches * (1 - k); got.Branches > most {
				t.Errorf("seed %d, time %d: %d branches were taken, of %d", seed, k, got.Branches, want.Branches)
			}
			// How many states there are may differ: two that are alike may be known by two names.
			got.Branches, got.States, got.Bytes = want.Branches, want.States, want.Bytes
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, time %d:\n%+v\nand from the start\n%+v", seed, k, got, want)
			}
			for i, c := range got.Classes {
				if m, err := s.Class(c); err != nil || !reflect.DeepEqual(m, members[i]) {
					t.Fatalf("seed %d: %v, %v, and from the start %v", seed, m, err, members[i])
				}
			}
			resumed++
		}
	}
	if resumed < 100 || bound == 0 {
		t.Errorf("%d searches went on, %d of them with a horizon", resumed, bound)
	}
}

// A search that would go too deep stops there: the stack of a program has an end that nothing survives.
func TestDepthHasALimit(t *testing.T) {
	p := yardstick(2, 90, 90, engine.FencingOff)
	s, err := New(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.deepest = 40
	r, err := s.Run(context.Background())
	if whole := run(t, p); !errors.Is(err, ErrLimit) || r == nil || r.Members.Cmp(whole.Members) >= 0 {
		t.Errorf("%v, %v", r, err)
	}
}

// What is saved while a search runs is as good.
func TestStatesAreSavedOnTheWay(t *testing.T) {
	p := yardstick(3, 30, 30, engine.FencingOff)
	s, err := New(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	calls, saved, decided := 0, bytes.Buffer{}, int64(0)
	s.Keep(func() {
		if now := s.Decided(); now < decided || now > 17_801_814 {
			t.Errorf("%d members are decided, after %d", now, decided)
		} else {
			decided = now
		}
		if calls++; calls == 2 {
			err = s.SaveStates(&saved)
		}
	})
	want, err2 := s.Run(context.Background())
	if err != nil || err2 != nil || calls < 2 || decided == 0 {
		t.Fatal(calls, err, err2)
	}
	again, err := New(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	again.LoadStates(saved.Bytes())
	got, err := again.Run(context.Background())
	if err != nil || got.Branches > want.Branches/2 {
		t.Fatal(got, err)
	}
	got.Branches = want.Branches
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nand without a stop\n%+v", got, want)
	}
}

// States that are none, damaged ones and those of another family are refused.
func TestSavedStatesAreChecked(t *testing.T) {
	p := yardstick(2, 9, 9, engine.FencingOff)
	s, err := New(p, 40)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(context.Background()); !errors.Is(err, ErrLimit) {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := s.SaveStates(&saved); err != nil {
		t.Fatal(err)
	}
	whole := run(t, p)
	refused := func(p *engine.Program, saved []byte) {
		t.Helper()
		s, err := New(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.LoadStates(saved)
		if r, err := s.Run(context.Background()); r != nil || !errors.Is(err, ErrStates) {
			t.Errorf("%v", err)
		}
	}
	refused(yardstick(3, 2, 2, engine.FencingOff), saved.Bytes())
	refused(p, []byte{})
	refused(p, []byte("what is this"))
	refused(p, saved.Bytes()[:saved.Len()-9])
	for at := 0; at < saved.Len(); at += 7 {
		damaged := bytes.Clone(saved.Bytes())
		damaged[at] ^= 0x10
		// Some bits of gzip's own mean nothing; then the answer is right.
		s, err := New(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.LoadStates(damaged)
		if r, err := s.Run(context.Background()); err == nil && r.stale() != whole.stale() || err != nil && !errors.Is(err, ErrStates) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}
