package report

import (
	"slices"

	"dlock/audit"
	"dlock/engine"
)

// finding says in one sentence how a law was broken: when, by whom, and what was there before. Of two clients the one
// that was there first comes first. It has no full stop.
func (t *teller) finding(f *audit.Finding) string {
	who, other := t.client(f.Client), t.client(f.Other)
	switch f.Law {
	case audit.Overlap:
		p, q := at(t.rec.Promises, f.By), at(t.rec.Promises, f.Index)
		if p == nil || q == nil {
			return server(f.Server) + " promises itself to two clients " + during(f.T, f.End)
		}
		return server(f.Server) + " promises itself to " + t.client(p.Client) + " " + during(p.Start.Tick, p.End.Tick) +
			" and to " + t.client(q.Client) + " " + during(q.Start.Tick, q.End.Tick)
	case audit.DoubleHold:
		return "a quorum is promised to " + other + " and to " + who + " at once, " + during(f.T, f.End)
	case audit.DoubleBelief:
		return other + " and " + who + " both believe that they hold the lock, " + during(f.T, f.End)
	case audit.StaleWrite:
		return "at " + tick(f.T) + " " + who + "'s token " + number(f.Token) + " is accepted after " + t.earlier(f)
	case audit.LostUpdate:
		return t.vanished(f)
	case audit.UnlockedWrite:
		why := t.lostHold(f.Client, f.T, f.Token)
		if why == "" {
			why = who + " is not the holder"
		}
		return who + "'s write at " + tick(f.T) + " is accepted, though " + why
	case audit.TokenRegress:
		return who + "'s grant at " + tick(f.T) + " has token " + number(f.Token) + ", which is not higher than token " +
			number(f.Applied) + " granted before"
	case audit.RefusedHolder:
		s := who + "'s write at " + tick(f.T) + " is refused, though " + who + " is the holder: its token " + number(f.Token)
		if f.Applied == f.Token {
			return s + " was used already"
		}
		return s + " is lower than " + number(f.Applied)
	case audit.Starvation, audit.Deadlock:
		return t.stillAsking(f)
	case audit.Orphan:
		return "a quorum voted for " + who + " at " + tick(f.T) + ", " + who + " never hears of it, and nobody gives it back"
	}
	return ""
}

// earlier names the write that had the higher token.
func (t *teller) earlier(f *audit.Finding) string {
	w, token := at(t.rec.Writes, f.By), "token "+number(f.Applied)
	if w == nil {
		return token
	}
	who := t.client(w.Client) + "'s "
	if w.Client == f.Client {
		who = "its own "
	}
	return who + token + ", applied at " + tick(w.Applied.Tick)
}

func (t *teller) vanished(f *audit.Finding) string {
	lost, by := at(t.rec.Writes, f.Index), at(t.rec.Writes, f.By)
	if lost == nil || by == nil {
		return t.client(f.Other) + "'s write vanishes"
	}
	return t.client(lost.Client) + "'s write of " + tick(lost.Applied.Tick) + " vanishes under " + t.client(by.Client) + "'s of " +
		tick(by.Applied.Tick) + ", which is based on version " + number(by.Base)
}

func (t *teller) stillAsking(f *audit.Finding) string {
	who := t.client(f.Client)
	tr := at(t.rec.Trials, f.Index)
	if tr == nil {
		return who + " still asks at " + tick(f.T)
	}
	s := who + " asks from " + tick(tr.First) + " to " + tick(tr.Last) + " (" + count(tr.Polls, "time") + ") "
	if tr.Polls == 1 {
		s = who + " asks at " + tick(tr.First) + " "
	}
	if f.Law == audit.Deadlock {
		return s + "and nothing that is still to come would free a quorum"
	}
	return s + "and is never granted the lock"
}

// lostHold says why a client that writes at a tick no longer holds the lock, or never did.
func (t *teller) lostHold(client int32, when engine.Tick, token int64) string {
	why, _ := t.holdEnd(client, when, token)
	return why
}

