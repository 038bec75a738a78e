package dsl

import (
	"fmt"
	"slices"
	"strings"
)

// stepLine reads "at T ACTOR VERB …" and "every K from T to T ACTOR VERB …".
func (c *checker) stepLine(l *stepLine) {
	c.holes = true
	defer func() { c.holes = false }()
	s := &Step{Span: c.f.rowSpan(c.row)}
	if l.Maybe != nil {
		c.maybeLine(s, l.Maybe)
	}
	if l.At != nil {
		if l.At.Plus != nil {
			c.fault(CodeStrayPlus, c.f.textSpan(l.At.Plus.Pos, "+"), "the time after `at` is absolute", "`+N` counts from an outcome, in an outcome block.", "leave the + out, or put the line `+N …` into a block")
		}
		s.When = When{Kind: At, At: c.number(l.At.Expr)}
	} else {
		s.When = When{Kind: Every, K: c.number(l.Every.K), From: c.number(l.Every.From), To: c.number(l.Every.To)}
	}
	sc := c.top().scope
	switch {
	case l.Net != nil:
		c.netPart(s, l.Net)
	case l.Actor.Resource != nil:
		s.Actor = Actor{Span: c.f.textSpan(l.Actor.Resource.Pos, l.Actor.Resource.Word), Resource: true}
		c.doing(s, l.Doing, byResource)
	case len(l.Actor.Servers) > 0:
		s.Actor.Servers = c.servers(l.Actor.Servers)
		s.Actor.Span = s.Actor.Servers[0].Span
		s.Actor.Span.End = s.Actor.Servers[len(s.Actor.Servers)-1].Span.End
		c.doing(s, l.Doing, byServer)
	default:
		s.Actor = Actor{Span: c.f.wordSpan(l.Actor.Client), Client: l.Actor.Client.Text}
		c.client(l.Actor.Client)
		c.doing(s, l.Doing, byClient)
	}
	sc.body.Steps = append(sc.body.Steps, s)
}

// client notes a client that acts, and checks its name.
func (c *checker) client(w *word) {
	if c.clients[w.Text] {
		return
	}
	if isLanguageWord(w.Text) {
		at := c.f.wordSpan(w)
		if isVerb(w.Text) {
			c.fault(CodeReservedName, at, "an actor is missing before "+quote(w.Text), "After the time comes who does it: a client, servers, or `resource`.", "write `A "+w.Text+" …`")
		} else {
			c.fault(CodeReservedName, at, quote(w.Text)+" is a word of the language, and no client can be called so", "", "call the client A, B, or worker1")
		}
		return
	}
	if len(c.script.Clients) == MaxClients {
		c.fault(CodeTooManyClients, c.f.wordSpan(w), fmt.Sprintf("more than %d clients in one file", MaxClients), "", "")
	}
	c.clients[w.Text] = true
	if len(c.script.Clients) < MaxClients {
		c.script.Clients = append(c.script.Clients, w.Text)
	}
}

// afterLine reads a line of an outcome block.
func (c *checker) afterLine(l *afterLine) {
	open := c.top()
	c.holes, c.maybe = true, open.maybe
	defer func() { c.holes = false }()
	if open.kind != outcomeFrame {
		if open.kind == badFrame { // whose block it is cannot be known, but the line can be wrong by itself
			c.doing(&Step{Span: c.f.rowSpan(c.row), When: When{Kind: After, At: c.number(l.N)}}, l.Doing, byClient)
			return
		}
		c.fault(CodeMisplaced, c.f.textSpan(l.Plus.Pos, "+"), "a line with `+N` stands in an outcome block", "It counts from the outcome of the step that the block belongs to.", "write `at T CLIENT …`, or put it into a block after a step: `at 0 A acquire ttl 10 {`")
		if l.Doing.Open != nil {
			c.pushBad()
		}
		return
	}
	s := &Step{Span: c.f.rowSpan(c.row), When: When{Kind: After, At: c.number(l.N)}, Actor: open.step.Actor}
	open.outcome.Steps = append(open.outcome.Steps, s)
	c.doing(s, l.Doing, byClient)
}

