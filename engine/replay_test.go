package engine_test

import (
	"reflect"
	"slices"
	"testing"

	"dlock/engine"
	"dlock/internal/randprog"
)

// The record explains the state: what the engine reported of values, versions, tokens, votes and the resource's decisions
// follows from the lists of the record alone, by rules that are written down here a second time.

const replayed = 10_000

func TestSameProgramSameRecord(t *testing.T) {
	m, again := engine.NewMachine(), &engine.Record{}
	for seed := range uint64(replayed) {
		once := engine.Run(randprog.New(seed, randprog.All))
		m.Run(randprog.New(seed, randprog.All), again) // a machine that has run others before
		once.Program, again.Program = nil, nil
		if !same(reflect.ValueOf(*once), reflect.ValueOf(*again)) {
			t.Fatalf("seed %d: two runs of one program differ:\n%+v\n%+v", seed, once, again)
		}
	}
}

// same compares two records list by list; one that was kept and emptied is as good as one that was never made.
func same(a, b reflect.Value) bool {
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		if x.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(x.Interface(), y.Interface()) {
			return false
		}
	}
	return true
}

func TestTheRecordExplainsTheState(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(replayed) {
		r := replay{t: t, seed: seed, rec: engine.Run(randprog.New(seed, randprog.All)), seen: seen}
		r.values()
		r.fence()
		r.tokens()
		r.counters()
		r.votes()
		if t.Failed() {
			return
		}
	}
	// A rule that hardly ever had anything to say has not been tested.
	for _, what := range []string{"append", "read", "stale", "version", "lock", "late", "grant", "anew", "counter", "no", "yes", "again"} {
		if seen[what] < replayed/200 {
			t.Errorf("only %d cases of %q in %d programs", seen[what], what, replayed)
		}
	}
}

type replay struct {
	t    *testing.T
	seed uint64
	rec  *engine.Record
	seen map[string]int
}

func (r *replay) check(ok bool, what, format string, args ...any) {
	r.t.Helper()
	r.seen[what]++
	if !ok {
		r.t.Errorf("seed %d: "+format, append([]any{r.seed}, args...)...)
	}
}

// landed gives the writes that reached the resource, in the order in which they did.
func (r *replay) landed() []*engine.WriteOp {
	var out []*engine.WriteOp
	for i := range r.rec.Writes {
		if w := &r.rec.Writes[i]; w.Applied.Tick != engine.Forever {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b *engine.WriteOp) int {
		if a.Applied.Before(b.Applied) {
			return -1
		}
		return 1
	})
	return out
}

// values: versions count the accepted writes; a read gives the value of its moment; an append is what its base was, and its
// text; the last accepted write is what is left.
func (r *replay) values() {
	rec := r.rec
	values := []string{rec.Program.Settings.Initial}
	history := r.landed()
	for _, w := range history {
		r.check(w.Base >= 0 && w.Base < int64(len(values)), "base", "a write is based on version %d of %d", w.Base, len(values)-1)
		if r.t.Failed() {
			return
		}
		if w.Verb == engine.Append {
			prev := rec.Values[w.Value].Prev
			r.check(rec.Value(prev) == values[w.Base], "append", "an append to version %d, %q, writes %q", w.Base, values[w.Base], rec.Value(w.Value))
		}
		if w.Accepted {
			r.check(w.Version == int64(len(values)), "accepted", "the write after version %d makes version %d", len(values)-1, w.Version)
			values = append(values, rec.Value(w.Value))
		}
	}
	r.check(rec.Value(rec.Final) == values[len(values)-1], "final", "%q is left, but %q was written last", rec.Value(rec.Final), values[len(values)-1])
	for i := range rec.Reads {
		rd := &rec.Reads[i]
		if rd.Applied.Tick == engine.Forever {
			continue
		}
		version := int64(0)
		for _, w := range history {
			if w.Accepted && w.Applied.Before(rd.Applied) {
				version = w.Version
			}
		}
		r.check(rd.Version == version && rec.Value(rd.Value) == values[version], "read", "a read at %d gives version %d", rd.Applied.Tick, rd.Version)
	}
}

