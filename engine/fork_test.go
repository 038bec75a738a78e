package engine

import "testing"

// yardstick is the family of docs/explore.md: clients with retries, each but the first with an open arrival, the first
// with an open pause between its read and its write. Who goes first within a tick is open too.
func yardstick(clients int, pause, arrivals int32, f Fencing) *Program {
	p := &Program{
		Settings: Settings{Servers: 1, Quorum: 1, Fencing: f, Leases: true, OwnerCheck: true, Horizon: 1 << 30},
		Ties:     true,
		Holes:    []Hole{{N: pause + 1, By: 1}},
	}
	for c := range int32(clients) {
		name := string(rune('A' + c))
		p.Clients = append(p.Clients, name)
		p.Owners = append(p.Owners, name)
		p.Texts = append(p.Texts, name)
		step := Step{Line: 10*c + 1, Verb: Acquire, Client: c, TTL: 10, Retry: 1, RetryUntil: Forever, Owner: c, PauseFor: -1,
			Blocks: Span{c, c + 1}}
		if c > 0 {
			p.Holes = append(p.Holes, Hole{N: arrivals + 1, By: 1})
			step.Hole = c + 1
		}
		p.Steps = append(p.Steps, step)
		p.Roots = append(p.Roots, c)
	}
	for c := range int32(clients) {
		lo := int32(len(p.Steps))
		hole := int32(0)
		if c == 0 {
			hole = 1
		}
		p.Steps = append(p.Steps,
			Step{Line: 10*c + 2, Verb: Read, Client: c, Repeat: AfterOutcome, At: 1, PauseFor: -1, Owner: c},
			Step{Line: 10*c + 3, Verb: Append, Client: c, Repeat: AfterOutcome, At: 2, PauseFor: -1, Owner: c, Text: c, Hole: hole},
			Step{Line: 10*c + 4, Verb: Release, Client: c, Repeat: AfterOutcome, At: 3, PauseFor: -1, Owner: c, Hole: hole})
		p.Blocks = append(p.Blocks, Block{On: 1 << Granted, Steps: Span{lo, lo + 3}})
	}
	return p
}

// countLeaves walks a family by restoring every state, and counts its members and those with a stale write.
func countLeaves(p *Program) (members, stale int) {
	m, rec := NewMachine(), &Record{}
	m.Begin(p, rec)
	highest := func() bool {
		hi := int64(0)
		for _, w := range rec.Writes {
			if w.Accepted && w.Token < hi {
				return true
			}
			hi = max(hi, w.Token)
		}
		return false
	}
	var walk func(now Tick, hi int64, bad bool, n int)
	walk = func(now Tick, hi int64, bad bool, n int) {
		o := m.Look()
		bad = bad || highest() || len(rec.Writes) > 0 && rec.Writes[0].Accepted && rec.Writes[0].Token < hi
		for _, w := range rec.Writes {
			hi = max(hi, w.Token)
		}
		for _, f := range m.Slack(nil, o.Kind == ForkDone) {
			n *= int(f)
		}
		switch o.Kind {
		case ForkDone:
			members += n
			if bad {
				stale += n
			}
			return
		}
		snap := m.Snapshot(nil, o.Tick, false)
		for b := range o.N {
			m.Restore(snap, o.Tick, false)
			m.Take(m.Look(), b)
			walk(o.Tick, hi, bad, n)
		}
	}
	walk(0, 0, false, 1)
	return members, stale
}

func TestYardstickTwoClients(t *testing.T) {
	members, stale := countLeaves(yardstick(2, 30, 30, FencingOff))
	if members != 1832 || stale != 548 {
		t.Errorf("%d members, %d with a stale write; want 1832 and 548", members, stale)
	}
	if _, stale := countLeaves(yardstick(2, 30, 30, FencingOn)); stale != 0 {
		t.Errorf("%d members with a stale write under fencing, want none", stale)
	}
}
