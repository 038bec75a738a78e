package dsl

import "slices"

// kind names a suffix as verbRule does, and once says under which name it may stand only once on a line.
func (it *item) kind() (kind, once string) {
	switch {
	case it.Text != nil:
		kind = partText
	case it.TTL != nil:
		kind = "ttl"
	case it.On != nil:
		kind = "on"
	case it.Retry != nil:
		kind = "retry"
	case it.Watchdog != nil:
		kind = "watchdog"
	case it.As != nil:
		kind = "as"
	case it.Recreate != "":
		kind = "recreate"
	case it.If != nil:
		kind = "if"
	case it.Guard != nil && it.Guard.Before != nil:
		return "guard", "guard before"
	case it.Guard != nil:
		return "guard", "guard " + it.Guard.Word.Text
	case it.Arrives != nil:
		return partArrives, ""
	case it.Reply != nil:
		return partReply, ""
	case it.For != nil:
		return "for", partEnd
	case it.Until != nil:
		return "until", partEnd
	case it.Stop != "":
		kind = partStop
	case it.Lose != "":
		kind = partLose
	case it.Jump != nil:
		kind = partJump
	}
	return kind, kind
}

// items reads the suffixes of a step. Without a rule the verb is unknown, and they are read for their names only.
func (c *checker) items(s *Step, rule *verbRule, items []*item) {
	var kinds, once []string
	retried := slices.ContainsFunc(items, func(it *item) bool { return it.Retry != nil })
	for _, it := range items {
		at := c.f.span(it.Pos, it.EndPos)
		kind, key := it.kind()
		switch {
		case rule == nil:
		case kind == "":
			c.unknownSuffix(rule, it)
		case !slices.Contains(rule.suffixes, kind):
			c.fault(CodeMisfitSuffix, at, suffixName(kind)+" does not belong to "+quote(string(rule.verb)), misfitDetail(rule), misfitHint(rule, kind))
		case key != "" && slices.Contains(once, key):
			c.fault(CodeRepeatedSuffix, at, suffixName(key)+" stands twice on this line", "", "delete one")
		}
		kinds, once = append(kinds, kind), append(once, key)
		c.item(s, it)
	}
	if rule == nil {
		return
	}
	if len(rule.needs) > 0 && !slices.ContainsFunc(rule.needs, func(n string) bool { return slices.Contains(kinds, n) }) {
		c.fault(CodeMissingPart, c.f.rowSpan(c.row), quote(string(rule.verb))+" is not complete", "", rule.needHint)
	}
	for _, m := range s.Messages {
		if retried && !m.Lost && !m.When.Plus {
			c.fault(CodeRetryMessage, m.Span, "with `retry` the time of a message counts from its send", "Every try sends again; one absolute time cannot fit them all.", "write `+N`")
		}
		if len(m.Servers) > 0 && (s.Verb == Read || s.Verb == Write || s.Verb == Append) {
			c.fault(CodeMessageServers, m.Span, quote(string(s.Verb))+" goes to the resource, not to servers", "", "leave the servers out")
		}
	}
}

func suffixName(kind string) string {
	switch kind {
	case partText:
		return "a text"
	case partJump:
		return "a jump such as +20"
	case partLose:
		return "`empty` or `wiped`"
	case partEnd:
		return "an end (`for` or `until`)"
	}
	return "`" + kind + "`"
}

