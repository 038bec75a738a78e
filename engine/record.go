package engine

// Moment is a place in the order of a run: first by tick, then by the running number of the piece of work. Seq 0 is the
// start of the tick, when leases end, before any line has its turn.
type Moment struct {
	Tick Tick
	Seq  int32
}

// Before tells whether m comes earlier than o.
func (m Moment) Before(o Moment) bool {
	return m.Tick < o.Tick || m.Tick == o.Tick && m.Seq < o.Seq
}

// Never is the moment that does not come.
func Never() Moment { return Moment{Tick: Forever} }

// Ending says why an interval of the record ended.
type Ending uint8

// The endings of leases, promises and beliefs.
const (
	Open       Ending = iota // it never ended
	RanOut                   // leases: the server's clock passed its end; promises: start + ttl came
	ByRelease                // its client released
	ByHandback               // a failed attempt gave it back
	ByRevoke                 // forced unlock
	ByRestart                // the server came up without it
	ByTakeover               // another asker judged it over and took the lock
	ByOther                  // another client's unchecked release
	ByCrash                  // beliefs: the client crashed
	ByLost                   // beliefs: a renewal came back lost
	ByNo                     // beliefs: a check came back no
	ByRefusal                // beliefs: a write was refused by the fence or by guard lock
	ByNotice                 // beliefs: notice
)

// String gives the word used in JSON and transcripts.
func (e Ending) String() string {
	return [...]string{"", "expired", "release", "handback", "revoked", "forgotten", "taken over", "freed by another", "crash",
		"lost", "no", "refused", "notice"}[e]
}

// Lease is what a server's record says: the server counts it as live in [Start, End). It may be moved or destroyed by others.
type Lease struct {
	Server  int32
	Client  int32 // whose vote opened it
	Owner   int32
	Token   int64
	Attempt int32
	Promise int32
	Line    int32
	Start   Moment
	End     Moment // Never() if nothing ends it
	Ended   Ending
	// What an asker looks at who is its own judge of whether the lease is over.
	Stamp Tick   // the reading at which it is over: the server's clock, with judge caller the asker's; Forever for none
	Voted Tick   // the server's reading at its last vote or renewal; judge caller-ttl counts from it
	Gone  Moment // when the server forgot it; Never() if it still has it, living or over
}

// Promise is what a client may rely on: from the vote to vote+ttl in true ticks (judge caller: send+ttl), moved by its own
// renewals, cut by hand-back and by its own release; not by crashes, clocks or forced unlock (docs/laws.md).
type Promise struct {
	Server int32
	Client int32
	Token  int64
	Line   int32
	Start  Moment
	End    Moment
	Ended  Ending // Open, RanOut, ByRelease or ByHandback
}

// VoteKind is a server's answer to an acquire (or to a renew with recreate).
type VoteKind uint8

// The answers.
const (
	VoteNo      VoteKind = iota // somebody's lease lives there, or the server is closed by lock-delay
	VoteYes                     // a new lease
	VoteAgain                   // reentrant: the living lease of the same owner, moved
	VoteNothing                 // the server is down or the request never arrives: no answer
)

// Vote is one server's part in one attempt.
type Vote struct {
	Attempt  int32
	Server   int32
	Kind     VoteKind
	Holder   int32  // VoteNo: whose lease refused it, None for lock-delay
	Token    int64  // VoteYes, VoteAgain
	Lease    int32  // VoteYes, VoteAgain
	Applied  Moment // when the request landed; Never() if it did not
	Heard    Tick   // when the answer reached the client; Forever if it did not
	Lost     bool   // the answer was lost on its way, or never sent
	Returned bool   // handed back: the hand-back reached the server
}

// Attempt is one round of asking: an acquire, or one poll of its retries.
type Attempt struct {
	Client   int32
	Step     int32
	Trial    int32
	Line     int32
	Sent     Moment
	Decided  Moment // Never() if the run ended first
	Outcome  Outcome
	Token    int64
	Cast     Moment // when the vote that made the quorum was cast; Never() if none did
	Yes      int32  // votes cast for it, heard or not
	HeardYes int32  // votes it heard
	Again    bool   // its owner held the lock already (reentrant)
	Invalid  bool   // denied by the validity rule although a quorum was heard
}

// TrialEnd says how an acquire with its retries ended.
type TrialEnd uint8

// The ends of a trial.
const (
	TrialOpen    TrialEnd = iota // an answer was still under way at the end of the run
	TrialGranted                 // a grant was heard
	TrialDenied                  // no retry, and denied
	TrialUntil                   // its "until" came
	TrialHorizon                 // the horizon came: it would still be asking
	TrialCrash                   // the client crashed
)

// Trial is one firing of an acquire with all of its polls.
type Trial struct {
	Client int32
	Step   int32
	Line   int32
	First  Tick // the first send
	Last   Tick // the last send
	Polls  int32
	End    TrialEnd
	Ended  Moment
	Retry  bool
}

