package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/internal/golden"
	"dlock/internal/report"
)

// stdinName is how standard input is named, on the command line and in what is printed.
const stdinName = "-"

// input is a script to be read.
type input struct {
	name string // as it is shown and opened
	root string // the folder argument below which it was found; "" if it was named itself
}

// defaultDir is where scripts are looked for when none is named: the folder "scenarios" if there is one, else here.
func defaultDir() []string {
	if info, err := os.Stat("scenarios"); err == nil && info.IsDir() {
		return []string{"scenarios"}
	}
	return []string{"."}
}

// inputs finds the scripts that the arguments mean: in the order of the arguments, sorted within a folder, none twice.
// What cannot be read is reported and passed over.
func (a *app) inputs(args []string) []input {
	var found []input
	seen := map[string]bool{}
	add := func(in input) {
		if !seen[in.name] {
			seen[in.name] = true
			found = append(found, in)
		}
	}
	for _, arg := range args {
		if arg == stdinName {
			add(input{name: stdinName})
			continue
		}
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			a.fail(err)
		case !info.IsDir():
			add(input{name: filepath.Clean(arg)})
		default:
			root := filepath.Clean(arg)
			names, err := walk(root)
			if err != nil {
				a.fail(err)
			}
			for _, n := range names {
				add(input{name: n, root: root})
			}
		}
	}
	return found
}

// someInputs is inputs where no script at all is an error.
func (a *app) someInputs(args []string) ([]input, error) {
	found := a.inputs(args)
	if len(found) == 0 && a.worst == ok {
		return nil, failf(refuted, "there is no %s file below %s", golden.ScriptExt, shown(strings.Join(args, " ")))
	}
	return found, nil
}

// walk lists the scripts below a folder, sorted by name. It follows symbolic links, each folder once, and passes over
// hidden names and whatever is no plain file.
func walk(root string) ([]string, error) {
	var names []string
	var errs []error
	been := map[string]bool{}
	var visit func(dir string)
	visit = func(dir string) {
		place, err := filepath.EvalSymlinks(dir)
		if err != nil {
			errs = append(errs, err)
			return
		}
		if abs, err := filepath.Abs(place); err == nil {
			place = abs
		}
		if been[place] {
			return
		}
		been[place] = true
		entries, err := os.ReadDir(dir)
		if err != nil {
			errs = append(errs, err)
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if golden.Hidden(e.Name()) {
				continue
			}
			info, err := os.Stat(path)
			switch {
			case errors.Is(err, fs.ErrNotExist): // a link that leads nowhere
			case err != nil:
				errs = append(errs, err)
			case info.IsDir():
				visit(path)
			case info.Mode().IsRegular() && filepath.Ext(path) == golden.ScriptExt:
				names = append(names, path)
			}
		}
	}
	visit(root)
	slices.Sort(names)
	return names, errors.Join(errs...)
}

// read gives a script's text: at most one byte more than a script may have, so that nothing larger is ever held and the
// parser still sees that it is too large.
func (a *app) read(name string) ([]byte, error) {
	r := a.in
	if name != stdinName {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // nothing was written
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, dsl.MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", shown(name), err)
	}
	return text, nil
}

// script reads and parses a file; nil, once its diagnostics have been shown, if it cannot be run. Mere warnings wait for
// what the values of the script have to say, so that a file is spoken about once.
func (a *app) script(name string) *source {
	text, err := a.read(name)
	if err != nil {
		a.fail(err)
		return nil
	}
	s := &source{name: filepath.ToSlash(name), text: text}
	s.script, s.warnings = parse(s.name, text)
	if s.warnings.HasErrors() {
		a.diagnose(s, nil)
		return nil
	}
	return s
}

// parse finds everything that is wrong with a text: in one that has errors of form or of names, also the values that are.
func parse(name string, text []byte) (*dsl.Script, dsl.Diagnostics) {
	s, ds := dsl.Parse(name, text)
	if s != nil && ds.HasErrors() {
		ds = append(ds, compile.Rest(s, ds)...).Sort()
	}
	return s, ds
}

// source is a parsed script with its text.
type source struct {
	name   string
	text   []byte
	script *dsl.Script
	// warnings are those about its form, until they are shown.
	warnings dsl.Diagnostics
	// said holds the warnings that have been shown: under many configurations each is said once.
	said map[dsl.Diagnostic]bool
}

// diagnose shows diagnostics on standard error and tells whether the script can be run.
func (a *app) diagnose(s *source, ds dsl.Diagnostics) bool {
	ds = slices.Concat(s.warnings, ds).Sort()
	s.warnings = nil
	ds = slices.DeleteFunc(ds, func(d dsl.Diagnostic) bool { return s.said[d] })
	if len(ds) == 0 {
		return true
	}
	for _, d := range ds {
		if d.Severity == dsl.Warning {
			if s.said == nil {
				s.said = map[dsl.Diagnostic]bool{}
			}
			s.said[d] = true
		}
	}
	for i := range ds {
		if ds[i].Span.File == "" { // it is about a value from a flag
			ds[i].Span.File = "command line"
		}
	}
	a.flush()
	err := report.Diagnostics(a.err, ds, map[string][]byte{s.name: s.text}, a.width(a.errFile), a.errPalette())
	if err != nil {
		a.fail(err)
	}
	if ds.HasErrors() {
		a.end(unusable)
		return false
	}
	return true
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
