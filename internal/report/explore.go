package report

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/study"
)

// Explore writes only what was explored of a file, with the smallest witness of each of some laws, or of the gravest law
// that is broken if there are none of them. It returns the first error of w.
func Explore(w io.Writer, f *study.File, only []audit.Law, o Options) error {
	return printText(w, explorePages(f, only, o), o)
}

// ExploreMarkdown writes what Explore writes, as Markdown. It returns the first error of w.
func ExploreMarkdown(w io.Writer, f *study.File, only []audit.Law, o Options) error {
	return printMarkdown(w, explorePages(f, only, o))
}

func explorePages(f *study.File, only []audit.Law, o Options) *page {
	p := &page{}
	if f.Script != nil {
		p.add(title, mark(bold, scriptTitle(f.Script)))
		p.about(f.Script.About)
	}
	for _, item := range f.Items {
		if item.Explore != nil {
			explorePage(p, item.Explore, only, o)
		}
	}
	return p
}

func exploreName(blockName string) string {
	if blockName == "" {
		return "explore"
	}
	return "explore " + quote(name(blockName))
}

// passedPage tells of an explore block that was not explored.
func passedPage(p *page, b *study.Passed) {
	p.add(heading, mark(bold, exploreName(b.Name)))
	var open []string
	for i := range b.Open {
		open = append(open, b.Open[i].Name)
	}
	p.add(para, say("Not run, since "+list(open, "and")+plural(len(open), " is", " are")+" open: `dlock explore` tries every value."))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func quietExplore(p *page, e *study.Explore) {
	p.add(heading, mark(bold, exploreName(e.Name)))
	incomplete(p, e)
	if e.Members.Sign() == 0 {
		claimsIn(p, e.Claims, true, choicesOf(e))
		return
	}
	var parts []string
	for _, l := range gravest() {
		if n := e.Broken[l]; n.Sign() > 0 {
			parts = append(parts, l.String()+" in "+study.Grouped(n))
		}
	}
	said := "no law is broken in any"
	if len(parts) > 0 {
		said = list(parts, "and")
	}
	p.add(para, say(Members(e.Members)+": "+said+"."))
	claimsIn(p, e.Claims, true, choicesOf(e))
}

// Members writes a count of members.
func Members(n *big.Int) string {
	if n.IsInt64() && n.Int64() == 1 {
		return "1 member"
	}
	return study.Grouped(n) + " members"
}

// incomplete says first of all that not everything was looked at.
func incomplete(p *page, e *study.Explore) {
	if e.Stopped == "" {
		return
	}
	said := fmt.Sprintf(": %s after %s of %s. What follows is about the members of those alone.", e.Stopped, study.Grouped(big.NewInt(e.Done)),
		plural(int(min(e.Slices, 2)), "1 slice", study.Grouped(big.NewInt(e.Slices))+" slices"))
	switch {
	case e.Stopped == study.TooMany:
		said = ": " + e.Stopped + "."
		if e.Members.Sign() > 0 {
			said += " What follows is about the slices that were done."
		}
	case e.Partial && e.Slices == 1:
		said = fmt.Sprintf(": %s before every member was decided. What follows is about those that were.", e.Stopped)
	case e.Partial:
		said = fmt.Sprintf(": %s after %s of %s slices and a part of the next. What follows is about the members that were decided.", e.Stopped,
			study.Grouped(big.NewInt(e.Done)), study.Grouped(big.NewInt(e.Slices)))
	case e.Done == 0 && e.Slices == 1:
		said = fmt.Sprintf(": %s before the only slice was done. Nothing can be said about its members.", e.Stopped)
	case e.Done == 0:
		said = fmt.Sprintf(": %s before any of %s slices was done. Nothing can be said about its members.", e.Stopped, study.Grouped(big.NewInt(e.Slices)))
	}
	p.add(para, mark(bad, "INCOMPLETE"), say(said))
}

func explorePage(p *page, e *study.Explore, only []audit.Law, o Options) {
	var head []string
	for _, v := range shownSettings(e.Settings) {
		if v.Name == "servers" {
			head = append(head, count(v.N, "server"))
			continue
		}
		head = append(head, v.Name+" "+settingText(v))
	}
	p.add(heading, mark(bold, exploreName(e.Name)), say(prefixed("  ", strings.Join(head, ", "))))
	incomplete(p, e)
	holesTable(p, e)
	if e.Members.Sign() == 0 {
		claimsIn(p, e.Claims, false, choicesOf(e))
		return
	}
	p.add(para, say(proof(e)))
	signed := border(p, e, o)
	exploreLaws(p, e, signed)
	outcomes(p, e)
	for _, w := range shownWitnesses(e, only) {
		witness(p, e, w)
	}
	for _, l := range only {
		if e.Broken[l].Sign() == 0 && e.Stopped == "" {
			p.add(section, mark(bold, "No member breaks "+l.String()))
		}
	}
	claimsIn(p, e.Claims, false, choicesOf(e))
}

// holesTable lists what is open, and how many values each hole has.
func holesTable(p *page, e *study.Explore) {
	if len(e.Holes) == 0 && !e.Ties {
		p.add(para, say("Nothing is open: there is one member."))
		return
	}
	g := p.grid("open", ">values", "")
	for i := range e.Holes {
		h := &e.Holes[i]
		g.row(say(h.Name), say(number(len(h.Values))), say(holeValues(h)))
	}
	if e.Ties {
		g.row(say("ties"), say(""), say("who goes first, at every tick in which several act"))
	}
}

// holeValues writes the values of a hole as the language does.
func holeValues(h *study.Hole) string {
	switch v := h.Values; {
	case h.Kind == dsl.MaybeHole:
		return "the line is there or not"
	case h.Kind == dsl.ServerHole:
		servers := make([]int32, len(v))
		for i, n := range v {
			servers[i] = int32(n - 1)
		}
		return serverList(servers)
	case len(v) > 2 && rises(v):
		s := number(v[0]) + ".." + number(v[len(v)-1])
		if step := v[1] - v[0]; step != 1 {
			s += " step " + number(step)
		}
		return s
	default:
		var parts []string
		for _, n := range v[:min(len(v), maxListedValues)] {
			parts = append(parts, number(n))
		}
		if len(v) > maxListedValues {
			parts = append(parts, "…")
		}
		return strings.Join(parts, ", ")
	}
}

// maxListedValues is how many values of a hole are listed that are not a range.
const maxListedValues = 20

func rises(v []int64) bool {
	for i := 2; i < len(v); i++ {
		if v[i]-v[i-1] != v[1]-v[0] {
			return false
		}
	}
	return v[1] > v[0]
}

// proof says what was decided about how many members, and what a member is.
func proof(e *study.Explore) string {
	var values, lines, chosen []string
	enumerated := 0
	for i := range e.Holes {
		if !e.Holes[i].Late {
			enumerated++
		}
		if e.Holes[i].Kind == dsl.MaybeHole {
			lines = append(lines, e.Holes[i].Name)
		} else {
			values = append(values, e.Holes[i].Name)
		}
	}
	if n := len(values); n > maxListedHoles {
		values = []string{"each of " + count(n, "hole")}
	}
	if n := len(lines); n > maxListedHoles {
		lines = []string{"each of " + count(n, "line")}
	}
	if len(values) > 0 {
		chosen = append(chosen, "a value for "+list(values, "and"))
	}
	if len(lines) > 0 {
		chosen = append(chosen, "whether "+list(lines, "and")+plural(len(lines), " is", " are")+" there")
	}
	if e.Ties {
		chosen = append(chosen, "the order in which those act who share a tick")
	}
	if len(chosen) == 0 {
		chosen = []string{"the schedule as it stands"}
	}
	s := Members(e.Members) + ", every one decided"
	if e.Stopped != "" {
		s = Members(e.Members) + " decided so far"
	}
	s += ". A member is " + strings.Join(chosen, "; ") + "."
	if e.Walked {
		s += " They were run one by one."
	} else {
		s += " None was sampled: they were counted, those together that are equal from some point on."
	}
	if e.Slices > 1 {
		s += " " + study.Grouped(big.NewInt(e.Slices)) + " slices" + plural(enumerated, ", one for each value of the hole that is tried value by value.",
			", one for each choice of the "+number(enumerated)+" holes that are tried value by value.")
	}
	return s
}

// maxListedHoles is how many holes a sentence names.
const maxListedHoles = 6

// exploreLaws says in how many members each law is broken; with a map, also its sign there.
func exploreLaws(p *page, e *study.Explore, signed bool) {
	said := "  broken in how many of the " + Members(e.Members)
	if e.Stopped != "" {
		said += " so far"
	}
	p.add(section, mark(bold, "Laws"), say(said))
	g := p.grid("", "", "", "")
	var kept []string
	for _, l := range gravest() {
		if n := e.Broken[l]; n.Sign() > 0 {
			g.row(say(sign(l)), mark(bad, "BROKEN in "+study.Grouped(n)), say(l.String()), say(meaning(l)))
		} else {
			kept = append(kept, l.String())
		}
	}
	if len(kept) > 0 {
		word := "ok in all"
		if e.Stopped != "" {
			word = "ok so far"
		}
		g.row(say(""), mark(good, word), say(count(len(kept), "law")), say(strings.Join(kept, ", ")))
	}
	if !signed {
		g.head, g.rule = g.head[1:], g.rule[1:]
		for i := range g.rows {
			g.rows[i] = g.rows[i][1:]
		}
	}
}

// outcomes lists the classes: what is left, with which laws broken, in how many members.
func outcomes(p *page, e *study.Explore) {
	if len(e.Classes) == 0 {
		return
	}
	p.add(section, mark(bold, "Outcomes"), say("  what is left and which laws are broken, with the smallest member that ends so"))
	g := p.grid(">members", "final", "laws broken", "smallest member")
	for i := range e.Classes {
		if i == maxRows {
			break
		}
		c := &e.Classes[i]
		var broken []string
		for _, l := range gravest() {
			if c.Broken.Has(l) {
				broken = append(broken, l.String())
			}
		}
		laws := mark(good, "none")
		if len(broken) > 0 {
			laws = mark(bad, strings.Join(broken, ", "))
			if !slices.ContainsFunc(gravest(), func(l audit.Law) bool { return c.Broken.Has(l) && l.Kind() == audit.Safety }) {
				laws.tone = plain
			}
		}
		smallest := blank
		if c.Witness != nil {
			smallest = choicesText(e, c.Witness.Choices)
		}
		g.row(say(study.Grouped(c.Members)), say(value(c.Final)), laws, say(smallest))
	}
	p.more(len(e.Classes), "outcome")
}

// choicesOf names the members of a block.
func choicesOf(e *study.Explore) func([]study.Value) string {
	return func(at []study.Value) string { return choicesText(e, at) }
}

// choicesText writes what was chosen in a member.
func choicesText(e *study.Explore, choices []study.Value) string {
	if len(choices) == 0 {
		if e.Ties {
			return "one order of the ties"
		}
		return "the only one"
	}
	parts := make([]string, len(choices))
	for i, v := range choices {
		hole := slices.IndexFunc(e.Holes, func(h study.Hole) bool { return h.Name == v.Name })
		switch {
		case hole >= 0 && e.Holes[hole].Kind == dsl.MaybeHole && v.N == 0:
			parts[i] = "no " + v.Name
		case hole >= 0 && e.Holes[hole].Kind == dsl.MaybeHole:
			parts[i] = v.Name + " there"
		default:
			parts[i] = v.Name + " " + v.Text()
		}
	}
	return strings.Join(parts, ", ")
}

// shownWitnesses picks the witnesses to tell: of the laws that were asked for, or of the gravest one that is broken.
func shownWitnesses(e *study.Explore, only []audit.Law) []*study.Witness {
	var shown []*study.Witness
	for _, l := range gravest() {
		at := slices.IndexFunc(e.Smallest, func(w study.Witness) bool { return w.Law == l })
		switch {
		case at < 0, len(only) > 0 && !slices.Contains(only, l):
		default:
			if shown = append(shown, &e.Smallest[at]); len(only) == 0 {
				return shown
			}
		}
	}
	return shown
}

// GravestWitness gives the smallest witness of the gravest of some laws that is broken, or of all laws if there are none of
// them; nil if no member breaks one.
func GravestWitness(e *study.Explore, only []audit.Law) *study.Witness {
	if all := shownWitnesses(e, only); len(all) > 0 {
		return all[0]
	}
	return nil
}

// witness tells what happens in the smallest member that breaks a law, and gives it as a file.
func witness(p *page, e *study.Explore, w *study.Witness) {
	which := "The smallest member"
	if e.Stopped != "" {
		which = "The smallest member so far"
	}
	p.add(section, mark(bold, which+" that breaks "+w.Law.String()), say("  "+choicesText(e, w.Choices)))
	t := newTeller(w.Run)
	events(p, t)
	p.add(para, say(t.verdict()))
	p.add(para, say(smallness(e, w)))
	switch lines := strings.Split(strings.TrimRight(w.Source, "\n"), "\n"); {
	case w.Source == "":
		p.add(para, mark(dim, "It has no form as a file: lines cannot say in which order things happen within its ticks."))
	case len(lines) > maxSource:
		p.add(section, mark(bold, "As a file"), say(fmt.Sprintf("  %d lines; --emit FILE writes it", len(lines))))
	default:
		p.add(section, mark(bold, "As a file"), say("  --emit FILE writes it, and `dlock run` gives the same again"))
		for _, line := range lines {
			p.draw(say(strings.ReplaceAll(line, "\t", "    ")))
		}
	}
}

// maxSource is how many lines of a witness are shown; a longer one is for a file.
const maxSource = 80

// smallness says in which order no smaller member breaks the law.
func smallness(e *study.Explore, w *study.Witness) string {
	sure := "No member"
	if e.Stopped != "" {
		sure = "No member so far"
	}
	earlier := fmt.Sprintf(" before tick %d.", w.Harm)
	switch {
	case w.Harm == 0 && w.Away == 0:
		return "It is broken at tick 0, with every hole at its first value."
	case len(e.Holes) == 0:
		return sure + " breaks it" + earlier
	case w.Away == 0:
		return "Every hole has its first value here. " + sure + " of which that is so breaks it" + earlier
	case w.Away == 1:
		return sure + " breaks it with every hole at its first value, and none with one choice away from that does so" + earlier
	}
	return fmt.Sprintf("%s breaks it with fewer than %d choices away from the first values of the holes, and none with %d does so%s",
		sure, w.Away, w.Away, earlier)
}

// border shows where one or two open numbers break what, and tells whether it used the signs of the laws.
func border(p *page, e *study.Explore, o Options) bool {
	b := e.Border
	if b == nil || len(b.Cells) == 0 {
		return false
	}
	if len(b.Axes) == 1 {
		stretches(p, e)
		return false
	}
	p.add(section, mark(bold, "Border"), say("  the sign of the gravest law that is broken"+borderKey(e)))
	drawMap(p, &b.Axes[0], &b.Axes[1], o, func(y, x int) (string, bool) {
		c := &b.Cells[y*len(b.Axes[1].Values)+x]
		if c.Members.Sign() == 0 {
			return " ", false
		}
		for _, l := range gravest() {
			if n := c.Broken[l]; n != nil {
				s := sign(l)
				if n.Cmp(c.Members) != 0 {
					s = "~" + s
				}
				return s, l.Kind() == audit.Safety && l != audit.UnlockedWrite
			}
		}
		return ".", false
	})
	return true
}

// borderKey explains what else than signs a map shows.
func borderKey(e *study.Explore) string {
	some, left := false, false
	for i := range e.Border.Cells {
		c := &e.Border.Cells[i]
		left = left || c.Members.Sign() == 0
		for _, l := range gravest() {
			if n := c.Broken[l]; n != nil {
				some = some || n.Cmp(c.Members) != 0
				break
			}
		}
	}
	s := ", . for none"
	if some {
		s += "; ~ says that it depends on the order within ticks"
	}
	if left {
		s += "; blank is no member"
	}
	return s
}

// neighbours writes neighbouring values of a hole: those of a range by its ends, those of a list one by one.
func neighbours(values []study.Value) string {
	n := make([]int64, len(values))
	texts := make([]string, len(values))
	for i, v := range values {
		n[i], texts[i] = v.N, v.Text()
	}
	last := len(n) - 1
	if last >= maxListedValues || last > 0 && rises(n) && (last > 1 || n[1] == n[0]+1) {
		return texts[0] + ".." + texts[last]
	}
	return strings.Join(texts, ", ")
}

// stretches tells the border of one open number: the values between which nothing changes.
func stretches(p *page, e *study.Explore) {
	b := e.Border
	p.add(section, mark(bold, "Border"), say("  where "+b.Axes[0].Name+" changes what is broken"))
	g := p.grid(b.Axes[0].Name, "", "")
	says := func(c *study.BorderCell) (always, some []string) {
		for _, l := range gravest() {
			switch n := c.Broken[l]; {
			case n == nil:
			case n.Cmp(c.Members) == 0:
				always = append(always, l.String())
			default:
				some = append(some, l.String())
			}
		}
		return always, some
	}
	values := b.Axes[0].Values
	for i := 0; i < len(b.Cells); {
		c := &b.Cells[i]
		always, some := says(c)
		j := i + 1
		for ; j < len(b.Cells) && (b.Cells[j].Members.Sign() == 0) == (c.Members.Sign() == 0); j++ {
			if a, s := says(&b.Cells[j]); !slices.Equal(a, always) || !slices.Equal(s, some) {
				break
			}
		}
		if len(g.rows) == maxRows {
			p.add(para, mark(dim, "and more; --format json has all"))
			return
		}
		row := []span{say(neighbours(values[i:j])), mark(good, "no law is broken"), say("")}
		switch {
		case c.Members.Sign() == 0:
			row[1] = mark(dim, "no member")
		case len(always) > 0:
			row[1] = mark(bad, "BROKEN")
			row[2] = say(strings.Join(always, ", ") + prefixed("; in some orders within a tick ", strings.Join(some, ", ")))
		case len(some) > 0:
			row[1] = mark(bad, "BROKEN in some orders")
			row[2] = say(strings.Join(some, ", "))
		}
		g.row(row...)
		i = j
	}
}

// The JSON of an explore block. Counts of members are strings: they can be longer than what a number of JSON is safe for.
type jsonExplore struct {
	Name     string       `json:"name"`
	Kind     string       `json:"kind"` // "explore"
	Line     int          `json:"line"`
	Settings object       `json:"settings"`
	Holes    []jsonHole   `json:"holes"`
	Ties     bool         `json:"ties"`
	Complete bool         `json:"complete"`
	Stopped  string       `json:"stopped"` // why it is not complete
	How      string       `json:"how"`     // "counted" or "walked"
	Slices   int64        `json:"slices"`
	Done     int64        `json:"done"` // slices
	Members  string       `json:"members"`
	Clean    string       `json:"clean"`  // members in which no law of safety is broken
	Broken   object       `json:"broken"` // by law: members in which it is broken
	Classes  []jsonClass  `json:"classes"`
	Witness  object       `json:"witness"` // by law that is broken: the smallest member
	Border   *jsonBorder  `json:"border"`  // null if there is none to draw
	Expects  []jsonExpect `json:"expects"`
}

type jsonHole struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"` // "number", "server", "maybe"
	Line   int    `json:"line"`
	Values string `json:"values"`
	Count  int    `json:"count"`
	Late   bool   `json:"late"` // it is decided as the search goes, not value by value
}

