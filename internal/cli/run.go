package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/internal/report"
	"dlock/internal/study"
)

// overrides are the flags that go before what a file says.
type overrides struct {
	servers int
	fencing string
	set     []string
}

func (o *overrides) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&o.servers, "servers", 0, "number of lock servers")
	cmd.Flags().StringVar(&o.fencing, "fencing", "", "the resource's token check: "+either(dsl.SettingWords("fencing")))
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "NAME=VALUE for a let or a setting of the file; may be repeated")
	complete(cmd, "fencing", dsl.SettingWords("fencing")...)
	completeSet(cmd, "set")
}

// list gives the overrides in the order in which they count; the flags that were not given are no overrides.
func (o *overrides) list(cmd *cobra.Command) ([]compile.Override, error) {
	var list []compile.Override
	if cmd.Flags().Changed("servers") {
		list = append(list, compile.Override{Name: "servers", Value: strconv.Itoa(o.servers)})
	}
	if cmd.Flags().Changed("fencing") {
		list = append(list, compile.Override{Name: "fencing", Value: o.fencing})
	}
	for _, s := range o.set {
		one, err := override(s)
		if err != nil {
			return nil, fmt.Errorf("--set %w", err)
		}
		list = append(list, one)
	}
	return list, setOnce(list)
}

// setOnce refuses a configuration that says two things about one name.
func setOnce(list []compile.Override) error {
	for i, one := range list {
		if slices.ContainsFunc(list[:i], func(p compile.Override) bool { return p.Name == one.Name }) {
			return fmt.Errorf("%s is set twice", one.Name)
		}
	}
	return nil
}

// override reads NAME=VALUE.
func override(s string) (compile.Override, error) {
	name, value, found := strings.Cut(s, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || name == "" || value == "" && name != "initial" {
		return compile.Override{}, fmt.Errorf("%q is not NAME=VALUE", s)
	}
	return compile.Override{Name: name, Value: value}, nil
}

func (a *app) runCommand() *cobra.Command {
	var over overrides
	var run, format string
	var quiet, strict bool
	cmd := &cobra.Command{
		Use:   "run FILE…",
		Short: "Run schedules and tell what happened",
		Long: `Run every run and sweep of the files, print the transcript, the verdict of every law and what became of the
file's claims. An explore block is run only where --set closes all of its holes; dlock explore is for the others. Settings and lets can be overridden; the file's claims are then shown as unchecked.

Exit code 1 if a claim fails or is vacuous, 3 if a limit was reached. A run that claims nothing ends with 0 whatever the
laws say, unless --strict.`,
		Example: `  dlock run scenarios/pause.dlk
  dlock run scenarios/pause.dlk --run fenced
  dlock run scenarios/pause.dlk --set stall=3 --fencing strict
  cat my.dlk | dlock run -`,
		Args:              files,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := over.list(cmd)
			if err != nil {
				return err
			}
			found, err := a.someInputs(args)
			if err != nil {
				return err
			}
			return a.run(cmd.Context(), found, list, run, a.printer(format, quiet), strict)
		},
	}
	over.register(cmd)
	cmd.Flags().StringVar(&run, "run", "", "only the run or sweep of this name")
	addFormat(cmd, &format, "text", "json", "markdown")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "only the verdict, and the claims that do not hold")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit code 1 too if a run breaks a law of safety")
	completeRuns(cmd)
	return cmd
}

// files is cobra's check of arguments where at least one file is needed.
func files(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs a file, a folder or - for standard input, as in `%s`", cmd.CommandPath(), firstExample(cmd))
	}
	return nil
}

func firstExample(cmd *cobra.Command) string {
	line, _, _ := strings.Cut(cmd.Example, "\n")
	return strings.TrimSpace(line)
}

