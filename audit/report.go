// Package audit judges a finished run: which laws it broke, who held the lock and when, and where the fault lies.
// It reads the record and nothing else; it shares no code with the engine rules that it judges, and it prints nothing.
package audit

import "dlock/engine"

// Law is one of the properties that a run is judged by. docs/laws.md defines each one.
type Law uint8

// The laws, in the order in which people see them.
const (
	Overlap Law = iota
	DoubleHold
	DoubleBelief
	StaleWrite
	LostUpdate
	UnlockedWrite
	TokenRegress
	RefusedHolder
	Starvation
	Deadlock
	Orphan
	NumLaws
)

// String gives the word of the language.
func (l Law) String() string {
	return [...]string{"overlap", "double-hold", "double-belief", "stale-write", "lost-update", "unlocked-write",
		"token-regress", "refused-holder", "starvation", "deadlock", "orphan"}[l]
}

// Kind groups the laws by what they protect.
type Kind uint8

// The kinds of laws.
const (
	Safety Kind = iota
	BeliefKind
	TokenSafety
	Liveness
)

// Kind tells what the law protects.
func (l Law) Kind() Kind {
	switch l {
	case DoubleBelief:
		return BeliefKind
	case TokenRegress, RefusedHolder:
		return TokenSafety
	case Starvation, Deadlock, Orphan:
		return Liveness
	default:
		return Safety
	}
}

// MaxFindings is how many findings are kept for each law; counts are exact beyond it. A list that long tells a reader
// nothing new, and the pairs of overlapping leases can be the square of the leases.
const MaxFindings = 100

// Finding is one breach of a law. Fields that a law has no use for are zero, or engine.None for clients, servers and lines.
type Finding struct {
	Law     Law
	T       engine.Tick // when it happened, or began
	End     engine.Tick // where it ended, for overlap, double-hold and double-belief: the intersection is [T, End)
	Line    int32       // the source line of the step that completed it
	Client  int32       // who did it
	Other   int32       // the other client of a pair, or whose write vanished under Client's
	Server  int32       // overlap
	Token   int64       // the token of the write, grant or promise
	Applied int64       // the higher token that was there before (stale-write, token-regress, refused-holder)
	Index   int32       // into Record.Writes for stale-write, unlocked-write, refused-holder and the vanished write of lost-update; Promises for overlap (the later one); Grants for token-regress; Trials for starvation and deadlock; Attempts for orphan
	By      int32       // lost-update: the write that made it vanish; overlap: the earlier promise; stale-write: the write with the higher token
}

// Interval is a stretch [Start, End) of one client's, End being engine.Forever if it has none.
type Interval struct {
	Client int32
	Start  engine.Tick
	End    engine.Tick
}

// Fault says where the fault of a run lies.
type Fault uint8

// The places. FaultNone: no law of safety is broken.
const (
	FaultNone     Fault = iota
	FaultLock           // the lock itself let two clients hold it: overlap or double-hold
	FaultTokens         // the lock handed out tokens that do not rise, and that is what did the harm
	FaultResource       // the lock is innocent; the resource took a write that it had no way to refuse
	FaultSnapshot       // the lock is innocent and no write was stale: a read-modify-write worked on an old copy
	FaultBypass         // a write was accepted without the lock and did no harm: nobody was there to be hurt
)

// Report is what the audit found in one run.
type Report struct {
	Counts   [NumLaws]int64
	Findings []Finding // by law, then in order of time
	// Holders are the stretches in which a client's leases lived, by the servers' own clocks, on a quorum of servers that
	// were up: by start, then client. Stretches that are empty (no whole tick) are left out.
	Holders []Interval
	// Blocked has, for each client, the ticks from its first try to its first grant; -1 if it never asked or never got it.
	Blocked []engine.Tick
	Idle    engine.Tick
	Grants  int64
	Writes  int64 // accepted
	Fault   Fault
}

// Clean tells whether no law of safety is broken: overlap, double-hold, stale-write, lost-update and unlocked-write.
func (r *Report) Clean() bool {
	return r.Counts[Overlap] == 0 && r.Counts[DoubleHold] == 0 && r.Counts[StaleWrite] == 0 &&
		r.Counts[LostUpdate] == 0 && r.Counts[UnlockedWrite] == 0
}
