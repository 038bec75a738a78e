package dsl

import (
	"cmp"
	"slices"
)

// expectLine reads a claim.
func (c *checker) expectLine(l *expectLine) {
	e := &Expect{Span: c.f.rowSpan(c.row), Source: plainLine(c.row)}
	sc := c.top().scope
	switch cl := l.Claim; {
	case cl.Final != nil:
		e.Kind, e.Text = ClaimFinal, unquote(cl.Final.Text)
	case cl.At != nil:
		c.atClaim(e, cl.At)
	case cl.No != nil:
		e.Kind, e.Law, e.None = ClaimLaw, cl.No.Text, true
		c.law(cl.No)
	default:
		c.subject(e, cl.Subject)
	}
	c.quantifier(e, l)
	if l.Iff != nil {
		e.Iff = c.condition(l.Iff.Cond)
		if c.top().kind != badFrame && (sc.block == nil || sc.block.Kind != SweepBlock) {
			c.fault(CodeOutsideSweep, c.f.textSpan(l.Iff.Pos, "iff"), "`iff` stands in a sweep", "It says in which cells a claim holds; a single run has no cells.", "move the line into a sweep, or leave `iff …` out")
		}
	}
	sc.body.Expects = append(sc.body.Expects, e)
}

// quantifier reads always, never, sometimes and "in N", which count the members of an explore block.
func (c *checker) quantifier(e *Expect, l *expectLine) {
	switch {
	case l.Quant != nil:
		e.Quant = map[string]Quantifier{"always": Always, "never": NeverIn, "sometimes": Sometimes}[l.Quant.Text]
		c.explores(c.f.textSpan(l.Quant.Pos, l.Quant.Text), l.Quant.Text)
		if l.In != nil {
			c.fault(CodeOutsideExplore, c.f.textSpan(l.In.Pos, "in"), quote(l.Quant.Text)+" and `in` exclude each other", "Both say in how many members the claim holds.", "leave one of them out")
		}
	case l.In != nil:
		e.Quant = InCount
		c.explores(c.f.textSpan(l.In.Pos, "in"), "in")
	}
	if l.In != nil {
		e.In = c.number(l.In.N)
	}
}

func (c *checker) atClaim(e *Expect, cl *atClaim) {
	e.At = c.number(cl.T)
	if cl.Value != nil {
		e.Kind, e.Text = ClaimValue, unquote(cl.Value.Text)
		return
	}
	nobody := cl.Who.Text == "nobody"
	if !nobody {
		e.Client = cl.Who.Text
		c.claimed(cl.Who)
	}
	switch what := cl.What.Text; {
	case what == "holds":
		e.Kind = ClaimHolds
	case what == "believes":
		e.Kind = ClaimBelieves
	case nobody:
		c.fault(CodeUnknownClaim, c.f.wordSpan(cl.What), "`nobody` either holds or believes", "", "write `expect at T nobody holds`")
	default:
		e.Kind, e.Outcome = ClaimOutcome, what
		if !slices.Contains(OutcomeWords(), what) {
			words := append([]string{"holds", "believes"}, OutcomeWords()...)
			c.fault(CodeUnknownClaim, c.f.wordSpan(cl.What), quote(what)+" is neither an outcome nor `holds` or `believes`", "Outcomes are "+listed(OutcomeWords())+".", didYouMean(what, words, ""))
		}
	}
}

// claimed notes a client that a claim names.
func (c *checker) claimed(w *word) {
	c.named = append(c.named, nameRef{name: w.Text, at: c.f.wordSpan(w)})
}

func (c *checker) law(w *word) {
	if !isLaw(w.Text) {
		name := cmp.Or(c.hanging(w.Pos.Offset), w.Text)
		if w.Text == "clean" {
			c.fault(CodeUnknownClaim, c.f.wordSpan(w), "`clean` is not a law", "It says that no law of safety is broken.", "write `expect clean`")
			return
		}
		c.fault(CodeUnknownClaim, c.f.textSpan(w.Pos, name), quote(name)+" is not a law", "The laws are "+listed(LawWords())+".", didYouMean(name, LawWords(), ""))
	}
}

// hanging gives the word at an offset of the line with what hangs on it by hyphens: stale-wrte is three tokens.
func (c *checker) hanging(offset int) string {
	for i, t := range c.row.tokens {
		if t.Pos.Offset == offset && t.Type == tokIdent {
			return joinedWord(c.row.tokens[i:])
		}
	}
	return ""
}

func (c *checker) subject(e *Expect, s *subject) {
	name := s.Name.Text
	at := c.f.wordSpan(s.Name)
	switch {
	case s.Never != nil:
		e.Kind, e.Client, e.Outcome = ClaimNever, name, s.Never.Text
		c.claimed(s.Name)
		if !slices.Contains(OutcomeWords(), e.Outcome) {
			c.fault(CodeUnknownClaim, c.f.wordSpan(s.Never), quote(e.Outcome)+" is not an outcome", "Outcomes are "+listed(OutcomeWords())+".", didYouMean(e.Outcome, OutcomeWords(), ""))
		}
	case s.Blocked != nil:
		e.Kind, e.Client, e.N = ClaimBlocked, name, c.number(s.Blocked)
		c.claimed(s.Name)
	case s.Token != nil:
		e.Kind, e.Client, e.N = ClaimToken, name, c.number(s.Token)
		c.claimed(s.Name)
	case isMeasure(name) && name != "clean":
		e.Kind = map[string]ClaimKind{"grants": ClaimGrants, "writes": ClaimWrites, "idle": ClaimIdle}[name]
		if s.N == nil {
			c.fault(CodeMissingPart, c.f.rowSpan(c.row), "a number is missing after "+quote(name), "", "write `expect "+name+" 2`")
			return
		}
		e.N = c.number(s.N)
	case name == "clean":
		e.Kind = ClaimClean
		if s.N != nil {
			c.fault(CodeUnknownClaim, c.exprSpan(s.N), "`clean` takes no number", "It says that no law of safety is broken.", "")
		}
	case isLaw(name):
		e.Kind, e.Law = ClaimLaw, name
		if s.N != nil {
			e.N = c.number(s.N)
		}
	default:
		c.unknownClaim(s, name, at)
	}
}

func (c *checker) unknownClaim(s *subject, name string, at Span) {
	said := s.N.name()
	if name == "nobody" || said == "holds" || said == "believes" || slices.Contains(OutcomeWords(), said) {
		what := said
		if what == "" {
			what = "holds"
		}
		c.fault(CodeUnknownClaim, at, "this claim needs a time", "An outcome is claimed at the tick at which it is heard, and a holder changes over time.", "write `expect at T "+name+" "+what+"`")
		return
	}
	words := append([]string{"final", "at", "no", "grants", "writes", "idle", "clean"}, LawWords()...)
	full := cmp.Or(c.hanging(s.Name.Pos.Offset), name)
	if said != "" && c.clients[name] {
		c.fault(CodeUnknownClaim, c.exprSpan(s.N), quote(said)+" cannot be claimed of a client", "", didYouMean(said, append([]string{"never", "blocked", "token"}, OutcomeWords()...), "write `never OUTCOME`, `blocked N` or `token N`"))
		return
	}
	c.fault(CodeUnknownClaim, c.f.textSpan(s.Name.Pos, full), quote(full)+" cannot be claimed", "", didYouMean(full, words, "claims start with final, at, no, a law, clean, grants, writes, idle or a client"))
}
