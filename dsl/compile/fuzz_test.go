package compile

import (
	"testing"

	"dlock/dsl"
)

// FuzzFamily compiles any text that is a script: nothing may panic, a file without errors has programs for all of its slices, and
// a slice has those lines that its members have.
func FuzzFamily(f *testing.F) {
	for _, src := range []string{
		"let x = any 0..3\nlet y = any 9, 4\nmaybe gone at x A pause for y\nat x + 20 A acquire ttl 3 on any s1..s3 {\n+x read\n}\nexplore \"e\" {\nties any\nwhere gone + x > 0\nexpect clean in 3\n}\n",
		"servers any 3..5\nmaybe at any 1..2 s1 any s2 s3 crash\nat any 3..9 A check arrives any 9..11 at any s1 s2 reply +3\nat x A pause until 4 + y\nlet x = any -1..4 step 2\nlet y = any x, 4\nexplore \"e\" {\n}\n",
		"let x = any 0..30\nrun \"r\" {\nlet x = 4\n}\nexplore \"e\" {\nhorizon any 7, 3\nat 9 / x A write \"a\" reply +x\nwhere x != 0\n}\n",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s, ds := dsl.Parse("fuzz.dlk", []byte(src))
		if ds.HasErrors() {
			return
		}
		u, ds := Compile(s, []Override{{"x", "2"}})
		if u == nil {
			u, ds = Compile(s, nil)
		}
		if u == nil {
			if !ds.HasErrors() {
				t.Fatal("there is no unit and no error")
			}
			return
		}
		for _, p := range u.Plans {
			fam := p.Family()
			if (fam == nil) != (p.Kind != dsl.ExploreBlock) {
				t.Fatalf("%v has the family %v", p.Kind, fam)
			}
			if fam == nil || fam.Slices() > 500 {
				continue
			}
			b := p.Binder()
			choice := make([]int64, len(fam.Holes()))
			for i := range fam.Slices() {
				fam.Slice(i, choice)
				prog, ds := b.BindSlice(choice)
				if prog == nil {
					t.Fatalf("slice %v: %v", choice, ds)
				}
				roots := len(prog.Roots)
				for h := range choice {
					if fam.Holes()[h].Late {
						choice[h] = int64(len(fam.Holes()[h].Values)) - 1
					}
				}
				if prog, ds = b.BindMember(choice); prog == nil || len(prog.Roots) != roots || prog.Holes != nil {
					t.Fatalf("member %v: %v", choice, ds)
				}
			}
		}
	})
}