type jsonClass struct {
	Final   string   `json:"final"`
	Broken  []string `json:"broken"`
	Members string   `json:"members"`
	Choices object   `json:"choices"` // of its smallest member
}

type jsonWitness struct {
	Choices object `json:"choices"`
	Away    int32  `json:"away"` // choices that are not the first value of their hole
	Harm    int64  `json:"harm"` // the tick at which the law is first broken
	Events  int    `json:"events"`
	Final   string `json:"final"`
	Verdict string `json:"verdict"`
	InPlace bool   `json:"in-place"` // the source is the file with its holes filled in
	Source  string `json:"source"`
}

type jsonBorder struct {
	Axes  []jsonAxis       `json:"axes"`
	Cells []jsonBorderCell `json:"cells"`
}

type jsonBorderCell struct {
	At      object `json:"at"`
	Members string `json:"members"`
	Broken  object `json:"broken"` // the laws that some member breaks
}

// exploreJSON gives an explore block with the witnesses of some laws, or of all that are broken if there are none of them.
func exploreJSON(e *study.Explore, only []audit.Law) jsonExplore {
	out := jsonExplore{
		Name: e.Name, Kind: "explore", Line: e.Line, Settings: valuesJSON(e.Settings), Holes: make([]jsonHole, len(e.Holes)),
		Ties: e.Ties, Complete: e.Stopped == "", Stopped: e.Stopped, How: "counted", Slices: e.Slices, Done: e.Done,
		Members: e.Members.String(), Clean: e.Clean.String(), Broken: object{}, Classes: make([]jsonClass, len(e.Classes)),
		Witness: object{}, Expects: expectsJSON(e.Claims),
	}
	if e.Walked {
		out.How = "walked"
	}
	for i := range e.Holes {
		h := &e.Holes[i]
		kind := map[dsl.HoleKind]string{dsl.NumberHole: "number", dsl.ServerHole: "server", dsl.MaybeHole: "maybe"}[h.Kind]
		out.Holes[i] = jsonHole{Name: h.Name, Kind: kind, Line: h.Line, Values: holeValues(h), Count: len(h.Values), Late: h.Late}
	}
	for _, l := range laws() {
		out.Broken = append(out.Broken, member{l.String(), e.Broken[l].String()})
	}
	for i := range e.Classes {
		c := &e.Classes[i]
		broken := []string{}
		for _, l := range laws() {
			if c.Broken.Has(l) {
				broken = append(broken, l.String())
			}
		}
		out.Classes[i] = jsonClass{Final: c.Final, Broken: broken, Members: c.Members.String(), Choices: object{}}
		if c.Witness != nil {
			out.Classes[i].Choices = valuesJSON(c.Witness.Choices)
		}
	}
	for i := range e.Smallest {
		w := &e.Smallest[i]
		if len(only) > 0 && !slices.Contains(only, w.Law) {
			continue
		}
		rec := w.Run.Record
		out.Witness = append(out.Witness, member{w.Law.String(), jsonWitness{
			Choices: valuesJSON(w.Choices), Away: w.Away, Harm: int64(w.Harm), Events: len(rec.Events), Final: rec.Value(rec.Final),
			Verdict: newTeller(w.Run).verdict(), InPlace: w.InPlace, Source: w.Source,
		}})
	}
	if b := e.Border; b != nil {
		out.Border = borderJSON(b)
	}
	return out
}

