package engine

import (
	"cmp"
	"math/bits"
	"slices"
)

// Clients whose lines differ only in names, texts and places in the file are alike: if two of them change places, what can
// come of a state is the same, but for their texts. A canonical snapshot calls them by their places in an order that the
// state itself gives, so that such states are equal. That holds only while ties are open: otherwise the order of the lines
// tells actors apart.
type alike struct {
	groups  [][]int32        // of two or more clients, ascending
	grouped []bool           // by client
	odd     []bool           // by client: it is like nobody
	steps   [][]int32        // by client: its steps, each before those of its blocks
	place   []int32          // by step: where it is in its client's list
	lines   map[int32]int32  // by source line: the first step there
	holes   [][]int32        // by client: the holes that only its steps wait for, as they come
	holeOf  []int32          // by hole: the client, None for one that not one client alone waits for
	writes  []int32          // the steps with texts
	texts   map[string]int32 // the first step that writes a text

	moved    bool     // some client has another one's place
	to, from []int32  // by client: whose place it has, and who has its place
	sig      []uint64 // by client: what tells it from those that it is like
}

// findAlike groups a program's clients.
func (m *Machine) findAlike() {
	a, p := &m.alike, m.p
	a.moved, a.groups = false, a.groups[:0]
	if !p.Ties || len(p.Clients) < 2 {
		return
	}
	a.list(p)
	for c := range a.odd {
		if a.odd[c] || a.grouped[c] {
			continue
		}
		group := []int32{int32(c)}
		for d := c + 1; d < len(a.odd); d++ {
			if !a.odd[d] && !a.grouped[d] && a.same(p, int32(c), int32(d)) && a.sameTexts(p, int32(c), int32(d)) {
				group = append(group, int32(d))
			}
		}
		if len(group) > 1 {
			a.groups = append(a.groups, group)
			for _, d := range group {
				a.grouped[d] = true
			}
		}
	}
}

// list lists steps and holes by client. Odd is a client that other clients' lines name, that does not act by itself alone,
// or that shares a line of the file.
func (a *alike) list(p *Program) {
	n := len(p.Clients)
	if a.lines == nil {
		a.lines, a.texts = map[int32]int32{}, map[string]int32{}
	}
	clear(a.lines)
	clear(a.texts)
	a.writes = a.writes[:0]
	a.grouped, a.odd = resize(a.grouped, n), resize(a.odd, n)
	clear(a.grouped)
	clear(a.odd)
	a.steps, a.holes = resize(a.steps, n), resize(a.holes, n)
	for c := range n {
		a.steps[c], a.holes[c] = a.steps[c][:0], a.holes[c][:0]
	}
	a.to, a.from, a.sig = resize(a.to, n), resize(a.from, n), resize(a.sig, n)
	a.place, a.holeOf = resize(a.place, len(p.Steps)), resize(a.holeOf, len(p.Holes))
	for h := range a.holeOf {
		a.holeOf[h] = unseen
	}
	for _, r := range p.Roots {
		a.add(p, r, p.Steps[r].Client)
	}
	for c := range a.holes {
		a.holes[c] = slices.DeleteFunc(a.holes[c], func(h int32) bool { return a.holeOf[h] == None })
	}
}

// unseen is a hole that no step was seen to wait for.
const unseen = None - 1

// add lists a step and those of its blocks.
func (a *alike) add(p *Program, i, root int32) {
	s := &p.Steps[i]
	c := s.Client
	if c != root || s.Verb == Cut || s.Verb == Heal || s.Verb == ClientClock {
		a.single(c)
		a.single(root)
	}
	if c != None {
		a.place[i] = int32(len(a.steps[c]))
		a.steps[c] = append(a.steps[c], i)
	}
	if s.Verb == Append || s.Verb == Write {
		a.writes = append(a.writes, i)
		if _, known := a.texts[p.Texts[s.Text]]; !known {
			a.texts[p.Texts[s.Text]] = i
		}
	}
	if s.Verb == Acquire && s.Owner != c && int(s.Owner) < len(p.Clients) {
		a.single(s.Owner)
	}
	if first, taken := a.lines[s.Line]; !taken {
		a.lines[s.Line] = i
	} else if d := p.Steps[first].Client; d != c {
		a.single(c)
		a.single(d)
	}
	if h := s.Hole - 1; h >= 0 && a.holeOf[h] == unseen && c != None {
		a.holeOf[h] = c
		a.holes[c] = append(a.holes[c], h)
	} else if h >= 0 && a.holeOf[h] != c {
		a.holeOf[h] = None
	}
	for b := s.Blocks.Lo; b < s.Blocks.Hi; b++ {
		for k := p.Blocks[b].Steps.Lo; k < p.Blocks[b].Steps.Hi; k++ {
			a.add(p, k, root)
		}
	}
}

func (a *alike) single(c int32) {
	if c != None {
		a.odd[c] = true
	}
}

