package report

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/margin"
	"dlock/internal/randprog"
	"dlock/internal/randtext"
)

func margins(t *testing.T, text string) *margin.File {
	t.Helper()
	f, ds := margin.Of(context.Background(), "t.dlk", []byte(text), margin.Options{})
	if f == nil {
		t.Fatalf("the text makes no sense: %v", ds)
	}
	return f
}

// Every line about a margin is a sentence without holes, whatever flips, and fits the width; the JSON says the same.
func TestMarginsAreWorded(t *testing.T) {
	for seed := range uint64(3) {
		text := randtext.Write(randprog.New(seed, randprog.Basic), true)
		if _, ds := dsl.Parse("t.dlk", []byte(text)); ds.HasErrors() {
			continue
		}
		f := margins(t, text)
		var out, doc bytes.Buffer
		if err := Margins(&out, f, Options{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > DefaultWidth+1 || strings.Contains(line, "it would be broken") || strings.Contains(line, "it would not be broken") ||
				strings.Contains(line, "''") || strings.Contains(line, " 's") || strings.Contains(line, "  with") {
				t.Errorf("seed %d: %q", seed, line)
			}
		}
		if err := MarginsJSON(&doc, f); err != nil {
			t.Fatal(err)
		}
		var back struct {
			Runs []struct {
				Verdicts []struct {
					Flips []struct{ Says string }
				}
			}
		}
		if err := json.Unmarshal(doc.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		said := strings.Join(strings.Fields(out.String()), " ")
		for i, v := range back.Runs[0].Verdicts {
			if len(v.Flips) != len(f.Runs[0].Verdicts[i].Flips) {
				t.Fatalf("seed %d: the JSON has other flips", seed)
			}
			if len(v.Flips) > 0 && !strings.Contains(said, v.Flips[0].Says) && len(f.Runs[0].Verdicts[i].Now.Final) < maxShownValue {
				t.Errorf("seed %d: the text does not say %q\n%s", seed, v.Flips[0].Says, out.String())
			}
		}
	}
}

// The sentence that a post-mortem would quote.
func TestMarginOfThePause(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "pause.dlk"))
	if err != nil {
		t.Fatal(err)
	}
	f := margins(t, string(text))
	for i := range f.Runs[0].Verdicts {
		v := &f.Runs[0].Verdicts[i]
		if v.Subject == margin.OfLaw && v.Law == audit.StaleWrite {
			const want = "2 ticks: with stall 12 (now 14) A's write at 16 would no longer be stale"
			if got := marginSays(v, &v.Flips[0]); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			return
		}
	}
	t.Error("there is no verdict about stale writes")
}
