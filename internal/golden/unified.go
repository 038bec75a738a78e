package golden

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

const (
	// maxTable bounds the table of a line-by-line comparison: 2,000 lines against 2,000. Larger texts are compared by the
	// lines that stand once in each, which is quick and shows some equal lines as changed.
	maxTable = 4 << 20
	// context is how many equal lines stand around a change.
	context = 3
)

// unified is the diff of two texts with as few changed lines as there can be: a run's transcript repeats the lines of
// another's, and a line that did not change should not look as if it did.
func unified(want, got string) string {
	const label = "-want +got\n"
	a, b := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	if n, m := len(a)-head-tail, len(b)-head-tail; m > 0 && n > maxTable/m {
		out := string(diff.Diff("want", []byte(want), "got", []byte(got)))
		if _, rest, ok := strings.Cut(out, "+++ got\n"); ok {
			out = rest
		}
		return label + out
	}
	return label + hunks(a, b, edits(a, b, head, tail))
}

// edit is one line of a diff: ' ', '-' or '+', and its place in both texts.
type edit struct {
	op   byte
	i, j int
}

// edits lists the lines of both texts in order, by a longest common subsequence of what lies between head and tail.
func edits(a, b []string, head, tail int) []edit {
	out := make([]edit, 0, len(a)+len(b))
	for i := range head {
		out = append(out, edit{' ', i, i})
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	width := len(y) + 1
	common := make([]int32, (len(x)+1)*width) // of the rests of both texts
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			out = append(out, edit{' ', head + i, head + j})
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && common[(i+1)*width+j] >= common[i*width+j+1]:
			out = append(out, edit{'-', head + i, head + j})
			i++
		default:
			out = append(out, edit{'+', head + i, head + j})
			j++
		}
	}
	for k := range tail {
		out = append(out, edit{' ', len(a) - tail + k, len(b) - tail + k})
	}
	return out
}

// hunks prints the changes with their context.
func hunks(a, b []string, all []edit) string {
	var out strings.Builder
	for from := 0; from < len(all); {
		first := from
		for first < len(all) && all[first].op == ' ' {
			first++
		}
		if first == len(all) {
			break
		}
		last := first // the last change of the hunk
		for k := first; k < len(all) && k <= last+2*context; k++ {
			if all[k].op != ' ' {
				last = k
			}
		}
		hunk := all[max(first-context, from):min(last+1+context, len(all))]
		old, now := 0, 0
		var text strings.Builder
		for _, e := range hunk {
			source, at := a, e.i
			if e.op == '+' {
				source, at = b, e.j
			}
			line := source[at]
			if line == "" {
				continue // after the last newline
			}
			if e.op != '+' {
				old++
			}
			if e.op != '-' {
				now++
			}
			text.WriteByte(e.op)
			text.WriteString(strings.TrimSuffix(line, "\n") + "\n")
			if !strings.HasSuffix(line, "\n") {
				text.WriteString("\\ No newline at end of file\n")
			}
		}
		start := func(i, n int) int { // a stretch without lines is named by the line before it
			if n == 0 {
				return i
			}
			return i + 1
		}
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n%s", start(hunk[0].i, old), old, start(hunk[0].j, now), now, text.String())
		from = last + 1
	}
	return out.String()
}