func misfitDetail(rule *verbRule) string {
	if len(rule.suffixes) == 0 {
		return quote(string(rule.verb)) + " stands alone."
	}
	var names []string
	for _, s := range rule.suffixes {
		switch s {
		case partText, partJump, partLose:
		default:
			names = append(names, s)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "It takes " + listed(names) + "."
}

func misfitHint(rule *verbRule, kind string) string {
	switch {
	case kind == "ttl" && rule.verb == Release:
		return "a release needs no ttl"
	case kind == "retry":
		return "only `acquire` is tried again; repeat another verb with `every K from T to T`"
	case kind == partText && rule.verb == Acquire:
		return `an owner id is written as "id"`
	}
	return ""
}

// unknownSuffix answers a word that no suffix starts with.
func (c *checker) unknownSuffix(rule *verbRule, it *item) {
	at := c.f.textSpan(it.Pos, it.Unknown)
	if slices.Contains(rule.needs, partText) {
		c.fault(CodeUnknownSuffix, at, quote(it.Unknown)+" is not a text", "", "put it in quotes: \""+it.Unknown+"\"")
		return
	}
	if rule.verb == Clock {
		c.fault(CodeUnknownSuffix, at, "a clock jumps by a signed number", "", "write `clock +"+it.Unknown+"` or `clock -"+it.Unknown+"`")
		return
	}
	hint := ""
	if _, ok := parseDecimal(it.Unknown); ok && len(rule.needs) > 0 {
		hint = "write `" + rule.needs[0] + " " + it.Unknown + "`"
	}
	c.fault(CodeUnknownSuffix, at, quote(it.Unknown)+" means nothing after "+quote(string(rule.verb)), misfitDetail(rule), didYouMean(it.Unknown, append(slices.Clone(rule.suffixes), suffixWords()...), hint))
}

// item reads one suffix into the step.
func (c *checker) item(s *Step, it *item) {
	at := c.f.span(it.Pos, it.EndPos)
	switch {
	case it.Text != nil:
		s.Text = unquote(it.Text.Text)
	case it.TTL != nil:
		s.TTL = &TTL{Span: at, None: it.TTL.None != ""}
		if it.TTL.N != nil {
			s.TTL.N = c.number(it.TTL.N)
		}
	case it.On != nil:
		s.On = c.servers(it.On)
	case it.Retry != nil:
		s.Retry = &Retry{Span: at, K: c.number(it.Retry.K)}
		if it.Retry.Until != nil {
			s.Retry.Until = c.time(it.Retry.Until)
		}
	case it.Watchdog != nil:
		s.Watchdog = c.number(it.Watchdog)
	case it.As != nil:
		s.As = unquote(it.As.Text)
		if s.As == "" {
			c.fault(CodeEmptyName, at, "an owner id cannot be empty", "", "leave `as` out to use the client's name")
		}
	case it.Recreate != "":
		s.Recreate = true
	case it.If != nil:
		switch it.If.Text {
		case "checked":
			s.IfCheck = true
		case "valid":
			s.IfValid = true
		default:
			c.fault(CodeUnknownSuffix, c.f.wordSpan(it.If), quote(it.If.Text)+" is not a condition of the client", "`if checked` asks its last check, `if valid` its own clock.", didYouMean(it.If.Text, []string{"checked", "valid"}, "the resource's conditions are written with `guard`"))
		}
	case it.Guard != nil:
		c.guard(s, it.Guard)
	case it.Arrives != nil:
		c.message(s, it, it.Arrives, false)
	case it.Reply != nil:
		c.message(s, it, it.Reply, true)
	case it.For != nil:
		s.PauseFor = c.number(it.For)
	case it.Until != nil:
		s.Until = c.time(it.Until)
	case it.Stop != "":
		s.ClockEnd = s.Verb == Clock
	case it.Lose != "":
		s.Lose = it.Lose
	case it.Jump != nil && it.Jump.N != nil:
		s.ClockBy = c.number(it.Jump.N)
	case it.Jump != nil && it.Jump.Neg != nil:
		s.ClockBy = c.number(it.Jump.Neg)
	case it.Jump != nil:
		s.ClockBy = c.number(it.Jump.Any)
	}
}

func (c *checker) guard(s *Step, g *guard) {
	switch {
	case g.Before != nil:
		s.Before = c.time(g.Before)
	case g.Word.Text == "version":
		s.Version = true
	case g.Word.Text == "lock":
		s.Lock = true
	default:
		c.fault(CodeUnknownSuffix, c.f.wordSpan(g.Word), quote(g.Word.Text)+" is not a guard", "The resource looks at the version, at the lock, or at the time.", didYouMean(g.Word.Text, []string{"version", "lock", "before"}, "write `guard version`, `guard lock` or `guard before T`"))
	}
}

// message reads "arrives …" and "reply …".
func (c *checker) message(s *Step, it *item, m *message, reply bool) {
	out := Message{Span: c.f.span(it.Pos, it.EndPos), Reply: reply, Lost: m.Lost != ""}
	if m.When != nil {
		out.When = c.time(m.When)
	}
	mine, other := m.At, m.From
	lost, place := "never", "at"
	if reply {
		mine, other = other, mine
		lost, place = "lost", "from"
	}
	out.Servers = c.servers(mine)
	switch {
	case out.Lost && m.Lost != lost:
		c.fault(CodeUnknownSuffix, out.Span, "a request never arrives, a reply is lost", "", "write `"+map[bool]string{false: "arrives never", true: "reply lost"}[reply]+"`")
	case len(other) > 0:
		c.servers(other)
		c.fault(CodeUnknownSuffix, out.Span, "a request arrives `at` servers, a reply comes `from` them", "", "write `"+place+"`")
	}
	s.Messages = append(s.Messages, out)
}

func (c *checker) time(t *moment) Time {
	return Time{Span: c.f.span(t.Pos, t.EndPos), Plus: t.Plus != nil, Expr: c.number(t.Expr)}
}