// same tells whether two clients' lists are the same but for names, texts and places.
func (a *alike) same(p *Program, c, d int32) bool {
	if len(a.steps[c]) != len(a.steps[d]) || len(a.holes[c]) != len(a.holes[d]) {
		return false
	}
	line := func(c int32, k int) int32 { return p.Steps[a.steps[c][k]].Line }
	for k, i := range a.steps[c] {
		if !a.sameStep(p, i, a.steps[d][k]) {
			return false
		}
		for l := range k {
			if cmp.Compare(line(c, k), line(c, l)) != cmp.Compare(line(d, k), line(d, l)) {
				return false
			}
		}
	}
	return slices.EqualFunc(a.holes[c], a.holes[d], func(g, h int32) bool { return p.Holes[g] == p.Holes[h] })
}

func (a *alike) sameStep(p *Program, i, j int32) bool {
	s, t := p.Steps[i], p.Steps[j]
	same := func(u, v Span) bool { return slices.Equal(p.ServerIDs[u.Lo:u.Hi], p.ServerIDs[v.Lo:v.Hi]) }
	if !same(s.Servers, t.Servers) ||
		!slices.EqualFunc(p.Messages[s.Messages.Lo:s.Messages.Hi], p.Messages[t.Messages.Lo:t.Messages.Hi], func(m, n Message) bool {
			servers := m.Servers
			m.Servers = n.Servers
			return m == n && same(servers, n.Servers)
		}) ||
		!slices.EqualFunc(p.Blocks[s.Blocks.Lo:s.Blocks.Hi], p.Blocks[t.Blocks.Lo:t.Blocks.Hi], func(b, c Block) bool {
			return b.On == c.On && b.Steps.Len() == c.Steps.Len()
		}) {
		return false
	}
	if g, h := s.Hole-1, t.Hole-1; g != h && (g < 0 || h < 0 || a.holeOf[g] != s.Client || a.holeOf[h] != t.Client ||
		slices.Index(a.holes[s.Client], g) != slices.Index(a.holes[t.Client], h)) {
		return false
	}
	if s.Owner == s.Client && t.Owner == t.Client {
		t.Owner = s.Owner
	}
	t.Line, t.Client, t.Text, t.Hole = s.Line, s.Client, s.Text, s.Hole
	t.Servers, t.Messages, t.Blocks = s.Servers, s.Messages, s.Blocks
	return s == t
}

// sameTexts tells whether the texts can change places with the two clients: wherever else a text is written, the one that
// takes its place is the same.
func (a *alike) sameTexts(p *Program, c, d int32) bool {
	other := func(i int32) string {
		switch p.Steps[i].Client {
		case c:
			i = a.steps[d][a.place[i]]
		case d:
			i = a.steps[c][a.place[i]]
		}
		return p.Texts[p.Steps[i].Text]
	}
	for _, i := range a.writes {
		if other(i) != other(a.texts[p.Texts[p.Steps[i].Text]]) {
			return false
		}
	}
	return true
}

// placeAlike gives the clients of each group places in an order that does not depend on which of them is which.
func (m *Machine) placeAlike(mask uint64) {
	a := &m.alike
	a.moved = false
	if len(a.groups) == 0 {
		return
	}
	for c := range a.to {
		a.to[c], a.from[c] = int32(c), int32(c)
	}
	m.tellApart(mask)
	for _, group := range a.groups {
		// Those who have the places are sorted where they are; the places themselves are the group's numbers, ascending.
		for i := 1; i < len(group); i++ {
			for k := i; k > 0; k-- {
				x, y := &a.from[group[k-1]], &a.from[group[k]]
				if a.sig[*x] <= a.sig[*y] {
					break
				}
				*x, *y = *y, *x
				a.moved = true
			}
		}
		for _, c := range group {
			a.to[a.from[c]] = c
		}
	}
}

// tellApart computes the signatures of grouped clients. Equal ones are no fault: those two keep their order, and states that
// might have been one may stay two.
func (m *Machine) tellApart(mask uint64) {
	a, l := &m.alike, &m.live
	for _, group := range a.groups {
		for _, i := range group {
			c := &m.clients[i]
			active := l.active[i] && !c.crashed
			h := mix(0, flag(active, 1)|flag(c.crashed, 2)|flag(c.belief != None && !m.BeliefsAside, 4)|flag(c.waits && !c.crashed, 8))
			if active { // only what the snapshot tells of it, too
				h = mix(h, flag(c.checked, 1)|flag(c.watchdog != 0, 2)|flag(c.lossTold, 4))
				h = mix(h, l.rank.version(c.version))
				h = mix(h, l.rank.token(c.token))
				h = mix(h, max(m.distance(c.pausedUntil), 0))
			}
			for _, n := range a.holes[i] {
				if !m.holes[n].decided || mask&(1<<n) != 0 {
					h = mix(h, int64(m.holes[n].first)<<1|flag(m.holes[n].decided, 1))
				}
			}
			for sv := range m.servers {
				if s := &m.servers[sv]; m.matters(s) && s.owner == i {
					h = mix(h, int64(sv))
				}
				for p := m.held[int(i)*len(m.servers)+sv]; p != None; p = m.chain[p] {
					if end := m.rec.Promises[p].End; m.cur.Before(end) {
						h = mix(h, m.distance(end.Tick))
					}
				}
			}
			a.sig[i] = h
		}
	}
	for _, q := range l.order {
		it := &m.queue[q]
		step, more := it.a, int64(it.server)
		switch it.kind {
		case itemPoll:
			t := &m.trials[it.a]
			step, more = t.step, m.distance(t.until)
		case itemLand, itemReply, itemSilent:
			o := &m.ops[it.a]
			step = o.step
			more = more<<16 | int64(o.yes)<<12 | int64(o.no)<<8 | int64(o.cast)<<4 | int64(o.outcome)
			more = more*31 + m.distance(o.sent.Tick)
		}
		if c := m.p.Steps[step].Client; c != None && a.grouped[c] {
			h := mix(a.sig[c], int64(it.kind)<<32|int64(a.place[step]))
			a.sig[c] = mix(mix(h, m.distance(it.tick)), more)
		}
	}
}

