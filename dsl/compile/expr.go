package compile

import (
	"fmt"
	"math"
	"strconv"

	"dlock/dsl"
)

// op is one instruction of the stack machine that expressions are compiled to. The tree is walked once a plan; a cell of
// a sweep only runs the flat code.
type op uint8

const (
	opConst  op = iota // push arg
	opSlot             // push the value of the slot arg
	opMargin           // push the slot of validity as a number: its words count as no margin
	opNeg
	opNot
	opAdd
	opSub
	opMul
	opDiv
	opMod
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opMin
	opMax
	opAnd // if the top is false go on at arg and keep it, else drop it
	opOr  // if the top is true go on at arg and keep it, else drop it
)

type instr struct {
	op  op
	arg int64
	src int32 // into codebook.spans: what an error points at
}

// code is one expression, the instructions [lo, hi) of the codebook. The empty code is an expression that is not there.
type code struct{ lo, hi int32 }

func (c code) missing() bool { return c.lo == c.hi }

// codebook holds the code of every expression of a plan.
type codebook struct {
	ins   []instr
	spans []dsl.Span
	deep  int // the deepest stack that any of them needs
}

// resolver gives the slot of a name or of a hole.
type resolver func(leaf dsl.Expr) (int32, bool)

func (cb *codebook) add(e dsl.Expr, slot resolver) code {
	lo := len(cb.ins)
	cb.emit(e, slot, 1)
	return code{int32(lo), int32(len(cb.ins))}
}

func (cb *codebook) put(o op, arg int64, at dsl.Span) int {
	cb.ins = append(cb.ins, instr{op: o, arg: arg, src: int32(len(cb.spans))})
	cb.spans = append(cb.spans, at)
	return len(cb.ins) - 1
}

func binaryOp(word string) op {
	switch word {
	case "+":
		return opAdd
	case "-":
		return opSub
	case "*":
		return opMul
	case "/":
		return opDiv
	case "%":
		return opMod
	case "==":
		return opEq
	case "!=":
		return opNe
	case "<":
		return opLt
	case "<=":
		return opLe
	case ">":
		return opGt
	case ">=":
		return opGe
	case "and":
		return opAnd
	default:
		return opOr
	}
}

// emit appends the code of e; depth is the height of the stack once e is on it.
func (cb *codebook) emit(e dsl.Expr, slot resolver, depth int) {
	cb.deep = max(cb.deep, depth)
	switch e := e.(type) {
	case *dsl.Num:
		cb.put(opConst, e.Value, e.At)
	case *dsl.Ref:
		s, ok := slot(e)
		switch {
		case !ok:
			cb.put(opConst, 0, e.At) // the resolver has reported it
		case e.Setting && e.Name == "validity":
			cb.put(opMargin, int64(s), e.At)
		default:
			cb.put(opSlot, int64(s), e.At)
		}
	case *dsl.Any:
		if s, ok := slot(e); ok {
			cb.put(opSlot, int64(s), e.At)
		} else {
			cb.put(opConst, 0, e.At)
		}
	case *dsl.Unary:
		cb.emit(e.X, slot, depth)
		o := opNeg
		if e.Op == "not" {
			o = opNot
		}
		cb.put(o, 0, e.At)
	case *dsl.Binary:
		o := binaryOp(e.Op)
		cb.emit(e.X, slot, depth)
		if o == opAnd || o == opOr {
			jump := cb.put(o, 0, e.At)
			cb.emit(e.Y, slot, depth)
			cb.ins[jump].arg = int64(len(cb.ins))
			return
		}
		cb.emit(e.Y, slot, depth+1)
		cb.put(o, 0, e.At)
	case *dsl.Call:
		o := opMin
		if e.Fn == "max" {
			o = opMax
		}
		for i, a := range e.Args {
			if i == 0 {
				cb.emit(a, slot, depth)
				continue
			}
			cb.emit(a, slot, depth+1)
			cb.put(o, 0, e.At)
		}
	}
}

// leaves calls f for every name and every hole in e; the names that bound a hole are not among them.
func leaves(e dsl.Expr, f func(leaf dsl.Expr)) {
	switch e := e.(type) {
	case *dsl.Ref, *dsl.Any:
		f(e)
	case *dsl.Unary:
		leaves(e.X, f)
	case *dsl.Binary:
		leaves(e.X, f)
		leaves(e.Y, f)
	case *dsl.Call:
		for _, a := range e.Args {
			leaves(a, f)
		}
	}
}

// mathFault is what can go wrong in an expression.
type mathFault uint8

