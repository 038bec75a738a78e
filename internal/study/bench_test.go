package study

import (
	"context"
	"fmt"
	"testing"

	"dlock/dsl"
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
