package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/internal/report"
	"dlock/internal/study"
)

// maxConfigurations bounds what is put beside each other: more columns than this nobody reads, and no page holds.
const maxConfigurations = 64

func (a *app) compareCommand() *cobra.Command {
	var run, format string
	cmd := &cobra.Command{
		Use:   "compare FILE A B [C…]",
		Short: "Run one schedule under several configurations and show what differs",
		Long: `Each of A, B, … is a configuration: settings and lets as in fencing=off or fencing=off,servers=3, or the name of a run
of the file, or a run and what is overridden in it, as in fenced,stall=3. A configuration that names no run is about the
run that --run names, or else the file's first.`,
		Example: `  dlock compare scenarios/pause.dlk fencing=off fencing=on
  dlock compare scenarios/pause.dlk unfenced fenced`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 3 {
				return fmt.Errorf("dlock compare needs a file and two configurations, as in `%s`", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return completeFiles(cmd, args, prefix)
			}
			words := scriptWords(args[:1], runNames)
			for _, n := range append(scriptWords(args[:1], letNames), dsl.SettingNames()...) {
				words = append(words, n+"=")
			}
			return words, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.oneScript(args[0])
			if err != nil || s == nil {
				return err
			}
			return a.compare(cmd.Context(), s, args[1:], run, format)
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "the run that the configurations are about")
	completeRuns(cmd, "run")
	addFormat(cmd, &format, "text", "json", "markdown")
	return cmd
}

// oneScript reads a script where a folder is no use; nil if its faults have been shown.
func (a *app) oneScript(name string) (*source, error) {
	if isDir(name) {
		return nil, fmt.Errorf("%s is a folder; this command takes one file", shown(name))
	}
	return a.script(name), nil
}

func (a *app) compare(ctx context.Context, s *source, configurations []string, run, format string) error {
	if len(configurations) > maxConfigurations {
		return fmt.Errorf("at most %d configurations can be compared", maxConfigurations)
	}
	base, err := baseRun(s.script, run)
	if err != nil {
		return err
	}
	var runs []*study.Run
	file := &study.File{Script: s.script}
	for _, text := range configurations {
		name, over, err := configuration(s.script, base, text)
		if err != nil {
			return err
		}
		got, err := a.study(ctx, s, over, name)
		if err != nil || got == nil {
			return err
		}
		r := got.Items[0].Run
		if r == nil {
			return fmt.Errorf("%q is a sweep; compare takes runs", name[0])
		}
		if r.Inconclusive() {
			a.fail(failf(inconclusive, "%s: a limit was reached at tick %d; what comes after is not known", text, r.Record.Last))
		}
		runs = append(runs, r)
		file.Items = append(file.Items, study.Item{Run: r})
	}
	switch format {
	case "json":
		return report.JSON(a.buffered, []*study.File{file})
	case "markdown":
		return report.CompareMarkdown(a.buffered, runs, configurations, a.options(false))
	}
	return report.Compare(a.buffered, runs, configurations, a.options(false))
}

// baseRun is the run that configurations are about: the named one, or else the first; "" for a file without runs.
func baseRun(s *dsl.Script, run string) (string, error) {
	var names []string
	for _, b := range s.Blocks {
		if b.Kind == dsl.RunBlock {
			names = append(names, b.Name)
		}
	}
	switch {
	case run != "" && !slices.Contains(names, run):
		return "", noRun(run, names)
	case run != "":
		return run, nil
	case len(names) > 0:
		return names[0], nil
	case len(s.Blocks) > 0:
		return "", errors.New("the file has sweeps, but no run to start from")
	}
	return "", nil
}

// configuration reads "fencing=off,servers=3", "fenced" or "fenced,stall=3".
func configuration(s *dsl.Script, base, text string) (only []string, over []compile.Override, err error) {
	names := runNames(s)
	for i, part := range strings.Split(text, ",") {
		if i == 0 && (slices.Contains(names, part) || !strings.Contains(part, "=")) {
			if !slices.Contains(names, part) {
				return nil, nil, noRun(part, names)
			}
			base = part
			continue
		}
		o, err := override(part)
		if err != nil {
			return nil, nil, err
		}
		over = append(over, o)
	}
	if base != "" {
		only = []string{base}
	}
	return only, over, nil
}

func (a *app) matrixCommand() *cobra.Command {
	var over, with []string
	var causes bool
	var format string
	cmd := &cobra.Command{
		Use:   "matrix [FILE…] --over NAME=A,B,…",
		Short: "Run many schedules under many configurations, as a table",
		Long: `Run the first run of every script under every configuration and print a table: scripts by configurations. With several
--over, every combination is a configuration. Each --with adds one more: as-is, or settings as in fencing=on,fence-at=read.
There guard=version and guard=lock let the resource look at every write when it lands. Without a file it takes the folder
scenarios, or this folder.`,
		Example: `  dlock matrix scenarios --over fencing=off,on,strict
  dlock matrix scenarios --causes --with as-is --with fencing=on --with guard=version`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(over) == 0 && len(with) == 0 {
				return fmt.Errorf("dlock matrix needs --over or --with, as in `%s`", firstExample(cmd))
			}
			columns, err := columnsOf(over, with)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = defaultDir()
			}
			found, err := a.someInputs(args)
			if err != nil {
				return err
			}
			grid, err := a.matrix(cmd.Context(), found, columns, causes)
			if err != nil {
				return err
			}
			if format == "markdown" {
				return report.MatrixMarkdown(a.buffered, grid, a.options(false))
			}
			return report.Matrix(a.buffered, grid, a.options(false))
		},
	}
	cmd.Flags().StringArrayVar(&over, "over", nil, "a setting or let and its values, as in fencing=off,on or lease=5..20:5; may be repeated")
	cmd.Flags().StringArrayVar(&with, "with", nil, "one configuration, as in fencing=on,fence-at=read; may be repeated")
	cmd.Flags().BoolVar(&causes, "causes", false, "a table of where the fault lies in the first configuration, and which others undo the harm")
	completeAxes(cmd)
	addFormat(cmd, &format, "text", "markdown")
	return cmd
}

