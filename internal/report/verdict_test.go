package report

import (
	"strings"
	"testing"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/randprog"
	"dlock/internal/study"
)

// told gives the verdicts of a script's runs, one a line.
func told(t *testing.T, source string) string {
	t.Helper()
	var out []string
	for _, it := range studied(t, source).Items {
		out = append(out, newTeller(it.Run).verdict())
	}
	return strings.Join(out, "\n")
}

// sameToken is a schedule in which two grants have the token 2, and the paused A writes after B.
const sameToken = `
at 0   X acquire ttl 10 on s1..s3
at 1   X release
at 2   A acquire ttl 10 on s3..s5
at 3   A read
at 4   A pause until 16
at 16  A append "A"
at 12  B acquire ttl 10 on s1 s2 s4
at 13  B read
at 14  B append "B"
at 15  B release
`

func TestVerdictsOfSchedules(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   []string
		not    string
	}{
		"equal tokens and a fence": {"fencing on" + sameToken,
			[]string{"The fault is in the tokens", "The same schedule does no harm with tokens ordered."}, "fence-at"},
		"equal tokens and no fence": {sameToken,
			[]string{"it took the write of A, although B had been granted the lock since", "Its tokens do not rise"}, "The fault is in the tokens"},
		"a later grant with a lower token": {`
at 0   A acquire ttl 10 on s1..s3
at 2   A release
at 3   B acquire ttl 10 on s3..s5
at 6   B release
at 7   A acquire ttl 10 on s1..s3
at 10  A release
at 11  B acquire ttl 10 on s3..s5
at 13  B append "b"
at 14  B release
at 15  C acquire ttl 10 on s1 s2 s4
at 16  C read
at 17  C append "c"
`, []string{"at 17 C's write was accepted with token 3 after B's with token 4 of 13, although C was granted the lock later than B",
			"The fault is in the tokens", "no harm with tokens ordered"}, "wrote over"},
		"late, but with the other's work in it": {`
at 0  A acquire ttl 5
at 6  B acquire ttl 5
at 7  B append "B"
at 8  A read
at 9  A append "A"
`, []string{`"BA" is left, although A wrote after its time`, "with B's work in it"}, "wrote over"},
		"an append without a read": {`
at 0  A acquire ttl 5
at 1  A append "a"
at 2  A release
at 3  B acquire ttl 5
at 4  B append "b"
`, []string{"B, which had read nothing, appended to the first value"}, "read-modify-write: it worked on an old copy, and a token check on writes does not see that. The same schedule does no harm with f"},
		"a renewal of somebody else's lease": {`
owner-check off
at 0  A acquire ttl 5
at 6  B acquire ttl 10
at 7  A renew ttl 10
at 8  A append "A"
`, []string{"at 7 A renewed a lease that was not its own, and s1 did not check the owner"}, ""},
		"less than a majority": {`
quorum 2
at 0  A acquire ttl 5 on s1 s2
at 0  B acquire ttl 5 on s3 s4
`, []string{"because 2 of 5 votes are no majority"}, "quorum is promised to A and to B at once, in [0, 5)."},
		"votes that a failed attempt kept": {`
handback off
at 0  A acquire ttl 10 on s1..s3
at 1  B acquire ttl 10
at 2  A release
at 3  C acquire ttl 10 on s3..s5
`, []string{"The lock is safe", "at 3 C was refused although nobody held it: B's failed attempt had not given back s4 s5."}, "did its work"},
		"votes of an attempt under way": {`
servers 2
at 0  A acquire ttl 10 arrives +1 at s2 reply +2
at 0  B acquire ttl 10 arrives +1 at s1 reply +2
`, []string{"at 2 A was refused although nobody held it: B's attempt, which failed too, was still under way and had s2."}, "had not given back"},
		"a shared owner id": {`
reentrant on
at 0  A acquire ttl 10 as "x"
at 1  B acquire ttl 10 as "x"
`, []string{"at 1 B, which asks under the owner id of that lease, was let into it"}, "did not check the owner"},
		"refused while it holds the lock again": {`
at 0  A acquire ttl 5
at 5  B acquire ttl 5
at 6  B append "B"
at 10 A acquire ttl 5
at 11 A append "A" guard version
`, []string{`"B" is left: at 11 the resource refused A's write, because the value had changed since A read it`}, "ran out"},
		"an orphan that keeps others waiting": {`
handback off
at 0  A acquire ttl none reply lost
at 1  B acquire ttl 5 retry every 5
`, []string{"Orphan: a quorum voted for A at 0", "Deadlock: B asks from 1"}, ""},
		"too few were asked": {`
at 0  A acquire ttl 10 on s1 s2
at 1  B acquire ttl 10
`, []string{"The lock did its work"}, "had not given back"},
		"values that replace each other": {`
at 0  A acquire ttl 10
at 1  A write "a"
at 2  A write "b"
`, []string{`"b" is left, after 2 writes; A's of 2 replaced what was there`}, "none of them is lost"},
		"harmless, since the other was refused": {`
at 0  A acquire ttl 5
at 1  A read
at 6  B acquire ttl 10
at 7  B read
at 8  A append "A" guard version
at 9  B append "B" guard version
`, []string{"only because B's write at 9, which was computed without it, was refused (guard version)"}, "nobody"},
		"harmless, since the other had not begun": {`
at 0  A acquire ttl 5
at 6  B acquire ttl 10
at 8  A append "A"
at 9  B read
at 10 B append "B"
`, []string{"only because B, which was granted the lock at 6, had written nothing since"}, "nobody else"},
		"a fence that would be forgotten": {`
at 0  A acquire ttl 5
at 6  B acquire ttl 5
at 7  B append "B"
at 8  resource forget
at 9  A append "A"
`, []string{"and compares no tokens (fencing off)"}, "because it compares"},
		"one server of several forgets": {`
at 0  A acquire ttl 10 on s1..s3
at 2  s3 crash
at 3  s3 restart empty
at 4  A append "A"
`, []string{"at 4 A wrote without holding the lock: s3 forgot its lease at 3"}, "the servers forgot"},
		"a work that came back": {`
at 0 A write "x"
at 0 B write "y"
at 1 A append "z"
at 2 B append "w"
`, []string{`"yw" is left, and what A wrote at 1 is lost`}, "what B wrote at 0 is lost"},
		"the text of a write that vanished is there": {`
at 0 A acquire ttl 20
at 1 A append "a" reply lost
at 2 A append "a"
`, []string{`"a" is left, and the write of A at 1 vanished, though its text is there`}, "is lost"},
		"overwritten and brought back": {`
at 0  A acquire ttl 5
at 6  B acquire ttl 9
at 8  B append "b"
at 10 A append "z"
at 11 B append "c"
`, []string{`"bc" is left, although A wrote after its time`}, "wrote over"},
		"a token taken anew is of no grant": {`
servers 3
at 0  A acquire ttl 4
at 4  C acquire ttl 4
at 9  A renew ttl 10 recreate
at 10 A write "4"
at 30 C write "5"
`, []string{`"5" is left because C wrote over work that A had finished`}, "later than"},
		"let go by one that shares the owner id": {`
reentrant on
at 0 A acquire ttl 20 as "job"
at 1 B acquire ttl 20 as "job"
at 2 B release
at 3 C acquire ttl 20
at 4 A write "late"
at 5 A notice
`, nil, "it had released"},
		"renewed under a shared owner id": {`
at 0 A acquire ttl 9 as "job"
at 1 B acquire ttl 9 as "job"
at 2 B renew ttl 20
`, nil, "did not check the owner"},
		"held back before there was a check": {`
at 0 A acquire ttl 9
at 1 A append "a" if checked
at 9 A check
at 9 A append "b" if checked
`, []string{"At 9 A held its write back, because its last check did not say yes. 1 more write was held back before."}, ""},
		"taken by a renewal alone": {`
at 0 A acquire ttl 5 arrives never
at 1 A renew ttl 5 recreate
at 9 A append "a"
`, []string{"at 9 A wrote without holding the lock: its lease ran out at 6"}, "never granted"},
		"stale although its lease lives": {`
quorum 2
at 0 B acquire ttl 50 on s3 s4
at 1 B release
at 2 B acquire ttl 50 on s3 s4
at 3 A acquire ttl 50 on s1 s2
at 4 B write "b"
at 5 A write "a"
`, []string{"token 2", "2 of 5 votes are no majority"}, "later grant had"},
		"stale under a living lease of the earlier grant": {`
quorum 2
at 0 A acquire ttl 50 on s1 s2
at 0 B acquire ttl 50 on s3 s4
at 1 B release
at 2 B acquire ttl 50 on s3 s4
at 4 B write "b"
at 5 A write "a"
`, []string{"A wrote with token 1 although a higher token had been used"}, "later grant"},
		"harmless after others, who were there": {`
at 0  A acquire ttl 5
at 5  B acquire ttl 5
at 10 B append "b" if checked
at 11 B append "b"
at 12 A release
`, []string{"It did no harm: nobody else had been granted the lock since its own grant."}, "was there"},
		"held back without a check": {`
at 0 A acquire ttl 9
at 1 A append "a" if checked
`, []string{"because it had heard no answer to a check"}, "last check"},
	} {
		got := told(t, c.source)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q in\n%s", name, c.not, got)
		}
	}
}

