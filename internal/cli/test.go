package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dlock/dsl"
	"dlock/internal/golden"
	"dlock/internal/report"
	"dlock/internal/study"
)

// testFlags are those of dlock test.
type testFlags struct {
	update, prune, force, failFast bool
	run                            string
	jobs                           int
	dir                            string
}

func (a *app) testCommand() *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [FILE…]",
		Short: "Check what scripts claim, and their transcripts against the recorded ones",
		Long: `Run scripts, check every claim and compare the transcript with its golden: the coloured transcript that was recorded
with --update. Without a file it tests the folder scenarios, or this folder.

The golden of scenarios/x.dlk is golden/x.txt beside the folder scenarios; that of any other DIR/x.dlk is
DIR/golden/x.txt; with --golden G, x.dlk of the folder that is tested has G/x.txt.

Exit code 1 if a claim fails or is vacuous, a golden differs or is missing, a golden has no script, or there is nothing
to test. --update that cannot write where the goldens are runs nothing and ends with 2.`,
		Example: `  dlock test
  dlock test --run pause
  dlock test --update scenarios`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = defaultDir()
			}
			return a.test(cmd.Context(), args, f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.update, "update", false, "record the transcripts as they are now: all of them or none")
	flags.BoolVar(&f.prune, "prune", false, "remove goldens whose script is gone")
	flags.BoolVar(&f.force, "force", false, "update even if claims fail, two renderings differ, or this is CI")
	flags.BoolVar(&f.failFast, "fail-fast", false, "stop at the first script that fails")
	flags.StringVar(&f.run, "run", "", "only scripts whose file name, or a run of which, matches this regular expression")
	flags.IntVar(&f.jobs, "jobs", 0, "how many scripts run at once; 0 is one for each core")
	flags.StringVar(&f.dir, "golden", "", "folder of the goldens")
	return cmd
}

// verdict is what came of one script under test.
type verdict struct {
	in      input
	golden  string
	status  status
	text    string // what to print about it
	crlf    bool   // the golden differs in nothing but its line ends
	file    golden.File
	old     []byte // the golden as it is, nil if there is none
	skipped bool   // the filter does not match
	runs    int
	claims  int
}