func borderJSON(b *study.Border) *jsonBorder {
	out := &jsonBorder{Axes: axesJSON(b.Axes), Cells: make([]jsonBorderCell, len(b.Cells))}
	for i := range b.Cells {
		c := &b.Cells[i]
		rest := i
		at := make(object, len(b.Axes))
		for a := len(b.Axes) - 1; a >= 0; a-- {
			values := b.Axes[a].Values
			at[a] = member{b.Axes[a].Name, values[rest%len(values)].N}
			rest /= len(values)
		}
		cell := jsonBorderCell{At: at, Members: c.Members.String(), Broken: object{}}
		for _, l := range laws() {
			if n := c.Broken[l]; n != nil {
				cell.Broken = append(cell.Broken, member{l.String(), n.String()})
			}
		}
		out.Cells[i] = cell
	}
	return out
}

// ExploreJSON writes what JSON writes, with only the explore blocks of each file and the witnesses of some laws, or of all
// that are broken if there are none of them. It returns the first error of w.
func ExploreJSON(w io.Writer, files []*study.File, only []audit.Law) error {
	all := make([]jsonFile, len(files))
	for i, f := range files {
		all[i] = headJSON(f)
		for _, item := range f.Items {
			if item.Explore != nil {
				all[i].Runs = append(all[i].Runs, exploreJSON(item.Explore, only))
			}
		}
	}
	return encodeJSON(w, all)
}
