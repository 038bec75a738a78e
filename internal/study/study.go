package study

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/search"
)

// Study is a file whose every run and cell is known to be computable.
type Study struct {
	unit      *compile.Unit
	source    []byte   // the file's text, for witnesses that are written into it
	overrides []string // NAME=VALUE
}

// Options says what of a study is done and how.
type Options struct {
	// Runs names the runs and sweeps to do; empty means all. For Sweep and Compare it names the one run to start from.
	Runs []string
	// Jobs is how many cells are computed at the same time; less than 1 means 1. It changes no result.
	Jobs int
	// Progress, if set, is called now and then, never from two goroutines at once, with the cells and runs done so far.
	Progress func(done, total int64)
	// RunsOnly searches no explore block: one whose holes are all closed is run as the one member that it then is, the others
	// are passed over.
	RunsOnly bool
	// What follows is about explore blocks. Brute walks every member, even where counting would do.
	Brute bool
	// Limit is how many states a slice may keep, or how many members may be walked; 0 is the default.
	Limit int64
	// Until has a search stop as soon as it has decided a member that breaks one of these laws.
	Until search.Laws
	// Shards of more than 1 says to do only each Shards-th slice, from the Shard-th on, counted from 0.
	Shard, Shards int
	// Parts is what is known already. MergeOnly does no slice besides, and PartOnly looks for no witness and judges no claim.
	Parts               []Part
	MergeOnly, PartOnly bool
	// Progressing, if set, can be asked while the search goes on.
	Progressing *Progress
	// Checkpoint, if set, is called after every slice and now and then within a single one, never from two goroutines at once. The part is valid until it returns.
	Checkpoint func(part func() *Part)
	// Each, if set, is called with every cell in order, from one goroutine at a time, also when a sweep keeps none.
	Each func(Cell)
}

// New compiles a checked script with overrides from the command line and checks the values of every run and of every cell.
// With errors among the diagnostics there is no study.
func New(s *dsl.Script, over []compile.Override, split ...string) (*Study, dsl.Diagnostics) {
	u, ds := compile.Compile(s, over, split...)
	return newStudy(u, ds, over, split)
}

func newStudy(u *compile.Unit, ds dsl.Diagnostics, over []compile.Override, split []string) (*Study, dsl.Diagnostics) {
	if u == nil {
		return nil, ds
	}
	st := &Study{unit: u}
	for i, o := range over {
		if slices.ContainsFunc(over[i+1:], func(later compile.Override) bool { return later.Name == o.Name }) {
			continue // the last one counts
		}
		if n, err := strconv.ParseInt(o.Value, 10, 64); err == nil {
			o.Value = strconv.FormatInt(n, 10)
		}
		st.overrides = append(st.overrides, o.Name+"="+o.Value)
	}
	for _, name := range split {
		st.overrides = append(st.overrides, "split "+name)
	}
	slices.Sort(st.overrides)
	st.overrides = slices.Compact(st.overrides)
	return st, ds
}

// Open is New, but a file without blocks that leaves something open is one family to explore, and no run with an error.
func Open(s *dsl.Script, over []compile.Override, split ...string) (*Study, dsl.Diagnostics) {
	if len(s.Blocks) == 0 {
		if u, ds := compile.Explore(s, over, split...); u == nil || len(u.Plans[0].Family().Holes()) > 0 {
			return newStudy(u, ds, over, split)
		}
	}
	return New(s, over, split...)
}

// HoleNames lists what an explore block's holes are called.
func (st *Study) HoleNames(block string) []string {
	var names []string
	for _, p := range st.unit.Plans {
		if p.Kind == dsl.ExploreBlock && p.Name == block {
			for _, h := range p.Family().Holes() {
				names = append(names, h.Name)
			}
		}
	}
	return names
}

// Families lists the names of the explore blocks, in file order; "" for a file without blocks.
func (st *Study) Families() []string {
	var names []string
	for _, p := range st.unit.Plans {
		if p.Kind == dsl.ExploreBlock {
			names = append(names, p.Name)
		}
	}
	return names
}

