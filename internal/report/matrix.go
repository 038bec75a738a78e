package report

import (
	"io"
	"strings"

	"dlock/audit"
)

// Grid is a table of scenarios by configurations.
type Grid struct {
	Columns []string // the configurations
	Rows    []GridRow
}

// GridRow is one scenario under every configuration of its Grid.
type GridRow struct {
	Name  string
	Cells []GridCell
}

// GridCell is one scenario under one configuration.
type GridCell struct {
	Final  string
	Counts [audit.NumLaws]int64
	Note   string // why there is no result; "" if there is one
}

// Matrix writes a grid: in each cell what is left and the laws that are broken, by name where there is room and by sign
// where there is not. It returns the first error of w.
func Matrix(w io.Writer, g *Grid, o Options) error {
	const wide = 26 // columns in which names of laws can be read
	names := 0
	for _, r := range g.Rows {
		names = max(names, width(safe(r.Name)))
	}
	side := (o.width() - len(indent) - min(names, widest)) / max(1, len(g.Columns))
	return printText(w, gridPage(g, side-gap >= wide, max(side-gap, 1)), o)
}

// MatrixMarkdown writes a grid as a Markdown table. It returns the first error of w.
func MatrixMarkdown(w io.Writer, g *Grid, _ Options) error {
	return printMarkdown(w, gridPage(g, true, widest))
}

func gridPage(g *Grid, spelled bool, most int) *page {
	p := &page{}
	head := append([]string{"scenario"}, g.Columns...)
	for i := range head {
		head[i] = strings.TrimPrefix(name(head[i]), ">") // no name of a configuration sets its column
	}
	b := p.grid(head...)
	b.most = max(most, 12)
	var used [audit.NumLaws]bool
	for _, r := range g.Rows {
		row := []cell{{say(name(r.Name))}}
		for i := range g.Columns {
			if i >= len(r.Cells) {
				row = append(row, cell{mark(dim, "no result")})
				continue
			}
			row = append(row, gridCell(&r.Cells[i], spelled, &used))
		}
		b.rows = append(b.rows, row)
	}
	if spelled {
		return p
	}
	p.add(section, mark(bold, "Signs"), say("  what is left, and which laws are broken; capitals are laws of safety"))
	signs := p.grid("", "", "")
	for _, l := range laws() {
		if used[l] {
			signs.row(say(sign(l)), say(l.String()), say(meaning(l)))
		}
	}
	return p
}

func gridCell(c *GridCell, spelled bool, used *[audit.NumLaws]bool) cell {
	if c.Note != "" {
		return cell{mark(dim, c.Note)}
	}
	var broken []string
	for _, l := range laws() {
		if c.Counts[l] == 0 {
			continue
		}
		used[l] = true
		if spelled {
			broken = append(broken, l.String())
		} else {
			broken = append(broken, sign(l))
		}
	}
	final := value(c.Final) + " "
	if len(broken) == 0 {
		return cell{say(final), mark(good, "ok")}
	}
	sep := ""
	if spelled {
		sep = ", "
	}
	return cell{say(final), mark(bad, strings.Join(broken, sep))}
}
