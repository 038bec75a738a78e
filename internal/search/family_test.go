package search_test

import (
	"context"
	"math/big"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/internal/search"
)

// family compiles the only block of a text.
func family(tb testing.TB, text string) *compile.Plan {
	tb.Helper()
	s, ds := dsl.Parse("family.dlk", []byte(text))
	if ds.HasErrors() {
		tb.Fatalf("%v\n%s", ds, text)
	}
	u, ds := compile.Compile(s, nil)
	if ds.HasErrors() {
		tb.Fatalf("%v\n%s", ds, text)
	}
	return u.Plans[0]
}

const yardstick = `let stall = any 0..30
let b     = any 0..30
at 0 A acquire ttl 10 retry every 1 {
  +1          read
  +2 + stall  append "A"
  +3 + stall  release
}
at b B acquire ttl 10 retry every 1 {
  +1  read
  +2  append "B"
  +3  release
}
explore "every pause, arrival and order" {
  ties any
  expect stale-write in 548
}
`

// The yardstick: two clients, one of them paused, every pause, arrival and order.
func TestYardstick(t *testing.T) {
	p := family(t, yardstick)
	for _, h := range p.Family().Holes() {
		if !h.Late {
			t.Errorf("%s is not decided late", h.Name)
		}
	}
	members, stale := new(big.Int), new(big.Int)
	b := p.Binder()
	choice := make([]int64, len(p.Family().Holes()))
	for i := range p.Family().Slices() {
		p.Family().Slice(i, choice)
		prog, ds := b.BindSlice(choice)
		if prog == nil {
			t.Fatal(ds)
		}
		s, err := search.New(prog, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Classes {
			members.Add(members, c.Members)
			if c.Broken.Has(audit.StaleWrite) {
				stale.Add(stale, c.Members)
			}
		}
	}
	if members.String() != "1832" || stale.String() != "548" {
		t.Errorf("%v members, %v with a stale write; want 1832 and 548", members, stale)
	}
}
