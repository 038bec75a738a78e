package audit

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"dlock/engine"
	"dlock/internal/randprog"
)

// The twins say each law once more, slowly and straight from its definition: all pairs, every moment, no memory. They
// share nothing with the laws but the record.

// key names a breach: what is broken, when, and for pairs until when.
type key struct{ a, b, t, end int64 }

func sorted(keys []key) []key {
	slices.SortFunc(keys, func(x, y key) int {
		return cmp.Or(cmp.Compare(x.t, y.t), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return keys
}

func within(m, start, end engine.Moment) bool { return !m.Before(start) && m.Before(end) }

func later(a, b engine.Moment) engine.Moment {
	if a.Before(b) {
		return b
	}
	return a
}

func sooner(a, b engine.Moment) engine.Moment {
	if a.Before(b) {
		return a
	}
	return b
}

// after all of tick t
func endOf(t engine.Tick) engine.Moment { return engine.Moment{Tick: t, Seq: 1 << 30} }

func clientsOf(rec *engine.Record) int32 { return int32(len(rec.Program.Clients)) }

func twinHolds(rec *engine.Record, client int32, m engine.Moment) bool {
	n := 0
	for s := range int32(rec.Program.Settings.Servers) {
		if twinUp(rec, s, m) && twinIn(rec, client, s, m) {
			n++
		}
	}
	return n >= rec.Program.Settings.Quorum
}

func twinUp(rec *engine.Record, server int32, m engine.Moment) bool {
	for _, f := range rec.Faults {
		if f.Kind == engine.FaultServerCrash && f.Server == server && within(m, f.Start, f.End) {
			return false
		}
	}
	return true
}

func twinIn(rec *engine.Record, client, server int32, m engine.Moment) bool {
	for i, l := range rec.Leases {
		if l.Server != server || !within(m, l.Start, l.End) {
			continue
		}
		if l.Client == client {
			return true
		}
		for _, v := range rec.Votes {
			if v.Kind == engine.VoteAgain && v.Lease == int32(i) && !m.Before(v.Applied) && rec.Attempts[v.Attempt].Client == client {
				return true
			}
		}
	}
	return false
}

func twinOverlap(rec *engine.Record) []key {
	var out []key
	for i, p := range rec.Promises {
		for j, q := range rec.Promises[:i] {
			if p.Server == q.Server && p.Client != q.Client && later(p.Start, q.Start).Before(sooner(p.End, q.End)) {
				k := key{int64(i), int64(j), int64(later(p.Start, q.Start).Tick), int64(sooner(p.End, q.End).Tick)}
				if p.Start.Before(q.Start) {
					k.a, k.b = k.b, k.a
				}
				out = append(out, k)
			}
		}
	}
	return out
}

func twinDoubleHold(rec *engine.Record) []key {
	var starts, ends []engine.Moment
	for _, p := range rec.Promises {
		starts, ends = append(starts, p.Start), append(ends, p.End)
	}
	return twinMeet(rec, starts, ends, func(c int32, m engine.Moment) bool {
		n := 0
		for s := range int32(rec.Program.Settings.Servers) {
			if slices.ContainsFunc(rec.Promises, func(p engine.Promise) bool {
				return p.Client == c && p.Server == s && within(m, p.Start, p.End)
			}) {
				n++
			}
		}
		return n >= rec.Program.Settings.Quorum
	})
}

func twinDoubleBelief(rec *engine.Record) []key {
	var starts, ends []engine.Moment
	for _, b := range rec.Beliefs {
		starts, ends = append(starts, b.Start), append(ends, b.End)
	}
	return twinMeet(rec, starts, ends, func(c int32, m engine.Moment) bool {
		return slices.ContainsFunc(rec.Beliefs, func(b engine.Belief) bool {
			return b.Client == c && within(m, b.Start, b.End)
		})
	})
}

// twinMeet tries every pair of clients at every moment at which something begins, then at every one at which something ends.
func twinMeet(rec *engine.Record, starts, ends []engine.Moment, in func(c int32, m engine.Moment) bool) []key {
	slices.SortFunc(starts, byMoment)
	slices.SortFunc(ends, byMoment)
	var out []key
	for d := range clientsOf(rec) {
		for c := range d {
			both := func(m engine.Moment) bool { return in(c, m) && in(d, m) }
			i := slices.IndexFunc(starts, both)
			if i < 0 {
				continue
			}
			end := engine.Never()
			if j := slices.IndexFunc(ends, func(m engine.Moment) bool { return starts[i].Before(m) && !both(m) }); j >= 0 {
				end = ends[j]
			}
			out = append(out, key{int64(c), int64(d), int64(starts[i].Tick), int64(end.Tick)})
		}
	}
	return out
}

func twinStaleWrite(rec *engine.Record) []key {
	var out []key
	for i, w := range rec.Writes {
		if w.Accepted && slices.ContainsFunc(rec.Writes, func(v engine.WriteOp) bool {
			return v.Accepted && v.Applied.Before(w.Applied) && v.Token > w.Token
		}) {
			out = append(out, key{a: int64(i), t: int64(w.Applied.Tick)})
		}
	}
	return out
}

func twinLostUpdate(rec *engine.Record) []key {
	var out []key
	for i, w := range rec.Writes {
		if !w.Accepted {
			continue
		}
		vanished := engine.Never()
		for _, v := range rec.Writes {
			if v.Accepted && v.Verb == engine.Append && w.Applied.Before(v.Applied) && v.Base < w.Version {
				vanished = sooner(vanished, v.Applied)
			}
		}
		if vanished != engine.Never() {
			out = append(out, key{a: int64(i), t: int64(vanished.Tick)})
		}
	}
	return out
}

func twinUnlockedWrite(rec *engine.Record) []key {
	var out []key
	for i, w := range rec.Writes {
		if w.Accepted && !twinHolds(rec, w.Client, w.Applied) {
			out = append(out, key{a: int64(i), t: int64(w.Applied.Tick)})
		}
	}
	return out
}

func twinRefusedHolder(rec *engine.Record) []key {
	var out []key
	for i, w := range rec.Writes {
		byToken := w.Reason == engine.ReasonStale || w.Reason == engine.ReasonStrict
		if byToken && twinHolds(rec, w.Client, w.Applied) {
			out = append(out, key{a: int64(i), t: int64(w.Applied.Tick)})
		}
	}
	return out
}

func twinTokenRegress(rec *engine.Record) []key {
	var out []key
	for i, g := range rec.Grants {
		if !g.Again && slices.ContainsFunc(rec.Grants, func(h engine.Grant) bool {
			return !h.Again && h.Cast.Before(g.Cast) && h.Token >= g.Token
		}) {
			out = append(out, key{a: int64(i), t: int64(g.Cast.Tick)})
		}
	}
	return out
}

func twinLives(rec *engine.Record, client int32) bool {
	return !slices.ContainsFunc(rec.Faults, func(f engine.Fault) bool {
		return f.Kind == engine.FaultClientCrash && f.Client == client
	})
}

func twinStarvation(rec *engine.Record) []key {
	var out []key
	for c := range clientsOf(rec) {
		granted := slices.ContainsFunc(rec.Grants, func(g engine.Grant) bool { return g.Client == c })
		first := slices.IndexFunc(rec.Trials, func(t engine.Trial) bool {
			return t.Client == c && t.Retry && t.End == engine.TrialHorizon
		})
		if twinLives(rec, c) && !granted && first >= 0 {
			out = append(out, key{a: int64(c), t: int64(rec.Trials[first].Ended.Tick)})
		}
	}
	return out
}

// twinDeadlock tries every moment of every tick, and one so far away that all clocks which run have passed everything.
func twinDeadlock(rec *engine.Record) bool {
	var moments []engine.Moment
	for _, l := range rec.Leases {
		moments = append(moments, l.Start, l.End, l.Gone)
	}
	for _, f := range rec.Faults {
		moments = append(moments, f.Start, f.End)
	}
	for t := range rec.Last + 100 {
		moments = append(moments, engine.Moment{Tick: t}, endOf(t))
	}
	moments = append(moments, engine.Moment{Tick: 1 << 40})
	for _, t := range rec.Trials {
		if !t.Retry || t.End != engine.TrialHorizon || !twinLives(rec, t.Client) {
			continue
		}
		if twinFree(rec, &t, t.Ended) {
			continue
		}
		if !slices.ContainsFunc(moments, func(m engine.Moment) bool {
			return m.Tick != engine.Forever && t.Ended.Before(m) && twinFree(rec, &t, m)
		}) {
			return true
		}
	}
	return false
}

func twinFree(rec *engine.Record, t *engine.Trial, m engine.Moment) bool {
	p := rec.Program
	step := p.Steps[t.Step]
	asked := p.ServerIDs[step.Servers.Lo:step.Servers.Hi]
	n := 0
	for s := range int32(p.Settings.Servers) {
		if (len(asked) == 0 || slices.Contains(asked, s)) && twinUp(rec, s, m) && !twinRefuses(rec, t, s, m) {
			n++
		}
	}
	return n >= p.Settings.Quorum
}

func twinRefuses(rec *engine.Record, t *engine.Trial, server int32, m engine.Moment) bool {
	set := rec.Program.Settings
	for _, l := range rec.Leases {
		if l.Server != server || !within(m, l.Start, l.Gone) {
			continue
		}
		// Whose clock says that it is over, and at which reading?
		var now, end engine.Tick
		switch set.Judge {
		case engine.JudgeServer:
			if m.Before(l.End) {
				return !set.Reentrant || l.Owner != twinOwner(rec, t.Client)
			}
			now, end = twinClock(rec, engine.None, server, m), twinClock(rec, engine.None, server, l.End)
		case engine.JudgeCaller:
			now, end = twinClock(rec, t.Client, engine.None, m), l.Stamp
		case engine.JudgeCallerTTL:
			now, end = twinClock(rec, engine.None, server, m), engine.Forever
			if ttl := rec.Program.Steps[t.Step].TTL; set.Leases && ttl != engine.Forever {
				end = l.Voted + ttl
			}
		}
		if now < end {
			return !set.Reentrant || l.Owner != twinOwner(rec, t.Client)
		}
		return now < end+set.LockDelay
	}
	return false
}

func twinOwner(rec *engine.Record, client int32) int32 {
	owner := client
	for _, t := range rec.Trials {
		if t.Client == client {
			owner = rec.Program.Steps[t.Step].Owner
		}
	}
	return owner
}

// twinClock reads a clock tick by tick.
func twinClock(rec *engine.Record, client, server int32, m engine.Moment) engine.Tick {
	shows, stopped, last := engine.Tick(0), false, engine.Tick(0)
	for _, f := range rec.Faults {
		if f.Kind != engine.FaultClock && f.Kind != engine.FaultClockStop || f.Client != client || f.Server != server || m.Before(f.Start) {
			continue
		}
		if !stopped {
			shows += f.Start.Tick - last
		}
		last = f.Start.Tick
		shows += f.By
		stopped = stopped || f.Kind == engine.FaultClockStop
	}
	if !stopped {
		shows += m.Tick - last
	}
	return shows
}

func twinOrphan(rec *engine.Record) []key {
	var out []key
	for i, at := range rec.Attempts {
		cast, heard, kept := 0, 0, 0
		moment := engine.Never()
		for _, v := range rec.Votes {
			if v.Attempt != int32(i) || v.Kind != engine.VoteYes && v.Kind != engine.VoteAgain {
				continue
			}
			if cast++; cast == rec.Program.Settings.Quorum {
				moment = v.Applied
			}
			if v.Heard != engine.Forever {
				heard++
			}
			if !v.Returned {
				kept++
			}
		}
		quorum := rec.Program.Settings.Quorum
		if cast >= quorum && heard < quorum && kept >= quorum && at.Outcome != engine.Granted {
			out = append(out, key{a: int64(i), t: int64(moment.Tick)})
		}
	}
	return out
}

func twinIdle(rec *engine.Record) engine.Tick {
	waiting := func(t engine.Tick) bool {
		for _, d := range rec.Attempts {
			if d.Outcome != engine.Waiting && d.Outcome != engine.Denied || d.Decided.Tick > t {
				continue
			}
			next := engine.Never()
			for _, n := range rec.Attempts {
				if n.Client == d.Client && d.Decided.Before(n.Sent) {
					next = sooner(next, n.Sent)
				}
			}
			if next != engine.Never() && t < next.Tick {
				return true
			}
		}
		return false
	}
	idle := engine.Tick(0)
	for t := range rec.Last + 1 {
		held := false
		for c := range clientsOf(rec) {
			held = held || twinHolds(rec, c, endOf(t))
		}
		if !held && waiting(t) {
			idle++
		}
	}
	return idle
}

func twinBlocked(rec *engine.Record, client int32) engine.Tick {
	for _, g := range rec.Grants {
		if g.Client == client {
			for _, at := range rec.Attempts {
				if at.Client == client {
					return g.Heard.Tick - at.Sent.Tick
				}
			}
		}
	}
	return -1
}

// keyOf gives a finding the name that the twin gives it.
func keyOf(f *Finding) key {
	t := int64(f.T)
	switch f.Law {
	case Overlap:
		return key{int64(f.Index), int64(f.By), t, int64(f.End)}
	case DoubleHold, DoubleBelief:
		return key{int64(min(f.Client, f.Other)), int64(max(f.Client, f.Other)), t, int64(f.End)}
	case Starvation:
		return key{a: int64(f.Client), t: t}
	default:
		return key{a: int64(f.Index), t: t}
	}
}

var twins = [NumLaws]func(*engine.Record) []key{
	Overlap: twinOverlap, DoubleHold: twinDoubleHold, DoubleBelief: twinDoubleBelief, StaleWrite: twinStaleWrite,
	LostUpdate: twinLostUpdate, UnlockedWrite: twinUnlockedWrite, TokenRegress: twinTokenRegress,
	RefusedHolder: twinRefusedHolder, Starvation: twinStarvation, Orphan: twinOrphan,
}

// compareLaw checks one law's count and list against its twin, and tells whether it is broken.
func compareLaw(t *testing.T, seed uint64, law Law, rec *engine.Record, rep *Report) bool {
	t.Helper()
	var got []key
	for i := range rep.Findings {
		if f := &rep.Findings[i]; f.Law == law {
			got = append(got, keyOf(f))
		}
	}
	if law == Deadlock {
		if twinDeadlock(rec) != (rep.Counts[law] == 1) || len(got) != int(rep.Counts[law]) {
			t.Fatalf("seed %d: deadlock %d (%d findings), the twin says %v", seed, rep.Counts[law], len(got), twinDeadlock(rec))
		}
		return rep.Counts[law] > 0
	}
	if !slices.IsSortedFunc(got, func(x, y key) int { return cmp.Compare(x.t, y.t) }) {
		t.Fatalf("seed %d: %v: findings are not in the order of time: %v", seed, law, got)
	}
	want := sorted(twins[law](rec))
	if rep.Counts[law] != int64(len(want)) {
		t.Fatalf("seed %d: %v: counted %d, the twin %d: %v", seed, law, rep.Counts[law], len(want), want)
	}
	if len(want) > MaxFindings {
		want, got = want[:0], nil
	}
	if !slices.Equal(sorted(got), want) {
		t.Fatalf("seed %d: %v: found %v, the twin %v", seed, law, got, want)
	}
	return rep.Counts[law] > 0
}

// TestTwins judges random programs twice. A law that hardly any of them breaks would make the comparison hollow.
func TestTwins(t *testing.T) {
	const programs = 10_000
	for _, c := range []struct {
		name     string
		features randprog.Features
		least    [NumLaws]int // programs that have to break the law
	}{
		{"basic", randprog.Basic, [NumLaws]int{20, 80, 2000, 1000, 2000, 2000, 150, 800, 800, 800, 0}},
		{"all", randprog.All, [NumLaws]int{1000, 1000, 2000, 1000, 2000, 2000, 300, 800, 800, 800, 500}},
		{"clocks", randprog.Clocks | randprog.Settings, [NumLaws]int{800, 800, 1000, 1000, 2000, 2000, 80, 800, 800, 800, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var broken [NumLaws]int
			m, rec, a, rep := engine.NewMachine(), &engine.Record{}, &Auditor{}, &Report{}
			for seed := range uint64(programs) {
				p := randprog.New(seed, c.features)
				m.Run(p, rec)
				a.Judge(rec, rep)
				for law := range NumLaws {
					if compareLaw(t, seed, law, rec, rep) {
						broken[law]++
					}
				}
			}
			for law := range NumLaws {
				if broken[law] < c.least[law] {
					t.Errorf("%v was broken by %d programs of %d, want at least %d", law, broken[law], programs, c.least[law])
				}
			}
		})
	}
}

// TestMeasureTwins compares holders, blocked and idle tick by tick.
func TestMeasureTwins(t *testing.T) {
	m, rec, a, rep := engine.NewMachine(), &engine.Record{}, &Auditor{}, &Report{}
	holders, idle, blocked := 0, 0, 0
	for seed := range uint64(10_000) {
		m.Run(randprog.New(seed, randprog.All), rec)
		a.Judge(rec, rep)
		for tick := range rec.Last + 40 {
			first := engine.None
			for c := clientsOf(rec) - 1; c >= 0; c-- {
				want := twinHolds(rec, c, endOf(tick))
				if want {
					first = c
				}
				if rep.Holds(c, tick) != want {
					t.Fatalf("seed %d: after tick %d client %d holds: %v, the twin says %v", seed, tick, c, !want, want)
				}
			}
			if got := rep.HolderAt(tick); got != first {
				t.Fatalf("seed %d: holder after tick %d is %d, the twin says %d", seed, tick, got, first)
			}
		}
		checkIntervals(t, rep.Holders)
		if want := twinIdle(rec); rep.Idle != want {
			t.Fatalf("seed %d: idle %d, the twin says %d", seed, rep.Idle, want)
		}
		for c := range clientsOf(rec) {
			if want := twinBlocked(rec, c); rep.Blocked[c] != want {
				t.Fatalf("seed %d: client %d blocked %d, the twin says %d", seed, c, rep.Blocked[c], want)
			}
			if rep.Blocked[c] > 0 {
				blocked++
			}
		}
		holders += len(rep.Holders)
		if rep.Idle > 0 {
			idle++
		}
	}
	if holders < 10_000 || idle < 2000 || blocked < 2000 {
		t.Errorf("%d holders, %d idle programs and %d blocked clients are too few to compare", holders, idle, blocked)
	}
}

func checkIntervals(t *testing.T, list []Interval) {
	t.Helper()
	for i, x := range list {
		if x.Start >= x.End {
			t.Fatalf("%v has no tick in it", x)
		}
		for _, y := range list[:i] {
			if y.Start > x.Start || y.Start == x.Start && y.Client >= x.Client || y.Client == x.Client && y.End >= x.Start {
				t.Fatalf("%v and %v are out of order, or one interval in two pieces", y, x)
			}
		}
	}
}

// TestIntervalTwins gives the interval laws denser records than the engine makes: many clients, many promises that begin
// and end at the same moments.
func TestIntervalTwins(t *testing.T) {
	a, rep := &Auditor{}, &Report{}
	var broken [NumLaws]int
	for seed := range uint64(10_000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		clients, servers := 2+rng.IntN(5), 1+rng.IntN(4)
		rec := &engine.Record{Program: &engine.Program{
			Settings: engine.Settings{Servers: servers, Quorum: 1 + rng.IntN(servers)},
			Clients:  make([]string, clients),
		}}
		moment := func() engine.Moment {
			return engine.Moment{Tick: engine.Tick(rng.IntN(6)), Seq: int32(rng.IntN(3))}
		}
		for range rng.IntN(16) {
			p := engine.Promise{Client: int32(rng.IntN(clients)), Server: int32(rng.IntN(servers)), Start: moment(), End: moment()}
			if p.End.Before(p.Start) {
				p.Start, p.End = p.End, p.Start
			}
			if rng.IntN(8) == 0 {
				p.End = engine.Never()
			}
			rec.Promises = append(rec.Promises, p)
			rec.Beliefs = append(rec.Beliefs, engine.Belief{Client: p.Client, Start: p.Start, End: p.End})
		}
		a.Judge(rec, rep)
		for _, law := range []Law{DoubleHold, DoubleBelief} {
			if compareLaw(t, seed, law, rec, rep) {
				broken[law]++
			}
		}
		if want := len(twinOverlap(rec)); int64(want) != rep.Counts[Overlap] {
			t.Fatalf("seed %d: overlap %d, the twin says %d", seed, rep.Counts[Overlap], want)
		} else if want > 0 {
			broken[Overlap]++
		}
	}
	for _, law := range []Law{Overlap, DoubleHold, DoubleBelief} {
		if broken[law] < 2000 {
			t.Errorf("%v was broken by %d records only", law, broken[law])
		}
	}
}
