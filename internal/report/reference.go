package report

import (
	"io"
	"strings"

	"dlock/dsl"
)

// Explain writes the page of a code of the diagnostics. It returns the first error of w.
func Explain(w io.Writer, page dsl.CodePage, o Options) error {
	return printText(w, codePage(page), o)
}

func codePage(c dsl.CodePage) *page {
	p := &page{}
	p.add(title, mark(bold, c.Code+"  "+c.Title))
	var text []string
	flush := func() {
		if len(text) > 0 {
			p.add(prose, say(strings.Join(text, " ")))
		}
		text = nil
	}
	fenced := false
	for _, line := range strings.Split(c.Text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			flush()
			if fenced = !fenced; fenced {
				p.draw(say(""))
			}
		case fenced:
			p.draw(say(line))
		case strings.TrimSpace(line) == "":
			flush()
		case strings.HasPrefix(line, "- "):
			flush()
			text = append(text, line)
		default:
			text = append(text, strings.TrimSpace(line))
		}
	}
	flush()
	return p
}

// List writes what files there are: their titles, the first line of what they say about themselves, and their blocks.
// It returns the first error of w.
func List(w io.Writer, scripts []*dsl.Script, o Options) error {
	p := &page{}
	if len(scripts) == 0 {
		return nil
	}
	g := p.grid("", "")
	for _, s := range scripts {
		first := true
		add := func(c ...span) {
			file := ""
			if first {
				file = name(s.File)
			}
			first = false
			g.rows = append(g.rows, []cell{{say(file)}, c})
		}
		if s.Title != "" {
			add(mark(bold, name(s.Title)))
		}
		if about, _, _ := strings.Cut(s.About, "\n"); about != "" {
			add(say(about))
		}
		if blocks := blockNames(s); blocks != "" || first {
			add(mark(dim, blocks))
		}
	}
	return printText(w, p, o)
}

func blockNames(s *dsl.Script) string {
	var parts []string
	for _, kind := range []dsl.BlockKind{dsl.RunBlock, dsl.SweepBlock, dsl.ExploreBlock} {
		var names []string
		for _, b := range s.Blocks {
			if b.Kind == kind {
				names = append(names, quote(name(b.Name)))
			}
		}
		if len(names) > 0 {
			parts = append(parts, kind.String()+" "+strings.Join(names, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
