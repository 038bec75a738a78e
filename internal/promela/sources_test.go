package promela

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"dlock/audit"
	"dlock/dsl"
	"dlock/internal/study"
)

// sources are families as people write them. Each has something that the others have not.
var sources = []struct{ name, text string }{
	{"a pause, an arrival and the re-check", `
let stall = any 0..14
let b = any 0..14
at 0 A acquire ttl 10
at 1 A read
at 2 A check
at 3 A pause for stall
at 3 + stall A append "A" if checked
at 4 + stall A release
at b B acquire ttl 10 retry every 1 {
  +1 read
  +2 append "B"
  +3 release
}
explore "it" {
  ties any
  fencing on
  expect sometimes lost-update
}
`},
	{"one crash that forgets, anywhere", `
maybe at any 0..6 any s1..s3 crash
maybe back at 7 s1..s3 restart empty
servers 3
at 0 A acquire ttl 10 {
  +3 append "A"
  +9 release
}
at 2 B acquire ttl any 5, 10 retry every 3 until 20 {
  +1 append "B"
  +2 release
}
explore "it" {
  ties any
  expect sometimes overlap
}
`},
	{"two quorums of one, and who says so", `
servers 3
quorum 1
let late = any 0..9
at 0 A acquire ttl 8 on s1 {
  +late append "A" guard lock {
    +1 append "A2"
  } when rejected {
    +0 notice
    +1 acquire ttl 3 retry every 2 {
      +1 write "A3" guard before 12
    }
  }
}
at late B acquire ttl 8 on s2..s3 {
  +1 read
  +1 append "B"
  +2 crash
} when denied {
  +1 append "b" if valid
}
explore "it" {
  ties any
  fencing strict
  fence-at read
  expect sometimes double-hold
}
`},
	{"a lock that never ends, and guard version", `
leases off
let rest = any 0..5
at 3 A acquire ttl 2 retry every 2 {
  +0 read
  +1 pause for any 0..4
  +1 append "A" guard version
  +2 release
}
at 0 B acquire ttl none
at rest B read
at rest + 1 B append "B"
at rest + 4 B release
at 12 B append "B again"
explore "it" {
  expect sometimes unlocked-write
}
`},
	{"numbers in one log, votes that stay", `
servers 4
tokens ordered
handback off
fencing on
fence-at grant
let go = any 0..8
at go A acquire ttl 6 retry every 1 on s1..s3 {
  +1 append "A"
  +2 release
}
at 2 B acquire ttl 4 retry every 2 on s2..s4 {
  +2 append "B"
  +5 append "B again"
}
at 5 s2 crash
at 7 s2 restart wiped
at 8 resource forget
maybe at 4 s3 revoke
explore "it" {
  ties any
  expect sometimes unlocked-write
}
`},
	{"the last try is at the horizon", `
horizon 6
let b = any 0, 3
at 0 A acquire ttl 6
at b B acquire ttl 3 retry every 3 {
  +0 append "B"
} when denied {
  +0 append "b"
}
explore "it" {
  ties any
  expect never unlocked-write
}
`},
	{"a pause carries tries past their end", `
let hold = any 1..4
at 0 A acquire ttl hold {
  +0 read
}
at 0 B acquire ttl 3 retry every 2 until 5 {
  +0 append "B"
} when denied {
  +0 append "b"
}
at 1 B pause for any 0..7
explore "it" {
  expect sometimes unlocked-write
  expect sometimes no unlocked-write
}
`},
	{"a pause carries tries past the horizon", `
horizon 5
let hold = any 1..4
at 0 A acquire ttl hold {
  +0 read
}
at 0 B acquire ttl 3 retry every 2 {
  +0 append "B"
} when denied {
  +0 append "b"
}
at 1 B pause for any 0..7
explore "it" {
  expect sometimes unlocked-write
  expect sometimes no unlocked-write
}
`},
	{"a pause keeps the order of what it puts off", `
let b = any 3..7
at 0 A acquire ttl 30 {
  +6 append "A"
  +5 read
  +3 pause for 5
  +4 check
}
at b B write "B"
explore "it" {
  ties any
  expect never lost-update
}
`},
	{"a hole that lines of several blocks wait for", `
let gap = any 0..5
at 0 A acquire ttl 4 retry every 1 {
  +gap read
  +1 + gap append "A" {
    +gap append "A again"
  } when rejected {
    +gap notice
  }
}
at 3 B acquire ttl 4 retry every 2 {
  +gap read
  +1 append "B"
}
explore "it" {
  ties any
  fencing on
  expect sometimes unlocked-write
}
`},
	{"a crash inside a pause takes effect at once", `
let b = any 5..7
at 0 A acquire ttl 5 {
  +1 pause for 8
  +3 crash
}
at b B acquire ttl 5
explore "it" {
  ties any
  expect never double-belief
}
`},
	{"a hole keeps its value for a block that comes later", `
let gap = any 0..4
at 0 A acquire ttl 20 {
  +gap append "A" {
    +gap append "A again"
  }
}
at 6 B write "B"
explore "it" {
  expect sometimes lost-update
}
`},
	{"who hears no believes no longer", `
let b = any 7..9
at 0 A acquire ttl 4 {
  +6 check
}
at b B acquire ttl 4
explore "it" {
  ties any
  expect never double-belief
}
`},
	{"reads teach the fence where grants do", `
let late = any 8..9
fencing on
fence-at grant
at 0 A acquire ttl 4
at 5 B acquire ttl 9
at 6 resource forget
at 7 B read
at late A write "A"
at 10 B append "B"
explore "it" {
  ties any
  expect never unlocked-write
}
`},
	{"a deadline is too late itself", `
let t = any 5..6
at t A write "A" guard before 5
explore "it" {
  ties any
  expect never unlocked-write
}
`},
	{"anybody may release", `
owner-check off
let c = any 2..6
at 0 A acquire ttl 20
at 3 B release
at c C acquire ttl 5
explore "it" {
  ties any
  expect sometimes overlap
}
`},
}

