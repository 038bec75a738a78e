package report

import (
	"slices"
	"strings"

	"dlock/audit"
	"dlock/engine"
)

// verdict says what happened to the data of a run and where the fault lies, for a reader who has never heard of fencing.
func (t *teller) verdict() string {
	if l := t.rec.Limit; l != engine.NoLimit {
		return "The run was stopped early, because it reached a limit (" + limitWord(l) + "): nothing can be said about its end."
	}
	return join([]string{t.data(), t.blame(), t.waiting()}, " ")
}

// limitWord names the limit that stopped a run early, "" for none.
func limitWord(l engine.LimitKind) string {
	switch l {
	case engine.LimitRequests:
		return "requests to servers"
	case engine.LimitEvents:
		return "pieces of work"
	case engine.LimitTicks:
		return "the last tick"
	case engine.LimitValue:
		return "the size of the values"
	}
	return ""
}

// first gives the first finding of a law.
func (t *teller) first(l audit.Law) *audit.Finding {
	for i := range t.aud.Findings {
		if f := &t.aud.Findings[i]; f.Law == l {
			return f
		}
	}
	return nil
}

// data says what is left and how it came about.
func (t *teller) data() string {
	final := value(t.rec.Value(t.rec.Final))
	if f := t.first(audit.StaleWrite); f != nil {
		return t.overwritten(final, f)
	}
	if f := t.first(audit.LostUpdate); f != nil {
		return t.forgotten(final, f)
	}
	if i := t.lastRefused(); i != engine.None {
		return t.refused(final, i)
	}
	held := t.lastHeldBack()
	switch t.aud.Writes {
	case 0:
		return "Nothing was written: the value is still " + final + "." + held
	case 1:
		return final + " is left, by the one write that was accepted." + held
	default:
		return final + " is left, by " + count(t.aud.Writes, "write") + ", and none of them is lost." + held
	}
}

// overwritten tells of a stale write: who was overtaken, and how it came to write all the same.
func (t *teller) overwritten(final string, f *audit.Finding) string {
	late, by := at(t.rec.Writes, f.Index), at(t.rec.Writes, f.By)
	if late == nil || by == nil {
		return final + " is left after a stale write."
	}
	a, b := t.client(late.Client), t.client(by.Client)
	if a == b {
		return final + " is left: at " + tick(late.Applied.Tick) + " a write of " + a + " with token " + number(late.Token) +
			" landed on top of its own with token " + number(by.Token) + " of " + tick(by.Applied.Tick) + "."
	}
	var s strings.Builder
	if t.rec.Final == late.Value {
		s.WriteString(final + " is left because " + a + " wrote over work that " + b + " had finished: ")
	} else {
		s.WriteString(a + " wrote over work that " + b + " had finished (" + final + " is left): ")
	}
	s.WriteString(t.howLate(late))
	got := " got the lock and wrote at "
	if t.writers[f.By].unlocked != nil {
		got = " wrote at "
	}
	s.WriteString("; " + b + got + tick(by.Applied.Tick) + "; and at " + tick(late.Applied.Tick))
	basis := ""
	gone := slices.ContainsFunc(t.writers[f.Index].lost, func(l *audit.Finding) bool { return l.Index == f.By })
	if r := t.lastRead(late); r != nil && late.Verb == engine.Append {
		basis = "computed from its read at " + tick(r.Applied.Tick)
		if gone {
			basis += ", without " + b + "'s work"
		}
	}
	switch {
	case late.Sent.Tick < late.Applied.Tick:
		s.WriteString(" a write landed that " + a + " had sent at " + tick(late.Sent.Tick) + prefixed(", ", basis) + ".")
	case t.believes(late.Client, late.Sent):
		s.WriteString(" " + a + ", still believing that it held the lock, wrote" + prefixed(" a value ", basis) + ".")
	default:
		s.WriteString(" " + a + " wrote" + prefixed(" a value ", basis) + ".")
	}
	if n := t.aud.Counts[audit.StaleWrite] - 1; n > 0 {
		s.WriteString(" " + count(n, "more stale write") + " went the same way.")
	}
	return s.String()
}

// howLate says how a client lost the lock before its write landed.
func (t *teller) howLate(w *engine.WriteOp) string {
	who := t.client(w.Client)
	why, end := t.holdEnd(w.Client, w.Applied.Tick, w.Token)
	if why == "" {
		return who + " wrote with token " + number(w.Token) + " although a later grant had been used"
	}
	s := strings.Replace(why, "its lease", who+"'s lease", 1)
	if strings.HasPrefix(s, "it ") {
		s = who + strings.TrimPrefix(s, "it")
	}
	if end == engine.Forever {
		return s
	}
	if t.paused(w.Client, end) {
		s += " while " + who + " was paused"
	}
	return s
}

