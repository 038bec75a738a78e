package shrink

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/internal/randprog"
	"dlock/internal/randtext"
	"dlock/internal/study"
)

// lawsOf runs a text as any other command does and gives what its one run breaks; ok tells whether it makes sense.
func lawsOf(text string) (run *study.Run, ok bool) {
	script, ds := dsl.Parse("t.dlk", []byte(text))
	if ds.HasErrors() {
		return nil, false
	}
	st, _ := study.New(script, nil)
	if st == nil {
		return nil, false
	}
	f, err := st.Do(context.Background(), study.Options{})
	if err != nil || len(f.Items) != 1 || f.Items[0].Run == nil || f.Items[0].Run.Inconclusive() {
		return nil, false
	}
	return f.Items[0].Run, true
}

func breaks(text string, keep []audit.Law) bool {
	r, ok := lawsOf(text)
	return ok && !slices.ContainsFunc(keep, func(l audit.Law) bool { return r.Audit.Counts[l] == 0 })
}

// smaller lists every text that has one statement, one block or one stretch of words less, or one number smaller by one.
// It works on lines alone and shares nothing with the passes.
func smaller(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var all []string
	put := func(i int, line string, to int) {
		kept := slices.Clone(lines[:i])
		if line != "" {
			kept = append(kept, line)
		}
		all = append(all, strings.Join(append(kept, lines[to:]...), "\n")+"\n")
	}
	words := regexp.MustCompile(`"(\\.|[^"\\])*"|[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z_]+)*|[0-9]+|\.\.|[^ ]`)
	for i, line := range lines {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || strings.HasPrefix(line, "scenario") {
			continue
		}
		end, depth := i+1, 1
		if strings.HasSuffix(line, "{") {
			for depth > 0 {
				l := strings.TrimSpace(lines[end])
				if strings.HasPrefix(l, "}") {
					depth--
				}
				if depth > 0 && strings.HasSuffix(l, "{") {
					depth++
				}
				end++
			}
			rest := strings.TrimPrefix(strings.TrimSpace(lines[end-1]), "}")
			head := strings.TrimSuffix(line, "{")
			if when := strings.Index(head, " when "); when >= 0 {
				head = head[:when]
			}
			put(i, strings.TrimPrefix(head+rest, "} "), end) // without the block, whose place the next one takes
			if strings.HasPrefix(line, "}") {
				continue
			}
			if rest == "" {
				put(i, "", end)
			}
		} else if line != "}" {
			put(i, "", end)
		}
		at := words.FindAllStringIndex(line, -1)
		for lo := range at {
			for hi := lo + 1; hi <= len(at) && hi-lo < len(at); hi++ {
				tail := ""
				if hi < len(at) {
					tail = line[at[hi][0]:]
				}
				put(i, strings.TrimSpace(line[:at[lo][0]]+tail), i+1)
			}
			if n, err := strconv.Atoi(line[at[lo][0]:at[lo][1]]); err == nil && n > 0 {
				put(i, line[:at[lo][0]]+strconv.Itoa(n-1)+line[at[lo][1]:], i+1)
			}
		}
	}
	return all
}