// fence: why each write was refused, or not.
func (r *replay) fence() {
	rec := r.rec
	set := &rec.Program.Settings
	version := int64(0)
	for _, w := range r.landed() {
		step := r.stepOf(w)
		low, high, used := r.known(w.Applied)
		r.check(low <= w.Highest && w.Highest <= high, "highest", "the resource knows token %d at %d, not %d..%d", w.Highest, w.Applied.Tick, low, high)
		before := step.Before
		if step.BeforePlus {
			before += w.Sent.Tick
		}
		want, kind := engine.ReasonNone, "accepted"
		switch {
		case set.Fencing != engine.FencingOff && w.Token < w.Highest:
			want, kind = engine.ReasonStale, "stale"
		case set.Fencing == engine.FencingStrict && w.Token <= used:
			want = engine.ReasonStrict
		case step.Guards&engine.GuardVersion != 0 && w.Base != version:
			want, kind = engine.ReasonVersion, "version"
		case step.Guards&engine.GuardLock != 0 && !r.holds(r.ownerAt(w.Client, w.Sent), w.Applied):
			want, kind = engine.ReasonLock, "lock"
		case step.Guards&engine.GuardBefore != 0 && w.Applied.Tick >= before:
			want, kind = engine.ReasonBefore, "late"
		}
		r.check(w.Reason == want && w.Accepted == (want == engine.ReasonNone), kind, "the write at %d (line %d) is decided with %q, want %q",
			w.Applied.Tick, w.Line, w.Reason, want)
		if w.Accepted {
			version = w.Version
		}
	}
}

func (r *replay) stepOf(w *engine.WriteOp) *engine.Step {
	for i := range r.rec.Events {
		if e := &r.rec.Events[i]; (e.Verb == engine.Append || e.Verb == engine.Write) && e.Index >= 0 && &r.rec.Writes[e.Index] == w {
			return &r.rec.Program.Steps[e.Step]
		}
	}
	r.t.Fatalf("seed %d: a write has no event", r.seed)
	return nil
}

// known bounds the highest token that the resource knows at a moment, and gives the highest of accepted writes. The bounds
// differ only with fence-at grant, where the record does not say at which moment of its tick a late vote came in.
func (r *replay) known(m engine.Moment) (low, high, used int64) {
	rec := r.rec
	used = -1
	forgot := engine.Moment{Tick: -1}
	for i := range rec.Faults {
		if f := &rec.Faults[i]; f.Kind == engine.FaultForget && f.Start.Before(m) {
			forgot = f.Start
		}
	}
	within := func(at engine.Moment) bool { return forgot.Before(at) && at.Before(m) }
	for i := range rec.Writes {
		if w := &rec.Writes[i]; w.Accepted && within(w.Applied) {
			low, used = max(low, w.Token), max(used, w.Token)
		}
	}
	if rec.Program.Settings.FenceAt >= engine.FenceAtRead {
		for i := range rec.Reads {
			if rd := &rec.Reads[i]; within(rd.Applied) {
				low = max(low, rd.Token)
			}
		}
	}
	high = low
	if rec.Program.Settings.FenceAt == engine.FenceAtGrant {
		for i := range rec.Grants {
			// Its token may have been raised by a vote that was heard later in the tick, so only an earlier tick is certain.
			if g := &rec.Grants[i]; within(g.Heard) && g.Heard.Tick < m.Tick && !g.Again {
				low = max(low, g.Token)
			}
		}
		for i := range rec.Leases {
			if l := &rec.Leases[i]; l.Start.Tick <= m.Tick {
				high = max(high, l.Token)
			}
		}
		high = max(high, low)
	}
	return low, high, used
}

// ownerAt gives the owner id under which a client sends at a moment: that of the last acquire that it began till then.
func (r *replay) ownerAt(client int32, m engine.Moment) int32 {
	owner, began := client, engine.Moment{Tick: -1}
	for i := range r.rec.Attempts {
		a := &r.rec.Attempts[i]
		if first := r.firstSend(a.Trial); a.Client == client && !m.Before(first) && !first.Before(began) {
			owner, began = r.rec.Program.Steps[a.Step].Owner, first
		}
	}
	return owner
}

func (r *replay) firstSend(trial int32) engine.Moment {
	for i := range r.rec.Attempts {
		if r.rec.Attempts[i].Trial == trial {
			return r.rec.Attempts[i].Sent
		}
	}
	return engine.Never()
}

// holds tells whether an owner's leases live at a moment on a quorum of servers that are up.
func (r *replay) holds(owner int32, m engine.Moment) bool {
	n := 0
	for sv := range r.rec.Program.Settings.Servers {
		up, live := true, false
		for i := range r.rec.Faults {
			if f := &r.rec.Faults[i]; f.Kind == engine.FaultServerCrash && f.Server == int32(sv) && f.Start.Before(m) && m.Before(f.End) {
				up = false
			}
		}
		for i := range r.rec.Leases {
			if l := &r.rec.Leases[i]; l.Server == int32(sv) && l.Owner == owner && l.Start.Before(m) && m.Before(l.End) {
				live = true
			}
		}
		if up && live {
			n++
		}
	}
	return n >= r.rec.Program.Settings.Quorum
}

