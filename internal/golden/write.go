package golden

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// File is a file to be written.
type File struct {
	Path string
	Text []byte
}

// Replace writes all files and removes the paths in remove, or changes nothing: every text goes to a temporary file in
// its own folder first, is flushed to disk and read back, and only then are they renamed into place; where a rename
// fails, those already done are undone. A file that is a symbolic link is replaced where it points to. Folders that are
// missing are made. The error names the file.
func Replace(files []File, remove []string) (err error) {
	var done []step
	defer func() {
		for _, s := range slices.Backward(done) {
			err = errors.Join(err, s.finish(err != nil))
		}
	}()
	for _, f := range files {
		s, e := prepare(f)
		if e != nil {
			return e
		}
		done = append(done, s)
	}
	for i := range done {
		if e := done[i].swap(); e != nil {
			return e
		}
	}
	for i := range done {
		if e := readBack(done[i].path, done[i].text); e != nil {
			return e
		}
	}
	for _, path := range remove {
		s, e := takeAway(path)
		if e != nil {
			return e
		}
		done = append(done, s)
	}
	return nil
}

// step is one change of the set, with what is needed to undo it.
type step struct {
	path    string
	text    []byte
	fresh   string // the new text, waiting; "" once renamed or for a removal
	backup  string // the old file, kept until the whole set is in place; "" if there was none
	swapped bool
}

func prepare(f File) (step, error) {
	path, mode := f.Path, fs.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return step{}, err
	case !info.Mode().IsRegular():
		return step{}, fmt.Errorf("%s is not a file", path)
	default:
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return step{}, err
	}
	fresh, err := writeBeside(path, f.Text, mode)
	return step{path: path, text: f.Text, fresh: fresh}, err
}

// writeBeside writes text to a new file in path's folder and gives its name; the file is gone again if it fails.
func writeBeside(path string, text []byte, mode fs.FileMode) (string, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".dlock-*.tmp")
	var p *fs.PathError
	if errors.As(err, &p) {
		return "", &fs.PathError{Op: p.Op, Path: path, Err: p.Err} // the name of the temporary file tells nobody anything
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	name := tmp.Name()
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync())
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = readBack(name, text)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(name))
	}
	return name, nil
}

func readBack(path string, want []byte) error {
	got, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: what was written is not what is read back", path)
	}
	return nil
}

// swap puts the fresh file in place. The old one stays under a second name until the whole set is done.
func (s *step) swap() error {
	backup := s.fresh + ".old"
	switch err := os.Rename(s.path, backup); {
	case err == nil:
		s.backup = backup
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.Rename(s.fresh, s.path); err != nil {
		return err
	}
	s.fresh, s.swapped = "", true
	return nil
}

func takeAway(path string) (step, error) {
	backup := filepath.Join(filepath.Dir(path), ".dlock-"+filepath.Base(path)+".old")
	if err := os.Rename(path, backup); err != nil {
		return step{}, err
	}
	return step{path: path, backup: backup, swapped: true}, nil
}

// finish removes what is left over, and with undo brings the old state back.
func (s *step) finish(undo bool) error {
	var errs []error
	if s.fresh != "" {
		errs = append(errs, os.Remove(s.fresh))
	}
	switch {
	case undo && s.backup != "":
		errs = append(errs, os.Rename(s.backup, s.path))
	case undo && s.swapped:
		errs = append(errs, os.Remove(s.path))
	case s.backup != "":
		errs = append(errs, os.Remove(s.backup))
	}
	return errors.Join(errs...)
}
