package report

import (
	"strconv"
	"strings"

	"dlock/engine"
)

// number writes a count or a tick. Thousands are not grouped, so that what is printed can be searched for and typed in.
func number[T ~int | ~int32 | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// tick writes a tick; one that never comes is a word.
func tick(t engine.Tick) string {
	if t == engine.Forever {
		return "never"
	}
	return number(t)
}

// interval writes a half-open interval; one without end has no second bound.
func interval(start, end engine.Tick) string {
	if end == engine.Forever {
		return "[" + number(start) + ", …)"
	}
	return "[" + number(start) + ", " + number(end) + ")"
}

// during writes when something was so: in an interval, or at a tick if it began and ended within it.
func during(start, end engine.Tick) string {
	if end <= start {
		return "at " + number(start)
	}
	return "in " + interval(start, end)
}

// stretch writes a tick, or the first and the last of several.
func stretch(from, to engine.Tick) string {
	if from == to {
		return number(from)
	}
	return number(from) + ".." + number(to)
}

// count writes a number with its noun.
func count[T ~int | ~int32 | ~int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"):
		noun += "es"
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return number(n) + " " + noun
}

// list joins words as a sentence does.
func list(words []string, and string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " " + and + " " + words[n-1]
	}
}

// server names a server by its index.
func server(i int32) string { return "s" + number(i+1) }

// serverList writes ascending server indices as the language does, folding neighbours: s1 s3..s5.
func serverList(indices []int32) string {
	var b strings.Builder
	for i := 0; i < len(indices); {
		j := i
		for j+1 < len(indices) && indices[j+1] == indices[j]+1 {
			j++
		}
		if j == i+1 {
			j = i // two are not worth a range
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(server(indices[i]))
		if j > i {
			b.WriteString(".." + server(indices[j]))
		}
		i = j + 1
	}
	return b.String()
}

// votes writes how many of those asked said yes.
func votes(yes, asked int32) string { return number(yes) + " of " + number(asked) + " votes" }

func join(parts []string, sep string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}

// sourceLine names a line of the source, "" where there is none.
func sourceLine(line int32) string {
	if line <= 0 {
		return ""
	}
	return "line " + number(line)
}

// blank is what a table shows where nothing is to be said.
const blank = "-"