// Left lists the explore blocks whose holes are not all closed, in file order: those that are no run.
func (st *Study) Left() []Passed {
	var left []Passed
	for _, p := range st.unit.Plans {
		if p.Kind == dsl.ExploreBlock && len(p.Family().Holes()) > 0 {
			left = append(left, Passed{p.Name, p.Line, p.Family().Holes()})
		}
	}
	return left
}

// WithSource gives the study its file's text, so that witnesses can be written as that file with its holes filled in, and
// parts can tell which text they are of.
func (st *Study) WithSource(text []byte) *Study {
	st.source = text
	return st
}

// NoRunError says that names were asked for that no run or sweep of the file has.
type NoRunError struct {
	Missing []string
	Known   []string // every run and sweep of the file
}

func (e *NoRunError) Error() string {
	var b strings.Builder
	b.WriteString("no run or sweep is named ")
	for i, n := range e.Missing {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", n)
	}
	return b.String()
}

// ScriptError carries what is wrong with a script, or with axes or overrides from the command line.
type ScriptError struct{ Diagnostics dsl.Diagnostics }

func (e *ScriptError) Error() string {
	if len(e.Diagnostics) == 0 {
		return "the script has errors"
	}
	return e.Diagnostics[0].Summary
}

// Names lists the names of the file's runs and sweeps, in file order.
func (st *Study) Names() []string {
	var names []string
	for _, p := range st.unit.Plans {
		if p.Name != "" {
			names = append(names, p.Name)
		}
	}
	return names
}