// tokens: a grant's token is the highest vote heard up to and in the tick of its decision; a client's last token is that of
// the grant, or of the renewal that took the lock anew, which it heard last.
func (r *replay) tokens() {
	rec := r.rec
	last := make([]int64, len(rec.Program.Clients))
	when := make([]engine.Moment, len(last))
	take := func(client int32, at engine.Moment, token int64) {
		if !at.Before(when[client]) {
			when[client], last[client] = at, token
		}
	}
	for i := range rec.Grants {
		g := &rec.Grants[i]
		best, heard := int64(0), 0
		for j := range rec.Votes {
			v := &rec.Votes[j]
			if v.Attempt == g.Attempt && (v.Kind == engine.VoteYes || v.Kind == engine.VoteAgain) && v.Heard <= g.Heard.Tick {
				best = max(best, v.Token)
				heard++
			}
		}
		r.check(g.Token == best && heard >= rec.Program.Settings.Quorum, "grant", "the grant heard at %d has token %d, its %d votes %d",
			g.Heard.Tick, g.Token, heard, best)
		take(g.Client, g.Heard, g.Token)
	}
	for i := range rec.Asks {
		if a := &rec.Asks[i]; a.Token > 0 {
			r.check(a.Verb == engine.Renew && a.Outcome == engine.Renewed, "anew", "%v gives token %d", a.Verb, a.Token)
			take(a.Client, a.Decided, a.Token)
		}
	}
	for c := range last {
		r.check(rec.Tokens[c] == last[c], "token", "%s ends with token %d, want %d", rec.Program.Clients[c], rec.Tokens[c], last[c])
	}
}

// counters: each server numbers its leases 1, 2, …, and begins anew when it is wiped. One ordered log never gives a number to
// two operations, and never a lower one later.
func (r *replay) counters() {
	rec := r.rec
	if rec.Program.Settings.Tokens == engine.TokensOrdered {
		highest := int64(0)
		for i := range rec.Grants {
			if g := &rec.Grants[i]; !g.Again {
				highest = max(highest, g.Token)
			}
		}
		r.check(highest <= int64(len(rec.Attempts)+len(rec.Asks)), "ordered", "token %d for %d operations", highest, len(rec.Attempts)+len(rec.Asks))
		return
	}
	count := make([]int64, rec.Program.Settings.Servers)
	since := make([]engine.Moment, len(count))
	for i := range rec.Leases {
		l := &rec.Leases[i]
		for j := range rec.Faults {
			f := &rec.Faults[j]
			if f.Kind == engine.FaultServerCrash && f.Server == l.Server && f.Restart == engine.RestartWiped && since[l.Server].Before(f.End) && f.End.Before(l.Start) {
				count[l.Server] = 0
			}
		}
		since[l.Server] = l.Start
		if l.Token == count[l.Server] && l.Token > 0 {
			continue // a lease that was over by the server's clock goes on, since another clock judges
		}
		count[l.Server]++
		r.check(l.Token == count[l.Server], "counter", "lease %d of s%d has token %d, want %d", i, l.Server+1, l.Token, count[l.Server])
	}
}

// votes: by its own clock a server votes for whom it is free, or for the owner who has it where that is allowed.
func (r *replay) votes() {
	rec := r.rec
	set := &rec.Program.Settings
	if set.Judge != engine.JudgeServer {
		return
	}
	for i := range rec.Votes {
		v := &rec.Votes[i]
		if v.Applied.Tick == engine.Forever {
			continue
		}
		owner := rec.Program.Steps[rec.Attempts[v.Attempt].Step].Owner
		has := engine.None // the lease that lives there when the request lands
		for j := range rec.Leases {
			if l := &rec.Leases[j]; l.Server == v.Server && l.Start.Before(v.Applied) && !l.End.Before(v.Applied) && l.End != v.Applied {
				has = int32(j)
			} else if l.Server == v.Server && l.Start.Before(v.Applied) && l.End == v.Applied && l.Ended == engine.RanOut && v.Kind == engine.VoteAgain {
				has = int32(j) // moved to an end that is now
			}
		}
		switch {
		case v.Kind == engine.VoteYes:
			r.check(has == engine.None, "yes", "s%d votes at %d although lease %d lives there", v.Server+1, v.Applied.Tick, has)
		case v.Kind == engine.VoteAgain:
			r.check(set.Reentrant && has != engine.None && rec.Leases[has].Owner == r.ownerAt(rec.Attempts[v.Attempt].Client, rec.Attempts[v.Attempt].Sent), "again",
				"s%d votes again at %d for %d", v.Server+1, v.Applied.Tick, owner)
		case v.Holder != engine.None:
			r.check(has != engine.None && rec.Leases[has].Client == v.Holder, "no", "s%d refuses at %d because of client %d", v.Server+1, v.Applied.Tick, v.Holder)
		default:
			r.check(has == engine.None && set.LockDelay > 0, "closed", "s%d refuses at %d and names nobody", v.Server+1, v.Applied.Tick)
		}
	}
}
