package study

import (
	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
)

// vacuity is why a claim could not have failed in a run. Each reason is judged on the record: what happened, not what the
// file says. What a claim with a condition says is looked at over all cells instead.
type vacuity uint8

const (
	meaningful vacuity = iota
	noActor
	noSuchStep
	noSharedServer
	fewAskers
	noRivalWrites
	noOtherAppend
	noWrite
	noFence
	fewGrants
	noRetry
	noAsker
	nothingShared
	oneTruth
)

// String words the reason; a meaningful claim has none.
func (v vacuity) String() string {
	return [...]string{
		"",
		"the client never acts",
		"the client does nothing that could have that outcome",
		"no two clients ever asked one server",
		"fewer than two clients ever asked for the lock",
		"no two writes with different tokens arrived",
		"nobody appended after another client's accepted write",
		"no write arrived",
		"fencing is off",
		"fewer than two locks were granted",
		"nobody retries",
		"nobody ever asked for the lock",
		"no two clients asked one server and no write arrived",
		"the condition is the same in every cell",
	}[v]
}

// vacuous judges a claim that is true.
func (j *judge) vacuous(c *statement, v compile.ClaimValues) vacuity {
	e := c.expect
	if e.Iff != nil {
		return meaningful // seen over all cells
	}
	if c.client != engine.None && !j.acts(c.client) {
		return noActor
	}
	switch e.Kind {
	case dsl.ClaimNever:
		if !j.could(c.client, c.outcome) {
			return noSuchStep
		}
	case dsl.ClaimHolds, dsl.ClaimBelieves:
		if c.client == engine.None && len(j.rec.Attempts) == 0 {
			return noAsker
		}
	case dsl.ClaimClean:
		if !j.sharedServer() && !j.arrived() {
			return nothingShared
		}
	case dsl.ClaimLaw:
		if e.None || e.N != nil && v.N == 0 {
			return j.unbreakable(c.law)
		}
	}
	return meaningful
}

// unbreakable says why a law could not have been broken.
func (j *judge) unbreakable(l audit.Law) vacuity {
	switch l {
	case audit.Overlap:
		return reason(!j.sharedServer(), noSharedServer)
	case audit.DoubleHold, audit.DoubleBelief:
		return reason(!j.twoAskers(), fewAskers)
	case audit.StaleWrite:
		return reason(!j.rivalWrites(), noRivalWrites)
	case audit.LostUpdate:
		return reason(!j.appendedAfterOther(), noOtherAppend)
	case audit.UnlockedWrite:
		return reason(!j.arrived(), noWrite)
	case audit.RefusedHolder:
		if j.rec.Program.Settings.Fencing == engine.FencingOff {
			return noFence
		}
		return reason(!j.arrived(), noWrite)
	case audit.TokenRegress:
		return reason(len(j.rec.Grants) < 2, fewGrants)
	case audit.Starvation, audit.Deadlock:
		return reason(!j.retries(), noRetry)
	case audit.Orphan:
		return reason(len(j.rec.Attempts) == 0, noAsker)
	}
	return meaningful
}

func reason(is bool, v vacuity) vacuity {
	if is {
		return v
	}
	return meaningful
}

// acts tells whether a client did anything. What befalls it (a crash, a pause, its clock, the network) is none of its doing.
func (j *judge) acts(client int32) bool {
	for i := range j.rec.Events {
		if e := &j.rec.Events[i]; e.Client == client {
			switch e.Verb {
			case engine.Crash, engine.Pause, engine.ClientClock, engine.Cut, engine.Heal:
			default:
				return true
			}
		}
	}
	return false
}

func (j *judge) asked(client int32) bool {
	for i := range j.rec.Attempts {
		if j.rec.Attempts[i].Client == client {
			return true
		}
	}
	return false
}

// could tells whether a client did something that can have an outcome.
func (j *judge) could(client int32, o engine.Outcome) bool {
	for i := range j.rec.Events {
		if e := &j.rec.Events[i]; e.Client == client && j.possible(e, o) {
			return true
		}
	}
	return false
}

