package dsl

import "github.com/alecthomas/participle/v2/lexer"

// How tightly operators bind, loosest first. A comparison does not chain.
const (
	bindOr = iota + 1
	bindAnd
	bindCompare
	bindSum
	bindProduct
)

func binding(op string) int {
	switch op {
	case "or":
		return bindOr
	case "and":
		return bindAnd
	case "+", "-":
		return bindSum
	case "*", "/", "%":
		return bindProduct
	}
	return bindCompare
}

// name gives the name that an expression consists of, or "".
func (e *expr) name() string {
	if e == nil || len(e.Rest) > 0 || len(e.First.Prefix) > 0 {
		return ""
	}
	return e.First.Name
}

// end is where an expression ends in the source.
func (e *expr) end() lexer.Position {
	if len(e.Rest) > 0 {
		return e.Rest[len(e.Rest)-1].Term.EndPos
	}
	return e.First.EndPos
}

func (c *checker) exprSpan(e *expr) Span { return c.f.span(e.First.Pos, e.end()) }

// number reads an expression where a number belongs.
func (c *checker) number(e *expr) Expr { return c.numberOr(e, nil) }

// numberOr is number in a place where one of some words could have been meant too.
func (c *checker) numberOr(e *expr, also []string) Expr {
	r := exprReader{c: c, also: also}
	out := r.read(e)
	if isCondition(out) {
		c.fault(CodeNotANumber, c.exprSpan(e), "this is true or false, and a number belongs here", "Comparisons stand only after `iff` and `where`.", "")
	}
	return out
}

// condition reads an expression that is true or false; there, settings may be named.
func (c *checker) condition(e *expr) Expr {
	return c.asCondition(exprReader{c: c, settings: true}, e)
}

func (c *checker) asCondition(r exprReader, e *expr) Expr {
	out := r.read(e)
	if !isCondition(out) {
		c.fault(CodeNotANumber, c.exprSpan(e), "this is a number, and a condition belongs here", "", "compare it: `… > 0`")
	}
	return out
}

// exprReader gives a flat list of operands and operators its precedence.
type exprReader struct {
	c        *checker
	settings bool     // settings may be named
	where    bool     // and lines that may be there too
	arg      bool     // it is an argument of min or max
	also     []string // words that an unknown name could have been meant to be
	e        *expr
	next     int // the operand to read: 0 is First, i is Rest[i-1]
}

// placed is a node with the stretch of source it came from, parentheses included.
type placed struct {
	Expr
	from, to lexer.Position
}

func (r exprReader) read(e *expr) Expr {
	r.e, r.next = e, 0
	return r.binary(bindOr, 0).Expr
}

// binary reads operators that bind at least as tightly as floor; prefix is how many signs of the next operand have been
// read already.
func (r *exprReader) binary(floor, prefix int) placed {
	left := r.unary(prefix)
	for r.next <= len(r.e.Rest) {
		op := r.e.Rest[r.next-1]
		bind := binding(op.Op)
		if bind < floor {
			break
		}
		right := r.binary(bind+1, 0)
		at := r.c.f.span(left.from, right.to)
		r.operands(op, bind, left, right)
		left = placed{&Binary{Op: op.Op, X: left.Expr, Y: right.Expr, At: at}, left.from, right.to}
	}
	return left
}

// operands checks that both sides of an operator are what it works on.
func (r *exprReader) operands(op *opTerm, bind int, left, right placed) {
	conditions := bind <= bindAnd
	for _, side := range [...]placed{left, right} {
		if isCondition(side.Expr) == conditions {
			continue
		}
		at := r.c.f.span(side.from, side.to)
		switch {
		case conditions:
			r.c.fault(CodeNotANumber, at, "`"+op.Op+"` joins conditions, and this is a number", "", "compare it: `… > 0`")
		case bind == bindCompare:
			r.c.fault(CodeNotANumber, at, "`"+op.Op+"` compares numbers, and this is true or false", "Comparisons do not chain.", "join two comparisons with `and`")
		default:
			r.c.fault(CodeNotANumber, at, "`"+op.Op+"` works on numbers, and this is true or false", "", "")
		}
		return
	}
}

