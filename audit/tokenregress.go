package audit

import (
	"cmp"
	"slices"

	"dlock/engine"
)

// tokenRegress: a grant's token is not higher than that of an earlier grant. Counted in grants.
//
// What a fencing token promises is one thing, that it rises with every grant (Kleppmann 2016; Burrows, "The Chubby lock
// service", 2006, 2.4, sequencers). The highest of a quorum of counters does not keep it (study guide 5.2). Grants are
// ordered by the moment at which their quorum was cast, since the order in which clients hear of them is the network's;
// reentrant grants carry the old token by design and are left out.
func (a *Auditor) tokenRegress(rec *engine.Record, into *Report) {
	a.grants = a.grants[:0]
	for i := range rec.Grants {
		if !rec.Grants[i].Again {
			a.grants = append(a.grants, int32(i))
		}
	}
	slices.SortFunc(a.grants, func(x, y int32) int {
		return cmp.Or(byMoment(rec.Grants[x].Cast, rec.Grants[y].Cast), cmp.Compare(x, y))
	})
	highest := engine.None
	for _, i := range a.grants {
		g := &rec.Grants[i]
		if highest == engine.None || g.Token > rec.Grants[highest].Token {
			highest = i
			continue
		}
		if into.found(TokenRegress) {
			before := &rec.Grants[highest]
			f := breach(TokenRegress, g.Cast.Tick)
			f.Line, f.Client, f.Other = g.Line, g.Client, before.Client
			f.Token, f.Applied, f.Index = g.Token, before.Token, i
			into.Findings = append(into.Findings, f)
		}
	}
}
