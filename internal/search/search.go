// Package search answers exactly what the members of a family of schedules do: how many break which law, and the smallest
// one that does. It counts paths instead of walking them, by merging states that are equal from there on; it chooses
// nothing at random and prints nothing. Families that it cannot count (see Count) are for Brute, which walks every member.
package search

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"math/big"
	"math/bits"
	"sync/atomic"

	"dlock/audit"
	"dlock/engine"
)

// MaxClients is how many clients a family may have: voters are kept as bits of a word.
const MaxClients = 64

// MaxHoles is how many late holes a family may have: which of them still matter is kept as bits of a word.
const MaxHoles = 64

// DefaultLimit is how many states a search keeps, of about 200 bytes each, unless it is told otherwise.
const DefaultLimit = 10_000_000

// MaxOutcomes is how many outcomes a search keeps, of all its states together, of 64 bytes each: states of a family in which
// many writes can be in many orders have hundreds.
const MaxOutcomes = 100_000_000

// MaxDepth is how many states a search goes deep, each of about 2 KiB of stack and memory: as many as a hole may have values
// that are decided one by one.
const MaxDepth = 300_000

// stretch is after how many pieces of work without a choice a state is looked up all the same: a poll that goes on for ever
// comes back to a state that is known.
const stretch = 256

// firstTable is how many places the table of a search has at first. They double when half of them are taken.
const firstTable = 1 << 13

var (
	// ErrLimit says that the search kept as many states as it may.
	ErrLimit = errors.New("the limit of states is reached")
	// ErrTooMany says that there are 2^256 members or more.
	ErrTooMany = errors.New("the family has 2^256 members or more")
	// ErrFound says that the search was to stop at a member that it has found.
	ErrFound = errors.New("a member that breaks a law was found")
	// ErrTrait says that the family has more clients or holes than the search counts.
	ErrTrait = errors.New("the family has a trait that cannot be counted by merging states")
)

// Laws is a set of broken laws, as bits by audit.Law.
type Laws uint16

// Has tells whether the law is in the set.
func (s Laws) Has(l audit.Law) bool { return s&(1<<l) != 0 }

// Cost orders witnesses: fewest choices away from the first value of each hole, then the earliest harm, then the fewest
// events; among equals the order of the lines.
type Cost struct {
	Away   int32
	Harm   engine.Tick // the tick at which the law was first broken, for laws of liveness the horizon; 0 for a class
	Events int32
}

// Compare is negative if c is the smaller witness.
func (c Cost) Compare(d Cost) int {
	return cmp.Or(cmp.Compare(c.Away, d.Away), cmp.Compare(c.Harm, d.Harm), cmp.Compare(c.Events, d.Events))
}

// Class is the members that end with the same value and the same laws broken.
type Class struct {
	Broken  Laws
	Final   string
	Members *big.Int
	Cost    Cost // of its smallest member
}

// Result is the answer about one family.
type Result struct {
	Members *big.Int
	Classes []Class // by laws, then by final value
	// Smallest is the cost of the smallest member that breaks each law, where one does.
	Smallest [audit.NumLaws]Cost
	Broken   Laws
	States   int
	Branches int
	Bytes    int // of all states' keys
}

// Search counts one family. Make one with New, Run it once, then ask for witnesses.
type Search struct {
	p     *engine.Program
	m     *engine.Machine
	rec   *engine.Record
	mon   monitor
	limit int
	// deepest is how many states deep it goes: MaxDepth but for tests.
	deepest int
	bound   bool         // the horizon's distance is part of a state
	apart   bool         // clients that are alike are told apart all the same
	stop    func() error // why the caller wants the search to end; nil while it does not
	seen    *atomic.Int64
	keep    func()
	until   Laws
	saved   []byte // states to go on from
	// known says that states are looked up only: those that are not there, or not to their end, give what is known of them.
	known bool
	cut   []int32 // states that were not worked out to their end when the search stopped

	seed     maphash.Seed
	table    []int32 // open addressing: node + 1
	nodes    []node
	keys     arena[byte]
	outcomes arena[outcome]
	breaches arena[breach]
	values   []int32 // a stack: the values of the states on the way
	moved    []int32 // a stack: who had which place in them, where some clients were moved
	root     *futures
	gather   []*futures // what becomes of the states on the way
	depth    int
	branches int
	buf      []byte
	factors  []int32
	err      error
}

