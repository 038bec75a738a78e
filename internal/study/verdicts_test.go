package study_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
)

// Every file of testdata/verdicts is a schedule after a report about a real lock. The verdicts in the comments at its end were
// worked out by hand from the language and then compared with the program; where the two differed, the rule that decides was
// looked up before either was changed. They are whole: what a verdict does not name is not there.
func TestVerdictsWorkedOutByHand(t *testing.T) {
	eachSchedule(t, "verdicts", func(t *testing.T, text string, file *study.File) {
		t.Helper()
		text = strings.ReplaceAll(text, "\r\n", "\n")
		at := strings.Index(text, "\n# verdict ")
		if at < 0 {
			t.Fatal("the file has no verdict")
		}
		var got strings.Builder
		for _, it := range file.Items {
			got.WriteString(verdict(it.Run))
		}
		if want := text[at+1:]; got.String() != want {
			t.Errorf("the program says\n%s\nand the verdict is\n%s", got.String(), want)
		}
	})
}

// verdict writes a run as the files do: intervals with "-" for an end that never comes, writes as tick:client:token:decision.
func verdict(r *study.Run) string {
	rec := r.Record
	var b strings.Builder
	fmt.Fprintf(&b, "# verdict %q\n", r.Name)
	line := func(what string, words []string) {
		if len(words) > 0 {
			fmt.Fprintf(&b, "#   %s %s\n", what, strings.Join(words, " "))
		}
	}
	stretch := func(client int32, start, end engine.Tick) string {
		if end == engine.Forever {
			return fmt.Sprintf("%s[%d,-)", rec.Program.Clients[client], start)
		}
		return fmt.Sprintf("%s[%d,%d)", rec.Program.Clients[client], start, end)
	}
	line("final", []string{fmt.Sprintf("%q", rec.Value(rec.Final))})

	var words []string
	for _, h := range r.Audit.Holders {
		words = append(words, stretch(h.Client, h.Start, h.End))
	}
	line("holders", words)

	words = nil
	beliefs := slices.Clone(rec.Beliefs)
	slices.SortStableFunc(beliefs, func(x, y engine.Belief) int {
		return cmp.Or(cmp.Compare(x.Start.Tick, y.Start.Tick), strings.Compare(rec.Program.Clients[x.Client], rec.Program.Clients[y.Client]))
	})
	for _, x := range beliefs {
		words = append(words, stretch(x.Client, x.Start.Tick, x.End.Tick))
	}
	line("beliefs", words)

	words = nil
	writes := slices.Clone(rec.Writes)
	slices.SortStableFunc(writes, func(x, y engine.WriteOp) int {
		return cmp.Or(cmp.Compare(x.Applied.Tick, y.Applied.Tick), cmp.Compare(x.Applied.Seq, y.Applied.Seq))
	})
	for _, w := range writes {
		switch {
		case w.Applied.Tick == engine.Forever:
			continue
		case w.Accepted:
			words = append(words, fmt.Sprintf("%d:%s:%d:ok", w.Applied.Tick, rec.Program.Clients[w.Client], w.Token))
		default:
			words = append(words, fmt.Sprintf("%d:%s:%d:rej", w.Applied.Tick, rec.Program.Clients[w.Client], w.Token))
		}
	}
	line("writes", words)

	words = nil
	for _, g := range rec.Grants {
		words = append(words, fmt.Sprintf("%s@%d", rec.Program.Clients[g.Client], g.Heard.Tick))
	}
	line("grants", words)

	words = nil
	for l := range audit.NumLaws {
		if n := r.Audit.Counts[l]; n > 0 {
			words = append(words, fmt.Sprintf("%v=%d", l, n))
		}
	}
	line("laws", words)
	if r.Audit.Idle > 0 {
		line("idle", []string{fmt.Sprint(r.Audit.Idle)})
	}
	return b.String()
}