// believes tells whether a client believes at a moment that it holds the lock.
func (t *teller) believes(client int32, m engine.Moment) bool {
	for i := range t.rec.Beliefs {
		if b := &t.rec.Beliefs[i]; b.Client == client && b.Start.Before(m) && m.Before(b.End) {
			return true
		}
	}
	return false
}

// forgotten tells of a lost update that no token shows.
func (t *teller) forgotten(final string, f *audit.Finding) string {
	lost, by := at(t.rec.Writes, f.Index), at(t.rec.Writes, f.By)
	if lost == nil || by == nil {
		return final + " is left, and a write is lost."
	}
	a, b := t.client(lost.Client), t.client(by.Client)
	s := final + " is left, and what " + a + " wrote at " + tick(lost.Applied.Tick) + " is lost: " + b + " appended to "
	if r := t.lastRead(by); r != nil {
		s += "the copy that it had read at " + tick(r.Applied.Tick)
	} else {
		s += "an older copy"
	}
	s += ", before " + a + "'s write landed, and its own landed at " + tick(by.Applied.Tick) + "."
	if a == b {
		s = final + " is left, and what " + a + " wrote at " + tick(lost.Applied.Tick) + " is lost: its write of " +
			tick(by.Applied.Tick) + " was computed from an older copy."
	}
	return s
}

// lastRead finds the read that a write's copy came from.
func (t *teller) lastRead(w *engine.WriteOp) *engine.ReadOp {
	var found *engine.ReadOp
	for i := range t.rec.Reads {
		r := &t.rec.Reads[i]
		if r.Client == w.Client && r.Version == w.Base && r.Heard != engine.Forever && r.Heard <= w.Sent.Tick {
			found = r
		}
	}
	return found
}

// lastRefused gives the last write that the resource refused.
func (t *teller) lastRefused() int32 {
	last := engine.None
	for i := range t.rec.Writes {
		if w := &t.rec.Writes[i]; !w.Accepted && w.Applied.Tick != engine.Forever &&
			(last == engine.None || t.rec.Writes[last].Applied.Before(w.Applied)) {
			last = int32(i)
		}
	}
	return last
}

// lastHeldBack tells of the last write that its client did not send.
func (t *teller) lastHeldBack() string {
	for i := len(t.rec.Events) - 1; i >= 0; i-- {
		e := &t.rec.Events[i]
		if e.Outcome != engine.Skipped {
			continue
		}
		who := t.client(e.Client)
		s := " At " + tick(e.At.Tick) + " " + who + " held its write back, because "
		if e.Reason == engine.ReasonUnchecked {
			return s + "its last check did not say yes."
		}
		return s + "its lease was over by its own clock."
	}
	return ""
}

// refused tells of a write that the resource did not take.
func (t *teller) refused(final string, i int32) string {
	w := &t.rec.Writes[i]
	who := t.client(w.Client)
	s := final + " is left: "
	if why, end := t.holdEnd(w.Client, w.Applied.Tick, w.Token); why != "" && end != engine.Forever && t.writers[i].refused == nil {
		s += t.howLate(w) + ", and "
	}
	s += "at " + tick(w.Applied.Tick) + " the resource refused " + who + "'s write, because "
	switch w.Reason {
	case engine.ReasonStale:
		s += "its token " + number(w.Token) + " is lower than token " + number(w.Highest)
		if at, ok := t.applied(i, w.Highest); ok {
			s += ", which it had applied at " + tick(at)
		} else {
			s += ", which it knew already"
		}
	case engine.ReasonStrict:
		s += "its token " + number(w.Token) + " was used already"
	case engine.ReasonVersion:
		s += "the value had changed since " + who + " read it"
	case engine.ReasonLock:
		s += who + " did not hold the lock when it landed"
	case engine.ReasonBefore:
		s += "it came after its deadline"
	default:
		s += "it was not allowed"
	}
	switch {
	case t.writers[i].refused != nil:
		s += ", although " + who + " held the lock."
	case w.Heard == engine.Forever:
		s += ". " + who + " does not learn of it."
	case t.laterAccepted(w):
		s += ". " + who + " was told, and a later write of it was accepted."
	default:
		s += ". " + who + " is told and can start again; nothing that was finished is lost."
	}
	return s
}

// laterAccepted tells whether the client of a refused write had one accepted afterwards.
func (t *teller) laterAccepted(w *engine.WriteOp) bool {
	for i := range t.rec.Writes {
		if o := &t.rec.Writes[i]; o.Client == w.Client && o.Accepted && w.Applied.Before(o.Applied) {
			return true
		}
	}
	return false
}

// rivals tells whether another client was granted the lock before an unlocked write, later than its client.
func (t *teller) rivals(f *audit.Finding) bool {
	rival := false
	for i := range t.rec.Grants {
		if g := &t.rec.Grants[i]; g.Heard.Tick <= f.T {
			rival = g.Client != f.Client
		}
	}
	return rival
}