func (r *exprReader) term() *term {
	if r.next == 0 {
		return r.e.First
	}
	return r.e.Rest[r.next-1].Term
}

func (r *exprReader) unary(prefix int) placed {
	t := r.term()
	if prefix == len(t.Prefix) {
		r.next++
		return placed{r.operand(t), operandPos(t), t.EndPos}
	}
	s := t.Prefix[prefix]
	var x placed
	if s.Op == "not" {
		x = r.binary(bindCompare, prefix+1) // not a < b is not (a < b)
	} else {
		x = r.unary(prefix + 1)
	}
	at := r.c.f.span(s.Pos, x.to)
	switch {
	case s.Op == "+":
		r.c.fault(CodeStrayPlus, r.c.f.textSpan(s.Pos, s.Op), "a number has no plus sign", "`+N` is a time counted from something; no such time can stand here.", "leave the + out")
		return x
	case (s.Op == "not") != isCondition(x.Expr):
		r.c.fault(CodeNotANumber, at, "`"+s.Op+"` does not fit what follows it", "`not` turns a condition round, `-` a number.", "")
	}
	return placed{&Unary{Op: s.Op, X: x.Expr, At: at}, s.Pos, x.to}
}

// operandPos is where an operand begins, after its signs.
func operandPos(t *term) lexer.Position {
	size := len(t.Name)
	if t.Int != nil {
		size = t.Int.size
	}
	switch {
	case len(t.Prefix) == 0:
		return t.Pos
	case size > 0:
		p := t.EndPos
		p.Offset -= size
		p.Column -= size
		return p
	}
	last := t.Prefix[len(t.Prefix)-1]
	return after(last.Pos, last.Op)
}

func (r *exprReader) operand(t *term) Expr {
	at := r.c.f.span(operandPos(t), t.EndPos)
	inner := exprReader{c: r.c, settings: r.settings, where: r.where}
	switch {
	case t.Int != nil:
		return &Num{Value: t.Int.value, At: at}
	case t.Paren != nil:
		return inner.read(t.Paren)
	case t.Call != nil:
		call := &Call{Fn: t.Call.Fn, At: at}
		for _, a := range t.Call.Args {
			inner.arg = true
			arg := inner.read(a)
			if isCondition(arg) {
				r.c.fault(CodeNotANumber, r.c.exprSpan(a), "`"+call.Fn+"` works on numbers, and this is true or false", "", "")
			}
			call.Args = append(call.Args, arg)
		}
		return call
	case t.Any != nil:
		return r.hole(t)
	}
	ref := &Ref{Name: t.Name, Setting: isSetting(t.Name), At: at}
	switch {
	case ref.Setting && r.c.mentioned[t.Name]: // a let was called so
	case ref.Setting && !r.settings:
		r.c.fault(CodeSettingRef, at, "the setting "+quote(t.Name)+" has no place in a number", "A condition may name it; a let and a time may not, since a run can override it.", "make a let for the number and use it in both places")
	case ref.Setting && r.where && t.Name == "horizon":
		r.c.fault(CodeSettingRef, at, "`horizon` has no place in `where`", "By default it follows from the last tick of all members, so it cannot say which of them there are.", "compare the lets that the ticks are made of")
	case ref.Setting && !numericSetting(t.Name):
		r.c.fault(CodeSettingRef, at, notANumber(t.Name), conditionsCompare, wordHint)
	case !ref.Setting:
		r.c.refs = append(r.c.refs, nameRef{name: t.Name, at: at, scope: r.c.top().scope, also: r.also, maybe: r.where})
	}
	return ref
}

// isCondition tells conditions from numbers.
func isCondition(e Expr) bool {
	switch e := e.(type) {
	case *Unary:
		return e.Op == "not"
	case *Binary:
		return binding(e.Op) <= bindCompare
	}
	return false
}
