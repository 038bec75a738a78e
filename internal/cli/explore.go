package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dlock/audit"
	"dlock/dsl/compile"
	"dlock/internal/golden"
	"dlock/internal/report"
	"dlock/internal/study"
)

// checkpointEvery is how often a search writes down how far it has come: losing so much to a crash hurts nobody.
const checkpointEvery = 10 * time.Second

// exploreFlags are those of dlock explore.
type exploreFlags struct {
	over       overrides
	law, run   string
	format     string
	emit       string
	export     string
	jobs       int
	limit      int64
	brute      bool
	first      bool
	shard, out string
	split      string
	merge      []string
	resume     string
	checkpoint string
}

func (a *app) exploreCommand() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore FILE…",
		Short: "Try every member of a family of schedules, and find the smallest that does harm",
		Long: `A schedule with holes ("let stall = any 0..30", "maybe at 5 s2 crash", "ties any") is a family. Explore decides every member
of it: it counts in how many each law is broken, lists what can be left at the end, and shows the smallest member that
breaks the gravest law, or the laws that --law names. --emit writes that member as a schedule of its own.

A file without explore blocks whose schedule leaves something open is explored as one family.

With --shard I/N and --out, N processes on any machines do a part each; --merge puts their parts together and prints what
one process would have printed. --checkpoint writes down from time to time how far the search has come, and --resume goes
on from there. --first stops at the first member that breaks a law, which takes milliseconds where there are many.

Exit code 1 if a claim fails or is vacuous, or there is no member for --emit to write; 3 if the search ended early, at the limit, at
an interrupt, at what --first found, or because parts are missing, and what it knows refutes no claim.`,
		Example: `  dlock explore scenarios/explore/every-pause.dlk
  dlock explore scenarios/explore/every-pause.dlk --law stale-write --emit smallest.dlk
  dlock explore FILE --shard 2/8 --out part-2.json
  dlock explore FILE --merge part-*.json`,
		Args:              files,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.explore(cmd, args, f)
		},
	}
	f.over.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.law, "law", "", "show the smallest member that breaks these laws, as in stale-write,lost-update")
	flags.StringVar(&f.run, "run", "", "only the explore block of this name")
	flags.StringVar(&f.emit, "emit", "", "write the smallest member that is shown first to this file, as a schedule that runs")
	flags.StringVar(&f.export, "export", "", "do not search: write the family in another tool's language to standard output; promela is for Spin")
	flags.IntVar(&f.jobs, "jobs", 0, "how many slices are searched at once; 0 is one for each core")
	flags.Int64Var(&f.limit, "limit", 0, "how many states a slice may keep, or how many members may be run one by one; 0 is the default")
	flags.BoolVar(&f.brute, "brute", false, "run every member one by one instead of counting")
	flags.BoolVar(&f.first, "first", false, "stop as soon as a member is found that breaks a law: of --law, else of safety")
	flags.StringVar(&f.shard, "shard", "", "do only the I-th of N parts, as in 2/8")
	flags.StringVar(&f.out, "out", "", "where --shard writes its part")
	flags.StringVar(&f.split, "split", "", "try these holes value by value, so that there are slices to share, as in stall,b")
	flags.StringArrayVar(&f.merge, "merge", nil, "put the parts of all shards together; takes several files")
	flags.StringVar(&f.resume, "resume", "", "go on from what --checkpoint or --out wrote")
	flags.StringVar(&f.checkpoint, "checkpoint", "", "write to this file now and then, and at an interrupt, how far the search has come")
	completeRuns(cmd)
	complete(cmd, "law", lawWords()...)
	complete(cmd, "export", "promela")
	addFormat(cmd, &f.format, "text", "json", "markdown")
	return cmd
}

// exploration is what the flags come to.
type exploration struct {
	exploreFlags
	list  []compile.Override
	split []string
	laws  []audit.Law
	opts  study.Options
	files []*study.File
	wit   *study.Witness // the first that is shown
}

func (a *app) explore(cmd *cobra.Command, args []string, f exploreFlags) error {
	x := &exploration{exploreFlags: f}
	args, err := x.usage(cmd, args)
	if err != nil {
		return err
	}
	if f.export != "" {
		return a.exportPromela(args, x)
	}
	found, err := a.someInputs(args)
	if err != nil {
		return err
	}
	if len(found) > 1 && (f.shard != "" || f.merge != nil || f.resume != "" || f.checkpoint != "" || f.emit != "") {
		return errors.New("--emit, --shard, --merge, --resume and --checkpoint are for one file at a time")
	}
	var scripts []string
	for _, in := range found {
		scripts = append(scripts, in.name)
	}
	if err := x.checkTargets(scripts); err != nil {
		return err
	}
	if err := x.read(); err != nil {
		return err
	}
	var known []string
	named := f.run == ""
	for _, in := range found {
		s := a.script(in.name)
		if s == nil {
			continue
		}
		names, err := a.exploreFile(cmd.Context(), s, x)
		if err != nil {
			return err
		}
		known = append(known, names...)
		named = named || slices.Contains(names, f.run)
	}
	if !named && a.worst == ok {
		return noRun(f.run, known)
	}
	var unwritten error
	if f.emit != "" && a.worst != unusable && f.shard == "" {
		unwritten = a.emit(x)
	}
	if f.format == "json" && len(x.files) > 0 {
		return errors.Join(report.ExploreJSON(a.buffered, x.files, x.laws), unwritten)
	}
	return unwritten
}

