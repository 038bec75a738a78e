package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// invoke runs a command line in the working directory.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Main(args, Streams{In: strings.NewReader(""), Out: &out, Err: &err, Env: func(string) (string, bool) { return "", false }})
	return code, out.String(), err.String()
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheHeaviestStatusCounts(t *testing.T) {
	tests := []struct {
		seen []status
		want status
	}{
		{nil, ok},
		{[]status{ok, inconclusive}, inconclusive},
		{[]status{inconclusive, refuted}, refuted},
		{[]status{unusable, refuted, inconclusive}, unusable},
		{[]status{broken, unusable}, broken},
	}
	for _, tt := range tests {
		a := newApp(Streams{})
		for _, s := range tt.seen {
			a.end(s)
		}
		if a.worst != tt.want {
			t.Errorf("%v end with %d, want %d", tt.seen, a.worst, tt.want)
		}
	}
}

func TestAPanicIsOneMessageAndCode4(t *testing.T) {
	code := Main([]string{"check", "-"}, Streams{In: panicReader{}, Out: io.Discard, Err: io.Discard, Env: os.LookupEnv})
	if code != int(broken) {
		t.Errorf("exit code %d, want %d", code, broken)
	}
}

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("out of order") }

func TestWhatCannotBeReadIsReportedAndTheRestGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "a.dlk", "at 0 A acquire ttl 5\n")
	code, out, errs := invoke(t, "check", "none.dlk", "a.dlk")
	if code != int(unusable) || !strings.Contains(errs, "none.dlk") || !strings.Contains(out, "1 of 1 script without errors") {
		t.Errorf("code %d\n%s\n%s", code, out, errs)
	}
}

func TestABrokenPipeIsQuiet(t *testing.T) {
	for _, gone := range []error{syscall.EPIPE, io.ErrClosedPipe, fmt.Errorf("write: %w", syscall.EPIPE)} {
		var errs bytes.Buffer
		code := Main([]string{"explain"}, Streams{In: strings.NewReader(""), Out: failing{gone}, Err: &errs, Env: os.LookupEnv})
		if code != 0 || errs.Len() > 0 {
			t.Errorf("%v: code %d, %q", gone, code, &errs)
		}
	}
}