// distance is how far a tick is from the present; Forever has a distance of its own.
func (m *Machine) distance(t Tick) int64 {
	if t == Forever {
		return int64(Forever)
	}
	return int64(t - m.cur.Tick)
}

func flag(on bool, n int64) int64 {
	if on {
		return n
	}
	return 0
}

// mix takes a number into a signature.
func mix(h uint64, n int64) uint64 {
	h = (h ^ uint64(n)) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// client gives the place of a client, or of an owner.
func (a *alike) client(c int32) int32 {
	if !a.moved || c < 0 || int(c) >= len(a.to) {
		return c
	}
	return a.to[c]
}

// inClient gives the client that has a place.
func (a *alike) inClient(n int32) int32 {
	if !a.moved {
		return n
	}
	return a.from[n]
}

// clients gives the places of clients that are bits of a word.
func (a *alike) clients(set uint64) uint64 {
	if !a.moved {
		return set
	}
	moved := uint64(0)
	for ; set != 0; set &= set - 1 {
		moved |= 1 << a.to[bits.TrailingZeros64(set)]
	}
	return moved
}

// step gives the step that stands in the place of one.
func (a *alike) step(p *Program, i int32) int32 {
	if c := p.Steps[i].Client; a.moved && c != None && a.to[c] != c {
		return a.steps[a.to[c]][a.place[i]]
	}
	return i
}

// line gives the line that stands in the place of one of a client's; 0 is no line.
func (a *alike) line(p *Program, c, line int32) int32 {
	if !a.moved || c == None || a.to[c] == c || line == 0 {
		return line
	}
	return p.Steps[a.step(p, a.lines[line])].Line
}

// LineAs gives the source line at which a client does what another one, whose place it has, does at a line.
func (m *Machine) LineAs(line int32, who []int32) int32 {
	a := &m.alike
	i, known := a.lines[line]
	if !known {
		return line
	}
	if c := m.p.Steps[i].Client; c != None && who[c] != c {
		i = a.steps[who[c]][a.place[i]]
	}
	return m.p.Steps[i].Line
}

// HoleAs is LineAs for holes.
func (m *Machine) HoleAs(h int32, who []int32) int32 {
	if c := m.alike.holeOf[h]; c >= 0 {
		return m.alike.holes[who[c]][slices.Index(m.alike.holes[c], h)]
	}
	return h
}

// hole gives the hole that stands in the place of one.
func (a *alike) hole(h int32) int32 { return a.moveHole(h, a.to) }

// inHole gives the hole in whose place one stands.
func (a *alike) inHole(h int32) int32 { return a.moveHole(h, a.from) }

func (a *alike) moveHole(h int32, by []int32) int32 {
	if !a.moved || h < 0 || a.holeOf[h] < 0 {
		return h
	}
	c := a.holeOf[h]
	return a.holes[by[c]][slices.Index(a.holes[c], h)]
}

// Moved appends, if the last snapshot gave clients other places than their own, who had each of them.
func (m *Machine) Moved(dst []int32) []int32 {
	if !m.alike.moved {
		return dst
	}
	return append(dst, m.alike.from...)
}

// PlacedSet gives the places that the last snapshot gave to clients, which are bits of a word.
func (m *Machine) PlacedSet(clients uint64) uint64 { return m.alike.clients(clients) }

// PlacedStep gives the step that stands, by the last snapshot, in the place of one.
func (m *Machine) PlacedStep(step int32) int32 { return m.alike.step(m.p, step) }

// text gives what those who had the places of others write for a text.
func (a *alike) text(p *Program, t string, from []int32) string {
	i, written := a.texts[t]
	if !written {
		return t
	}
	if c := p.Steps[i].Client; from[c] != c {
		i = a.steps[from[c]][a.place[i]]
	}
	return p.Texts[p.Steps[i].Text]
}
