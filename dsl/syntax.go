package dsl

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// unexpected words a line that the grammar does not take: where it stopped, and what could have stood there. message is
// participle's, from which only the first production that it expected is read; "" if it expected nothing more.
func (f *file) unexpected(r *row, pos lexer.Position, message string) {
	i := 0
	for i < len(r.tokens) && r.tokens[i].Pos.Offset < pos.Offset {
		i++
	}
	last := r.tokens[len(r.tokens)-1]
	end := after(last.Pos, last.Value)
	at, found := f.span(end, end), "the end of the line"
	if i < len(r.tokens) {
		at, found = f.tokenSpan(r.tokens[i]), quote(r.tokens[i].Value)
	}
	if i < len(r.tokens) && f.misnamed[r.tokens[i].Value] {
		r.bad, f.broken = true, true
		return
	}
	if word, from := hyphenSlip(r, i); word != "" {
		f.syntaxFault(r, CodeSyntax, f.textSpan(r.tokens[from].Pos, word), quote(word)+" is not a word of the language", "", didYouMean(word, hyphenWords(), ""))
		return
	}
	var before lexer.Token
	if i > 0 {
		before = r.tokens[i-1]
	}
	_, expected, _ := strings.Cut(message, "(expected ")
	want := wanted(expected, before.Value)
	switch {
	case i == 0:
		hint := "a line starts with a setting, scenario, let, at, every, maybe, run, sweep, explore, expect, +N or }"
		if len(r.tokens) > 1 && isVerb(r.tokens[1].Value) {
			hint = "write `+" + r.tokens[0].Value + " " + r.tokens[1].Value + " …` in an outcome block, `at " + r.tokens[0].Value + " CLIENT " + r.tokens[1].Value + " …` elsewhere"
		}
		if r.tokens[0].Value == "{" {
			hint = "the brace stands at the end of the line that it belongs to"
		}
		if text := r.text[r.tokens[0].Pos.Offset-r.start.Offset:]; strings.HasPrefix(text, "//") || strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*") {
			hint = "a comment starts with #"
		}
		f.syntaxFault(r, CodeSyntax, at, "no line starts with "+found, "", hint)
	case r.tokens[0].Value == "maybe" && (i == 1 || i == 2 && before.Type == tokIdent):
		hint := "write `maybe at T …`, `maybe every …` or `maybe NAME at …`"
		if i == 1 && i < len(r.tokens) && isKeyword(found[1:len(found)-1]) {
			hint = "it is a word of the language; give the line another name"
		}
		if i < len(r.tokens) && r.tokens[i].Value == "+" {
			hint = "a line of an outcome block is there whenever its step is; write `maybe` before the step"
		}
		f.syntaxFault(r, CodeSyntax, at, "expected `at` or `every` after "+quote(before.Value)+", found "+found, "", hint)
	case i == 1 && isSetting(before.Value):
		f.syntaxFault(r, CodeSyntax, at, "expected a value after "+quote(before.Value)+", found "+found, "", "it takes "+values(SettingWords(before.Value)))
	case want != "" && i > 1 && strings.Contains(comparisons, " "+before.Value+" ") && isSetting(r.tokens[i-2].Value) && !numericSetting(r.tokens[i-2].Value):
		f.syntaxFault(r, CodeSettingRef, f.tokenSpan(r.tokens[i-2]), notANumber(r.tokens[i-2].Value), conditionsCompare, wordHint)
	case want != "":
		hint := strayHint(r, i)
		if want == wantText && i < len(r.tokens) && r.tokens[i].Type == tokIdent {
			hint = "put it in quotes: \"" + r.tokens[i].Value + "\""
		}
		f.syntaxFault(r, CodeSyntax, at, "expected "+want+" after "+quote(before.Value)+", found "+found, "", hint)
	default:
		f.syntaxFault(r, CodeSyntax, at, "unexpected "+found, "The line would be complete before it.", strayHint(r, i))
	}
}

// comparisons are the operators that a condition compares with.
const comparisons = " == != < <= > >= "

// What is said about a setting whose values are words, where a condition names it.
const (
	conditionsCompare = "A condition compares numbers: servers, quorum, lock-delay, horizon."
	wordHint          = "set it in a run or sweep block, and claim there what holds with it"
)

func notANumber(setting string) string { return "the setting " + quote(setting) + " is not a number" }

const wantText = "a text in quotes"

