package search_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/search"
)

// planOf compiles the only block of a text; nil if it has errors.
func planOf(tb testing.TB, text string, split ...string) (*compile.Plan, dsl.Diagnostics) {
	tb.Helper()
	s, ds := dsl.Parse("family.dlk", []byte(text))
	if ds.HasErrors() {
		tb.Fatalf("%v\n%s", ds, text)
	}
	u, ds := compile.Compile(s, nil, split...)
	if ds.HasErrors() {
		return nil, ds
	}
	return u.Plans[0], nil
}

// searched counts the classes of a family, slice by slice.
func searched(p *compile.Plan) (map[string]int64, error) {
	classes := map[string]int64{}
	b := p.Binder()
	choice := make([]int64, len(p.Family().Holes()))
	for i := range p.Family().Slices() {
		p.Family().Slice(i, choice)
		prog, _ := b.BindSlice(choice)
		s, err := search.New(prog, 0)
		if err != nil {
			return nil, err
		}
		r, err := s.Run(context.Background())
		if err != nil {
			return nil, err
		}
		for _, c := range r.Classes {
			classes[class(c.Broken, c.Final)] += c.Members.Int64()
		}
	}
	return classes, nil
}

func class(broken search.Laws, final string) string {
	return fmt.Sprintf("%011b %q", broken&^(1<<audit.Orphan), final)
}

var errEnough = errors.New("enough")

// walk adds the classes of every order of a member.
func walk(classes map[string]int64, prog *engine.Program, most int) error {
	n := 0
	return search.Orders(context.Background(), prog, func(rec *engine.Record, _ []int32) error {
		if n++; n > most || rec.Limit != engine.NoLimit {
			return errEnough
		}
		rep := audit.Judge(rec)
		var broken search.Laws
		for l := range audit.NumLaws {
			if rep.Counts[l] > 0 {
				broken |= 1 << l
			}
		}
		classes[class(broken, rec.Value(rec.Final))]++
		return nil
	})
}

func listed(classes map[string]int64) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(classes)) {
		out = append(out, fmt.Sprintf("%s: %d", k, classes[k]))
	}
	return strings.Join(out, "\n")
}

const yardstick = `let stall = any 0..30
let b     = any 0..30
at 0 A acquire ttl 10 retry every 1 {
  +1          read
  +2 + stall  append "A"
  +3 + stall  release
}
at b B acquire ttl 10 retry every 1 {
  +1  read
  +2  append "B"
  +3  release
}
explore "every pause, arrival and order" {
  ties any
  expect stale-write in 548
}
`

// The yardstick: two clients, one of them paused, every pause, arrival and order.
func TestYardstick(t *testing.T) {
	p, ds := planOf(t, yardstick)
	if p == nil {
		t.Fatal(ds)
	}
	if n := p.Family().Slices(); n != 1 {
		t.Errorf("%d slices: not every hole is decided late", n)
	}
	classes, err := searched(p)
	if err != nil {
		t.Fatal(err)
	}
	members, stale := int64(0), int64(0)
	for k, n := range classes {
		members += n
		if k[audit.NumLaws-1-audit.StaleWrite] == '1' {
			stale += n
		}
	}
	if members != 1832 || stale != 548 {
		t.Errorf("%d members, %d with a stale write; want 1832 and 548", members, stale)
	}
}

// fileWriter writes small random files with holes.
type fileWriter struct {
	*rand.Rand
	strings.Builder
	lets  []string
	names []string // of lines that may be there
}

func (w *fileWriter) add(format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...) // a Builder has no errors
}

func (w *fileWriter) oneOf(words ...string) string { return words[w.IntN(len(words))] }

func (w *fileWriter) hole() string {
	switch lo := w.IntN(3); w.IntN(5) {
	case 0:
		return fmt.Sprintf("(any %d, %d)", lo+3, lo)
	case 1:
		return fmt.Sprintf("(any %d..%d step 2)", lo, lo+3)
	default:
		return fmt.Sprintf("any %d..%d", lo, lo+1+w.IntN(2))
	}
}

func (w *fileWriter) number(lo int) string {
	if w.IntN(3) > 0 {
		return fmt.Sprint(lo + w.IntN(5))
	}
	l := w.lets[w.IntN(len(w.lets))]
	return w.oneOf(l, l, fmt.Sprintf("%s + %d", l, w.IntN(4)), fmt.Sprintf("%d + %s", w.IntN(4), l), fmt.Sprintf("max(%s, %d)", l, w.IntN(4)),
		"2 * "+l, fmt.Sprintf("%d + %s", w.IntN(3), w.hole()), l+" - 1")
}

func (w *fileWriter) servers() string {
	return w.oneOf("s1", "s2..s3", "any s1..s3", "any s1 s3", "s1 any s2 s3")
}

func (w *fileWriter) message() string {
	return w.oneOf("", "", "", " arrives +"+w.number(0), " reply lost", " arrives "+w.number(6), " arrives +1 reply +"+w.number(0))
}

