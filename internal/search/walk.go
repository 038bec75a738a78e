package search

import (
	"context"
	"errors"

	"dlock/engine"
)

// ErrOrder says that a member's order of work does not fit its program.
var ErrOrder = errors.New("the member's order does not fit the program")

// Orders walks every order of a program without late holes, each from the start, and hands each one's complete record,
// with the source lines of its work in order, to visit, which stops the walk by returning an error. Without open ties there is one order. It is the search's slow twin:
// nothing is merged, nothing is multiplied.
func Orders(ctx context.Context, p *engine.Program, visit func(rec *engine.Record, lines []int32) error) error {
	m, rec := engine.NewMachine(), &engine.Record{}
	var path, width []int
	var lines []int32
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.BeginWhole(p, rec)
		depth := 0
		lines = lines[:0]
		for {
			f := m.Look()
			if f.Kind == engine.ForkDone {
				break
			}
			branch := 0
			if f.Kind == engine.ForkOrder {
				if depth == len(path) {
					path, width = append(path, 0), append(width, f.N)
				}
				branch = path[depth]
				depth++
			}
			lines = append(lines, m.NextLine(branch))
			m.Take(f, branch)
		}
		m.End()
		if err := visit(rec, lines); err != nil {
			return err
		}
		for depth = len(path) - 1; depth >= 0; depth-- {
			if path[depth]++; path[depth] < width[depth] {
				break
			}
			path, width = path[:depth], width[:depth]
		}
		if depth < 0 {
			return nil
		}
	}
}

// Replay runs one member: a program without late holes, whose work is done in the order of the lines. Lines that it has to
// choose among and that are not next in the list follow the order of the file.
func Replay(p *engine.Program, lines []int32) (*engine.Record, error) {
	m, rec := engine.NewMachine(), &engine.Record{}
	m.BeginWhole(p, rec)
	for {
		f := m.Look()
		if f.Kind == engine.ForkDone {
			m.End()
			return rec, nil
		}
		branch := 0
		if len(lines) == 0 {
			return nil, ErrOrder
		}
		for branch < f.N && m.NextLine(branch) != lines[0] {
			branch++
		}
		if branch == f.N {
			return nil, ErrOrder
		}
		lines = lines[1:]
		m.Take(f, branch)
	}
}
