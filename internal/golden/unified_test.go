package golden

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A run's transcript repeats the lines of another's; where one word changes, one line does.
func TestUnifiedShowsOnlyWhatChanged(t *testing.T) {
	run := "run\n  0  A  acquire\n  1  A  read\n  2  A  append\n  3  A  release\n\n"
	changed := strings.Replace(run, "2  A  append", "5  A  append", 1)
	want := "-want +got\n@@ -1,6 +1,6 @@\n run\n   0  A  acquire\n   1  A  read\n-  2  A  append\n+  5  A  append\n   3  A  release\n \n run\n"
	got := unified(run+run, changed+run)
	want = strings.Replace(want, "-1,6 +1,6", "-1,7 +1,7", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A diff leads from one text to the other, by at most as many changes as both texts have lines.
func TestUnifiedLeadsFromOneTextToTheOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		var b strings.Builder
		for range rng.IntN(40) {
			fmt.Fprintf(&b, "%c\n", 'a'+rng.IntN(4))
		}
		if rng.IntN(3) == 0 {
			return strings.TrimSuffix(b.String(), "\n")
		}
		return b.String()
	}
	for range 5_000 {
		a, b := text(), text()
		if got, err := patched(a, unified(a, b)); err != nil || got != b {
			t.Fatalf("%q to %q gives %q, %v:\n%s", a, b, got, err, unified(a, b))
		}
	}
}

// patched applies a unified diff.
func patched(text, diff string) (string, error) {
	old := strings.SplitAfter(text, "\n")
	var out []string
	at, last := 0, byte(0)
	for _, l := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n")[1:] {
		var i, n, j, m int
		if k, err := fmt.Sscanf(l, "@@ -%d,%d +%d,%d @@", &i, &n, &j, &m); err == nil && k == 4 {
			if n > 0 {
				i--
			}
			out = append(out, old[at:i]...)
			if at = i; m > 0 {
				j--
			}
			if len(out) != j {
				return "", fmt.Errorf("%s: the other text is at line %d", l, len(out))
			}
			continue
		}
		switch {
		case strings.HasPrefix(l, "\\"):
			if last != '-' {
				out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
			}
			continue
		case l[0] != '+':
			if strings.TrimSuffix(old[at], "\n") != l[1:] {
				return "", fmt.Errorf("%q is not line %d", l, at)
			}
			at++
		}
		if last = l[0]; last != '-' {
			out = append(out, l[1:]+"\n")
		}
	}
	return strings.Join(append(out, old[at:]...), ""), nil
}

func TestChangedNamesOnlyTheValuesThatDiffer(t *testing.T) {
	for _, c := range [...]struct{ want, got, say string }{
		{`"A" 1 2 14`, `"Q" 1 2 14`, `wanted "A", got "Q"`},
		{`"a b" 1 2`, `"a c" 1 3`, `wanted "a b" 2, got "a c" 3`},
		{`1`, ``, `wanted 1, got no value`},
		{`1 2`, `1`, `wanted 1 2, got 1`},
	} {
		if say := changed(c.want, c.got); say != c.say {
			t.Errorf("%s, %s: %s", c.want, c.got, say)
		}
	}
}