// TestVerdictsAreTrue holds every sentence of a verdict that claims something against the record, or against a rerun, over
// many random runs.
func TestVerdictsAreTrue(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(6000) {
		f := randprog.All
		if seed%2 == 0 {
			f = randprog.Messages
		}
		p := randprog.New(seed, f)
		rec := engine.Run(p)
		r := &study.Run{Record: rec, Audit: audit.Judge(rec)}
		v := newTeller(r).verdict()
		n := &r.Audit.Counts
		rerun := func(change func(p *engine.Program)) *[audit.NumLaws]int64 {
			q := *p
			q.Steps = append([]engine.Step(nil), p.Steps...)
			change(&q)
			return &audit.Judge(engine.Run(&q)).Counts
		}
		harm := func(n *[audit.NumLaws]int64) int64 {
			return n[audit.Overlap] + n[audit.DoubleHold] + n[audit.StaleWrite] + n[audit.LostUpdate] + n[audit.RefusedHolder]
		}
		fence := func(at engine.FenceAt) func(p *engine.Program) {
			return func(p *engine.Program) {
				p.Settings.Fencing, p.Settings.FenceAt = max(p.Settings.Fencing, engine.FencingOn), at
			}
		}
		for sentence, holds := range map[string]func() bool{
			"not one pair":            func() bool { return n[audit.Overlap] == 0 },
			"The lock is innocent":    func() bool { return n[audit.Overlap]+n[audit.DoubleHold] == 0 },
			"The fault is the lock's": func() bool { return n[audit.Overlap]+n[audit.DoubleHold] > 0 },
			"The fault is in the tok": func() bool { return n[audit.TokenRegress] > 0 && p.Settings.Tokens == engine.TokensCounters },
			"do not rise":             func() bool { return n[audit.TokenRegress] > 0 },
			"It did no harm":          func() bool { return n[audit.StaleWrite]+n[audit.LostUpdate] == 0 && n[audit.UnlockedWrite] > 0 },
			"The data is safe":        func() bool { return r.Audit.Clean() },
			"no write was stale":      func() bool { return n[audit.StaleWrite] == 0 },
			"none of them is lost":    func() bool { return nothingLost(rec) },
			"is lost. The lock":       func() bool { return nothingLost(rec) },
			"compares no tokens":      func() bool { return p.Settings.Fencing == engine.FencingOff },
			"because it compares":     func() bool { return rerun(fence(p.Settings.FenceAt))[audit.StaleWrite] == 0 },
			"with fence-at read":      func() bool { return harm(rerun(fence(engine.FenceAtRead))) == 0 },
			"read or grant":           func() bool { return harm(rerun(fence(engine.FenceAtGrant))) == 0 },
			"with tokens ordered": func() bool {
				return harm(rerun(func(p *engine.Program) { p.Settings.Tokens = engine.TokensOrdered })) == 0
			},
			"had not given back": func() bool { return p.Settings.Handback != engine.HandbackAll || f&randprog.Messages != 0 },
			"with guard version on ev": func() bool {
				return harm(rerun(func(p *engine.Program) {
					for i := range p.Steps {
						if p.Steps[i].Verb == engine.Append {
							p.Steps[i].Guards |= engine.GuardVersion
						}
					}
				})) == 0
			},
		} {
			if !strings.Contains(v, sentence) {
				continue
			}
			if seen[sentence]++; !holds() {
				t.Errorf("seed %d: %q is not true in\n%s", seed, sentence, v)
			}
		}
	}
	for _, sentence := range []string{"It did no harm", "The fault is in the tok", "because it compares", "with fence-at read", "with guard version on ev", "none of them is lost"} {
		if seen[sentence] < 3 {
			t.Errorf("%q was tried %d times", sentence, seen[sentence])
		}
	}
}

// nothingLost tells, by the versions alone, whether every accepted write is still in the value.
func nothingLost(rec *engine.Record) bool {
	for i := range rec.Writes {
		w := &rec.Writes[i]
		if w.Accepted && (w.Verb == engine.Append && w.Base != w.Version-1 || w.Verb == engine.Write && w.Version > 1) {
			return false
		}
	}
	return true
}
