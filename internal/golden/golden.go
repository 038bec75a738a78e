// Package golden keeps the recorded transcripts of scenarios: where they lie, whether they still are what the scenario
// prints, why they are not, and how a set of them is replaced all at once. It runs no scenario and reads no script; it is
// handed a Rendering.
package golden

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// ScriptExt is how the name of a script ends.
	ScriptExt = ".dlk"
	// Ext is how the name of a golden ends.
	Ext = ".txt"

	scriptsDir = "scenarios"
	goldensDir = "golden"

	// maxFile bounds what is read as a golden: a transcript of this size is no longer read by anybody, and a test should
	// not take the machine with it.
	maxFile = 64 << 20
)

// Rendering is what a scenario prints today, with what is needed to explain how it differs from what it printed before.
type Rendering struct {
	Text   []byte  // the transcript, coloured, 100 columns, LF
	Events []Event // the typed events behind it, run after run, in order
}

// Event is one typed event of a rendering. Several events may share one line of the text, as folded polls do.
type Event struct {
	Run   string // the name of its run, may be empty
	Tick  int64
	Actor string // as the transcript names it
	Verb  string
	Line  int           // its line in the script, 0 if it has none
	World func() string // what the world was just before it, in a few words
}

// Layout is the place of the goldens of a set of scripts.
type Layout struct {
	// Dir, if set, holds the golden of DIR/x/y.dlk as Dir/x/y.txt, where DIR is the folder that was named, and that of a
	// script named by itself under its base name.
	Dir string
}

// Path gives the golden's path of a script that was found below root ("" for one that was named by itself).
//
// Without Dir, a script below a folder named "scenarios" has its golden under the same relative name in that folder's
// sibling "golden"; any other script has it in the folder "golden" beside itself.
func (l Layout) Path(script, root string) string {
	name := strings.TrimSuffix(filepath.Base(script), ScriptExt) + Ext
	if l.Dir != "" {
		if rel, err := filepath.Rel(root, script); root != "" && err == nil && filepath.IsLocal(rel) {
			return filepath.Join(l.Dir, filepath.Dir(rel), name)
		}
		return filepath.Join(l.Dir, name)
	}
	dir := filepath.Dir(script)
	if base, rel, ok := scriptsFolder(dir); ok {
		return filepath.Join(above(base), goldensDir, rel, name)
	}
	return filepath.Join(dir, goldensDir, name)
}

// scriptsFolder finds the nearest folder named "scenarios" at or above dir, and dir's name relative to it. The absolute
// path decides, so that "." inside scenarios/ is recognised; what comes back is as relative as dir was.
func scriptsFolder(dir string) (base, rel string, ok bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", false
	}
	for up, here := dir, abs; ; {
		if filepath.Base(here) == scriptsDir {
			rel, err := filepath.Rel(here, abs)
			return up, rel, err == nil
		}
		parent := filepath.Dir(here)
		if parent == here {
			return "", "", false
		}
		here, up = parent, above(up)
	}
}

// above names the parent of a folder that may be "." or "..".
func above(dir string) string {
	if b := filepath.Base(dir); b == "." || b == ".." {
		return filepath.Join(dir, "..")
	}
	return filepath.Dir(dir)
}

// Owners lists the scripts on disk that have the given golden: of golden/x.txt these may be scenarios/x.dlk and x.dlk beside
// both. A script that cannot be looked at counts as there, since a golden must not be removed on a guess. With Dir the
// path does not tell whose the golden is, and there are none.
func (l Layout) Owners(path string) []string {
	if l.Dir != "" {
		return nil
	}
	var scripts []string
	name := strings.TrimSuffix(filepath.Base(path), Ext) + ScriptExt
	for dir, rel := filepath.Dir(path), "."; ; {
		if base := filepath.Base(dir); base == goldensDir {
			for _, s := range []string{filepath.Join(above(dir), scriptsDir, rel, name), filepath.Join(above(dir), rel, name)} {
				info, err := os.Stat(s)
				if there := err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist); there && l.Path(s, "") == path {
					scripts = append(scripts, s)
				}
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return scripts
		}
		dir, rel = up, filepath.Join(filepath.Base(dir), rel)
	}
}

// Orphans lists the goldens below the named root whose script is gone, sorted. known maps every golden path that a
// tested script has to that script; a golden that is no such script's is asked for its Owners. Only folders that belong to scripts are looked at: the sibling "golden" of a
// "scenarios" folder, "golden" beside a script, or Dir.
func (l Layout) Orphans(root string, known map[string]string) ([]string, error) {
	var roots []string
	switch base, rel, ok := scriptsFolder(root); {
	case l.Dir != "":
		roots = []string{l.Dir}
	case ok:
		roots = []string{filepath.Join(above(base), goldensDir, rel)}
	default:
		found, err := goldenFolders(root, known)
		if err != nil {
			return nil, err
		}
		roots = found
	}
	var orphans []string
	for _, r := range roots {
		r += string(filepath.Separator) // follows a folder that is a symbolic link
		err := filepath.WalkDir(r, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && path == r:
				return nil
			case err != nil:
				return err
			case d.Type().IsRegular() && filepath.Ext(path) == Ext && known[path] == "" && len(l.Owners(path)) == 0:
				orphans = append(orphans, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(orphans)
	return slices.Compact(orphans), nil
}

// goldenFolders lists the golden folders below root, where root itself is not below a "scenarios" folder.
func goldenFolders(root string, known map[string]string) ([]string, error) {
	var roots []string
	for g, script := range known {
		if filepath.Dir(g) == filepath.Join(filepath.Dir(script), goldensDir) {
			roots = append(roots, filepath.Dir(g))
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case Hidden(d.Name()) && path != root:
			return fs.SkipDir
		case d.Name() == scriptsDir:
			roots = append(roots, filepath.Join(filepath.Dir(path), goldensDir))
		}
		return nil
	})
	slices.Sort(roots)
	return slices.Compact(roots), err
}

// Hidden tells whether a file of this name is passed over when a folder is searched: ".git" and the like.
func Hidden(name string) bool { return len(name) > 1 && name[0] == '.' && name != ".." }

// Load reads a golden. The error is fs.ErrNotExist where there is none.
func Load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is larger than the %d MiB that a golden may have", path, maxFile>>20)
	}
	return os.ReadFile(path)
}

// unifyLineEnds makes CRLF into LF.
func unifyLineEnds(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
