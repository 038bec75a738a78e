package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"dlock/dsl"
	"dlock/internal/golden"
	"dlock/internal/study"
)

func (a *app) checkCommand() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "check [FILE…]",
		Short: "Find every fault of scripts without running them",
		Long: `Parse and check scripts and everything about their values that can be known without running them, and print each
fault with its place, the reason and what to do. Without a file it checks the folder scenarios, or this folder.

Exit code 2 if there are errors; warnings alone are 0.`,
		Example:           "  dlock check scenarios",
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = defaultDir()
			}
			found, err := a.someInputs(args)
			if err != nil {
				return err
			}
			good := 0
			for _, in := range found {
				s := a.script(in.name)
				if s == nil {
					continue
				}
				_, ds := study.Open(s.script, nil)
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				if a.diagnose(s, ds) {
					good++
				}
			}
			if err := cmd.Context().Err(); err != nil {
				return err // an interrupted check has not seen all
			}
			if !quiet {
				a.printf("%d of %s without errors\n", good, count(len(found), "script"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print faults only")
	return cmd
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (a *app) fmtCommand() *cobra.Command {
	var write, list, diffs, check bool
	cmd := &cobra.Command{
		Use:   "fmt [FILE…]",
		Short: "Format scripts",
		Long: `Print scripts in the one form that the language has. Without a file, standard input is formatted to standard output.
A script with errors in its shape is left as it is.`,
		Example: `  dlock fmt -w scenarios
  dlock fmt --check scenarios`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if check && write {
				return errors.New("--check changes nothing and -w writes; leave one of them out")
			}
			if len(args) == 0 {
				args = []string{stdinName}
			}
			found, err := a.someInputs(args)
			if err != nil {
				return err
			}
			var changed []golden.File
			for _, in := range found {
				if in.name == stdinName && write {
					return fmt.Errorf("-w cannot write to standard input")
				}
				text, err := a.read(in.name)
				if err != nil {
					a.fail(err)
					continue
				}
				s := &source{name: filepath.ToSlash(in.name), text: text}
				out, ds := dsl.Format(text, s.name)
				if err := cmd.Context().Err(); err != nil {
					return err // and no file is written
				}
				if !a.diagnose(s, ds) {
					continue
				}
				same := bytes.Equal(text, out)
				if !same {
					changed = append(changed, golden.File{Path: in.name, Text: out})
				}
				switch {
				case !write && !list && !diffs && !check:
					a.printf("%s", out)
				case same:
				case diffs:
					a.printf("%s", printable(string(diff.Diff(s.name+".orig", text, s.name, out))))
				case list || check:
					a.printf("%s\n", shown(in.name))
				}
			}
			if check && len(changed) > 0 {
				a.end(refuted)
			}
			if write {
				return golden.Replace(changed, nil)
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the result back to the files, each at once or not at all")
	cmd.Flags().BoolVarP(&list, "list", "l", false, "list the files whose form differs")
	cmd.Flags().BoolVarP(&diffs, "diff", "d", false, "print what would change")
	cmd.Flags().BoolVar(&check, "check", false, "list the files whose form differs; exit code 1 if there is one")
	return cmd
}

const starter = `# What this schedule teaches, in a sentence or two.
#
# Check it with "dlock check", run it with "dlock run", record it with "dlock test --update".
scenario "a clean hand-over"

# The world: five lock servers, of which three make a quorum, and a resource that checks no tokens.
servers 5
fencing off

# Names for the numbers that matter; "dlock run FILE --set lease=3" tries others.
let lease = 10

# What each client does, and when. Leases, the lock's tokens and the resource are kept by the world.
at 0 A acquire ttl lease
at 1 A read
at 2 A append "A"
at 3 A release

# B asks again every tick until it is granted; what stands in its block happens after that.
at 1 B acquire ttl lease retry every 1 {
  +1  read
  +2  append "B"
  +3  release
}

# What must be true of every run.
expect no overlap
expect no lost-update

run "unhurried" {
  expect final "AB"
  expect at 2 A holds
}
`

func (a *app) newCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "new NAME",
		Short:   "Write a commented first schedule",
		Long:    "Write NAME.dlk, a small schedule with comments to start from. A file that exists is never touched.",
		Example: "  dlock new scenarios/mine",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" || args[0] == stdinName {
				return fmt.Errorf("dlock new needs one name, as in `dlock new scenarios/mine`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if filepath.Ext(name) != golden.ScriptExt {
				name += golden.ScriptExt
			}
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s exists and is left as it is", shown(name))
			}
			if err != nil {
				return err
			}
			_, err = f.WriteString(starter)
			if err = errors.Join(err, f.Close()); err != nil {
				return errors.Join(err, os.Remove(name))
			}
			a.printf("%s\n", shown(name))
			return nil
		},
	}
}
