package report

import (
	"strings"
	"testing"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
)

// blame makes a run with one finding about a small record in which every list has something.
func blame(f audit.Finding, fault audit.Fault) *study.Run {
	w := pauseWorld(engine.FencingOff)
	r := w.run("")
	r.Record.Trials[1].Last, r.Record.Trials[1].Polls = 40, 15
	r.Audit = &audit.Report{Findings: []audit.Finding{f}, Fault: fault, Writes: 2}
	r.Audit.Counts[f.Law] = 1
	return r
}

func TestEveryLawIsWorded(t *testing.T) {
	findings := map[audit.Law]audit.Finding{
		audit.Overlap:       {T: 12, End: 15, Client: 1, Other: 0, Server: 2, Index: 5, By: 0},
		audit.DoubleHold:    {T: 12, End: 15, Client: 1, Other: 0},
		audit.DoubleBelief:  {T: 12, End: 15, Client: 1, Other: 0},
		audit.StaleWrite:    {T: 16, Client: 0, Token: 1, Applied: 2, Index: 1, By: 0},
		audit.LostUpdate:    {T: 16, Client: 0, Other: 1, Index: 0, By: 1},
		audit.UnlockedWrite: {T: 16, Client: 0, Token: 1, Index: 1},
		audit.TokenRegress:  {T: 12, Client: 1, Token: 1, Applied: 2, Index: 1},
		audit.RefusedHolder: {T: 14, Client: 1, Token: 2, Applied: 3, Index: 0},
		audit.Starvation:    {T: 40, Client: 1, Index: 1},
		audit.Deadlock:      {T: 40, Client: 1, Index: 1},
		audit.Orphan:        {T: 12, Client: 1, Index: 1},
	}
	wants := map[audit.Law]string{
		audit.Overlap:       "s3 promises itself to A in [0, 10) and to B in [12, 15)",
		audit.DoubleHold:    "a quorum is promised to A and to B at once, in [12, 15)",
		audit.DoubleBelief:  "A and B both believe that they hold the lock, in [12, 15)",
		audit.StaleWrite:    "at 16 A's token 1 is accepted after B's token 2, applied at 14",
		audit.LostUpdate:    "B's write of 14 vanishes under A's of 16, which is based on version 0",
		audit.UnlockedWrite: "A's write at 16 is accepted, though its lease ran out at 10",
		audit.TokenRegress:  "B's grant at 12 has token 1, which is not higher than token 2 granted before",
		audit.RefusedHolder: "B's write at 14 is refused, though B is the holder: its token 2 is lower than 3",
		audit.Starvation:    "B asks from 12 to 40 (15 times) and is never granted the lock",
		audit.Deadlock:      "B asks from 12 to 40 (15 times) and nothing that is still to come would free a quorum",
		audit.Orphan:        "a quorum voted for B at 12, B never hears of it, and nobody gives it back",
	}
	signs := ""
	for _, l := range laws() {
		f := findings[l]
		f.Law = l
		if got := newTeller(blame(f, audit.FaultNone)).finding(&f); got != wants[l] {
			t.Errorf("%s: %s", l, got)
		}
		if meaning(l) == "" {
			t.Errorf("%s has no meaning", l)
		}
		if strings.Contains(signs, sign(l)) || len(sign(l)) != 1 {
			t.Errorf("the sign of %s is %q", l, sign(l))
		}
		signs += sign(l)
		if safety := l.Kind() == audit.Safety; safety != (strings.ToUpper(sign(l)) == sign(l)) {
			t.Errorf("the sign %q of %s says the wrong kind", sign(l), l)
		}
	}
	if len(gravest()) != len(laws()) {
		t.Errorf("%d laws have a rank", len(gravest()))
	}
}