func TestAFullDiskIsNot(t *testing.T) {
	var errs bytes.Buffer
	code := Main([]string{"explain"}, Streams{In: strings.NewReader(""), Out: failing{syscall.ENOSPC}, Err: &errs, Env: os.LookupEnv})
	if code != int(unusable) || !strings.Contains(errs.String(), "cannot write the output") {
		t.Errorf("code %d, %q", code, &errs)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWalk(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"s/b.dlk", "s/a.dlk", "s/sub/c.dlk", "s/.hidden/x.dlk", "s/.x.dlk", "s/note.txt", "s/named.dlk/d.dlk"} {
		put(t, name, "")
	}
	for link, target := range map[string]string{"s/loop": "..", "s/sub/up": "..", "s/dead.dlk": "nowhere", "s/link.dlk": "a.dlk"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	got, err := walk("s")
	want := []string{"s/a.dlk", "s/b.dlk", "s/link.dlk", "s/named.dlk/d.dlk", "s/sub/c.dlk"}
	for i := range got {
		got[i] = filepath.ToSlash(got[i])
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("walk = %q, %v, want %q", got, err, want)
	}
}

func TestMessagesCarryNoControlCharacters(t *testing.T) {
	t.Chdir(t.TempDir())
	_, out, errs := invoke(t, "check", "evil\x1b]0;title\x07\u202e.dlk")
	if all := out + errs; strings.ContainsAny(all, "\x1b\x07\u202e") {
		t.Errorf("%q", all)
	}
}

func TestInterruptedIsInconclusive(t *testing.T) {
	a := newApp(Streams{Out: io.Discard, Err: io.Discard})
	a.fail(fmt.Errorf("cell 7: %w", context.Canceled))
	if a.worst != inconclusive {
		t.Errorf("ends with %d", a.worst)
	}
	a = newApp(Streams{Out: io.Discard, Err: io.Discard})
	a.fail(errors.New("any other"))
	if a.worst != unusable {
		t.Errorf("ends with %d", a.worst)
	}
}

func TestConfigurations(t *testing.T) {
	tests := []struct {
		axes []string
		want string // "" for an error
	}{
		{[]string{"fencing=off,on"}, "[{fencing off}] [{fencing on}]"},
		{[]string{"a=1..3:2", "b=x,-4"}, "[{a 1} {b x}] [{a 1} {b -4}] [{a 3} {b x}] [{a 3} {b -4}]"},
		{[]string{"a=-999999999999999999..999999999999999999:999999999999999999"}, "[{a -999999999999999999}] [{a 0}] [{a 999999999999999999}]"},
		{[]string{"a=-999999999999999999..999999999999999999"}, ""},
		{[]string{"a=3..1"}, ""},
		{[]string{"a"}, ""},
		{[]string{"a=1..9", "b=1..9"}, ""},
	}
	for _, tt := range tests {
		got, err := configurations(tt.axes)
		text := strings.Trim(fmt.Sprint(got), "[]")
		if want := strings.Trim(tt.want, "[]"); err != nil != (want == "") || err == nil && text != want {
			t.Errorf("configurations(%q) = %s, %v, want %s", tt.axes, text, err, want)
		}
	}
}

func TestStarterHolds(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, out, errs := invoke(t, "new", "mine"); code != 0 || out != "mine.dlk\n" {
		t.Fatalf("new: code %d\n%s%s", code, out, errs)
	}
	for _, args := range [][]string{{"check", "mine.dlk"}, {"fmt", "--check", "mine.dlk"}, {"run", "mine.dlk"}, {"test", "--update"}, {"test"}} {
		if code, out, errs := invoke(t, args...); code != 0 || errs != "" {
			t.Errorf("%q: code %d\n%s%s", args, code, out, errs)
		}
	}
	if code, _, errs := invoke(t, "new", "mine"); code != int(unusable) || !strings.Contains(errs, "left as it is") {
		t.Errorf("new over a file: code %d, %s", code, errs)
	}
}

// A script in the root of a project shares the folder of its goldens with the folder scenarios.
func TestGoldensOfTwoFoldersDoNotMeet(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "scenarios/a.dlk", starter)
	put(t, "job.dlk", starter)
	for _, args := range [][]string{{"test", "--update"}, {"test", "--update", "job.dlk"}, {"test"}, {"test", "--prune"}, {"test", "job.dlk"}} {
		if code, out, err := invoke(t, args...); code != 0 {
			t.Fatalf("%q ends with %d\n%s%s", args, code, out, err)
		}
	}
	put(t, "scenarios/job.dlk", starter)
	for _, args := range [][]string{{"test", "--update"}, {"test", "--update", "job.dlk"}} {
		if code, _, err := invoke(t, args...); code != int(unusable) || !strings.Contains(err, "have the same golden, golden/job.txt") {
			t.Errorf("%q ends with %d: %s", args, code, err)
		}
	}
	t.Chdir("scenarios")
	if err := os.Remove("../job.dlk"); err != nil {
		t.Fatal(err)
	}
	if code, out, err := invoke(t, "test", "--update"); code != 0 {
		t.Errorf("within scenarios it ends with %d\n%s%s", code, out, err)
	}
}

const openStall = "let stall = any 0..3\nat 0 A acquire ttl 2\nat 1 + stall A append \"A\"\n"

// What a command reads it does not write over, and what it cannot write it says before it works.
func TestTargetsAreCheckedBeforeTheWork(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "f.dlk", openStall)
	put(t, "part.json", "{}")
	put(t, "folder/x", "")
	if err := os.Symlink("f.dlk", "link.dlk"); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ args, say string }{
		{"explore f.dlk --emit f.dlk", "--emit f.dlk would write over what is read"},
		{"explore f.dlk --emit ./link.dlk", "--emit ./link.dlk would write over what is read"},
		{"explore f.dlk --checkpoint f.dlk", "--checkpoint f.dlk would write over what is read"},
		{"explore f.dlk --shard 1/2 --out f.dlk", "--out f.dlk would write over what is read"},
		{"explore f.dlk --resume part.json --emit part.json", "--emit part.json would write over what is read"},
		{"explore f.dlk --emit x.dlk --checkpoint x.dlk", "--emit x.dlk would write over what is read"},
		{"explore f.dlk --shard 1/2 --out x --checkpoint x", "--checkpoint and --out name the same file, x"},
		{"shrink f.dlk --keep stale-write -o f.dlk", "-o f.dlk would write over what is read"},
		{"explore f.dlk --emit none/x.dlk", "--emit cannot write none/x.dlk: there is no folder none"},
		{"explore f.dlk --checkpoint none/x", "--checkpoint cannot write none/x: there is no folder none"},
		{"explore f.dlk --shard 1/2 --out part.json/x", "--out cannot write part.json/x: "},
		{"shrink f.dlk --keep stale-write -o folder", "-o cannot write folder: it is not a file"},
		{"shrink f.dlk --keep stale-write -o none/a/x.dlk", "-o cannot write none/a/x.dlk: there is no folder none/a"},
		{"explore f.dlk --emit /proc/self/x.dlk", "--emit cannot write /proc/self/x.dlk: "},
	}
	for _, tt := range tests {
		code, out, err := invoke(t, strings.Fields(tt.args)...)
		if code != int(unusable) || out != "" || !strings.Contains(err, tt.say) || strings.Contains(err, ".tmp") {
			t.Errorf("dlock %s ends with %d, prints %q and says %s", tt.args, code, out, err)
		}
	}
	for name, want := range map[string]string{"f.dlk": openStall, "part.json": "{}"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s is %q now, %v", name, text, err)
		}
	}
	if _, err := os.Stat("none"); err == nil {
		t.Error("a folder was made")
	}
}

