package compile

import (
	"fmt"
	"slices"
	"strings"

	"dlock/dsl"
)

// The settings in the order of dsl.SettingNames; each has the slot of that number.
const (
	setServers int32 = iota
	setQuorum
	setFencing
	setFenceAt
	setLeases
	setHandback
	setTokens
	setValidity
	setJudge
	setLockDelay
	setReentrant
	setOwnerCheck
	setInitial
	setHorizon
	numSettings
)

// origin says where a name's value comes from.
type origin uint8

const (
	byDefault origin = iota
	byConst          // a word, or a number from the command line
	byAxis
	byHole
	byExpr
)

// node is a let, a setting, a hole or a named line of one plan, with the value or formula that won by precedence.
type node struct {
	name   string
	from   origin
	value  int64 // byConst, byDefault
	axis   int   // byAxis; byHole: the index of the family's hole, -1 for none
	expr   dsl.Expr
	code   code
	span   dsl.Span // of the formula or setting; zero when it comes from outside
	varies bool     // differs between the cells
}

// scope is the names of one plan: the settings first, then the lets in file order, then the holes.
type scope struct {
	nodes   []node
	lets    map[string]int32
	named   int // settings and lets
	maybes  map[string]int32
	holes   map[*dsl.Hole]int32
	fixed   []int32 // the nodes that are the same in every cell, each after those that it needs
	moving  []int32 // the others, in such an order too
	initial string
}

// defaults gives the value of each setting that no line sets; quorum and horizon follow from the rest.
func defaultValue(setting int32) int64 {
	switch setting {
	case setServers:
		return 5
	case setLockDelay:
		return 0
	default:
		return firstWord // the first word of the list is the default
	}
}

// newScope merges the bodies, later ones winning, then the axes, then what the command line overrides.
func newScope(bodies []*dsl.Body, axes []Axis, over []setValue) *scope {
	s := &scope{lets: map[string]int32{}, maybes: map[string]int32{}, holes: map[*dsl.Hole]int32{}}
	for i, name := range dsl.SettingNames() {
		s.nodes = append(s.nodes, node{name: name, value: defaultValue(int32(i))})
	}
	for _, b := range bodies {
		for _, set := range b.Settings {
			i := settingIndex(set.Name)
			if i < 0 {
				continue // the checker has reported it
			}
			n := node{name: set.Name, span: set.Value.Span}
			switch {
			case set.Value.Expr != nil:
				n.from, n.expr = byExpr, set.Value.Expr
			case i == setInitial:
				s.initial = set.Value.Text
				n.from = byConst
			default:
				n.from = byConst
				n.value, _ = encodeWord(set.Name, set.Value.Word)
			}
			s.nodes[i] = n
		}
		for _, l := range b.Lets {
			n := node{name: l.Name, from: byExpr, expr: l.Expr, span: l.Expr.Span()}
			if i, ok := s.lets[l.Name]; ok {
				s.nodes[i] = n
				continue
			}
			s.lets[l.Name] = int32(len(s.nodes))
			s.nodes = append(s.nodes, n)
		}
	}
	for i := range axes {
		if slot, ok := s.slot(axes[i].Name); ok {
			s.nodes[slot] = node{name: axes[i].Name, from: byAxis, axis: i, span: axes[i].Span, varies: true}
		}
	}
	for _, o := range over {
		slot, ok := s.slot(o.name)
		if !ok {
			continue // a let of another block
		}
		if slot == setInitial {
			s.initial = o.text
		}
		s.nodes[slot] = node{name: o.name, from: byConst, value: o.value}
	}
	s.named = len(s.nodes)
	for i := range s.named {
		if n := &s.nodes[i]; n.from == byExpr {
			s.addHoles(n.expr)
		}
	}
	return s
}

// addHole makes a node of a hole.
func (s *scope) addHole(h *dsl.Hole) {
	if _, ok := s.holes[h]; !ok {
		s.holes[h] = int32(len(s.nodes))
		s.nodes = append(s.nodes, node{name: h.Name, from: byHole, axis: -1, span: h.Span, varies: true})
	}
}

