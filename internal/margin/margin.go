// Package margin finds how close each verdict of a run is to its opposite: the smallest shift of one number of the
// schedule that flips it. It moves one number at a time and words nothing; internal/report does that.
package margin

import (
	"cmp"
	"context"
	"slices"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/numbers"
)

const (
	// MaxShift is how far each number is moved, in ticks, either way: as long as the default horizon lasts beyond the
	// schedule, and well beyond the leases that people write.
	MaxShift engine.Tick = 200
	// MaxWrites is how many writes of a run get a verdict of their own; nobody reads more of them.
	MaxWrites = 50
	// MaxWork bounds what the moved runs of one run may do together: about ten seconds. A file of fifty lines stays below.
	MaxWork = 6_000_000
	// workOfRun is what a run costs besides its events and votes: its numbers are computed anew. For a long file that
	// takes as long as its lets and lines are many.
	workOfRun = 50
	// workOfLine is what each of those costs.
	workOfLine = 1
)

// Subject says what a verdict is about.
type Subject uint8

// The subjects.
const (
	OfLaw   Subject = iota // whether a law is broken
	OfFinal                // the final value
	OfWrite                // what became of a write
)

// Fate is what became of a write.
type Fate uint8

// The fates.
const (
	Absent   Fate = iota // its line was not reached
	Accepted             // by the resource
	Refused              // by the resource
	Skipped              // held back by its client
	Adrift               // it never arrived
)

// String gives the word used in JSON.
func (f Fate) String() string {
	return [...]string{"not made", "accepted", "rejected", "skipped", "never arrived"}[f]
}

// State is one side of a verdict: how it is, or how it would be.
type State struct {
	Count  int64    // OfLaw: how often the law is broken
	First  *Finding // OfLaw: the first breach; nil if the law is not broken
	Final  string   // OfFinal
	Fate   Fate     // OfWrite
	Reason engine.Reason
	T      engine.Tick // OfWrite: when the resource decided, or its client did; Forever if it never arrived
}

// Finding is a breach of a law, with names instead of indices.
type Finding struct {
	Client, Other string // "" for nobody; which is which goes by audit.Finding
	Server        string // overlap
	T, End        engine.Tick
}

// Verdict is one verdict of a run with all that flips it.
type Verdict struct {
	Subject Subject
	Law     audit.Law // OfLaw
	Client  string    // OfWrite
	Line    int32     // OfWrite
	Nth     int       // OfWrite: which firing of its line, from 0
	Now     State
	Flips   []Flip // at most one for each number: the smallest shift first, then in the order of the file
}

// Flip is a shift that turns a verdict round.
type Flip struct {
	Knob  *Knob
	To    engine.Tick // what the number would be
	Shift engine.Tick // To less the number's value; never 0
	Then  State
}

// Knob is a number of the schedule that is moved by itself. A let is one number wherever it is used, and so is a setting.
type Knob struct {
	Name    string        // the let or the setting; "" for a number that stands in a line
	Setting bool          // Name is a setting's
	Place   numbers.Place // where Name is ""
	Line    int           // of the number; for a let, of the let
	Value   engine.Tick   // what it is
	exprs   []*dsl.Expr   // what is moved: none for a name
}

// Run is the margins of one run.
type Run struct {
	Name     string
	Line     int
	Lets     []compile.Value
	Settings []compile.Value
	// Verdicts has the closest first, by the shift and then by the line of its number; where nothing flips, and among
	// equals, the laws come before the final value and that before the writes, in the order of time.
	Verdicts []Verdict
	Unlisted int // writes beyond MaxWrites
	Knobs    int // numbers that were moved
	// Reach is how far every number was moved: MaxShift, or less where MaxWork was reached or it was interrupted.
	Reach engine.Tick
	Limit engine.LimitKind // the run itself stopped early; then it has no verdicts
}

// Short tells whether the search ended before MaxShift, or could not begin.
func (r *Run) Short() bool { return r.Limit != engine.NoLimit || r.Reach < MaxShift }

// File is the margins of a file's runs.
type File struct {
	Script *dsl.Script
	Runs   []*Run // in file order; one without a name for a file without runs
}

// Options says which margins are wanted.
type Options struct {
	Run      string                  // the run; "" for all of them
	Over     []compile.Override      // what goes before the file's lets and settings
	Progress func(done, total int64) // if set, is called now and then with the numbers of a run moved so far, each once for every distance
}

// Of finds the margins of the named run of a file, or with the name "" of all of its runs; an explore block counts as one
// where its holes are closed by overrides and there are no runs, or it is named. The text must be one that
// dsl.Parse and compile.Compile let pass with these overrides; otherwise there are errors among the diagnostics and no
// file. A context that ends leaves what is known so far, which Run.Reach shows.
func Of(ctx context.Context, name string, text []byte, o Options) (*File, dsl.Diagnostics) {
	script, ds := dsl.Parse(name, text) // a tree of our own: its formulas are moved
	if ds.HasErrors() {
		return nil, ds
	}
	f := &File{Script: script}
	for _, b := range numbers.Blocks(script, o.Run) {
		s := newScan(script, b, o)
		r, ds := s.run(ctx)
		if r == nil {
			return nil, ds
		}
		f.Runs = append(f.Runs, r)
	}
	return f, nil
}

// scan moves the numbers of one run.
type scan struct {
	script *dsl.Script // with this run alone, and without claims, which would only stand in the way
	over   []compile.Override
	out    *Run
	knobs  []*Knob
	work   int64
	lines  int64 // lets and steps, which are computed anew for every shift

	progress func(done, total int64)
}

