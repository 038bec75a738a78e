package study

import (
	"slices"

	"dlock/audit"
	"dlock/engine"
)

// Remedy is a change of the world that may keep a schedule from doing harm.
type Remedy uint8

// The remedies, in the order in which they are tried. A fence that learns with the read or the grant is turned on with it.
const (
	FencingOn Remedy = iota
	FenceAtRead
	FenceAtGrant
	TokensOrdered
	GuardVersion
	numRemedies
)

// String gives the words of the language. The guard is one of every append.
func (r Remedy) String() string {
	return [...]string{"fencing on", "fence-at read", "fence-at grant", "tokens ordered", "guard version"}[r]
}

// maxTriedEvents is how long a run may be that remedies are tried on. Trying costs a run for each, and beyond this the
// reader waits longer for the advice than for all that it is about.
const maxTriedEvents = 100_000

// Remedies tries each change on the run's own schedule, and gives those under which the lock lets only one client in, no
// write is stale, no update is lost and no holder is refused. A run that does no such harm has none, and neither has one
// that stopped at a limit or has too many events to be run again.
func Remedies(r *Run) []Remedy {
	rec := r.Record
	if r.Inconclusive() || len(rec.Events) > maxTriedEvents || harmless(&r.Audit.Counts) {
		return nil
	}
	var found []Remedy
	for m := range numRemedies {
		p := *rec.Program
		if !m.change(&p) {
			continue
		}
		if again := engine.Run(&p); again.Limit == engine.NoLimit && harmless(&audit.Judge(again).Counts) {
			found = append(found, m)
		}
	}
	return found
}

// change makes the change in p, whose lists belong to another program; false if there is nothing to change.
func (r Remedy) change(p *engine.Program) bool {
	s := &p.Settings
	switch r {
	case FencingOn:
		if s.Fencing != engine.FencingOff {
			return false
		}
		s.Fencing = engine.FencingOn
	case FenceAtRead, FenceAtGrant:
		at := engine.FenceAtRead
		if r == FenceAtGrant {
			at = engine.FenceAtGrant
		}
		if s.Fencing != engine.FencingOff && s.FenceAt >= at {
			return false
		}
		s.Fencing, s.FenceAt = max(s.Fencing, engine.FencingOn), at
	case TokensOrdered:
		if s.Tokens == engine.TokensOrdered {
			return false
		}
		s.Tokens = engine.TokensOrdered
	case GuardVersion:
		p.Steps = slices.Clone(p.Steps)
		for i := range p.Steps {
			if p.Steps[i].Verb == engine.Append {
				p.Steps[i].Guards |= engine.GuardVersion
			}
		}
	}
	return true
}

func harmless(n *[audit.NumLaws]int64) bool {
	return n[audit.Overlap] == 0 && n[audit.DoubleHold] == 0 && n[audit.StaleWrite] == 0 && n[audit.LostUpdate] == 0 &&
		n[audit.RefusedHolder] == 0
}
