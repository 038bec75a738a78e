package study

import (
	"cmp"
	"math/big"
	"slices"

	"dlock/audit"
	"dlock/internal/search"
)

// MaxWalked is how many members an explore block may have where each has to be walked, unless Options.Limit says otherwise.
const MaxWalked = 2_000_000

// tallyClass is an outcome class as it adds up over slices, with where its smallest member is.
type tallyClass struct {
	Broken  search.Laws `json:"broken"`
	Final   string      `json:"final"`
	Members *big.Int    `json:"members"`
	Best    best        `json:"best"`
}

// best is the cost of a smallest member and the slice that it lies in.
type best struct {
	Cost  search.Cost `json:"cost"`
	Slice int64       `json:"slice"`
	Found bool        `json:"found"`
	At    *place      `json:"at,omitempty"` // which member it is, once that was found out
}

// place is a member: the index of each hole's value, and the source lines of its work in order.
type place struct {
	Choice []int64 `json:"choice"`
	Lines  []int32 `json:"lines"`
}

// under tells whether the other one is better.
func (b *best) under(c best) bool {
	return c.Found && (!b.Found || cmp.Or(c.Cost.Compare(b.Cost), cmp.Compare(c.Slice, b.Slice)) < 0)
}

// better keeps the smaller of two; of equals the one of the earlier slice, so that the order of adding changes nothing. It
// tells whether the other one was better.
func (b *best) better(c best) bool {
	if !b.under(c) {
		return false
	}
	*b = c
	return true
}

// familyTally is what is known of a family so far: of the slices that are done.
type familyTally struct {
	classes  []tallyClass
	smallest [audit.NumLaws]best
	done     []bool
	nDone    int64
	walked   bool // some slices were
	counted  bool // some slices were
	states   int64
	branches int64
}

func (t *familyTally) find(broken search.Laws, final string) (at int, found bool) {
	return slices.BinarySearchFunc(t.classes, tallyClass{Broken: broken, Final: final}, func(a, b tallyClass) int {
		return cmp.Or(cmp.Compare(a.Broken, b.Broken), cmp.Compare(a.Final, b.Final))
	})
}

// class gives a class, made if there is none.
func (t *familyTally) class(broken search.Laws, final string) *tallyClass {
	at, found := t.find(broken, final)
	if !found {
		t.classes = slices.Insert(t.classes, at, tallyClass{Broken: broken, Final: final, Members: new(big.Int)})
	}
	return &t.classes[at]
}

func (t *familyTally) add(u *familyTally) {
	for i := range u.classes {
		c := &u.classes[i]
		into := t.class(c.Broken, c.Final)
		into.Members.Add(into.Members, c.Members)
		into.Best.better(c.Best)
	}
	for l := range u.smallest {
		t.smallest[l].better(u.smallest[l])
	}
	t.walked, t.counted = t.walked || u.walked, t.counted || u.counted
	t.states += u.states
	t.branches += u.branches
}

func (t *familyTally) finish(slice int64) {
	if !t.done[slice] {
		t.done[slice] = true
		t.nDone++
	}
}
