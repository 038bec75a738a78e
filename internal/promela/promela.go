// Package promela writes a family of schedules as a model for the model checker Spin, so that what dlock says about the
// family can be confirmed by a program that shares nothing with it. It runs and checks nothing; a part of the language that
// the model does not have gives an UnsupportedError, never a model of another world.
package promela

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dlock/audit"
	"dlock/engine"
)

// MaxSteps is how many lines a model may have: they are numbered in bytes, and 0 stands for none.
const MaxSteps = 250

// MaxSlices is how many choices of the holes that are not late a model may have: each is a branch of its text.
const MaxSlices = 1000

// MaxClients is how many clients a model may have: a lock's holder is kept in a byte.
const MaxClients = 250

// Family is what a model is written of: the programs that differ in the holes that are not late.
type Family struct {
	Title string   // for the head of the model
	Holes []string // names of the late holes, for comments; may be short or nil
	// Slices is the number of programs. Each has the same clients, holes and settings, and its steps at the same source lines;
	// lines may be missing.
	Slices int64
	// Slice gives the i-th program, which is valid until the next call.
	Slice func(i int64) (*engine.Program, error)
	// Label says what is chosen in the i-th program, for a comment; nil for none.
	Label func(i int64) string
}

// UnsupportedError says that a family uses what the model does not have.
type UnsupportedError struct {
	Line int32 // the source line; 0 for a setting
	What string
}

// Reason says what it is, without the line.
func (u *UnsupportedError) Reason() string { return u.What + " cannot be written as Promela" }

// Error says what it is and where.
func (u *UnsupportedError) Error() string {
	if u.Line == 0 {
		return u.Reason()
	}
	return fmt.Sprintf("line %d: %s", u.Line, u.Reason())
}

// Laws lists the laws that a model has claims for, in their order.
func Laws() []audit.Law {
	return []audit.Law{audit.Overlap, audit.DoubleHold, audit.DoubleBelief, audit.StaleWrite, audit.LostUpdate,
		audit.UnlockedWrite, audit.TokenRegress, audit.RefusedHolder}
}

// Claim is the name of a law's claim in the model, for pan's option -N; in capitals it is the value of LAW.
func Claim(l audit.Law) string { return strings.ReplaceAll(l.String(), "-", "_") }

// Write writes the model. It fails with an UnsupportedError if the family has what the model has not, and with what Slice or w say.
func Write(w io.Writer, f Family) error {
	if f.Slices < 1 || f.Slices > MaxSlices {
		return &UnsupportedError{What: fmt.Sprintf("a family of %d combinations of the holes that are enumerated (1 to %d)", f.Slices, MaxSlices)}
	}
	m := &model{family: f, lines: map[int32]*line{}}
	for i := range f.Slices {
		p, err := f.Slice(i)
		if err != nil {
			return err
		}
		if err := m.add(p, i); err != nil {
			return err
		}
	}
	if err := m.bound(); err != nil {
		return err
	}
	m.write()
	_, err := io.WriteString(w, m.out.String())
	return err
}

// model gathers the slices of a family, line by line, and then writes itself.
type model struct {
	family   Family
	settings engine.Settings
	clients  []string
	holes    []engine.Hole // as the slices have them in which a line waits for them
	ties     bool

	lines  map[int32]*line
	order  []*line
	actors []int32 // ids, ascending

	uses    uses
	size    size    // the largest of all slices
	retries []int32 // lines
	crashes []int32 // clients
	places  bool    // servers are told apart
	waiting []hold  // by hole

	out strings.Builder
}

// size is what bounds the numbers of one slice.
type size struct {
	roots engine.Tick // the last tick that a line of its own may stand at
	spans engine.Tick // what delays, pauses and retries can add to it
	ttl   engine.Tick
	turns int64 // pieces of work
}

// stretch adds a duration; the sum of a whole file's stays far from overflow.
func (z *size) stretch(by engine.Tick) { z.spans += min(by, forever) }

