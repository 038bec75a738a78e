package shrink

import (
	"slices"
	"strconv"
	"strings"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/numbers"
)

// dropStatements takes out statements, many at once while that works, then blocks.
func (s *shrinker) dropStatements() bool { return s.dropFrom(&s.doc.list) }

func (s *shrinker) dropFrom(list *[]*node) bool {
	smaller := false
	for size := len(*list); size >= 1; size /= 2 {
		// From the end: what comes late needs what comes early, a let or a lock, and seldom the other way round.
		for hi := len(*list); hi > 0; {
			lo := max(0, hi-size)
			old := *list
			var kept []*node
			for _, n := range old[lo:hi] {
				if n.word(0) == "scenario" { // it says what this is, and does nothing
					kept = append(kept, n)
				}
			}
			*list = slices.Concat(old[:lo], kept, old[hi:])
			if len(*list) < len(old) && s.holds() {
				smaller = true
			} else {
				*list = old
			}
			hi = lo
		}
	}
	for _, n := range *list {
		for i := len(n.parts) - 1; i >= 0; i-- {
			was := *n
			n.head, n.parts = n.without(i)
			if s.holds() {
				smaller = true
				continue
			}
			*n = was
			smaller = s.dropFrom(&n.parts[i].list) || smaller
		}
	}
	return smaller
}

// each calls f with every statement.
func each(list []*node, f func(*node)) {
	for _, n := range list {
		f(n)
		for _, p := range n.parts {
			each(p.list, f)
		}
	}
}

func (s *shrinker) nodes() []*node {
	var all []*node
	each(s.doc.list, func(n *node) {
		if n.word(0) != "scenario" {
			all = append(all, n)
		}
	})
	return all
}

// dropWords takes stretches of words out of statements, the longest first: a suffix, a server of a list, an operand.
func (s *shrinker) dropWords() bool {
	smaller := false
	for _, n := range s.nodes() {
		for again := true; again; {
			again = s.dropStretch(n)
			smaller = smaller || again
		}
	}
	return smaller
}

func (s *shrinker) dropStretch(n *node) bool {
	t := tokens(n.head)
	for size := len(t) - 1; size >= 1; size-- {
		for lo := len(t) - size; lo >= 0; lo-- {
			end := len(n.head)
			if lo+size < len(t) {
				end = t[lo+size].lo
			}
			if s.rewrite(n, strings.TrimSpace(n.head[:t[lo].lo]+n.head[end:])) {
				return true
			}
			if s.short {
				return false
			}
		}
	}
	return false
}

// rewrite gives a statement other words if the laws stay broken.
func (s *shrinker) rewrite(n *node, head string) bool {
	was := *n
	n.head = head
	n.changed()
	if s.holds() {
		return true
	}
	*n = was
	return false
}

// digits is a number of a statement.
type digits struct {
	n *node
	i int // which of its tokens
}

func (d digits) value() (int64, bool) {
	t := tokens(d.n.head)
	if d.i >= len(t) || !t[d.i].number {
		return 0, false
	}
	v, err := strconv.ParseInt(d.n.head[t[d.i].lo:t[d.i].hi], 10, 64)
	return v, err == nil
}

// numbersOf lists every number of the schedule.
func (s *shrinker) numbersOf() []digits {
	var all []digits
	for _, n := range s.nodes() {
		for i, t := range tokens(n.head) {
			if t.number {
				all = append(all, digits{n, i})
			}
		}
	}
	return all
}

// lower makes some numbers smaller by the same amount if the laws stay broken.
func (s *shrinker) lower(by int64, some []digits) bool {
	was := make(map[*node]node, len(some))
	back := func() {
		for _, d := range some {
			if old, ok := was[d.n]; ok {
				*d.n = old
			}
		}
	}
	for _, d := range some {
		if _, ok := was[d.n]; !ok {
			was[d.n] = *d.n
			d.n.changed()
		}
		v, ok := d.value()
		if !ok || v < by {
			back()
			return false
		}
		t := tokens(d.n.head)[d.i]
		d.n.head = d.n.head[:t.lo] + strconv.FormatInt(v-by, 10) + d.n.head[t.hi:]
	}
	if s.holds() {
		return true
	}
	back()
	return false
}

// lowerBy tries large steps, then small ones, and ends with steps of one.
func (s *shrinker) lowerBy(most int64, some []digits) bool {
	smaller := false
	for by := most; by >= 1 && !s.short; {
		if s.lower(by, some) {
			smaller = true
			continue
		}
		by /= 2
	}
	return smaller
}

// lowerNumbers makes numbers smaller: one by one; all from some size up; everything from some tick on earlier, by itself
// or together with one duration. What is bound together can only fall together.
func (s *shrinker) lowerNumbers() bool {
	smaller := false
	for _, d := range s.numbersOf() {
		if v, ok := d.value(); ok && s.lowerBy(v, []digits{d}) {
			smaller = true
		}
	}
	all := s.numbersOf()
	smaller = s.lowerFrom(all, nil) || smaller
	ticks := s.ticks()
	smaller = s.lowerFrom(ticks, nil) || smaller
	for _, d := range s.numbersOf() {
		if !slices.Contains(ticks, d) {
			smaller = s.lowerFrom(ticks, []digits{d}) || smaller
		}
	}
	return smaller
}