func (w *fileWriter) line(client string) {
	if w.IntN(4) == 0 {
		name := fmt.Sprintf("line%d", len(w.names))
		w.add("maybe %s ", name)
		w.names = append(w.names, name)
	} else if w.IntN(8) == 0 {
		w.WriteString("maybe ")
	}
	w.add("at %s ", w.number(0))
	switch w.IntN(9) {
	case 0:
		w.add("%s %s\n", w.servers(), w.oneOf("crash", "restart", "revoke", "restart wiped"))
	case 1:
		w.add("cut %s from %s\n", client, w.servers())
	case 2, 3:
		w.add("%s pause %s\n", client, w.oneOf("for "+w.number(0), "until "+w.number(4), "for 3"))
	case 4:
		w.add("%s check%s\n", client, w.oneOf("", " arrives +1 at "+w.servers(), " reply lost from "+w.servers()))
	case 5:
		w.acquire(client)
	default:
		w.add("%s append \"%s\"%s%s\n", client, client, w.oneOf("", "", " guard version"), w.message())
	}
}

func (w *fileWriter) acquire(client string) {
	w.add("%s acquire ttl %s%s%s {\n", client, w.number(2), w.oneOf("", " retry every "+w.number(1)), w.oneOf("", "", " on "+w.servers()))
	w.add("  +%s read%s\n", w.number(0), w.message())
	w.add("  +%s append \"%s\"\n", w.number(1), strings.ToLower(client))
	if w.IntN(2) == 0 {
		w.add("  +%s release\n", w.number(1))
	}
	w.WriteString("}\n")
}

// randomFile gives the schedule of a file, the lines of its explore block, and what its "where" says, of the holes by name.
func randomFile(seed uint64) (schedule, block string, where func(map[string]int64) bool) {
	w := &fileWriter{Rand: rand.New(rand.NewPCG(seed, 5)), lets: []string{"x", "y"}}
	w.WriteString("servers 3\n" + w.oneOf("", "fencing on\n", "horizon 30\n"))
	for _, l := range w.lets {
		w.add("let %s = %s\n", l, w.oneOf(w.hole(), w.hole(), fmt.Sprint(w.IntN(9))))
	}
	for _, c := range []string{"A", "B"} {
		w.add("at %s ", w.number(0))
		w.acquire(c)
	}
	for range 1 + w.IntN(3) {
		w.line(w.oneOf("A", "B"))
	}
	where = func(map[string]int64) bool { return true }
	if len(w.names) > 1 && w.IntN(2) == 0 {
		block = "  where " + w.names[0] + " + " + w.names[1] + " <= 1\n"
		where = func(v map[string]int64) bool { return v[w.names[0]]+v[w.names[1]] <= 1 }
	}
	if w.IntN(2) == 0 {
		block += "  ties any\n"
	}
	return w.String(), block, where
}

// filled writes a member's choices in place of the holes.
func filled(text string, holes []compile.FamilyHole, choice []int64) string {
	lines := strings.SplitAfter(text, "\n")
	for h := len(holes) - 1; h >= 0; h-- { // from the end, so that places in front stay as they are
		hole := &holes[h]
		if choice[h] < 0 {
			continue
		}
		value := hole.Text(hole.Values[choice[h]])
		if hole.Kind == dsl.MaybeHole {
			value = ""
		}
		if hole.Kind == dsl.MaybeHole && hole.Values[choice[h]] == 0 {
			depth := 0
			for i := hole.Line - 1; ; i++ {
				depth += strings.Count(lines[i], "{") - strings.Count(lines[i], "}")
				lines[i] = "\n" // or the lines after it would be counted anew
				if depth == 0 {
					break
				}
			}
			continue
		}
		line := lines[hole.Line-1]
		lines[hole.Line-1] = line[:hole.Span.Start.Col-1] + value + line[hole.Span.End.Col-1:]
	}
	return strings.Join(lines, "")
}

// members lists every combination of values that where lets pass, the holes of lines that are not there aside; nil if
// there are more than a test has time for.
func members(holes []compile.FamilyHole, where func(map[string]int64) bool, most int) [][]int64 {
	out := [][]int64{{}}
	for _, hole := range holes {
		var longer [][]int64
		for _, choice := range out {
			if hole.In >= 0 && choice[hole.In] == 0 {
				longer = append(longer, append(slices.Clone(choice), -1))
				continue
			}
			for k := range hole.Values {
				longer = append(longer, append(slices.Clone(choice), int64(k)))
			}
		}
		if out = longer; len(out) > most {
			return nil
		}
	}
	return slices.DeleteFunc(out, func(choice []int64) bool {
		values := map[string]int64{}
		for h, k := range choice {
			if k >= 0 {
				values[holes[h].Name] = holes[h].Values[k]
			}
		}
		return !where(values)
	})
}