// addMaybe makes a node of a line that may be there, and tells whether it can be there.
func (s *scope) addMaybe(m *dsl.Maybe, over []setValue) bool {
	if m == nil {
		return true
	}
	if i := slices.IndexFunc(over, func(o setValue) bool { return o.name == m.Name }); i >= 0 && m.Name != "" {
		s.maybes[m.Name] = int32(len(s.nodes))
		s.nodes = append(s.nodes, node{name: m.Name, from: byConst, value: over[i].value})
		return over[i].value == 1
	}
	s.addHole(m.Hole)
	if m.Name != "" {
		s.maybes[m.Name] = s.holes[m.Hole]
	}
	return true
}

// addStep makes nodes of the holes of a step and its blocks.
func (s *scope) addStep(st *dsl.Step) { stepParts(st, s.addHoles, s.addHole) }

func (s *scope) addHoles(e dsl.Expr) {
	leaves(e, func(leaf dsl.Expr) {
		if a, ok := leaf.(*dsl.Any); ok {
			s.addHole(a.Hole)
		}
	})
}

// leaf finds what a name or a hole in an expression refers to.
func (s *scope) leaf(e dsl.Expr) (int32, bool) {
	if a, ok := e.(*dsl.Any); ok {
		i, ok := s.holes[a.Hole]
		return i, ok
	}
	r, ok := e.(*dsl.Ref)
	if !ok {
		return 0, false
	}
	if i, ok := s.slot(r.Name); ok {
		return i, true
	}
	i, ok := s.maybes[r.Name]
	return i, ok
}

// exprVaries tells whether an expression reads a name or a hole that differs between cells or members.
func (s *scope) exprVaries(e dsl.Expr) bool {
	varies := false
	leaves(e, func(leaf dsl.Expr) {
		if i, ok := s.leaf(leaf); ok && s.nodes[i].varies {
			varies = true
		}
	})
	return varies
}

func settingIndex(name string) int32 { return int32(slices.Index(dsl.SettingNames(), name)) }

// slot finds a let or a setting by its name; no let may have a setting's name.
func (s *scope) slot(name string) (int32, bool) {
	if i := settingIndex(name); i >= 0 {
		return i, true
	}
	i, ok := s.lets[name]
	return i, ok
}

// needs lists the slots that a node's value is computed from.
func (s *scope) needs(i int32) []int32 {
	n := &s.nodes[i]
	var out []int32
	switch {
	case n.from == byExpr:
		leaves(n.expr, func(leaf dsl.Expr) {
			if j, ok := s.leaf(leaf); ok {
				out = append(out, j)
			}
		})
	case i == setQuorum && (n.from == byAxis || isWord(n.value)):
		out = append(out, setServers) // a majority of them
	}
	return out
}

// sort puts the nodes in an order of computation and marks those that differ between cells. No formula leads back to
// itself: the checker has seen to it.
func (s *scope) sort() {
	seen := make([]bool, len(s.nodes))
	var visit func(i int32)
	visit = func(i int32) {
		seen[i] = true
		n := &s.nodes[i]
		for _, j := range s.needs(i) {
			if !seen[j] {
				visit(j)
			}
			n.varies = n.varies || s.nodes[j].varies
		}
		if n.varies {
			s.moving = append(s.moving, i)
		} else {
			s.fixed = append(s.fixed, i)
		}
	}
	for i := range s.nodes {
		if !seen[i] {
			visit(int32(i))
		}
	}
}

// setValue is one override from the command line, understood.
type setValue struct {
	name  string
	value int64
	text  string // only for initial
}

// Override is a value from the command line that goes before everything that the file says: a let or a setting by name,
// and its value as text.
type Override struct{ Name, Value string }

// overrides understands the overrides against every name of the file; the last one for a name counts.
func overrides(s *dsl.Script, over []Override, faults *faultList) []setValue {
	names, maybes := letNames(s), maybeNames(s)
	var out []setValue
	for _, o := range over {
		v, problem, hint := parseOverride(o, names, maybes)
		if problem != "" {
			faults.add(dsl.CodeOverride, dsl.Span{}, problem, "", hint)
			continue
		}
		out = slices.DeleteFunc(out, func(p setValue) bool { return p.name == o.Name })
		out = append(out, v)
	}
	return out
}