// node is a state with what becomes of it.
type node struct {
	key      span
	outcomes span
	breaches span
	open     bool        // what becomes of it is being worked out
	last     engine.Tick // the last poll in its futures, from its own tick; -1 for none
}

// New prepares the search of a family: a program with late holes, alternatives or open ties, of at most MaxClients clients and
// MaxHoles holes; else it gives ErrTrait.
func New(p *engine.Program, limit int) (*Search, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	s := &Search{m: engine.NewMachine(), rec: &engine.Record{}, limit: limit, deepest: MaxDepth, seed: maphash.MakeSeed()}
	if err := s.Reset(p); err != nil {
		return nil, err
	}
	return s, nil
}

// Reset prepares the search of another family, as New does, in the room that the search has already. What came of the family
// before is gone.
func (s *Search) Reset(p *engine.Program) error {
	s.p = nil
	if len(p.Clients) > MaxClients || len(p.Holes) > MaxHoles {
		return ErrTrait
	}
	s.p, s.bound, s.known, s.saved, s.err = lockstep(p), false, false, nil, nil
	return nil
}

// seenEvery is after how many states a watched search says so: often enough to be looked at, and too seldom to cost anything.
const seenEvery = 1024

// Watch has the search add to seen, from time to time, how many states it has kept.
func (s *Search) Watch(seen *atomic.Int64) { s.seen = seen }

// Keep has the search call a function from time to time, in which SaveStates may be called.
func (s *Search) Keep(now func()) { s.keep = now }

// lockstep replaces servers that nothing tells apart by one of them: they give the same answers for ever.
func lockstep(p *engine.Program) *engine.Program {
	if len(p.ServerIDs) > 0 {
		return p
	}
	q := *p
	q.Settings.Servers, q.Settings.Quorum = 1, 1
	return &q
}

// Until has the next runs stop, with ErrFound, as soon as a member is decided that breaks one of some laws.
func (s *Search) Until(laws Laws) { s.until = laws }

// Run counts the family. With ErrLimit, ErrFound, and with the context's error when interrupted, it gives an answer about the members
// that were decided until then, which is as exact as one about all; nil if there is none.
func (s *Search) Run(ctx context.Context) (*Result, error) {
	s.stop = ctx.Err
	root := s.count()
	if !s.bound && (s.err == nil && root.last > s.p.Settings.Horizon || errors.Is(s.err, errBeyond)) {
		// Some member polls beyond the horizon: count again, with the distance to it as part of a state.
		s.bound, s.err = true, nil
		root = s.count()
	}
	switch err := s.err; {
	case err == nil:
		return s.result(root), nil
	case s.stopped() && len(root.outcomes) > 0 && (s.bound || root.last <= s.p.Settings.Horizon):
		s.err, s.known = nil, true
		return s.result(root), err
	default:
		return nil, err
	}
}

// stopped tells whether the search was ended from outside, so that what it knows is true as far as it goes.
func (s *Search) stopped() bool {
	return errors.Is(s.err, ErrLimit) || errors.Is(s.err, ErrFound) || errors.Is(s.err, context.Canceled) || errors.Is(s.err, context.DeadlineExceeded)
}

// errBeyond says that somebody asks beyond the horizon, or comes back to a state that was there before: asks for ever.
var errBeyond = errors.New("somebody asks beyond the horizon")