// holesOf finds the holes of a checked file without the compiler's help. Their bounds are plain numbers here.
func holesOf(tb testing.TB, text string) []compile.FamilyHole {
	tb.Helper()
	s, _ := dsl.Parse("family.dlk", []byte(text))
	var found []*dsl.Hole
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if h, ok := v.Interface().(*dsl.Hole); ok {
				if h != nil {
					found = append(found, h)
				}
			} else if !v.IsNil() {
				look(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				look(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i))
			}
		}
	}
	look(reflect.ValueOf(s))
	slices.SortFunc(found, func(a, b *dsl.Hole) int { return cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset) })
	number := func(e dsl.Expr) int64 {
		n, ok := e.(*dsl.Num)
		if !ok {
			tb.Fatalf("%T bounds a hole", e)
		}
		return n.Value
	}
	var out []compile.FamilyHole
	for _, h := range found {
		f := compile.FamilyHole{Name: h.Name, Line: h.Line, Kind: h.Kind, Span: h.Span, In: slices.Index(found, h.In), Values: []int64{0, 1}}
		if h.Kind != dsl.MaybeHole {
			f.Values = nil
		}
		for _, it := range h.Items {
			lo, hi, step := number(it.Lo), number(it.Lo), int64(1)
			if it.Hi != nil {
				hi = number(it.Hi)
			}
			if h.Step != nil {
				step = number(h.Step)
			}
			for v := lo; v <= hi; v += step {
				f.Values = append(f.Values, v)
			}
		}
		for _, r := range h.Servers {
			for v := r.Lo; v <= r.Hi; v++ {
				f.Values = append(f.Values, int64(v))
			}
		}
		out = append(out, f)
	}
	return out
}

// TestFamiliesAgree holds three ways to each other on small random files: the search over slices, a walk over bound
// members, and a walk over files with the choices written in. A family has errors exactly if a member has some.
func TestFamiliesAgree(t *testing.T) {
	files := 500
	if testing.Short() {
		files = 80
	}
	counted, wrong, late, sliced := 0, 0, 0, 0
	for seed := range uint64(files) {
		schedule, block, where := randomFile(seed)
		text := schedule + "explore \"all\" {\n" + block + "}\n"
		p, ds := planOf(t, text)
		if p == nil {
			holes := holesOf(t, schedule)
			all := members(holes, where, 2000)
			if all == nil {
				continue
			}
			if !slices.ContainsFunc(all, func(choice []int64) bool {
				m, _ := planOf(t, filled(schedule, holes, choice))
				return m == nil
			}) {
				t.Fatalf("seed %d: no member is wrong, and the family is: %v\n%s", seed, ds, text)
			}
			wrong++
			continue
		}
		holes := p.Family().Holes()
		choices := members(holes, where, 60)
		if choices == nil {
			continue
		}
		want, fromText := map[string]int64{}, map[string]int64{}
		b := p.Binder()
		var err error
		for _, choice := range choices {
			prog, ds := b.BindMember(choice)
			if prog == nil {
				t.Fatalf("seed %d: %v %v\n%s", seed, choice, ds, text)
			}
			if err = walk(want, prog, 50); err != nil {
				break
			}
			horizon := prog.Settings.Horizon
			memberText := filled(schedule, holes, choice)
			m, ds := planOf(t, memberText)
			if m == nil {
				t.Fatalf("seed %d: the member %v has errors, and its family none: %v\n%s\n%s", seed, choice, ds, text, memberText)
			}
			own, _ := m.Binder().Bind(nil)
			if own.Settings.Horizon > horizon {
				t.Fatalf("seed %d: the member %v goes on until %d, its family until %d\n%s", seed, choice, own.Settings.Horizon, horizon, text)
			}
			own.Ties, own.Settings.Horizon = prog.Ties, horizon
			if err = walk(fromText, own, 50); err != nil {
				break
			}
		}
		if err != nil {
			continue
		}
		if listed(want) != listed(fromText) {
			t.Fatalf("seed %d: bound members:\n%s\nwritten members:\n%s\n%s", seed, listed(want), listed(fromText), text)
		}
		got, err := searched(p)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if listed(got) != listed(want) {
			t.Fatalf("seed %d: the search counts\n%s\nthe members are\n%s\n%s", seed, listed(got), listed(want), text)
		}
		counted++
		if k := slices.IndexFunc(holes, func(h compile.FamilyHole) bool { return h.Late }); k >= 0 {
			late++
			split, ds := planOf(t, text, holes[k].Name)
			if split == nil || split.Family().Slices() != p.Family().Slices()*int64(len(holes[k].Values)) && holes[k].In < 0 {
				t.Fatalf("seed %d: split by %s: %v\n%s", seed, holes[k].Name, ds, text)
			}
			if got, err := searched(split); err != nil || listed(got) != listed(want) {
				t.Fatalf("seed %d: split by %s the search counts\n%s\n%v\nthe members are\n%s\n%s", seed, holes[k].Name, listed(got), err, listed(want), text)
			}
		}
		if p.Family().Slices() > 1 {
			sliced++
		}
	}
	if counted < files/6 || wrong < files/20 || late < files/20 || sliced < files/20 {
		t.Errorf("of %d files %d were counted, %d with late holes, %d with slices; %d have errors", files, counted, late, sliced, wrong)
	}
}
