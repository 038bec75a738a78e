package audit

import (
	"testing"

	"dlock/engine"
	"dlock/internal/randprog"
)

// twoGrants makes a record in which client 0 is granted the lock before client 1, both write once, and 0 is the last.
func twoGrants(fencing engine.Fencing, first, second int64) *engine.Record {
	at := func(t engine.Tick) engine.Moment { return engine.Moment{Tick: t} }
	return &engine.Record{
		Program: &engine.Program{Settings: engine.Settings{Fencing: fencing}},
		Grants: []engine.Grant{
			{Client: 0, Token: first, Cast: at(1), Heard: at(1)},
			{Client: 1, Token: second, Cast: at(5), Heard: at(5)},
		},
		Writes: []engine.WriteOp{
			{Client: 1, Token: second, Sent: at(6), Applied: at(6), Accepted: true},
			{Client: 0, Token: first, Sent: at(9), Applied: at(9), Accepted: true},
		},
	}
}

func TestFault(t *testing.T) {
	const older, newer = 1, 0 // the writes, by whose grant came first
	lost := func(gone, by int32) Finding { return Finding{Law: LostUpdate, Index: gone, By: by} }
	stale := func(late, by int32) Finding { return Finding{Law: StaleWrite, Index: late, By: by} }
	refused := func(w int32) Finding { return Finding{Law: RefusedHolder, Index: w} }
	regress := Finding{Law: TokenRegress}
	rising, equal, falling := [2]int64{1, 2}, [2]int64{2, 2}, [2]int64{3, 2}
	only := func(l Law) Finding { return Finding{Law: l} }
	for _, c := range []struct {
		name    string
		fencing engine.Fencing
		tokens  [2]int64
		broken  []Finding
		want    Fault
	}{
		{"clean", engine.FencingOn, rising, nil, FaultNone},
		{"no harm to the data", engine.FencingOn, rising, []Finding{only(DoubleBelief), only(Starvation), only(Deadlock), only(Orphan)}, FaultNone},
		{"no lock", engine.FencingOff, rising, []Finding{only(UnlockedWrite)}, FaultBypass},
		{"an old copy", engine.FencingOn, rising, []Finding{lost(older, newer), only(UnlockedWrite)}, FaultSnapshot},
		{"a stale write", engine.FencingOff, rising, []Finding{stale(older, newer), lost(newer, older), only(UnlockedWrite)}, FaultResource},
		{"two holders", engine.FencingOff, falling, []Finding{only(Overlap), stale(newer, older), regress}, FaultLock},
		{"two quorums", engine.FencingOff, rising, []Finding{only(DoubleHold)}, FaultLock},
		{"tokens that hurt nobody", engine.FencingOn, equal, []Finding{regress}, FaultNone},
		{"the fence sees equal tokens", engine.FencingOn, equal, []Finding{lost(newer, older), only(UnlockedWrite), regress}, FaultTokens},
		{"the fence sees the older one higher", engine.FencingOn, falling, []Finding{lost(newer, older), regress}, FaultTokens},
		{"no fence looks at equal tokens", engine.FencingOff, equal, []Finding{lost(newer, older), only(UnlockedWrite), regress}, FaultResource},
		{"an old copy with equal tokens", engine.FencingOn, equal, []Finding{lost(older, newer), regress}, FaultSnapshot},
		{"only the numbers are stale", engine.FencingOff, falling, []Finding{stale(newer, older), regress}, FaultTokens},
		{"a stale write beside other numbers", engine.FencingOff, rising, []Finding{stale(older, newer), regress}, FaultResource},
		{"the holder is refused", engine.FencingOn, falling, []Finding{regress, refused(newer)}, FaultTokens},
		{"the holder's token was another's", engine.FencingStrict, equal, []Finding{regress, refused(newer)}, FaultTokens},
		{"refused for its own first write", engine.FencingStrict, rising, []Finding{regress, refused(newer)}, FaultNone},
		{"refused without a grant before", engine.FencingOn, falling, []Finding{regress, refused(older)}, FaultNone},
	} {
		r := &Report{Findings: c.broken}
		for _, f := range c.broken {
			r.Counts[f.Law]++
		}
		if got := faultOf(twoGrants(c.fencing, c.tokens[0], c.tokens[1]), r); got != c.want {
			t.Errorf("%s: fault %d, want %d", c.name, got, c.want)
		}
	}
}

// With one order of grants no token is out of order, so that nothing can be its fault.
func TestOrderedTokensAreNeverAtFault(t *testing.T) {
	counters := 0
	for seed := range uint64(5000) {
		p := randprog.New(seed, randprog.All)
		if Judge(engine.Run(p)).Fault == FaultTokens {
			counters++
		}
		p.Settings.Tokens = engine.TokensOrdered
		if rep := Judge(engine.Run(p)); rep.Fault == FaultTokens {
			t.Errorf("seed %d: the fault is the tokens', with %d regressions", seed, rep.Counts[TokenRegress])
		}
	}
	if counters == 0 {
		t.Error("no program is the tokens' fault: nothing was tested")
	}
}