func (a *app) run(ctx context.Context, found []input, over []compile.Override, run string, p *printer, strict bool) error {
	named := false // some file has a run of that name
	var known []string
	for _, in := range found {
		s := a.script(in.name)
		if s == nil {
			continue
		}
		var only []string
		if run != "" {
			names := runNames(s.script)
			known = append(known, names...)
			if !slices.Contains(names, run) {
				continue
			}
			only = []string{run}
		}
		named = true
		file, err := a.study(ctx, s, over, only)
		if err != nil {
			return err
		}
		if file == nil {
			continue
		}
		if err := a.passed(s, file); err != nil {
			a.fail(err)
			continue
		}
		a.judge(s.name, file, strict)
		p.add(file)
	}
	if run != "" && !named && a.worst == ok {
		return noRun(run, known)
	}
	return p.close()
}

// study runs what a script says; nil if it has errors. Running it is what finds the errors of single cells.
func (a *app) study(ctx context.Context, s *source, over []compile.Override, only []string) (*study.File, error) {
	if err := knownNames(s.script, over); err != nil {
		return nil, err
	}
	st, ds := study.New(s.script, over)
	if !a.diagnose(s, ds) {
		return nil, nil //nolint:nilnil // the diagnostics have been shown
	}
	bar := a.progress("cells")
	defer bar.stop()
	file, err := st.Do(ctx, study.Options{Runs: only, Jobs: workers(0), Progress: bar.at, RunsOnly: true})
	bar.stop()
	return file, err
}

// passed refuses a file of which there is nothing to run, since all that was asked for are families of many members.
func (a *app) passed(s *source, file *study.File) error {
	var open *study.Passed
	for _, it := range file.Items {
		if it.Passed == nil {
			return nil
		}
		open = it.Passed
	}
	if open == nil {
		return nil
	}
	return leftOpen(s, open)
}

// refuseOpen refuses what passed refuses, for a command that does not run the file by itself: the block of that name, or a
// file all of whose runs are families.
func refuseOpen(s *source, over []compile.Override, run string) error {
	st, ds := study.New(s.script, over)
	if st == nil || ds.HasErrors() {
		return nil // they are shown by who asked
	}
	left := st.Left()
	if run != "" {
		left = slices.DeleteFunc(left, func(p study.Passed) bool { return p.Name != run })
	} else if slices.ContainsFunc(s.script.Blocks, func(b *dsl.Block) bool {
		return b.Kind != dsl.SweepBlock && !slices.ContainsFunc(left, func(p study.Passed) bool { return p.Name == b.Name })
	}) {
		return nil
	}
	if len(left) == 0 {
		return nil
	}
	return leftOpen(s, &left[len(left)-1])
}

// leftOpen says how to close a family, or to look at all of it.
func leftOpen(s *source, open *study.Passed) error {
	var names, set []string
	known := append(letNames(s.script), dsl.SettingNames()...)
	for _, h := range open.Open {
		if h.In >= 0 && slices.Contains(known, open.Open[h.In].Name) {
			continue // it goes with its line, which is left out by name
		}
		if slices.Contains(known, h.Name) {
			names, set = append(names, h.Name), append(set, "--set "+h.Name+"="+h.Text(h.Values[0]))
		} else {
			names = append(names, h.Name)
		}
	}
	hint := fmt.Sprintf("look at every member with `dlock explore %s`", s.name)
	switch {
	case len(set) == len(names):
		hint = "close it with " + strings.Join(set, " ") + " or the like, or " + hint
	case len(set) > 0:
		hint = "only some of it can be closed from outside (" + strings.Join(set, " ") + "), so " + hint
	}
	return fmt.Errorf("%s leaves %s open; %s", where(s.name, open.Name), strings.Join(names, ", "), hint)
}

// knownNames finds overrides that the script has no place for.
func knownNames(s *dsl.Script, over []compile.Override) error {
	lets := letNames(s)
	known := append(slices.Clone(lets), dsl.SettingNames()...)
	for _, o := range over {
		if slices.Contains(known, o.Name) {
			continue
		}
		hint := "the file has no lets"
		if n := dsl.Nearest(o.Name, known); n != "" {
			hint = fmt.Sprintf("did you mean %q?", n)
		} else if len(lets) > 0 {
			hint = "the lets of the file are " + strings.Join(lets, ", ")
		}
		return fmt.Errorf("%s has no let or setting %q; %s", shown(s.File), o.Name, hint)
	}
	return nil
}

