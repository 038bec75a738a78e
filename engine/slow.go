package engine

import (
	"cmp"
	"slices"
)

// Acquires whose messages take time are judged as they go by the caller of a fork: a grant's place among the others is the
// moment of its quorum, which lies before the moment at which it is heard of, and an attempt is an orphan only when nothing of
// it is under way any more. So operations carry, in snapshots too, what of that past still matters.

// past is what an acquire that is under way carries, while forking.
type past struct {
	castSeq  int64   // the place of its quorum among those of the others
	quorumAt Tick    // the tick of its quorum
	before   int64   // the highest token of the grants that are known and whose quorum came before, 0 for none
	after    []known // those whose quorum came after, except where one that came no later has no higher token
	judged   bool    // it was granted, and its token is final and was compared
	closed   bool    // nothing of it is under way any more
	returned int32   // votes that were given back
}

// known is a grant that is known: its token and the tick of its quorum.
type known struct {
	token int64
	at    Tick
}

// add keeps a grant, unless one that came no later has no higher token: then it makes no difference. Those that it makes
// none of the difference for are dropped.
func add(list []known, g known) []known {
	for _, k := range list {
		if k.at <= g.at && k.token <= g.token {
			return list
		}
	}
	kept := make([]known, 0, len(list)+1)
	for _, k := range list {
		if k.at < g.at || k.token < g.token {
			kept = append(kept, k)
		}
	}
	kept = append(kept, g)
	slices.SortFunc(kept, func(a, b known) int { return cmp.Compare(a.at, b.at) })
	return kept
}

// inOrder tells whether the acquire's grant, if it gets one or has one, is still to be compared with others.
func (m *Machine) inOrder(o *op) bool {
	return int(o.cast) >= m.p.Settings.Quorum && !o.again && !m.pastOf(o).judged && (!o.decided || o.outcome == Granted)
}

func (m *Machine) pastOf(o *op) *past { return &m.pasts[o.past] }

// orphaned tells whether the acquire has, as things stand, a quorum of votes that its client did not hear of.
func (m *Machine) orphaned(o *op) bool {
	quorum := int32(m.p.Settings.Quorum)
	return o.yes < quorum && o.cast-m.pastOf(o).returned >= quorum
}

// newPast gives an acquire a past.
func (m *Machine) newPast(o *op) *past {
	o.past = int32(len(m.pasts))
	m.pasts = append(m.pasts, past{})
	return m.pastOf(o)
}

// quorumCast notes the moment of an acquire's quorum.
func (m *Machine) quorumCast(o *op) {
	if !m.forking || o.verb != Acquire {
		return
	}
	m.casts++
	p := m.pastOf(o)
	p.castSeq, p.quorumAt, p.before = m.casts, m.cur.Tick, m.Marks[MarkGranted]
}

// Settle judges what the last piece of work settled: the earliest tick of the quorum of a grant whose token is no higher than
// that of one whose quorum came before, Forever for none, and whether an attempt is an orphan. It keeps Marks[MarkGranted].
func (m *Machine) Settle() (regress Tick, orphan bool) {
	regress = Forever
	for i := m.settledOps; i < len(m.ops); i++ {
		o := &m.ops[i]
		if o.verb != Acquire || m.pastOf(o).closed {
			if i == m.settledOps {
				m.settledOps++
			}
			continue
		}
		now, later := m.underWay(o)
		if o.decided && o.outcome == Granted && !m.pastOf(o).judged && !now {
			regress = min(regress, m.compare(o))
		}
		if !now && !later {
			m.pastOf(o).closed = true
			orphan = orphan || m.orphaned(o)
		}
	}
	return regress, orphan
}

// underWay tells whether something of an operation is due in this tick, or later.
func (m *Machine) underWay(o *op) (now, later bool) {
	for i := range m.queue {
		it := &m.queue[i]
		switch {
		case it.kind != itemLand && it.kind != itemReply && it.kind != itemSilent, it.a != o.id, it.kind != itemLand && m.clients[o.client].crashed:
		case it.tick == m.cur.Tick:
			now = true
		default:
			later = true
		}
	}
	return now, later
}

// compare compares a grant with those that are known, and tells those that are not about it.
func (m *Machine) compare(g *op) (regress Tick) {
	mine := m.pastOf(g)
	mine.judged, regress = true, Forever
	if g.again {
		return regress
	}
	if g.token <= mine.before {
		regress = mine.quorumAt
	}
	for _, k := range mine.after {
		if k.token <= g.token {
			regress = min(regress, k.at)
		}
	}
	m.Marks[MarkGranted] = max(m.Marks[MarkGranted], g.token)
	for i := range m.ops {
		o := &m.ops[i]
		if o.verb != Acquire || o == g || !m.inOrder(o) {
			continue
		}
		if p := m.pastOf(o); p.castSeq > mine.castSeq {
			p.before = max(p.before, g.token)
		} else {
			p.after = add(p.after, known{g.token, mine.quorumAt})
		}
	}
	return regress
}

// saveSlow writes an acquire's past.
func (m *Machine) saveSlow(w *writer, o *op) {
	inOrder, mine := m.inOrder(o), m.pastOf(o)
	w.flags(inOrder, mine.judged)
	if inOrder {
		rank := int64(1)
		for _, i := range m.live.ops {
			if p := &m.ops[i]; p.verb == Acquire && m.inOrder(p) && m.pastOf(p).castSeq < mine.castSeq {
				rank++
			}
		}
		w.num(rank)
		w.tick(mine.quorumAt)
		w.num(m.live.rank.token(mine.before))
		w.num(int64(len(mine.after)))
		for _, k := range mine.after {
			w.num(m.live.rank.token(k.token))
			w.tick(k.at)
		}
	}
	w.num(int64(mine.returned))
}

func (m *Machine) loadSlow(r *reader, o *op) {
	f := r.byte()
	p := m.newPast(o)
	p.judged = f&2 != 0
	if f&1 != 0 {
		p.castSeq, p.quorumAt, p.before = r.num(), r.tick(), r.num()
		for n := r.num(); n > 0; n-- {
			p.after = append(p.after, known{r.num(), r.tick()})
		}
		m.casts = max(m.casts, p.castSeq)
	}
	p.returned = int32(r.num())
}
