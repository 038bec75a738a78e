package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// checker resolves rows into a Script. It goes over the rows once, with the open blocks on a stack, and then looks at
// what only the whole file can tell: names, and the servers that exist.
type checker struct {
	f       *file
	script  *Script
	stack   []*frame
	surplus int // blocks that are opened more often than closed

	row         *row
	scopes      []*scope // the top level first, then the blocks
	runNames    map[string]Span
	clients     map[string]bool
	mentioned   map[string]bool // names on lines with a fault: nothing is said about what such a line might have meant
	lostServers bool            // a line that may have set the number of servers has a fault
	refs        []nameRef
	named       []nameRef // clients in claims
	ranges      []rangeRef
	titled      bool
	suggestions int   // looked for so far
	holes       bool  // a hole may stand where the checker reads
	maybe       *Hole // of the line that it reads
	maybes      []maybeRef
}

// scope is the top level or a block, with what its lines gave names to.
type scope struct {
	body     *Body
	block    *Block // nil: the top level
	lets     map[string]*Let
	settings map[string]*Setting
	maybes   map[string]*Maybe
}

func newScope(body *Body, block *Block) *scope {
	return &scope{body: body, block: block, lets: map[string]*Let{}, settings: map[string]*Setting{}, maybes: map[string]*Maybe{}}
}

type frameKind uint8

const (
	topFrame frameKind = iota
	blockFrame
	outcomeFrame
	badFrame // the header had a fault: the lines inside are read, but not judged by where they stand
)

// frame is an open block.
type frame struct {
	kind    frameKind
	scope   *scope
	step    *Step    // outcomeFrame: whose outcome
	outcome *Outcome // outcomeFrame
	maybe   *Hole    // outcomeFrame: of the line that it belongs to
	header  *row
}

// nameRef is a name that is looked up once the whole file is known.
type nameRef struct {
	name  string
	at    Span
	scope *scope
	also  []string // words that could have been meant instead
	maybe bool     // the name of a maybe line will do
}

// rangeRef is a list of servers whose end is compared with the number of servers.
type rangeRef struct {
	servers ServerRange
	scope   *scope
}

func check(f *file) *Script {
	c := &checker{f: f, script: &Script{File: f.name, About: about(f.rows)}, runNames: map[string]Span{}, clients: map[string]bool{}, mentioned: map[string]bool{}}
	top := newScope(&c.script.Body, nil)
	c.scopes = []*scope{top}
	c.stack = []*frame{{kind: topFrame, scope: top}}
	for _, r := range f.rows {
		if r.opens() {
			c.surplus++
		}
		if r.closes() {
			c.surplus--
		}
	}
	for _, r := range f.rows {
		if len(r.tokens) > 0 {
			c.row = r
			c.lostServers = c.lostServers || r.bad && r.tokens[0].Value == "servers"
			before := len(f.faults)
			c.line(r)
			if r.bad || len(f.faults) > before || c.top().kind == badFrame {
				c.mention(r)
			}
		}
	}
	for _, open := range c.stack[1:] {
		if open.kind != badFrame {
			c.unclosed(open)
		}
	}
	c.names()
	c.suspicions()
	return c.script
}