// usage checks the flags, and tells the scripts among the arguments from the parts behind --merge.
func (x *exploration) usage(cmd *cobra.Command, args []string) (scripts []string, err error) {
	if x.list, err = x.over.list(cmd); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("law") {
		for word := range strings.SplitSeq(x.law, ",") {
			laws, err := lawsNamed(strings.TrimSpace(word))
			if err != nil {
				return nil, err
			}
			x.laws = append(x.laws, laws...)
		}
	}
	if cmd.Flags().Changed("split") {
		for name := range strings.SplitSeq(x.exploreFlags.split, ",") {
			x.split = append(x.split, strings.TrimSpace(name))
		}
	}
	for _, name := range []string{"emit", "shard", "out", "resume", "checkpoint", "split", "merge"} {
		if f := cmd.Flags().Lookup(name); f.Changed && (f.Value.String() == "" || f.Value.String() == "[]") {
			return nil, fmt.Errorf("--%s needs a value", name)
		}
	}
	switch {
	case x.export != "" && x.export != "promela":
		return nil, fmt.Errorf("--export is promela, not %q", x.export)
	case x.export != "" && (x.law != "" || x.emit != "" || x.shard != "" || x.merge != nil || x.resume != "" || x.checkpoint != "" || x.exploreFlags.split != "" ||
		x.first || x.brute || x.limit != 0 || x.jobs != 0 || cmd.Flags().Changed("format")):
		return nil, errors.New("--export writes the family and searches nothing: of the other flags only --run and what sets values go with it")
	case x.jobs < 0:
		return nil, errors.New("--jobs must be 0 or more")
	case x.limit < 0:
		return nil, errors.New("--limit must be 0 or more")
	case (x.shard == "") != (x.out == ""):
		return nil, errors.New("--shard I/N and --out FILE belong together")
	case x.first && (x.shard != "" || x.merge != nil):
		return nil, errors.New("--first is for one process: a shard that has found something cannot stop the others")
	case x.shard != "" && (x.merge != nil || x.emit != ""), x.merge != nil && (x.resume != "" || x.checkpoint != ""):
		return nil, errors.New("--merge comes after all shards are done, by itself; so does --emit")
	}
	x.opts = study.Options{Jobs: workers(x.jobs), Limit: x.limit, Brute: x.brute, MergeOnly: x.merge != nil, PartOnly: x.shard != ""}
	for _, l := range x.laws {
		x.opts.Until |= 1 << l
	}
	switch {
	case !x.first:
		x.opts.Until = 0
	case len(x.laws) == 0:
		x.opts.Until = study.Safety
	}
	if x.shard != "" {
		if x.opts.Shard, x.opts.Shards, err = shardOf(x.shard); err != nil {
			return nil, err
		}
	}
	if x.merge == nil {
		return args, nil
	}
	// A shell expands the pattern behind --merge to several words, of which only the first is the flag's.
	at := max(0, slices.IndexFunc(args, func(s string) bool { return filepath.Ext(s) == golden.ScriptExt || s == stdinName }))
	x.merge = append(x.merge, slices.Delete(slices.Clone(args), at, at+1)...)
	if slices.ContainsFunc(x.merge, func(s string) bool { return filepath.Ext(s) == golden.ScriptExt }) {
		return nil, errors.New("--merge takes one script and its parts")
	}
	return args[at : at+1], nil
}

// checkTargets looks at the files to be written. A search may go on in the file that it goes on from.
func (x *exploration) checkTargets(scripts []string) error {
	read := append(slices.Clone(scripts), x.merge...)
	if err := checkTargets([]target{{"--checkpoint", x.checkpoint}, {"--out", x.out}}, read); err != nil {
		return err
	}
	if x.resume != "" {
		read = append(read, x.resume)
	}
	for _, name := range []string{x.checkpoint, x.out} {
		if name != "" {
			read = append(read, name)
		}
	}
	return checkTargets([]target{{"--emit", x.emit}}, read)
}

