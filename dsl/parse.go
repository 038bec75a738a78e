// Package dsl is the front end of the .dlk language: text in, a checked Script or diagnostics out, and the formatter. It
// computes no value, since runs and cells override what formulas refer to, and it knows no engine; dsl/compile does both.
package dsl

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Parse reads one file: text in, a checked Script and what is wrong with it out. Every fault of the file is reported, at
// most one for each line. The Script goes as far as the file allows; run it only if there is no error among the diagnostics.
func Parse(name string, src []byte) (*Script, Diagnostics) {
	f := readFile(name, src)
	script := check(f)
	return script, f.diagnostics()
}

// file is a text on its way through the passes: rows of tokens, then rows with trees, and the faults found on the way.
type file struct {
	name   string
	rows   []*row
	faults Diagnostics
	broken bool // a fault of syntax: the formatter refuses the file
	// misnamed holds the words of the language that a let is called: that is answered at the let, and not again wherever
	// the name is used.
	misnamed map[string]bool
}

// row is one line of the file.
type row struct {
	tokens  []lexer.Token // without white space and comment
	comment string        // with its #; "" if there is none
	start   lexer.Position
	text    string // the whole line, for the checks on characters
	tree    *line  // nil: blank, only a comment, or broken
	bad     bool   // has a fault of syntax, already reported
}

// closes tells whether the row closes a block, opens whether it then opens one. Both look at the braces only: so the
// closing brace of a header with a fault does not look stray.
func (r *row) closes() bool {
	return len(r.tokens) > 0 && (r.tokens[0].Value == "}" || r.bad && braces(r.tokens) < 0)
}

func (r *row) opens() bool {
	rest := r.tokens
	if len(rest) > 0 && rest[0].Value == "}" {
		rest = rest[1:]
	}
	return braces(rest) > 0
}

// braces counts the blocks that some tokens open, less those that they close.
func braces(tokens []lexer.Token) int {
	n := 0
	for _, t := range tokens {
		switch t.Value {
		case "{":
			n++
		case "}":
			n--
		}
	}
	return n
}

// grammar turns the tree types into a parser. That costs about a millisecond, so it is done once, and only if needed.
var grammar = sync.OnceValue(func() *participle.Parser[line] {
	return participle.MustBuild[line](participle.Lexer(definition{}), participle.Elide("Whitespace", "Comment"), participle.UseLookahead(0))
})

// readFile scans and parses a file. A line is its unit: a bad one costs one error and spoils no other.
func readFile(name string, src []byte) *file {
	f := &file{name: name, misnamed: map[string]bool{}}
	if len(src) > MaxFileSize {
		start := lexer.Position{Line: 1, Column: 1}
		f.broken = true
		f.fault(CodeFileTooLarge, f.span(start, start), fmt.Sprintf("the file has more than %d bytes", MaxFileSize), "", "split it into several files")
		return f
	}
	text := string(src)
	tokens := scan(text)
	f.split(text, tokens)
	lex, err := lexer.Upgrade(&tokenList{tokens: tokens}, tokWhitespace, tokComment)
	if err != nil { // cannot be: a tokenList has no errors
		return f
	}
	parser, statements := grammar(), 0
	for i, r := range f.rows {
		if len(r.tokens) > 0 {
			if statements++; statements > MaxStatements {
				f.syntaxFault(r, CodeTooManyStatements, f.rowSpan(r), fmt.Sprintf("more than %d statements in one file", MaxStatements), "", "split it into several files")
				f.rows = f.rows[:i]
				break
			}
			if f.checkCharacters(r) && f.checkTokens(r) {
				f.parseRow(parser, lex, r)
			}
		} else {
			f.checkCharacters(r)
		}
		for t := lex.Peek(); !t.EOF() && t.Type != tokNewline; t = lex.Peek() {
			lex.Next()
		}
		lex.Next()
	}
	return f
}

// split groups the tokens into rows.
func (f *file) split(text string, tokens []lexer.Token) {
	kept := make([]lexer.Token, 0, len(tokens))
	r, from := &row{start: tokens[0].Pos}, 0
	for _, t := range tokens {
		switch {
		case t.Type == tokWhitespace:
		case t.Type == tokComment:
			r.comment = strings.TrimRightFunc(t.Value, unicode.IsSpace)
		case t.Type == tokNewline || t.EOF():
			r.tokens = kept[from:len(kept):len(kept)]
			r.text = text[r.start.Offset:t.Pos.Offset]
			if len(r.tokens) > 1 && r.tokens[0].Value == "let" && isKeyword(r.tokens[1].Value) {
				f.misnamed[r.tokens[1].Value] = true
			}
			f.rows = append(f.rows, r)
			from = len(kept)
			r = &row{start: lexer.Position{Offset: t.Pos.Offset + len(t.Value), Line: t.Pos.Line + 1, Column: 1}}
		default:
			kept = append(kept, t)
		}
	}
}

