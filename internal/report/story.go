package report

import (
	"cmp"
	"slices"

	"dlock/engine"
)

// A happening is one line of a transcript: who did what when, what came of it, and why.
type happening struct {
	from, to engine.Tick // the same, unless several are told as one
	who      string
	what     string
	outcome  string
	why      string
	tone     tone // of the outcome
	calm     bool // beside the point: waiting
}

// story tells the whole run: its events, and between them the leases that end without anybody's doing. Refused polls
// with the same reason are one line, and so are a watchdog's renewals with the same outcome. After maxLines lines it
// stops, and says how many events are left.
func (t *teller) story() (lines []happening, left int) {
	open := map[foldKey]int{} // the line that a repetition is told in
	ends := t.leaseEnds()
	for i := range t.rec.Events {
		e := &t.rec.Events[i]
		for len(ends) > 0 && (ends[0].at.Before(e.At) || ends[0].first && !e.At.Before(ends[0].at)) {
			lines = append(lines, ends[0].line)
			ends = ends[1:]
		}
		if t.untold(e) {
			continue
		}
		if len(lines) >= maxLines {
			return lines, len(t.rec.Events) - i
		}
		h := t.happened(e)
		key, folds := t.fold(e, &h)
		if !folds {
			lines = append(lines, h)
			continue
		}
		if at, ok := open[key]; ok && lines[at].why == h.why && lines[at].outcome == h.outcome {
			lines[at].to = e.At.Tick
			continue
		}
		open[key] = len(lines)
		lines = append(lines, h)
	}
	for _, e := range ends {
		lines = append(lines, e.line)
	}
	return lines, 0
}

// maxLines is how many lines a story has: more than anybody reads, and little enough to print at once.
const maxLines = 5_000

// foldKey says which repetitions belong together: the polls of a trial, the renewals of a watchdog.
type foldKey struct {
	trial, step, client int32
}

func (t *teller) fold(e *engine.Event, h *happening) (foldKey, bool) {
	switch {
	case e.Outcome == engine.Waiting && e.Index >= 0:
		return foldKey{trial: t.rec.Attempts[e.Index].Trial, step: engine.None, client: engine.None}, true
	case e.Background && h.outcome != "":
		return foldKey{trial: engine.None, step: e.Step, client: e.Client}, true
	}
	return foldKey{}, false
}

// untold tells whether an event is part of what another line says: the send of a poll that was refused.
func (t *teller) untold(e *engine.Event) bool {
	return e.Verb == engine.Acquire && e.Outcome == engine.Sent && e.Index >= 0 &&
		t.rec.Attempts[e.Index].Outcome == engine.Waiting
}

// ending is a line about leases that end, and its place in the run: after the event that ends them, or before the grant
// that they are taken over for.
type ending struct {
	at    engine.Moment
	first bool
	line  happening
}

// leaseEnds gives a line for every client's leases that end at a moment by running out or by somebody else's doing.
func (t *teller) leaseEnds() []ending {
	type group struct {
		at      engine.Moment
		client  int32
		ended   engine.Ending
		servers []int32
	}
	var groups []group
	for i := range t.rec.Leases {
		l := &t.rec.Leases[i]
		switch l.Ended {
		case engine.RanOut, engine.ByTakeover, engine.ByOther:
			if l.End.Tick <= l.Start.Tick && l.Ended == engine.RanOut {
				continue // a lease of ttl 0 held at no tick
			}
			groups = append(groups, group{l.End, l.Client, l.Ended, []int32{l.Server}})
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.at.Tick, b.at.Tick), cmp.Compare(a.at.Seq, b.at.Seq), cmp.Compare(a.client, b.client),
			cmp.Compare(a.ended, b.ended), cmp.Compare(a.servers[0], b.servers[0]))
	})
	var ends []ending
	for i := 0; i < len(groups); {
		g := groups[i]
		for i++; i < len(groups) && groups[i].client == g.client && groups[i].ended == g.ended && groups[i].at.Tick == g.at.Tick &&
			(g.ended == engine.RanOut || groups[i].at == g.at); i++ {
			g.servers = append(g.servers, groups[i].servers...)
		}
		slices.Sort(g.servers)
		h := happening{from: g.at.Tick, to: g.at.Tick, who: serverList(g.servers), what: "lease of " + t.client(g.client)}
		switch g.ended {
		case engine.RanOut:
			h.outcome, h.why = "runs out", t.unaware(g.client, g.at.Tick)
		case engine.ByTakeover:
			h.outcome, h.why = "taken", "the asker judges that it is over"
		case engine.ByOther:
			h.outcome, h.why = "freed", "by another client: the server does not check the owner"
		}
		ends = append(ends, ending{g.at, g.ended == engine.ByTakeover, h})
	}
	return ends
}
