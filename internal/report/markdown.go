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

func markdownTable(b *block) string {
	var s strings.Builder
	for _, h := range b.head {
		s.WriteString("| " + markdown(h) + " ")
	}
	s.WriteString("|\n")
	for i := range b.head {
		if b.rule[i] == right {
			s.WriteString("|---:")
		} else {
			s.WriteString("|---")
		}
	}
	s.WriteString("|\n")
	for _, row := range b.rows {
		for i := range b.head {
			text := ""
			if i < len(row) {
				text = inline(row[i])
			}
			s.WriteString("| " + text + " ")
		}
		s.WriteString("|\n")
	}
	return s.String()
}
