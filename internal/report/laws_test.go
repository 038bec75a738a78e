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
		"bypass":   {alone, []string{"at 16 A wrote without holding the lock: its lease ran out at 10", "nobody else was there to be hurt"}},
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
