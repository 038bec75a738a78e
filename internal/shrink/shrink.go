// Package shrink makes a schedule that breaks a law as small as it can while the law stays broken: it takes statements,
// blocks and words out, writes lets out and makes numbers smaller. Every candidate is parsed, checked, run and judged
// like any other file; what a law means, and whether a candidate makes sense, is decided elsewhere.
package shrink

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/numbers"
)

const (
	// MaxCandidates is how many different candidates are tried: a file of some hundred lines needs a few thousand.
	MaxCandidates = 20_000
	// maxBytes and maxWork bound what the candidates are together, since one can be as large as a file and run as long as
	// a run: about a minute each.
	maxBytes = 64 << 20
	maxWork  = 50_000_000
)

// Options says what of a file is shrunk and what must stay.
type Options struct {
	Keep []audit.Law        // the laws that stay broken; at least one
	Run  string             // the run to shrink; "" for the first that breaks the laws
	Over []compile.Override // what goes before the file's lets and settings, and is written into the result
	// Progress, if set, is called with each candidate: how many were tried, of how many at most.
	Progress func(tried, most int64)

	most int // candidates; 0 is MaxCandidates
}

// Result is a smaller schedule.
type Result struct {
	Text   []byte // formatted, with claims that hold
	Run    string // the run that it was made from, "" for a file without runs
	Before int    // statements of that run, claims apart
	After  int    // statements that are left, claims apart
	Tried  int    // candidates
	// Short tells that the search ended early, by a limit or by the context: then something smaller may do as well.
	// Otherwise the result is 1-minimal: with one statement less, one stretch of words less or one number smaller by one,
	// the file makes no sense or the laws are not all broken.
	Short bool
}

// UnbrokenError says that no run breaks all of the laws.
type UnbrokenError struct {
	Runs   []string    // the runs that were tried; one "" for a file without runs
	Missed []audit.Law // the laws that the last of them does not break
}

func (e *UnbrokenError) Error() string {
	return fmt.Sprintf("%d runs, and none breaks the laws", len(e.Runs))
}

// LimitError says that a run reaches a limit of the engine, so that its verdicts are not known.
type LimitError struct{ Run string }

func (e *LimitError) Error() string { return fmt.Sprintf("run %q reaches a limit", e.Run) }

// shrinker holds the smallest schedule so far.
type shrinker struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one call of Shrink
	name  string
	keep  []audit.Law
	doc   *doc
	seen  map[string]bool
	most  int
	tried int
	bytes int
	work  int
	short bool

	progress func(tried, most int64)
}

// Shrink finds the smallest schedule. The text must be a file without errors. The error is an *UnbrokenError, a
// *LimitError, or a *ScriptError if the chosen run makes no sense by itself.
func Shrink(ctx context.Context, name string, text []byte, o Options) (*Result, error) {
	script, ds := dsl.Parse(name, text)
	if ds.HasErrors() {
		return nil, &ScriptError{ds}
	}
	formatted, ds := dsl.Format(text, name)
	if ds.HasErrors() {
		return nil, &ScriptError{ds}
	}
	none := &UnbrokenError{}
	for _, b := range numbers.Blocks(script, o.Run) {
		run := ""
		if b != nil {
			run = b.Name
		}
		if u, ds := compile.Compile(numbers.Alone(script, b, o.Over)); u == nil {
			return nil, &ScriptError{ds} // found here, the places of faults are those of the file
		}
		s := &shrinker{ctx: ctx, name: name, keep: o.Keep, seen: map[string]bool{}, most: cmp.Or(o.most, MaxCandidates), progress: o.Progress, doc: read(string(formatted))}
		s.doc.take(script, b, o.Over)
		rec, rep, ds := judge(name, s.doc.text(nil))
		switch {
		case rec == nil:
			return nil, &ScriptError{ds}
		case rec.Limit != engine.NoLimit:
			return nil, &LimitError{run}
		}
		none.Runs, none.Missed = append(none.Runs, run), missed(rep, o.Keep)
		if len(none.Missed) > 0 {
			continue
		}
		r := &Result{Run: run, Before: counted(s.doc.list)}
		s.minimise()
		r.Text, r.After, r.Tried, r.Short = s.finish(context.WithoutCancel(ctx)), counted(s.doc.list), s.tried, s.short
		return r, nil
	}
	return nil, none
}

// ScriptError carries what is wrong with a script.
type ScriptError struct{ Diagnostics dsl.Diagnostics }

func (e *ScriptError) Error() string {
	if len(e.Diagnostics) == 0 {
		return "the schedule has errors"
	}
	return e.Diagnostics[0].Summary
}