func parseOverride(o Override, lets, maybes []string) (v setValue, problem, hint string) {
	v.name = o.Name
	if slices.Contains(maybes, o.Name) {
		if o.Value != "0" && o.Value != "1" {
			return v, fmt.Sprintf("%s cannot be set to %q", o.Name, o.Value), "it is a line that may be there: 1, or 0 if it is not"
		}
		v.value = int64(o.Value[0] - '0')
		return v, "", ""
	}
	if slices.Contains(lets, o.Name) {
		n, ok := parseInt(o.Value)
		if tooLarge(o.Value) {
			return v, fmt.Sprintf("%s is too large a number, so %s cannot be set to it", o.Value, o.Name), ""
		}
		if !ok {
			return v, fmt.Sprintf("%q is no integer, so %s cannot be set to it", o.Value, o.Name), ""
		}
		v.value = n
		return v, "", ""
	}
	i := settingIndex(o.Name)
	if i < 0 {
		return v, fmt.Sprintf("nothing in the file is named %q", o.Name), didYouMean(o.Name, slices.Concat(lets, maybes))
	}
	if i == setInitial {
		v.text = o.Value
		return v, "", ""
	}
	if w, ok := encodeWord(o.Name, o.Value); ok {
		v.value = w
		return v, "", ""
	}
	words := dsl.SettingWords(o.Name)
	n, ok := parseInt(o.Value)
	if slices.Contains(words, "number") && tooLarge(o.Value) {
		return v, fmt.Sprintf("%s is too large a number, so %s cannot be set to it", o.Value, o.Name), ""
	}
	if !ok || !slices.Contains(words, "number") {
		return v, fmt.Sprintf("%s cannot be set to %q", o.Name, o.Value), o.Name + " takes " + orList(words)
	}
	v.value = n
	return v, checkSetting(i, n), ""
}

// letNames lists every let of the file once, in file order.
func letNames(s *dsl.Script) []string {
	var names []string
	seen := map[string]bool{}
	add := func(b *dsl.Body) {
		for _, l := range b.Lets {
			if !seen[l.Name] {
				seen[l.Name] = true
				names = append(names, l.Name)
			}
		}
	}
	add(&s.Body)
	for _, b := range s.Blocks {
		add(&b.Body)
	}
	return names
}

// maybeNames lists the names of the lines that may be there, in file order.
func maybeNames(s *dsl.Script) []string {
	var names []string
	add := func(b *dsl.Body) {
		for _, st := range b.Steps {
			if st.Maybe != nil && st.Maybe.Name != "" {
				names = append(names, st.Maybe.Name)
			}
		}
	}
	add(&s.Body)
	for _, b := range s.Blocks {
		add(&b.Body)
	}
	return names
}

// checkSetting says what is wrong with a number for a setting, or nothing. A quorum's upper bound is the number of
// servers, which is checked where that is known.
func checkSetting(i int32, n int64) string {
	lo, hi := int64(0), int64(MaxTick)
	switch i {
	case setServers:
		lo, hi = 1, dsl.MaxServers
	case setQuorum:
		lo, hi = 1, dsl.MaxServers
	}
	if n < lo || n > hi {
		return fmt.Sprintf("%s is %d, but must be from %d to %d", dsl.SettingNames()[i], n, lo, hi)
	}
	return ""
}

// maxDigits is how long a number from outside may be: what has so many digits is an int64 and leaves room to count on.
const maxDigits = 18

// tooLarge tells whether a text is an integer that parseInt does not take.
func tooLarge(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return len(digits) > maxDigits && strings.Trim(digits, "0123456789") == ""
}

// parseInt reads a decimal integer as the language writes it: digits, with a minus before them at most.
func parseInt(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > maxDigits {
		return 0, false
	}
	var n int64
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(digits[i]-'0')
	}
	if len(digits) < len(s) {
		n = -n
	}
	return n, true
}

func orList(words []string) string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		if w == "number" {
			w = "a number"
		}
		out = append(out, w)
	}
	if len(out) < 2 {
		return strings.Join(out, "")
	}
	return strings.Join(out[:len(out)-1], ", ") + " or " + out[len(out)-1]
}

// didYouMean gives a hint that names what was probably meant, or none.
func didYouMean(word string, lets []string) string {
	if n := dsl.Nearest(word, append(slices.Clone(lets), dsl.SettingNames()...)); n != "" {
		return "did you mean `" + n + "`?"
	}
	return ""
}
