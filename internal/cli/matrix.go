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

func (a *app) matrixCommand() *cobra.Command {
	var over, with []string
	var causes bool
	var format string
	cmd := &cobra.Command{
		Use:   "matrix [FILE…] --over NAME=A,B,…",
		Short: "Run many schedules under many configurations, as a table",
		Long: `Run every run of every script under every configuration and print a table: runs by configurations, in each cell what is
left and which laws are broken. Runs that come out alike share a row. With several --over, every combination is a
configuration. Each --with adds one more: as-is, or settings as in fencing=on,fence-at=read. There guard=version and
guard=lock let the resource look at every write when it lands. Without a file it takes the folder scenarios, or this
folder.`,
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
		if err := setOnce(column); err != nil {
			return nil, fmt.Errorf("--with %s: %w", text, err)
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
		if err := setOnce(append(slices.Clone(all[0]), compile.Override{Name: axis.Name})); err != nil {
			return nil, fmt.Errorf("--over %s: %w", text, err)
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

// maxTried bounds the runs of a table together, so that a large folder under many configurations ends.
const maxTried = 100_000

// rowOf is a script with the run that a row is about.
type rowOf struct {
	s   *source
	run string // "" for a script without blocks
}

// matrix runs every run of every script under every configuration, or the first run alone if it is a table of causes.
// Runs of one script that come out alike in all columns, as those do that differ only in what the columns set, share a row.
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
	var rows []rowOf
	for _, in := range found {
		s := a.script(in.name)
		if s == nil {
			continue
		}
		runs := runsOf(s.script)
		if len(runs) == 0 {
			grid.Without = append(grid.Without, s.name)
		}
		for i, r := range runs {
			if i == 0 || !causes {
				rows = append(rows, rowOf{s, r})
			}
		}
	}
	if len(rows) > maxTried/len(columns) {
		return nil, fmt.Errorf("%d runs under %d configurations are no table to read", len(rows), len(columns))
	}
	bar := a.progress("runs")
	defer bar.stop()
	useless := make([]error, len(columns)) // why no row so far takes a configuration
	taken := make([]bool, len(columns))
	for i, r := range rows {
		row := report.GridRow{Name: r.s.name, Title: r.s.script.Title}
		if r.run != "" {
			row.Runs = []string{r.run}
		}
		for j, over := range columns {
			cell, err := a.cell(ctx, r.s, over, row.Runs)
			var no *noPlaceError
			switch {
			case errors.As(err, &no):
				useless[j] = fmt.Errorf("no schedule takes %s: %w", grid.Columns[j], no)
			case err != nil:
				return nil, err
			default:
				taken[j] = true
			}
			row.Cells = append(row.Cells, cell)
			bar.at(int64(i*len(columns)+j+1), int64(len(rows)*len(columns)))
		}
		alike := slices.IndexFunc(grid.Rows, func(o report.GridRow) bool { return o.Name == row.Name && slices.Equal(o.Cells, row.Cells) })
		if alike >= 0 {
			grid.Rows[alike].Runs = append(grid.Rows[alike].Runs, row.Runs...)
			continue
		}
		grid.Rows = append(grid.Rows, row)
	}
	for j, err := range useless {
		if err != nil && !taken[j] {
			return nil, err
		}
	}
	return grid, nil
}

// noPlaceError says why a script cannot be run under a configuration.
type noPlaceError struct{ summary string }

// Error gives the summary of the first fault.
func (e *noPlaceError) Error() string { return e.summary }

// runsOf lists the runs of a script, one without a name if it has no blocks.
func runsOf(s *dsl.Script) []string {
	if len(s.Blocks) == 0 {
		return []string{""}
	}
	var names []string
	for _, b := range s.Blocks {
		if b.Kind == dsl.RunBlock {
			names = append(names, b.Name)
		}
	}
	return names
}

// cell runs one script under one configuration. A configuration that the script has no place for is noted in the table,
// since not every script has every let, and is a noPlaceError too.
func (a *app) cell(ctx context.Context, s *source, over []compile.Override, only []string) (report.GridCell, error) {
	script, over := guarded(s.script, over)
	st, ds := study.New(script, over)
	if st == nil {
		for _, d := range ds {
			if d.Severity == dsl.Error {
				return report.GridCell{Note: d.Summary}, &noPlaceError{d.Summary}
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