func (a *app) test(ctx context.Context, args []string, f testFlags) error {
	filter, err := a.testUsage(args, f)
	if err != nil {
		return err
	}
	found := a.inputs(args)
	layout := golden.Layout{Dir: f.dir}
	goldens := map[string]string{}
	for _, in := range found {
		g := layout.Path(in.name, in.root)
		if other, twice := goldens[g]; twice {
			return fmt.Errorf("%s and %s have the same golden, %s", shown(other), shown(in.name), shown(g))
		}
		goldens[g] = in.name
		for _, other := range layout.Owners(g) {
			if !sameFile(other, in.name) {
				return fmt.Errorf("%s and %s have the same golden, %s; rename one of them", shown(other), shown(in.name), shown(g))
			}
		}
	}
	if f.update {
		if err := a.recordable(found, layout, filter); err != nil {
			return err
		}
	}
	results, stopped := a.testAll(ctx, found, layout, filter, f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var orphans []string
	if filter == nil && !stopped {
		if orphans, err = findOrphans(layout, args, goldens); err != nil {
			return err
		}
	}
	tested := slices.DeleteFunc(results, func(v *verdict) bool { return v.skipped })
	if len(tested) == 0 && len(orphans) == 0 && a.worst == ok {
		if filter != nil && len(found) > 0 {
			return failf(refuted, "nothing to test: no script or run matches %q", f.run)
		}
		return failf(refuted, "nothing to test: there is no %s file below %s", golden.ScriptExt, shown(strings.Join(args, " ")))
	}
	if f.update || f.prune {
		return a.update(tested, orphans, f)
	}
	for _, o := range orphans {
		a.end(refuted)
		a.printf("FAIL  %s: its script is gone; `dlock test --prune` removes it\n", shown(o))
	}
	a.summary(tested, len(orphans))
	return nil
}

// testUsage finds what is wrong with the flags before anything runs.
func (a *app) testUsage(args []string, f testFlags) (*regexp.Regexp, error) {
	switch {
	case slices.Contains(args, stdinName):
		return nil, errors.New("dlock test needs files: standard input has no golden")
	case f.jobs < 0:
		return nil, errors.New("--jobs must be 0 or more")
	case (f.update || f.prune) && a.inCI() && !f.force:
		return nil, errors.New("goldens are not changed in CI: look at the difference where you work, or use --force")
	case f.prune && f.run != "":
		return nil, errors.New("--prune looks at whole folders: leave out --run")
	case f.run == "":
		return nil, nil
	}
	filter, err := regexp.Compile(f.run)
	if err != nil {
		return nil, fmt.Errorf("--run %w", err)
	}
	return filter, nil
}

// recordable finds before anything runs a golden that --update could not write. Scripts that the filter leaves out do not
// count.
func (a *app) recordable(found []input, layout golden.Layout, filter *regexp.Regexp) error {
	for _, in := range found {
		if filter != nil {
			text, err := a.read(in.name)
			if err != nil {
				continue // told when it is its turn
			}
			name := filepath.ToSlash(in.name)
			if script, _ := parse(name, text); !chosen(filter, name, script) {
				continue
			}
		}
		g := layout.Path(in.name, in.root)
		if err := creatable(g); err != nil {
			return fmt.Errorf("nothing was run: --update cannot write %s: %w", shown(g), err)
		}
	}
	return nil
}

// chosen tells whether a filter matches a script's file name or a run of it.
func chosen(filter *regexp.Regexp, name string, s *dsl.Script) bool {
	return filter == nil || filter.MatchString(name) || s != nil && slices.ContainsFunc(runNames(s), filter.MatchString)
}

// findOrphans looks for goldens without scripts below every folder that is tested.
func findOrphans(layout golden.Layout, args []string, goldens map[string]string) ([]string, error) {
	var all []string
	for _, arg := range args {
		root := filepath.Clean(arg)
		if !isDir(root) {
			if layout.Dir != "" {
				return nil, nil // a folder of goldens cannot be held against single files
			}
			continue
		}
		orphans, err := layout.Orphans(root, goldens)
		if err != nil {
			return nil, err
		}
		all = append(all, orphans...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// testAll runs the scripts, several at once, and prints what came of them in their order.
func (a *app) testAll(ctx context.Context, found []input, layout golden.Layout, filter *regexp.Regexp, f testFlags) (results []*verdict, stopped bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make([]chan *verdict, len(found))
	slots := make(chan struct{}, workers(f.jobs))
	for i, in := range found {
		done[i] = make(chan *verdict, 1)
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			v := &verdict{in: in, golden: layout.Path(in.name, in.root)}
			defer func() { done[i] <- v }()
			defer func() {
				if fault := recover(); fault != nil {
					v.status, v.text = broken, fmt.Sprintf("a fault of dlock's own: %v; please report it with this script\n", fault)
				}
			}()
			if ctx.Err() == nil {
				a.testOne(ctx, v, filter, f.update)
			}
		}()
	}
	for _, c := range done {
		v := <-c
		if ctx.Err() != nil {
			break
		}
		results = append(results, v)
		if v.skipped {
			continue
		}
		a.end(v.status)
		if v.crlf {
			a.printf("note  %s: the line ends of %s are CRLF, which counts as equal\n", shown(v.in.name), shown(v.golden))
		}
		if v.status == ok {
			continue
		}
		a.printf("FAIL  %s\n%s", shown(v.in.name), indent(v.text))
		a.flush()
		if f.failFast {
			return results, true
		}
	}
	return results, false
}

func indent(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString("      " + l)
	}
	return b.String()
}

// testOne runs one script and compares its transcript with its golden.
func (a *app) testOne(ctx context.Context, v *verdict, filter *regexp.Regexp, update bool) {
	name := filepath.ToSlash(v.in.name)
	fail := func(s status, format string, args ...any) {
		if s.weight() > v.status.weight() {
			v.status = s
		}
		v.text += fmt.Sprintf(format, args...)
	}
	text, err := a.read(v.in.name)
	if err != nil {
		fail(unusable, "%s\n", message(err))
		return
	}
	script, ds := parse(name, text)
	if !chosen(filter, name, script) {
		v.skipped = true
		return
	}
	st, more := prepare(script, ds)
	if st == nil {
		var b bytes.Buffer
		err := report.Diagnostics(&b, more, map[string][]byte{name: text}, pageWidth, nil)
		fail(unusable, "%s", b.String())
		if err != nil {
			fail(broken, "%v\n", err)
		}
		return
	}
	now, file, err := render(ctx, st.WithSource(text))
	if err != nil {
		fail(statusOf(err), "%v\n", err)
		return
	}
	v.runs = len(file.Items)
	if v.claims = claims(file, fail); v.status == inconclusive {
		return // what was cut off is no transcript to record or to compare
	}
	v.file = golden.File{Path: v.golden, Text: now.Text}
	if update {
		again, _, err := render(ctx, st)
		if err != nil || !bytes.Equal(again.Text, now.Text) {
			fail(broken, "two runs of it print different transcripts: a fault of dlock's own\n")
		}
	}
	v.old, err = golden.Load(v.golden)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !update:
		fail(refuted, "it has no golden %s; `dlock test --update` records it\n", shown(v.golden))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		fail(unusable, "%s\n", message(err))
	case err == nil && !update && !golden.Equal(v.old, now.Text):
		d := transcripts().Compare(v.old, now)
		fail(refuted, "%s", d.Text(name, filepath.ToSlash(v.golden)))
	case err == nil && !update:
		v.crlf = !bytes.Equal(v.old, now.Text)
	}
}

// prepare finds all that is wrong with a script; a nil study cannot be run.
func prepare(s *dsl.Script, ds dsl.Diagnostics) (*study.Study, dsl.Diagnostics) {
	if s == nil || ds.HasErrors() {
		return nil, ds
	}
	st, more := study.Open(s, nil)
	all := append(ds, more...).Sort()
	if all.HasErrors() {
		return nil, all
	}
	return st, all
}

func statusOf(err error) status {
	var e ended
	switch {
	case errors.As(err, &e):
		return e.status
	case errors.Is(err, context.Canceled):
		return inconclusive
	}
	return unusable
}

// claims counts the claims of a file and reports those that fail or are vacuous, and runs that reached a limit.
func claims(file *study.File, fail func(status, string, ...any)) int {
	n := 0
	for _, it := range file.Items {
		var name string
		var all []study.Claim
		switch r, w, e := it.Run, it.Sweep, it.Explore; {
		case r != nil && r.Inconclusive():
			fail(inconclusive, "%sa limit was reached at tick %d; what comes after is not known\n", prefix(r.Name), r.Record.Last)
			continue
		case r != nil:
			name, all = r.Name, r.Claims
		case e != nil && e.Inconclusive():
			fail(inconclusive, "%s%s\n", prefix(e.Name), notAll(e))
			continue
		case e != nil:
			name, all = e.Name, e.Claims
		case w.Inconclusive():
			fail(inconclusive, "%sa limit was reached in %d of %d cells; what comes after is not known\n", prefix(w.Name), w.Limited, w.Cells)
			continue
		default:
			name, all = w.Name, w.Claims
		}
		n += len(all)
		for _, c := range all {
			line := ""
			if c.Expect.Span.Start.Line > 0 {
				line = fmt.Sprintf("line %d: ", c.Expect.Span.Start.Line)
			}
			switch {
			case c.Unchecked:
			case !c.OK:
				fail(refuted, "%s%s%s fails: %s\n", line, prefix(name), printable(c.Expect.Source), printable(c.Got))
				if c.Replay != "" {
					fail(refuted, "  in %s; the first by itself: %s\n", count(int(c.Broken), "cell"), printable(c.Replay))
				}
			case c.Vacuous != "":
				fail(refuted, "%s%s%s is vacuous, it could not have failed: %s\n", line, prefix(name), printable(c.Expect.Source), printable(c.Vacuous))
			}
		}
	}
	return n
}

func prefix(run string) string {
	if run == "" {
		return ""
	}
	return fmt.Sprintf("%q: ", run)
}

// render runs a study and prints its transcript as goldens hold it.
func render(ctx context.Context, st *study.Study) (golden.Rendering, *study.File, error) {
	file, err := st.Do(ctx, study.Options{Jobs: 1})
	if err != nil {
		return golden.Rendering{}, nil, err
	}
	var b bytes.Buffer
	err = report.Transcript(&b, file, report.Options{Width: pageWidth, Palette: report.NewPalette(true)})
	return golden.Rendering{Text: b.Bytes(), Events: events(file)}, file, err
}

// update records all transcripts, or none if something speaks against one of them.
func (a *app) update(tested []*verdict, orphans []string, f testFlags) error {
	var files []golden.File
	refused := 0
	for _, v := range tested {
		switch {
		case v.file.Path == "" || v.status != ok && !f.force:
			refused++ // a script with errors has nothing to record, whatever is forced
		case f.update && (v.old == nil || !bytes.Equal(v.old, v.file.Text)):
			files = append(files, v.file)
		}
	}
	if f.update && (refused > 0 || a.worst != ok && !f.force) {
		return failf(a.worst, "no golden was changed: %s cannot be recorded as it is", count(refused, "script"))
	}
	if !f.prune {
		for _, o := range orphans {
			a.end(refuted)
			a.printf("FAIL  %s: its script is gone; --prune removes it\n", shown(o))
		}
		orphans = nil
	}
	if err := golden.Replace(files, orphans); err != nil {
		return fmt.Errorf("no golden was changed: %w", err)
	}
	for _, v := range tested {
		switch {
		case !slices.ContainsFunc(files, func(g golden.File) bool { return g.Path == v.file.Path }):
			continue
		case v.old == nil:
			a.printf("new      %s\n", shown(v.golden))
		default:
			a.printf("updated  %s\n", shown(v.golden))
			for _, flip := range transcripts().Flips(v.old, v.file.Text) {
				a.printf("         flips: %s\n", flip)
			}
		}
	}
	for _, o := range orphans {
		a.printf("removed  %s\n", shown(o))
	}
	a.printf("%s written, %d removed, %d as they were\n", count(len(files), "golden"), len(orphans), len(tested)-len(files)-refused)
	return nil
}

func (a *app) summary(tested []*verdict, orphans int) {
	runs, claimed, failed := 0, 0, orphans
	for _, v := range tested {
		runs, claimed = runs+v.runs, claimed+v.claims
		if v.status != ok {
			failed++
		}
	}
	word := "ok"
	tail := ""
	if a.worst != ok {
		word, tail = "FAIL", fmt.Sprintf(", %d failed", failed)
	}
	a.printf("%-4s  %s, %s, %s%s\n", word, count(len(tested), "script"), count(runs, "run"), count(claimed, "claim"), tail)
}
