// Package cli is the command line: flags, files, streams, colours and exit codes. It knows no rule of the language, of
// the world or of a law; it hands files to study, what comes back to report, and transcripts to golden.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dlock/dsl"
	"dlock/internal/study"
)

// status is how a command ended. The numbers are the exit codes; where several files end differently, the one that
// weighs most counts.
type status int

const (
	ok           status = 0 // as claimed
	refuted      status = 1 // a claim failed or is vacuous, a golden differs, a format check fails, nothing to test
	unusable     status = 2 // usage, an unreadable file, a script with errors
	inconclusive status = 3 // a limit was reached, or it was interrupted
	broken       status = 4 // a fault of dlock's own
)

// weight orders statuses: what is known for certain outweighs what could not be found out.
func (s status) weight() int {
	return slices.Index([]status{ok, inconclusive, refuted, unusable, broken}, s)
}

// Streams is the process as the command line sees it. In, Out and Err that are files are asked whether they are terminals.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	Env func(name string) (string, bool) // os.LookupEnv
}

// app is one invocation.
type app struct {
	in       io.Reader
	out, err *sink
	buffered *bufio.Writer // over out
	env      func(string) (string, bool)
	outFile  *os.File // nil if standard output is no file
	errFile  *os.File
	colour   string // --color

	mu    sync.Mutex
	worst status
}

// Main runs one command line, without the program's name, and gives the exit code. It writes to the streams only, and
// never panics: a fault of dlock's own is told in a few lines and is exit code 4.
func Main(args []string, s Streams) (code int) {
	a := newApp(s)
	defer func() {
		if fault := recover(); fault != nil {
			a.blame(fault, debug.Stack())
		}
		code = int(a.close())
	}()
	// Whoever reads the output may leave before its end (`dlock run … | head`): that is no fault, and must not kill the
	// process between two renames.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt kills
	quiet := a.answerInterrupt(ctx)
	defer quiet()

	root := a.root()
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		a.fail(err)
	}
	if ctx.Err() != nil && a.worst.weight() < inconclusive.weight() {
		a.end(inconclusive)
	}
	return int(a.worst)
}

func newApp(s Streams) *app {
	a := &app{in: s.In, out: &sink{w: s.Out}, err: &sink{w: s.Err}, env: s.Env}
	a.buffered = bufio.NewWriterSize(a.out, 1<<16)
	a.outFile, _ = s.Out.(*os.File)
	a.errFile, _ = s.Err.(*os.File)
	return a
}

// patience is how long an interrupted command may go on without a word.
const patience = 300 * time.Millisecond

// answerInterrupt says that an interrupt was heard, where the command does not end at once: a large file is read to its
// end, and what was begun to be written is written. It ends with what it returns.
func (a *app) answerInterrupt(ctx context.Context) (quiet func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-quit:
			return
		case <-ctx.Done():
		}
		select {
		case <-quit:
		case <-time.After(patience):
			fmt.Fprintf(a.err, "dlock: stopping; a second interrupt ends it at once\n")
		}
	}()
	return func() {
		close(quit)
		<-gone
	}
}

// end notes how a part of the command ended.
func (a *app) end(s status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.weight() > a.worst.weight() {
		a.worst = s
	}
}

// close flushes the output and tells what could not be written.
func (a *app) close() status {
	a.flush()
	if err := a.out.err; err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, io.ErrClosedPipe) {
		a.fail(fmt.Errorf("cannot write the output: %w", err))
	}
	return a.worst
}

// flush is called before anything goes to standard error, so that the two keep their order on a terminal.
func (a *app) flush() {
	if err := a.buffered.Flush(); err != nil {
		a.buffered.Reset(io.Discard)
	}
}

// ended is an error that also says how the command ended; any other error is unusable.
type ended struct {
	status status
	err    error
}

func (e ended) Error() string { return e.err.Error() }
func (e ended) Unwrap() error { return e.err }

// failf makes an error that ends with the given status.
func failf(s status, format string, args ...any) error { return ended{s, fmt.Errorf(format, args...)} }

// fail prints an error, the one place where that is done, and notes its status.
func (a *app) fail(err error) {
	var e ended
	var fault *study.FaultError
	switch {
	case errors.As(err, &e):
		a.end(e.status)
	case errors.As(err, &fault):
		a.blame(fault.Value, fault.Stack)
		return
	case errors.Is(err, context.Canceled):
		a.end(inconclusive)
		err = errors.New("interrupted")
	default:
		a.end(unusable)
	}
	a.flush()
	fmt.Fprintf(a.err, "dlock: %s\n", printable(message(err)))
}

