package study

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/search"
)

// pauseSweep is the schedule of docs/language.md with one sweep over it.
const pauseSweep = `
let lease   = 10
let stall   = 14
let arrival = 12
at 0          A acquire ttl lease
at 1          A read
at 2          A pause for stall
at 2 + stall  A append "A"
at 3 + stall  A release
at arrival    B acquire ttl lease retry every 1 {
  +1  read
  +2  append "B"
  +3  release
}
`

func parsed(tb testing.TB, src string) *dsl.Script {
	tb.Helper()
	s, ds := dsl.Parse("test.dlk", []byte(src))
	if ds.HasErrors() {
		tb.Fatalf("the script has errors: %v\n%s", ds, src)
	}
	return s
}

func studied(tb testing.TB, src string) *Study {
	tb.Helper()
	st, ds := New(parsed(tb, src), nil)
	if st == nil {
		tb.Fatalf("the script has errors: %v\n%s", ds, src)
	}
	return st
}

// BenchmarkGrid is the grid of 140 cells from the checked script to the judged claim.
func BenchmarkGrid(b *testing.B) {
	s := parsed(b, pauseSweep+`sweep "grid" over lease in 1, 5, 8, 10, 12, 13, 14, 15, 16, 17, 20, 25, 30, 1000 by stall in 2..29 step 3 {
  expect stale-write iff stall > max(lease, arrival)
}`)
	b.ReportAllocs()
	for b.Loop() {
		st, _ := New(s, nil)
		f, err := st.Do(context.Background(), Options{Jobs: 1})
		if err != nil || f.Failed() || f.Items[0].Sweep.Cells != 140 {
			b.Fatal("the grid is not as claimed")
		}
	}
}

// BenchmarkCells measures cells per second of a sweep that keeps none, and what is allocated for each.
func BenchmarkCells(b *testing.B) {
	st := studied(b, pauseSweep+`sweep "cells" over lease in 1..100 by stall in 1..100 by arrival in 1..10 {
  expect stale-write iff stall > max(lease, arrival)
}`)
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			b.ReportAllocs()
			cells := int64(0)
			for b.Loop() {
				f, err := st.Do(context.Background(), Options{Jobs: jobs})
				if err != nil {
					b.Fatal(err)
				}
				cells += f.Items[0].Sweep.Cells
			}
			b.ReportMetric(float64(cells)/b.Elapsed().Seconds(), "cells/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkBind measures the computing of a cell's program alone.
func BenchmarkBind(b *testing.B) {
	st := studied(b, pauseSweep+`sweep "cells" over lease in 1..100 by stall in 1..100 {
  expect stale-write iff stall > max(lease, arrival)
}`)
	p := st.unit.Plans[0]
	binder, cell := p.Binder(), make([]int64, 2)
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		p.Cell(i%p.Cells, cell)
		if prog, _ := binder.Bind(cell); prog == nil {
			b.Fatal("a cell has faults")
		}
	}
}

// threeClients is the yardstick with one client more: 17,801,814 members.
const threeClients = `let stall = any 0..30
let b     = any 0..30
let c     = any 0..30

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
at c C acquire ttl 10 retry every 1 {
  +1  read
  +2  append "C"
  +3  release
}
explore "every pause, arrival and order" {
  ties any
  expect sometimes stale-write
}
`

// firstWitness goes from a family's text to the smallest member that breaks stale-write, as a file.
func firstWitness(tb testing.TB, text string, until search.Laws) {
	tb.Helper()
	s, _ := dsl.Parse("test.dlk", []byte(text))
	st, ds := New(s, nil)
	if st == nil {
		tb.Fatal(ds)
	}
	f, err := st.WithSource([]byte(text)).Do(context.Background(), Options{Jobs: 1, Until: until})
	if err != nil {
		tb.Fatal(err)
	}
	for _, w := range f.Items[0].Explore.Smallest {
		if w.Law == audit.StaleWrite && w.Source != "" {
			return
		}
	}
	tb.Fatal("there is no witness")
}

// more adds clients that do what B does.
func more(text string, names ...string) string {
	for _, n := range names {
		low := strings.ToLower(n)
		text = strings.Replace(text, "\nat b B", "\nlet "+low+" = any 0..30\nat b B", 1)
		text = strings.Replace(text, "\nexplore", fmt.Sprintf("\nat %s %s acquire ttl 10 retry every 1 {\n  +1  read\n  +2  append %q\n  +3  release\n}\nexplore", low, n, n), 1)
	}
	return text
}

var witnessRows = []struct {
	name, text string
	until      search.Laws
}{
	{"2 clients at 30, the smallest", yardstick, 0},
	{"3 clients at 30, the smallest", threeClients, 0},
	{"3 clients at 30, the first", threeClients, 1 << audit.StaleWrite},
	{"4 clients at 30, the first", more(threeClients, "D"), 1 << audit.StaleWrite},
	{"5 clients at 30, the first", more(threeClients, "D", "E"), 1 << audit.StaleWrite},
}

// BenchmarkFirstWitness measures how long a person waits for a witness, but for the start of the process.
func BenchmarkFirstWitness(b *testing.B) {
	for _, bc := range witnessRows {
		b.Run(bc.name, func(b *testing.B) {
			for b.Loop() {
				firstWitness(b, bc.text, bc.until)
			}
		})
	}
}

// TestFirstWitnessIsThereAtOnce guards against a search that has become slower by far: a witness is to be there within 50 ms,
// and a busy machine may take ten times as long.
func TestFirstWitnessIsThereAtOnce(t *testing.T) {
	for _, tc := range witnessRows {
		least := time.Duration(math.MaxInt64)
		for range 3 {
			began := time.Now()
			firstWitness(t, tc.text, tc.until)
			least = min(least, time.Since(began))
		}
		if least > 500*time.Millisecond {
			t.Errorf("%s: the witness took %v", tc.name, least)
		}
	}
}

// BenchmarkSlices explores a family of many slices by one and by two workers: ttls and the number of servers are tried value
// by value, ticks and orders are counted.
func BenchmarkSlices(b *testing.B) {
	st := studied(b, `servers any 1, 3, 5
let lease = any 1..30
let stall = any 0..30
let b     = any 0..30
at 0 A acquire ttl lease retry every 1 {
  +1          read
  +2 + stall  append "A"
  +3 + stall  release
}
at b B acquire ttl lease retry every 1 {
  +1  read
  +2  append "B"
  +3  release
}
explore "many slices" {
  ties any
  expect sometimes stale-write
}
`)
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprintf("%d workers", jobs), func(b *testing.B) {
			var e *Explore
			for b.Loop() {
				f, err := st.Do(context.Background(), Options{Jobs: jobs})
				if err != nil {
					b.Fatal(err)
				}
				e = f.Items[0].Explore
			}
			members, _ := e.Members.Float64()
			b.ReportMetric(members, "members")
			b.ReportMetric(float64(e.Slices), "slices")
			b.ReportMetric(float64(e.Slices)*float64(b.N)/b.Elapsed().Seconds(), "slices/s")
			b.ReportMetric(float64(e.States)*float64(b.N)/b.Elapsed().Seconds(), "states/s")
		})
	}
}
