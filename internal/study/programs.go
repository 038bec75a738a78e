package study

import (
	"fmt"
	"strings"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
)

// Programs is an explore block as the programs that its members are of, for those who ask another tool about the family.
type Programs struct {
	Late []string // the names of the holes that the programs leave open, in their order there
	N    int64    // how many programs there are: the choices of the other holes that "where" lets pass

	family *compile.Family
	binder *compile.Binder
	choice []int64
}

// Programs gives the programs of the explore block of a name that Families lists; nil if there is none.
func (st *Study) Programs(name string) *Programs {
	for _, p := range st.unit.Plans {
		if p.Kind != dsl.ExploreBlock || p.Name != name {
			continue
		}
		f := p.Family()
		ps := &Programs{N: f.Slices(), family: f, binder: p.Binder(), choice: make([]int64, len(f.Holes()))}
		for _, h := range f.Holes() {
			if h.Late {
				ps.Late = append(ps.Late, h.Name)
			}
		}
		return ps
	}
	return nil
}

// At computes the i-th program. It is valid until the next call.
func (ps *Programs) At(i int64) (*engine.Program, error) {
	ps.family.Slice(i, ps.choice)
	prog, ds := ps.binder.BindSlice(ps.choice)
	if prog == nil {
		return nil, &ScriptError{ds}
	}
	return prog, nil
}

// Label says what the i-th program chooses, as in "ttl = 8, servers = s3"; what is not chosen in it is left out.
func (ps *Programs) Label(i int64) string {
	ps.family.Slice(i, ps.choice)
	var parts []string
	for h, hole := range ps.family.Holes() {
		if ps.choice[h] < 0 {
			continue
		}
		v := fmt.Sprint(hole.Values[ps.choice[h]])
		if hole.Kind == dsl.ServerHole {
			v = "s" + v
		}
		parts = append(parts, hole.Name+" = "+v)
	}
	return strings.Join(parts, ", ")
}
