package study

import (
	"context"
	"fmt"
	"testing"

	"dlock/audit"
)

// twin is the world of two clients written a second time, as plainly as possible and sharing no code with the product:
// one lock instead of five servers, a loop over ticks, sets of ticks instead of intervals. It knows the schedule of
// pauseSweep by heart: A acquires at 0, reads at 1, is paused for stall ticks from 2 on, writes, and releases a tick
// later; B asks from its arrival on until it is granted, then reads, writes and releases at one, two and three ticks
// after. Where both act at a tick, A is first.
type twin struct {
	lease, stall, arrival int
	fenced                bool

	holder       string
	ends         int // the lease of the holder is over at this tick
	tokens       int
	held         map[string]map[int]bool // by client: the ticks that its lease covers
	value        string
	highest      int
	copied       map[string]string
	mine         map[string]int // by client: its token
	accepted     []twinWrite
	grantOfB     int
	stale, stray int
}

type twinWrite struct {
	client string
	token  int
	saw    int // how many writes were accepted before its client read, or wrote last
}

func (w *twin) acquire(client string, now int) bool {
	if w.holder != "" && now < w.ends {
		return false
	}
	w.tokens++
	w.holder, w.ends = client, now+w.lease
	w.mine[client] = w.tokens
	for t := now; t < now+w.lease; t++ {
		w.held[client][t] = true
	}
	return true
}

func (w *twin) release(client string, now int) {
	if w.holder != client || now >= w.ends {
		return
	}
	w.holder = ""
	for t := now; t < w.ends; t++ {
		delete(w.held[client], t)
	}
}

func (w *twin) write(client string, now int, saw map[string]int) {
	token := w.mine[client]
	if w.fenced && token < w.highest {
		return
	}
	if token < w.highest {
		w.stale++
	}
	if w.holder != client || now >= w.ends {
		w.stray++
	}
	w.highest = max(w.highest, token)
	w.value = w.copied[client] + client
	w.accepted = append(w.accepted, twinWrite{client, token, saw[client]})
}

func (w *twin) run() {
	w.held = map[string]map[int]bool{"A": {}, "B": {}}
	w.copied, w.mine = map[string]string{}, map[string]int{}
	w.grantOfB = -1
	saw := map[string]int{}
	last := max(3+w.stall, w.arrival) + w.lease + 10
	for now := 0; now <= last; now++ {
		switch now {
		case 0:
			w.acquire("A", now)
		case 1:
			w.copied["A"], saw["A"] = w.value, len(w.accepted)
		case 2 + w.stall:
			w.write("A", now, saw)
		case 3 + w.stall:
			w.release("A", now)
		}
		switch {
		case w.grantOfB < 0:
			if now >= w.arrival && w.acquire("B", now) {
				w.grantOfB = now
			}
		case now == w.grantOfB+1:
			w.copied["B"], saw["B"] = w.value, len(w.accepted)
		case now == w.grantOfB+2:
			w.write("B", now, saw)
		case now == w.grantOfB+3:
			w.release("B", now)
		}
	}
}

// overlap tells whether both clients' leases cover a tick.
func (w *twin) overlap() bool {
	for t := range w.held["A"] {
		if w.held["B"][t] {
			return true
		}
	}
	return false
}

// lost counts the writes that a later one did not know of.
func (w *twin) lost() int {
	n := 0
	for i := range w.accepted {
		for _, later := range w.accepted[i+1:] {
			if later.saw <= i {
				n++
				break
			}
		}
	}
	return n
}

// TestTwin compares every cell of lease, stall and arrival, each from 0 to 40, with the twin.
func TestTwin(t *testing.T) {
	const limit = 40
	for _, fencing := range []string{"off", "on"} {
		st := studied(t, fmt.Sprintf("%sfencing %s\nsweep \"all\" over lease in 0..%d by stall in 0..%d by arrival in 0..%d {\n  expect no overlap\n}\n",
			pauseSweep, fencing, limit, limit, limit))
		cells, different := 0, 0
		_, err := st.Do(context.Background(), Options{Jobs: 2, Each: func(c Cell) {
			w := twin{lease: int(c.At[0].N), stall: int(c.At[1].N), arrival: int(c.At[2].N), fenced: fencing == "on"}
			w.run()
			cells++
			got := fmt.Sprintf("final %q stale %d lost %d unlocked %d overlap %v granted %d", c.Final, c.Counts[audit.StaleWrite],
				c.Counts[audit.LostUpdate], c.Counts[audit.UnlockedWrite], c.Counts[audit.Overlap] > 0, c.At[2].N+c.Blocked[1])
			want := fmt.Sprintf("final %q stale %d lost %d unlocked %d overlap %v granted %d", w.value, w.stale, w.lost(), w.stray, w.overlap(), w.grantOfB)
			if got != want {
				if different++; different <= 5 {
					t.Errorf("fencing %s, %v:\n  %s\n  twin: %s", fencing, c.At, got, want)
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if cells != (limit+1)*(limit+1)*(limit+1) {
			t.Errorf("%d cells", cells)
		}
		if different > 5 {
			t.Errorf("fencing %s: %d of %d cells differ", fencing, different, cells)
		}
	}
}
