package audit

import (
	"slices"
	"testing"

	"dlock/engine"
	"dlock/internal/randprog"
)

// crowd makes a record of n promises on five servers: rounds in which every server promises to the next client, each
// promise so long that it overlaps the next few.
func crowd(n int, lasts engine.Tick) *engine.Record {
	const clients, servers = 40, 5
	rec := &engine.Record{Program: &engine.Program{
		Settings: engine.Settings{Servers: servers, Quorum: servers/2 + 1},
		Clients:  make([]string, clients),
	}}
	for i := range n {
		round := i / servers
		start := engine.Moment{Tick: engine.Tick(round), Seq: int32(round + 1)}
		end := engine.Moment{Tick: start.Tick + lasts + engine.Tick(i%7)}
		client, server := int32(round%clients), int32(i%servers)
		rec.Promises = append(rec.Promises, engine.Promise{
			Client: client, Server: server, Start: start, End: end, Ended: engine.RanOut,
		})
		rec.Leases = append(rec.Leases, engine.Lease{
			Client: client, Server: server, Owner: client, Attempt: engine.None, Start: start, End: end, Ended: engine.RanOut, Gone: end,
		})
	}
	return rec
}

func TestMoreFindingsThanAreKept(t *testing.T) {
	rec := crowd(500, 4)
	rep := Judge(rec)
	want := twinOverlap(rec)
	if rep.Counts[Overlap] != int64(len(want)) || len(want) <= MaxFindings {
		t.Fatalf("counted %d overlaps, the twin %d; want more than %d", rep.Counts[Overlap], len(want), MaxFindings)
	}
	var got []engine.Tick
	for _, f := range rep.Findings {
		if f.Law == Overlap {
			got = append(got, f.T)
		}
	}
	var first []engine.Tick
	for _, k := range sorted(want)[:MaxFindings] {
		first = append(first, engine.Tick(k.t))
	}
	if !slices.Equal(got, first) {
		t.Errorf("overlaps at %v are listed, want the earliest ones at %v", got, first)
	}
}

// A line that fires twice: at its first end the lock is about to become free once more, at its second it no longer is.
func TestDeadlockLooksAtTheLastTrialOfALine(t *testing.T) {
	p := &engine.Program{
		Settings: engine.Settings{Servers: 1, Quorum: 1, Leases: true, OwnerCheck: true, Horizon: 10},
		Clients:  []string{"A", "B", "C"}, Owners: []string{"A", "B", "C"},
		Roots: []int32{0, 1, 2, 3},
		Steps: []engine.Step{
			{Line: 1, Verb: engine.Acquire, Client: 0, At: 0, TTL: 5, RetryUntil: engine.Forever},
			{Line: 2, Verb: engine.Acquire, Client: 1, Owner: 1, At: 6, TTL: engine.Forever, RetryUntil: engine.Forever},
			{
				Line: 3, Verb: engine.Acquire, Client: 2, Owner: 2, Repeat: engine.Every, At: 1, K: 7, Last: 8, TTL: 5,
				Retry: 20, RetryUntil: engine.Forever,
			},
			{Line: 4, Verb: engine.Crash, Client: 1, At: 7},
		},
	}
	rep := Judge(engine.Run(p))
	if rep.Counts[Deadlock] != 1 || rep.Findings[len(rep.Findings)-1].T != 8 {
		t.Errorf("deadlock %d, findings %+v; want one at tick 8", rep.Counts[Deadlock], rep.Findings)
	}
	p.Steps[2].Last = 1
	if rep := Judge(engine.Run(p)); rep.Counts[Deadlock] != 0 || rep.Counts[Starvation] != 1 {
		t.Errorf("without the second firing: deadlock %d, starvation %d; want 0 and 1, the lock is free at 5",
			rep.Counts[Deadlock], rep.Counts[Starvation])
	}
}

func TestJudgeAllocatesNothingOnceWarm(t *testing.T) {
	var records []*engine.Record
	for seed := range uint64(200) {
		records = append(records, engine.Run(randprog.New(seed, randprog.All)))
	}
	a, rep := &Auditor{}, &Report{}
	all := func() {
		for _, rec := range records {
			a.Judge(rec, rep)
		}
	}
	if n := testing.AllocsPerRun(5, all); n != 0 {
		t.Errorf("judging %d records again allocates %v times", len(records), n)
	}
}

// A report that is used again must not keep anything of the record before.
func TestReportIsOverwritten(t *testing.T) {
	a, rep := &Auditor{}, &Report{}
	for seed := range uint64(500) {
		rec := engine.Run(randprog.New(seed, randprog.All))
		a.Judge(rec, rep)
		fresh := Judge(rec)
		if rep.Counts != fresh.Counts || rep.Idle != fresh.Idle || rep.Grants != fresh.Grants || rep.Writes != fresh.Writes ||
			rep.Fault != fresh.Fault || !slices.Equal(rep.Findings, fresh.Findings) ||
			!slices.Equal(rep.Holders, fresh.Holders) || !slices.Equal(rep.Blocked, fresh.Blocked) {
			t.Fatalf("seed %d: the used report is %+v, a fresh one %+v", seed, rep, fresh)
		}
	}
}

func BenchmarkMillionPromises(b *testing.B) {
	for _, c := range []struct {
		name  string
		lasts engine.Tick
	}{{"few overlaps", 1}, {"many overlaps", 1000}} {
		b.Run(c.name, func(b *testing.B) {
			rec := crowd(1_000_000, c.lasts)
			a, rep := &Auditor{}, &Report{}
			b.ReportAllocs()
			for b.Loop() {
				a.Judge(rec, rep)
			}
			b.ReportMetric(float64(rep.Counts[Overlap]), "overlaps")
		})
	}
}

func BenchmarkSmallRecords(b *testing.B) {
	var records []*engine.Record
	for seed := range uint64(1000) {
		records = append(records, engine.Run(randprog.New(seed, randprog.Basic)))
	}
	a, rep := &Auditor{}, &Report{}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		a.Judge(records[i], rep)
		i = (i + 1) % len(records)
	}
}