// A script that goes on to read what --emit wrote must hear that it was not written.
func TestNothingToEmitIsNoSuccess(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "f.dlk", openStall)
	put(t, "old.dlk", "of before")
	if code, _, err := invoke(t, "explore", "f.dlk", "--law", "overlap", "--emit", "old.dlk"); code != int(refuted) || !strings.Contains(err, "old.dlk was not written") {
		t.Errorf("it ends with %d: %s", code, err)
	}
}

// What cannot be meant is refused, whichever command it is said to.
func TestContradictionsAreUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "f.dlk", "let stall = 3\nat 0 A acquire ttl 5\nat stall A release\nrun \"one\" {\n}\nrun \"two\" {\n}\nsweep \"three\" over stall in 1..2 {\n}\n")
	put(t, "open.dlk", openStall)
	tests := []struct {
		args []string
		say  string
	}{
		{[]string{"compare", "f.dlk", "stall=3,stall=4", "two"}, "stall=3,stall=4: stall is set twice"},
		{[]string{"compare", "f.dlk", "one,stall=3,stall=3", "two"}, "stall is set twice"},
		{[]string{"compare", "f.dlk", "nix", "two"}, `there is no run "nix"; there is "one", "two"`},
		{[]string{"compare", "f.dlk", "three", "two"}, `"three" is a sweep`},
		{[]string{"why", "f.dlk", "--run", "three"}, `"three" is a sweep`},
		{[]string{"matrix", "f.dlk", "--with", "stall=3,stall=4"}, "stall is set twice"},
		{[]string{"matrix", "f.dlk", "--over", "stall=3", "--over", "stall=4"}, "stall is set twice"},
		{[]string{"matrix", "f.dlk", "--with", "zz=1"}, "no schedule takes zz=1: "},
		{[]string{"matrix", "f.dlk", "--over", "fencing=on,zz"}, "no schedule takes fencing=zz: "},
		{[]string{"matrix", "f.dlk", "--causes", "--with", "zz=1"}, "no schedule takes zz=1: "},
		{[]string{"fmt", "--check", "-w", "f.dlk"}, "--check changes nothing and -w writes"},
		{[]string{"explore", "open.dlk", "--law", ""}, `there is no law ""`},
		{[]string{"explore", "open.dlk", "--law", "overlap,"}, `there is no law ""`},
		{[]string{"why", "f.dlk", "--law", ""}, `there is no law ""`},
		{[]string{"run", "f.dlk", "--set", "stall=99999999999999999999"}, "99999999999999999999 is too large a number"},
		{[]string{"run", "f.dlk", "--set", "servers=99999999999999999999"}, "99999999999999999999 is too large a number"},
		{[]string{"sweep", "f.dlk", "--over", "stall=1..99999999999999999999"}, "99999999999999999999 is too large a number"},
		{[]string{"explore", "open.dlk", "--limit", "99999999999999999999"}, "--limit cannot be 99999999999999999999: it is too large"},
	}
	for _, tt := range tests {
		code, out, err := invoke(t, tt.args...)
		if code != int(unusable) || out != "" || !strings.Contains(err, tt.say) {
			t.Errorf("dlock %q ends with %d, prints %q and says %s", tt.args, code, out, err)
		}
	}
	// A configuration that some schedule takes is noted where it has no place.
	put(t, "other.dlk", "let zz = 1\nat zz A acquire ttl 5\n")
	if code, out, err := invoke(t, "matrix", ".", "--with", "zz=1"); code != 0 || !strings.Contains(out, "nothing in the file is named") {
		t.Errorf("it ends with %d: %s%s", code, out, err)
	}
}

// interrupting interrupts this process while its text is read, and lets the command wait for longer than patience.
type interrupting struct{ text io.Reader }

func (r interrupting) Read(p []byte) (int, error) {
	n, err := r.text.Read(p)
	if errors.Is(err, io.EOF) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			return n, err
		}
		time.Sleep(patience + 300*time.Millisecond)
	}
	return n, err
}

// An interrupt is answered at once, and what was cut off prints no result.
func TestInterruptedCommandsPrintNoResult(t *testing.T) {
	for _, command := range []string{"check", "fmt", "list", "run"} {
		var out, err bytes.Buffer
		in := interrupting{strings.NewReader("at  0  A acquire ttl 5\n")}
		code := Main([]string{command, "-"}, Streams{In: in, Out: &out, Err: &err, Env: func(string) (string, bool) { return "", false }})
		want := "dlock: stopping; a second interrupt ends it at once\ndlock: interrupted\n"
		if code != int(inconclusive) || out.Len() > 0 || err.String() != want {
			t.Errorf("dlock %s ends with %d, prints %q and says %q", command, code, out.String(), err.String())
		}
	}
}
