package compile

import (
	"fmt"
	"slices"
	"strings"

	"dlock/dsl"
)

// Axis is one dimension of a sweep with all of its values.
type Axis struct {
	Name   string
	Span   dsl.Span // zero when it comes from the command line
	values []int64
}

// Len is the number of values.
func (a *Axis) Len() int { return len(a.values) }

// Value gives the i-th value.
func (a *Axis) Value(i int) Value { return a.Of(a.values[i]) }

// Of gives the value that stands in a cell as people write it.
func (a *Axis) Of(v int64) Value { return decode(a.Name, v) }

// AxisSpec is an axis as it is written on the command line: a name and its values, all of them known.
type AxisSpec struct {
	Name  string
	Items []AxisItem
	Step  int64 // of the ranges; 1 or more
}

// AxisItem is a word, a number (Lo == Hi) or the inclusive range from Lo to Hi.
type AxisItem struct {
	Word   string
	Lo, Hi int64
}

// ParseAxis reads "lease=1..25", "stall=2..29:3", "servers=1,3,5" or "fencing=off,on". The error says what is wrong with
// the text; whether the name exists is found out by Sweep.
func ParseAxis(text string) (AxisSpec, error) {
	name, list, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" || list == "" {
		return AxisSpec{}, fmt.Errorf("%q is no axis: write NAME=1..25, NAME=2..29:3 or NAME=on,off", text)
	}
	for number := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(",:. ", r) }) {
		if tooLarge(number) {
			return AxisSpec{}, fmt.Errorf("%s is too large a number for %s", number, name)
		}
	}
	a := AxisSpec{Name: name, Step: 1}
	if values, step, ok := strings.Cut(list, ":"); ok {
		n, good := parseInt(strings.TrimSpace(step))
		if !good || n < 1 {
			return AxisSpec{}, fmt.Errorf("the step of %s must be a number, 1 or more, not %q", name, step)
		}
		a.Step, list = n, values
	}
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		lo, hi, isRange := strings.Cut(part, "..")
		from, good := parseInt(strings.TrimSpace(lo))
		switch {
		case !isRange && good:
			a.Items = append(a.Items, AxisItem{Lo: from, Hi: from})
		case !isRange && part != "":
			a.Items = append(a.Items, AxisItem{Word: part})
		default:
			to, fine := parseInt(strings.TrimSpace(hi))
			if !good || !fine {
				return AxisSpec{}, fmt.Errorf("%q is no value or range for %s", part, name)
			}
			a.Items = append(a.Items, AxisItem{Lo: from, Hi: to})
		}
	}
	return a, nil
}

// problem is what is wrong with an axis; the zero value is nothing.
type problem struct{ code, summary, hint string }

func badAxis(format string, args ...any) problem {
	return problem{code: dsl.CodeAxis, summary: fmt.Sprintf(format, args...)}
}

// axisRoom is how many values an axis may have: the sweep's other axes before it use up the cells. full notes that the
// file's cells did not suffice.
type axisRoom struct {
	cells int64
	full  *bool
}

// fits says why n more values are too many.
func (r axisRoom) fits(have int, n uint64) problem {
	switch {
	case n > uint64(MaxAxisValues-have):
		return problem{dsl.CodeLimit, fmt.Sprintf("an axis has at most %d values", MaxAxisValues), ""}
	case n > uint64(max(r.cells-int64(have), 0)):
		*r.full = true
		return problem{dsl.CodeLimit, fmt.Sprintf("the sweeps of a file have at most %d cells in all", MaxCells), "sweep fewer values, or in larger steps"}
	}
	return problem{}
}

// after gives the room that is left for an axis beside one of n values.
func (r axisRoom) after(n int) axisRoom { return axisRoom{r.cells / int64(max(n, 1)), r.full} }

// expand appends the values of a range, or says why it cannot.
func (r axisRoom) expand(values []int64, lo, hi, step int64) ([]int64, problem) {
	if step < 1 {
		return values, badAxis("the step is %d, but must be 1 or more", step)
	}
	if lo > hi {
		return values, badAxis("the range %d..%d is empty", lo, hi)
	}
	// lo and hi may lie further apart than an int64 can say; an unsigned difference cannot overflow.
	n := (uint64(hi)-uint64(lo))/uint64(step) + 1
	if p := r.fits(len(values), n); p.code != "" {
		return values, p
	}
	values = slices.Grow(values, int(n))
	for v := lo; ; v += step {
		values = append(values, v)
		if uint64(hi)-uint64(v) < uint64(step) {
			return values, problem{}
		}
	}
}

