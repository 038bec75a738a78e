package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/margin"
	"dlock/internal/report"
)

func (a *app) marginCommand() *cobra.Command {
	var over overrides
	var run, format string
	cmd := &cobra.Command{
		Use:   "margin FILE",
		Short: "Tell by how many ticks each verdict of a run could have gone the other way",
		Long: fmt.Sprintf(`For each law of safety, each other law that is broken, the final value and each write of a run: the smallest shift
of one number of the schedule that flips the verdict. One number is moved at a time, by up to %d ticks either way; a let
counts as one number wherever it is used.

Exit code 3 if a limit was reached before that.`, margin.MaxShift),
		Example: `  dlock margin scenarios/pause.dlk
  dlock margin scenarios/pause.dlk --run fenced --format json`,
		Args:              oneFile,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := over.list(cmd)
			if err != nil {
				return err
			}
			s, err := a.oneScript(args[0])
			if err != nil || s == nil {
				return err
			}
			return a.margin(cmd.Context(), s, list, run, format)
		},
	}
	over.register(cmd)
	cmd.Flags().StringVar(&run, "run", "", "only the run of this name")
	addFormat(cmd, &format, "text", "json")
	completeRuns(cmd)
	return cmd
}

// oneFile is cobra's check of arguments where exactly one file is needed.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s needs one file, as in `%s`", cmd.CommandPath(), firstExample(cmd))
	}
	return nil
}

func (a *app) margin(ctx context.Context, s *source, over []compile.Override, run, format string) error {
	if err := errors.Join(onlyRun(s.script, over, run), refuseOpen(s, over, run)); err != nil {
		return err
	}
	bar := a.progress("shifts")
	defer bar.stop()
	f, ds := margin.Of(ctx, s.name, s.text, margin.Options{Run: run, Over: over, Progress: bar.at})
	bar.stop()
	if !a.diagnose(s, ds) || f == nil {
		return nil
	}
	write := func() error { return report.Margins(a.buffered, f, a.options(false)) }
	if format == "json" {
		write = func() error { return report.MarginsJSON(a.buffered, f) }
	}
	if err := write(); err != nil {
		return err
	}
	for _, r := range f.Runs {
		switch {
		case !r.Short():
		case r.Limit != engine.NoLimit:
			a.fail(failf(inconclusive, "%s: the run reaches a limit, so that its verdicts are not known", where(s.name, r.Name)))
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			a.fail(failf(inconclusive, "%s: a limit was reached; shifts of more than %d ticks were not tried", where(s.name, r.Name), r.Reach))
		}
	}
	return nil
}

// onlyRun checks the overrides, and the name of a run, of a command that knows runs alone.
func onlyRun(s *dsl.Script, over []compile.Override, run string) error {
	if err := knownNames(s, over); err != nil || run == "" {
		return err
	}
	var names []string
	for _, b := range s.Blocks {
		if b.Kind != dsl.SweepBlock {
			names = append(names, b.Name)
		} else if b.Name == run {
			return fmt.Errorf("%q is no run but one of the file's sweeps; name a run of the file, or leave --run out", run)
		}
	}
	if !slices.Contains(names, run) {
		return noRun(run, names)
	}
	return nil
}
