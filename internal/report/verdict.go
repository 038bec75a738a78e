package report

import (
	"slices"
	"strings"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
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
	if f := t.lostForGood(); f != nil {
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
	}
	if w := t.lastReplaced(); w != nil {
		return final + " is left, after " + count(t.aud.Writes, "write") + "; " + t.client(w.Client) + "'s of " + tick(w.Applied.Tick) +
			" replaced what was there, as a write that is no append does." + held
	}
	return final + " is left, by " + count(t.aud.Writes, "write") + ", and none of them is lost." + held
}

// lostForGood gives the first lost update whose text is not in what is left, or else the first one.
func (t *teller) lostForGood() *audit.Finding {
	for i := range t.aud.Findings {
		if f := &t.aud.Findings[i]; f.Law == audit.LostUpdate && !t.isLeft(f.Index) {
			return f
		}
	}
	return t.first(audit.LostUpdate)
}

// isLeft tells whether the text of a write is to be seen in what is left. It may have come back with a copy of its client's.
func (t *teller) isLeft(write int32) bool {
	w := at(t.rec.Writes, write)
	if w == nil {
		return false
	}
	v := at(t.rec.Values, w.Value)
	return v != nil && v.Text != "" && strings.Contains(t.rec.Value(t.rec.Final), v.Text)
}

