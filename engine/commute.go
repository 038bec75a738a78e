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
	lock, resource := 0, 0 // how many pieces may change the lock, the resource
	for _, r := range m.ready {
		t := m.touches(&m.queue[r])
		if t&touchOther != 0 {
			return false
		}
		if t&writesLock != 0 {
			lock++
		}
		if t&writesResource != 0 {
			resource++
		}
	}
	for i, r := range m.ready {
		t := m.touches(&m.queue[r])
		if t&(writesLock|writesResource) != 0 || t&readsLock != 0 && lock > 0 || t&readsResource != 0 && resource > 0 {
			continue
		}
		m.ready[0], m.ready[i] = m.ready[i], m.ready[0]
		return true
	}
	return false
}

// What a piece of work looks at and what it changes, beside its own client.
const (
	readsLock = 1 << iota
	writesLock
	readsResource
	writesResource
	touchOther // something else, or not known
)

func (m *Machine) touches(it *item) uint8 {
	step := it.a
	switch it.kind {
	case itemStep:
	case itemPoll:
		step = m.trials[it.a].step
		if it.tick > m.trials[it.a].until || it.tick > m.horizon {
			return touchOther
		}
	default:
		return touchOther
	}
	if !m.prompt[step] {
		return touchOther
	}
	s := &m.p.Steps[step]
	switch s.Verb {
	case Acquire:
		if m.refused(s, it.tick) {
			return readsLock
		}
		return readsLock | writesLock | writesResource
	case Release:
		if m.empty(s, it.tick) {
			return readsLock // it ends a belief and frees nothing
		}
		return readsLock | writesLock
	case Renew:
		return readsLock | writesLock
	case Check:
		return readsLock
	case Read:
		if m.p.Settings.FenceAt >= FenceAtRead {
			return readsResource | writesResource
		}
		return readsResource
	case Append, Write:
		return readsLock | readsResource | writesResource
	case Notice:
		return readsLock // a belief that ends: before or after another begins is not the same
	case WatchdogStop:
		return 0
	}
	return touchOther
}

// refused tells whether an acquire would be turned away by every server it asks, now and as long as nothing changes the
// lock: then it changes nothing but its client.
func (m *Machine) refused(s *Step, now Tick) bool {
	if m.p.Settings.Judge != JudgeServer || m.uses.clocks {
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

// empty tells whether a release would find nothing of its client's to give back.
func (m *Machine) empty(s *Step, now Tick) bool {
	if m.p.Settings.Judge != JudgeServer || m.uses.clocks || !m.p.Settings.OwnerCheck {
		return false
	}
	for sv := range m.servers {
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