// uses says which parts of the world a family needs.
type uses struct {
	pauses, valid, guardVersion, serversFail bool
}

// line is one source line in all slices in which it stands.
type line struct {
	number int32
	client int32
	verb   engine.Verb
	says   string
	hole   int32
	parts  variants // the work, when it has its turn
	starts variants // for roots: the first tick
	actor  variants
}

// place is the block that a line stands in: by the line that it belongs to, which is the same in all slices.
type place struct{ line, nth int32 }

// hold is where the lines stand that wait for a hole.
type hold struct {
	lines []int32
	in    place
	many  bool // they stand in several places
}

// variants are texts by slice; those that are equal in all slices are written once.
type variants struct {
	texts  []string
	slices [][]int64
}

func (v *variants) add(text string, slice int64) {
	for i := range v.texts {
		if v.texts[i] == text {
			v.slices[i] = append(v.slices[i], slice)
			return
		}
	}
	v.texts = append(v.texts, text)
	v.slices = append(v.slices, []int64{slice})
}

var errMixed = errors.New("the slices of the family do not have the same clients and holes")

// add takes in one slice.
func (m *model) add(p *engine.Program, slice int64) error {
	if slice == 0 {
		m.settings, m.clients, m.ties = p.Settings, slices.Clone(p.Clients), p.Ties
		m.holes = make([]engine.Hole, len(p.Holes))
		m.waiting = make([]hold, len(m.holes))
		if err := m.supported(); err != nil {
			return err
		}
	} else if p.Settings != m.settings {
		return &UnsupportedError{What: "a setting that differs from member to member"}
	} else if !slices.Equal(p.Clients, m.clients) || len(p.Holes) != len(m.holes) || p.Ties != m.ties {
		return errMixed
	}
	a := adder{model: m, p: p, slice: slice, seen: map[int32]bool{}}
	if err := a.program(); err != nil {
		return err
	}
	m.size.roots, m.size.spans = max(m.size.roots, a.size.roots), max(m.size.spans, a.size.spans)
	m.size.ttl, m.size.turns = max(m.size.ttl, a.size.ttl), max(m.size.turns, a.size.turns)
	return nil
}

// supported checks the settings.
func (m *model) supported() error {
	s := &m.settings
	switch {
	case s.Judge != engine.JudgeServer:
		return &UnsupportedError{What: "a judge other than the server"}
	case s.Validity:
		return &UnsupportedError{What: "validity"}
	case s.LockDelay != 0:
		return &UnsupportedError{What: "lock-delay"}
	case s.Reentrant:
		return &UnsupportedError{What: "reentrant on"}
	case len(m.clients) == 0 || len(m.clients) > MaxClients:
		return &UnsupportedError{What: fmt.Sprintf("a schedule of %d clients (1 to %d)", len(m.clients), MaxClients)}
	}
	return nil
}

// bound orders the lines and finds how large the model's numbers can become.
func (m *model) bound() error {
	for _, l := range m.lines {
		m.order = append(m.order, l)
	}
	slices.SortFunc(m.order, func(a, b *line) int { return cmp.Compare(a.number, b.number) })
	slices.Sort(m.actors)
	slices.Sort(m.retries)
	if len(m.order) == 0 || len(m.order) > MaxSteps {
		return &UnsupportedError{What: fmt.Sprintf("a schedule of %d lines (1 to %d)", len(m.order), MaxSteps)}
	}
	if m.last() >= forever || m.size.turns >= int64(forever) {
		return &UnsupportedError{What: "a schedule of 2^31 ticks or turns"}
	}
	return nil
}

// forever is NEVER of the widest type, one more than the last tick that it can hold.
const forever engine.Tick = 1<<31 - 1

// last is a tick that nothing can come after, the end of a lease included.
func (m *model) last() engine.Tick {
	last := m.size.roots
	if len(m.retries) > 0 {
		last = max(last, min(m.settings.Horizon, forever))
	}
	return last + m.size.spans + m.size.ttl
}
