package audit

import (
	"cmp"
	"math/bits"
	"slices"

	"dlock/engine"
)

// edge is a moment at which something begins or ends to count. Ends sort before beginnings: intervals are half-open.
type edge struct {
	at    engine.Moment
	index int32 // of the interval, or of the fault
	kind  edgeKind
}

type edgeKind uint8

const (
	edgeClock edgeKind = iota // a clock jumps or stops
	edgeOver                  // a lease runs out, its state stays
	edgeOff
	edgeUp
	edgeDown
	edgeOn
)

func byMoment(a, b engine.Moment) int {
	return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Seq, b.Seq))
}

func sortEdges(edges []edge) {
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return byMoment(a.at, b.at)
		}
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.index, b.index))
	})
}

// addEdges adds both ends of a half-open interval. One without a moment in it has none, and an end that never comes is
// no edge.
func addEdges(edges []edge, start, end engine.Moment, index int32) []edge {
	if !start.Before(end) {
		return edges
	}
	edges = append(edges, edge{at: start, index: index, kind: edgeOn})
	if end.Tick != engine.Forever {
		edges = append(edges, edge{at: end, index: index, kind: edgeOff})
	}
	return edges
}

// stretch is a half-open stretch of moments in which something is true of a client.
type stretch struct {
	client int32
	line   int32 // the source line that began it
	start  engine.Moment
	end    engine.Moment
}

// tally tells for which clients a quorum of servers counts, moment by moment.
type tally struct {
	servers int
	quorum  int32
}

// begin empties the tally's counters.
func (a *Auditor) begin(rec *engine.Record) tally {
	clients, servers := len(rec.Program.Clients), rec.Program.Settings.Servers
	a.live = cleared(a.live, clients*servers)
	a.count = cleared(a.count, clients)
	a.down = cleared(a.down, servers)
	a.open = filled(a.open, clients, engine.None)
	a.mark = cleared(a.mark, clients)
	a.touched = a.touched[:0]
	return tally{servers: servers, quorum: int32(rec.Program.Settings.Quorum)}
}

// enter and leave open and close an interval of client on server.
func (a *Auditor) enter(t tally, client, server int32) {
	n := &a.live[int(client)*t.servers+int(server)]
	*n++
	if *n == 1 && a.down[server] == 0 {
		a.move(client, 1)
	}
}

func (a *Auditor) leave(t tally, client, server int32) {
	n := &a.live[int(client)*t.servers+int(server)]
	*n--
	if *n == 0 && a.down[server] == 0 {
		a.move(client, -1)
	}
}

// fall and rise take a server out of everybody's count and put it back.
func (a *Auditor) fall(t tally, server int32) {
	a.down[server]++
	if a.down[server] == 1 {
		a.moveAll(t, server, -1)
	}
}

func (a *Auditor) rise(t tally, server int32) {
	a.down[server]--
	if a.down[server] == 0 {
		a.moveAll(t, server, 1)
	}
}

func (a *Auditor) moveAll(t tally, server, by int32) {
	for client := range a.count {
		if a.live[client*t.servers+int(server)] > 0 {
			a.move(int32(client), by)
		}
	}
}

func (a *Auditor) move(client, by int32) {
	a.count[client] += by
	if !a.mark[client] {
		a.mark[client] = true
		a.touched = append(a.touched, client)
	}
}

// settle looks at the clients whose count moved at moment m, once all that happens at m is in, and begins or ends their
// stretches.
func (a *Auditor) settle(t tally, m engine.Moment, line int32, out []stretch) []stretch {
	slices.Sort(a.touched)
	for _, client := range a.touched {
		a.mark[client] = false
		switch in := a.count[client] >= t.quorum; {
		case in && a.open[client] == engine.None:
			a.open[client] = int32(len(out))
			out = append(out, stretch{client: client, line: line, start: m, end: engine.Never()})
		case !in && a.open[client] != engine.None:
			out[a.open[client]].end = m
			a.open[client] = engine.None
		}
	}
	a.touched = a.touched[:0]
	return out
}

// meet counts the pairs of clients whose stretches share a moment, each pair once, under its first meeting. The
// stretches are sorted by start, and those of one client do not touch each other.
func (a *Auditor) meet(law Law, clients int, list []stretch, into *Report) {
	if len(list) < 2 {
		return
	}
	words := (clients + 63) / 64
	a.met = cleared(a.met, clients*words)
	a.active = cleared(a.active, words)
	a.last = filled(a.last, clients, engine.None)
	ends := a.spare[:0]
	for i := range list {
		if list[i].end.Tick != engine.Forever {
			ends = append(ends, edge{at: list[i].end, index: int32(i), kind: edgeOff})
		}
	}
	sortEdges(ends)
	a.spare = ends

	for i := range list {
		s := &list[i]
		for len(ends) > 0 && !s.start.Before(ends[0].at) {
			c := list[ends[0].index].client
			a.active[c/64] &^= 1 << (c % 64)
			ends = ends[1:]
		}
		mine := a.met[int(s.client)*words:][:words]
		for w, set := range a.active {
			for fresh := set &^ mine[w]; fresh != 0; fresh &= fresh - 1 {
				other := int32(w*64 + bits.TrailingZeros64(fresh))
				a.met[int(other)*words+int(s.client)/64] |= 1 << (s.client % 64)
				if into.found(law) {
					f := breach(law, s.start.Tick)
					f.End = min(s.end.Tick, list[a.last[other]].end.Tick)
					f.Line, f.Client, f.Other = s.line, s.client, other
					into.Findings = append(into.Findings, f)
				}
			}
			mine[w] |= set
		}
		a.active[s.client/64] |= 1 << (s.client % 64)
		a.last[s.client] = int32(i)
	}
}
