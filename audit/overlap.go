package audit

import (
	"cmp"
	"slices"

	"dlock/engine"
)

// pair is two overlapping promises, the one that came later first.
type pair struct{ later, earlier int32 }

// orderPromises lists the beginnings and ends of all promises in the order of time.
func (a *Auditor) orderPromises(rec *engine.Record) {
	a.edges = slices.Grow(a.edges[:0], 2*len(rec.Promises))
	for i := range rec.Promises {
		a.edges = addEdges(a.edges, rec.Promises[i].Start, rec.Promises[i].End, int32(i))
	}
	sortEdges(a.edges)
}

// overlap: two promises of one server to different clients intersect as half-open intervals. Counted in pairs of
// promises.
//
// This is the study guide's assertion of innocence (5.5, overlapping_grants) and docs/language.md 7. It is judged on what
// was promised, not on what the servers remember: a server that restarts empty forgets the lease, and with it the
// evidence. An interval that is empty has nothing in common with any other.
//
// Pairs can be the square of the promises, so they are counted and not built: whoever comes meets all who are there and
// are not the same client. Only the first few are looked up.
func (a *Auditor) overlap(rec *engine.Record, into *Report) {
	t := a.begin(rec)
	present := a.down // by server: promises that are running, of all clients
	a.pairs = a.pairs[:0]
	for i := range a.edges {
		e := &a.edges[i]
		p := &rec.Promises[e.index]
		own := &a.live[int(p.Client)*t.servers+int(p.Server)]
		if e.kind == edgeOff {
			present[p.Server]--
			*own--
			continue
		}
		if others := present[p.Server] - *own; others > 0 {
			into.Counts[Overlap] += int64(others)
			if len(a.pairs) < MaxFindings {
				a.present(rec, i, int(others))
			}
		}
		present[p.Server]++
		*own++
	}
	for i, pr := range a.pairs {
		if i == MaxFindings {
			break
		}
		p, q := &rec.Promises[pr.later], &rec.Promises[pr.earlier]
		f := breach(Overlap, p.Start.Tick)
		f.End = min(p.End.Tick, q.End.Tick)
		f.Line, f.Client, f.Other, f.Server = p.Line, p.Client, q.Client, p.Server
		f.Token, f.Index, f.By = p.Token, pr.later, pr.earlier
		into.Findings = append(into.Findings, f)
	}
}

// present lists the promises of others that are running on the same server when the one of edge i begins, oldest first.
func (a *Auditor) present(rec *engine.Record, i, others int) {
	from := len(a.pairs)
	p := &rec.Promises[a.edges[i].index]
	for j := i - 1; j >= 0 && others > 0; j-- {
		if a.edges[j].kind == edgeOff {
			continue
		}
		q := &rec.Promises[a.edges[j].index]
		if q.Server == p.Server && q.Client != p.Client && p.Start.Before(q.End) {
			a.pairs = append(a.pairs, pair{later: a.edges[i].index, earlier: a.edges[j].index})
			others--
		}
	}
	slices.SortFunc(a.pairs[from:], func(x, y pair) int { return cmp.Compare(x.earlier, y.earlier) })
}