// specAxes turns axes of the command line into values.
func specAxes(specs []AxisSpec, lets []string, faults *faultList) []Axis {
	axes := make([]Axis, 0, len(specs))
	room := axisRoom{MaxCells, new(bool)}
	for _, spec := range specs {
		a, p := specAxis(spec, lets, room)
		room = room.after(a.Len())
		if p.code == "" && slices.ContainsFunc(axes, func(b Axis) bool { return b.Name == a.Name }) {
			p = badAxis("%s is swept twice", a.Name)
		}
		if p.code != "" {
			faults.add(p.code, dsl.Span{}, p.summary, "", p.hint)
			continue
		}
		axes = append(axes, a)
	}
	return axes
}

func specAxis(spec AxisSpec, lets []string, room axisRoom) (a Axis, p problem) {
	a.Name = spec.Name
	setting := settingIndex(spec.Name)
	switch {
	case setting < 0 && !slices.Contains(lets, spec.Name):
		p = badAxis("nothing in the file is named %q", spec.Name)
		p.hint = didYouMean(spec.Name, lets)
		return a, p
	case setting == setInitial:
		return a, badAxis("initial is a text and cannot be swept")
	}
	for _, item := range spec.Items {
		switch {
		case item.Word != "":
			w, ok := int64(0), false
			if setting >= 0 {
				w, ok = encodeWord(spec.Name, item.Word)
			}
			if !ok {
				p = badAxis("%s cannot be %q", spec.Name, item.Word)
				p.hint = takes(spec.Name)
				return a, p
			}
			if p = room.fits(len(a.values), 1); p.code != "" {
				return a, p
			}
			a.values = append(a.values, w)
		case setting >= 0 && !slices.Contains(dsl.SettingWords(spec.Name), "number"):
			p = badAxis("%s cannot be a number", spec.Name)
			p.hint = takes(spec.Name)
			return a, p
		default:
			if a.values, p = room.expand(a.values, item.Lo, item.Hi, spec.Step); p.code != "" {
				return a, p
			}
		}
	}
	if len(a.values) == 0 {
		p = badAxis("%s has no values", spec.Name)
	}
	return a, p
}

func takes(setting string) string {
	if settingIndex(setting) < 0 {
		return setting + " takes numbers"
	}
	return setting + " takes " + orList(dsl.SettingWords(setting))
}

// blockAxes computes the axes of a sweep block. Their bounds may use the file's names, but none that the sweep varies.
func blockAxes(b *dsl.Block, bodies []*dsl.Body, over []setValue, room axisRoom, faults *faultList) []Axis {
	axes := make([]Axis, 0, len(b.Axes))
	for _, a := range b.Axes {
		axes = append(axes, Axis{Name: a.Name, Span: a.Span})
	}
	// A scope in which the swept names vary tells which names a bound may use, and their values.
	sc := newScope(bodies, axes, over)
	ev := newEvaluator(sc, &faultList{quiet: true}) // what is wrong with them is reported with the plan
	sc.sort()
	ev.compileNodes()
	ev.settle(ev.sc.fixed, nil)
	for i, a := range b.Axes {
		ax := &axes[i]
		if j := slices.IndexFunc(over, func(o setValue) bool { return o.name == a.Name }); j >= 0 {
			ax.values = []int64{over[j].value} // the command line goes before the swept values
			continue
		}
		ev.faults = faults
		ax.values = axisValues(a, ev, room, faults)
		room = room.after(ax.Len())
	}
	return axes
}

func axisValues(a *dsl.Axis, ev *evaluator, room axisRoom, faults *faultList) []int64 {
	var values []int64
	bad := false
	number := func(e dsl.Expr, otherwise int64) int64 {
		if e == nil {
			return otherwise
		}
		if ev.sc.exprVaries(e) {
			faults.add(dsl.CodeAxis, e.Span(), fmt.Sprintf("the values of %s depend on what the sweep varies", a.Name), "", "")
			bad = true
			return otherwise
		}
		v, ok := ev.eval(ev.add(e))
		bad = bad || !ok
		return v
	}
	step := number(a.Step, 1)
	for i := range a.Items {
		item := &a.Items[i]
		if item.Word != "" {
			w, ok := encodeWord(a.Name, item.Word)
			if p := room.fits(len(values), 1); p.code != "" {
				faults.add(p.code, item.Span, p.summary, "", p.hint)
				return nil
			}
			bad = bad || !ok // the checker has reported it
			values = append(values, w)
			continue
		}
		lo := number(item.Lo, 0)
		hi := lo
		if item.Hi != nil {
			hi = number(item.Hi, 0)
		}
		if bad {
			continue
		}
		var p problem
		if values, p = room.expand(values, lo, hi, step); p.code != "" {
			faults.add(p.code, item.Span, p.summary, "", p.hint)
			bad = true
		}
	}
	if bad {
		return nil
	}
	return values
}
