package report

import (
	"cmp"
	"slices"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
)

// teller tells one run. It holds what a line needs besides its own event.
type teller struct {
	rec     *engine.Record
	aud     *audit.Report
	votes   [][]int32 // by attempt, into rec.Votes
	writers map[int32]breach

	// By client, in order of time: into aud.Holders, rec.Beliefs, rec.Pauses and rec.Writes. Every line asks these, and a
	// run can have a million.
	holds, beliefs, pauses, sent [][]int32
	onServer                     [][]int32                 // by server, into rec.Leases; there they follow one another in time
	accepted                     map[int64][]engine.Moment // by token, when its writes were applied, ascending
}

// breach says which laws a write broke.
type breach struct {
	stale, unlocked, refused *audit.Finding
	lost                     []*audit.Finding // writes that it made vanish
	vanished                 bool             // a later write made it vanish
}

func newTeller(r *study.Run) *teller {
	t := &teller{rec: r.Record, aud: r.Audit, votes: make([][]int32, len(r.Record.Attempts)), writers: map[int32]breach{}}
	for i := range t.rec.Votes {
		if a := t.rec.Votes[i].Attempt; a >= 0 && int(a) < len(t.votes) {
			t.votes[a] = append(t.votes[a], int32(i))
		}
	}
	clients := len(t.rec.Program.Clients)
	t.onServer = placesBy(t.settings().Servers, len(t.rec.Leases), func(i int) int32 { return t.rec.Leases[i].Server })
	t.holds = placesBy(clients, len(t.aud.Holders), func(i int) int32 { return t.aud.Holders[i].Client })
	t.beliefs = placesBy(clients, len(t.rec.Beliefs), func(i int) int32 { return t.rec.Beliefs[i].Client })
	t.pauses = placesBy(clients, len(t.rec.Pauses), func(i int) int32 { return t.rec.Pauses[i].Client })
	t.sent = placesBy(clients, len(t.rec.Writes), func(i int) int32 { return t.rec.Writes[i].Client })
	t.accepted = map[int64][]engine.Moment{}
	for i := range t.rec.Writes {
		if w := &t.rec.Writes[i]; w.Accepted {
			t.accepted[w.Token] = append(t.accepted[w.Token], w.Applied)
		}
	}
	for _, applied := range t.accepted { // each list by itself: the order of the map does not matter
		slices.SortFunc(applied, func(a, b engine.Moment) int {
			return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Seq, b.Seq))
		})
	}
	for i := range t.aud.Findings {
		f := &t.aud.Findings[i]
		at := f.Index
		if f.Law == audit.LostUpdate {
			at = f.By
		}
		b := t.writers[at]
		switch f.Law {
		case audit.StaleWrite:
			b.stale = f
		case audit.UnlockedWrite:
			b.unlocked = f
		case audit.RefusedHolder:
			b.refused = f
		case audit.LostUpdate:
			b.lost = append(b.lost, f)
		default:
			continue
		}
		t.writers[at] = b
		if f.Law == audit.LostUpdate {
			b := t.writers[f.Index]
			b.vanished = true
			t.writers[f.Index] = b
		}
	}
	return t
}

// placesBy gives the places of a list by the client or the server that each is about.
func placesBy(into, n int, of func(i int) int32) [][]int32 {
	out := make([][]int32, into)
	for i := range n {
		if c := of(i); c >= 0 && int(c) < into {
			out[c] = append(out[c], int32(i))
		}
	}
	return out
}

// places gives what placesBy has for a client or a server.
func places(lists [][]int32, of int32) []int32 {
	if l := at(lists, of); l != nil {
		return *l
	}
	return nil
}

// cover gives the first of a client's stretches, which do not overlap, that ends after a tick.
func cover(places []int32, at engine.Tick, end func(i int32) engine.Tick) (int32, bool) {
	n, _ := slices.BinarySearchFunc(places, at, func(i int32, at engine.Tick) int {
		if end(i) > at {
			return 1
		}
		return -1
	})
	if n == len(places) {
		return 0, false
	}
	return places[n], true
}

// client names a client.
func (t *teller) client(i int32) string {
	if i < 0 || int(i) >= len(t.rec.Program.Clients) {
		return "nobody"
	}
	return t.rec.Program.Clients[i]
}

func (t *teller) step(i int32) *engine.Step {
	if i < 0 || int(i) >= len(t.rec.Program.Steps) {
		return &engine.Step{Client: engine.None}
	}
	return &t.rec.Program.Steps[i]
}

// settings of the run's world.
func (t *teller) settings() *engine.Settings { return &t.rec.Program.Settings }

// at gives an element of a list of the record, or nil if there is none.
func at[T any](list []T, i int32) *T {
	if i < 0 || int(i) >= len(list) {
		return nil
	}
	return &list[i]
}

// unaware says that a client goes on believing beyond a tick at which it ceases to hold the lock.
func (t *teller) unaware(client int32, at engine.Tick) string {
	who := t.client(client)
	if i, ok := cover(places(t.holds, client), at, func(i int32) engine.Tick { return t.aud.Holders[i].End }); ok &&
		t.aud.Holders[i].Start <= at {
		return who + " still holds the lock on the others"
	}
	i, ok := cover(places(t.beliefs, client), at, func(i int32) engine.Tick { return t.rec.Beliefs[i].End.Tick })
	switch {
	case !ok || t.rec.Beliefs[i].Start.Tick >= at:
		return ""
	case t.paused(client, at):
		return who + " is paused and still believes that it holds the lock"
	default:
		return who + " is not told and still believes that it holds the lock"
	}
}

// paused tells whether a client is paused at a tick.
func (t *teller) paused(client int32, at engine.Tick) bool {
	i, ok := cover(places(t.pauses, client), at, func(i int32) engine.Tick { return t.rec.Pauses[i].End })
	return ok && t.rec.Pauses[i].Start.Tick <= at
}
