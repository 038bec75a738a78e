package report

import (
	"io"
	"math/big"
	"strings"
	"testing"

	"dlock/internal/study"
)

// Slices are counted as members are.
func TestSlicesAreGrouped(t *testing.T) {
	e := &study.Explore{Slices: 6480, Done: 5000, Stopped: "interrupted", Members: big.NewInt(10368)}
	p := &page{}
	incomplete(p, e)
	p.add(para, say(proof(e)))
	e.Done = 0
	incomplete(p, e)
	got := narrowed(text(t, func(w io.Writer) error { return printText(w, p, Options{}) }))
	for _, want := range []string{"after 5,000 of 6,480 slices", "10,368 members", "so far", " 6,480 slices, one", "before any of 6,480 slices"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestWordsOfClaims(t *testing.T) {
	for name, c := range map[string]struct{ source, want, not string }{
		"in how many members": {`let d = any 0..3
at 0 A acquire ttl 10
at d A append "a"
explore "x" {
  expect always at 1 A accepted
}
`, "it is so in 1 of 4 members; as with d 0", "got: in"},
		"a line that is not there": {`maybe early at 0 A acquire ttl 10
at 1 A append "a"
explore "x" {
  expect always at 0 A granted
}
`, "as with no early", "early 0"},
		"nothing open": {`at 0 A acquire ttl 10
explore "x" {
  expect always at 0 A granted
}
`, "Nothing is open: there is one member.", "nothing there"},
		"what was there instead, in many cells": {`let d = 0
at 0 A acquire ttl 10
at d A append "a"
sweep "x" over d in 0..9 {
  expect unlocked-write iff d < 2
}
`, "got: the condition is true, but unlocked-write is 0; in 2 cells: d 0; d 1", " gives "},
		"another thing instead": {`let d = 0
at 0 A acquire ttl 10
at d A append "a"
sweep "x" over d in 0..30 {
  expect unlocked-write iff d < 2
}
`, "unlocked-write is 0; in 23 cells: d 0; d 1; it is so, although the condition is false with d 10", " gives "},
		"more cells than are listed": {`let d = 0
at 0 A acquire ttl 10
at d A append "a"
sweep "x" over d in 0..30 {
  expect unlocked-write
}
`, "and 5 more", "…"},
		"at another tick": {`let d = 0
at 0 A acquire ttl 10
at d A append "a"
sweep "x" over d in 1..2 {
  expect at 1 A accepted
}
`, "got: A is accepted at 2", "that is"},
	} {
		got := narrowed(transcript(t, studied(t, c.source), Options{}))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, got)
		}
		if strings.Contains(got, c.not) {
			t.Errorf("%s: %q in\n%s", name, c.not, got)
		}
	}
}