// counted counts the statements that are of the schedule.
func counted(list []*node) int {
	n := statements(list)
	for _, s := range list {
		if s.word(0) == "scenario" {
			n--
		}
	}
	return n
}

// judge runs a text that is one run. Without a record the text makes no sense, and the diagnostics say why.
func judge(name, text string) (*engine.Record, *audit.Report, dsl.Diagnostics) {
	script, ds := dsl.Parse(name, []byte(text))
	if ds.HasErrors() {
		return nil, nil, ds
	}
	u, ds := compile.Compile(script, nil)
	if u == nil || len(u.Plans) != 1 {
		return nil, nil, ds
	}
	prog, ds := u.Plans[0].Binder().Bind(nil)
	if prog == nil {
		return nil, nil, ds
	}
	rec := engine.Run(prog)
	return rec, audit.Judge(rec), nil
}

func missed(rep *audit.Report, keep []audit.Law) []audit.Law {
	return slices.DeleteFunc(slices.Clone(keep), func(l audit.Law) bool { return rep.Counts[l] > 0 })
}

// holds tells whether the schedule as it stands still breaks the laws. No candidate is tried twice.
func (s *shrinker) holds() bool { return s.breaks(s.doc.text(nil)) }

func (s *shrinker) breaks(text string) bool {
	if known, ok := s.seen[text]; ok {
		return known
	}
	if s.tried == s.most || s.bytes > maxBytes || s.work > maxWork || s.ctx.Err() != nil {
		s.short = true
		return false
	}
	s.tried++
	if s.progress != nil {
		s.progress(int64(s.tried), int64(s.most))
	}
	s.bytes += len(text)
	rec, rep, _ := judge(s.name, text)
	ok := rec != nil && rec.Limit == engine.NoLimit && len(missed(rep, s.keep)) == 0
	if rec != nil {
		s.work += len(rec.Events) + len(rec.Votes)
	}
	s.seen[text] = ok
	return ok
}

// minimise goes on until nothing can be made smaller by any of the passes.
func (s *shrinker) minimise() {
	s.seen[s.doc.text(nil)] = true
	for again := true; again && !s.short; {
		again = false
		for _, pass := range [...]func() bool{s.dropStatements, s.dropWords, s.lowerNumbers, s.writeLetsOut, s.evaluate} {
			if pass() {
				again = true
			}
		}
	}
}

// take makes a run the whole schedule: its lines stand where its block stood, what it overrides goes, other blocks and
// all claims go, and the overrides from outside are written in.
func (d *doc) take(script *dsl.Script, run *dsl.Block, over []compile.Override) {
	var body []*node
	var list []*node
	block := 0
	for _, n := range d.list {
		switch n.word(0) {
		case "run", "sweep", "explore":
			if script.Blocks[block] == run {
				body = slices.DeleteFunc(n.parts[0].list, notSchedule)
				list = append(list, body...)
			}
			block++
		case "expect":
		default:
			list = append(list, n)
		}
	}
	d.list = slices.DeleteFunc(list, func(n *node) bool {
		name := n.name()
		return name != "" && !slices.Contains(body, n) && slices.ContainsFunc(body, func(o *node) bool { return o.name() == name })
	})
	for _, o := range over {
		d.override(script, o)
	}
}

// notSchedule tells what of a block is about its runs and not in them.
func notSchedule(n *node) bool {
	w := n.word(0)
	return w == "expect" || w == "where" || w == "ties"
}

// name gives what a let or a setting is called, "" for another statement.
func (n *node) name() string {
	switch w := n.word(0); {
	case w == "let":
		return n.word(1)
	case slices.Contains(dsl.SettingNames(), w):
		return w
	}
	return ""
}

func (d *doc) override(script *dsl.Script, o compile.Override) {
	setting := slices.Contains(dsl.SettingNames(), o.Name)
	value := o.Value
	if o.Name == "initial" {
		value = quoted(value)
	}
	line := o.Name + " " + value
	if !setting {
		line = "let " + o.Name + " = " + value
	}
	for i, n := range d.list {
		if n.name() == o.Name {
			n.head = line
			n.changed()
			return
		}
		if n.word(0) == "maybe" && n.word(1) == o.Name {
			if value == "0" {
				d.list = slices.Delete(d.list, i, i+1)
			} else {
				n.head = n.head[tokens(n.head)[2].lo:]
			}
			return
		}
	}
	if setting {
		at := 0
		if script.Title != "" {
			at = slices.IndexFunc(d.list, func(n *node) bool { return n.word(0) == "scenario" }) + 1
		}
		d.list = slices.Insert(d.list, at, &node{blank: true, head: line})
	}
}

// quoted writes a text as the language does.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
