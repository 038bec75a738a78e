package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// target is a file that a command is to write.
type target struct {
	flag, path string // no path: the flag was not given
}

// checkTargets finds, before any work is done, what speaks against writing the files that the flags name: that one of
// them is read by the same command, that two are one, or that its folder is missing or takes no file. The folder is
// tried with an empty file, which is gone again.
func checkTargets(targets []target, read []string) error {
	var before []target
	for _, t := range targets {
		if t.path == "" {
			continue
		}
		for _, name := range read {
			if sameFile(t.path, name) {
				return fmt.Errorf("%s %s would write over what is read; name another file", t.flag, shown(t.path))
			}
		}
		for _, b := range before {
			if sameFile(t.path, b.path) {
				return fmt.Errorf("%s and %s name the same file, %s", b.flag, t.flag, shown(t.path))
			}
		}
		before = append(before, t)
		if err := writable(t.path); err != nil {
			return fmt.Errorf("%s cannot write %s: %w", t.flag, shown(t.path), err)
		}
	}
	return nil
}

// sameFile tells whether two names are those of one file.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// writable tells why a file cannot be written, without the name of the file.
func writable(path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is not a file")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return cause(err)
	}
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s", shown(dir))
	case err != nil:
		return cause(err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", shown(dir))
	}
	probe, err := os.CreateTemp(dir, ".dlock-*.tmp")
	if err != nil {
		return cause(err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// creatable tells why a file cannot be written whose folders are made if they are missing, without the name of the file.
func creatable(path string) error {
	for {
		dir := filepath.Dir(path)
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is not a folder", shown(dir))
		case err == nil || dir == path:
			return writable(path)
		}
		path = dir // what would be made in the folder above
	}
}

// cause takes the name of a file off an error of the operating system.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
