package why

import (
	"slices"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
)

// ChangeKind says which rule of the world a change is about.
type ChangeKind uint8

// The kinds of changes. Those of settings carry the whole settings that the rerun has.
const (
	SetFencing ChangeKind = iota
	SetFenceAt            // with fencing on if it was off, since it has no effect without
	SetLeases
	SetHandback
	SetTokens
	SetValidity
	SetJudge
	SetLockDelay
	SetReentrant
	SetOwnerCheck
	SetQuorum
	SetServers
	KeepState    // servers that restart keep their state
	KeepFence    // the resource does not forget
	GuardVersion // on the offending write
	GuardLock
	GuardBefore // with the tick at which its client's hold ended
	IfValid
)

// Change is one rule that differs in a rerun.
type Change struct {
	Kind     ChangeKind
	Settings engine.Settings // as the rerun has them
	Fenced   bool            // SetFenceAt: fencing was turned on with it
	Line     int32           // guards and conditions: the write's line
	Before   engine.Tick     // GuardBefore
	step     int32
}

// apply gives the program with the change made; the original stays as it is.
func (c *Change) apply(p *engine.Program) *engine.Program {
	q := *p
	q.Settings = c.Settings
	if c.Kind < KeepState {
		return &q
	}
	q.Steps = slices.Clone(p.Steps)
	switch c.Kind {
	case KeepState:
		for i := range q.Steps {
			q.Steps[i].Restart = engine.RestartKept
		}
	case KeepFence:
		q.Roots = slices.DeleteFunc(slices.Clone(p.Roots), func(i int32) bool { return p.Steps[i].Verb == engine.ResourceForget })
	case GuardVersion:
		q.Steps[c.step].Guards |= engine.GuardVersion
	case GuardLock:
		q.Steps[c.step].Guards |= engine.GuardLock
	case GuardBefore:
		q.Steps[c.step].Guards |= engine.GuardBefore
		q.Steps[c.step].Before, q.Steps[c.step].BeforePlus = c.Before, false
	case IfValid:
		q.Steps[c.step].If = engine.CondValid
	}
	return &q
}

// changes lists what is tried: every setting's other values, one at a time, then what a schedule can do besides.
func changes(run *study.Run, f *audit.Finding) []Change {
	p := run.Record.Program
	now := p.Settings
	var out []Change
	try := func(k ChangeKind, set func(s *engine.Settings)) {
		c := Change{Kind: k, Settings: now}
		if set(&c.Settings); c.Settings != now {
			c.Fenced = k == SetFenceAt && now.Fencing == engine.FencingOff
			out = append(out, c)
		}
	}
	for v := engine.FencingOff; v <= engine.FencingStrict; v++ {
		try(SetFencing, func(s *engine.Settings) { s.Fencing = v })
	}
	for v := engine.FenceAtWrite; v <= engine.FenceAtGrant; v++ {
		try(SetFenceAt, func(s *engine.Settings) {
			if s.FenceAt != v {
				s.FenceAt, s.Fencing = v, max(s.Fencing, engine.FencingOn)
			}
		})
	}
	try(SetLeases, func(s *engine.Settings) { s.Leases = !s.Leases })
	for v := engine.HandbackAll; v <= engine.HandbackOff; v++ {
		try(SetHandback, func(s *engine.Settings) { s.Handback = v })
	}
	for v := engine.TokensCounters; v <= engine.TokensOrdered; v++ {
		try(SetTokens, func(s *engine.Settings) { s.Tokens = v })
	}
	try(SetValidity, func(s *engine.Settings) { s.Validity = !s.Validity })
	for v := engine.JudgeServer; v <= engine.JudgeCallerTTL; v++ {
		try(SetJudge, func(s *engine.Settings) { s.Judge = v })
	}
	try(SetLockDelay, func(s *engine.Settings) { s.LockDelay = 0 })
	try(SetReentrant, func(s *engine.Settings) { s.Reentrant = !s.Reentrant })
	try(SetOwnerCheck, func(s *engine.Settings) { s.OwnerCheck = !s.OwnerCheck })
	for _, n := range [...]int{now.Servers/2 + 1, now.Servers} {
		try(SetQuorum, func(s *engine.Settings) { s.Quorum = n })
	}
	for _, n := range [...]int{1, 3, 5, 7} {
		try(SetServers, func(s *engine.Settings) {
			if n > highestNamed(p) {
				s.Servers, s.Quorum = n, n/2+1
			}
		})
	}
	always := func(k ChangeKind) { out = append(out, Change{Kind: k, Settings: now}) }
	if slices.ContainsFunc(p.Steps, func(s engine.Step) bool { return s.Verb == engine.ServerRestart && s.Restart != engine.RestartKept }) {
		always(KeepState)
	}
	if slices.ContainsFunc(p.Steps, func(s engine.Step) bool { return s.Verb == engine.ResourceForget }) {
		always(KeepFence)
	}
	return append(out, guards(run, f)...)
}

// highestNamed gives the number of the last server that the file names; a world with fewer would be another schedule.
func highestNamed(p *engine.Program) int {
	n := 0
	for _, s := range p.ServerIDs {
		n = max(n, int(s))
	}
	return n
}

// guards lists what can be asked of the write that did the harm; none if the finding is about no write.
func guards(run *study.Run, f *audit.Finding) []Change {
	rec := run.Record
	i := engine.None
	switch f.Law {
	case audit.StaleWrite, audit.UnlockedWrite:
		i = f.Index
	case audit.LostUpdate:
		i = f.By
	}
	if i == engine.None {
		return nil
	}
	e := eventOf(rec, i, engine.Append, engine.Write)
	if e == engine.None {
		return nil
	}
	step := rec.Events[e].Step
	s, w := &rec.Program.Steps[step], &rec.Writes[i]
	var out []Change
	add := func(c Change) {
		c.Settings, c.Line, c.step = rec.Program.Settings, w.Line, step
		out = append(out, c)
	}
	if s.Guards&engine.GuardVersion == 0 {
		add(Change{Kind: GuardVersion})
	}
	if s.Guards&engine.GuardLock == 0 {
		add(Change{Kind: GuardLock})
	}
	if h := lastHold(run, w.Client, w.Applied); h != engine.None && s.Guards&engine.GuardBefore == 0 {
		if end := run.Audit.Holders[h].End; end <= w.Applied.Tick {
			add(Change{Kind: GuardBefore, Before: end})
		}
	}
	if s.If == engine.CondNone {
		add(Change{Kind: IfValid})
	}
	return out
}

// longestDelay bounds the lock-delays that are tried one after the other, and mostEvents the runs for which that is done.
const (
	longestDelay = 64
	mostEvents   = 10_000
)

// closeLonger finds the smallest lock-delay with which the law is kept, or, if there is none, shows the longest one tried.
func closeLonger(run *study.Run, f *audit.Finding) (Rerun, bool) {
	if len(run.Record.Events) > mostEvents {
		return Rerun{}, false
	}
	var last Rerun
	found := false
	for d := run.Record.Program.Settings.LockDelay + 1; d <= longestDelay; d++ {
		c := Change{Kind: SetLockDelay, Settings: run.Record.Program.Settings}
		c.Settings.LockDelay = d
		r, ok := rerun(run, f, c)
		if !ok {
			return last, found
		}
		last, found = r, true
		if r.Helps() {
			break
		}
	}
	return last, found
}
