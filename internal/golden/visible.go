package golden

import (
	"strconv"
	"strings"
)

// colourName gives the name of an SGR code, or the code where it has none.
func colourName(code string) string {
	names := [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
	n, err := strconv.Atoi(code)
	switch {
	case code == "", err == nil && (n == 0 || n >= 22 && n <= 29 || n == 39 || n == 49):
		return "/"
	case err != nil:
		return code
	case n == 1:
		return "bold"
	case n == 2:
		return "faint"
	case n == 3:
		return "italic"
	case n == 4:
		return "underline"
	case n == 7:
		return "reverse"
	case n >= 30 && n <= 37:
		return names[n-30]
	case n >= 40 && n <= 47:
		return "on-" + names[n-40]
	case n >= 90 && n <= 97:
		return "bright-" + names[n-90]
	}
	return code
}

// visible gives a text in which colours are names, as in "<red>rejected</>", and every other control character is
// escaped, so that a difference can be read wherever it is printed and a hostile golden can do nothing to a terminal.
func visible(text string) string { return rewrite(text, sgrName) }

// plain gives a text without its colours; other control characters are escaped as in visible.
func plain(text string) string { return rewrite(text, func(string) string { return "" }) }

// spelled gives a text in which every line is quoted: two texts that differ still do.
func spelled(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		q := strconv.Quote(l)
		lines[i] = q[1 : len(q)-1]
	}
	return strings.Join(lines, "\n")
}

func rewrite(text string, sgr func(params string) string) string {
	clean := true
	for i := 0; i < len(text) && clean; i++ {
		clean = text[i] >= ' ' && text[i] < 0x7f || text[i] == '\n'
	}
	if clean {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], "\x1b[") {
			end := i + 2
			for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == ';') {
				end++
			}
			if end < len(text) && text[end] == 'm' {
				b.WriteString(sgr(text[i+2 : end]))
				i = end + 1
				continue
			}
		}
		r := []rune(text[i:min(len(text), i+4)])[0]
		size := len(string(r))
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\uFFFD' && !strings.HasPrefix(text[i:], "\uFFFD"):
			size = 1
			b.WriteString(`\x` + strconv.FormatInt(int64(text[i])|0x100, 16)[1:])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
		i += size
	}
	return b.String()
}

func sgrName(params string) string {
	codes := strings.Split(params, ";")
	var names []string
	for i := 0; i < len(codes); i++ {
		name := colourName(codes[i])
		if len(codes) > i+2 && codes[i] == "38" && codes[i+1] == "5" {
			name = shade(codes[i+2])
			i += 2
		}
		if name != "/" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "</>"
	}
	return "<" + strings.Join(names, " ") + ">"
}

// shade names an entry of the 256-colour table: those that transcripts use by the colour that people see.
func shade(n string) string {
	switch n {
	case "32":
		return "blue"
	case "166":
		return "orange"
	}
	return "colour-" + n
}
