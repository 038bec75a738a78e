package dsl

// hole reads a number that is left open.
func (r *exprReader) hole(t *term) Expr {
	c, at := r.c, r.c.f.span(t.Any.Pos, t.EndPos)
	h := c.newHole(NumberHole, at)
	for _, it := range t.Any.Items {
		item := AxisItem{Lo: c.bound(it.Lo)}
		item.Span = item.Lo.Span()
		if it.Hi != nil {
			item.Hi = c.bound(it.Hi)
			item.Span.End = item.Hi.Span().End
		}
		h.Items = append(h.Items, item)
	}
	if t.Any.Step != nil {
		h.Step = c.bound(t.Any.Step)
	}
	larger := r.arg || len(r.e.Rest) > 0 || len(t.Prefix) > 0
	switch {
	case !c.holes:
		c.fault(CodeHolePlace, at, "nothing can be left open here", "A hole is a number or a server of the schedule. What is claimed of its members, and which of them count, is the same for all.", "make it a let, and name the let here")
	case larger && (len(h.Items) > 1 || h.Step != nil):
		c.fault(CodeHolePlace, at, "this hole needs parentheses", "Without them it cannot be seen where its values end and the formula goes on.", "write `(any …)`")
	}
	return &Any{Hole: h, At: at}
}

func (c *checker) newHole(kind HoleKind, at Span) *Hole {
	return &Hole{Span: at, Kind: kind, Line: at.Start.Line, In: c.maybe}
}

// bound reads a bound of a hole: a plain number or a name.
func (c *checker) bound(b *bound) Expr {
	at := c.f.span(b.Pos, b.EndPos)
	inner := at
	if b.Minus != nil {
		inner.Start = toPos(b.EndPos)
		size := len(b.Name)
		if b.Int != nil {
			size = b.Int.size
		}
		inner.Start.Offset -= size
		inner.Start.Col -= size
	}
	var x Expr
	switch {
	case b.Int != nil:
		x = &Num{Value: b.Int.value, At: inner}
	default:
		x = &Ref{Name: b.Name, Setting: isSetting(b.Name), At: inner}
		if isSetting(b.Name) {
			c.fault(CodeSettingRef, inner, "the setting "+quote(b.Name)+" has no place in a number", "A condition may name it; a hole may not, since a run can override it.", "make a let for the number and use it in both places")
		} else {
			c.refs = append(c.refs, nameRef{name: b.Name, at: inner, scope: c.top().scope})
		}
	}
	if b.Minus != nil {
		return &Unary{Op: "-", X: x, At: at}
	}
	return x
}

// nameHole gives a hole the name of the let or setting that is nothing but this hole.
func nameHole(e Expr, name string) {
	if a, ok := e.(*Any); ok {
		a.Hole.Name = name
	}
}

// maybeLine reads the "maybe" before a step.
func (c *checker) maybeLine(s *Step, l *maybe) {
	at := c.f.textSpan(l.Pos, l.Word)
	s.Maybe = &Maybe{Span: at, Name: l.Name}
	if l.Name != "" {
		name := c.f.tokenSpan(c.row.tokens[1])
		at.End, s.Maybe.Span = name.End, name
		c.maybeName(s.Maybe)
	}
	s.Maybe.Hole = c.newHole(MaybeHole, at)
	s.Maybe.Hole.Name = l.Name
	c.maybe = s.Maybe.Hole
}

func (c *checker) maybeName(m *Maybe) {
	sc := c.top().scope
	if isSetting(m.Name) {
		c.fault(CodeReservedName, m.Span, quote(m.Name)+" is a setting", "In a condition it would not be clear which of the two is meant.", "give the line another name")
	}
	if first := sc.maybes[m.Name]; first != nil {
		c.fault(CodeDuplicate, m.Span, "two lines are called "+quote(m.Name), "The name is how `where` and --set refer to a line that may be there.", "give one of them another name")
		return
	}
	sc.maybes[m.Name] = m
	c.maybes = append(c.maybes, maybeRef{m, sc})
}

// maybeRef is a named line that may be there, with the scope that it stands in.
type maybeRef struct {
	maybe *Maybe
	scope *scope
}

// maybeNames compares the names of lines with those of the lets that stand beside them, wherever both can be seen.
func (c *checker) maybeNames() {
	top := c.scopes[0]
	for _, r := range c.maybes {
		name := r.maybe.Name
		let := r.scope.lets[name]
		if let == nil {
			let = top.lets[name]
		}
		if let == nil && r.scope != top && top.maybes[name] != nil {
			c.fault(CodeDuplicate, r.maybe.Span, "two lines are called "+quote(name), "The name is how `where` and --set refer to a line that may be there.", "give one of them another name")
			continue
		}
		for i := 1; let == nil && r.scope == top && i < len(c.scopes); i++ {
			let = c.scopes[i].lets[name]
		}
		if let != nil {
			c.fault(CodeDuplicate, r.maybe.Span, "a line and a let are both called "+quote(name), "Line "+itoa(let.Span.Start.Line)+" has the let. `where` and --set could mean either.", "give one of them another name")
		}
	}
}

// explores says that a word belongs to explore blocks, unless it stands in one.
func (c *checker) explores(at Span, word string) {
	if sc := c.top().scope; c.top().kind == badFrame || sc.block != nil && sc.block.Kind == ExploreBlock {
		return
	}
	c.fault(CodeOutsideExplore, at, quote(word)+" stands in an explore block", "It is about the members of a family, and a single run has none.", "move the line into an explore block, or leave "+quote(word)+" out")
}

func (c *checker) whereLine(l *whereLine) {
	c.explores(c.f.wordSpan(l.Word), l.Word.Text)
	r := exprReader{c: c, settings: true, where: true}
	cond := c.asCondition(r, l.Cond)
	if b := c.top().scope.block; b != nil {
		b.Where = append(b.Where, cond)
	}
}

func (c *checker) tiesLine(l *tiesLine) {
	at := c.f.wordSpan(l.Word)
	c.explores(at, l.Word.Text)
	if b := c.top().scope.block; b != nil {
		if b.Ties {
			c.fault(CodeDuplicate, at, "`ties any` stands twice", "", "delete one")
		}
		b.Ties = true
	}
}
