package engine

// standsAlone looks for a ready piece of work of which it does not matter when in the tick it is done: it and each of the
// others leave the same world in either order. Of the n! orders of n such pieces, n of them differ only in its place, so it
// may go first and stand for n. That is sound only if every actor has one piece in this tick and none brings another.
// The piece is moved to the front of the ready ones.
func (m *Machine) standsAlone(now Tick) bool {
	due := 0
	for i := range m.queue {
		if m.queue[i].tick == now {
			due++
		}
	}
	if due != len(m.ready) {
		return false
	}
	m.touch = m.touch[:0]
	for _, r := range m.ready {
		t := m.touches(&m.queue[r])
		if t.more {
			return false
		}
		m.touch = append(m.touch, t)
	}
	for i := range m.touch {
		x, alone := m.touch[i], true
		for k := range m.touch {
			o := m.touch[k]
			alone = alone && (k == i || x.writes&(o.reads|o.writes) == 0 && x.reads&o.writes == 0)
		}
		if alone {
			m.ready[0], m.ready[i] = m.ready[i], m.ready[0]
			return true
		}
	}
	return false
}

// The parts of the world that a piece of work looks at and changes, beside its own client.
const (
	theLock = 1 << iota
	theResource
	theBeliefs // who believes together with whom: a belief that ends before another begins is not the same as after it
)

// touch is what a piece of work looks at and changes. With more, it is not known.
type touch struct {
	reads, writes uint8
	more          bool
}

// touches gives what a piece does as things stand. A client's own lease changes by nobody else's work while owners are
// checked, each client has an id of its own and no clock is touched: then asking for it is no look at the lock.
func (m *Machine) touches(it *item) touch {
	step := it.a
	switch it.kind {
	case itemStep:
	case itemPoll:
		step = m.trials[it.a].step
		if it.tick > m.trials[it.a].until || it.tick > m.horizon {
			return touch{more: true}
		}
	default:
		return touch{more: true}
	}
	if !m.prompt[step] {
		return touch{more: true}
	}
	var t touch
	s := &m.p.Steps[step]
	switch s.Verb {
	case Acquire:
		t.reads = theLock
		if !m.refused(s, it.tick) {
			t.writes = theLock | theBeliefs
			if m.p.Settings.FenceAt == FenceAtGrant {
				t.writes |= theResource
			}
		}
	case Release:
		t.reads = theBeliefs
		if !m.empty(s, it.tick) {
			t.reads, t.writes = theLock|theBeliefs, theLock
		}
	case Renew:
		t.reads, t.writes = theLock, theLock|theBeliefs
	case Check:
		t.reads = theLock | theBeliefs
	case Read:
		t.reads = theResource
		if m.p.Settings.FenceAt >= FenceAtRead {
			t.writes = theResource
		}
	case Append, Write:
		t.reads, t.writes = theResource, theResource
		if !m.uses.ownLease {
			t.reads |= theLock
		}
		if m.p.Settings.Fencing != FencingOff || s.Guards&GuardLock != 0 {
			t.reads |= theBeliefs // a refusal ends one
		}
	case Notice:
		t.reads = theBeliefs
	case WatchdogStop:
	default:
		t.more = true
	}
	if m.BeliefsAside {
		t.reads &^= theBeliefs
		t.writes &^= theBeliefs
	}
	return t
}

// refused tells whether an acquire would be turned away by every server it asks, now and as long as nothing changes the
// lock: then it changes nothing but its client.
func (m *Machine) refused(s *Step, now Tick) bool {
	if !m.uses.ownLease {
		return false
	}
	row := m.cutRow(s.Client)
	for sv := range m.servers {
		srv := &m.servers[sv]
		if srv.crash != None || row[sv] != 0 || !srv.live || srv.due <= now || srv.owner == s.Owner {
			return false
		}
	}
	return true
}

// empty tells whether a release would find nothing of its client's to give back, and the client relies on nothing any more.
func (m *Machine) empty(s *Step, now Tick) bool {
	if !m.uses.ownLease {
		return false
	}
	for sv := range m.servers {
		if p := m.lastPromise(s.Client, int32(sv)); p != None && m.rec.Promises[p].End.Tick > now {
			return false
		}
		if srv := &m.servers[sv]; srv.live && srv.due > now && srv.owner == m.clients[s.Client].owner {
			return false
		}
	}
	return true
}

// promptSteps tells, for each step, whether it takes no time and no step of its blocks may fall into its own tick.
func promptSteps(p *Program, simple []bool) []bool {
	simple = resize(simple, len(p.Steps))
	for i := range p.Steps {
		s := &p.Steps[i]
		simple[i] = s.Messages.Len() == 0
		for b := s.Blocks.Lo; b < s.Blocks.Hi; b++ {
			for c := p.Blocks[b].Steps.Lo; c < p.Blocks[b].Steps.Hi; c++ {
				if p.Steps[c].At < 1 {
					simple[i] = false
				}
			}
		}
	}
	return simple
}
