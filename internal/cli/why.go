package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/report"
	"dlock/internal/study"
	"dlock/internal/why"
)

func (a *app) whyCommand() *cobra.Command {
	var over overrides
	var run, law, format string
	cmd := &cobra.Command{
		Use:   "why FILE",
		Short: "Tell what led to each broken law, and which rule would have to differ",
		Long: `For each law that a run breaks: the chain of events that led to it, with ticks and source lines, and what the same
schedule does when one rule of the world differs. It reruns the schedule once for each such change and says only what
the reruns showed.`,
		Example: `  dlock why scenarios/pause.dlk
  dlock why scenarios/pause.dlk --run unfenced --law stale-write`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("dlock why needs one file, as in `%s`", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := over.list(cmd)
			if err != nil {
				return err
			}
			var laws []audit.Law
			if cmd.Flags().Changed("law") {
				laws, err = lawsNamed(law)
			}
			if err != nil {
				return err
			}
			s, err := a.oneScript(args[0])
			if err != nil || s == nil {
				return err
			}
			var only []string
			if run != "" {
				if only, _, err = configuration(s.script, "", run); err != nil {
					return err
				}
			}
			file, err := a.study(cmd.Context(), s, list, only)
			if err != nil || file == nil {
				return err
			}
			if err := a.passed(s, file); err != nil {
				return err
			}
			runs, err := a.explain(cmd.Context(), file, laws)
			if err != nil {
				return err
			}
			switch format {
			case "json":
				return report.WhyJSON(a.buffered, s.script, runs)
			case "markdown":
				return report.WhyMarkdown(a.buffered, s.script, runs)
			}
			return report.Why(a.buffered, s.script, runs, a.options(false))
		},
	}
	over.register(cmd)
	cmd.Flags().StringVar(&run, "run", "", "only the run of this name")
	cmd.Flags().StringVar(&law, "law", "", "only this law")
	completeRuns(cmd)
	complete(cmd, "law", lawWords()...)
	addFormat(cmd, &format, "text", "json", "markdown")
	return cmd
}

// explain answers for the runs of a file; its sweeps are not about single runs.
func (a *app) explain(ctx context.Context, file *study.File, laws []audit.Law) ([]report.Explained, error) {
	var runs []report.Explained
	for _, it := range file.Items {
		if it.Run == nil {
			continue
		}
		if it.Run.Inconclusive() {
			a.fail(failf(inconclusive, "%s: a limit was reached at tick %d; what comes after is not known",
				where(file.Script.File, it.Run.Name), it.Run.Record.Last))
		}
		answers, err := why.Explain(ctx, it.Run, laws)
		if err != nil {
			return nil, err
		}
		runs = append(runs, report.Explained{Run: it.Run, Answers: answers, Only: laws})
	}
	if len(runs) == 0 {
		return nil, errors.New("there is no run to explain; dlock why is about runs, not about sweeps")
	}
	return runs, nil
}

func lawWords() []string {
	var words []string
	for l := range audit.NumLaws {
		words = append(words, l.String())
	}
	return words
}

func lawsNamed(word string) ([]audit.Law, error) {
	for l := range audit.NumLaws {
		if l.String() == word {
			return []audit.Law{l}, nil
		}
	}
	if n := dsl.Nearest(word, lawWords()); n != "" {
		return nil, fmt.Errorf("there is no law %q; did you mean %q?", word, n)
	}
	return nil, fmt.Errorf("there is no law %q; the laws are %s", word, strings.Join(lawWords(), ", "))
}
