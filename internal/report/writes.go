package report

import (
	"slices"

	"dlock/engine"
)

// explainWrite says why a write was accepted, refused or held back.
func (t *teller) explainWrite(e *engine.Event, s *engine.Step, h *happening) {
	if e.Outcome == engine.Skipped {
		h.why = t.heldBack(e)
		return
	}
	w := at(t.rec.Writes, e.Index)
	if w == nil {
		return
	}
	h.outcome, h.tone = verdictWord(w), t.verdictTone(e.Index)
	h.why = t.writeReason(e.Index, w, s)
}

// verdictWord is the one word that a fenced run and an unfenced run differ by.
func verdictWord(w *engine.WriteOp) string {
	switch {
	case w.Applied.Tick == engine.Forever:
		return "never landed"
	case w.Accepted:
		return "ACCEPTED"
	default:
		return "REJECTED"
	}
}

// verdictTone is bad for a write that did harm or was refused wrongly, good for one that was rightly refused.
func (t *teller) verdictTone(index int32) tone {
	b := t.writers[index]
	w := &t.rec.Writes[index]
	switch {
	case b.stale != nil, len(b.lost) > 0, b.refused != nil, b.unlocked != nil:
		return bad
	case !w.Accepted && w.Applied.Tick != engine.Forever:
		return good
	}
	return plain
}

func (t *teller) writeReason(index int32, w *engine.WriteOp, s *engine.Step) string {
	if !w.Accepted {
		return t.rejection(index, w, s)
	}
	why := "token " + number(w.Token)
	b := t.writers[index]
	if b.stale != nil {
		why += ", although token " + number(b.stale.Applied) + " was applied"
		if by := at(t.rec.Writes, b.stale.By); by != nil {
			why += " at " + tick(by.Applied.Tick)
		}
		why += ": a stale write"
	}
	if n := len(b.lost); b.stale != nil {
		return why
	} else if n > 0 {
		why += "; "
		if lost := at(t.rec.Writes, b.lost[0].Index); lost != nil {
			why += t.client(lost.Client) + "'s write of " + tick(lost.Applied.Tick)
			if t.isLeft(b.lost[0].Index) {
				why += " vanishes"
			} else {
				why += " is lost"
			}
		}
		if n > 1 {
			why += " with " + count(n-1, "more write")
		}
	} else if w.Verb == engine.Append {
		why += "; the value is now " + value(t.rec.Value(w.Value))
	}
	if b.unlocked != nil && len(b.lost) == 0 {
		why += "; " + t.client(w.Client) + " does not hold the lock"
		if hold := t.lostHold(w.Client, w.Applied.Tick, w.Token); hold != "" {
			why += ": " + hold
		}
	}
	return why
}

func (t *teller) rejection(index int32, w *engine.WriteOp, s *engine.Step) string {
	token := "token " + number(w.Token)
	switch w.Reason {
	case engine.ReasonStale:
		why := token + " is lower than " + number(w.Highest) + ", "
		if at, ok := t.applied(index, w.Highest); ok {
			why += "applied at " + tick(at)
		} else {
			why += "which the resource knows"
		}
		if t.writers[index].refused != nil {
			return why + ", although " + t.client(w.Client) + " holds the lock"
		}
		return why + ": the fence holds"
	case engine.ReasonStrict:
		return token + " was used by an accepted write already (fencing strict)"
	case engine.ReasonVersion:
		return "the value has changed since version " + number(w.Base) + ", which " + t.client(w.Client) + " computed from"
	case engine.ReasonLock:
		return "the resource asks the lock, and " + t.client(w.Client) + " does not hold it"
	case engine.ReasonBefore:
		deadline := s.Before
		if s.BeforePlus {
			deadline += w.Sent.Tick
		}
		return "it lands at " + tick(w.Applied.Tick) + ", and " + tick(deadline) + " is too late already"
	}
	if w.Applied.Tick == engine.Forever {
		return "lost on the way"
	}
	return token
}

// applied finds the accepted write before index that carried a token.
func (t *teller) applied(index int32, token int64) (engine.Tick, bool) {
	landed, applied := t.rec.Writes[index].Applied, t.accepted[token]
	n, _ := slices.BinarySearchFunc(applied, landed, func(a, b engine.Moment) int {
		if a.Before(b) {
			return -1
		}
		return 1
	})
	if n == 0 {
		return 0, false
	}
	return applied[n-1].Tick, true
}

func (t *teller) heldBack(e *engine.Event) string {
	who := t.client(e.Client)
	switch e.Reason {
	case engine.ReasonUnchecked:
		if !t.checked(e) {
			return "not sent: " + who + " has heard no answer to a check"
		}
		return "not sent: " + who + "'s last check did not say yes"
	case engine.ReasonInvalid:
		return "not sent: by " + who + "'s own clock its lease is over"
	}
	return "not sent"
}

// writeUnheard says what became of a write whose client never learns it.
func (t *teller) writeUnheard(e *engine.Event) string {
	w := at(t.rec.Writes, e.Index)
	who := t.client(e.Client)
	switch {
	case w == nil || w.Applied.Tick == engine.Forever:
		return "lost on the way: it never lands"
	case w.Accepted:
		return "the answer is lost: " + who + " does not learn that it was accepted"
	default:
		return "the answer is lost: " + who + " does not learn that it was rejected"
	}
}