func (s *Search) count() *futures {
	if len(s.table) == firstTable {
		clear(s.table)
	} else {
		s.table = make([]int32, firstTable)
	}
	s.keys.reset()
	s.outcomes.reset()
	s.breaches.reset()
	s.nodes, s.values, s.moved, s.cut = s.nodes[:0], s.values[:0], s.moved[:0], s.cut[:0]
	s.branches, s.depth = 0, 0
	s.m.Begin(s.p, s.rec)
	root := &futures{last: -1}
	s.root = root
	if s.saved != nil {
		if s.err = s.goOn(); s.err != nil {
			return root
		}
	}
	s.start()
	s.walk(root, 0)
	return root
}

// start brings the machine to the start of the schedule.
func (s *Search) start() {
	s.m.Again()
	if !s.bound {
		s.m.SetHorizon(engine.MaxTick)
	}
	s.mon = monitor{bound: s.bound, regress: engine.Forever}
}

// walk goes on from the machine's state to the next choice, and adds what becomes of it, by what happened on the way and
// by the futures of the state that it came to.
func (s *Search) walk(into *futures, away int32) {
	w := s.run()
	if s.err != nil {
		return
	}
	into.last = max(into.last, w.last-into.tick)
	if w.fork.Kind == engine.ForkDone {
		s.end(into, &w, away)
		s.foundOne(into)
		return
	}
	values, moved := len(s.values), len(s.moved)
	into.factor = w.factor
	n := s.state(w.fork)
	if n != none && (s.err == nil || s.stopped()) {
		s.through(into, &w, n, s.values[values:], s.moved[moved:], away)
	}
	s.values, s.moved = s.values[:values], s.moved[:moved]
	s.foundOne(into)
}

// foundOne ends the search if some future breaks a law that it was to look for.
func (s *Search) foundOne(into *futures) {
	if s.until == 0 {
		return
	}
	for i := range into.breaches {
		if s.until.Has(into.breaches[i].law) && s.err == nil && !s.known {
			s.err = ErrFound
		}
	}
}

// way is a stretch without choices.
type way struct {
	fork   engine.Fork
	factor count
	broken Laws
	first  [audit.NumLaws]engine.Tick // when a broken law was first broken
	events int32
	last   engine.Tick // the last poll; -1 for none
}

// run does the work that leaves no choice. After some of it the state counts as one with a single branch.
func (s *Search) run() way {
	w := way{factor: small(1), last: -1}
	for steps := 0; ; steps++ {
		// The monitor looks before Look does, which may go on to what pauses hold up later.
		w.note(s.mon.look(s.m, s.rec), s.m.Now().Tick)
		w.fork = s.m.Look()
		if len(s.mon.starving) > 0 && w.fork.Kind != engine.ForkDone {
			s.mon.wait(s.m, s.p, w.fork.Tick)
		}
		w.last = max(w.last, s.mon.poll)
		if !s.bound && w.last > s.p.Settings.Horizon {
			s.err = errBeyond
			return w
		}
		forced := w.fork.Kind == engine.ForkStep || w.fork.Kind == engine.ForkHole && w.fork.N == 1
		if !forced || steps == stretch {
			break
		}
		s.m.Take(w.fork, 0)
	}
	done := w.fork.Kind == engine.ForkDone
	if s.rec.Limit != engine.NoLimit {
		s.err = ErrLimit
	}
	if done {
		w.note(s.mon.end(s.m, s.p), s.m.Now().Tick)
	}
	w.events = s.mon.events
	w.first[audit.TokenRegress] = s.mon.regress
	s.factors = s.m.Slack(s.factors[:0], done)
	for _, f := range s.factors {
		w.factor = s.checked(w.factor.times(small(uint64(f))))
	}
	return w
}

func (w *way) note(broken Laws, now engine.Tick) {
	for broken &^= w.broken; broken != 0; broken &= broken - 1 {
		l := bits.TrailingZeros16(uint16(broken))
		w.first[l] = now
		w.broken |= 1 << l
	}
}

