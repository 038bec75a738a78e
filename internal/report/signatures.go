package report

import (
	"io"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/study"
)

func Compare(w io.Writer, runs []*study.Run, labels []string, o Options) error         { return nil }
func CompareMarkdown(w io.Writer, runs []*study.Run, labels []string, o Options) error { return nil }

func List(w io.Writer, scripts []*dsl.Script, o Options) error { return nil }

// Grid is a table of scenarios (rows) by configurations (columns).
type Grid struct {
	Columns []string
	Rows    []GridRow
}

// GridRow is one scenario under every configuration of its Grid.
type GridRow struct {
	Name  string
	Cells []GridCell
}

// GridCell is one scenario under one configuration.
type GridCell struct {
	Final  string
	Counts [audit.NumLaws]int64
	Note   string // why there is no result; "" if there is one
}

func Matrix(w io.Writer, g *Grid, o Options) error         { return nil }
func MatrixMarkdown(w io.Writer, g *Grid, o Options) error { return nil }
