package engine

import "math"

// Tick is a point in time, counted from 0. All durations are in ticks too.
type Tick int64

const (
	// Forever is a tick that never comes: the end of a lease without end, an answer that is never heard.
	Forever Tick = math.MaxInt64
	// None marks an index field that points at nothing.
	None int32 = -1
)

// Fencing is the resource's token check on writes (study guide 5.3, 7.3).
type Fencing uint8

// The fencing settings.
const (
	FencingOff Fencing = iota
	FencingOn
	FencingStrict
)

// FenceAt is the moment at which the resource learns a token.
type FenceAt uint8

// The moments at which the fence moves; each later one includes those before it.
const (
	FenceAtWrite FenceAt = iota
	FenceAtRead
	FenceAtGrant
)

// Handback says which votes a failed attempt gives back.
type Handback uint8

// The hand-back settings.
const (
	HandbackAll Handback = iota
	HandbackConfirmed
	HandbackOff
)

// Tokens says who numbers the grants.
type Tokens uint8

// The token settings.
const (
	TokensCounters Tokens = iota
	TokensOrdered
)

// Judge says by whose clock a lease is over.
type Judge uint8

// The judge settings.
const (
	JudgeServer Judge = iota
	JudgeCaller
	JudgeCallerTTL
)

// Settings is the world's configuration, all defaults applied.
type Settings struct {
	Servers    int
	Quorum     int
	Fencing    Fencing
	FenceAt    FenceAt
	Leases     bool
	Handback   Handback
	Tokens     Tokens
	Validity   bool
	Margin     Tick // with Validity
	Judge      Judge
	LockDelay  Tick
	Reentrant  bool
	OwnerCheck bool
	Initial    string
	Horizon    Tick // the last tick at which a retry or a watchdog asks
}

// Verb is what a step does.
type Verb uint8

// The verbs of clients, then those of servers, resource and network.
const (
	Acquire Verb = iota
	Renew
	Release
	Read
	Append
	Write
	Check
	Notice
	Pause
	Crash
	WatchdogStop
	ClientClock
	ServerCrash
	ServerRestart
	ServerClock
	ServerRevoke
	ResourceForget
	Cut
	Heal
)

// String gives the word of the language.
func (v Verb) String() string {
	return [...]string{"acquire", "renew", "release", "read", "append", "write", "check", "notice", "pause", "crash",
		"watchdog stop", "clock", "crash", "restart", "clock", "revoke", "forget", "cut", "heal"}[v]
}

// Outcome is what came of a step.
type Outcome uint8

// The outcomes. Sent and Waiting are steps on the way: a message under way, a retry that was refused and goes on.
// Done is the outcome of a step that cannot fail.
const (
	Done Outcome = iota
	Sent
	Waiting
	Granted
	Denied
	Renewed
	Lost
	Released
	Expired
	Accepted
	Rejected
	Yes
	No
	Unheard
	Skipped
	HeardRead // a read's answer was heard
	NumOutcomes
)

// String gives the word of the language; Done is the empty word.
func (o Outcome) String() string {
	return [...]string{"", "sent", "waiting", "granted", "denied", "renewed", "lost", "released", "expired", "accepted",
		"rejected", "yes", "no", "unheard", "skipped", "heard"}[o]
}

// Span is the stretch [Lo, Hi) of one of the program's flat lists.
type Span struct{ Lo, Hi int32 }

// Len is the number of entries.
func (s Span) Len() int { return int(s.Hi - s.Lo) }

// Cond is what the client looks at before it sends a write.
type Cond uint8

// The client-side conditions.
const (
	CondNone Cond = iota
	CondChecked
	CondValid
)

// Guard is a set of what the resource looks at when a write lands.
type Guard uint8

// The resource-side guards.
const (
	GuardVersion Guard = 1 << iota
	GuardLock
	GuardBefore
)

// Restart says what a server that comes up again has lost.
type Restart uint8

// The kinds of restart.
const (
	RestartKept  Restart = iota // nothing
	RestartEmpty                // its lease
	RestartWiped                // its lease and its token counter
)

// Repeat says how a step is scheduled.
type Repeat uint8

// A root step fires once or every K ticks; a block step fires a number of ticks after an outcome.
const (
	Once Repeat = iota
	Every
	AfterOutcome
)

// Message overrides when a request lands or when its answer is heard, at some servers.
type Message struct {
	Servers Span // into Program.ServerIDs; empty: every server (or the resource)
	Reply   bool
	Lost    bool
	Plus    bool // At counts from the send
	At      Tick
}

// Step is one line of the schedule with every value computed. Which fields are used depends on Verb.
type Step struct {
	Line   int32
	Repeat Repeat
	Verb   Verb
	Client int32 // None for server and resource steps
	At     Tick  // Once: the tick; Every: the first tick; AfterOutcome: the offset
	K      Tick  // Every: the distance
	Last   Tick  // Every: no firing after it

	TTL        Tick // Forever for "ttl none"
	Servers    Span // into ServerIDs: acquire: asked (empty: all); server verbs: who; cut, heal: from whom
	Resource   bool // cut, heal: the resource too
	Retry      Tick // 0: none
	RetryUntil Tick // Forever: to the horizon
	RetryPlus  bool // RetryUntil counts from the first send
	Watchdog   Tick // 0: none
	Owner      int32
	Recreate   bool
	Text       int32 // into Texts
	If         Cond
	Guards     Guard
	Before     Tick
	BeforePlus bool
	PauseFor   Tick
	PauseUntil Tick // used when PauseFor is None
	UntilPlus  bool
	Messages   Span // into Messages
	ClockBy    Tick
	ClockStop  bool
	Restart    Restart
	Blocks     Span // into Blocks

	// Hole is 1 plus the hole that At waits for, 0 for none: At is bound at the hole's first value.
	Hole int32
}

// Hole is a number that the adversary chooses as late as it can: N values, By ticks apart.
type Hole struct {
	N  int32
	By Tick
}

// Block is the steps that run when their step's outcome is in On (bit 1<<Outcome).
type Block struct {
	On    uint32
	Steps Span // into Steps
}

// Program is a schedule with all values known: what the engine runs. Its lists are flat so that one can be refilled for
// the next cell of a sweep without allocating.
type Program struct {
	Settings  Settings
	Clients   []string // names; everything else refers to clients by index
	Owners    []string // owner ids; the first len(Clients) are the clients' own names
	Texts     []string // literals of append and write
	Roots     []int32  // Steps that are scheduled by themselves, in file order
	Steps     []Step
	Blocks    []Block
	Messages  []Message
	ServerIDs []int32 // server indices, 0 is s1

	// What is left to an adversary; all empty in an ordinary run.
	Holes []Hole
	Ties  bool // who goes first within a tick is open
}