const (
	mathFine mathFault = iota
	mathByZero
	mathOverflow
	mathUnknown // a name in it has no value; its own fault has been reported
)

// run evaluates c. On a fault, at is the index of the span to blame.
func (cb *codebook) run(c code, slots []int64, good []bool, stack []int64) (v int64, fault mathFault, at int32) {
	sp := -1
	for pc := c.lo; pc < c.hi; pc++ {
		in := &cb.ins[pc]
		switch in.op {
		case opConst:
			sp++
			stack[sp] = in.arg
		case opSlot, opMargin:
			if !good[in.arg] {
				return 0, mathUnknown, in.src
			}
			sp++
			stack[sp] = slots[in.arg]
			if in.op == opMargin && isWord(stack[sp]) {
				stack[sp] = 0
			}
		case opNeg:
			if stack[sp] == math.MinInt64 {
				return 0, mathOverflow, in.src
			}
			stack[sp] = -stack[sp]
		case opNot:
			stack[sp] = truth(stack[sp] == 0)
		case opAnd, opOr:
			if (stack[sp] != 0) == (in.op == opOr) {
				pc = int32(in.arg) - 1
			} else {
				sp--
			}
		default:
			y := stack[sp]
			sp--
			r, f := binary(in.op, stack[sp], y)
			if f != mathFine {
				return 0, f, in.src
			}
			stack[sp] = r
		}
	}
	return stack[0], mathFine, 0
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// binary computes x o y with floor division and without wrapping around.
func binary(o op, x, y int64) (int64, mathFault) {
	switch o {
	case opAdd:
		r := x + y
		if (r > x) != (y > 0) && y != 0 {
			return 0, mathOverflow
		}
		return r, mathFine
	case opSub:
		r := x - y
		if (r < x) != (y > 0) && y != 0 {
			return 0, mathOverflow
		}
		return r, mathFine
	case opMul:
		if x == 0 || y == 0 {
			return 0, mathFine
		}
		r := x * y
		if r/y != x || x == -1 && y == math.MinInt64 || y == -1 && x == math.MinInt64 {
			return 0, mathOverflow
		}
		return r, mathFine
	case opDiv, opMod:
		if y == 0 {
			return 0, mathByZero
		}
		if y == -1 {
			if o == opMod {
				return 0, mathFine
			}
			if x == math.MinInt64 {
				return 0, mathOverflow
			}
			return -x, mathFine
		}
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q, r = q-1, r+y
		}
		if o == opMod {
			return r, mathFine
		}
		return q, mathFine
	case opEq:
		return truth(x == y), mathFine
	case opNe:
		return truth(x != y), mathFine
	case opLt:
		return truth(x < y), mathFine
	case opLe:
		return truth(x <= y), mathFine
	case opGt:
		return truth(x > y), mathFine
	case opGe:
		return truth(x >= y), mathFine
	case opMin:
		return min(x, y), mathFine
	default:
		return max(x, y), mathFine
	}
}

// A setting's value is one int64: a number is itself, and a word of the language is firstWord plus its place among the
// setting's words. No setting takes a negative number, so the two cannot be confused.
const (
	firstWord = math.MinInt64
	wordSpace = 16 // more than any setting has words
)

func isWord(v int64) bool { return v < firstWord+wordSpace }

// encodeWord gives the value of a setting's word.
func encodeWord(setting, word string) (int64, bool) {
	if word == "number" || word == "text" {
		return 0, false
	}
	for i, w := range dsl.SettingWords(setting) {
		if w == word {
			return firstWord + int64(i), true
		}
	}
	return 0, false
}

// Value is a let or a setting with the value that it has in a run or cell.
type Value struct {
	Name string
	N    int64
	Word string // a word of the language, or the text of a setting that is one; then N is meaningless
	Str  bool   // Word is a text
}

// Text gives the value as the language writes it.
func (v Value) Text() string {
	switch {
	case v.Str:
		return Quote(v.Word)
	case v.Word != "":
		return v.Word
	default:
		return strconv.FormatInt(v.N, 10)
	}
}

// decode gives the value of a let or setting as people write it.
func decode(name string, v int64) Value {
	if isWord(v) {
		if words := dsl.SettingWords(name); int(v-firstWord) < len(words) {
			return Value{Name: name, Word: words[v-firstWord]}
		}
	}
	return Value{Name: name, N: v}
}

// Quote writes a text as the language does: only \" \\ \n and \t are escapes.
func Quote(s string) string {
	out := make([]byte, 0, len(s)+2)
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

// String is "NAME = VALUE".
func (v Value) String() string { return fmt.Sprintf("%s = %s", v.Name, v.Text()) }