func withoutClaims(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "expect ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// checkMinimal shrinks a run and holds the result to all that is said about it.
func checkMinimal(t *testing.T, text string, o Options) *Result {
	t.Helper()
	r, err := Shrink(context.Background(), "t.dlk", []byte(text), o)
	if err != nil {
		t.Fatalf("%v: %v\n%s", o.Keep, err, text)
	}
	if r.Short {
		t.Fatalf("%v: a limit was reached after %d candidates\n%s", o.Keep, r.Tried, text)
	}
	again, err := Shrink(context.Background(), "t.dlk", []byte(text), o)
	if err != nil || !bytes.Equal(again.Text, r.Text) {
		t.Fatalf("the second time gives something else: %v\n%s\n%s", err, r.Text, again.Text)
	}
	if f, _ := dsl.Format(r.Text, "t.dlk"); !bytes.Equal(f, r.Text) {
		t.Fatalf("the result is not formatted:\n%s", r.Text)
	}
	run, ok := lawsOf(string(r.Text))
	if !ok {
		t.Fatalf("the result makes no sense:\n%s", r.Text)
	}
	if run.Failed() || len(run.Claims) < len(o.Keep) {
		t.Fatalf("claims of the result fail, or are missing:\n%s", r.Text)
	}
	plain := withoutClaims(r.Text)
	if !breaks(plain, o.Keep) {
		t.Fatalf("the result does not break %v:\n%s", o.Keep, r.Text)
	}
	for _, c := range smaller(plain) {
		if breaks(c, o.Keep) {
			t.Fatalf("%v: the result\n%s\ncan be made smaller:\n%s\nIt was made from\n%s", o.Keep, plain, c, text)
		}
	}
	return r
}

func TestRandomSchedulesBecomeMinimal(t *testing.T) {
	done := map[audit.Law]int{}
	for seed := range uint64(120) {
		text := randtext.Write(randprog.New(seed, randprog.All), seed%2 == 0)
		run, ok := lawsOf(text)
		if !ok {
			continue
		}
		var broken []audit.Law
		for l := range audit.NumLaws {
			if run.Audit.Counts[l] > 0 {
				broken = append(broken, l)
			}
		}
		if len(broken) == 0 {
			continue
		}
		rarest := slices.MinFunc(broken, func(a, b audit.Law) int { return done[a] - done[b] })
		keep := []audit.Law{rarest}
		if seed%5 == 0 {
			keep = broken[:min(2, len(broken))]
		}
		checkMinimal(t, text, Options{Keep: keep})
		done[keep[0]]++
	}
	for _, l := range []audit.Law{audit.DoubleBelief, audit.StaleWrite, audit.LostUpdate, audit.UnlockedWrite, audit.Orphan} {
		if done[l] == 0 {
			t.Errorf("no random schedule broke %v", l)
		}
	}
}

func TestScenariosBecomeMinimal(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "scenarios", "incidents", "*.dlk"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range append(files, filepath.Join("..", "..", "scenarios", "pause.dlk")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shrunk := 0
		for _, l := range []audit.Law{audit.Overlap, audit.StaleWrite, audit.LostUpdate, audit.Orphan} {
			o := Options{Keep: []audit.Law{l}}
			_, err := Shrink(context.Background(), name, text, o)
			var unbroken *UnbrokenError
			if errors.As(err, &unbroken) {
				continue
			}
			r := checkMinimal(t, string(text), o)
			if r.After > r.Before || r.After == 0 {
				t.Errorf("%s: %d statements became %d", name, r.Before, r.After)
			}
			shrunk++
		}
		if shrunk == 0 {
			t.Logf("%s breaks none of the laws asked for", name)
		}
	}
}

const story = `# The lesson, which is of the whole schedule.
scenario "a title"

servers 5
let lease = 10 # ten
# said about an arrival
let arrival = lease + 2

# what A does first
at 0 A acquire ttl lease # a lease
at 1 A read
at 2 + arrival A append "A" # at 13
at arrival B acquire ttl lease retry every 1 {
  # B's work
  +1 append "B" # at once
} when denied {
  +1 notice
}
run "fenced" {
  fencing on
}
run "open" {
  let arrival = 11
  expect stale-write 1
}
`

func TestWhatIsLeft(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"belief", Options{Keep: []audit.Law{audit.DoubleBelief}, Run: "open"}, `scenario "a schedule that breaks double-belief, shrunk from t.dlk"

# what A does first
at 0 A acquire ttl 0  # a lease
at 0 B acquire ttl 0

expect double-belief 1
expect final ""
`},
		{"both", Options{Keep: []audit.Law{audit.StaleWrite, audit.DoubleBelief}}, `scenario "a schedule that breaks stale-write and double-belief, shrunk from t.dlk"

# what A does first
at 0 A acquire ttl 0  # a lease
at 1 A append "A"
at 0 B acquire ttl 0 {
  # B's work
  +0  append "B"  # at once
}

expect stale-write 1
expect double-belief 1
expect final "A"
expect at 0 B accepted
expect at 1 A accepted
`},
		{"an override goes into the file", Options{Keep: []audit.Law{audit.RefusedHolder}, Over: []compile.Override{{Name: "fencing", Value: "strict"}}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Shrink(context.Background(), "t.dlk", []byte(story), tt.o)
			var unbroken *UnbrokenError
			switch {
			case tt.want == "":
				if !errors.As(err, &unbroken) || len(unbroken.Runs) != 2 {
					t.Fatalf("got %v, want that neither run breaks it", err)
				}
			case err != nil:
				t.Fatal(err)
			case string(r.Text) != tt.want:
				t.Fatalf("got\n%s\nwant\n%s", r.Text, tt.want)
			}
		})
	}
}

