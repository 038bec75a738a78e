package audit

import "dlock/engine"

// faultOf follows the harm back to its first cause. A lock that let two in explains all that came after. A stale write is
// the resource's fault, unless its client was granted the lock later than the one it wrote over: then the numbers are wrong
// and not the write. A lost update is the tokens' fault if a fence was there and compared what cannot be compared. It
// looks at the findings that are listed, not at those beyond MaxFindings.
func faultOf(rec *engine.Record, r *Report) Fault {
	n := &r.Counts
	if n[Overlap] > 0 || n[DoubleHold] > 0 {
		return FaultLock
	}
	resource, tokens := n[StaleWrite] > 0 && n[TokenRegress] == 0, false
	if n[TokenRegress] > 0 {
		fenced := rec.Program.Settings.Fencing != engine.FencingOff
		for i := range r.Findings {
			f := &r.Findings[i]
			switch f.Law {
			case StaleWrite:
				if grantedBefore(rec, f.By, f.Index) {
					tokens = true
				} else {
					resource = true
				}
			case LostUpdate:
				if grantedBefore(rec, f.By, f.Index) { // the older grant's write won
					tokens = tokens || fenced && rec.Writes[f.By].Token >= rec.Writes[f.Index].Token
					resource = resource || !fenced
				}
			case RefusedHolder:
				tokens = tokens || outnumbered(rec, f.Index)
			}
		}
	}
	switch {
	case n[StaleWrite] > 0 && resource:
		return FaultResource
	case tokens:
		return FaultTokens
	case resource:
		return FaultResource
	case n[LostUpdate] > 0:
		return FaultSnapshot
	case n[UnlockedWrite] > 0:
		return FaultBypass
	default:
		return FaultNone
	}
}

// grantOf gives the grant that a write was made under, the last one that its client had heard when it sent it; nil for a
// client that was never granted the lock.
func grantOf(rec *engine.Record, w *engine.WriteOp) *engine.Grant {
	var found *engine.Grant
	for i := range rec.Grants {
		g := &rec.Grants[i]
		if g.Client == w.Client && g.Heard.Before(w.Sent) && (found == nil || found.Heard.Before(g.Heard)) {
			found = g
		}
	}
	return found
}

// grantedBefore tells whether write a was made under an earlier grant than write b.
func grantedBefore(rec *engine.Record, a, b int32) bool {
	x, y := grantOf(rec, &rec.Writes[a]), grantOf(rec, &rec.Writes[b])
	return x != nil && y != nil && x.Cast.Before(y.Cast)
}

// outnumbered tells whether somebody else was granted the lock before a write's client with a token that is not lower.
func outnumbered(rec *engine.Record, write int32) bool {
	w := &rec.Writes[write]
	mine := grantOf(rec, w)
	if mine == nil {
		return false
	}
	for i := range rec.Grants {
		if g := &rec.Grants[i]; g.Cast.Before(mine.Cast) && g.Token >= w.Token && (g.Client != w.Client || !mine.Again) {
			return true
		}
	}
	return false
}