func (j *judge) possible(e *engine.Event, o engine.Outcome) bool {
	write := e.Verb == engine.Append || e.Verb == engine.Write
	switch o {
	case engine.Granted, engine.Denied:
		return e.Verb == engine.Acquire
	case engine.Renewed, engine.Lost:
		return e.Verb == engine.Renew
	case engine.Released, engine.Expired:
		return e.Verb == engine.Release
	case engine.Accepted, engine.Rejected:
		return write && e.Index != engine.None && j.rec.Writes[e.Index].Applied.Tick != engine.Forever
	case engine.Yes, engine.No:
		return e.Verb == engine.Check
	case engine.Skipped:
		return write && j.rec.Program.Steps[e.Step].If != engine.CondNone
	case engine.HeardRead:
		return e.Verb == engine.Read
	case engine.Unheard:
		return write || e.Verb == engine.Renew || e.Verb == engine.Release || e.Verb == engine.Check || e.Verb == engine.Read
	}
	return false
}

// sharedServer tells whether requests of two clients landed at one server.
func (j *judge) sharedServer() bool {
	j.asker = j.asker[:0]
	for range j.rec.Program.Settings.Servers {
		j.asker = append(j.asker, engine.None)
	}
	second := func(server, client int32) bool {
		if j.asker[server] == engine.None {
			j.asker[server] = client
		}
		return j.asker[server] != client
	}
	for i := range j.rec.Votes {
		v := &j.rec.Votes[i]
		if v.Attempt != engine.None && v.Applied.Tick != engine.Forever && second(v.Server, j.rec.Attempts[v.Attempt].Client) {
			return true
		}
	}
	for i := range j.rec.Leases { // a renewal that took a lease anew asked too
		if l := &j.rec.Leases[i]; second(l.Server, l.Client) {
			return true
		}
	}
	return false
}

func (j *judge) twoAskers() bool {
	for i := range j.rec.Attempts {
		if j.rec.Attempts[i].Client != j.rec.Attempts[0].Client {
			return true
		}
	}
	return false
}

func (j *judge) arrived() bool {
	for i := range j.rec.Writes {
		if j.rec.Writes[i].Applied.Tick != engine.Forever {
			return true
		}
	}
	return false
}

func (j *judge) rivalWrites() bool {
	first := engine.None
	for i := range j.rec.Writes {
		switch w := &j.rec.Writes[i]; {
		case w.Applied.Tick == engine.Forever:
		case first == engine.None:
			first = int32(i)
		case w.Token != j.rec.Writes[first].Token:
			return true
		}
	}
	return false
}

// appendedAfterOther tells whether an append arrived after another client's write was accepted.
func (j *judge) appendedAfterOther() bool {
	// The earliest accepted write of a client, and the earliest of any other: one of the two is not the appender's own.
	one, two := engine.None, engine.None
	for i := range j.rec.Writes {
		if w := &j.rec.Writes[i]; w.Accepted && (one == engine.None || w.Applied.Before(j.rec.Writes[one].Applied)) {
			one = int32(i)
		}
	}
	if one == engine.None {
		return false
	}
	for i := range j.rec.Writes {
		w := &j.rec.Writes[i]
		if w.Accepted && w.Client != j.rec.Writes[one].Client && (two == engine.None || w.Applied.Before(j.rec.Writes[two].Applied)) {
			two = int32(i)
		}
	}
	for i := range j.rec.Writes {
		w := &j.rec.Writes[i]
		if w.Verb != engine.Append || w.Applied.Tick == engine.Forever {
			continue
		}
		before := one
		if w.Client == j.rec.Writes[one].Client {
			before = two
		}
		if before != engine.None && j.rec.Writes[before].Applied.Before(w.Applied) {
			return true
		}
	}
	return false
}

func (j *judge) retries() bool {
	for i := range j.rec.Trials {
		if j.rec.Trials[i].Retry {
			return true
		}
	}
	return false
}
