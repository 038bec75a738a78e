package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/golden"
	"dlock/internal/shrink"
)

func (a *app) shrinkCommand() *cobra.Command {
	var over overrides
	var keep, run, out string
	cmd := &cobra.Command{
		Use:   "shrink FILE --keep LAW[,LAW…]",
		Short: "Make a schedule that breaks a law as small as it can be",
		Long: fmt.Sprintf(`Take everything out of a run that its breach of a law does not need: statements, blocks, words, lets; then make the
numbers smaller. What is left is printed as a file of its own, with claims that pin what happens in it. With one statement
less, one stretch of words less or one number smaller by one, the laws to keep would no longer all be broken.

Without --run the first run that breaks the laws is taken. Exit code 1 if none does; 3 if %d candidates were not enough, and
then what is printed breaks the laws, but something smaller may too.`, shrink.MaxCandidates),
		Example: `  dlock shrink scenarios/pause.dlk --keep stale-write
  dlock shrink scenarios/pause.dlk --keep stale-write,double-belief -o small.dlk`,
		Args:              oneFile,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := over.list(cmd)
			if err != nil {
				return err
			}
			laws, err := lawList(keep)
			if err != nil {
				return err
			}
			if out != stdinName {
				if err := checkTargets([]target{{"-o", out}}, args); err != nil {
					return err
				}
			}
			s, err := a.oneScript(args[0])
			if err != nil || s == nil {
				return err
			}
			return a.shrink(cmd.Context(), s, shrink.Options{Keep: laws, Run: run, Over: list}, out)
		},
	}
	over.register(cmd)
	cmd.Flags().StringVar(&keep, "keep", "", "the law that must stay broken; several with commas between them")
	cmd.Flags().StringVar(&run, "run", "", "the run to shrink")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the result to this file")
	complete(cmd, "keep", dsl.LawWords()...)
	completeRuns(cmd)
	return cmd
}

// lawList reads laws with commas between them.
func lawList(text string) ([]audit.Law, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("--keep says which law must stay broken, as in --keep stale-write")
	}
	var laws []audit.Law
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		law := audit.NumLaws
		for l := range audit.NumLaws {
			if l.String() == word {
				law = l
			}
		}
		if law == audit.NumLaws {
			hint := "the laws are " + either(dsl.LawWords())
			if n := dsl.Nearest(word, dsl.LawWords()); n != "" {
				hint = fmt.Sprintf("did you mean %q?", n)
			}
			return nil, fmt.Errorf("there is no law %q; %s", word, hint)
		}
		laws = append(laws, law)
	}
	return laws, nil
}

func (a *app) shrink(ctx context.Context, s *source, o shrink.Options, out string) error {
	if err := errors.Join(onlyRun(s.script, o.Over, o.Run), refuseOpen(s, o.Over, o.Run)); err != nil {
		return err
	}
	bar := a.progress("candidates at most")
	defer bar.stop()
	o.Progress = bar.at
	r, err := shrink.Shrink(ctx, s.name, s.text, o)
	bar.stop()
	var unbroken *shrink.UnbrokenError
	var limit *shrink.LimitError
	var bad *shrink.ScriptError
	switch {
	case errors.As(err, &unbroken):
		return failf(refuted, "%s", notBroken(s.name, o.Keep, unbroken))
	case errors.As(err, &limit):
		return failf(inconclusive, "%s: the run reaches a limit, so that nobody knows what it breaks", where(s.name, limit.Run))
	case errors.As(err, &bad):
		a.diagnose(s, bad.Diagnostics)
		return nil
	case err != nil:
		return err
	}
	if out != "" && out != stdinName {
		if err := golden.Replace([]golden.File{{Path: out, Text: r.Text}}, nil); err != nil {
			return err
		}
	} else {
		a.printf("%s", r.Text)
	}
	a.flush()
	fmt.Fprintf(a.err, "%s: %d of %d statements left, %d candidates tried\n", where(s.name, r.Run), r.After, r.Before, r.Tried)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.Short:
		return failf(inconclusive, "%s: a limit was reached; this breaks %s, but something smaller may too", where(s.name, r.Run), lawNames(o.Keep))
	}
	return nil
}

// notBroken says that there is nothing to shrink.
func notBroken(name string, keep []audit.Law, e *shrink.UnbrokenError) string {
	if len(e.Runs) == 1 {
		return fmt.Sprintf("%s does not break %s, so there is nothing to shrink", where(name, e.Runs[0]), lawNames(e.Missed))
	}
	both := ""
	if len(keep) > 1 {
		both = " all of"
	}
	return fmt.Sprintf("%s: none of its %d runs breaks%s %s, so there is nothing to shrink", shown(name), len(e.Runs), both, lawNames(keep))
}

func lawNames(laws []audit.Law) string {
	words := make([]string, len(laws))
	for i, l := range laws {
		words[i] = l.String()
	}
	return strings.Join(words, ", ")
}