// wanted names the first thing that the grammar expected, for people.
func wanted(expected, before string) string {
	switch {
	case strings.HasPrefix(expected, "(<int>") || strings.HasPrefix(expected, "Expr") || strings.HasPrefix(expected, "Term") ||
		strings.HasPrefix(expected, "Moment") || strings.HasPrefix(expected, "Ttl"):
		if before == "iff" || before == "where" {
			return "a condition"
		}
		return "a number"
	case strings.HasPrefix(expected, `"`):
		word, _, _ := strings.Cut(expected[1:], `"`)
		return "`" + word + "`"
	}
	production := expected
	if i := strings.IndexAny(production, " +*?)"); i >= 0 {
		production = production[:i]
	}
	switch production {
	case "Doing":
		return "a verb"
	case "Retry":
		return "`every`"
	case "Servers", "ServerName":
		return "a server such as s1 or s2..s4"
	case "Quoted":
		return wantText
	case "Axis":
		return "a let or a setting"
	case "AxisItem", "SettingValue":
		return "a value"
	case "Claim":
		return "a claim"
	case "Guard":
		return "`version`, `lock` or `before`"
	case "(NetPart":
		return "an actor"
	case `(("value"`:
		return "a client, `nobody` or `value`"
	case "Word":
		switch before {
		case "at", "cut", "heal":
			return "a client"
		case "let":
			return "a name"
		case "if":
			return "`checked` or `valid`"
		case "when", "never":
			return "an outcome"
		case "no":
			return "a law"
		}
		return "a word"
	case "Message":
		return "a time"
	}
	return ""
}

// strayHint knows the slips that end a line too early, or not early enough.
func strayHint(r *row, i int) string {
	for j := max(0, i-3); j+1 < i; j++ {
		if r.tokens[j].Value == "any" && r.tokens[j+1].Type == tokIdent {
			return "after `any` come its values: `any 0..30`, `any 3, 7`, `any s1..s5`"
		}
	}
	if i == len(r.tokens) {
		return ""
	}
	switch t, before := r.tokens[i], r.tokens[i-1]; {
	case t.Value == "every" && before.Value == "watchdog":
		return "a watchdog is started by `acquire ttl N watchdog every K`"
	case t.Type == tokString && before.Type == tokInt:
		return "a client's name stands without quotes"
	case t.Type == tokString:
		return didYouMean(before.Value, []string{"value", "final", "append", "write", "as"}, "")
	case t.Value == "=" && slices.ContainsFunc(r.tokens[:i], func(t lexer.Token) bool { return t.Value == "iff" || t.Value == "where" }):
		return "write `==` to compare"
	case t.Value == "=":
		return "leave the = out; only a let has one"
	case t.Value == "," && before.Type == tokInt:
		return "leave the comma out"
	case t.Value == "," && before.Type == tokServer:
		return "servers are listed with blanks between them: s1 s3..s5"
	case before.Value == "{":
		return "the lines of a block start on the line after the brace"
	case t.Value == "}":
		return "a closing brace stands on a line of its own"
	case before.Value == "}":
		return "only `when OUTCOME {` can follow a closing brace"
	case t.Value == "{":
		return "only run, sweep, explore and steps open a block"
	case t.Value == "until" || t.Value == "every":
		return "`every K [until T]` follows `retry`"
	}
	return ""
}

// hyphenSlip finds a mistyped word with a hyphen where a line stopped making sense: it comes as several tokens. It gives
// the word and the index of its first token.
func hyphenSlip(r *row, i int) (string, int) {
	if i == 0 || i >= len(r.tokens) || r.tokens[i].Value != "-" || !adjacent(r.tokens[i-1], r.tokens[i]) {
		return "", 0
	}
	word := joinedWord(r.tokens[i-1:])
	if Nearest(word, hyphenWords()) == "" {
		return "", 0
	}
	return word, i - 1
}

func adjacent(a, b lexer.Token) bool { return a.Pos.Offset+len(a.Value) == b.Pos.Offset }

// joinedWord gives the first word of some tokens together with what hangs on it by hyphens.
func joinedWord(tokens []lexer.Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && (!adjacent(tokens[i-1], t) || (t.Type == tokSign || t.Type == tokOp) && t.Value != "-") {
			break
		}
		b.WriteString(t.Value)
	}
	return b.String()
}

// unknownWord tells whether a line holds a word that the checker will answer.
func (l *line) unknownWord() bool {
	var d *doing
	switch {
	case l.Unknown != nil:
		return true
	case l.After != nil:
		d = l.After.Doing
	case l.Step != nil:
		d = l.Step.Doing
	case l.Expect != nil:
		cl := l.Expect.Claim
		return cl.No != nil && !isLaw(cl.No.Text) || cl.Subject != nil && cl.Subject.Never == nil && cl.Subject.Blocked == nil && cl.Subject.Token == nil && !isLaw(cl.Subject.Name.Text) && !isMeasure(cl.Subject.Name.Text)
	}
	return d != nil && (!isVerb(d.Verb.Text) || slices.ContainsFunc(d.Items, func(it *item) bool { return it.Unknown != "" }))
}
