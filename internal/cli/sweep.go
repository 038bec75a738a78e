package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/internal/report"
	"dlock/internal/study"
)

// workers gives the number of workers that --jobs asks for.
func workers(jobs int) int {
	if jobs == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return jobs
}

// maxListed is how many cells are listed one by one: about what a spreadsheet takes, and a few hundred MiB of memory.
const maxListed = 1_000_000

// cellList takes the cells of sweeps that are too large for study to keep, for the formats that list every cell.
type cellList struct {
	cells []study.Cell
	full  context.CancelFunc
}

func (l *cellList) add(c study.Cell) {
	if len(l.cells) == maxListed {
		l.full()
		return
	}
	l.cells = append(l.cells, c)
}

// hand gives every sweep of a file its cells, which came in order.
func (l *cellList) hand(file *study.File) {
	rest := l.cells
	for _, it := range file.Items {
		if it.Sweep != nil {
			it.Sweep.Kept, rest = rest[:it.Sweep.Cells], rest[it.Sweep.Cells:]
		}
	}
}

func (a *app) sweepCommand() *cobra.Command {
	var over []string
	var run, format string
	var jobs int
	cmd := &cobra.Command{
		Use:   "sweep FILE [--over NAME=VALUES]…",
		Short: "Run a schedule for every value of its numbers and settings",
		Long: `Without --over, run the sweeps of the file. With --over, sweep what the file does not: the run that --run names, or the
schedule that stands outside all runs. The first --over varies slowest; the file's claims are not about such a sweep.`,
		Example: `  dlock sweep scenarios/pause.dlk
  dlock sweep scenarios/pause.dlk --run unfenced --over lease=1..25 --over stall=2..29:3
  dlock sweep scenarios/pause.dlk --over fencing=off,on --format csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("dlock sweep needs one file, as in `%s`", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if jobs < 0 {
				return errors.New("--jobs must be 0 or more")
			}
			var axes []compile.AxisSpec
			for _, text := range over {
				axis, err := study.ParseAxis(text)
				if err != nil {
					return fmt.Errorf("--over %w", err)
				}
				axes = append(axes, axis)
			}
			s, err := a.oneScript(args[0])
			if err != nil || s == nil {
				return err
			}
			opts := study.Options{Jobs: workers(jobs)}
			listed := format == "csv" || format == "json"
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			list := &cellList{full: cancel}
			if listed {
				opts.Each = list.add
			}
			file, err := a.sweep(ctx, s, axes, run, opts)
			if len(list.cells) == maxListed && err != nil && cmd.Context().Err() == nil {
				return fmt.Errorf("the sweep has more than the %d cells that --format %s lists; take fewer values, or --format text", maxListed, format)
			}
			if err != nil || file == nil {
				return err
			}
			if listed {
				list.hand(file)
			}
			a.judge(s.name, file, false)
			return a.printSweep(file, format)
		},
	}
	cmd.Flags().StringArrayVar(&over, "over", nil, "a let or setting and its values, as in lease=1..25, stall=2..29:3 or fencing=off,on; may be repeated")
	cmd.Flags().StringVar(&run, "run", "", "the sweep to run, or with --over the run to sweep")
	cmd.Flags().IntVar(&jobs, "jobs", 0, "how many cells run at once; 0 is one for each core")
	addFormat(cmd, &format, "text", "json", "csv", "markdown")
	completeRuns(cmd)
	completeAxes(cmd)
	return cmd
}

func (a *app) sweep(ctx context.Context, s *source, axes []compile.AxisSpec, run string, opts study.Options) (*study.File, error) {
	open := study.New
	if len(axes) > 0 {
		open = study.Open // what is left open may be what --over varies
	}
	st, ds := open(s.script, nil)
	if !a.diagnose(s, ds) {
		return nil, nil //nolint:nilnil // the diagnostics have been shown
	}
	bar := a.progress("cells")
	defer bar.stop()
	opts.Progress = bar.at
	if len(axes) > 0 {
		if run != "" {
			if _, err := baseRun(s.script, run); err != nil {
				return nil, err
			}
			opts.Runs = []string{run}
		}
		sw, err := st.Sweep(ctx, axes, opts)
		bar.stop()
		var bad *study.ScriptError
		if errors.As(err, &bad) {
			a.diagnose(s, bad.Diagnostics)
			return nil, nil //nolint:nilnil // the diagnostics have been shown
		}
		if err != nil {
			return nil, err
		}
		return &study.File{Script: s.script, Items: []study.Item{{Sweep: sw}}}, nil
	}
	var names []string
	for _, b := range s.script.Blocks {
		if b.Kind == dsl.SweepBlock {
			names = append(names, b.Name)
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("the file has no sweep; say what to vary with --over, as in --over servers=1,3,5")
	case run == "":
		opts.Runs = names
	case !slices.Contains(names, run):
		return nil, noRun(run, names)
	default:
		opts.Runs = []string{run}
	}
	return st.Do(ctx, opts)
}

func (a *app) printSweep(file *study.File, format string) error {
	files := []*study.File{file}
	switch format {
	case "json":
		return report.SweepJSON(a.buffered, files)
	case "csv":
		return report.SweepCSV(a.buffered, files)
	case "markdown":
		return report.SweepMarkdown(a.buffered, file, a.options(false))
	}
	return report.SweepText(a.buffered, file, a.options(false))
}
