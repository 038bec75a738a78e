package engine

// ranks replaces versions, and tokens where that is sound, by their order: rules compare them and give out higher ones,
// so only the order tells states apart.
type ranks struct {
	versions []int64
	tokens   []int64
	exact    bool // tokens stand as they are
}

func (r *ranks) version(n int64) int64 { return order(r.versions, n) }

func (r *ranks) token(n int64) int64 {
	if r.exact || n <= 0 {
		return n
	}
	return order(r.tokens, n)
}

func order(sorted []int64, n int64) int64 {
	for i, known := range sorted {
		if known == n {
			return int64(i)
		}
	}
	return -1
}

// insert keeps a short list sorted and without repetition.
func insert(sorted []int64, n int64) []int64 {
	i := len(sorted)
	for i > 0 && sorted[i-1] >= n {
		if sorted[i-1] == n {
			return sorted
		}
		i--
	}
	sorted = append(sorted, 0)
	copy(sorted[i+1:], sorted[i:])
	sorted[i] = n
	return sorted
}

// saveRanks collects the versions and tokens that the snapshot will name. Tokens keep their numbers where several counters
// run, or where one can start again: there their distances matter.
func (m *Machine) saveRanks(l *liveSet) {
	r := &l.rank
	l.values = l.values[:0]
	r.versions, r.tokens, r.exact = r.versions[:0], append(r.tokens[:0], 0), m.uses.counters
	r.versions = insert(append(r.versions, 0), m.resource.version)
	token := func(n int64) {
		if !r.exact && n > 0 {
			r.tokens = insert(r.tokens, n)
		}
	}
	for _, t := range m.Marks {
		token(t)
	}
	token(m.resource.highest)
	token(m.resource.accepted)
	token(m.ordered)
	for c := range m.clients {
		if l.active[c] && !m.clients[c].crashed {
			r.versions = insert(r.versions, m.clients[c].version)
			token(m.clients[c].token)
		}
	}
	for sv := range m.servers {
		m.settle(int32(sv))
		s := &m.servers[sv]
		token(s.token)
		if m.matters(s) {
			token(m.rec.Leases[s.lease].Token)
		}
	}
	for _, i := range l.ops {
		o := &m.ops[i]
		token(o.token)
		token(o.best)
		token(o.number)
		switch o.verb {
		case Acquire:
			if m.inOrder(o) {
				p := m.pastOf(o)
				token(p.before)
				for _, k := range p.after {
					token(k.token)
				}
			}
			for v := o.first; v < int32(len(m.rec.Votes)); v++ {
				if m.openVote(o, &m.rec.Votes[v]) {
					token(m.rec.Votes[v].Token)
				}
			}
		case Read:
			rd := &m.rec.Reads[o.index]
			r.versions = insert(r.versions, rd.Version)
			token(rd.Token)
		case Append, Write:
			w := &m.rec.Writes[o.index]
			r.versions = insert(insert(r.versions, w.Base), w.Version)
			token(w.Token)
		}
	}
	for _, q := range l.order {
		if it := &m.queue[q]; it.kind == itemReply && it.b >= 0 {
			token(m.answers[it.b].token)
		}
	}
}
