package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/randprog"
	"dlock/internal/randtext"
	"dlock/internal/report"
	"dlock/internal/study"
)

// families are schedules with holes of every kind: late ones and others, in lines that may be there, with and without
// ties, claims that classes decide and claims that need every member.
const families = `let stall = any 0..12
at 0 A acquire ttl 8 {
  +1  read
  +2 + stall append "A"
}
at 3 B acquire ttl 8 retry every 2 {
  +1  read
  +2  append "B"
  +3  release
}
expect no token-regress
explore "one fault" {
  maybe gone at any 0..9 any s1..s5 crash
  maybe cut1 at any 1..3 cut A from s1
  where gone + cut1 <= 1
  expect sometimes stale-write
}
explore "clocks" {
  let k = any 3, -2, 5
  at 2 s1 s2 clock +k
  ties any
  expect sometimes lost-update
}
explore "every member is looked at" {
  let k = any 0..4
  at k A pause for 3
  expect at 3 A holds in 65
}
`

// sameText is a family in which one value comes about in two ways: by a write, and by an append to nothing.
const sameText = `servers 1
fencing on
at 13 B write "A"
at 10 A release
at 8 A acquire ttl 13 retry every 3
at 9 A append "A"
at 5 A acquire ttl 9
at 8 B acquire ttl 5 retry every 2
explore "open" {
  ties any
  expect final "A" in 4
}
`

// threeClients is the yardstick of three clients as large as walking can be waited for: 236,896 members.
const threeClients = `let stall = any 0..5
let b = any 0..4
let c = any 0..4
at 0 A acquire ttl 4 retry every 1 {
  +1 read
  +2 + stall append "A"
  +3 + stall release
}
at b B acquire ttl 4 retry every 1 {
  +1 read
  +2 append "B"
  +3 release
}
at c C acquire ttl 4 retry every 1 {
  +1 read
  +2 append "C"
  +3 release
}
explore "three" {
  ties any
  expect stale-write in 40152
}
`

func openFamily(t *testing.T, name string, text []byte) *study.Study {
	t.Helper()
	script, ds := dsl.Parse(name, text)
	if ds.HasErrors() {
		t.Fatalf("%s: %v", name, ds)
	}
	st, ds := study.Open(script, nil)
	if st == nil {
		t.Fatalf("%s: %v", name, ds)
	}
	return st.WithSource(text)
}

