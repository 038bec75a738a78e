package dsl

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// The kinds of tokens. Every byte of a file belongs to exactly one token; what fits nowhere is tokBad, so that an odd
// character spoils its own line and no other.
const (
	tokWhitespace lexer.TokenType = iota + 1
	tokComment
	tokNewline
	tokString
	tokOpenString // a text without its closing quote
	tokInt
	tokServer  // s1
	tokKeyword // a word that can start or follow an operand
	tokHyphen  // fence-at
	tokIdent
	tokOp    // an operator between two operands, the minus sign among them
	tokLogic // and, or
	tokSign
	tokBad
)

// definition hands the token kinds to participle. The scanner is written by hand because a table of regular expressions
// costs several times the rest of the parse.
type definition struct{}

// Symbols names the token kinds, for the grammar.
func (definition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Whitespace": tokWhitespace, "Comment": tokComment, "Newline": tokNewline,
		"String": tokString, "OpenString": tokOpenString, "Int": tokInt, "Server": tokServer, "Keyword": tokKeyword,
		"Hyphen": tokHyphen, "Ident": tokIdent, "Op": tokOp, "Logic": tokLogic, "Sign": tokSign, "Bad": tokBad}
}

// Lex is never used: a file is scanned once, by scan, and parsed a line at a time.
func (definition) Lex(string, io.Reader) (lexer.Lexer, error) {
	return nil, errors.New("dsl: tokens come from scan")
}

// tokenList is a lexer.Lexer over tokens that are already there.
type tokenList struct {
	tokens []lexer.Token
	next   int
}

// Next gives the next token; the last one again and again.
func (l *tokenList) Next() (lexer.Token, error) {
	t := l.tokens[l.next]
	if l.next < len(l.tokens)-1 {
		l.next++
	}
	return t, nil
}

// scan cuts a text into tokens; the last one is the end of the file.
func scan(text string) []lexer.Token {
	tokens := make([]lexer.Token, 0, len(text)/3+1)
	pos := lexer.Position{Line: 1, Column: 1}
	if strings.HasPrefix(text, "\ufeff") {
		pos.Offset = len("\ufeff")
	}
	for pos.Offset < len(text) {
		kind, size := scanToken(text[pos.Offset:])
		value := text[pos.Offset : pos.Offset+size]
		tokens = append(tokens, lexer.Token{Type: kind, Value: value, Pos: pos})
		pos.Offset += size
		if kind == tokNewline {
			pos.Line++
			pos.Column = 1
		} else {
			pos.Column += utf8.RuneCountInString(value)
		}
	}
	return append(tokens, lexer.EOFToken(pos))
}

func scanToken(s string) (kind lexer.TokenType, size int) {
	switch c := s[0]; {
	case c == ' ' || c == '\t':
		return tokWhitespace, len(s) - len(strings.TrimLeft(s, " \t"))
	case c == '\n':
		return tokNewline, 1
	case strings.HasPrefix(s, "\r\n"):
		return tokNewline, 2
	case c == '#':
		return tokComment, lineEnd(s)
	case c == '"':
		return scanString(s)
	case isDigit(c):
		n := 1
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		return tokInt, n
	case nameByte(c):
		return scanWord(s)
	case strings.HasPrefix(s, ".."):
		return tokSign, 2
	case strings.HasPrefix(s, "==") || strings.HasPrefix(s, "!=") || strings.HasPrefix(s, "<=") || strings.HasPrefix(s, ">="):
		return tokOp, 2
	case strings.IndexByte("+-*/%<>", c) >= 0:
		return tokOp, 1
	case strings.IndexByte("{}()=,", c) >= 0:
		return tokSign, 1
	}
	_, size = utf8.DecodeRuneInString(s)
	return tokBad, size
}

func scanString(s string) (lexer.TokenType, int) {
	end := lineEnd(s)
	for i := 1; i < end; i++ {
		switch s[i] {
		case '"':
			return tokString, i + 1
		case '\\':
			i++
		}
	}
	return tokOpenString, end
}

func scanWord(s string) (lexer.TokenType, int) {
	n := 1
	for n < len(s) && nameByte(s[n]) {
		n++
	}
	if n < len(s) && s[n] == '-' {
		if w := hyphenated(s); w != "" {
			return tokHyphen, len(w)
		}
	}
	switch w := s[:n]; {
	case w == "and" || w == "or":
		return tokLogic, n
	case isKeyword(w):
		return tokKeyword, n
	case isServerName(w):
		return tokServer, n
	}
	return tokIdent, n
}

// lineEnd gives the length of what stands before the end of the line.
func lineEnd(s string) int {
	n := strings.IndexByte(s, '\n')
	if n < 0 {
		return len(s)
	}
	if n > 0 && s[n-1] == '\r' {
		n--
	}
	return n
}

func isServerName(w string) bool {
	if len(w) < 2 || w[0] != 's' {
		return false
	}
	for i := 1; i < len(w); i++ {
		if !isDigit(w[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func nameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c)
}