// Grant is an attempt that was granted, as its client heard it.
type Grant struct {
	Client  int32
	Attempt int32
	Token   int64
	Cast    Moment // when the quorum was cast
	Heard   Moment
	Again   bool // reentrant
	Line    int32
}

// Belief is a stretch in which a client believes that it holds the lock.
type Belief struct {
	Client int32
	Start  Moment
	End    Moment
	Ended  Ending
	Line   int32 // of the grant
}

// ReadOp is one read of the resource.
type ReadOp struct {
	Client  int32
	Sent    Moment
	Applied Moment // when the resource answered
	Heard   Tick   // Forever if it was not heard
	Value   int32
	Version int64
	Token   int64
	Line    int32
}

// Reason says why a write was refused or held back.
type Reason uint8

// The reasons.
const (
	ReasonNone      Reason = iota
	ReasonStale            // its token is lower than the highest the resource knows
	ReasonStrict           // fencing strict: its token is that of an accepted write
	ReasonVersion          // guard version
	ReasonLock             // guard lock
	ReasonBefore           // guard before
	ReasonUnchecked        // if checked: the last check did not say yes
	ReasonInvalid          // if valid: by its own clock the lease is over
)

// String gives the word used in JSON.
func (r Reason) String() string {
	return [...]string{"", "stale token", "token used", "version changed", "not the holder", "too late", "not checked", "lease over"}[r]
}

// WriteOp is one append or write that was sent.
type WriteOp struct {
	Client   int32
	Verb     Verb // Append or Write
	Sent     Moment
	Applied  Moment // when the resource decided; Never() if it never arrived
	Heard    Tick   // Forever if it was not heard
	Value    int32  // what it wrote, or would have
	Base     int64  // the version of the client's copy
	Version  int64  // the resource's version after it; 0 if refused
	Token    int64
	Highest  int64 // the highest token the resource knew when it landed
	Accepted bool
	Reason   Reason
	Line     int32
}

// PauseOp is a stretch [Start, End) in which a client executes nothing.
type PauseOp struct {
	Client int32
	Start  Moment
	End    Tick
	Line   int32
}

// FaultKind is what broke, or was mended, in the world.
type FaultKind uint8

// The kinds of faults.
const (
	FaultServerCrash FaultKind = iota
	FaultClientCrash
	FaultClock
	FaultClockStop
	FaultRevoke
	FaultForget
	FaultCut
)

// String gives the word used in JSON.
func (k FaultKind) String() string {
	return [...]string{"crash", "crash", "clock", "clock-stop", "revoke", "forget", "cut"}[k]
}

// Fault is one fault. Client or Server says who; for a cut both are set, Server None meaning the resource.
type Fault struct {
	Kind    FaultKind
	Client  int32
	Server  int32
	Start   Moment
	End     Moment  // crash: the restart; cut: the heal; else Start
	Restart Restart // server crash: how it came up
	By      Tick    // clock: the jump
	Line    int32
}

// Event is one thing that happened, in order: a line of the transcript.
type Event struct {
	At      Moment // when it happened
	Verb    Verb
	Outcome Outcome
	Client  int32 // None: servers or the resource
	Step    int32
	Line    int32
	Sent    Tick
	Heard   Tick // Forever if the answer was not heard
	Token   int64
	// Index is the entry of the list that the verb belongs to: attempts for acquire, reads, writes, pauses; faults for the
	// world's verbs; asks for renew, release and check; None otherwise.
	Index  int32
	Reason Reason
	// Background is set for a watchdog's renewals.
	Background bool
}

// Ask is one round of renew, release or check: how many servers did as asked.
type Ask struct {
	Client  int32
	Verb    Verb
	Line    int32
	Sent    Moment
	Decided Moment
	Outcome Outcome
	Asked   int32
	Yes     int32 // servers that did as asked
	Heard   int32 // positive answers heard
	Token   int64 // renew with recreate: the new token, else 0
}

// ValueNode is a value of the resource as a chain: Prev (None: nothing) plus the text Text.
type ValueNode struct {
	Prev int32
	Text string
}

// LimitKind says which of the engine's limits a run reached.
type LimitKind uint8

// The limits; NoLimit is the ordinary end of a run.
const (
	NoLimit LimitKind = iota
	LimitRequests
	LimitEvents
	LimitTicks
	LimitValue
)

// Record is everything that happened in a run, in order, by index instead of by name. It is what the laws are judged on
// and what a transcript is made from; it holds no pointer into the engine's live state.
type Record struct {
	Program  *Program
	Events   []Event
	Attempts []Attempt
	Trials   []Trial
	Votes    []Vote
	Leases   []Lease
	Promises []Promise
	Grants   []Grant
	Beliefs  []Belief
	Reads    []ReadOp
	Writes   []WriteOp
	Pauses   []PauseOp
	Faults   []Fault
	Asks     []Ask
	Values   []ValueNode
	Tokens   []int64 // by client: its last token, 0 for none
	Final    int32   // into Values
	Last     Tick    // the last tick at which something happened
	Limit    LimitKind
}
