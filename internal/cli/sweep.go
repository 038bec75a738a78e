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
			if jobs < 1 {
				return errors.New("--jobs must be 1 or more")
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
			file, err := a.sweep(cmd.Context(), s, axes, run, jobs)
			if err != nil || file == nil {
				return err
			}
			a.judge(s.name, file, false)
			return a.printSweep(file, format)
		},
	}
	cmd.Flags().StringArrayVar(&over, "over", nil, "a let or setting and its values, as in lease=1..25, stall=2..29:3 or fencing=off,on; may be repeated")
	cmd.Flags().StringVar(&run, "run", "", "the sweep to run, or with --over the run to sweep")
	cmd.Flags().IntVar(&jobs, "jobs", runtime.GOMAXPROCS(0), "how many cells run at once")
	addFormat(cmd, &format, "text", "json", "csv", "markdown")
	completeRuns(cmd, "run")
	completeAxes(cmd)
	return cmd
}

func (a *app) sweep(ctx context.Context, s *source, axes []compile.AxisSpec, run string, jobs int) (*study.File, error) {
	st, ds := study.New(s.script, nil)
	if !a.diagnose(s, ds) {
		return nil, nil //nolint:nilnil // the diagnostics have been shown
	}
	bar := a.progress("cells")
	defer bar.stop()
	opts := study.Options{Jobs: jobs, Progress: bar.at}
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