// judge notes how a file's runs ended.
func (a *app) judge(name string, file *study.File, strict bool) {
	for _, it := range file.Items {
		switch r, s := it.Run, it.Sweep; {
		case r != nil && r.Inconclusive():
			a.fail(failf(inconclusive, "%s: a limit was reached at tick %d; what comes after is not known", where(name, r.Name), r.Record.Last))
		case r != nil && (r.Failed() || strict && !r.Audit.Clean()):
			a.end(refuted)
		case s != nil && s.Inconclusive():
			a.fail(failf(inconclusive, "%s: a limit was reached in %d of %d cells; what comes after is not known", where(name, s.Name), s.Limited, s.Cells))
		case s != nil && (s.Failed() || strict && s.Clean < s.Cells):
			a.end(refuted)
		case it.Explore != nil:
			e := it.Explore
			if e.Failed() {
				a.end(refuted)
			}
			if e.Inconclusive() {
				a.fail(failf(inconclusive, "%s: %s", where(name, e.Name), notAll(e)))
			}
		}
	}
}

// notAll says that a search did not come to its end.
func notAll(e *study.Explore) string {
	if e.Partial {
		return fmt.Sprintf("%s after %s; the rest is not known", e.Stopped, report.Members(e.Members))
	}
	if e.Stopped == study.TooMany {
		return e.Stopped
	}
	return fmt.Sprintf("%s after %d of %s; the rest is not known", e.Stopped, e.Done, count(int(e.Slices), "slice"))
}

func where(file, run string) string {
	if run == "" {
		return shown(file)
	}
	return shown(file) + ", " + strconv.Quote(run)
}

// runNames lists the runs and sweeps of a script.
func runNames(s *dsl.Script) []string {
	var names []string
	for _, b := range s.Blocks {
		names = append(names, b.Name)
	}
	return names
}

func noRun(run string, known []string) error {
	slices.Sort(known)
	known = slices.Compact(known)
	switch n := dsl.Nearest(run, known); {
	case n != "":
		return fmt.Errorf("there is no run %q; did you mean %q?", run, n)
	case len(known) == 0:
		return fmt.Errorf("there is no run %q: the file has no runs with names", run)
	}
	for i := range known {
		known[i] = strconv.Quote(known[i])
	}
	return fmt.Errorf("there is no run %q; there is %s", run, strings.Join(known, ", "))
}

// printer collects or prints files in one of the formats.
type printer struct {
	out    io.Writer
	format string
	opts   report.Options
	files  []*study.File
	errs   []error
	any    bool
}

func (a *app) printer(format string, quiet bool) *printer {
	return &printer{out: a.buffered, format: format, opts: a.options(quiet)}
}

// add prints a file, or keeps it where the format is one document.
func (p *printer) add(f *study.File) {
	if p.format == "json" {
		p.files = append(p.files, f)
		return
	}
	if p.any {
		io.WriteString(p.out, "\n") //nolint:errcheck // the sink keeps the error
	}
	p.any = true
	write := report.Transcript
	if p.format == "markdown" {
		write = report.Markdown
	}
	p.errs = append(p.errs, write(p.out, f, p.opts))
}

func (p *printer) close() error {
	if p.format == "json" && len(p.files) > 0 {
		p.errs = append(p.errs, report.JSON(p.out, p.files))
	}
	return errors.Join(p.errs...)
}

func addFormat(cmd *cobra.Command, value *string, words ...string) {
	*value = words[0]
	cmd.Flags().Var(&choice{value, words}, "format", "how to print it: "+either(words))
	complete(cmd, "format", words...)
}