func newScan(script *dsl.Script, b *dsl.Block, o Options) *scan {
	s := &scan{out: &Run{}, progress: o.Progress}
	s.script, s.over = numbers.Alone(script, b, o.Over)
	if b != nil {
		s.out.Name, s.out.Line = b.Name, b.Span.Start.Line
	}
	return s
}

// bodies lists the top level and the block.
func (s *scan) bodies() []*dsl.Body {
	all := []*dsl.Body{&s.script.Body}
	for _, b := range s.script.Blocks {
		all = append(all, &b.Body)
	}
	return all
}

// let finds the let that counts, nil if there is none of that name.
func (s *scan) let(name string) *dsl.Let {
	var found *dsl.Let
	for _, b := range s.bodies() {
		for _, l := range b.Lets {
			if l.Name == name {
				found = l
			}
		}
	}
	return found
}

func (s *scan) run(ctx context.Context) (*Run, dsl.Diagnostics) {
	u, ds := compile.Compile(s.script, s.over)
	if u == nil {
		return nil, ds
	}
	b := u.Plans[0].Binder()
	prog, ds := b.Bind(nil)
	if prog == nil {
		return nil, ds
	}
	s.out.Lets, s.out.Settings = b.Lets(), b.Settings()
	base := newWorld(prog)
	if s.out.Limit = base.rec.Limit; s.out.Limit != engine.NoLimit {
		return s.out, nil
	}
	s.lines = int64(len(prog.Steps))
	for _, b := range s.bodies() {
		s.lines += int64(len(b.Lets))
	}
	s.findKnobs(prog)
	s.out.Knobs = len(s.knobs)
	s.verdicts(base)
	s.search(ctx)
	for i := range s.out.Verdicts {
		slices.SortStableFunc(s.out.Verdicts[i].Flips, func(a, b Flip) int {
			return cmp.Or(cmp.Compare(abs(a.Shift), abs(b.Shift)), cmp.Compare(a.Knob.Line, b.Knob.Line))
		})
	}
	slices.SortStableFunc(s.out.Verdicts, func(a, b Verdict) int {
		if len(a.Flips) == 0 || len(b.Flips) == 0 {
			return cmp.Compare(len(b.Flips), len(a.Flips))
		}
		f, g := &a.Flips[0], &b.Flips[0]
		return cmp.Or(cmp.Compare(abs(f.Shift), abs(g.Shift)), cmp.Compare(f.Knob.Line, g.Knob.Line))
	})
	return s.out, nil
}

// search moves every number by one tick, then every number by two: so a limit cuts all of them off at the same distance.
func (s *scan) search(ctx context.Context) {
	for shift := engine.Tick(1); shift <= MaxShift; shift++ {
		for i, k := range s.knobs {
			if s.progress != nil {
				s.progress((int64(shift)-1)*int64(len(s.knobs))+int64(i), int64(MaxShift)*int64(len(s.knobs)))
			}
			for _, by := range [...]engine.Tick{-shift, shift} {
				if s.work > MaxWork || ctx.Err() != nil {
					return
				}
				if w := s.moved(k, by); w != nil {
					s.compare(k, by, w)
				}
			}
		}
		s.out.Reach = shift
	}
}

// moved runs the schedule with one number moved; nil if it cannot be moved there.
func (s *scan) moved(k *Knob, by engine.Tick) *world {
	over := s.over
	s.work += workOfRun + workOfLine*s.lines
	if k.Name != "" {
		over = slices.DeleteFunc(slices.Clone(over), func(o compile.Override) bool { return o.Name == k.Name })
		over = append(over, compile.Override{Name: k.Name, Value: decimal(k.Value + by)})
	} else if k.Value+by < 0 && k.Place.Kind != numbers.Jump {
		return nil
	}
	for _, e := range k.exprs {
		at := (*e).Span()
		old := *e
		*e = &dsl.Binary{Op: "+", X: old, Y: &dsl.Num{Value: int64(by), At: at}, At: at}
		defer func() { *e = old }()
	}
	u, _ := compile.Compile(s.script, over)
	if u == nil {
		return nil
	}
	prog, _ := u.Plans[0].Binder().Bind(nil)
	if prog == nil {
		return nil
	}
	w := newWorld(prog)
	s.work += int64(len(w.rec.Events) + len(w.rec.Votes))
	if w.rec.Limit != engine.NoLimit {
		return nil // what it comes to is not known
	}
	return w
}

// compare notes the verdicts that a moved number flips, unless it did so with a smaller shift.
func (s *scan) compare(k *Knob, by engine.Tick, w *world) {
	for i := range s.out.Verdicts {
		v := &s.out.Verdicts[i]
		if slices.ContainsFunc(v.Flips, func(f Flip) bool { return f.Knob == k }) {
			continue
		}
		if then := w.state(v); v.flipped(&then) {
			v.Flips = append(v.Flips, Flip{Knob: k, To: k.Value + by, Shift: by, Then: then})
		}
	}
}

func (v *Verdict) flipped(then *State) bool {
	switch v.Subject {
	case OfLaw:
		return (v.Now.Count == 0) != (then.Count == 0)
	case OfFinal:
		return v.Now.Final != then.Final
	}
	return v.Now.Fate != then.Fate
}

func abs(t engine.Tick) engine.Tick { return max(t, -t) }
