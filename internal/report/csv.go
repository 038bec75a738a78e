package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"dlock/internal/study"
)

// SweepCSV writes the cells of every sweep of the files, a row each: file, sweep, the axes, the final value, every law's
// count, the ticks that each client was blocked (empty: it never asked or was never granted), and whether all claims
// hold. Sweeps with different axes or clients get a header of their own, after an empty line. Control characters in texts
// are spelled out. It returns the first error of w.
func SweepCSV(w io.Writer, files []*study.File) error {
	out := csv.NewWriter(w)
	var last []string
	for _, f := range files {
		var file string
		if f.Script != nil {
			file = f.Script.File
		}
		for _, item := range f.Items {
			if item.Sweep == nil {
				continue
			}
			head := csvHead(item.Sweep)
			if !slices.Equal(head, last) {
				if last != nil {
					out.Flush()
					if _, err := io.WriteString(w, "\n"); err != nil {
						return err
					}
				}
				if err := out.Write(head); err != nil {
					return err
				}
				last = head
			}
			for i := range item.Sweep.Kept {
				if err := out.Write(csvRow(file, item.Sweep, &item.Sweep.Kept[i])); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func csvHead(s *study.Sweep) []string {
	head := []string{"file", "sweep"}
	for _, a := range s.Axes {
		head = append(head, a.Name)
	}
	head = append(head, "final")
	for _, l := range laws() {
		head = append(head, l.String())
	}
	for _, c := range s.Clients {
		head = append(head, "blocked "+safe(c))
	}
	return append(head, "ok")
}

func csvRow(file string, s *study.Sweep, c *study.Cell) []string {
	row := []string{safe(file), safe(s.Name)}
	for a := range s.Axes {
		row = append(row, cellValue(c.At, a))
	}
	row = append(row, safe(c.Final))
	for _, l := range laws() {
		row = append(row, number(c.Counts[l]))
	}
	for i := range s.Clients {
		blocked := ""
		if i < len(c.Blocked) && c.Blocked[i] >= 0 {
			blocked = number(c.Blocked[i])
		}
		row = append(row, blocked)
	}
	return append(row, strconv.FormatBool(c.OK))
}