// lastReplaced gives the last accepted write that put its own value in the place of an earlier write's, nil if none did.
// That is no lost update, since it never looked at what was there, but neither is everything that was written still there.
func (t *teller) lastReplaced() *engine.WriteOp {
	var last *engine.WriteOp
	for i := range t.rec.Writes {
		w := &t.rec.Writes[i]
		if w.Accepted && w.Verb == engine.Write && w.Version > 1 && (last == nil || last.Applied.Before(w.Applied)) {
			last = w
		}
	}
	return last
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
	if x, y := t.grantOf(late), t.grantOf(by); x != nil && y != nil && y.Cast.Before(x.Cast) && x.Token == late.Token && y.Token == by.Token {
		return final + " is left: at " + tick(late.Applied.Tick) + " " + a + "'s write was accepted with token " + number(late.Token) +
			" after " + b + "'s with token " + number(by.Token) + " of " + tick(by.Applied.Tick) + ", although " + a +
			" was granted the lock later than " + b + "."
	}
	kept := late.Verb == engine.Append && late.Base >= by.Version // it knew what it wrote after
	var s strings.Builder
	switch {
	case kept, t.rec.Final != late.Value && t.isLeft(f.By):
		s.WriteString(final + " is left, although " + a + " wrote after its time: ")
	case t.rec.Final == late.Value:
		s.WriteString(final + " is left because " + a + " wrote over work that " + b + " had finished: ")
	default:
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
		switch {
		case gone:
			basis += ", without " + b + "'s work"
		case kept:
			basis += ", with " + b + "'s work in it"
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
		return who + " wrote with token " + number(w.Token) + " although a higher token had been used"
	}
	s := t.named(w.Client, why)
	if end == engine.Forever {
		return s
	}
	if t.paused(w.Client, end) {
		s += " while " + who + " was paused"
	}
	return s
}

// named puts a client's name into a clause that speaks of "it".
func (t *teller) named(client int32, why string) string {
	who := t.client(client)
	s := strings.Replace(strings.Replace(why, "its lease", who+"'s lease", 1), "its owner id", who+"'s owner id", 1)
	if strings.HasPrefix(s, "it ") {
		s = who + strings.TrimPrefix(s, "it")
	}
	return s
}

// grantOf gives the grant that a write was made under, nil if its client had heard of none.
func (t *teller) grantOf(w *engine.WriteOp) *engine.Grant {
	var found *engine.Grant
	for i := range t.rec.Grants {
		if g := &t.rec.Grants[i]; g.Client == w.Client && g.Heard.Before(w.Sent) && (found == nil || found.Heard.Before(g.Heard)) {
			found = g
		}
	}
	return found
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
	s := final + " is left, and what " + a + " wrote at " + tick(lost.Applied.Tick) + " is lost: "
	if t.isLeft(f.Index) {
		s = final + " is left, and the write of " + a + " at " + tick(lost.Applied.Tick) + " vanished, though its text is there: "
	}
	if a == b {
		return s + "its write of " + tick(by.Applied.Tick) + " was computed from an older copy."
	}
	s += b
	switch r := t.lastRead(by); {
	case r != nil:
		s += " appended to the copy that it had read at " + tick(r.Applied.Tick) + ", before " + a + "'s write landed, and its own landed at " +
			tick(by.Applied.Tick) + "."
	case by.Base == 0:
		s += ", which had read nothing, appended to the first value, and its write landed at " + tick(by.Applied.Tick) + "."
	default:
		s += " appended to what it had written before, and its write landed at " + tick(by.Applied.Tick) + "."
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

// lastHeldBack tells of the last write that its client did not send, and how many more there were.
func (t *teller) lastHeldBack() string {
	s, more := "", 0
	for i := len(t.rec.Events) - 1; i >= 0; i-- {
		e := &t.rec.Events[i]
		if e.Outcome != engine.Skipped {
			continue
		}
		if s != "" {
			more++
			continue
		}
		s = " At " + tick(e.At.Tick) + " " + t.client(e.Client) + " held its write back, because "
		switch {
		case e.Reason != engine.ReasonUnchecked:
			s += "its lease was over by its own clock."
		case t.checked(e):
			s += "its last check did not say yes."
		default:
			s += "it had heard no answer to a check."
		}
	}
	switch more {
	case 0:
		return s
	case 1:
		return s + " 1 more write was held back before."
	}
	return s + " " + count(more, "more write") + " were held back before."
}

// checked tells whether a client had heard an answer to a check before an event of its own.
func (t *teller) checked(e *engine.Event) bool {
	return slices.ContainsFunc(t.rec.Asks, func(a engine.Ask) bool {
		return a.Client == e.Client && a.Verb == engine.Check && a.Decided.Before(e.At) && (a.Outcome == engine.Yes || a.Outcome == engine.No)
	})
}

// refused tells of a write that the resource did not take.
func (t *teller) refused(final string, i int32) string {
	w := &t.rec.Writes[i]
	who := t.client(w.Client)
	s := final + " is left: "
	if why, end := t.holdEnd(w.Client, w.Applied.Tick, w.Token); why != "" && end != engine.Forever && t.writers[i].refused == nil &&
		!t.aud.Holds(w.Client, w.Applied.Tick) {
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
	case t.lastReplaced() != nil:
		s += ". " + who + " is told and can start again."
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

// unharmed says why a write past the lock did no harm: who could have been hurt by it, and what that client did not do.
func (t *teller) unharmed(f *audit.Finding) string {
	w := at(t.rec.Writes, f.Index)
	if w == nil {
		return "It did no harm."
	}
	for i := range t.rec.Writes {
		o := &t.rec.Writes[i]
		if o.Client != w.Client && !o.Accepted && o.Reason == engine.ReasonVersion && w.Applied.Before(o.Applied) && o.Base < w.Version {
			return "It did no harm only because " + t.client(o.Client) + "'s write at " + tick(o.Applied.Tick) +
				", which was computed without it, was refused (guard version)."
		}
	}
	var rival *engine.Grant
	for i := range t.rec.Grants {
		if g := &t.rec.Grants[i]; g.Client != w.Client && g.Heard.Before(w.Applied) && (rival == nil || rival.Heard.Before(g.Heard)) {
			rival = g
		}
	}
	switch {
	case rival == nil:
		return "It did no harm: nobody else had been granted the lock."
	case t.ownGrantAfter(w, rival):
		return "It did no harm: nobody else had been granted the lock since its own grant."
	}
	who := t.client(rival.Client)
	return "It did no harm only because " + who + ", which was granted the lock at " + tick(rival.Heard.Tick) +
		", had written nothing since and afterwards wrote nothing that was computed without it."
}

// ownGrantAfter tells whether a write's client was granted the lock after another grant and before it sent the write.
func (t *teller) ownGrantAfter(w *engine.WriteOp, other *engine.Grant) bool {
	for i := range t.rec.Grants {
		if g := &t.rec.Grants[i]; g.Client == w.Client && other.Cast.Before(g.Cast) && g.Heard.Before(w.Sent) {
			return true
		}
	}
	return false
}

// innocent is the sentence that most runs here come to.
func (t *teller) innocent() string {
	switch len(t.rec.Leases) {
	case 0:
		return "The lock is innocent: nobody ever had a lease"
	case 1:
		return "The lock is innocent: it never had two leases that could overlap"
	}
	return "The lock is innocent: not one pair of its " + count(len(t.rec.Leases), "lease") + " overlaps"
}

// blame words the place of the fault that the audit gives, and what else is wrong with the tokens.
func (t *teller) blame() string {
	regress := t.first(audit.TokenRegress)
	numbers := ""
	if regress != nil {
		numbers = "Its tokens do not rise, so that a fence could not rely on them: " + t.finding(regress) + "."
	}
	switch t.aud.Fault {
	case audit.FaultLock:
		return "The fault is the lock's: " + t.lockFault() + "."
	case audit.FaultTokens:
		s := "The fault is in the tokens: the lock's numbers do not rise from grant to grant, so no fence can rely on them"
		if regress != nil {
			s += " (" + t.finding(regress) + ")"
		}
		return s + "." + t.advice(study.TokensOrdered)
	case audit.FaultResource:
		return join([]string{t.innocent() + ".", t.resourceFault(), numbers}, " ")
	case audit.FaultSnapshot:
		s := t.innocent() + ", and no write was stale. The fault is in the read-modify-write: it worked on an old copy, and a " +
			"token check on writes does not see that." + t.advice(study.FenceAtRead, study.FenceAtGrant, study.GuardVersion)
		return join([]string{s, numbers}, " ")
	case audit.FaultBypass:
		besides := ""
		if s := t.turnedAway(); s != "" {
			besides = "Besides, " + s + "."
		}
		return join([]string{t.bypass(), besides, numbers}, " ")
	}
	if s := t.turnedAway(); s != "" {
		return "The data is safe, but " + s + "."
	}
	if len(t.rec.Leases) == 0 {
		return ""
	}
	if regress != nil {
		return t.innocent() + ". But " + lowerFirst(numbers)
	}
	if kept := t.kept(); kept != "" {
		return "The lock is safe: not one pair of its leases overlaps. " + kept
	}
	switch {
	case t.waiting() != "":
		return "The lock is safe: not one pair of its leases overlaps."
	case t.lastRefused() == engine.None:
		return "The lock did its work: not one pair of its leases overlaps."
	}
	return t.innocent() + "."
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func (t *teller) lockFault() string {
	f := t.first(audit.DoubleHold)
	overlap := t.first(audit.Overlap)
	switch {
	case f == nil && overlap == nil:
		return "it let two clients in at once"
	case f == nil:
		return t.finding(overlap) + t.cause(overlap)
	case overlap == nil: // two quorums without a common server
		return t.finding(f) + ", because " + number(t.settings().Quorum) + " of " + number(t.settings().Servers) + " votes are no majority"
	}
	return t.finding(f) + t.cause(overlap)
}

// advice names those of some remedies that keep the very same schedule from doing harm. Each has been tried.
func (t *teller) advice(about ...study.Remedy) string {
	fence := ""
	if t.settings().Fencing == engine.FencingOff {
		fence = "fencing on and "
	}
	helps := study.Remedies(&study.Run{Record: t.rec, Audit: t.aud})
	has := func(r study.Remedy) bool { return slices.Contains(about, r) && slices.Contains(helps, r) }
	var words []string
	switch {
	case has(study.FenceAtRead) && has(study.FenceAtGrant):
		words = append(words, "with "+fence+"fence-at read or grant")
	case has(study.FenceAtRead):
		words = append(words, "with "+fence+study.FenceAtRead.String())
	case has(study.FenceAtGrant):
		words = append(words, "with "+fence+study.FenceAtGrant.String())
	}
	if has(study.TokensOrdered) {
		words = append(words, "with "+study.TokensOrdered.String())
	}
	if has(study.GuardVersion) {
		words = append(words, "with "+study.GuardVersion.String()+" on every append")
	}
	if len(words) == 0 {
		return ""
	}
	return " The same schedule does no harm " + strings.Join(words, ", or ") + "."
}

// bypass tells of a write past the lock that did no harm.
func (t *teller) bypass() string {
	f := t.first(audit.UnlockedWrite)
	if f == nil {
		return "A write went past the lock and did no harm, because nobody was there to be hurt by it."
	}
	return "But at " + tick(f.T) + " " + t.client(f.Client) + " wrote without holding the lock" +
		prefixed(": ", t.lostHold(f.Client, f.T, f.Token)) + ". " + t.unharmed(f)
}

// turnedAway says that the fence kept the holder from its work.
func (t *teller) turnedAway() string {
	f := t.first(audit.RefusedHolder)
	switch {
	case f == nil:
		return ""
	case f.Applied == f.Token:
		return "under fencing strict a lease is good for one write only"
	}
	return "the holder could not do its work: " + t.finding(f)
}

// kept tells of a client that was refused although nobody held the lock, by votes that a failed attempt had not given back.
// It looks at as many attempts as a transcript has lines.
func (t *teller) kept() string {
	for i := range min(len(t.rec.Attempts), maxLines) {
		a := &t.rec.Attempts[i]
		if !failed(a) {
			continue
		}
		var servers []int32
		loser, blocked, under := engine.None, int32(0), false
		for _, v := range t.votes[i] {
			v := &t.rec.Votes[v]
			if v.Kind != engine.VoteNo || v.Holder < 0 {
				continue
			}
			l := t.livingAt(v.Server, v.Applied)
			if l == nil || l.Client != v.Holder || !failed(at(t.rec.Attempts, l.Attempt)) || t.someoneHolds(v.Applied.Tick) {
				continue
			}
			blocked++
			if loser == engine.None || loser == l.Client {
				loser = l.Client
				servers = append(servers, v.Server)
				under = under || v.Applied.Before(t.rec.Attempts[l.Attempt].Decided)
			}
		}
		if blocked > 0 && int(a.Yes+blocked) >= t.settings().Quorum {
			slices.Sort(servers)
			refused := "But at " + tick(a.Decided.Tick) + " " + t.client(a.Client) + " was refused although nobody held it: " + t.client(loser)
			if under {
				return refused + "'s attempt, which failed too, was still under way and had " + serverList(servers) + "."
			}
			return refused + "'s failed attempt had not given back " + serverList(servers) + "."
		}
	}
	return ""
}

// failed tells whether an attempt was refused; whether it is asked again does not matter.
func failed(a *engine.Attempt) bool {
	return a != nil && (a.Outcome == engine.Denied || a.Outcome == engine.Waiting)
}

// livingAt gives the one of a server's leases that lives at a moment, nil if none does.
func (t *teller) livingAt(server int32, m engine.Moment) *engine.Lease {
	places := places(t.onServer, server)
	n, _ := slices.BinarySearchFunc(places, m, func(i int32, m engine.Moment) int {
		if t.rec.Leases[i].Start.Before(m) {
			return -1
		}
		return 1
	})
	if n == 0 {
		return nil
	}
	if l := &t.rec.Leases[places[n-1]]; m.Before(l.End) {
		return l
	}
	return nil
}

func (t *teller) someoneHolds(when engine.Tick) bool {
	return slices.ContainsFunc(t.holds, func(holds []int32) bool {
		i, ok := cover(holds, when, func(i int32) engine.Tick { return t.aud.Holders[i].End })
		return ok && t.aud.Holders[i].Start <= when
	})
}

// cause says how the first lease of an overlap came to an end too early for its client.
func (t *teller) cause(f *audit.Finding) string {
	if q := at(t.rec.Promises, f.Index); q != nil && !slices.ContainsFunc(t.rec.Leases, func(l engine.Lease) bool { return l.Promise == f.Index }) {
		if t.letInAgain(q) {
			return " (at " + tick(q.Start.Tick) + " " + t.client(q.Client) + ", which asks under the owner id of that lease, was let into it)"
		}
		if t.settings().OwnerCheck {
			return " (" + t.client(q.Client) + " asks under the owner id of that lease)"
		}
		return " (at " + tick(q.Start.Tick) + " " + t.client(q.Client) + " renewed a lease that was not its own, and " + server(f.Server) +
			" did not check the owner)"
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
		case engine.ByRelease:
			if other := t.releaser(l); other != engine.None {
				return " (at " + when + " " + t.client(other) + ", which shares the owner id of " + lease + ", released it)"
			}
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

// letInAgain tells whether a promise comes from a reentrant vote: its client shares the owner id of somebody else's lease.
func (t *teller) letInAgain(p *engine.Promise) bool {
	return slices.ContainsFunc(t.rec.Votes, func(v engine.Vote) bool {
		return v.Kind == engine.VoteAgain && v.Server == p.Server && v.Applied == p.Start
	})
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
		switch {
		case t.settings().Fencing != engine.FencingOff:
			return s + ", because it no longer knew the higher one."
		case t.forgets(): // a fence would have been forgotten too
			return s + ", and compares no tokens (fencing off)."
		}
		return s + ", because it compares no tokens (fencing off)."
	}
	for i := range t.aud.Findings {
		f := &t.aud.Findings[i]
		if f.Law != audit.LostUpdate {
			continue
		}
		by, lost := at(t.rec.Writes, f.By), at(t.rec.Writes, f.Index)
		if by == nil || lost == nil {
			continue
		}
		if x, y := t.grantOf(by), t.grantOf(lost); x != nil && y != nil && x.Cast.Before(y.Cast) {
			return "The fault is the resource's: it took the write of " + t.client(f.Client) + ", although " + t.client(f.Other) +
				" had been granted the lock since and had written, and it compares no tokens (fencing off)."
		}
	}
	return "The fault is the resource's: it took a write from a client that was not the holder, and never asked."
}

// forgets tells whether the resource loses its highest token in the schedule.
func (t *teller) forgets() bool {
	return slices.ContainsFunc(t.rec.Program.Steps, func(s engine.Step) bool { return s.Verb == engine.ResourceForget })
}

// waiting adds what became of those who never got the lock.
func (t *teller) waiting() string {
	orphan := ""
	if f := t.first(audit.Orphan); f != nil {
		orphan = "Orphan: " + t.finding(f) + "."
	}
	if f := t.first(audit.Deadlock); f != nil {
		return join([]string{orphan, "Deadlock: " + t.finding(f) + "."}, " ")
	}
	if f := t.first(audit.Starvation); f != nil {
		return join([]string{orphan, "Starvation: " + t.finding(f) + "."}, " ")
	}
	return orphan
}
