package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"dlock/audit"
)

// Grid is a table of scenarios by configurations.
type Grid struct {
	Columns []string // the configurations
	Rows    []GridRow
	// Causes makes another table: where the fault of each scenario lies in its first cell, and which of the other
	// configurations undo the harm; sorted by the fault.
	Causes bool
	// Without lists the scenarios that have no run to show.
	Without []string
}

// GridRow is one scenario, or those runs of it that come out alike, under every configuration of its Grid.
type GridRow struct {
	Name  string
	Title string
	Runs  []string // none: the scenario is one run
	Cells []GridCell
}

// GridCell is one scenario under one configuration.
type GridCell struct {
	Final  string
	Counts [audit.NumLaws]int64
	Fault  audit.Fault
	Note   string // why there is no result; "" if there is one
}

// Matrix writes a grid: in each cell what is left and the laws that are broken, by name where there is room and by sign
// where there is not. It returns the first error of w.
func Matrix(w io.Writer, g *Grid, o Options) error {
	if g.Causes {
		return printText(w, causesPage(g), o)
	}
	names := 0
	for _, r := range g.Rows {
		names = max(names, width(name(r.Name)), width(r.runs())+gap)
	}
	names = min(names, maxGridName)
	columns, need := max(1, len(g.Columns)), signColumns
	for _, c := range g.Columns {
		for part := range strings.SplitSeq(name(c), ",") {
			need = max(need, width(part)+1)
		}
	}
	room := o.width() - len(indent)
	if side := room - columns*(need+gap); side >= minGridName { // rather a narrow first column than a list
		names = min(names, side)
	}
	side := (room-names)/columns - gap
	switch {
	case side >= spelledColumns:
		return printText(w, gridPage(g, true, names, side), o)
	case side >= need:
		return printText(w, gridPage(g, false, names, side), o)
	default:
		return printText(w, gridList(g), o)
	}
}

// The narrowest columns in which the names of laws and their signs can be read. A grid of more columns becomes a list.
const (
	spelledColumns = 24
	signColumns    = 12
)

// The names take at most maxGridName columns, and minGridName where the results need the room; a longer list of runs goes
// on below.
const (
	maxGridName = 44
	minGridName = 28
)

// runs names the runs of a row.
func (r *GridRow) runs() string {
	names := make([]string, len(r.Runs))
	for i, n := range r.Runs {
		names[i] = quote(name(n))
	}
	return strings.Join(names, ", ")
}

// without says which scenarios have no row.
func (g *Grid) without(p *page) {
	n := len(g.Without)
	if n == 0 {
		return
	}
	names := make([]string, n)
	for i, s := range g.Without {
		names[i] = name(s)
	}
	p.add(prose, mark(dim, count(n, "scenario")+" without a run "+are(n)+" left out; `dlock sweep` or `dlock explore` shows "+list(names, "and")+"."))
}

// MatrixMarkdown writes a grid as a Markdown table. It returns the first error of w.
func MatrixMarkdown(w io.Writer, g *Grid, _ Options) error {
	if g.Causes {
		return printMarkdown(w, causesPage(g))
	}
	return printMarkdown(w, gridPage(g, true, 0, spelledColumns))
}

// cause says where the fault of a cell lies, in a word or two.
func cause(r *GridRow) string {
	if len(r.Cells) == 0 || r.Cells[0].Note != "" {
		return blank
	}
	switch c := &r.Cells[0]; c.Fault {
	case audit.FaultLock:
		return "the lock"
	case audit.FaultTokens:
		return "the tokens"
	case audit.FaultResource:
		return "the resource"
	case audit.FaultSnapshot:
		return "an old copy"
	case audit.FaultBypass:
		return "nobody was hurt"
	default:
		for _, l := range [...]audit.Law{audit.Deadlock, audit.Starvation, audit.Orphan} {
			if c.Counts[l] > 0 {
				return "the wait"
			}
		}
		return blank
	}
}

// undoneBy lists the configurations in which the harm of a row's first cell is gone: to the data, if there is any; else to
// the lock's rule that only its holder writes; else to those who wait.
func (g *Grid) undoneBy(r *GridRow) cell {
	if len(r.Cells) == 0 || r.Cells[0].Note != "" {
		return cell{mark(dim, blank)}
	}
	for _, harm := range [][]audit.Law{{audit.StaleWrite, audit.LostUpdate}, {audit.UnlockedWrite}, {audit.RefusedHolder}, {audit.Starvation, audit.Deadlock, audit.Orphan}} {
		if !r.Cells[0].breaks(harm) {
			continue
		}
		var by []string
		for i := 1; i < min(len(r.Cells), len(g.Columns)); i++ {
			if c := &r.Cells[i]; c.Note == "" && !c.breaks(harm) {
				by = append(by, strings.ReplaceAll(name(g.Columns[i]), ",", " with "))
			}
		}
		if len(by) == 0 {
			return cell{mark(bad, "nothing here")}
		}
		return cell{say(list(by, "or"))}
	}
	return cell{mark(dim, blank)}
}

func (c *GridCell) breaks(laws []audit.Law) bool {
	return slices.ContainsFunc(laws, func(l audit.Law) bool { return c.Counts[l] > 0 })
}

// causesPage is the table of causes.
func causesPage(g *Grid) *page {
	p := &page{}
	first := asked(g)
	b := p.grid("scenario", "what it is", "the fault is", first, "undone by")
	rows := slices.Clone(g.Rows)
	slices.SortStableFunc(rows, func(a, b GridRow) int { return cmp.Compare(cause(&a), cause(&b)) })
	var used [audit.NumLaws]bool
	for i := range rows {
		r := &rows[i]
		shows := cell{mark(dim, "no result")}
		if len(r.Cells) > 0 {
			shows = gridCell(&r.Cells[0], true, &used)
		}
		b.rows = append(b.rows, []cell{{say(name(r.Name))}, {say(name(r.Title))}, {say(cause(r))}, shows, g.undoneBy(r)})
	}
	g.without(p)
	return p
}

// asked names the first configuration.
func asked(g *Grid) string {
	if len(g.Columns) == 0 {
		return ""
	}
	return name(g.Columns[0])
}

// gridPage shows a grid as a table. With room for names, a scenario with named runs has a line of its own and its runs
// stand below it; without, as in Markdown, every row has both.
func gridPage(g *Grid, spelled bool, names, most int) *page {
	p := &page{}
	head := []string{"scenario"}
	for _, c := range g.Columns {
		head = append(head, strings.ReplaceAll(name(c), ",", ", ")) // a place to break it
	}
	b := p.grid(head...)
	b.first, b.most = names, most
	var used [audit.NumLaws]bool
	for n := range g.Rows {
		r := &g.Rows[n]
		label := name(r.Name)
		switch {
		case len(r.Runs) == 0:
		case names == 0:
			label += ": " + r.runs()
		default:
			if n == 0 || g.Rows[n-1].Name != r.Name {
				b.row(say(label))
			}
			label = indent + r.runs()
		}
		row := []cell{{say(label)}}
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
		g.without(p)
		return p
	}
	p.add(section, mark(bold, "Signs"), say("  what is left, and which laws are broken; capitals are laws of safety"))
	signs := p.grid("", "", "")
	for _, l := range gravest() {
		if used[l] {
			signs.row(say(sign(l)), say(l.String()), say(meaning(l)))
		}
	}
	g.without(p)
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
				label := join([]string{name(r.Name), r.runs()}, ": ")
				b.rows = append(b.rows, []cell{{say(label)}, {say(name(c))}, gridCell(&r.Cells[i], true, &used)})
			}
		}
	}
	g.without(p)
	return p
}
