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
	names := 0
	for _, r := range g.Rows {
		names = max(names, width(name(r.Name)))
	}
	side := (o.width()-len(indent)-min(names, widest))/max(1, len(g.Columns)) - gap
	switch {
	case side >= spelledColumns:
		return printText(w, gridPage(g, true, side), o)
	case side >= signColumns:
		return printText(w, gridPage(g, false, side), o)
	default:
		return printText(w, gridList(g), o)
	}
}

// The narrowest columns in which the names of laws and their signs can be read. A grid of more columns becomes a list.
const (
	spelledColumns = 24
	signColumns    = 12
)

// MatrixMarkdown writes a grid as a Markdown table. It returns the first error of w.
func MatrixMarkdown(w io.Writer, g *Grid, _ Options) error {
	return printMarkdown(w, gridPage(g, true, spelledColumns))
}

func gridPage(g *Grid, spelled bool, most int) *page {
	p := &page{}
	head := []string{"scenario"}
	for _, c := range g.Columns {
		head = append(head, strings.ReplaceAll(name(c), ",", ", ")) // a place to break it
	}
	b := p.grid(head...)
	b.most = most
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
	for _, l := range gravest() {
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
	for _, l := range gravest() {
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

// gridList shows a grid with a line for each of its cells.
func gridList(g *Grid) *page {
	p := &page{}
	b := p.grid("scenario", "configuration", "")
	b.most = maxShownName
	var used [audit.NumLaws]bool
	for _, r := range g.Rows {
		for i, c := range g.Columns {
			if i < len(r.Cells) {
				b.rows = append(b.rows, []cell{{say(name(r.Name))}, {say(name(c))}, gridCell(&r.Cells[i], true, &used)})
			}
		}
	}
	return p
}
