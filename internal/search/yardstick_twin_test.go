package search

import (
	"fmt"
	"testing"

	"dlock/engine"
)

// tally is how many schedules there are, and in how many a stale write is accepted.
type tally struct{ members, stale uint64 }

func (t tally) plus(u tally) tally { return tally{t.members + u.members, t.stale + u.stale} }

// handmade counts the yardstick by itself, tick by tick, with nothing of the engine: every client acquires for 10 ticks and asks
// again every tick; one tick after its grant it reads, then it appends, then it releases. A arrives at 0, and its last two
// steps come stall ticks later.
type handmade struct {
	clients         int
	stall, arrivals int16
	memo            map[model]tally
}

const (
	away0 int16 = iota
	asking
	reading
	appending
	releasing
	gone
)

// model is the world before a tick.
type model struct {
	t       int16
	clients [4]struct {
		phase, due int16
		token      int16 // by rank among those that hold one still
		overtaken  bool  // a higher token was accepted
	}
	holder, expires int16 // -1 is nobody
	stale           bool
}

func (y *handmade) count() tally {
	m := model{holder: -1}
	m.clients[0].phase = asking
	y.memo = map[model]tally{}
	return y.from(m)
}

func (y *handmade) from(m model) tally {
	if m.holder >= 0 && m.expires <= m.t {
		m.holder, m.expires = -1, 0
	}
	over, idle := true, true
	for c := range y.clients {
		x := m.clients[c]
		over = over && x.phase == gone
		idle = idle && (x.phase == gone || x.phase != away0 && x.due > m.t)
	}
	switch {
	case over && m.stale:
		return tally{1, 1}
	case over:
		return tally{1, 0}
	case idle:
		m.t++
		return y.from(m)
	}
	sum, known := y.memo[m]
	if !known {
		sum = y.arrive(m, 1)
		y.memo[m] = sum
	}
	return sum
}

// arrive decides, client by client, who arrives in this tick.
func (y *handmade) arrive(m model, c int) tally {
	var sum tally
	for ; c < y.clients; c++ {
		if m.clients[c].phase != away0 {
			continue
		}
		if m.t < y.arrivals {
			sum = y.arrive(m, c+1)
		}
		m.clients[c].phase, m.clients[c].due = asking, m.t
		return sum.plus(y.arrive(m, c+1))
	}
	return y.act(m)
}

// act lets those who are due act in every order.
func (y *handmade) act(m model) tally {
	var sum tally
	due := false
	for c := range y.clients {
		if x := m.clients[c]; x.phase != away0 && x.phase != gone && x.due == m.t {
			due = true
			sum = sum.plus(y.act(y.step(m, c)))
		}
	}
	if due {
		return sum
	}
	m.t++
	return y.from(m)
}

func (y *handmade) step(m model, c int) model {
	x := &m.clients[c]
	switch x.phase {
	case asking:
		if m.holder >= 0 {
			x.due++
			return m
		}
		m.holder, m.expires = int16(c), m.t+10
		for i := range m.clients {
			x.token = max(x.token, m.clients[i].token+1)
		}
	case appending:
		m.stale = m.stale || x.overtaken
		for i := range m.clients {
			if o := &m.clients[i]; o.token > 0 && o.token < x.token {
				o.overtaken = true
			}
		}
	case releasing:
		if m.holder == int16(c) {
			m.holder, m.expires = -1, 0
		}
		m.lose(c)
		return m
	}
	x.phase++
	x.due++
	if c == 0 && x.phase == appending {
		x.due += y.stall
	}
	return m
}

// lose forgets a client that is done, and its token.
func (m *model) lose(c int) {
	token := m.clients[c].token
	m.clients[c] = model{}.clients[0]
	m.clients[c].phase = gone
	for i := range m.clients {
		if o := &m.clients[i]; o.token > token {
			o.token--
		}
	}
}

func (y *handmade) total(clients int, bound int32) (sum tally) {
	y.clients, y.arrivals = clients, int16(bound)
	for y.stall = range int16(bound + 1) {
		sum = sum.plus(y.count())
	}
	return sum
}

// The search counts what a program for this model alone counts, which shares nothing with it.
func TestYardstickAgreesWithATwin(t *testing.T) {
	for _, tc := range []struct {
		clients int
		bound   int32
	}{{2, 0}, {2, 7}, {2, 30}, {2, 45}, {3, 0}, {3, 9}, {3, 30}, {3, 200}, {4, 0}, {4, 3}, {4, 30}} {
		var y handmade
		want := y.total(tc.clients, tc.bound)
		r := run(t, yardstick(tc.clients, tc.bound, tc.bound, engine.FencingOff))
		got := fmt.Sprintf("%v members, %v stale", r.Members, r.stale())
		if w := fmt.Sprintf("%d members, %d stale", want.members, want.stale); got != w {
			t.Errorf("%d clients at %d: %s; the twin says %s", tc.clients, tc.bound, got, w)
		}
	}
}

// BenchmarkTwin is what the search is measured against: a program that can count nothing else.
func BenchmarkTwin(b *testing.B) {
	for _, bc := range rows {
		b.Run(bc.name, func(b *testing.B) {
			var y handmade
			for b.Loop() {
				y.total(bc.clients, bc.bound)
			}
		})
	}
}