// checkCharacters finds what may stand nowhere, not even in a comment.
func (f *file) checkCharacters(r *row) bool {
	for i, c := range r.text {
		if c == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(r.text[i:]); size == 1 {
				pos := after(r.start, r.text[:i])
				f.syntaxFault(r, CodeNotUTF8, f.textSpan(pos, r.text[i:i+1]), fmt.Sprintf("byte 0x%02X is not valid UTF-8", r.text[i]), "", "save the file as UTF-8")
				return false
			}
		}
		if c < utf8.RuneSelf && c >= ' ' && c != 0x7f {
			continue
		}
		if unicode.IsControl(c) && c != '\t' || unicode.Is(unicode.Bidi_Control, c) {
			pos := after(r.start, r.text[:i])
			f.syntaxFault(r, CodeOddCharacter, f.span(pos, after(pos, string(c))), fmt.Sprintf("control character U+%04X", c),
				"It would not be seen, or would change how the rest of the line is shown.", "delete it; in a text write \\n or \\t")
			return false
		}
	}
	return true
}

// checkTokens finds what the grammar cannot say well, and the limits that keep the parse bounded.
func (f *file) checkTokens(r *row) bool {
	if len(r.tokens) > MaxLineTokens {
		f.syntaxFault(r, CodeLineTooLong, f.rowSpan(r), fmt.Sprintf("more than %d words and signs on one line", MaxLineTokens), "", "split the line")
		return false
	}
	depth := 0
	for i, t := range r.tokens {
		if i > 0 && nameByte(t.Value[0]) && r.tokens[i-1].Type == tokInt && adjacent(r.tokens[i-1], t) {
			both := r.tokens[i-1].Value + t.Value
			f.syntaxFault(r, CodeSyntax, f.textSpan(r.tokens[i-1].Pos, both), quote(both)+" is neither a number nor a name", "A name starts with a letter, and a number has no unit: time is counted in ticks.", "")
			return false
		}
		switch t.Type {
		case tokBad:
			f.syntaxFault(r, CodeOddCharacter, f.tokenSpan(t), "the character "+quote(t.Value)+" means nothing here", "", oddHint(t.Value))
			return false
		case tokOpenString:
			f.syntaxFault(r, CodeUnterminatedString, f.tokenSpan(t), "this text has no closing quote", "A text ends on the line on which it begins.", `close it with "; write \" for a quote inside a text`)
			return false
		case tokString:
			if !f.checkString(r, t) {
				return false
			}
		case tokIdent:
			if len(t.Value) > MaxNameLength {
				f.syntaxFault(r, CodeNameTooLong, f.tokenSpan(t), fmt.Sprintf("a name has at most %d characters", MaxNameLength), "", "shorten it")
				return false
			}
		case tokInt:
			if _, ok := parseDecimal(t.Value); !ok {
				f.syntaxFault(r, CodeNumberTooLarge, f.tokenSpan(t), "the number "+quote(t.Value)+" is too large", "Numbers are whole and at most 9223372036854775807.", "")
				return false
			}
		case tokSign:
			switch t.Value {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth > MaxNesting {
				f.syntaxFault(r, CodeNestingTooDeep, f.tokenSpan(t), fmt.Sprintf("more than %d parentheses inside one another", MaxNesting), "", "use a let for a part of the formula")
				return false
			}
		}
	}
	return true
}

func oddHint(c string) string {
	switch c {
	case ".":
		return "numbers are whole, and a range has two dots: 1..5"
	case "'", "“", "”", "‘", "’", "„":
		return `a text stands between straight double quotes: "A"`
	case ":":
		return "leave it out"
	case ";":
		return "a line ends a statement; nothing else does"
	case "!", "&", "|":
		return "conditions are written with `not`, `and`, `or`, `==` and `!=`"
	case "[", "]":
		return "blocks use { }, formulas use ( )"
	}
	return ""
}

// parseRow gives a row its tree, or a fault that says what was expected.
func (f *file) parseRow(parser *participle.Parser[line], lex *lexer.PeekingLexer, r *row) {
	tree, err := parser.ParseFromLexer(lex, participle.AllowTrailing(true))
	if err == nil {
		next := lex.Peek()
		switch {
		case next.EOF() || next.Type == tokNewline:
			r.tree = tree
		case tree.unknownWord():
			// The checker says more about the word than can be said about what follows it.
			r.tree, f.broken = tree, true
		default:
			f.unexpected(r, next.Pos, "")
		}
		return
	}
	var perr participle.Error
	if errors.As(err, &perr) {
		f.unexpected(r, perr.Position(), perr.Message())
	}
}
