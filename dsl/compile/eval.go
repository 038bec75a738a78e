package compile

import (
	"slices"

	"dlock/dsl"
)

// evaluator holds the values of one plan's names while they are computed, and what goes wrong meanwhile.
type evaluator struct {
	sc     *scope
	cb     *codebook
	slots  []int64
	good   []bool // whether the slot has a value; without one, what needs it is skipped silently
	stack  []int64
	faults *faultList
}

func newEvaluator(sc *scope, faults *faultList) *evaluator {
	return &evaluator{
		sc: sc, cb: &codebook{}, faults: faults,
		slots: make([]int64, len(sc.nodes)), good: make([]bool, len(sc.nodes)),
	}
}

// fork gives an evaluator that shares the code and starts from the same values.
func (ev *evaluator) fork() evaluator {
	return evaluator{
		sc: ev.sc, cb: ev.cb, faults: &faultList{},
		slots: slices.Clone(ev.slots), good: slices.Clone(ev.good), stack: make([]int64, len(ev.stack)),
	}
}

// add compiles an expression; nil gives the empty code.
func (ev *evaluator) add(e dsl.Expr) code {
	if e == nil {
		return code{}
	}
	c := ev.cb.add(e, ev.sc.leaf)
	if n := ev.cb.deep; n > len(ev.stack) {
		ev.stack = make([]int64, n)
	}
	return c
}

// varies tells whether code reads a name that differs between cells.
func (ev *evaluator) varies(c code) bool {
	for _, in := range ev.cb.ins[c.lo:c.hi] {
		if (in.op == opSlot || in.op == opMargin) && ev.sc.nodes[in.arg].varies {
			return true
		}
	}
	return false
}

// eval computes code and reports what is wrong with it.
func (ev *evaluator) eval(c code) (int64, bool) {
	if c.hi-c.lo == 1 { // most numbers of a schedule are a literal or a name
		switch in := &ev.cb.ins[c.lo]; {
		case in.op == opConst:
			return in.arg, true
		case in.op == opSlot && ev.good[in.arg]:
			return ev.slots[in.arg], true
		}
	}
	v, fault, at := ev.cb.run(c, ev.slots, ev.good, ev.stack)
	switch fault {
	case mathByZero:
		ev.faults.add(dsl.CodeDivisionByZero, ev.cb.spans[at], "division by zero", "", "")
	case mathOverflow:
		ev.faults.add(dsl.CodeOverflow, ev.cb.spans[at], "the number is too large",
			"Numbers are integers from -9223372036854775808 to 9223372036854775807.", "")
	}
	return v, fault == mathFine
}

func (ev *evaluator) compileNodes() {
	for i := range ev.sc.nodes {
		if n := &ev.sc.nodes[i]; n.from == byExpr {
			n.code = ev.add(n.expr)
		}
	}
}

// settle computes the names of an order of computation.
func (ev *evaluator) settle(order []int32, cell []int64) {
	for _, i := range order {
		ev.name(i, cell)
	}
}

// name computes one let or setting.
func (ev *evaluator) name(i int32, cell []int64) {
	n := &ev.sc.nodes[i]
	v, ok := n.value, true
	switch {
	case n.from == byAxis:
		v = cell[n.axis]
	case n.from == byHole && n.axis < 0:
		ok = false // nothing that is done or claimed depends on it
	case n.from == byHole:
		v = cell[n.axis]
	case n.from == byExpr:
		v, ok = ev.eval(n.code)
	case i == setHorizon && n.from == byDefault:
		ok = false // it follows from the schedule
	}
	if ok && i < numSettings && !isWord(v) {
		if summary := checkSetting(i, v); summary != "" {
			code := dsl.CodeSettingRange
			if i == setQuorum {
				code = dsl.CodeQuorumRange
			}
			ev.faults.add(code, n.span, summary, "", "")
			ok = false
		}
	}
	if ok && i == setQuorum && isWord(v) {
		ok = ev.good[setServers]
		v = ev.slots[setServers]/2 + 1
	}
	ev.slots[i], ev.good[i] = v, ok
}