// netPart reads the rest of a cut or heal line.
func (c *checker) netPart(s *Step, l *netPart) {
	s.Verb = Verb(l.Verb.Text)
	at := c.f.wordSpan(l.Client)
	s.Actor = Actor{Span: at, Client: l.Client.Text}
	switch {
	case isServerName(l.Client.Text):
		c.fault(CodeWrongActor, at, "`"+l.Verb.Text+"` names a client first", "A cut lies between one client and servers.", "write `"+l.Verb.Text+" A from "+l.Client.Text+"`")
	case isLanguageWord(l.Client.Text):
		c.fault(CodeReservedName, at, quote(l.Client.Text)+" is a word of the language, and no client can be called so", "", "write `"+l.Verb.Text+" A from s1..s3`")
	default:
		c.named = append(c.named, nameRef{name: l.Client.Text, at: at})
	}
	s.From = c.servers(l.From)
	s.FromRes = l.Res != nil
	if l.End != nil {
		c.fault(CodeWrongActor, c.f.textSpan(l.End.Pos, l.End.Text), quote(l.End.Text)+" is no server", "Clients do not talk to each other; a cut lies between a client and servers or `resource`.", "write `from s1..s3` or `from resource`")
	} else if l.FromWord != nil && len(s.From) == 0 && !s.FromRes {
		c.fault(CodeMissingPart, c.f.textSpan(l.FromWord.Pos, l.FromWord.Text), "`from` names nothing", "", "write `from s1..s3` or `from resource`, or leave `from` out to mean all of them")
	}
}

// servers reads a list of servers.
func (c *checker) servers(list []*servers) []ServerRange {
	var out []ServerRange
	var hole *Hole // that the servers from here on belong to
	for _, l := range list {
		r := ServerRange{Span: c.f.textSpan(l.Lo.Pos, l.Lo.Text), Lo: c.serverNumber(l.Lo)}
		r.Hi = r.Lo
		if l.Hi != nil {
			r.Hi = c.serverNumber(l.Hi)
			r.Span.End = toPos(after(l.Hi.Pos, l.Hi.Text))
			if r.Lo > r.Hi && r.Hi > 0 {
				c.fault(CodeBadServer, r.Span, "this range of servers is empty", "It counts upwards, both ends included.", fmt.Sprintf("write s%d..s%d", r.Hi, r.Lo))
			}
		}
		c.ranges = append(c.ranges, rangeRef{servers: r, scope: c.top().scope})
		if l.Any != "" {
			hole = c.newHole(ServerHole, c.f.textSpan(l.Pos, l.Any))
			out = append(out, ServerRange{Span: hole.Span, Hole: hole})
		}
		if hole == nil {
			out = append(out, r)
			continue
		}
		hole.Servers = append(hole.Servers, r)
		hole.Span.End = r.Span.End
		out[len(out)-1].Span.End = r.Span.End
	}
	return out
}

func (c *checker) serverNumber(n *serverName) int {
	v, ok := parseDecimal(n.Text[1:])
	switch {
	case ok && v == 0:
		c.fault(CodeBadServer, c.f.textSpan(n.Pos, n.Text), "there is no server "+quote(n.Text), "Servers are counted from s1.", "")
	case !ok || v > MaxServers:
		c.fault(CodeServerBeyond, c.f.textSpan(n.Pos, n.Text), "there is no server "+quote(n.Text), fmt.Sprintf("There are at most %d servers.", MaxServers), "")
		return MaxServers
	}
	return int(v)
}

// doing reads a verb with its suffixes and opens its outcome block.
func (c *checker) doing(s *Step, d *doing, by actors) {
	rule, known := ruleOf(d.Verb.Text)
	if !known || rule.by&by == 0 {
		c.wrongVerb(d, by, known)
		c.items(s, nil, d.Items)
	} else {
		s.Verb = rule.verb
		c.items(s, rule, d.Items)
	}
	switch {
	case d.Open == nil && d.When != nil:
		c.fault(CodeMissingPart, c.f.wordSpan(d.When), "an outcome block is missing after `when "+d.When.Text+"`", "", "end the line with { and put the block's lines after it")
	case d.Open == nil:
	case !known || rule.by&by == 0:
		c.pushBad()
	default:
		c.openOutcome(s, d.When)
	}
}

