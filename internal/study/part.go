package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"dlock/audit"
	"dlock/internal/search"
)

// Part is what one process found out about a family: the answer of some of its slices. It is a checkpoint to go on from,
// and what shards hand to the one that merges them.
type Part struct {
	Dlock    int             `json:"dlock"` // the version of this form
	Kind     string          `json:"kind"`  // "explore-part"
	Source   string          `json:"source"`
	Settings []string        `json:"settings"` // the command line's overrides, NAME=VALUE
	Block    string          `json:"block"`
	Slices   int64           `json:"slices"`
	Done     [][2]int64      `json:"done"`    // half-open stretches of slices
	Walked   bool            `json:"walked"`  // some slices
	Counted  bool            `json:"counted"` // some slices
	Classes  []tallyClass    `json:"classes"`
	Smallest map[string]best `json:"smallest"` // by law
	Held     []*big.Int      `json:"held"`     // by claim, where members were walked
	Begun    *begun          `json:"begun,omitempty"`
	Sum      string          `json:"sum"` // of all that, so that nothing counts that was changed by the way

	From string `json:"-"` // what errors call it: the file that it was read from
}

// begun is a slice whose search was stopped on its way, with the states that it kept, as search.SaveStates writes them. A part
// has one only if that slice was all that its process had to do; others begin slices anew.
type begun struct {
	Slice  int64  `json:"slice"`
	States []byte `json:"states"`

	from string
}

// partVersion is the version of the form of a Part.
const partVersion = 2

// MaxPartSize is how long a part's text may be, in bytes; MaxStatesSize how much of it the states of a begun slice may be, before
// they are written as text, 336 MiB. Of more states, some ten millions, none are kept.
const (
	MaxPartSize   = 512 << 20
	MaxStatesSize = MaxPartSize / 4 * 3 / 8 * 7
)

// ErrPart says that a part is of another file, block or command line, or overlaps with another part.
var ErrPart = errors.New("the part does not belong here")

// ReadParts reads the parts that WriteParts wrote.
func ReadParts(r io.Reader) ([]Part, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxPartSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxPartSize {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrPart, MaxPartSize)
	}
	var parts []Part
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p Part
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) && len(parts) > 0 {
			return parts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPart, err)
		}
		if err := p.check(); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
}

// check finds what no part can be, whatever it is of.
func (p *Part) check() error {
	if p.Kind != "explore-part" || p.Dlock != partVersion {
		return fmt.Errorf("%w: it is no part of an exploration that this version can read", ErrPart)
	}
	if p.Sum != p.sum() {
		return fmt.Errorf("%w: it was changed since it was written, or not written to its end", ErrPart)
	}
	natural := func(n *big.Int) bool { return n != nil && n.Sign() >= 0 }
	for i := range p.Classes {
		if c := &p.Classes[i]; !natural(c.Members) || c.Broken >= 1<<audit.NumLaws || !p.has(c.Best) {
			return fmt.Errorf("%w: it has a class that cannot be", ErrPart)
		}
	}
	for _, b := range p.Smallest {
		if !p.has(b) {
			return fmt.Errorf("%w: it has a smallest member that cannot be", ErrPart)
		}
	}
	if slices.ContainsFunc(p.Held, func(n *big.Int) bool { return !natural(n) }) {
		return fmt.Errorf("%w: it has a claim without a count", ErrPart)
	}
	return nil
}

// has tells whether a member is of a slice that is done.
func (p *Part) has(b best) bool {
	return b.Found && slices.ContainsFunc(p.Done, func(d [2]int64) bool { return d[0] <= b.Slice && b.Slice < d[1] })
}

// WriteParts writes the parts of the blocks of a file, each as a line of JSON.
func WriteParts(w io.Writer, parts []Part) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range parts {
		p := parts[i]
		p.Sum = p.sum()
		if err := e.Encode(&p); err != nil {
			return err
		}
	}
	return nil
}

