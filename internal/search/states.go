package search

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"dlock/audit"
	"dlock/engine"
)

// ErrStates says that a text is not what SaveStates wrote of the same family.
var ErrStates = errors.New("the states do not belong here")

// statesMagic begins what SaveStates writes; its number is that of the form of states and of what SaveStates makes of them.
const statesMagic = "dlock states 2\n"

// maxStateText is how long a key or a text of saved states may be, in bytes.
const maxStateText = 1 << 20

// SaveStates writes the states that were worked out to their end, compressed. A search of the same family that loads them
// before it runs gives the same answer as one from the start, and does only what is left. It may be called while the search
// runs, by what Keep names, and after it was stopped.
func (s *Search) SaveStates(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	b := &statesWriter{w: bufio.NewWriter(z)}
	b.text(statesMagic)
	b.num(int64(len(s.rec.Values)))
	for _, v := range s.rec.Values {
		b.num(int64(v.Prev))
		b.text(v.Text)
	}
	if s.bound {
		b.num(1)
	} else {
		b.num(0)
	}
	open := map[int32]bool{}
	for _, n := range s.cut {
		open[n] = true
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.open || open[int32(i)] {
			continue
		}
		b.num(1)
		b.text(string(s.keys.get(n.key)))
		b.num(int64(n.last))
		b.num(int64(n.outcomes.n))
		for _, o := range s.outcomes.get(n.outcomes) {
			for _, w := range o.members {
				b.num(int64(w))
			}
			for _, v := range [...]int64{int64(o.broken), int64(o.final), int64(o.away), int64(o.events)} {
				b.num(v)
			}
		}
		b.num(int64(n.breaches.n))
		for _, r := range s.breaches.get(n.breaches) {
			for _, v := range [...]int64{int64(r.law), int64(r.cost.Away), int64(r.cost.Harm), int64(r.cost.Events)} {
				b.num(v)
			}
		}
	}
	b.num(0)
	return errors.Join(b.err, b.w.Flush(), z.Close())
}

type statesWriter struct {
	w   *bufio.Writer
	buf [binary.MaxVarintLen64]byte
	err error
}

func (b *statesWriter) num(n int64) {
	_, err := b.w.Write(b.buf[:binary.PutVarint(b.buf[:], n)])
	b.err = errors.Join(b.err, err)
}

func (b *statesWriter) text(t string) {
	b.num(int64(len(t)))
	_, err := b.w.WriteString(t)
	b.err = errors.Join(b.err, err)
}

// LoadStates has the next run go on from what SaveStates wrote; that must not change before it. If it is damaged, or not of the
// same family, Run gives ErrStates.
func (s *Search) LoadStates(saved []byte) { s.saved = saved }

// checkedStates is how many saved states are worked out again before the others are believed.
const checkedStates = 500

// goOn takes over the saved states.
func (s *Search) goOn() (err error) {
	defer func() {
		if fault := recover(); fault != nil { // a state of another family need not be one of this
			err = fmt.Errorf("%w: they are of another family", ErrStates)
		}
	}()
	saved := s.saved
	s.saved = nil
	if err := s.loadStates(saved); err != nil {
		return fmt.Errorf("%w: %w", ErrStates, err)
	}
	s.mon = monitor{bound: s.bound, regress: engine.Forever}
	for n := 0; n < len(s.nodes); n += 1 + len(s.nodes)/checkedStates {
		if !s.holds(int32(n)) {
			return fmt.Errorf("%w: another version of dlock made them", ErrStates)
		}
	}
	s.branches = 0
	return nil
}

// holds works a state out again, from those that follow it.
func (s *Search) holds(n int32) bool {
	nd := s.nodes[n]
	s.known = true
	defer func() { s.known = false }()
	tick := s.m.SavedTick(s.keys.get(nd.key), s.bound)
	s.load(n, tick)
	into := &futures{tick: tick, last: -1}
	s.branch(into, n, s.m.Look())
	return s.err == nil && into.last == nd.last && slices.Equal(into.outcomes, s.outcomes.get(nd.outcomes)) &&
		slices.Equal(into.breaches, s.breaches.get(nd.breaches))
}

// loadStates reads saved states. Which of the two ways to count they are of, they say themselves.
func (s *Search) loadStates(saved []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(saved))
	if err != nil {
		return err
	}
	r := &statesReader{r: bufio.NewReader(z)}
	if r.text() != statesMagic || r.err != nil {
		return errors.Join(errors.New("they have another form"), r.err)
	}
	values := make([]int32, 0, 64)
	for n := r.num(); n > 0 && r.err == nil; n-- {
		prev, text := r.num(), r.text()
		switch {
		case prev >= int64(len(values)):
			return errors.New("a value follows one that is not there")
		case prev >= 0:
			prev = int64(values[prev])
		}
		values = append(values, s.m.Intern(int32(prev), text))
	}
	s.bound = r.num() == 1
	var outcomes []outcome
	var breaches []breach
	for r.num() == 1 && r.err == nil {
		s.buf = append(s.buf[:0], r.text()...)
		at, known := s.find(s.buf)
		if known {
			return errors.New("one stands there twice")
		}
		n := s.add(at)
		last := engine.Tick(r.num())
		outcomes, breaches = outcomes[:0], breaches[:0]
		for k := r.num(); k > 0 && r.err == nil; k-- {
			var o outcome
			for w := range o.members {
				o.members[w] = uint64(r.num())
			}
			o.broken = Laws(r.num())
			final := r.num()
			if final < -1 || final >= int64(len(values)) {
				return errors.New("a value is not there")
			}
			if o.final = engine.None; final >= 0 {
				o.final = values[final]
			}
			o.away, o.events = int32(r.num()), int32(r.num())
			outcomes = append(outcomes, o)
		}
		for k := r.num(); k > 0 && r.err == nil; k-- {
			law := r.num()
			if law < 0 || law >= int64(audit.NumLaws) {
				return errors.New("a law is none")
			}
			breaches = append(breaches, breach{law: audit.Law(law), cost: Cost{Away: int32(r.num()), Harm: engine.Tick(r.num()), Events: int32(r.num())}})
		}
		nd := &s.nodes[n]
		nd.outcomes, nd.breaches, nd.last, nd.open = s.outcomes.put(outcomes), s.breaches.put(breaches), last, false
	}
	if r.err == nil {
		_, r.err = io.Copy(io.Discard, r.r) // to the checksum
	}
	return r.err
}

type statesReader struct {
	r   *bufio.Reader
	err error
}

func (b *statesReader) num() int64 {
	if b.err != nil {
		return 0
	}
	n, err := binary.ReadVarint(b.r)
	b.err = err
	return n
}

func (b *statesReader) text() string {
	n := b.num()
	if n < 0 || n > maxStateText {
		b.err = errors.Join(b.err, fmt.Errorf("a text of %d bytes", n))
	}
	if b.err != nil {
		return ""
	}
	t := make([]byte, n)
	_, b.err = io.ReadFull(b.r, t)
	return string(t)
}