// shardOf reads I/N; the shards are counted from 1, and by the search from 0.
func shardOf(text string) (shard, shards int, err error) {
	i, n, found := strings.Cut(text, "/")
	shard, err1 := strconv.Atoi(i)
	shards, err2 := strconv.Atoi(n)
	if !found || err1 != nil || err2 != nil || shard < 1 || shard > shards {
		return 0, 0, fmt.Errorf("--shard is I/N, the I-th of N parts counted from 1, as in 2/8, not %q", text)
	}
	return shard - 1, shards, nil
}

// read reads the parts that are known already.
func (x *exploration) read() error {
	names := x.merge
	if x.resume != "" {
		names = []string{x.resume}
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		parts, err := study.ReadParts(f)
		f.Close() //nolint:errcheck // nothing was written
		if err != nil {
			return fmt.Errorf("%s: %w", shown(name), err)
		}
		for i := range parts {
			parts[i].From = shown(name)
		}
		x.opts.Parts = append(x.opts.Parts, parts...)
	}
	return nil
}

// exploreFile explores the blocks of a file and gives their names.
func (a *app) exploreFile(ctx context.Context, s *source, x *exploration) ([]string, error) {
	if err := knownNames(s.script, x.list); err != nil {
		return nil, err
	}
	st, ds := study.Open(s.script, x.list, x.split...)
	if !a.diagnose(s, ds) {
		return nil, nil
	}
	st.WithSource(s.text)
	names := st.Families()
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no explore block and leaves nothing open; try `let stall = any 0..30`", shown(s.name))
	}
	chosen := names
	if x.run != "" {
		chosen = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != x.run })
	}
	if x.emit != "" && len(chosen) > 1 {
		return nil, fmt.Errorf("%s has several explore blocks: name the one whose member --emit writes with --run", shown(s.name))
	}
	if len(chosen) == 0 {
		return names, nil
	}
	if err := knownHoles(st, chosen, x.split); err != nil {
		return nil, fmt.Errorf("%s: %w", shown(s.name), err)
	}
	file := &study.File{Script: s.script}
	saver := &saver{path: x.checkpoint, known: x.opts.Parts} // the first slice is written down at once: that shows early whether it can be
	for _, n := range chosen {
		opts := x.opts
		if n != "" {
			opts.Runs = []string{n}
		}
		opts.Progressing = &study.Progress{}
		if x.checkpoint != "" {
			opts.Checkpoint = saver.now
		}
		bar := a.watch(opts.Progressing)
		done, err := st.Do(ctx, opts)
		bar.stop()
		if err != nil {
			return nil, err
		}
		for _, it := range done.Items {
			file.Items = append(file.Items, it)
			saver.done = append(saver.done, *it.Explore.Part)
		}
	}
	if x.checkpoint != "" {
		if err := errors.Join(saver.err, saver.write(nil)); err != nil {
			return nil, err
		}
	}
	if x.shard != "" {
		return names, a.shardDone(ctx, s, file, x, saver.done)
	}
	a.judge(s.name, file, false)
	for _, it := range file.Items {
		if x.wit == nil {
			x.wit = report.GravestWitness(it.Explore, x.laws)
		}
	}
	return names, x.print(a, file)
}

// knownHoles tells whether each name is that of a hole of some of the blocks.
func knownHoles(st *study.Study, blocks, split []string) error {
	var known []string
	for _, b := range blocks {
		for _, n := range st.HoleNames(b) {
			if !slices.Contains(known, n) {
				known = append(known, n)
			}
		}
	}
	for _, n := range split {
		if !slices.Contains(known, n) {
			return fmt.Errorf("no hole is called %q; the holes are %s", n, strings.Join(known, ", "))
		}
	}
	return nil
}

// print prints a file, or keeps it where the format is one document.
func (x *exploration) print(a *app, file *study.File) error {
	x.files = append(x.files, file)
	if x.format == "json" {
		return nil
	}
	if len(x.files) > 1 {
		a.printf("\n")
	}
	if x.format == "markdown" {
		return report.ExploreMarkdown(a.buffered, file, x.laws, a.options(false))
	}
	return report.Explore(a.buffered, file, x.laws, a.options(false))
}

