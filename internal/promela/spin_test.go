package promela

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/search"
)

// need skips a test where Spin cannot be run, and says so.
func need(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT RUN: %s is not installed, so no model is checked by Spin here (on Debian: apt-get install spin gcc); .ci/run installs it", tool)
		}
	}
}

// single is a family of one program.
func single(p *engine.Program) Family {
	return Family{Title: "a test", Slices: 1, Slice: func(int64) (*engine.Program, error) { return p, nil }}
}

// spin has Spin check a model for every law, and gives those of which it finds a breach. The defines go to Spin.
func spin(t *testing.T, f Family, defines ...string) map[audit.Law]bool {
	t.Helper()
	dir := t.TempDir()
	var text bytes.Buffer
	if err := Write(&text, f); err != nil {
		t.Fatal(err)
	}
	command := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.pml"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	// The commands are the ones that the model's head gives, but for the optimiser: compiling takes longer than checking.
	options := []string{"-O0", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"}
	depth := ""
	for l := range strings.Lines(text.String()) {
		if at := strings.Index(l, "-DVECTORSZ"); at >= 0 {
			options = append(options, strings.Fields(l[at:])[0])
		}
		if at := strings.Index(l, "./pan -m"); at >= 0 && depth == "" {
			depth = strings.Fields(l[at:])[1]
		}
	}
	command("spin", append(defines, "-a", "model.pml")...)
	command("gcc", options...)
	broken := map[audit.Law]bool{}
	for _, law := range Laws() {
		out := command("./pan", depth, "-w18", "-N", Claim(law))
		switch {
		case strings.Contains(out, "max search depth too small"), strings.Contains(out, "aborted"):
			t.Fatalf("%v: the search is not complete:\n%s", law, out)
		case strings.Contains(out, "errors: 0"):
			broken[law] = false
		case strings.Contains(out, "assertion violated"):
			broken[law] = true
		default:
			t.Fatalf("%v: what pan says is not understood:\n%s", law, out)
		}
	}
	return broken
}

// searched gives the laws that some member of a program's family breaks.
func searched(t *testing.T, p *engine.Program) map[audit.Law]bool {
	t.Helper()
	s, err := search.New(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	broken := map[audit.Law]bool{}
	for _, l := range Laws() {
		broken[l] = r.Broken.Has(l)
	}
	return broken
}

// agree compares two verdicts.
func agree(t *testing.T, name string, spin, dlock map[audit.Law]bool) {
	t.Helper()
	for _, l := range Laws() {
		if spin[l] != dlock[l] {
			t.Errorf("%s: %v: Spin finds a breach: %v, the search: %v", name, l, spin[l], dlock[l])
		}
	}
}

// yardstick is the family of docs/explore.md: clients with retries, each but the first with an open arrival, the first with
// an open pause between its read and its write.
func yardstick(clients int, bound int32, f engine.Fencing) *engine.Program {
	p := &engine.Program{
		Settings: engine.Settings{Servers: 5, Quorum: 3, Fencing: f, Leases: true, OwnerCheck: true, Horizon: engine.Tick(bound) + 200},
		Ties:     true,
		Holes:    []engine.Hole{{N: bound + 1, By: 1}},
	}
	for c := range int32(clients) {
		name := string('A' + c)
		p.Clients, p.Owners, p.Texts = append(p.Clients, name), append(p.Owners, name), append(p.Texts, name)
		step := engine.Step{Line: 10*c + 1, Verb: engine.Acquire, Client: c, TTL: 10, Retry: 1, RetryUntil: engine.Forever, Owner: c,
			PauseFor: -1, Blocks: engine.Span{Lo: c, Hi: c + 1}}
		if c > 0 {
			p.Holes = append(p.Holes, engine.Hole{N: bound + 1, By: 1})
			step.Hole = c + 1
		}
		p.Steps = append(p.Steps, step)
		p.Roots = append(p.Roots, c)
	}
	for c := range int32(clients) {
		lo, hole := int32(len(p.Steps)), int32(0)
		if c == 0 {
			hole = 1
		}
		after := engine.Step{Client: c, Repeat: engine.AfterOutcome, PauseFor: -1, Owner: c}
		read, write, release := after, after, after
		read.Line, read.Verb, read.At = 10*c+2, engine.Read, 1
		write.Line, write.Verb, write.At, write.Text, write.Hole = 10*c+3, engine.Append, 2, c, hole
		release.Line, release.Verb, release.At, release.Hole = 10*c+4, engine.Release, 3, hole
		p.Steps = append(p.Steps, read, write, release)
		p.Blocks = append(p.Blocks, engine.Block{On: 1 << engine.Granted, Steps: engine.Span{Lo: lo, Hi: lo + 3}})
	}
	return p
}

func TestSpinConfirmsTheYardstick(t *testing.T) {
	need(t)
	for _, f := range []engine.Fencing{engine.FencingOff, engine.FencingOn} {
		for _, bound := range []int32{5, 12} {
			p := yardstick(2, bound, f)
			name := fmt.Sprintf("bound %d, fencing %d", bound, f)
			agree(t, name, spin(t, single(p)), searched(t, p))
		}
	}
	p := yardstick(2, 12, engine.FencingOff)
	agree(t, "five servers", spin(t, single(p), "-DSERVERS=5", "-DQUORUM=3"), searched(t, p))
}
