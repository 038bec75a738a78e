package promela

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

// programs gives the family of a source's only explore block.
func programs(t *testing.T, text string) *study.Programs {
	t.Helper()
	script, ds := dsl.Parse("it.dlk", []byte(text))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	st, ds := study.Open(script, nil)
	if st == nil {
		t.Fatal(ds)
	}
	return st.Programs(st.Families()[0])
}

func ofPrograms(title string, ps *study.Programs) Family {
	return Family{Title: title, Holes: ps.Late, Slices: ps.N, Slice: ps.At, Label: ps.Label}
}

func TestWhatTheModelHasNotIsNamed(t *testing.T) {
	for _, tc := range []struct {
		text string
		line int32
		what string
	}{
		{"at 0 A renew ttl 5", 2, "renew"},
		{"at 0 A acquire ttl 5 watchdog every 2", 2, "a watchdog"},
		{"at 0 A acquire ttl 5 as \"job\"", 2, "an owner id of its own"},
		{"at 0 A acquire ttl 5 {\n  +1 write \"x\" arrives +3\n}", 3, "a message that takes time"},
		{"every 3 from 0 to 9 A check", 2, "every"},
		{"at 0 A clock +3", 2, "clock"},
		{"at 0 s2 clock stop", 2, "clock"},
		{"at 0 cut A from s1", 2, "cut"},
		{"judge caller", 0, "a judge"},
		{"validity on", 0, "validity"},
		{"lock-delay 3", 0, "lock-delay"},
		{"reentrant on", 0, "reentrant"},
		{"servers any 1..3", 0, "a setting that differs"},
	} {
		ps := programs(t, "at any 0..3 A acquire ttl 5\n"+tc.text+"\nexplore \"it\" {\n  ties any\n}\n")
		var out bytes.Buffer
		err := Write(&out, ofPrograms("it", ps))
		var un *UnsupportedError
		if !errors.As(err, &un) || un.Line != tc.line || !strings.HasPrefix(un.What, tc.what) {
			t.Errorf("%q: %v, want line %d and %q", tc.text, err, tc.line, tc.what)
		}
		if out.Len() > 0 {
			t.Errorf("%q: something was written all the same", tc.text)
		}
	}
}

func TestLimits(t *testing.T) {
	long := "at any 0..3 A acquire ttl 5\n"
	for i := range MaxSteps {
		long += fmt.Sprintf("at %d A check\n", i)
	}
	for name, text := range map[string]string{
		"lines":  long,
		"slices": "at 0 A acquire ttl any 1..1001\n",
		"ticks":  "at 0 A acquire ttl any 999999999, 1000000000\nat 1000000000 B acquire ttl 1000000000 {\n  +1000000000 read\n}\n",
	} {
		ps := programs(t, text+"explore \"it\" {\n}\n")
		var un *UnsupportedError
		if err := Write(&bytes.Buffer{}, ofPrograms("it", ps)); !errors.As(err, &un) {
			t.Errorf("%s: %v, want that it is too large", name, err)
		}
	}
}

// TestTheWidthOfNumbers holds the types to what has to go into them: a number that does not fit would wrap around silently.
func TestTheWidthOfNumbers(t *testing.T) {
	for _, tc := range []struct{ last, ttl, tick string }{
		{"0", "10", "#define tick byte\n#define NEVER 255\n"},
		{"0", "254", "#define tick byte\n#define NEVER 255\n"},
		{"0", "255", "#define tick short\n#define NEVER 32767\n"},
		{"200", "60", "#define tick short\n#define NEVER 32767\n"},
		{"0", "32766", "#define tick short\n#define NEVER 32767\n"},
		{"0", "32767", "#define tick int\n#define NEVER 2147483647\n"},
		{"0", "none", "#define tick byte\n#define NEVER 255\n"},
	} {
		ps := programs(t, "at 0 B check\nat "+tc.last+" A acquire ttl "+tc.ttl+"\nexplore \"it\" {\n  ties any\n}\n")
		var out bytes.Buffer
		if err := Write(&out, ofPrograms("it", ps)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), tc.tick) {
			t.Errorf("at %s ttl %s: the model has not %q", tc.last, tc.ttl, tc.tick)
		}
	}
}

func TestTheModelIsTheSameEveryTime(t *testing.T) {
	for _, src := range sources {
		var first, again bytes.Buffer
		for _, out := range []*bytes.Buffer{&first, &again} {
			if err := Write(out, ofPrograms(src.name, programs(t, src.text))); err != nil {
				t.Fatal(err)
			}
		}
		if first.String() != again.String() {
			t.Errorf("%s: two models differ", src.name)
		}
	}
}

// TestNothingEscapesTheComments gives the head a title that would end its comment.
func TestNothingEscapesTheComments(t *testing.T) {
	f := ofPrograms("*/ assert(false) /*\n\x1b[31m", programs(t, sources[0].text))
	f.Holes = []string{"*/ x"}
	var out bytes.Buffer
	if err := Write(&out, f); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "/* * / assert(false) / *  [31m\n *\n") || strings.Contains(out.String(), "*/ x") {
		t.Errorf("the head is\n%s", out.String()[:200])
	}
}

func TestErrorsOfTheFamilyAreHandedOn(t *testing.T) {
	broken := errors.New("no program")
	f := Family{Slices: 1, Slice: func(int64) (*engine.Program, error) { return nil, broken }}
	if err := Write(&bytes.Buffer{}, f); !errors.Is(err, broken) {
		t.Errorf("%v, want the family's own error", err)
	}
}