// shardDone writes what a shard found out.
func (a *app) shardDone(ctx context.Context, s *source, file *study.File, x *exploration, parts []study.Part) error {
	if err := writeParts(x.out, parts); err != nil {
		return err
	}
	members, done, slices := new(big.Int), int64(0), int64(0)
	var late []string
	for _, it := range file.Items {
		e := it.Explore
		members.Add(members, e.Members)
		done, slices = done+e.Done, slices+e.Slices
		for _, h := range e.Holes {
			if h.Late {
				late = append(late, h.Name)
			}
		}
		if e.Halted {
			goesOn := fmt.Sprintf("; `--resume %s` goes on", shown(x.out))
			switch {
			case e.Stopped == study.TooMany:
				goesOn = ""
			case e.Part.Begun == nil && ctx.Err() == nil:
				goesOn = fmt.Sprintf("; `--resume %s` goes on, with a larger --limit", shown(x.out))
			}
			a.fail(failf(inconclusive, "%s: %s%s", where(s.name, e.Name), e.Stopped, goesOn))
		}
	}
	a.printf("shard %s: %d of %s, %s members\n", x.shard, done, count(int(slices), "slice"), study.Grouped(members))
	if slices < int64(x.opts.Shards) && len(late) > 0 {
		name := late[0]
		if strings.Contains(name, " ") {
			name = strconv.Quote(name)
		}
		fmt.Fprintf(a.err, "dlock: %s: %s for %d shards; `--split %s`, with every shard and the merge, makes more\n", shown(s.name),
			count(int(slices), "slice"), x.opts.Shards, name)
	}
	return nil
}

// emit writes the witness that is shown first.
func (a *app) emit(x *exploration) error {
	switch {
	case x.wit == nil && a.worst == inconclusive:
		return failf(inconclusive, "%s was not written: no member that was looked at breaks such a law", shown(x.emit))
	case x.wit == nil:
		return failf(refuted, "%s was not written: no member breaks such a law", shown(x.emit))
	case x.wit.Source == "":
		return failf(refuted, "%s was not written: lines of a file cannot say in which order things happen within the ticks of the smallest "+
			"member that breaks %s; --law names another law", shown(x.emit), x.wit.Law)
	}
	return golden.Replace([]golden.File{{Path: x.emit, Text: []byte(x.wit.Source)}}, nil)
}

// saver writes checkpoints.
type saver struct {
	path string
	done []study.Part // of the blocks before this one
	// known is what the search goes on from; of blocks that it has not come to, or leaves out, it stays.
	known []study.Part
	next  time.Time
	err   error
}

// now is called after every slice, and more often. Writing takes at most a twentieth of the time.
func (s *saver) now(part func() *study.Part) {
	began := time.Now()
	if began.Before(s.next) {
		return
	}
	s.err = errors.Join(s.err, s.write(part()))
	s.next = time.Now().Add(max(checkpointEvery, 20*time.Since(began)))
}

func (s *saver) write(last *study.Part) error {
	parts := slices.Clone(s.done)
	if last != nil {
		parts = append(parts, *last)
	}
	for _, k := range s.known {
		if !slices.ContainsFunc(parts, func(p study.Part) bool { return p.Block == k.Block }) {
			parts = append(parts, k)
		}
	}
	return writeParts(s.path, parts)
}

func writeParts(path string, parts []study.Part) error {
	var b bytes.Buffer
	if err := study.WriteParts(&b, parts); err != nil {
		return err
	}
	return golden.Replace([]golden.File{{Path: path, Text: b.Bytes()}}, nil)
}

// watch shows on a terminal how far a search has come; elsewhere it shows nothing.
type watch struct {
	quit, gone chan struct{}
}

func (a *app) watch(p *study.Progress) *watch {
	w := &watch{quit: make(chan struct{}), gone: make(chan struct{})}
	if !isTerminal(a.errFile) {
		close(w.gone)
		return w
	}
	began := time.Now()
	go func() {
		defer close(w.gone)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-w.quit:
				if shown {
					fmt.Fprint(a.err, "\r\x1b[K")
				}
				return
			case now := <-tick.C:
				if now.Sub(began) < progressAfter {
					continue
				}
				shown = true
				fmt.Fprintf(a.err, "\r%s\x1b[K", searchProgress(p, now.Sub(began)))
			}
		}
	}()
	return w
}

// searchProgress says what is done, how fast it goes and how long it will still take.
func searchProgress(p *study.Progress, elapsed time.Duration) string {
	done, total, members := p.Done()
	first, before := p.Resumed()
	word := "slices"
	if total == 1 {
		word = "slice"
	}
	count := study.Grouped(big.NewInt(members)) + " members"
	if members >= study.ManyMembers {
		count = "over 10^15 members"
	}
	s := fmt.Sprintf("%d of %d %s, %s", done, total, word, count)
	if n := p.States(); done == 0 && n > 0 {
		s += fmt.Sprintf(" by %s states", study.Grouped(big.NewInt(n)))
	}
	if n := members - before; n > 0 && members < study.ManyMembers {
		s += fmt.Sprintf(", %s a second", study.Grouped(big.NewInt(int64(float64(n)/elapsed.Seconds()))))
	}
	if n := done - first; n > 0 && total > done {
		left := time.Duration(float64(elapsed) / float64(n) * float64(total-done))
		if left < time.Second {
			return s + ", under a second left"
		}
		return s + fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return s + fmt.Sprintf(", %s so far", elapsed.Round(time.Second))
}

// stop clears the line.
func (w *watch) stop() {
	close(w.quit)
	<-w.gone
}