// TestFindingsOfNothing words findings that point at nothing: a report must never be able to stop a transcript.
func TestFindingsOfNothing(t *testing.T) {
	for _, l := range laws() {
		f := audit.Finding{Law: l, Client: engine.None, Other: 77, Server: engine.None, Index: 99, By: -5}
		for fault := audit.FaultNone; fault <= audit.FaultBypass; fault++ {
			r := blame(f, fault)
			if transcript(t, fileOf(r), Options{}) == "" || newTeller(r).verdict() == "" {
				t.Errorf("%s says nothing", l)
			}
		}
	}
}

func TestVerdict(t *testing.T) {
	onlyA := newWorld("A", "B")
	onlyA.acquire(0, "A", 10, 0).at(1, "A", engine.Read, nil).appends(2, "A", "A").at(3, "A", engine.Release, nil)
	alone := pauseWorld(engine.FencingOff)
	alone.p.Roots = alone.p.Roots[:5] // A without B
	snapshot := newWorld("A", "B")
	snapshot.acquire(0, "A", 14, 0).at(1, "A", engine.Read, nil).pause(2, "A", 14)
	snapshot.acquire(14, "B", 10, 0).at(15, "B", engine.Read, nil).appends(16, "A", "A").appends(16, "B", "B")
	forever := newWorld("A", "B")
	forever.p.Settings.Horizon = 20
	forever.acquire(0, "A", engine.Forever, 0).at(1, "A", engine.Crash, nil).acquire(2, "B", 10, 1)
	wiped := newWorld("A", "B")
	wiped.p.Settings.Servers, wiped.p.Settings.Quorum = 1, 1
	wiped.p.ServerIDs = []int32{0}
	one := func(s *engine.Step) {
		s.Client, s.Servers, s.Restart = engine.None, engine.Span{Lo: 0, Hi: 1}, engine.RestartEmpty
	}
	wiped.acquire(0, "A", 10, 0).at(2, "", engine.ServerCrash, one).at(3, "", engine.ServerRestart, one).acquire(4, "B", 10, 0)

	for name, c := range map[string]struct {
		world *world
		want  []string
	}{
		"alone":    {onlyA, []string{`"A" is left, by the one write that was accepted.`, "The lock did its work"}},
		"unfenced": {pauseWorld(engine.FencingOff), []string{`"A" is left because A wrote over work that B had finished`, "A's lease ran out at 10 while A was paused", "computed from its read at 1, without B's work", "innocent: not one pair of its 10 leases overlaps", "The fault is the resource's: it took token 1 after token 2"}},
		"fenced":   {pauseWorld(engine.FencingOn), []string{`"B" is left`, "the resource refused A's write, because its token 1 is lower than token 2", "nothing that was finished is lost", "innocent"}},
		"bypass":   {alone, []string{"at 16 A wrote without holding the lock: its lease ran out at 10", "nobody else had been granted the lock"}},
		"snapshot": {snapshot, []string{"what A wrote at 16 is lost: B appended to the copy that it had read at 15", "no write was stale", "guard version"}},
		"deadlock": {forever, []string{"Nothing was written", "Deadlock: B asks from 2 to 20"}},
		"lock":     {wiped, []string{"The fault is the lock's", "s1 forgot A's lease when it came up at 3"}},
	} {
		got := newTeller(c.world.run("")).verdict()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
	}
	limited := pauseRun("", engine.FencingOff)
	for l, want := range map[engine.LimitKind]string{engine.LimitRequests: "requests", engine.LimitEvents: "work", engine.LimitTicks: "tick", engine.LimitValue: "size"} {
		limited.Record.Limit = l
		if got := newTeller(limited).verdict(); !strings.Contains(got, "limit ") || !strings.Contains(got, want) {
			t.Errorf("limit %d: %s", l, got)
		}
	}
}