func TestLimitOfCandidates(t *testing.T) {
	keep := []audit.Law{audit.StaleWrite}
	whole, err := Shrink(context.Background(), "t.dlk", []byte(story), Options{Keep: keep})
	if err != nil || whole.Short {
		t.Fatal(err)
	}
	for _, most := range []int{1, 5, 40, whole.Tried - 1} {
		r, err := Shrink(context.Background(), "t.dlk", []byte(story), Options{Keep: keep, most: most})
		if err != nil || !r.Short || r.Tried != most || !breaks(withoutClaims(r.Text), keep) {
			t.Errorf("%d candidates: %v, %+v", most, err, r)
		}
	}
	r, err := Shrink(context.Background(), "t.dlk", []byte(story), Options{Keep: keep, most: whole.Tried})
	if err != nil || r.Short || !bytes.Equal(r.Text, whole.Text) {
		t.Errorf("as many candidates as are needed: %v, %+v", err, r)
	}
}

// An interrupt leaves a file that breaks the law and says that it is not the smallest.
func TestInterruptedShrink(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Shrink(ctx, "t.dlk", []byte(story), Options{Keep: []audit.Law{audit.StaleWrite}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Short || r.Tried != 0 || !breaks(withoutClaims(r.Text), []audit.Law{audit.StaleWrite}) {
		t.Fatalf("short %v after %d candidates:\n%s", r.Short, r.Tried, r.Text)
	}
}

func TestReadAndWriteKeepTheText(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "scenarios", "*.dlk"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, ds := dsl.Format(text, name)
		if ds.HasErrors() {
			t.Fatal(name)
		}
		got, ds := dsl.Format([]byte(read(string(want)).text(nil)), name)
		if ds.HasErrors() || !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// FuzzRead takes any text apart and puts it together again: nothing of a file that the formatter takes may be lost.
func FuzzRead(f *testing.F) {
	f.Add(story)
	f.Add("at 0 A acquire ttl 1 when denied { # why\n+1 notice\n# end\n} when granted {\n}\nexpect final \"#\\\"{\"\n")
	f.Fuzz(func(t *testing.T, src string) {
		want, ds := dsl.Format([]byte(src), "t.dlk")
		if ds.HasErrors() {
			return
		}
		d := read(string(want))
		got, ds := dsl.Format([]byte(d.text(nil)), "t.dlk")
		if ds.HasErrors() {
			t.Fatalf("what was read makes no sense:\n%s", d.text(nil))
		}
		if one, two := bare(string(want)), bare(string(got)); one != two {
			t.Fatalf("got\n%s\nwant\n%s", two, one)
		}
	})
}

// bare is a formatted text without comments and empty lines, which may move.
func bare(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if words, _ := cutComment(strings.TrimSpace(line)); words != "" {
			b.WriteString(strings.Join(strings.Fields(words), " ") + "\n")
		}
	}
	return b.String()
}

// What is left has a title that is true of it, whatever the file is called, and no description of what it was made from.
func TestTitleOfWhatIsLeft(t *testing.T) {
	for name, want := range map[string]string{
		"/a/b/c.dlk":  "a schedule that breaks stale-write, shrunk from c.dlk",
		`a\"d".dlk`:   `a schedule that breaks stale-write, shrunk from "d".dlk`,
		"-":           "a schedule that breaks stale-write, shrunk from standard input",
		"a\n\x00b":    "a schedule that breaks stale-write, shrunk from a??b",
		"\xff\xfe.go": "a schedule that breaks stale-write, shrunk from ??.go",
	} {
		for _, source := range []string{story, strings.Replace(story, `scenario "a title"`, "", 1)} {
			r, err := Shrink(context.Background(), name, []byte(source), Options{Keep: []audit.Law{audit.StaleWrite}})
			if err != nil {
				t.Fatal(err)
			}
			script, ds := dsl.Parse(name, r.Text)
			if ds.HasErrors() || script.About != "" || strings.ReplaceAll(script.Title, "�", "?") != want {
				t.Errorf("%q: got the title %q and %q before it, %v", name, script.Title, script.About, ds)
			}
		}
	}
}
