package golden

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func words() Language {
	return Language{
		Verbs:    []string{"acquire", "append", "read", "release", "crash", "watchdog stop"},
		Outcomes: []string{"granted", "denied", "accepted", "rejected"},
		Laws:     []string{"overlap", "stale-write"},
	}
}

const recorded = `a paused client

run "unfenced"
   0  A         acquire     granted    token 1
   1  A         read        value ""
  14  B         append      accepted   "B"
  14  C         read        value "B"
  16  A         append      accepted   "A"

  BROKEN 1  stale-write  the write at 16
  ok        1 other      overlap
  the resource is left with "A"
`

func events(text string) []Event {
	var out []Event
	for _, l := range words().read(text) {
		if l.event.tick == "" {
			continue
		}
		first, _, _ := strings.Cut(l.event.tick, "..")
		tick, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			panic(err)
		}
		out = append(out, Event{Run: "unfenced", Tick: tick, Actor: l.event.step.actor, Verb: l.event.step.verb, Line: 100 + len(out),
			World: func() string { return "the world before event " + l.event.step.String() }})
	}
	return out
}

func TestCompareNamesTheKind(t *testing.T) {
	tests := []struct {
		name     string
		old, new string // in the recorded text
		kind     Kind
		line     int // of the event, 0: none
	}{
		{"outcome", `16  A         append      accepted `, `16  A         append      rejected `, Outcome, 104},
		{"timing", "  16  A         append", "  17  A         append", Timing, 104},
		{"value", `accepted   "B"`, `accepted   "AB"`, Value, 102},
		{"token", "token 1", "token 2", Value, 100},
		{"gone", "   1  A         read        value \"\"\n", "", Extra, 101},
		{"new", "  16  A ", "  15  B         release     done\n  16  A ", Extra, 104},
		{"order", "  14  B         append      accepted   \"B\"\n  14  C         read        value \"B\"\n",
			"  14  C         read        value \"B\"\n  14  B         append      accepted   \"B\"\n", Order, 103},
		{"verdict", "BROKEN 1", "BROKEN 2", Verdict, 0},
		{"another law", "BROKEN 1  stale-write", "BROKEN 1  overlap", Verdict, 0},
		{"folded", "  16  A         append", "15..16  A       append", Timing, 104},
		{"line below", "accepted   \"B\"\n", "accepted   \"B\"\n                     version 7\n", Value, 102},
		{"words below", "accepted   \"B\"\n", "accepted   \"B\"\n                     and so on\n", Wording, 0},
		{"number outside events", "the write at 16", "the write at 17", Value, 0},
		{"last words", `left with "A"`, `left holding "A"`, Wording, 0},
		{"words of an event", "token 1", "its token is 1", Wording, 0},
		{"colour", "token 1", "\x1b[31mtoken\x1b[0m 1", Colour, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := strings.Replace(recorded, tt.old, tt.new, 1)
			if now == recorded {
				t.Fatalf("%q is not in the text", tt.old)
			}
			evs := events(now)
			if tt.kind == Order { // numbered as in the recorded text
				evs[2].Line, evs[3].Line = evs[3].Line, evs[2].Line
			}
			d := words().Compare([]byte(recorded), Rendering{Text: []byte(now), Events: evs})
			if d == nil || Equal([]byte(recorded), []byte(now)) {
				t.Fatal("no difference found")
			}
			line := 0
			if d.Event != nil {
				line = d.Event.Line
			}
			if d.Kind != tt.kind || line != tt.line {
				t.Errorf("kind %q at line %d, want %q at line %d\n%s", d.Kind, line, tt.kind, tt.line, d.Text("a.dlk", "a.txt"))
			}
			if !strings.HasPrefix(d.Diff, "-want +got\n@@ ") {
				t.Errorf("diff starts with %.30q", d.Diff)
			}
		})
	}
}