// about gives the comment that the file begins with.
func about(rows []*row) string {
	var lines []string
	for _, r := range rows {
		if len(r.tokens) > 0 || r.comment == "" && len(lines) > 0 {
			break
		}
		if r.comment == "" {
			continue
		}
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(r.comment, "#"), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (c *checker) top() *frame { return c.stack[len(c.stack)-1] }

func (c *checker) push(fr *frame) {
	fr.header = c.row
	if len(c.stack) == MaxNesting+1 {
		c.fault(CodeNestingTooDeep, c.f.rowSpan(c.row), fmt.Sprintf("more than %d blocks inside one another", MaxNesting), "", "")
	}
	if len(c.stack) > MaxNesting {
		fr.kind = badFrame
	}
	c.stack = append(c.stack, fr)
}

// pushBad opens a block whose header has a fault. Its lines get a scope that belongs to nothing: they were meant for a
// block of their own, and would only clash with the lines outside.
func (c *checker) pushBad() {
	sc := c.top().scope
	if c.top().kind != badFrame {
		sc = newScope(&Body{}, nil)
	}
	c.push(&frame{kind: badFrame, scope: sc})
}

func (c *checker) pop() { c.stack = c.stack[:len(c.stack)-1] }

func (c *checker) fault(code string, at Span, summary, detail, hint string) {
	c.f.fault(code, at, summary, detail, hint)
}

// mention remembers the names on a line with a fault.
func (c *checker) mention(r *row) {
	for _, t := range r.tokens {
		if t.Type == tokIdent {
			c.mentioned[t.Value] = true
		}
	}
}

// line puts one line where it belongs.
func (c *checker) line(r *row) {
	c.maybe = nil
	if r.closes() {
		c.closeLine(r)
		return
	}
	if r.tree == nil {
		switch {
		case r.opens():
			c.pushBad()
		case c.surplus < 0 && headless(r.tokens):
			c.surplus++ // a brace further down closes what this header did not open
			c.pushBad()
		}
		return
	}
	switch t := r.tree; {
	case t.Unknown != nil:
		c.unknownLine(r, t.Unknown)
	case t.After != nil:
		c.afterLine(t.After)
	default:
		if !c.leaveOutcome(r) {
			return
		}
		switch {
		case t.Step != nil:
			c.stepLine(t.Step)
		case t.Expect != nil:
			c.expectLine(t.Expect)
		case t.Let != nil:
			c.letLine(t.Let)
		case t.Setting != nil:
			c.settingLine(t.Setting)
		case t.Scenario != nil:
			c.scenarioLine(t.Scenario)
		case t.Where != nil:
			c.whereLine(t.Where)
		case t.Ties != nil:
			c.tiesLine(t.Ties)
		case t.Run != nil:
			c.blockLine(r, RunBlock, t.Run.Name)
		case t.Sweep != nil:
			c.sweepLine(r, t.Sweep)
		case t.Explore != nil:
			c.blockLine(r, ExploreBlock, t.Explore.Name)
		}
	}
}

// headless tells whether a line is the header of a block without its brace.
func headless(tokens []lexer.Token) bool {
	switch tokens[0].Value {
	case "run", "sweep", "explore":
		return !slices.ContainsFunc(tokens, func(t lexer.Token) bool { return t.Value == "{" })
	}
	return false
}

// leaveOutcome deals with a line that cannot stand in an outcome block. If the file lacks a closing brace, that block is
// where it is missing; otherwise the line is in the wrong place.
func (c *checker) leaveOutcome(r *row) bool {
	for c.top().kind == outcomeFrame {
		if c.surplus <= 0 {
			first := r.tokens[0]
			c.fault(CodeNeedsPlus, c.f.tokenSpan(first), quote(first.Value)+" cannot stand in an outcome block",
				"A line there starts with `+N`, ticks after the outcome reached the client, and has the client of the step it belongs to.", "write `+1 …`, or move the line out of the block")
			if r.opens() {
				c.pushBad()
			}
			return false
		}
		c.unclosed(c.top())
		c.surplus--
		c.pop()
	}
	return true
}

func (c *checker) unclosed(open *frame) {
	c.f.broken = true
	c.fault(CodeUnclosedBlock, c.f.lastToken(open.header), "this block is never closed", "", "put a } on a line of its own after the block's last line")
}

// closeLine closes a block, and opens the next one of the same step.
func (c *checker) closeLine(r *row) {
	open := c.top()
	if open.kind == topFrame && r.bad {
		return
	}
	if open.kind == topFrame {
		c.f.broken = true
		c.fault(CodeStrayBrace, c.f.tokenSpan(r.tokens[0]), "this brace closes nothing", "", "delete it, or look for the line that should have ended with {")
		if r.opens() {
			c.pushBad()
		}
		return
	}
	c.pop()
	switch {
	case r.tree == nil || open.kind == badFrame:
		if r.opens() {
			c.pushBad()
		}
	case r.tree.Close.When == nil:
	case open.kind != outcomeFrame:
		c.fault(CodeMisplaced, c.f.wordSpan(r.tree.Close.When), "`when` belongs to a step", "What closes here is a run, a sweep or an explore block; it has no outcome.", "")
		c.pushBad()
	default:
		c.openOutcome(open.step, r.tree.Close.When)
	}
}

func (c *checker) unknownLine(r *row, w *word) {
	candidates := append(statementWords(), SettingNames()...)
	at := c.f.wordSpan(w)
	if r.opens() {
		defer c.pushBad()
	}
	if len(r.tokens) > 1 {
		// "stale-wrte" and the like come as several tokens.
		if joined := joinedWord(r.tokens); joined != w.Text {
			if n := Nearest(joined, candidates); n != "" {
				c.fault(CodeUnknownWord, c.f.textSpan(w.Pos, joined), "no line starts with "+quote(joined), "", "did you mean `"+n+"`?")
				return
			}
		}
		if r.tokens[1].Value == "=" {
			c.fault(CodeUnknownWord, at, "no line starts with "+quote(w.Text), "", "write `let "+w.Text+" = …`")
			return
		}
		if isVerb(r.tokens[1].Value) {
			hint := "write `at T " + w.Text + " " + r.tokens[1].Value + " …`"
			if c.top().kind == outcomeFrame {
				hint = "write `+N " + r.tokens[1].Value + " …`; the client is that of the step"
			}
			c.fault(CodeUnknownWord, at, "a step starts with its time", "", hint)
			return
		}
	}
	if isVerb(w.Text) || w.Text == "cut" || w.Text == "heal" {
		hint := "write `at T CLIENT " + w.Text + " …`"
		if !isVerb(w.Text) {
			hint = "write `at T " + w.Text + " A from s1..s3`"
		} else if c.top().kind == outcomeFrame {
			hint = "write `+N " + w.Text + " …`"
		}
		c.fault(CodeUnknownWord, at, "a step starts with its time", "", hint)
		return
	}
	if w.Text == "when" {
		c.fault(CodeUnknownWord, at, "`when` cannot start a line", "It goes on after a block: `} when denied {`.", "write it on the line of the brace before it")
		return
	}
	c.lostServers = c.lostServers || Nearest(w.Text, candidates) == "servers"
	c.fault(CodeUnknownWord, at, "no line starts with "+quote(w.Text), "",
		didYouMean(w.Text, candidates, "a line starts with a setting, scenario, let, at, every, maybe, run, sweep, explore, expect, +N or }"))
}

func (c *checker) scenarioLine(l *scenarioLine) {
	at := c.f.rowSpan(c.row)
	switch {
	case c.top().kind == blockFrame:
		c.fault(CodeMisplaced, at, "`scenario` stands at the top level", "It is the title of the whole file.", "move it out of the block")
	case c.titled:
		c.fault(CodeDuplicate, at, "the file has two titles", "", "delete one")
	}
	if !c.titled {
		c.script.Title = unquote(l.Title.Text)
	}
	c.titled = true
}

func (c *checker) letLine(l *letLine) {
	sc := c.top().scope
	at := c.f.wordSpan(l.Name)
	c.letName(l.Name)
	if first, ok := sc.lets[l.Name.Text]; ok {
		c.fault(CodeDuplicate, at, "the let "+quote(l.Name.Text)+" is defined twice", fmt.Sprintf("Line %d defines it first.", first.Span.Start.Line), "delete one, or give it another name")
	}
	c.holes = true
	let := &Let{Span: c.f.rowSpan(c.row), Name: l.Name.Text, Expr: c.number(l.Expr)}
	c.holes = false
	nameHole(let.Expr, let.Name)
	if _, ok := sc.lets[l.Name.Text]; !ok {
		sc.lets[l.Name.Text] = let
	}
	sc.body.Lets = append(sc.body.Lets, let)
}

// letName checks the name of a let; any word may be written there.
func (c *checker) letName(w *word) {
	at := c.f.wordSpan(w)
	switch {
	case isServerName(w.Text):
		c.fault(CodeReservedName, at, quote(w.Text)+" is a server", "s1, s2, … are the servers.", "give the let another name")
	case isSetting(w.Text):
		c.fault(CodeReservedName, at, quote(w.Text)+" is a setting", "In a condition it would not be clear which of the two is meant.", "give the let another name, or write `"+w.Text+" …` to set it")
	case isKeyword(w.Text) || hyphenated(w.Text) != "":
		c.fault(CodeReservedName, at, quote(w.Text)+" is a word of the language", "It can start or follow a number, so a let of that name could not be told from it.", "give the let another name")
	}
}

func isSetting(name string) bool { return SettingWords(name) != nil }

func (c *checker) settingLine(l *settingLine) {
	sc := c.top().scope
	name := l.Name.Text
	if first, ok := sc.settings[name]; ok {
		c.fault(CodeDuplicate, c.f.textSpan(l.Name.Pos, name), quote(name)+" is set twice", fmt.Sprintf("Line %d sets it first.", first.Span.Start.Line), "delete one")
	}
	s := &Setting{Span: c.f.rowSpan(c.row), Name: name, Value: c.settingValue(name, l.Value)}
	if _, ok := sc.settings[name]; !ok {
		sc.settings[name] = s
	}
	sc.body.Settings = append(sc.body.Settings, s)
}

func (c *checker) settingValue(name string, v *settingValue) SettingValue {
	last := c.row.tokens[len(c.row.tokens)-1]
	out := SettingValue{Span: c.f.span(v.Pos, after(last.Pos, last.Value))}
	words := SettingWords(name)
	text := words[0] == "text"
	switch {
	case v.Text != nil && text:
		out.Text = unquote(v.Text.Text)
	case v.Text != nil:
		c.badValue(name, out.Span, "", quote(name)+" takes no text")
	case text:
		c.fault(CodeSettingValue, out.Span, quote(name)+" takes a text", "", "put it in quotes")
	case v.Word != "" || v.Expr.name() != "" && settingWord(name, v.Expr.name()):
		out.Word = v.Word
		if v.Word == "" {
			out.Word = v.Expr.name()
		}
		if !settingWord(name, out.Word) {
			c.badValue(name, out.Span, out.Word, quote(name)+" cannot be "+quote(out.Word))
		}
	case takesNumber(name):
		c.holes = true
		out.Expr = c.numberOr(v.Expr, words)
		c.holes = false
		nameHole(out.Expr, name)
	default:
		c.badValue(name, out.Span, v.Expr.name(), quote(name)+" takes a word")
	}
	return out
}

func (c *checker) badValue(name string, at Span, got, summary string) {
	words := SettingWords(name)
	if got == "" {
		got = c.hanging(at.Start.Offset)
	}
	if got != "" {
		summary = quote(name) + " cannot be " + quote(got)
	}
	c.fault(CodeSettingValue, at, summary, "It takes "+values(words)+".", didYouMean(got, words, ""))
}

// values says what a setting takes, for people.
func values(words []string) string {
	var out []string
	last := ""
	for _, w := range words {
		switch w {
		case "number":
			last = "a number"
		case "text":
			last = "a text"
		default:
			out = append(out, w)
		}
	}
	switch {
	case len(out) == 0:
		return last
	case last == "":
		return listed(out)
	}
	return listed(out) + " or " + last
}

// blockLine opens a run, sweep or explore block.
func (c *checker) blockLine(r *row, kind BlockKind, name *quoted) *Block {
	b := &Block{Span: c.f.rowSpan(r), Kind: kind, Name: unquote(name.Text)}
	at := c.f.quotedSpan(name)
	if open := c.top(); open.kind == blockFrame {
		if c.surplus > 0 {
			c.unclosed(open)
			c.surplus--
			c.pop()
		} else {
			c.fault(CodeNestedBlocks, c.f.tokenSpan(r.tokens[0]), "a "+kind.String()+" cannot stand inside another block", "", "close the block before it with }")
		}
	}
	if strings.TrimSpace(b.Name) == "" {
		c.fault(CodeEmptyName, at, "a "+kind.String()+" needs a name", "The name is how --run and the transcript refer to it.", "")
	} else if first, ok := c.runNames[b.Name]; ok {
		c.fault(CodeDuplicate, at, "two blocks are called "+quote(b.Name), fmt.Sprintf("Line %d has the first one. The name is how --run and the transcript refer to a block.", first.Start.Line), "give it another name")
	} else {
		c.runNames[b.Name] = at
	}
	if len(c.script.Blocks) == MaxBlocks {
		c.fault(CodeTooManyBlocks, b.Span, fmt.Sprintf("more than %d blocks in one file", MaxBlocks), "", "split it into several files")
	}
	if len(c.script.Blocks) >= MaxBlocks {
		c.pushBad()
		return b
	}
	c.script.Blocks = append(c.script.Blocks, b)
	sc := newScope(&b.Body, b)
	c.scopes = append(c.scopes, sc)
	c.push(&frame{kind: blockFrame, scope: sc})
	return b
}

func (c *checker) sweepLine(r *row, l *sweepLine) {
	b := c.blockLine(r, SweepBlock, l.Name)
	seen := map[string]bool{}
	for _, a := range l.Axes {
		ax := &Axis{Span: c.f.wordSpan(a.Name), Name: a.Name.Text, Setting: isSetting(a.Name.Text)}
		if seen[ax.Name] {
			c.fault(CodeDuplicate, ax.Span, quote(ax.Name)+" is swept twice", "", "delete one")
		}
		seen[ax.Name] = true
		if ax.Name == "initial" {
			c.fault(CodeSettingValue, ax.Span, "`initial` cannot be swept", "It is a text.", "use a run for each text")
		}
		if !ax.Setting {
			c.refs = append(c.refs, nameRef{name: ax.Name, at: ax.Span, scope: c.top().scope, also: SettingNames()})
		}
		for _, it := range a.Items {
			ax.Items = append(ax.Items, c.axisItem(ax, it))
		}
		if a.Step != nil {
			ax.Step = c.number(a.Step)
		}
		b.Axes = append(b.Axes, ax)
	}
}

func (c *checker) axisItem(ax *Axis, it *axisItem) AxisItem {
	if it.Word == nil {
		name := it.Lo.name()
		if ax.Setting && it.Hi == nil && settingWord(ax.Name, name) {
			at := c.f.textSpan(it.Lo.First.Pos, name)
			return AxisItem{Span: at, Word: name}
		}
		if ax.Setting && !takesNumber(ax.Name) {
			c.badValue(ax.Name, c.exprSpan(it.Lo), name, quote(ax.Name)+" takes no number")
			return AxisItem{Span: c.exprSpan(it.Lo)}
		}
		out := AxisItem{Span: c.exprSpan(it.Lo), Lo: c.numberOr(it.Lo, SettingWords(ax.Name))}
		if it.Hi != nil {
			out.Hi = c.number(it.Hi)
			out.Span.End = c.exprSpan(it.Hi).End
		}
		return out
	}
	at := c.f.textSpan(it.Word.Pos, it.Word.Text)
	switch {
	case !ax.Setting:
		c.fault(CodeNotANumber, at, quote(it.Word.Text)+" is not a number", "A let is a number.", "")
	case !settingWord(ax.Name, it.Word.Text):
		c.badValue(ax.Name, at, it.Word.Text, "")
	}
	return AxisItem{Span: at, Word: it.Word.Text}
}
