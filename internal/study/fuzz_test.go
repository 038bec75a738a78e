package study

import (
	"context"
	"reflect"
	"testing"

	"dlock/dsl"
	"dlock/dsl/compile"
)

// FuzzStudy runs any text that is a script: nothing may panic, every claim gets a verdict, and a second time finds the same.
// One worker is used, since the fuzzer is slow with code whose coverage depends on the scheduler.
func FuzzStudy(f *testing.F) {
	for _, s := range claimScripts {
		f.Add(s.src)
	}
	f.Add(pauseSweep + "sweep \"s\" over lease in 1..9 by fencing in off, on {\n  expect stale-write iff stall > max(lease, arrival)\n}\n")
	f.Add("let x = 3\nevery x from x / 2 to x * 9 A pause until +x % 2\nat 99 A acquire ttl x arrives +x reply 120 - x from s2..s4\nrun \"r\" {\n  quorum x\n}\n")
	f.Add("servers 3\nat 0 s1..s3 crash\nat 4 s2 restart wiped\nat 5 A acquire ttl none retry every 3 until +20 watchdog every 2 {\n  +1 write \"x\" guard lock\n} when denied {\n  +1 notice\n}\nexpect no deadlock\n")
	f.Add(yardstick)
	f.Add("let x = any 0..3\nmaybe m at any 1..4 any s1..s2 crash\nat x A acquire ttl any 1, 5 retry every 1 {\n  +1 append \"A\"\n}\nexplore \"e\" {\n  ties any\n  where m + x <= 2\n  expect sometimes clean\n  expect no overlap\n}\n")
	f.Fuzz(func(t *testing.T, src string) {
		s, ds := dsl.Parse("fuzz.dlk", []byte(src))
		if ds.HasErrors() {
			compile.Rest(s, ds)
			return
		}
		st, ds := New(s, nil)
		if st == nil {
			if !ds.HasErrors() {
				t.Fatal("there is no study and no error")
			}
			return
		}
		cells := int64(0)
		for _, p := range st.unit.Plans {
			cells += p.Cells
			if f := p.Family(); f != nil {
				cells += f.Slices()
			}
		}
		if cells > 500 {
			return // that the bounds hold is for other tests
		}
		// A family may have more members than anybody can walk: the limit makes that inconclusive.
		o := Options{Jobs: 1, Limit: 300}
		one, err := st.Do(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		two, err := st.Do(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one, two) {
			t.Fatal("the second time finds something else")
		}
		for _, it := range one.Items {
			var claims []Claim
			if it.Run != nil {
				claims = it.Run.Claims
				if d := Diff(it.Run, it.Run); !d.Same() {
					t.Fatalf("a run differs from itself: %+v", d)
				}
			}
			if it.Sweep != nil {
				claims = it.Sweep.Claims
			}
			if it.Explore != nil {
				claims = it.Explore.Claims
			}
			for _, c := range claims {
				if !c.OK && !c.Inconclusive && c.Got == "" {
					t.Fatalf("%s is false, and nobody says what is so instead", c.Expect.Source)
				}
			}
		}
	})
}
