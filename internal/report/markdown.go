package report

import (
	"bufio"
	"io"
	"strings"
)

// printMarkdown writes a page as Markdown. Colour becomes strong type.
func printMarkdown(w io.Writer, p *page) error {
	out := bufio.NewWriter(w) // keeps its first error until Flush
	put := func(s string) { _, _ = out.WriteString(s) }
	for i := range p.blocks {
		if i > 0 {
			put("\n")
		}
		switch b := &p.blocks[i]; b.kind {
		case title:
			put("# " + inline(b.text) + "\n")
		case heading:
			put("## " + inline(b.text) + "\n")
		case section:
			put("### " + inline(b.text) + "\n")
		case para, prose:
			put(inline(b.text) + "\n")
		case figure:
			put(fenced(b.lines))
		case table:
			put(markdownTable(b))
		}
	}
	return out.Flush()
}

func inline(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		text := markdown(s.text)
		if trimmed := strings.TrimSpace(text); trimmed != "" && (s.tone == good || s.tone == bad) {
			text = strings.Replace(text, trimmed, "**"+trimmed+"**", 1)
		}
		b.WriteString(text)
	}
	return b.String()
}

// fenced shows lines as they are. Its text holds no line breaks, and the fence is longer than any run of backquotes in it.
func fenced(lines [][]span) string {
	var b strings.Builder
	longest := 2
	for _, line := range lines {
		text := ""
		for _, s := range line {
			text += s.text
		}
		run := 0
		for i := range len(text) {
			if text[i] != '`' {
				run = 0
				continue
			}
			run++
			longest = max(longest, run)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + b.String() + fence + "\n"
}

// markdownTable writes a table without the columns at its end that have neither a head nor anything below it: those are
// for remarks, and nothing had to be remarked.
func markdownTable(b *block) string {
	rows, n := make([][]string, len(b.rows)), 1
	for i, row := range b.rows {
		rows[i] = make([]string, len(b.head))
		for j := range b.head {
			if j < len(row) {
				rows[i][j] = inline(row[j])
			}
			if rows[i][j] != "" {
				n = max(n, j+1)
			}
		}
	}
	for j, h := range b.head {
		if h != "" {
			n = max(n, j+1)
		}
	}
	var s strings.Builder
	for _, h := range b.head[:n] {
		s.WriteString("| " + markdown(h) + " ")
	}
	s.WriteString("|\n")
	for i := range n {
		if b.rule[i] == right {
			s.WriteString("|---:")
		} else {
			s.WriteString("|---")
		}
	}
	s.WriteString("|\n")
	for _, row := range rows {
		for _, text := range row[:n] {
			s.WriteString("| " + text + " ")
		}
		s.WriteString("|\n")
	}
	return s.String()
}