func mustDo(ctx context.Context, t *testing.T, st *study.Study, o study.Options) *study.File {
	t.Helper()
	f, err := st.Do(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// printed is all that people and programs see of what was explored.
func printed(t *testing.T, f *study.File) string {
	t.Helper()
	var b bytes.Buffer
	if err := errors.Join(report.Explore(&b, f, nil, report.Options{}), report.ExploreJSON(&b, []*study.File{f}, nil)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestInterruptedSearchResumes interrupts a search after each of its slices in turn, goes on from what was written down, and
// wants the answer of a search that nobody interrupted.
func TestInterruptedSearchResumes(t *testing.T) {
	st := openFamily(t, "families.dlk", []byte(families))
	for _, brute := range []bool{false, true} {
		for _, name := range st.Families() {
			whole := study.Options{Runs: []string{name}, Brute: brute, Jobs: 2}
			want := mustDo(t.Context(), t, st, whole)
			slices := int(want.Items[0].Explore.Slices)
			for after := 1; after < slices; after += 1 + slices/5 {
				ctx, stop := context.WithCancel(t.Context())
				halted := whole
				done := 0
				halted.Checkpoint = func(func() *study.Part) {
					if done++; done >= after {
						stop()
					}
				}
				half := mustDo(ctx, t, st, halted).Items[0].Explore
				stop()
				if half.Done < int64(after) || half.Done == half.Slices && half.Stopped != "" {
					t.Errorf("%s: interrupted after %d slices, it says %d of %d, %q", name, after, half.Done, half.Slices, half.Stopped)
				}
				var b bytes.Buffer
				if err := study.WriteParts(&b, []study.Part{*half.Part}); err != nil {
					t.Fatal(err)
				}
				resumed := whole
				var err error
				if resumed.Parts, err = study.ReadParts(&b); err != nil {
					t.Fatal(err)
				}
				if got := printed(t, mustDo(t.Context(), t, st, resumed)); got != printed(t, want) {
					t.Errorf("%s, brute %v: resumed after %d slices it says\n%s\nwant\n%s", name, brute, after, got, printed(t, want))
				}
			}
		}
	}
}

// TestBruteAgrees holds the counting of the scenarios against walking every member of them.
func TestBruteAgrees(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "scenarios", "explore", "*.dlk"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scenarios to explore", err)
	}
	texts := map[string][]byte{"families.dlk": []byte(families), "same.dlk": []byte(sameText)}
	names := []string{"families.dlk", "same.dlk"}
	if !testing.Short() {
		names, texts["three.dlk"] = append(names, "three.dlk"), []byte(threeClients)
	}
	for _, name := range files {
		if filepath.Base(name) == "three-clients.dlk" {
			continue // millions of members
		}
		if texts[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for _, name := range names {
		st := openFamily(t, name, texts[name])
		counted, walked := mustDo(t.Context(), t, st, study.Options{}), mustDo(t.Context(), t, st, study.Options{Brute: true, Jobs: 2})
		for i := range counted.Items {
			if counted.Items[i].Explore != nil {
				compareSearches(t, name, counted.Items[i].Explore, walked.Items[i].Explore)
			}
		}
	}
}

// TestRandomFamilies opens holes in random schedules, and holds counting against walking every member.
func TestRandomFamilies(t *testing.T) {
	const enough = 60
	families, witnesses := 0, 0
	for seed := uint64(1); families < enough; seed++ {
		if seed > 50*enough {
			t.Fatalf("of %d schedules only %d make a family", seed, families)
		}
		which := randprog.Basic
		if seed%3 == 0 {
			which = randprog.All
		}
		text := []byte(leaveOpen(randtext.Write(randprog.New(seed, which), true), rand.New(rand.NewPCG(seed, 1))))
		script, ds := dsl.Parse("random.dlk", text)
		if ds.HasErrors() {
			continue // an outcome is named that its step cannot have
		}
		st, _ := study.Open(script, nil)
		if st == nil {
			continue // some member is no schedule
		}
		st.WithSource(text)
		walked, err := st.Do(t.Context(), study.Options{Brute: true, Limit: 3000, Jobs: 1})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if walked.Inconclusive() {
			continue
		}
		families++
		counted := mustDo(t.Context(), t, st, study.Options{Jobs: 2})
		compareSearches(t, fmt.Sprintf("seed %d", seed), counted.Items[0].Explore, walked.Items[0].Explore)
		witnesses += len(counted.Items[0].Explore.Smallest)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
	if witnesses < enough {
		t.Errorf("%d families have only %d witnesses", families, witnesses)
	}
}

// leaveOpen puts holes into a schedule and makes it one explore block.
func leaveOpen(text string, r *rand.Rand) string {
	var b strings.Builder
	holes := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case holes == 4 || len(words) < 3 || line[0] == ' ':
		case words[0] == "let" && r.IntN(3) == 0:
			holes++
			line = fmt.Sprintf("let %s = any %s, %d\n", words[1], words[3], r.IntN(12)+100)
		case words[0] == "at" && r.IntN(4) == 0:
			if n, err := strconv.Atoi(words[1]); err == nil {
				holes++
				line = strings.Replace(line, "at "+words[1], "at "+fmt.Sprintf("any %d..%d", n, n+r.IntN(4)+1), 1)
			}
		}
		if len(words) > 2 && words[0] == "at" && r.IntN(6) == 0 && holes < 4 {
			holes++
			line = "maybe " + line
		}
		b.WriteString(line)
	}
	ties := ""
	if r.IntN(2) == 0 {
		ties = "  ties any\n"
	}
	return b.String() + "explore \"open\" {\n" + ties + "}\n"
}

func compareSearches(t *testing.T, name string, a, b *study.Explore) {
	t.Helper()
	if !b.Walked && b.Members.Sign() > 0 {
		t.Errorf("%s, %q: nothing was walked", name, a.Name)
	}
	if a.Members.Cmp(b.Members) != 0 || a.Clean.Cmp(b.Clean) != 0 {
		t.Errorf("%s, %q: %v members, %v clean; walking %v and %v", name, a.Name, a.Members, a.Clean, b.Members, b.Clean)
	}
	for l := range audit.NumLaws {
		if a.Broken[l].Cmp(b.Broken[l]) != 0 {
			t.Errorf("%s, %q: %v in %v; walking %v", name, a.Name, l, a.Broken[l], b.Broken[l])
		}
	}
	same := func(x, y study.Class) bool {
		return x.Final == y.Final && x.Broken == y.Broken && x.Members.Cmp(y.Members) == 0 && x.Witness.Away == y.Witness.Away
	}
	if !slices.EqualFunc(a.Classes, b.Classes, same) {
		t.Errorf("%s, %q: outcomes differ", name, a.Name)
	}
	if !slices.EqualFunc(a.Smallest, b.Smallest, func(x, y study.Witness) bool {
		return x.Law == y.Law && x.Away == y.Away && x.Harm == y.Harm && len(x.Run.Record.Events) == len(y.Run.Record.Events)
	}) {
		t.Errorf("%s, %q: the smallest members differ", name, a.Name)
	}
	for i := range a.Claims {
		if x, y := &a.Claims[i], &b.Claims[i]; x.OK != y.OK || x.Held.Cmp(y.Held) != 0 || x.Vacuous != y.Vacuous {
			t.Errorf("%s, %q: %s differs: %v %v, walking %v %v", name, a.Name, x.Expect.Source, x.OK, x.Held, y.OK, y.Held)
		}
	}
	for _, w := range slices.Concat(a.Smallest, b.Smallest) {
		if w.Source == "" || !strings.Contains(w.Source, "expect "+w.Law.String()) {
			t.Errorf("%s, %q: the smallest member that breaks %v is no file:\n%s", name, a.Name, w.Law, w.Source)
			continue
		}
		replay(t, name, &w)
	}
}

// replay runs a witness's file as `dlock run` does, and wants its law broken and its claims to hold.
func replay(t *testing.T, name string, w *study.Witness) {
	t.Helper()
	script, ds := dsl.Parse("witness.dlk", []byte(w.Source))
	if ds.HasErrors() {
		t.Fatalf("%s: %v\n%s", name, ds, w.Source)
	}
	st, ds := study.New(script, nil)
	if st == nil {
		t.Fatalf("%s: %v\n%s", name, ds, w.Source)
	}
	f := mustDo(t.Context(), t, st, study.Options{})
	if len(f.Items) != 1 || f.Items[0].Run == nil || f.Failed() || f.Items[0].Run.Audit.Counts[w.Law] == 0 {
		t.Errorf("%s: the file of the smallest member that breaks %v does not do so, or its claims fail:\n%s", name, w.Law, w.Source)
	}
}

// A worker that panics is a fault of this program's own, not the end of the process.
func TestWorkersPanic(t *testing.T) {
	fault := func(err error) {
		t.Helper()
		var f *study.FaultError
		if !errors.As(err, &f) || len(f.Stack) == 0 || !strings.Contains(f.Error(), "on purpose") {
			t.Fatalf("the error is %v", err)
		}
		var errs bytes.Buffer
		a := newApp(Streams{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &errs, Env: os.LookupEnv})
		if a.fail(err); a.worst != broken || !strings.Contains(errs.String(), "a fault of dlock's own") {
			t.Errorf("it ends with %d and says %s", a.worst, errs.String())
		}
	}
	st := openFamily(t, "families.dlk", []byte(families))
	_, err := st.Do(t.Context(), study.Options{Jobs: 2, Checkpoint: func(func() *study.Part) { panic("on purpose") }})
	fault(err)

	script, _ := dsl.Parse("sweep.dlk", []byte("let n = 1\nat 0 A acquire ttl n\nsweep \"many\" over n in 1..20000 {\n}\n"))
	sw, _ := study.New(script, nil)
	_, err = sw.Do(t.Context(), study.Options{Jobs: 2, Each: func(study.Cell) { panic("on purpose") }})
	fault(err)
}

func TestSearchProgress(t *testing.T) {
	st := openFamily(t, "families.dlk", []byte(families))
	p := &study.Progress{}
	mustDo(t.Context(), t, st, study.Options{Runs: []string{"one fault"}, Shards: 2, PartOnly: true, Progressing: p})
	got := searchProgress(p, 2*time.Second)
	if !strings.Contains(got, " slices, ") || !strings.Contains(got, " members, ") || !strings.HasSuffix(got, "about 2s left") {
		t.Errorf("half of the slices in two seconds: %q", got)
	}
	if got := searchProgress(p, time.Millisecond); !strings.HasSuffix(got, "under a second left") {
		t.Errorf("half of the slices in a millisecond: %q", got)
	}
	one := openFamily(t, "one.dlk", []byte("let n = any 0..3000\nat n A acquire ttl 5\nat 0 B acquire ttl 5 retry every 1\nexplore \"one\" {\n  ties any\n}\n"))
	ctx, stop := context.WithCancel(t.Context())
	p = &study.Progress{}
	go func() {
		for p.States() == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	mustDo(ctx, t, one, study.Options{Progressing: p})
	stop()
	if got := searchProgress(p, 3*time.Second); p.States() == 0 || !strings.Contains(got, " states, ") && !strings.Contains(got, "1 of 1 slice, 3,002 members") {
		t.Errorf("within the only slice: %q", got)
	}
	if got := searchProgress(&study.Progress{}, 3*time.Second); got != "0 of 0 slices, 0 members, 3s so far" {
		t.Errorf("nothing is done: %q", got)
	}
}

func TestShardOf(t *testing.T) {
	for _, bad := range []string{"", "1", "0/2", "3/2", "1/0", "-1/2", "a/b", "1/2/3"} {
		if _, _, err := shardOf(bad); err == nil {
			t.Errorf("%q is no shard", bad)
		}
	}
	if i, n, err := shardOf("2/8"); i != 1 || n != 8 || err != nil {
		t.Errorf("2/8 is shard %d of %d, %v", i, n, err)
	}
}
