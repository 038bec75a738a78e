package report

import (
	"io"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
)

func gridOf(columns ...string) *Grid {
	g := &Grid{Columns: columns, Rows: []GridRow{{Name: "pause.dlk"}, {Name: "handover.dlk"}}}
	for i := range columns {
		broken := GridCell{Final: "A"}
		broken.Counts[audit.StaleWrite], broken.Counts[audit.DoubleBelief] = 1, 2
		if i > 0 {
			broken = GridCell{Note: "no let `stall`"}
		}
		g.Rows[0].Cells = append(g.Rows[0].Cells, broken)
		g.Rows[1].Cells = append(g.Rows[1].Cells, GridCell{Final: "AB"})
	}
	return g
}

func TestMatrix(t *testing.T) {
	three := text(t, func(w io.Writer) error { return Matrix(w, gridOf("fencing=off", "stall=3"), Options{Width: 80}) })
	want := `  scenario      fencing=off                     stall=3
  pause.dlk     "A" stale-write, double-belief  no let ` + "`stall`" + `
  handover.dlk  "AB" ok                         "AB" ok
`
	if three != want {
		t.Errorf("two columns:\n%s", three)
	}
	named := gridOf("fencing=off", "stall=3")
	named.Rows[0].Runs = []string{"unfenced", "fenced and called by a name that is longer than the room"}
	named.Rows[1].Runs = []string{"a run"}
	named.Without = []string{"grid.dlk", "lease.dlk"}
	want = `  scenario                                    fencing=off                     stall=3
  pause.dlk
    "unfenced", "fenced and called by a name  "A" stale-write, double-belief  no let ` + "`stall`" + `
    that is longer than the room"
  handover.dlk
    "a run"                                   "AB" ok                         "AB" ok

2 scenarios without a run are left out; ` + "`dlock sweep` or `dlock explore`" + ` shows grid.dlk and lease.dlk.
`
	if got := text(t, func(w io.Writer) error { return Matrix(w, named, Options{Width: 120}) }); got != want {
		t.Errorf("runs with names:\n%s\nwant\n%s", got, want)
	}
	md := text(t, func(w io.Writer) error { return MatrixMarkdown(w, named, Options{}) })
	if !strings.Contains(md, `| handover.dlk: "a run" | "AB" **ok** |`) || !strings.Contains(md, "grid.dlk and lease.dlk") {
		t.Errorf("Markdown:\n%s", md)
	}
	signs := text(t, func(w io.Writer) error { return Matrix(w, gridOf("a", "b", "c", "d", "e"), Options{}) })
	if !strings.Contains(signs, `"A" Sb`) || !strings.Contains(signs, "S  stale-write") || strings.Contains(signs, "O  overlap") {
		t.Errorf("signs:\n%s", signs)
	}
	list := text(t, func(w io.Writer) error {
		return Matrix(w, gridOf(strings.Split(strings.Repeat("servers=3,lease=5 ", 12), " ")...), Options{})
	})
	if strings.Count(list, "servers=3,lease=5") != 24 || !strings.Contains(list, "stale-write, double-belief") {
		t.Errorf("list:\n%s", list)
	}
	for name, s := range map[string]string{"columns": three, "signs": signs, "list": list} {
		for _, line := range strings.Split(s, "\n") {
			if width(line) > DefaultWidth {
				t.Errorf("%s: %d columns: %s", name, width(line), line)
			}
		}
	}
	if md := text(t, func(w io.Writer) error { return MatrixMarkdown(w, gridOf("x"), Options{}) }); !strings.Contains(md, `| pause.dlk | "A" **stale-write, double-belief** |`) {
		t.Errorf("Markdown:\n%s", md)
	}
}

func TestList(t *testing.T) {
	got := text(t, func(w io.Writer) error {
		return List(w, []*dsl.Script{
			{File: "pause.dlk", Title: "a pause", About: "Line one.\nLine two.", Blocks: []*dsl.Block{
				{Kind: dsl.RunBlock, Name: "unfenced"}, {Kind: dsl.SweepBlock, Name: "servers"}, {Kind: dsl.RunBlock, Name: "fenced"}}},
			{File: "bare.dlk"},
		}, Options{})
	})
	want := `  pause.dlk  a pause
             Line one.
             run "unfenced", "fenced"; sweep "servers"
  bare.dlk
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestExplain(t *testing.T) {
	page := dsl.CodePage{Code: "D012", Title: "no closing quote", Text: "A text ends on\nits own line.\n\nWrong:\n\n```dlk\nscenario \"a\n  at 0\n```\n\n- one\n- two\n"}
	got := text(t, func(w io.Writer) error { return Explain(w, page, Options{}) })
	want := "D012  no closing quote\n\nA text ends on its own line.\n\nWrong:\n\n  scenario \"a\n    at 0\n\n- one\n\n- two\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, c := range dsl.Codes() {
		if got := text(t, func(w io.Writer) error { return Explain(w, c, Options{}) }); !strings.HasPrefix(got, c.Code+"  ") || strings.Contains(got, "```") {
			t.Errorf("%s:\n%s", c.Code, got)
		}
	}
}
