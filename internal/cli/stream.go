package cli

import (
	"os"
	"strconv"

	"golang.org/x/term"

	"dlock/internal/report"
)

const (
	// pageWidth is the width of everything that is kept: pipes, files, goldens.
	pageWidth = 100
	// A terminal narrower than this wraps by itself; wider than that, lines get hard to read.
	minWidth, maxWidth = 40, 200
)

// colours decides whether a stream is coloured. The order is that of the conventions: what was asked for on this command
// line, then what the user wants nowhere, then what they want everywhere, then what the stream is.
func colours(flag string, env func(string) (string, bool), terminal bool) bool {
	set := func(name string) (string, bool) {
		v, ok := env(name)
		return v, ok && v != ""
	}
	switch flag {
	case "always":
		return true
	case "never":
		return false
	}
	if _, ok := set("NO_COLOR"); ok {
		return false
	}
	for _, name := range []string{"CLICOLOR_FORCE", "FORCE_COLOR"} {
		if v, ok := set(name); ok && v != "0" && v != "false" {
			return true
		}
	}
	if v, _ := env("CLICOLOR"); v == "0" {
		return false
	}
	if v, _ := env("TERM"); v == "dumb" {
		return false
	}
	return terminal
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// width is that of a terminal, or what COLUMNS says about it; anything else gets the width of a page.
func (a *app) width(f *os.File) int {
	if !isTerminal(f) {
		return pageWidth
	}
	columns := 0
	if v, ok := a.env("COLUMNS"); ok {
		columns, _ = strconv.Atoi(v) // what is no number is 0 and counts as not said
	}
	if columns <= 0 {
		columns, _, _ = term.GetSize(int(f.Fd())) // 0 if the terminal does not say
	}
	if columns <= 0 {
		return pageWidth
	}
	return min(max(columns, minWidth), maxWidth)
}

// options are the report's for standard output.
func (a *app) options(quiet bool) report.Options {
	return report.Options{
		Width:   a.width(a.outFile),
		Palette: report.NewPalette(colours(a.colour, a.env, isTerminal(a.outFile))),
		Quiet:   quiet,
	}
}

// errPalette is the palette for standard error.
func (a *app) errPalette() *report.Palette {
	return report.NewPalette(colours(a.colour, a.env, isTerminal(a.errFile)))
}

// inCI tells whether the process runs in a continuous integration job.
func (a *app) inCI() bool {
	v, ok := a.env("CI")
	return ok && v != "" && v != "0" && v != "false"
}
