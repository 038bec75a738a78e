package dsl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// checkString finds escapes that the language does not have.
func (f *file) checkString(r *row, t lexer.Token) bool {
	if len(t.Value)-len(`""`) > MaxTextLength {
		f.syntaxFault(r, CodeTextTooLong, f.tokenSpan(t), fmt.Sprintf("a text has at most %d bytes", MaxTextLength), "", "shorten it")
		return false
	}
	for i := 1; i < len(t.Value)-1; i++ {
		if t.Value[i] != '\\' {
			continue
		}
		i++
		if strings.IndexByte(`"\nt`, t.Value[i]) < 0 {
			pos := after(t.Pos, t.Value[:i-1])
			_, size := utf8.DecodeRuneInString(t.Value[i:])
			bad := t.Value[i-1 : i+size]
			f.syntaxFault(r, CodeBadEscape, f.textSpan(pos, bad), "the escape "+quote(bad)+" does not exist", `A text knows \" \\ \n \t.`, `write \\ for a backslash`)
			return false
		}
	}
	return true
}

// unquote gives what a text in quotes means. Its escapes have been checked.
func unquote(s string) string {
	s = s[1 : len(s)-1]
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(s)
}

func parseDecimal(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