// message words an error; one of the operating system's is said shortly.
func message(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) && errors.Is(err, p) && err.Error() == p.Error() {
		return fmt.Sprintf("%s: %v", shown(p.Path), p.Err)
	}
	return err.Error()
}

// blame reports a panic.
func (a *app) blame(fault any, stack []byte) {
	a.end(broken)
	a.flush()
	fmt.Fprintf(a.err, "dlock: a fault of dlock's own, not of your script: %s\n"+
		"Please report it together with the script and this command line.\n\n%s", printable(fmt.Sprint(fault)), stack)
}

// shown gives a name from outside as it may be printed: control characters are spelled out.
func shown(name string) string {
	if q := strconv.Quote(name); strings.Contains(q, `\`) {
		return q[1 : len(q)-1]
	}
	return name
}

// printable spells out the control characters of a message that may hold text from outside.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.ContainsFunc(l, func(r rune) bool { return !strconv.IsPrint(r) && r != '\t' }) {
			q := strconv.Quote(l)
			lines[i] = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
		}
	}
	return strings.Join(lines, "\n")
}

// sink is a stream that swallows everything after its first error, so that printing needs no checks; the error is told
// at the end.
type sink struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		_, s.err = s.w.Write(p)
	}
	return len(p), nil
}

// printf writes to standard output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.buffered, format, args...) }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "dlock",
		Short: "Run, judge and test schedules of distributed locks",
		Long: `dlock runs schedules of distributed locks, written in the .dlk language, on a deterministic world: lock
servers with leases, a quorum, fencing tokens, clients that pause and crash, and the resource that all of it
is for. It judges each run by its laws and checks what the schedule claims.

A file "-" is standard input; a folder means every .dlk below it.`,
		Example: `  dlock run scenarios/pause.dlk
  dlock compare scenarios/pause.dlk fencing=off fencing=on
  dlock test`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fmt.Errorf("which command?\n\n%s", strings.TrimRight(cmd.UsageString(), "\n"))
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.buffered)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagError)
	a.colour = "auto"
	root.PersistentFlags().Var(&choice{&a.colour, []string{"auto", "always", "never"}}, "color", "colour the output: auto, always or never")
	complete(root, "color", "auto", "always", "never")
	root.AddCommand(a.runCommand(), a.checkCommand(), a.fmtCommand(), a.testCommand(), a.compareCommand(), a.sweepCommand(), a.exploreCommand(),
		a.matrixCommand(), a.whyCommand(), a.marginCommand(), a.shrinkCommand(), a.explainCommand(), a.listCommand(), a.newCommand(), a.versionCommand())
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" { // cobra's own, which answers anything else than a shell with its help and success
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(*cobra.Command, []string) error {
				return errors.New("dlock completion needs a shell: bash, zsh, fish or powershell")
			}
		}
	}
	return root
}

// knownCommand is reached with an argument only where it names no command.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "`dlock help` lists the commands"
	if strings.HasSuffix(args[0], ".dlk") {
		hint = "did you mean `dlock run " + args[0] + "`?"
	} else if n := dsl.Nearest(args[0], commandNames(root)); n != "" {
		hint = "did you mean `dlock " + n + "`?"
	}
	return fmt.Errorf("there is no command %q; %s", args[0], hint)
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// flagError adds the nearest flag to an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("`%s --help` lists the flags", cmd.CommandPath())
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if n := dsl.Nearest(unknown.GetSpecifiedName(), names); n != "" {
			hint = "did you mean --" + n + "?"
		}
	}
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	switch {
	case errors.As(err, &invalid) && errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("--%s cannot be %s: it is too large", invalid.GetFlag().Name, invalid.GetValue())
	case errors.As(err, &invalid) && errors.As(err, &number):
		return fmt.Errorf("--%s must be a number, not %q", invalid.GetFlag().Name, invalid.GetValue())
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s cannot be %q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// helpCommand is cobra's, but for an unknown topic, which is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Tell more about a command",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return commandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return knownCommand(cmd.Root(), args)
			}
			return about.Help()
		},
	}
}

// choice is a flag that is one of a few words.
type choice struct {
	value *string
	words []string
}

// String gives the word.
func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

// Set takes one of the words.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return errors.New("it must be " + either(c.words))
	}
	*c.value = s
	return nil
}

// Type names the flag's kind in the help.
func (c *choice) Type() string { return "word" }

// either lists words as in "a, b or c".
func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