func TestSpinConfirmsSources(t *testing.T) {
	need(t)
	for _, src := range sources {
		script, ds := dsl.Parse("it.dlk", []byte(src.text))
		if ds.HasErrors() {
			t.Fatalf("%s: %v", src.name, ds)
		}
		st, ds := study.Open(script, nil)
		if st == nil {
			t.Fatalf("%s: %v", src.name, ds)
		}
		agree(t, src.name, spin(t, ofPrograms(src.name, st.Programs("it"))), explored(t, st, "it"))
	}
}

// TestSpinConfirmsScenarios does the same for every explore block of the repository's own scenarios that a model can be
// written of.
func TestSpinConfirmsScenarios(t *testing.T) {
	need(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "scenarios", "explore", "*.dlk"))
	if err != nil {
		t.Fatal(err)
	}
	confirmed := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, _ := dsl.Parse(file, text)
		st, _ := study.Open(script, nil)
		if st == nil {
			t.Fatalf("%s has errors", file)
		}
		for _, name := range st.Families() {
			f := ofPrograms(name, st.Programs(name))
			var un *UnsupportedError
			if err := Write(io.Discard, f); errors.As(err, &un) {
				continue
			}
			confirmed++
			agree(t, filepath.Base(file)+", "+name, spin(t, f), explored(t, st, name))
		}
	}
	if confirmed < 8 {
		t.Errorf("%d blocks could be written as models; it should be most of them", confirmed)
	}
}

// explored gives the laws that some member of an explore block breaks.
func explored(t *testing.T, st *study.Study, name string) map[audit.Law]bool {
	t.Helper()
	done, err := st.Do(t.Context(), study.Options{Jobs: 1, Runs: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	e := done.Items[0].Explore
	if e.Failed() || e.Inconclusive() {
		t.Errorf("%s: a claim of its own fails or is vacuous: %+v", name, e.Claims)
	}
	broken := map[audit.Law]bool{}
	for _, l := range Laws() {
		broken[l] = e.Broken[l].Sign() > 0
	}
	return broken
}
