package shrink

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

// maxClaims bounds the claims that are written; the first ones say most.
const maxClaims = 20

// finish formats what is left, with the claims that hold of it and could have failed.
func (s *shrinker) finish(ctx context.Context) []byte {
	s.entitle()
	text := s.doc.text(nil)
	claims := s.claims(text)
	for {
		out := text
		if len(claims) > 0 {
			out += "\n" + strings.Join(claims, "\n") + "\n"
		}
		formatted, ds := dsl.Format([]byte(out), s.name)
		if ds.HasErrors() { // cannot be: the claims are written from a record
			return []byte(text)
		}
		bad := failing(ctx, s.name, formatted, len(claims))
		if bad < 0 {
			return formatted
		}
		claims = slices.Delete(claims, bad, bad+1)
	}
}

// entitle gives what is left a title that is true of it, in place of the title and the description of what it was made from.
func (s *shrinker) entitle() {
	laws := make([]string, len(s.keep))
	for i, l := range s.keep {
		laws[i] = l.String()
	}
	from := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s.name[strings.LastIndexAny(s.name, `/\`)+1:])
	if from == "-" {
		from = "standard input"
	}
	head := "scenario " + quoted("a schedule that breaks "+strings.Join(laws, " and ")+", shrunk from "+from)
	s.doc.lead = nil
	for _, n := range s.doc.list {
		if n.word(0) == "scenario" {
			n.head, n.above, n.trail = head, nil, ""
			return
		}
	}
	if len(s.doc.list) > 0 {
		s.doc.list[0].blank = true
	}
	s.doc.list = slices.Insert(s.doc.list, 0, &node{head: head})
}

// claims pins what is left: the laws, the final value, and what became of each write.
func (s *shrinker) claims(text string) []string {
	rec, rep, _ := judge(s.name, text)
	if rec == nil {
		return nil
	}
	var all []string
	add := func(format string, args ...any) {
		if c := fmt.Sprintf(format, args...); len(all) < maxClaims && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	for _, l := range s.keep {
		add("expect %s %d", l, rep.Counts[l])
	}
	if final := rec.Value(rec.Final); len(final) <= dsl.MaxTextLength/2 {
		add("expect final %s", quoted(final))
	}
	for i := range rec.Events {
		e := &rec.Events[i]
		switch e.Outcome {
		case engine.Accepted, engine.Rejected, engine.Skipped:
			add("expect at %d %s %s", e.At.Tick, rec.Program.Clients[e.Client], e.Outcome)
		}
	}
	return all
}

// failing gives the first of a file's claims that does not hold or could not have failed, -1 if there is none.
func failing(ctx context.Context, name string, text []byte, n int) int {
	script, ds := dsl.Parse(name, text)
	if ds.HasErrors() || len(script.Expects) != n {
		return n - 1
	}
	st, _ := study.New(script, nil)
	if st == nil {
		return n - 1
	}
	f, err := st.Do(ctx, study.Options{})
	if err != nil || len(f.Items) != 1 || f.Items[0].Run == nil {
		return n - 1
	}
	return slices.IndexFunc(f.Items[0].Run.Claims, func(c study.Claim) bool { return c.Failed() || c.Inconclusive })
}