// holdEnd finds how the hold ended that a write at a tick leans on, and when; the tick is Forever if nothing is known.
func (t *teller) holdEnd(client int32, when engine.Tick, token int64) (string, engine.Tick) {
	granted := false
	for i := range t.rec.Grants {
		g := &t.rec.Grants[i]
		if g.Client == client && g.Heard.Tick <= when {
			granted = true
		}
	}
	for i := range t.rec.Leases { // a renewal can take the lock, too
		l := &t.rec.Leases[i]
		granted = granted || l.Client == client && l.Attempt == engine.None && l.Start.Tick <= when
	}
	if !granted {
		return "it was never granted the lock", engine.Forever
	}
	// The leases of its token that ended before: the last of them to end took the quorum away or found it gone.
	var last *engine.Lease
	for i := range t.rec.Leases {
		l := &t.rec.Leases[i]
		if l.Client == client && l.Token <= token && l.End.Tick <= when && l.Ended != engine.ByHandback &&
			(last == nil || !l.End.Before(last.End)) {
			last = l
		}
	}
	if last == nil {
		return "", engine.Forever
	}
	end := "at " + tick(last.End.Tick)
	where := t.endedOn(last)
	on := prefixed(" on ", where)
	switch last.Ended {
	case engine.RanOut:
		return "its lease" + on + " ran out " + end, last.End.Tick
	case engine.ByRelease:
		if other := t.releaser(last); other != engine.None {
			return t.client(other) + ", which shares its owner id, released the lock " + end, last.End.Tick
		}
		return "it had released the lock " + end, last.End.Tick
	case engine.ByRevoke:
		return "its lease" + on + " was revoked " + end, last.End.Tick
	case engine.ByRestart:
		if where == "" {
			where = "the servers"
		}
		return where + " forgot its lease " + end, last.End.Tick
	case engine.ByTakeover:
		return "its lease" + on + " was taken over " + end, last.End.Tick
	case engine.ByOther:
		return "another client freed its lease" + on + " " + end, last.End.Tick
	}
	return "", engine.Forever
}

// releaser gives the client that gave back a lease of another's under the owner id that they share, None if the lease's own
// client did.
func (t *teller) releaser(l *engine.Lease) int32 {
	other := engine.None
	for i := range t.rec.Events {
		e := &t.rec.Events[i]
		a := at(t.rec.Asks, e.Index)
		switch {
		case e.Verb != engine.Release || a == nil || l.End.Before(a.Sent) || a.Decided.Before(l.End):
		case e.At == l.End: // it landed where it was decided
			if e.Client == l.Client {
				return engine.None
			}
			return e.Client
		case e.Client == l.Client:
			return engine.None
		case other == engine.None && t.asksAs(e.Client, l.Owner):
			other = e.Client
		}
	}
	return other
}

// asksAs tells whether a client asks for the lock under an owner id.
func (t *teller) asksAs(client, owner int32) bool {
	return slices.ContainsFunc(t.rec.Program.Steps, func(s engine.Step) bool {
		return s.Verb == engine.Acquire && s.Client == client && s.Owner == owner
	})
}

// endedOn names the servers on which an attempt's leases ended like this one, "" if they did so on all of its servers.
func (t *teller) endedOn(like *engine.Lease) string {
	var servers []int32
	all := true
	for i := range t.rec.Leases {
		switch l := &t.rec.Leases[i]; {
		case l.Client != like.Client || l.Attempt != like.Attempt:
		case l.Ended == like.Ended && l.End.Tick == like.End.Tick:
			servers = append(servers, l.Server)
		default:
			all = false
		}
	}
	if all {
		return ""
	}
	slices.Sort(servers)
	return serverList(slices.Compact(servers))
}

// meaning says what a law forbids, for people who read a transcript, a map or a table.
func meaning(l audit.Law) string {
	switch l {
	case audit.Overlap:
		return "one server promised the lock to two clients at once"
	case audit.DoubleHold:
		return "two clients were promised a quorum at once"
	case audit.DoubleBelief:
		return "two clients believed at once that they hold the lock"
	case audit.StaleWrite:
		return "a write was accepted after one with a higher token"
	case audit.LostUpdate:
		return "an accepted write vanished under one computed from an older copy"
	case audit.UnlockedWrite:
		return "a write was accepted whose client was not the holder"
	case audit.TokenRegress:
		return "a grant's token was not higher than an earlier one's"
	case audit.RefusedHolder:
		return "the fence refused a write of the holder"
	case audit.Starvation:
		return "a client asked to the end and was never granted the lock"
	case audit.Deadlock:
		return "a client asked to the end, and nothing to come would free the lock"
	case audit.Orphan:
		return "a quorum voted for an attempt that its client never hears of"
	}
	return ""
}

// sign is a law's letter in a map of cells: a capital for the laws of safety.
func sign(l audit.Law) string {
	return string("OHbSLUtrwdp"[min(l, audit.NumLaws-1)])
}

// gravest orders the laws for a place that has room for one: harm to the data, then the lock's own, then the rest.
func gravest() []audit.Law {
	return []audit.Law{audit.StaleWrite, audit.LostUpdate, audit.Overlap, audit.DoubleHold, audit.UnlockedWrite,
		audit.TokenRegress, audit.RefusedHolder, audit.Deadlock, audit.Starvation, audit.Orphan, audit.DoubleBelief}
}

// laws lists every law in the order in which people see them.
func laws() []audit.Law {
	all := make([]audit.Law, audit.NumLaws)
	for i := range all {
		all[i] = audit.Law(i)
	}
	return all
}