// A finding in a transcript and in JSON names its ticks, its cause and the lines of the steps that it is about.
func TestFindingsNameCauseAndLines(t *testing.T) {
	for _, c := range []struct {
		law          audit.Law
		source, want string
	}{
		{audit.Overlap, "servers 1\nat 0 A acquire ttl 9\nat 1 s1 restart empty\nat 2 B acquire ttl 9\n",
			"s1 promises itself to A in [0, 9) and to B in [2, 11) (s1 forgot A's lease when it came up at 1; lines 2 and 4)"},
		{audit.DoubleHold, "servers 1\nat 0 A acquire ttl 9\nat 1 s1 revoke\nat 2 B acquire ttl 9\n",
			"a quorum is promised to A and to B at once, in [2, 9) (A's lease was revoked by force at 1; lines 2 and 4)"},
		{audit.DoubleHold, "servers 3\nquorum 1\nat 0 A acquire ttl 9 on s1\nat 2 B acquire ttl 9 on s2\n",
			"a quorum is promised to A and to B at once, in [2, 9), because 1 of 3 votes are no majority (lines 3 and 4)"},
		{audit.DoubleBelief, "at 0 A acquire ttl 9\nat 9 B acquire ttl 9\n",
			"A and B both believe that they hold the lock, in [9, …), though A's lease ran out at 9 (lines 1 and 2)"},
		{audit.StaleWrite, "at 0 A acquire ttl 9\nat 9 B acquire ttl 9\nat 10 B write \"b\"\nat 11 A write \"a\"\n",
			"at 11 A's token 1 is accepted after B's token 2, applied at 10, though A's lease ran out at 9 (lines 3 and 4)"},
		{audit.LostUpdate, "at 0 A acquire ttl 9\nat 1 A read\nat 2 A append \"x\" reply lost\nat 3 A append \"y\"\n",
			"A's write of 2 vanishes under A's of 3, which is based on version 0, read at 1 (lines 3 and 4)"},
		{audit.UnlockedWrite, "at 0 A acquire ttl 9\nat 9 A write \"a\"\n",
			"A's write at 9 is accepted, though its lease ran out at 9 (lines 1 and 2)"},
		{audit.TokenRegress, "servers 1\nat 0 A acquire ttl 1\nat 1 s1 restart wiped\nat 2 B acquire ttl 1\n",
			"B's grant at 2 has token 1, which is not higher than token 1 granted before, since s1 came up at 1 without its token counter (lines 2 and 4)"},
		{audit.RefusedHolder, "servers 1\nfencing on\nat 0 A acquire ttl 1\nat 1 A acquire ttl 1\nat 1 A write \"a\"\nat 2 s1 restart wiped\nat 3 B acquire ttl 1\nat 3 B write \"b\"\n",
			"B's write at 3 is refused, though B is the holder: its token 1 is lower than 2, applied at 1 (lines 7 and 8)"},
		{audit.Starvation, "horizon 4\nat 0 A acquire ttl 9\nat 2 B acquire ttl 9 retry every 1\n",
			"B asks from 2 to 4 (3 times) and is never granted the lock: A has s1..s5 (line 3)"},
		{audit.Deadlock, "horizon 4\nat 0 A acquire ttl none\nat 2 B acquire ttl 9 retry every 1\n",
			"B asks from 2 to 4 (3 times) and nothing that is still to come would free a quorum: A has s1..s5 (line 3)"},
		{audit.Orphan, "at 0 A acquire ttl 9 reply +2\nat 1 A crash\n",
			"a quorum voted for A at 0, A never hears of it, and nobody gives it back: it crashes at 1 (line 1)"},
		{audit.Orphan, "handback off\nat 0 A acquire ttl 9 reply lost from s1..s4\n",
			"a quorum voted for A at 0, A never hears of it, and nobody gives it back: the answers of s1..s4 are lost (line 2)"},
	} {
		r := studied(t, c.source).Items[0].Run
		tell := newTeller(r)
		f := tell.first(c.law)
		if f == nil {
			t.Errorf("%s is not broken", c.law)
			continue
		}
		if got := tell.whole(f); got != c.want {
			t.Errorf("%s: %s", c.law, got)
		}
	}
}