// sum is the checksum of a part without the one that it bears.
func (p *Part) sum() string {
	q := *p
	q.Sum = ""
	text, err := json.Marshal(&q)
	if err != nil {
		return "" // nothing in a part can make that fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// fingerprint tells one explored text from another.
func (st *Study) fingerprint() string {
	sum := sha256.Sum256(st.source)
	return hex.EncodeToString(sum[:])
}

// part is what the slices so far gave.
func (e *explorer) part() *Part {
	p := &Part{
		Dlock: partVersion, Kind: "explore-part", Source: e.st.fingerprint(), Settings: e.st.overrides, Block: e.plan.Name,
		Slices: int64(len(e.total.done)), Walked: e.total.walked, Counted: e.total.counted, Classes: e.total.classes, Smallest: map[string]best{},
	}
	if e.walk {
		p.Held = e.held
	}
	for l := range audit.NumLaws {
		if b := e.total.smallest[l]; b.Found {
			p.Smallest[l.String()] = b
		}
	}
	for i := int64(0); i < p.Slices; {
		if !e.total.done[i] {
			i++
			continue
		}
		from := i
		for i < p.Slices && e.total.done[i] {
			i++
		}
		p.Done = append(p.Done, [2]int64{from, i})
	}
	return p
}

// partWith is part with the states of the slice that was begun.
func (e *explorer) partWith(s *search.Search) *Part {
	p := e.part()
	var b bytes.Buffer
	if err := s.SaveStates(&b); err == nil && b.Len() <= MaxStatesSize {
		p.Begun = &begun{Slice: e.mine[0], States: b.Bytes()}
	}
	return p
}

// resumeAll takes over parts; the error names the part, and the one that it overlaps with.
func (e *explorer) resumeAll(parts []Part) error {
	for i := range parts {
		p := &parts[i]
		err := e.resume(p)
		var twice *overlapError // a part that stands twice in one file overlaps with itself
		if errors.As(err, &twice) {
			for k := range parts[:i] {
				if o := &parts[k]; o.Block == p.Block && o.From != "" && o.has(best{Found: true, Slice: twice.slice}) {
					err = fmt.Errorf("%w and in that of %s", err, o.From)
					break
				}
			}
		}
		if err != nil && p.From != "" {
			return fmt.Errorf("%s: %w", p.From, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// overlapError says that a slice is in a part and in one before it.
type overlapError struct{ slice int64 }

// Error names the slice.
func (e *overlapError) Error() string {
	return fmt.Sprintf("%v: slice %d is in this part", ErrPart, e.slice)
}

// Unwrap makes it an ErrPart.
func (e *overlapError) Unwrap() error { return ErrPart }

// resume takes over what a part knows. Parts of other blocks of the same file are passed over.
func (e *explorer) resume(p *Part) error {
	if p.Source != e.st.fingerprint() || !slices.Equal(p.Settings, e.st.overrides) {
		return fmt.Errorf("%w: it was made from another text or with other settings (--set, --split)", ErrPart)
	}
	if p.Block != e.plan.Name {
		return nil
	}
	t := &familyTally{walked: p.Walked, counted: p.Counted}
	counted := 0
	if e.walk {
		counted = len(e.held)
	}
	switch {
	case p.Slices != int64(len(e.total.done)):
		return fmt.Errorf("%w: its slices are not this file's", ErrPart)
	case len(p.Held) != counted:
		return fmt.Errorf("%w: one of them walks every member (--brute), the other counts", ErrPart)
	}
	for _, d := range p.Done {
		if d[0] < 0 || d[0] >= d[1] || d[1] > p.Slices {
			return fmt.Errorf("%w: it names slices that there are not", ErrPart)
		}
		for i := d[0]; i < d[1]; i++ {
			if e.total.done[i] {
				return &overlapError{i}
			}
			e.total.finish(i)
		}
	}
	if b := p.Begun; b != nil {
		if b.Slice < 0 || b.Slice >= p.Slices || e.total.done[b.Slice] || len(b.States) == 0 {
			return fmt.Errorf("%w: it has begun a slice that cannot be", ErrPart)
		}
		e.begun = &begun{b.Slice, b.States, p.From}
	}
	for _, c := range p.Classes {
		k := t.class(c.Broken, c.Final)
		k.Members.Add(k.Members, c.Members)
		k.Best = c.Best
	}
	for l := range audit.NumLaws {
		t.smallest[l] = p.Smallest[l.String()]
	}
	e.total.add(t)
	for i, n := range p.Held {
		e.held[i].Add(e.held[i], n)
	}
	return nil
}
