package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"

	"dlock/audit"
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
	Done     [][2]int64      `json:"done"` // half-open stretches of slices
	Walked   bool            `json:"walked"`
	Classes  []tallyClass    `json:"classes"`
	Smallest map[string]best `json:"smallest"` // by law
	Held     []*big.Int      `json:"held"`     // by claim, where members were walked
}

// partVersion is the version of the form of a Part.
const partVersion = 1

// MaxPartSize is how long a part's text may be, in bytes.
const MaxPartSize = 64 << 20

// ErrPart says that a part is of another file, block or command line, or overlaps with another part.
var ErrPart = errors.New("the part does not belong here")

// ReadPart reads a part that WritePart wrote.
func ReadPart(r io.Reader) (*Part, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxPartSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxPartSize {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrPart, MaxPartSize)
	}
	p := &Part{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPart, err)
	}
	if p.Kind != "explore-part" || p.Dlock != partVersion {
		return nil, fmt.Errorf("%w: it is no part of an exploration that this version can read", ErrPart)
	}
	for i := range p.Classes {
		if p.Classes[i].Members == nil || p.Classes[i].Members.Sign() < 0 {
			return nil, fmt.Errorf("%w: a class without members", ErrPart)
		}
	}
	return p, nil
}

// WritePart writes a part as JSON.
func WritePart(w io.Writer, p *Part) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

// fingerprint tells one explored text from another.
func (st *Study) fingerprint(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}

// part is what the slices so far gave.
func (e *explorer) part(st *Study) *Part {
	p := &Part{
		Dlock: partVersion, Kind: "explore-part", Source: st.fingerprint(st.source), Settings: st.overrides, Block: e.plan.Name,
		Slices: int64(len(e.total.done)), Walked: e.total.walked, Classes: e.total.classes, Smallest: map[string]best{},
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

// resume takes over what a part knows. Parts of other blocks of the same file are passed over.
func (e *explorer) resume(st *Study, p *Part) error {
	if p.Source != st.fingerprint(st.source) || fmt.Sprint(p.Settings) != fmt.Sprint(st.overrides) {
		return fmt.Errorf("%w: it was made from another text or with other settings", ErrPart)
	}
	if p.Block != e.plan.Name {
		return nil
	}
	t := &familyTally{walked: p.Walked}
	if p.Slices != int64(len(e.total.done)) || len(p.Held) != 0 && (!e.walk || len(p.Held) != len(e.held)) {
		return fmt.Errorf("%w: its slices are not this file's", ErrPart)
	}
	for _, d := range p.Done {
		if d[0] < 0 || d[0] >= d[1] || d[1] > p.Slices {
			return fmt.Errorf("%w: it names slices that are not there", ErrPart)
		}
		for i := d[0]; i < d[1]; i++ {
			if e.total.done[i] {
				return fmt.Errorf("%w: slice %d is in two parts", ErrPart, i)
			}
			e.total.finish(i)
		}
	}
	for _, c := range p.Classes {
		if c.Broken >= 1<<audit.NumLaws || c.Best.Slice < 0 || c.Best.Slice >= p.Slices {
			return fmt.Errorf("%w: a class that cannot be", ErrPart)
		}
		k := t.class(c.Broken, c.Final)
		k.Members.Add(k.Members, c.Members)
		k.Best = c.Best
	}
	for l := range audit.NumLaws {
		t.smallest[l] = p.Smallest[l.String()]
	}
	e.total.add(t)
	for i, n := range p.Held {
		if n != nil {
			e.held[i].Add(e.held[i], n)
		}
	}
	return nil
}