func TestCompareExplains(t *testing.T) {
	now := strings.Replace(recorded, `accepted   "A"`, "\x1b[38;5;166;1mrejected\x1b[0;25;0;22m   stale", 1)
	now = strings.Replace(now, "BROKEN 1", "BROKEN 2", 1)
	got := words().Compare([]byte(recorded), Rendering{Text: []byte(now), Events: events(now)}).Text("pause.dlk", "pause.txt")
	want := `pause.dlk prints something else than pause.txt
  kind   outcome: wanted accepted, got rejected
  first  tick 16, A append, line 104 of the script, run "unfenced"
  want   16  A         append      accepted   "A"
  got    16  A         append      rejected   stale
  before the world before event A append
  flips  run "unfenced": stale-write 1 -> 2
-want +got
@@ -5,8 +5,8 @@
    1  A         read        value ""
   14  B         append      accepted   "B"
   14  C         read        value "B"
-  16  A         append      accepted   "A"
+  16  A         append      <orange bold>rejected</>   stale
 
-  BROKEN 1  stale-write  the write at 16
+  BROKEN 2  stale-write  the write at 16
   ok        1 other      overlap
   the resource is left with "A"
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheFirstDifferenceIsTheFirstThatMatters(t *testing.T) {
	now := strings.Replace(recorded, "token 1", "with the token 1", 1)
	now = strings.Replace(now, `accepted   "A"`, `rejected   "A"`, 1)
	d := words().Compare([]byte(recorded), Rendering{Text: []byte(now), Events: events(now)})
	if d.Kind != Outcome || d.Event == nil || d.Event.Tick != 16 {
		t.Errorf("a change of words at tick 0 hides the outcome at 16: %+v", d)
	}
}

// A line that stands for several events begins where nothing differs yet.
func TestAFoldedLineDiffersWhereItsEventsDo(t *testing.T) {
	const old = `polls

run
  10..18  A   acquire  denied    asks every 4
      12  B   read     value ""
      16  s1  crash
      30  B   append   accepted  "B"
`
	tests := []struct {
		name, from, to string
		polls          []int64 // of the transcript
		first          string
	}{
		{"it goes on", "10..18", "10..26", []int64{10, 14, 18, 22, 26}, "first  tick 22, A acquire"},
		{"it ends early", "10..18", "10..14", []int64{10, 14}, "first  tick 18, A acquire, as the golden has it"},
		{"an event within it", "      16  s1  crash\n", "", []int64{10, 14, 18}, "first  tick 16, s1 crash, as the golden has it"},
		{"an event within it, and it goes on", "10..18  A   acquire  denied    asks every 4\n      12  B   read     value \"\"\n      16  s1  crash\n",
			"10..26  A   acquire  denied    asks every 4\n      12  B   read     value \"\"\n      19  s1  crash\n", []int64{10, 14, 18, 22, 26},
			"first  tick 16, s1 crash, as the golden has it"},
		{"what comes before it ends", `value ""`, `value "x"`, []int64{10, 14, 18}, "first  tick 12, B read"},
	}
	for _, tt := range tests {
		now := strings.Replace(old, tt.from, tt.to, 1)
		if now == old {
			t.Fatalf("%s: %q is not in the text", tt.name, tt.from)
		}
		var evs []Event
		for _, tick := range tt.polls {
			evs = append(evs, Event{Tick: tick, Actor: "A", Verb: "acquire"})
		}
		evs = append(evs, Event{Tick: 12, Actor: "B", Verb: "read"}, Event{Tick: 19, Actor: "s1", Verb: "crash"}, Event{Tick: 30, Actor: "B", Verb: "append"})
		text := words().Compare([]byte(old), Rendering{Text: []byte(now), Events: evs}).Text("a.dlk", "a.txt")
		if !strings.Contains(text, "  "+tt.first+"\n") {
			t.Errorf("%s: no %q in\n%s", tt.name, tt.first, text)
		}
	}
}

// Of two runs with the same events, folded in one and not in the other, each has its own.
func TestEventsAreThoseOfTheRun(t *testing.T) {
	const old = `run "one"
  10..18  A   acquire  denied    asks every 4

run "two"
      14  A   acquire  granted   token 1
`
	var evs []Event
	for _, tick := range []int64{10, 14, 18} {
		evs = append(evs, Event{Run: "one", Tick: tick, Actor: "A", Verb: "acquire", Line: 3})
	}
	evs = append(evs, Event{Run: "two", Tick: 14, Actor: "A", Verb: "acquire", Line: 7})
	d := words().Compare([]byte(old), Rendering{Text: []byte(strings.Replace(old, "token 1", "token 2", 1)), Events: evs})
	if d == nil || d.Event == nil || d.Event.Run != "two" || d.Event.Line != 7 {
		t.Errorf("got %+v", d)
	}
}

// Titles and claims hold numbers and texts, but nothing that happens.
func TestTitlesAndClaimsAreNoValues(t *testing.T) {
	const old = `3 clients
  of 2 kinds

run  3 servers
   0  A  acquire  granted    token 1

Claims  all hold
  ok  expect final "A" 1
  ok  expect at 14 nobody holds

What happened
  "A" is left
`
	tests := []struct {
		from, to  string
		kind      Kind
		want, got string
	}{
		{"3 clients", "4 clients of 2", Wording, "3 clients", "4 clients of 2"},
		{"of 2 kinds", "of 7 kinds", Wording, "of 2 kinds", "of 7 kinds"},
		{`"A" 1`, `"A"`, Claims, `ok  expect final "A" 1`, `ok  expect final "A"`},
		{"  ok  expect final \"A\" 1\n", "", Claims, `ok  expect final "A" 1`, "ok  expect at 14 nobody holds"},
		{"ok  expect at", "FAILS  expect at", Verdict, "ok  expect at 14 nobody holds", "FAILS  expect at 14 nobody holds"},
		{"3 servers", "5 servers", Value, "run  3 servers", "run  5 servers"},
		{`"A" is left`, `"B" is left`, Value, `"A" is left`, `"B" is left`},
	}
	for _, tt := range tests {
		now := strings.Replace(old, tt.from, tt.to, 1)
		d := words().Compare([]byte(old), Rendering{Text: []byte(now)})
		if d == nil || d.Kind != tt.kind || d.Want != tt.want || d.Got != tt.got {
			t.Errorf("%q for %q: %+v", tt.to, tt.from, d)
		}
	}
}

func TestLineEndsCompareEqual(t *testing.T) {
	crlf := strings.ReplaceAll(recorded, "\n", "\r\n")
	if !Equal([]byte(crlf), []byte(recorded)) {
		t.Error("CRLF does not compare equal")
	}
	d := words().Compare([]byte(crlf), Rendering{Text: []byte(recorded)})
	if d == nil || d.Kind != LineEnds || d.Diff != "" {
		t.Errorf("got %+v, want only line endings", d)
	}
	if d := words().Compare([]byte(recorded), Rendering{Text: []byte(recorded)}); d != nil {
		t.Errorf("equal texts differ: %+v", d)
	}
}

func TestVisible(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain\n", "plain\n"},
		{"\x1b[31mred\x1b[0m", "<red>red</>"},
		{"\x1b[38;5;32;1mblue\x1b[0;25;0;22m", "<blue bold>blue</>"},
		{"\x1b[1;4;97;41mx\x1b[m", "<bold underline bright-white on-red>x</>"},
		{"\x1b[38;5;7mx", "<colour-7>x"},
		{"\x1b[2J\x1b]0;title\x07", `\x1b[2J\x1b]0;title\a`},
		{"\x1b[31", `\x1b[31`},
		{"ä → \u202e\xff", `ä → \u202e\xff`},
		{"\uFFFD", "\uFFFD"},
	}
	for _, tt := range tests {
		if got := visible(tt.in); got != tt.want {
			t.Errorf("visible(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestHugeTranscriptsTakeNoSquareTime(t *testing.T) {
	var a, b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&a, "%6d  A  read  value %d\n", i, i%7)
		fmt.Fprintf(&b, "%6d  A  read  value %d\n", i+1, i%5)
	}
	start := time.Now()
	if d := words().Compare([]byte(a.String()), Rendering{Text: []byte(b.String())}); d == nil {
		t.Fatal("no difference")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestPath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("scenarios/incidents", 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ cd, dir, script, root, want string }{
		{".", "", "scenarios/pause.dlk", "", "golden/pause.txt"},
		{".", "", "./scenarios/incidents/x.dlk", "scenarios", "golden/incidents/x.txt"},
		{"scenarios", "", "pause.dlk", ".", "../golden/pause.txt"},
		{"scenarios", "", "incidents/x.dlk", ".", "../golden/incidents/x.txt"},
		{"scenarios/incidents", "", "x.dlk", "", "../../golden/incidents/x.txt"},
		{"scenarios/incidents", "", "../pause.dlk", "", "../../golden/pause.txt"},
		{".", "", "mine/x.dlk", "mine", "mine/golden/x.txt"},
		{".", "", "x.dlk", "", "golden/x.txt"},
		{".", "g", "a/b/x.dlk", "a", "g/b/x.txt"},
		{".", "g", "a/b/x.dlk", "", "g/x.txt"},
	}
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Chdir(filepath.Join(home, tt.cd))
		if got := (Layout{Dir: tt.dir}).Path(filepath.FromSlash(tt.script), tt.root); filepath.ToSlash(got) != tt.want {
			t.Errorf("in %s: Path(%q, %q) = %q, want %q", tt.cd, tt.script, tt.root, got, tt.want)
		}
	}
}

func TestOrphans(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"scenarios/a.dlk", "golden/a.txt", "golden/old.txt", "golden/sub/older.txt", "golden/note.md",
		"mine/b.dlk", "mine/golden/b.txt", "mine/golden/gone.txt", "foreign/golden/theirs.txt", ".cache/scenarios/x", ".cache/golden/x.txt"} {
		write(t, name, "")
	}
	known := map[string]string{"golden/a.txt": "scenarios/a.dlk", "mine/golden/b.txt": "mine/b.dlk"}
	tests := []struct {
		root string
		want []string
	}{
		{".", []string{"golden/old.txt", "golden/sub/older.txt", "mine/golden/gone.txt"}},
		{"scenarios", []string{"golden/old.txt", "golden/sub/older.txt"}},
		{"mine", []string{"mine/golden/gone.txt"}},
	}
	for _, tt := range tests {
		here := map[string]string{}
		for g, s := range known {
			if tt.root == "." || strings.HasPrefix(s, tt.root) {
				here[g] = s
			}
		}
		got, err := Layout{}.Orphans(tt.root, here)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Orphans(%q) = %q, %v, want %q", tt.root, got, err, tt.want)
		}
	}
}

// A golden whose script lies there is no orphan, whatever was tested: what is called one may be removed.
func TestAGoldenWithAScriptIsNoOrphan(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"scenarios/a.dlk", "job.dlk", "golden/job.txt", "scenarios/sub/b.dlk", "golden/sub/b.txt",
		"golden/gone.txt", "golden/sub/job.txt", "golden/x.dlk", "golden/golden/x.txt"} {
		write(t, name, "")
	}
	got, err := Layout{}.Orphans("scenarios", nil)
	if want := []string{"golden/gone.txt", "golden/sub/job.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Orphans = %q, %v, want %q", got, err, want)
	}
	write(t, "scenarios/job.dlk", "")
	t.Chdir("scenarios")
	if got, want := (Layout{}).Owners("../golden/job.txt"), []string{"../scenarios/job.dlk", "../job.dlk"}; !slices.Equal(got, want) {
		t.Errorf("Owners = %q, want %q", got, want)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree lists every file below the working directory with its text.
func tree(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s=%s ", filepath.ToSlash(path), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReplaceWritesAll(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.txt", "old")
	write(t, "gone.txt", "x")
	write(t, "real/r.txt", "old")
	if err := os.Symlink("real/r.txt", "link.txt"); err != nil {
		t.Fatal(err)
	}
	files := []File{{"a.txt", []byte("new")}, {"deep/er/b.txt", []byte("b")}, {"link.txt", []byte("new")}}
	if err := Replace(files, []string{"gone.txt"}); err != nil {
		t.Fatal(err)
	}
	if got, want := tree(t), "a.txt=new deep/er/b.txt=b link.txt=new real/r.txt=new "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReplaceWritesNothingIfOneFails(t *testing.T) {
	tests := map[string]struct {
		also   string // a file that lies there
		files  []File
		remove []string
	}{
		"a folder in the way": {"b.txt/x", []File{{"a.txt", []byte("new")}, {"b.txt", nil}}, nil},
		"a file for a folder": {"d", []File{{"a.txt", []byte("new")}, {"d/b.txt", nil}}, nil},
		"nothing to remove":   {"other", []File{{"a.txt", []byte("new")}, {"new.txt", nil}}, []string{"gone.txt", "never.txt"}},
		"the same file twice": {"other", []File{{"a.txt", []byte("1")}, {"a.txt", []byte("2")}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "a.txt", "old")
			write(t, "gone.txt", "x")
			write(t, tt.also, "")
			before := tree(t)
			if err := Replace(tt.files, tt.remove); err == nil {
				t.Error("no error")
			}
			if after := tree(t); after != before {
				t.Errorf("left %q, was %q", after, before)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.txt", "text")
	if got, err := Load("a.txt"); err != nil || !bytes.Equal(got, []byte("text")) {
		t.Errorf("Load = %q, %v", got, err)
	}
	if _, err := Load("none.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing golden: %v", err)
	}
	if _, err := Load("."); err == nil {
		t.Error("a folder loads")
	}
	if err := os.Truncate("a.txt", maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("a.txt"); err == nil {
		t.Error("a huge file loads")
	}
}