// none is no state.
const none int32 = -1

// state finds the state at a fork, or works out what becomes of it; none if that cannot be. It leaves the state's values, as
// the caller knows them, on s.values, and on s.moved who has which place in it.
func (s *Search) state(f engine.Fork) int32 {
	if s.apart {
		s.buf = s.m.Snapshot(s.buf[:0], f.Tick, s.bound)
	} else {
		s.buf = s.m.Canonical(s.buf[:0], f.Tick, s.bound)
	}
	s.buf = s.mon.save(s.buf, s.m)
	s.values = s.m.Slots(s.values)
	unmoved := len(s.moved)
	s.moved = s.m.Moved(s.moved)
	at, known := s.find(s.buf)
	if known {
		n := s.table[at] - 1
		if s.nodes[n].open {
			s.err = errBeyond
		}
		return n
	}
	if s.known {
		return none
	}
	if len(s.nodes) >= s.limit || s.outcomes.n >= MaxOutcomes || s.depth >= s.deepest {
		s.err = ErrLimit
	} else if err := s.stop(); err != nil {
		s.err = err
	}
	if s.err != nil {
		return none
	}
	n := s.add(at)
	if len(s.nodes)%seenEvery == 0 {
		if s.seen != nil {
			s.seen.Add(seenEvery)
		}
		if s.keep != nil {
			s.keep()
		}
	}
	for len(s.gather) <= s.depth {
		s.gather = append(s.gather, &futures{})
	}
	into := s.gather[s.depth]
	*into = futures{tick: f.Tick, last: -1, outcomes: into.outcomes[:0], breaches: into.breaches[:0]}
	s.depth++
	if len(s.moved) > unmoved {
		s.load(n, f.Tick)
		f = s.m.Look()
	} else {
		// For the first branch the machine goes on as it is; the state's values get the names that its futures use.
		s.m.Adopt()
		s.mon.begin(s.rec)
	}
	s.branch(into, n, f)
	if s.err != nil {
		if !s.stopped() {
			return none
		}
		s.cut = append(s.cut, n)
	}
	s.depth--
	nd := &s.nodes[n]
	nd.outcomes, nd.breaches = s.outcomes.put(into.outcomes), s.breaches.put(into.breaches)
	nd.last, nd.open = into.last, false
	return n
}

// load brings the machine into a known state.
func (s *Search) load(n int32, now engine.Tick) {
	s.restore(s.keys.get(s.nodes[n].key), now)
}

func (s *Search) restore(key []byte, now engine.Tick) {
	rest := s.m.Restore(key, now, s.bound)
	if !s.bound {
		s.m.SetHorizon(engine.MaxTick)
	}
	s.mon.load(rest, s.rec)
}

// find looks a key up in the table; if it is not there, the place is where it belongs.
func (s *Search) find(key []byte) (at int, known bool) {
	mask := len(s.table) - 1
	at = int(maphash.Bytes(s.seed, key)) & mask
	for ; s.table[at] != 0; at = (at + 1) & mask {
		nd := &s.nodes[s.table[at]-1]
		if string(s.keys.get(nd.key)) == string(key) {
			return at, true
		}
	}
	return at, false
}

// add makes a node of the key in s.buf.
func (s *Search) add(at int) int32 {
	s.nodes = append(s.nodes, node{key: s.keys.put(s.buf), open: true})
	s.table[at] = int32(len(s.nodes))
	if len(s.nodes)*2 > len(s.table) {
		s.table = make([]int32, 2*len(s.table))
		mask := len(s.table) - 1
		for i := range s.nodes {
			nd := &s.nodes[i]
			at := int(maphash.Bytes(s.seed, s.keys.get(nd.key))) & mask
			for s.table[at] != 0 {
				at = (at + 1) & mask
			}
			s.table[at] = int32(i + 1)
		}
	}
	return int32(len(s.nodes) - 1)
}
