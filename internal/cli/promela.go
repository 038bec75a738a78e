package cli

import (
	"errors"
	"fmt"
	"strings"

	"dlock/internal/promela"
	"dlock/internal/study"
)

// exportPromela writes the family of one explore block to standard output, as a model for Spin.
func (a *app) exportPromela(args []string, x *exploration) error {
	found, err := a.someInputs(args)
	if err != nil {
		return err
	}
	if len(found) > 1 {
		return errors.New("--export is for one file at a time")
	}
	s := a.script(found[0].name)
	if s == nil {
		return nil
	}
	if err := knownNames(s.script, x.list); err != nil {
		return err
	}
	st, ds := study.Open(s.script, x.list)
	if !a.diagnose(s, ds) {
		return nil
	}
	name := x.run
	switch names := st.Families(); {
	case len(names) == 0:
		return fmt.Errorf("%s has no explore block and leaves nothing open; try `let stall = any 0..30`", shown(s.name))
	case name == "" && len(names) > 1:
		return fmt.Errorf("%s has several explore blocks: name the one that --export writes with --run", shown(s.name))
	case name == "":
		name = names[0]
	}
	ps := st.Programs(name)
	if ps == nil {
		return noRun(name, st.Families())
	}
	title := s.name
	if name != "" {
		title += ": " + name
	}
	var b strings.Builder
	err = promela.Write(&b, promela.Family{Title: title, Holes: ps.Late, Slices: ps.N, Slice: ps.At, Label: ps.Label})
	var un *promela.UnsupportedError
	switch {
	case errors.As(err, &un) && un.Line > 0:
		return fmt.Errorf("%s:%d: %s", shown(s.name), un.Line, un.Reason())
	case err != nil:
		return fmt.Errorf("%s: %w", shown(s.name), err)
	}
	a.printf("%s", b.String())
	return nil
}