// innocent is the sentence that most runs here come to.
func (t *teller) innocent() string {
	if len(t.rec.Leases) < 2 {
		return "The lock is innocent: it never had two leases that could overlap"
	}
	return "The lock is innocent: not one pair of its " + count(len(t.rec.Leases), "lease") + " overlaps"
}

// blame words the place of the fault that the audit gives.
func (t *teller) blame() string {
	switch t.aud.Fault {
	case audit.FaultLock:
		f := t.first(audit.DoubleHold)
		if f == nil {
			f = t.first(audit.Overlap)
		}
		s := "The fault is the lock's: it let two clients in at once"
		if f != nil {
			s = "The fault is the lock's: " + t.finding(f) + t.cause()
		}
		return s + "."
	case audit.FaultTokens:
		s := "The fault is in the tokens: the lock's numbers do not rise from grant to grant, so no fence can rely on them"
		if f := t.first(audit.TokenRegress); f != nil {
			s += " (" + t.finding(f) + ")"
		}
		return s + "."
	case audit.FaultResource:
		return t.innocent() + ". " + t.resourceFault()
	case audit.FaultSnapshot:
		return t.innocent() + ", and no write was stale. The fault is in the read-modify-write: " +
			"a token check on writes does not see an old copy; fence-at read, fence-at grant or guard version does."
	case audit.FaultBypass:
		f := t.first(audit.UnlockedWrite)
		if f == nil {
			return "A write went past the lock and did no harm, because nobody was there to be hurt by it."
		}
		s := "But at " + tick(f.T) + " " + t.client(f.Client) + " wrote without holding the lock" +
			prefixed(": ", t.lostHold(f.Client, f.T, f.Token))
		if t.rivals(f) {
			return s + ". It did no harm only because nobody had written since with a later grant."
		}
		return s + ". It did no harm only because nobody else was there to be hurt by it."
	}
	if f := t.first(audit.RefusedHolder); f != nil {
		if f.Applied == f.Token {
			return "The data is safe, but under fencing strict a lease is good for one write only."
		}
		return "The data is safe, but the holder could not do its work."
	}
	if len(t.rec.Leases) == 0 {
		return ""
	}
	if f := t.first(audit.TokenRegress); f != nil {
		return t.innocent() + ". But its tokens do not rise, so that a fence could not rely on them: " + t.finding(f) + "."
	}
	switch {
	case t.waiting() != "":
		return "The lock is safe: not one pair of its leases overlaps."
	case t.lastRefused() == engine.None:
		return "The lock did its work: not one pair of its leases overlaps."
	}
	return t.innocent() + "."
}

// cause says how the first lease that another one overlapped came to an end too early for its client.
func (t *teller) cause() string {
	f := t.first(audit.Overlap)
	if f == nil {
		return ""
	}
	for i := range t.rec.Leases {
		l := &t.rec.Leases[i]
		if l.Promise != f.By {
			continue
		}
		where, when, lease := server(l.Server), tick(l.End.Tick), t.client(l.Client)+"'s lease"
		switch l.Ended {
		case engine.ByRestart:
			return " (" + where + " forgot " + lease + " when it came up at " + when + ")"
		case engine.ByRevoke:
			return " (" + lease + " was revoked by force at " + when + ")"
		case engine.ByTakeover:
			return " (at " + when + " the next asker judged " + lease + " to be over)"
		case engine.ByOther:
			return " (at " + when + " another client freed " + lease + ", and " + where + " did not check the owner)"
		case engine.RanOut:
			if p := at(t.rec.Promises, f.By); p != nil && l.End.Before(p.End) {
				return " (by " + where + "'s own clock " + lease + " was over at " + when + ")"
			}
		}
	}
	return ""
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// resourceFault says what the resource could have known.
func (t *teller) resourceFault() string {
	if f := t.first(audit.StaleWrite); f != nil {
		s := "The fault is the resource's: it took token " + number(f.Token) + " after token " + number(f.Applied)
		if t.settings().Fencing == engine.FencingOff {
			return s + ", because it compares no tokens (fencing off)."
		}
		return s + ", because it no longer knew the higher one."
	}
	return "The fault is the resource's: it took a write from a client that was not the holder, and never asked."
}

// waiting adds what became of those who never got the lock.
func (t *teller) waiting() string {
	if f := t.first(audit.Deadlock); f != nil {
		return "Deadlock: " + t.finding(f) + "."
	}
	if f := t.first(audit.Starvation); f != nil {
		return "Starvation: " + t.finding(f) + "."
	}
	if f := t.first(audit.Orphan); f != nil {
		return "Orphan: " + t.finding(f) + "."
	}
	return ""
}