// asIs names the configuration that changes nothing.
const asIs = "as-is"

// columnsOf gives the configurations of a table: every combination of the axes, and then each single one.
func columnsOf(axes, single []string) ([][]compile.Override, error) {
	var all [][]compile.Override
	if len(axes) > 0 {
		var err error
		if all, err = configurations(axes); err != nil {
			return nil, err
		}
	}
	for _, text := range single {
		var column []compile.Override
		if text != asIs {
			for part := range strings.SplitSeq(text, ",") {
				o, err := override(part)
				if err != nil {
					return nil, fmt.Errorf("--with %w", err)
				}
				if o.Name == guardName && o.Value != "version" && o.Value != "lock" {
					return nil, fmt.Errorf("--with guard must be version or lock, not %q", o.Value)
				}
				column = append(column, o)
			}
		}
		all = append(all, column)
	}
	if len(all) > maxConfigurations {
		return nil, fmt.Errorf("more than %d configurations are no table to read", maxConfigurations)
	}
	return all, nil
}

// guardName is what --with calls a guard on every write. It is no setting: a guard stands on a line.
const guardName = "guard"

// guarded takes the guards out of a configuration and puts them on the script.
func guarded(s *dsl.Script, over []compile.Override) (*dsl.Script, []compile.Override) {
	var rest []compile.Override
	version, lock := false, false
	for _, o := range over {
		switch {
		case o.Name != guardName:
			rest = append(rest, o)
		case o.Value == "lock":
			lock = true
		default:
			version = true
		}
	}
	if version || lock {
		s = study.Guarded(s, version, lock)
	}
	return s, rest
}

// configurations makes every combination of the axes; the first one varies slowest.
func configurations(axes []string) ([][]compile.Override, error) {
	all := [][]compile.Override{nil}
	for _, text := range axes {
		axis, err := study.ParseAxis(text)
		if err != nil {
			return nil, fmt.Errorf("--over %w", err)
		}
		var values []string
		for _, it := range axis.Items {
			if it.Word != "" {
				values = append(values, it.Word)
				continue
			}
			if it.Lo > it.Hi {
				return nil, fmt.Errorf("--over the range %d..%d is empty", it.Lo, it.Hi)
			}
			// An unsigned distance cannot overflow, however far apart the bounds lie.
			for n, last := uint64(0), (uint64(it.Hi)-uint64(it.Lo))/uint64(axis.Step); n <= last && len(values) <= maxConfigurations; n++ {
				values = append(values, strconv.FormatInt(it.Lo+int64(n*uint64(axis.Step)), 10))
			}
		}
		var more [][]compile.Override
		for _, before := range all {
			for _, v := range values {
				more = append(more, append(slices.Clone(before), compile.Override{Name: axis.Name, Value: v}))
			}
		}
		if all = more; len(all) > maxConfigurations {
			return nil, fmt.Errorf("more than %d configurations are no table to read; `dlock sweep` takes more", maxConfigurations)
		}
	}
	return all, nil
}

func (a *app) matrix(ctx context.Context, found []input, columns [][]compile.Override, causes bool) (*report.Grid, error) {
	grid := &report.Grid{Causes: causes}
	for _, over := range columns {
		var parts []string
		for _, o := range over {
			parts = append(parts, o.Name+"="+o.Value)
		}
		if len(parts) == 0 {
			parts = []string{asIs}
		}
		grid.Columns = append(grid.Columns, strings.Join(parts, ","))
	}
	bar := a.progress("runs")
	defer bar.stop()
	for i, in := range found {
		s := a.script(in.name)
		if s == nil {
			continue
		}
		row := report.GridRow{Name: s.name, Title: s.script.Title}
		var only []string
		base, err := baseRun(s.script, "")
		if base != "" {
			only = []string{base}
		}
		for j, over := range columns {
			cell := report.GridCell{Note: "no run"}
			if err == nil {
				if cell, err = a.cell(ctx, s, over, only); err != nil {
					return nil, err
				}
			}
			row.Cells = append(row.Cells, cell)
			bar.at(int64(i*len(columns)+j+1), int64(len(found)*len(columns)))
		}
		grid.Rows = append(grid.Rows, row)
	}
	return grid, nil
}

// cell runs one script under one configuration. A configuration that the script has no place for is noted in the table:
// not every script has every let.
func (a *app) cell(ctx context.Context, s *source, over []compile.Override, only []string) (report.GridCell, error) {
	script, over := guarded(s.script, over)
	st, ds := study.New(script, over)
	if st == nil {
		for _, d := range ds {
			if d.Severity == dsl.Error {
				return report.GridCell{Note: d.Summary}, nil
			}
		}
	}
	file, err := st.Do(ctx, study.Options{Runs: only})
	if err != nil {
		return report.GridCell{}, err
	}
	r := file.Items[0].Run
	if r.Inconclusive() {
		a.end(inconclusive)
		return report.GridCell{Note: "a limit was reached"}, nil
	}
	return report.GridCell{Final: r.Record.Value(r.Record.Final), Counts: r.Audit.Counts, Fault: r.Audit.Fault}, nil
}