// lowerFrom makes all of some numbers that are at least so large smaller, for every size that there is.
func (s *shrinker) lowerFrom(some, with []digits) bool {
	var sizes []int64
	for _, d := range some {
		if v, ok := d.value(); ok && v > 0 {
			sizes = append(sizes, v)
		}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	smaller := false
	for i := len(sizes) - 1; i >= 0 && !s.short; i-- {
		group := slices.Clone(with)
		most := sizes[i]
		for _, d := range with {
			v, _ := d.value()
			most = min(most, v)
		}
		for _, d := range some {
			if v, ok := d.value(); ok && v >= sizes[i] {
				group = append(group, d)
			}
		}
		if len(group) > 1 && s.lowerBy(most, group) {
			smaller = true
		}
	}
	return smaller
}

// parsed gives the tree of the schedule, its text and the statement of each line.
func (s *shrinker) parsed() (*dsl.Script, string, []*node) {
	var lines []*node
	text := s.doc.text(&lines)
	script, _ := dsl.Parse(s.name, []byte(text))
	return script, text, lines
}

// ticks lists the numbers that are ticks of the run and stand in a line as such.
func (s *shrinker) ticks() []digits {
	script, text, lines := s.parsed()
	var all []digits
	for _, p := range numbers.Of(script.Steps) {
		num, plain := (*p.Expr).(*dsl.Num)
		if !plain || !p.Absolute() {
			continue
		}
		n := lines[num.At.Start.Line-1]
		column := num.At.Start.Offset - (strings.LastIndexByte(text[:num.At.Start.Offset], '\n') + 1)
		if n == nil {
			continue
		}
		if i := slices.IndexFunc(tokens(n.head), func(t token) bool { return t.lo == column }); i >= 0 {
			all = append(all, digits{n, i})
		}
	}
	return all
}

// edit is a stretch of the text that becomes another.
type edit struct {
	lo, hi int
	text   string
}

// change does edits, which do not overlap, if the laws stay broken.
func (s *shrinker) change(text string, edits []edit) bool {
	slices.SortFunc(edits, func(a, b edit) int { return b.lo - a.lo })
	for _, e := range edits {
		text = text[:e.lo] + e.text + text[e.hi:]
	}
	if !s.breaks(text) {
		return false
	}
	formatted, ds := dsl.Format([]byte(text), s.name)
	if ds.HasErrors() {
		return false
	}
	d := read(string(formatted))
	s.doc = d
	s.seen[d.text(nil)] = true
	return true
}

// writeLetsOut puts what a let is in the place of its name, and takes the let out.
func (s *shrinker) writeLetsOut() bool {
	smaller := false
	for i := 0; !s.short; {
		script, text, lines := s.parsed()
		if i >= len(script.Lets) {
			break
		}
		l := script.Lets[i]
		at := l.Expr.Span()
		value := text[at.Start.Offset:at.End.Offset]
		if _, plain := l.Expr.(*dsl.Num); !plain {
			value = "(" + value + ")"
		}
		end := l.Span.Start.Offset + strings.IndexByte(text[l.Span.Start.Offset:]+"\n", '\n')
		from := l.Span.Start.Offset
		if n := lines[l.Span.Start.Line-1]; n != nil { // what is said about it goes with it
			from -= len(strings.Join(n.above, "\n")) + min(1, len(n.above))
		}
		edits := []edit{{from, end, ""}}
		for _, e := range formulas(script) {
			if e == l.Expr {
				continue
			}
			numbers.Refs(e, func(r *dsl.Ref) {
				if r.Name == l.Name && !r.Setting {
					edits = append(edits, edit{r.At.Start.Offset, r.At.End.Offset, value})
				}
			})
		}
		if s.change(text, edits) {
			smaller = true
		} else {
			i++
		}
	}
	return smaller
}

// formulas lists the formulas of lets, settings and lines.
func formulas(script *dsl.Script) []dsl.Expr {
	var all []dsl.Expr
	for _, l := range script.Lets {
		all = append(all, l.Expr)
	}
	for _, set := range script.Settings {
		if set.Value.Expr != nil {
			all = append(all, set.Value.Expr)
		}
	}
	for _, p := range numbers.Of(script.Steps) {
		all = append(all, *p.Expr)
	}
	return all
}

// evaluate puts numbers in the place of formulas.
func (s *shrinker) evaluate() bool {
	script, text, _ := s.parsed()
	u, _ := compile.Compile(script, nil)
	if u == nil || len(u.Plans) != 1 {
		return false
	}
	b := u.Plans[0].Binder()
	prog, _ := b.Bind(nil)
	if prog == nil {
		return false
	}
	var edits []edit
	put := func(e dsl.Expr, v int64) {
		switch e := e.(type) {
		case *dsl.Num:
			return
		case *dsl.Unary:
			if _, plain := e.X.(*dsl.Num); plain {
				return
			}
		}
		at := e.Span()
		lo, hi := grow(text, at.Start.Offset, at.End.Offset)
		edits = append(edits, edit{lo, hi, strconv.FormatInt(v, 10)})
	}
	steps := map[int32]*engine.Step{}
	for i := range prog.Steps {
		steps[prog.Steps[i].Line] = &prog.Steps[i]
	}
	for _, p := range numbers.Of(script.Steps) {
		if st := steps[int32(p.Step.Span.Start.Line)]; st != nil {
			put(*p.Expr, int64(p.Value(st, prog.Messages)))
		}
	}
	for _, v := range b.Settings() {
		for _, set := range script.Settings {
			if set.Name == v.Name && set.Value.Expr != nil {
				put(set.Value.Expr, v.N)
			}
		}
	}
	return len(edits) > 0 && s.change(text, edits)
}

// grow takes the parentheses around a stretch into it.
func grow(text string, lo, hi int) (int, int) {
	for lo > 0 && hi < len(text) && text[lo-1] == '(' && text[hi] == ')' {
		lo, hi = lo-1, hi+1
	}
	return lo, hi
}
