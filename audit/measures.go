package audit

import (
	"cmp"
	"slices"
	"sort"

	"dlock/engine"
)

// try is one attempt, by when it was sent.
type try struct {
	client int32
	sent   engine.Moment
}

// measure fills in what is counted and no law: grants, accepted writes, the ticks that each client waited, and the ticks
// in which the lock was idle.
func (a *Auditor) measure(rec *engine.Record, into *Report) {
	into.Grants = int64(len(rec.Grants))
	for i := range rec.Writes {
		if rec.Writes[i].Accepted {
			into.Writes++
		}
	}
	a.orderTries(rec)
	a.blocked(rec, into)
	a.idle(rec, into)
}

// orderTries sorts the attempts by client and then by time.
func (a *Auditor) orderTries(rec *engine.Record) {
	a.tries = a.tries[:0]
	for i := range rec.Attempts {
		a.tries = append(a.tries, try{client: rec.Attempts[i].Client, sent: rec.Attempts[i].Sent})
	}
	slices.SortFunc(a.tries, func(x, y try) int {
		return cmp.Or(cmp.Compare(x.client, y.client), byMoment(x.sent, y.sent))
	})
	a.first = filled(a.first, len(rec.Program.Clients)+1, int32(len(a.tries)))
	for i := len(a.tries) - 1; i >= 0; i-- {
		a.first[a.tries[i].client] = int32(i)
	}
	for c := len(rec.Program.Clients) - 1; c >= 0; c-- {
		a.first[c] = min(a.first[c], a.first[c+1])
	}
}

// blocked measures, for each client, from its first try to the tick at which it hears its first grant.
func (a *Auditor) blocked(rec *engine.Record, into *Report) {
	for range rec.Program.Clients {
		into.Blocked = append(into.Blocked, -1)
	}
	for i := range rec.Grants {
		g := &rec.Grants[i]
		if first := a.first[g.Client]; into.Blocked[g.Client] < 0 && first < a.first[g.Client+1] {
			into.Blocked[g.Client] = g.Heard.Tick - a.tries[first].sent.Tick
		}
	}
}

// idle counts the ticks at which nobody holds the lock and some client is between a denial and its next try. A client
// that never tries again after a denial is not waiting.
func (a *Auditor) idle(rec *engine.Record, into *Report) {
	a.waits = a.waits[:0]
	for i := range rec.Attempts {
		t := &rec.Attempts[i]
		if t.Outcome != engine.Waiting && t.Outcome != engine.Denied || t.Decided.Tick == engine.Forever {
			continue
		}
		mine := a.tries[a.first[t.Client]:a.first[t.Client+1]]
		next := sort.Search(len(mine), func(j int) bool { return t.Decided.Before(mine[j].sent) })
		if next < len(mine) && t.Decided.Tick < mine[next].sent.Tick {
			a.waits = append(a.waits, Interval{Client: t.Client, Start: t.Decided.Tick, End: mine[next].sent.Tick})
		}
	}
	slices.SortFunc(a.waits, func(x, y Interval) int { return cmp.Compare(x.Start, y.Start) })

	// Both lists are sorted by start, so one walk goes through the waiting ticks and skips those that somebody holds.
	h, now := 0, engine.Tick(0)
	for _, w := range a.waits {
		now = max(now, w.Start)
		for now < w.End {
			for h < len(into.Holders) && into.Holders[h].End <= now {
				h++
			}
			switch {
			case h == len(into.Holders) || into.Holders[h].Start >= w.End:
				into.Idle += w.End - now
				now = w.End
			case into.Holders[h].Start > now:
				into.Idle += into.Holders[h].Start - now
				now = into.Holders[h].Start
			default:
				now = into.Holders[h].End
			}
		}
	}
}
