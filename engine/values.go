package engine

// Slots gives the values that the last snapshot named by number: a machine restored from it calls them by their slots, and
// Rebase turns what it made of them back into values of the state before.
func (m *Machine) Slots(dst []int32) []int32 { return append(dst, m.live.values...) }

// Adopt gives the values of a machine that a snapshot was just taken of the names that Restore would give them, so that
// it can go on in place of a restored one.
func (m *Machine) Adopt() {
	name := func(v *int32) {
		if *v != None {
			*v = m.slotValue(m.live.slot(*v))
		}
	}
	for c := range m.clients {
		if m.live.active[c] && !m.clients[c].crashed {
			name(&m.clients[c].copied)
		}
	}
	name(&m.resource.value)
	for _, i := range m.live.ops {
		switch o := &m.ops[i]; o.verb {
		case Read:
			name(&m.rec.Reads[o.index].Value)
		case Append, Write:
			name(&m.rec.Writes[o.index].Value)
		}
	}
}

// Rebase gives the value that v, of a machine restored from a snapshot, is in terms of the snapshot's slots, with texts as the
// clients that had other places write them.
func (m *Machine) Rebase(v int32, slots, moved []int32) int32 {
	n := m.rec.Values[v]
	prev := n.Prev
	switch {
	case prev < None:
		return slots[slotBase-prev]
	case prev != None:
		prev = m.Rebase(prev, slots, moved)
	}
	if len(moved) > 0 {
		n.Text = m.alike.text(m.p, n.Text, moved)
	} else if prev == n.Prev {
		return v
	}
	return m.sharedValue(prev, n.Text)
}

// slotBase is the Prev of the value that stands for slot 0; slot i has slotBase - i.
const slotBase int32 = -2

func (m *Machine) slotValue(n int64) int32 {
	if n == 0 {
		return None
	}
	for int64(len(m.slots)) < n {
		m.slots = append(m.slots, m.sharedValue(slotBase-int32(len(m.slots)), ""))
	}
	return m.slots[n-1]
}

// slot gives a value's number in the snapshot, from 1; 0 is no value. No rule compares values, so which they are need not
// tell states apart.
func (l *liveSet) slot(v int32) int64 {
	if v == None {
		return 0
	}
	for i, known := range l.values {
		if known == v {
			return int64(i) + 1
		}
	}
	l.values = append(l.values, v)
	return int64(len(l.values))
}

// Intern gives the index of a value, as it follows another one or, with what Record.Values says of it, stands for a slot.
func (m *Machine) Intern(prev int32, text string) int32 { return m.sharedValue(prev, text) }