func (c *checker) wrongVerb(d *doing, by actors, known bool) {
	at := c.f.wordSpan(d.Verb)
	who := whoCan(by)[0]
	verbs := verbsOf(by)
	if known {
		rule, _ := ruleOf(d.Verb.Text)
		hint := "`" + d.Verb.Text + "` is what " + strings.Join(whoCan(rule.by), " or ") + " does"
		if by == byServer {
			hint += "; s1, s2, … are servers"
		}
		c.fault(CodeWrongActor, at, who+" cannot "+quote(d.Verb.Text), "It knows "+listed(verbs)+".", hint)
		return
	}
	if d.Verb.Text == "cut" || d.Verb.Text == "heal" {
		c.fault(CodeWrongActor, at, who+" cannot "+quote(d.Verb.Text), "The network does, at a time of the schedule.", "write `at T "+d.Verb.Text+" A from s1..s3`")
		return
	}
	if by == byClient && len(d.Items) > 0 && isVerb(d.Items[0].Unknown) && c.top().kind == outcomeFrame {
		c.fault(CodeUnknownVerb, at, "a line of an outcome block names no client", "It is the client of the step that the block belongs to.", "leave "+quote(d.Verb.Text)+" out")
		return
	}
	hint := didYouMean(d.Verb.Text, verbs, who+" knows "+listed(verbs))
	if v := otherName(d.Verb.Text); v != "" && by == byClient {
		hint = "did you mean `" + string(v) + "`?"
	}
	c.fault(CodeUnknownVerb, at, quote(d.Verb.Text)+" is not a verb", "", hint)
}

// otherName gives the verb that other systems call by another name.
func otherName(word string) Verb {
	switch word {
	case "lock", "take", "ask":
		return Acquire
	case "unlock", "free":
		return Release
	case "extend", "refresh", "keepalive":
		return Renew
	case "sleep", "wait", "stall", "freeze":
		return Pause
	case "kill", "die", "fail":
		return Crash
	case "get", "load":
		return Read
	case "set", "put", "store":
		return Write
	case "add":
		return Append
	}
	return ""
}

// whoCan names the kinds of actors in a set.
func whoCan(by actors) []string {
	var out []string
	for _, k := range [...]struct {
		by   actors
		name string
	}{{byClient, "a client"}, {byServer, "a server"}, {byResource, "the resource"}} {
		if by&k.by != 0 {
			out = append(out, k.name)
		}
	}
	return out
}

// openOutcome opens the block of one outcome; when is nil for success.
func (c *checker) openOutcome(s *Step, when *word) {
	rule, _ := ruleOf(string(s.Verb))
	can := outcomesOf(rule, s)
	if len(can) == 0 {
		c.fault(CodeNoOutcomes, c.f.lastToken(c.row), quote(string(s.Verb))+" takes no block", "A block runs when a step succeeds or fails, and this one can do neither.", "write the lines with `at T`")
		c.pushBad()
		return
	}
	name, at := can[0], c.f.lastToken(c.row)
	if when != nil {
		name, at = when.Text, c.f.wordSpan(when)
	}
	switch {
	case !slices.Contains(can, name) && slices.Contains(OutcomeWords(), name):
		hint := ""
		if name == "skipped" {
			hint = "only a write with `if checked` or `if valid` can be skipped"
		}
		if name == "lost" && s.Verb == Acquire {
			hint = "with `watchdog every K` an acquire can be lost later"
		}
		c.fault(CodeWrongOutcome, at, quote(string(s.Verb))+" never has the outcome "+quote(name), "It can be "+listed(can)+".", hint)
		c.pushBad()
		return
	case !slices.Contains(can, name):
		c.fault(CodeWrongOutcome, at, quote(name)+" is not an outcome", "What can come of "+quote(string(s.Verb))+": "+listed(can)+".", didYouMean(name, can, ""))
		c.pushBad()
		return
	}
	for _, o := range s.Outcomes {
		if slices.Contains(o.Words, name) {
			c.fault(CodeRepeatedOutcome, at, fmt.Sprintf("the step on line %d has two blocks for %s", s.Span.Start.Line, quote(name)), "", "put the lines into one block")
			c.pushBad()
			return
		}
	}
	o := &Outcome{Span: c.f.rowSpan(c.row), Words: []string{name}}
	s.Outcomes = append(s.Outcomes, o)
	in := c.top().maybe
	if s.Maybe != nil {
		in = s.Maybe.Hole
	}
	c.push(&frame{kind: outcomeFrame, scope: c.top().scope, step: s, outcome: o, maybe: in})
}
