package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
			words, how := assignments(args[:1], prefix)
			if !strings.ContainsAny(prefix, "=,") {
				words = append(scriptWords(args[:1], runNames), words...)
			}
			return words, how
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
	completeRuns(cmd)
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
		if err := a.passed(s, got); err != nil {
			return err
		}
		r := got.Items[0].Run
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

// baseRun is the run that configurations are about: the named one, else the first, else the first explore block, which a
// configuration may close; "" for a file without either.
func baseRun(s *dsl.Script, run string) (string, error) {
	var names, families []string
	for _, b := range s.Blocks {
		switch b.Kind {
		case dsl.RunBlock:
			names = append(names, b.Name)
		case dsl.ExploreBlock:
			families = append(families, b.Name)
		case dsl.SweepBlock:
		}
	}
	names = append(names, families...)
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
	var names, sweeps []string
	for _, b := range s.Blocks {
		if b.Kind == dsl.SweepBlock {
			sweeps = append(sweeps, b.Name)
		} else {
			names = append(names, b.Name)
		}
	}
	for i, part := range strings.Split(text, ",") {
		if i == 0 && (slices.Contains(names, part) || !strings.Contains(part, "=")) {
			switch {
			case slices.Contains(sweeps, part):
				return nil, nil, fmt.Errorf("%q is a sweep, and this is about runs", part)
			case !slices.Contains(names, part):
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
	if err := setOnce(over); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", text, err)
	}
	if base != "" {
		only = []string{base}
	}
	return only, over, nil
}
