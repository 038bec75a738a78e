package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// safe returns s with everything spelled out that could move a cursor, change a colour, turn the reading direction or
// hide: control and format characters, separators other than the blank, and bytes that are no UTF-8.
func safe(s string) string {
	i := unsafeAt(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if isSafe(r, n) {
			b.WriteString(s[i : i+n])
		} else {
			spell(&b, s[i:i+n], r, n)
		}
		i += n
	}
	return b.String()
}

func unsafeAt(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isSafe(r, n) {
			return i
		}
		i += n
	}
	return -1
}

func isSafe(r rune, size int) bool {
	return (r != utf8.RuneError || size > 1) && unicode.IsPrint(r)
}

// spell writes an unsafe character as the language's and Go's string literals do.
func spell(b *strings.Builder, raw string, r rune, size int) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == utf8.RuneError && size <= 1, r < utf8.RuneSelf:
		b.WriteString(`\x`)
		b.WriteByte("0123456789abcdef"[raw[0]>>4])
		b.WriteByte("0123456789abcdef"[raw[0]&15])
	default:
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
}

// quote writes a value as a string literal of the language.
func quote(s string) string {
	s = strings.ReplaceAll(s, `\`, `\\`)
	return `"` + safe(strings.ReplaceAll(s, `"`, `\"`)) + `"`
}

// maxShownValue is how many columns of a value are shown: enough for every value that a person writes, and two of
// them still fit on a line.
const maxShownValue = 32

// maxLooked is how many bytes at either end of a value are looked at: many times what is shown.
const maxLooked = 1 << 10

// value writes a value of the resource for a table or a sentence; a long one loses its middle.
func value(s string) string {
	if len(s) > 2*maxLooked { // the middle is lost anyhow, and a value can have megabytes
		s = s[:maxLooked] + s[len(s)-maxLooked:]
	}
	q := quote(s)
	if width(q) <= maxShownValue {
		return q
	}
	keep := maxShownValue/2 - 1
	return clip(q, keep) + "…" + clipLeft(q, keep)
}

// name writes the name of a run, a file or a label; a long one loses its end.
func name(s string) string {
	return shorten(safe(s), maxShownName)
}

// maxShownName is how many columns of a name are shown.
const maxShownName = 60

// shorten cuts safe text to n columns.
func shorten(s string, n int) string {
	if width(s) <= n {
		return s
	}
	return clip(s, n-1) + "…"
}

// width counts the columns that safe text takes in a terminal.
func width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// clip keeps the longest beginning of s that fits into n columns.
func clip(s string, n int) string {
	rest, state, cols, kept := s, -1, 0, 0
	for rest != "" {
		var c string
		var w int
		c, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if cols += w; cols > n {
			break
		}
		kept += len(c)
	}
	return s[:kept]
}

// clipLeft keeps the longest end of s that fits into n columns.
func clipLeft(s string, n int) string {
	total := width(s)
	rest, state := s, -1
	for total > n && rest != "" {
		var w int
		_, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		total -= w
	}
	return rest
}

// markdown escapes what Markdown, with GitHub's additions, or HTML would take for markup, in text that is safe already
// and starts a line or a table cell.
func markdown(s string) string {
	var b strings.Builder
	lead := len(s) - len(strings.TrimLeft(s, "0123456789"))
	for i := range len(s) {
		switch c := s[i]; {
		case strings.IndexByte("\\`*_[]|~$@", c) >= 0,
			c == ':' && strings.HasPrefix(s[i:], "://"),
			c == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"),
			i == 0 && strings.IndexByte("#+-=", c) >= 0,
			i == lead && lead > 0 && (c == '.' || c == ')'):
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