func (st *Study) pick(names []string) ([]*compile.Plan, error) {
	if len(names) == 0 {
		return st.unit.Plans, nil
	}
	known := st.Names()
	var missing []string
	for _, n := range names {
		if !slices.Contains(known, n) {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return nil, &NoRunError{Missing: missing, Known: known}
	}
	return slices.DeleteFunc(slices.Clone(st.unit.Plans), func(p *compile.Plan) bool { return !slices.Contains(names, p.Name) }), nil
}

// Do computes the runs and sweeps. The result is the same whatever the number of jobs. It ends early with the context's
// error, or with a *NoRunError.
func (st *Study) Do(ctx context.Context, o Options) (*File, error) {
	plans, err := st.pick(o.Runs)
	if err != nil {
		return nil, err
	}
	f := &File{Script: st.unit.Script}
	progress := newProgress(o.Progress, plans)
	kept, entries := int64(0), 0
	for _, p := range plans {
		if err := ctx.Err(); err != nil && p.Kind != dsl.ExploreBlock { // an interrupted search has an answer too
			return nil, err
		}
		if p.Kind == dsl.SweepBlock && !(o.RunsOnly && alone(p)) {
			keep := p.Cells <= MaxKeptCells && kept+p.Cells <= maxKeptInAll
			if keep {
				kept += p.Cells
			}
			s, err := sweep(ctx, p, o, keep, progress)
			if err != nil {
				return nil, err
			}
			for i := range s.Claims {
				if c := &s.Claims[i]; len(c.Cells) > 0 {
					c.Replay = replay(f.Script.File, s.Name, c.Cells[0].At)
				}
			}
			f.Items = append(f.Items, Item{Sweep: s})
			continue
		}
		if p.Kind == dsl.ExploreBlock && o.RunsOnly {
			it, err := st.closed(p, entries < maxEntries)
			if err != nil {
				return nil, err
			}
			f.Items = append(f.Items, it)
			continue
		}
		if p.Kind == dsl.ExploreBlock {
			e, err := st.explore(ctx, p, o)
			if err != nil {
				return nil, err
			}
			f.Items = append(f.Items, Item{Explore: e})
			continue
		}
		r, err := run(p, entries < maxEntries)
		if err != nil {
			return nil, err
		}
		rec := r.Record
		entries += len(rec.Events) + len(rec.Votes) + len(rec.Leases) + len(rec.Promises) + len(rec.Values)
		progress.add(1)
		f.Items = append(f.Items, Item{Run: r})
	}
	return f, nil
}

// closed runs an explore block whose holes are all closed; its claims are about members, so a run has none.
func (st *Study) closed(p *compile.Plan, room bool) (Item, error) {
	holes := p.Family().Holes()
	if len(holes) > 0 {
		return Item{Passed: &Passed{p.Name, p.Line, holes}}, nil
	}
	b := p.Binder()
	prog, ds := b.BindMember(nil)
	if prog == nil {
		return Item{}, &ScriptError{ds}
	}
	member := *prog
	member.Ties = false // in the order of the file
	r := judged(p, b, &member, room)
	return Item{Run: r}, nil
}

// alone tells whether the command line leaves a sweep with one cell: then that is a run, with its whole story.
func alone(p *compile.Plan) bool { return p.Overridden && p.Cells == 1 }

// replay is the command that runs one cell of a sweep by itself.
func replay(file, sweep string, at []Value) string {
	words := []string{"dlock run", shellWord(file), "--run", shellWord(sweep)}
	for _, v := range at {
		words = append(words, "--set", shellWord(v.Name+"="+v.Text()))
	}
	return strings.Join(words, " ")
}

// shellWord writes one word for a shell.
func shellWord(s string) string {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=,:+", r))
	}
	if s != "" && !strings.ContainsFunc(s, odd) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// run does a plan that has one cell. Without room for its record it only says that a limit was reached.
func run(p *compile.Plan, room bool) (*Run, error) {
	b := p.Binder()
	cell := make([]int64, len(p.Axes))
	p.Cell(0, cell)
	prog, ds := b.Bind(cell)
	if prog == nil {
		return nil, &ScriptError{ds}
	}
	r := judged(p, b, prog, room)
	j := judge{rec: r.Record, rep: r.Audit}
	for i, c := range statements(p) {
		v := b.Claim(i)
		out := Claim{Expect: c.expect, Unchecked: p.Overridden, Inconclusive: r.Inconclusive()}
		if !out.Inconclusive {
			if out.OK = j.holds(&c, v); !out.OK {
				out.Got = j.got(&c, v)
			} else {
				out.Vacuous = j.vacuous(&c, v).String()
			}
		}
		r.Claims = append(r.Claims, out)
	}
	return r, nil
}

func judged(p *compile.Plan, b *compile.Binder, prog *engine.Program, room bool) *Run {
	r := &Run{Name: p.Name, Line: p.Line, Settings: b.Settings(), Lets: b.Lets()}
	if room {
		r.Record = engine.Run(prog)
	} else {
		r.Record = &engine.Record{Program: prog, Tokens: make([]int64, len(prog.Clients)), Final: engine.None, Limit: engine.LimitEvents}
	}
	r.Audit = audit.Judge(r.Record)
	return r
}

// Sweep computes a sweep that the file does not have: axes over the run that o.Runs names, or over the top level alone. The
// file's claims are not about it. Besides what Do returns, the error can be a *ScriptError: a name that is not there, a
// value that cannot be, a cell that makes no sense.
func (st *Study) Sweep(ctx context.Context, axes []compile.AxisSpec, o Options) (*Sweep, error) {
	name := ""
	if len(o.Runs) > 0 {
		name = o.Runs[0]
	}
	p, ds := st.unit.Sweep(name, axes)
	if p == nil {
		return nil, &ScriptError{ds}
	}
	return sweep(ctx, p, o, p.Cells <= MaxKeptCells, newProgress(o.Progress, []*compile.Plan{p}))
}

// ParseAxis reads an axis as it is written on the command line: "lease=1..25", "stall=2..29:3", "fencing=off,on".
func ParseAxis(text string) (compile.AxisSpec, error) { return compile.ParseAxis(text) }
