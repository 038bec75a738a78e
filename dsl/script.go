package dsl

// Script is a checked file: every name in it is known, every word is the language's, and every statement has the shape
// that docs/language.md gives. Values are still expressions, since a run or a cell may override what they refer to.
type Script struct {
	File    string   // the name shown to people, "-" for standard input
	About   string   // the leading comment, without its "# ", lines joined by "\n"
	Title   string   // scenario "…", may be empty
	Body             // the top level
	Blocks  []*Block // run, sweep and explore blocks, in file order
	Clients []string // every client that acts, in the order of its first line
}

// Body is what the top level and every block may hold, each list in file order.
type Body struct {
	Settings []*Setting
	Lets     []*Let
	Steps    []*Step
	Expects  []*Expect
}

// BlockKind tells run, sweep and explore apart.
type BlockKind uint8

// The kinds of blocks.
const (
	RunBlock BlockKind = iota
	SweepBlock
	ExploreBlock
)

// String gives the language's word.
func (k BlockKind) String() string { return [...]string{"run", "sweep", "explore"}[k] }

// Block is a run, sweep or explore block.
type Block struct {
	Span Span // its first line, up to the brace
	Kind BlockKind
	Name string
	Body
	Axes  []*Axis // sweep: the first one varies slowest
	Ties  bool    // explore: "ties any"
	Where []Expr  // explore
}

// Axis is one "over NAME in …" or "by NAME in …" of a sweep.
type Axis struct {
	Span    Span
	Name    string // a let or a setting
	Setting bool
	Items   []AxisItem // in file order
	Step    Expr       // nil: 1; applies to ranges
}

// AxisItem is one entry of an axis: a value or an inclusive range "1..25".
type AxisItem struct {
	Span Span
	Word string // a setting's word such as "strict"; then Lo and Hi are nil
	Lo   Expr
	Hi   Expr // nil: the single value Lo
}

// Setting is one line such as "servers 5" or "fencing on".
type Setting struct {
	Span  Span
	Name  string
	Value SettingValue
}

// SettingValue is a word, a number or a text; exactly one of the three is meant, by which is set.
type SettingValue struct {
	Span Span
	Word string // "on", "majority", …
	Expr Expr   // a number
	Text string // only for "initial", when Word is "" and Expr is nil
}

// Let is "let NAME = EXPR".
type Let struct {
	Span Span
	Name string
	Expr Expr
}

// Expr is an integer expression or a condition.
type Expr interface {
	Span() Span
	expr()
}

// The expression nodes. A condition is an expression whose operators are comparisons and "and", "or", "not"; the
// checker keeps numbers and conditions apart.
type (
	// Num is a decimal literal.
	Num struct {
		Value int64
		At    Span
	}
	// Ref names a let or a numeric setting.
	Ref struct {
		Name    string
		Setting bool
		At      Span
	}
	// Unary is "-X" or "not X".
	Unary struct {
		Op string // "-", "not"
		X  Expr
		At Span
	}
	// Binary is "X Op Y"; Op is one of + - * / % == != < <= > >= and or.
	Binary struct {
		Op   string
		X, Y Expr
		At   Span
	}
	// Call is min(…) or max(…), with one argument or more.
	Call struct {
		Fn   string
		Args []Expr
		At   Span
	}
	// Any is a number that is left open.
	Any struct {
		Hole *Hole
		At   Span
	}
)

// Span gives the stretch of source that the node was read from.
func (n *Num) Span() Span { return n.At }

// Span gives the stretch of source that the node was read from.
func (n *Ref) Span() Span { return n.At }

// Span gives the stretch of source that the node was read from.
func (n *Unary) Span() Span { return n.At }

// Span gives the stretch of source that the node was read from.
func (n *Binary) Span() Span { return n.At }

// Span gives the stretch of source that the node was read from.
func (n *Call) Span() Span { return n.At }

// Span gives the stretch of source that the node was read from.
func (n *Any) Span() Span { return n.At }

func (*Num) expr()    {}
func (*Ref) expr()    {}
func (*Unary) expr()  {}
func (*Binary) expr() {}
func (*Call) expr()   {}
func (*Any) expr()    {}

// Time is a tick: absolute, or "+N" after something that the field's comment names.
type Time struct {
	Span Span
	Plus bool
	Expr Expr // nil in a Time that is not there
}

// WhenKind says how a step is scheduled.
type WhenKind uint8

// The ways a step is scheduled.
const (
	At    WhenKind = iota // at T
	Every                 // every K from T to T
	After                 // +N, in an outcome block
)

// When is the first part of a step's line.
type When struct {
	Kind WhenKind
	At   Expr // At: the tick; After: ticks after the outcome reached the client
	K    Expr // Every
	From Expr
	To   Expr
}

// Verb is what a step does, by the language's own word.
type Verb string

// Verbs of clients, servers, the resource and the network. Crash is both a client's and a server's; Clock likewise.
const (
	Acquire      Verb = "acquire"
	Renew        Verb = "renew"
	Release      Verb = "release"
	Read         Verb = "read"
	Append       Verb = "append"
	Write        Verb = "write"
	Check        Verb = "check"
	Notice       Verb = "notice"
	Pause        Verb = "pause"
	Crash        Verb = "crash"
	WatchdogStop Verb = "watchdog stop"
	Restart      Verb = "restart"
	Clock        Verb = "clock"
	Revoke       Verb = "revoke"
	Forget       Verb = "forget"
	Cut          Verb = "cut"
	Heal         Verb = "heal"
)

// ServerRange is "s3" (Lo == Hi), "s3..s5", or one server that is left open; then Lo and Hi are 0.
type ServerRange struct {
	Span   Span
	Lo, Hi int
	Hole   *Hole // "any s1..s5", with every server that follows in the list
}

// Actor is who a step is about. Exactly one of Client, Servers, Resource is set. For cut and heal it is the client.
type Actor struct {
	Span     Span
	Client   string
	Servers  []ServerRange
	Resource bool
}

// Step is one line of the schedule, or one line of an outcome block.
type Step struct {
	Span  Span // the whole line
	Maybe *Maybe
	When  When
	Actor Actor // in a block: the client of the enclosing step
	Verb  Verb

	TTL      *TTL          // acquire, renew
	On       []ServerRange // acquire: ask only these
	Retry    *Retry        // acquire
	Watchdog Expr          // acquire: nil if there is none
	As       string        // acquire: an owner id other than the client's name, "" for none
	Recreate bool          // renew
	Text     string        // append, write
	IfCheck  bool          // append, write: "if checked"
	IfValid  bool          // append, write: "if valid"
	Version  bool          // append, write: "guard version"
	Lock     bool          // append, write: "guard lock"
	Before   Time          // append, write: "guard before T"; +N is after the send
	PauseFor Expr          // pause for N
	Until    Time          // pause until T; +N is after the step
	Messages []Message     // arrives and reply, in file order; a later one overrides an earlier one for the servers it names
	ClockBy  Expr          // clock +20, clock -5: the signed jump
	ClockEnd bool          // clock stop
	Lose     string        // restart: "", "empty", "wiped"
	From     []ServerRange // cut, heal: which servers; empty with FromRes false: everything
	FromRes  bool          // cut, heal: the resource

	Outcomes []*Outcome // blocks, in file order
}

// TTL is "ttl N" or "ttl none".
type TTL struct {
	Span Span
	None bool
	N    Expr
}

// Retry is "retry every K [until T]"; +N in Until is after the first send.
type Retry struct {
	Span  Span
	K     Expr
	Until Time
}

// Message is one "arrives …" or "reply …" suffix.
type Message struct {
	Span    Span
	Reply   bool
	Lost    bool          // "arrives never", "reply lost"
	When    Time          // otherwise; +N is after the send
	Servers []ServerRange // "at s3", "from s1 s2"; empty: all
}

// Maybe is "maybe [NAME] at …".
type Maybe struct {
	Span Span
	Name string
	Hole *Hole
}

// HoleKind says what is left open.
type HoleKind uint8

// The kinds of holes.
const (
	NumberHole HoleKind = iota // any 0..30
	ServerHole                 // any s1..s5
	MaybeHole                  // maybe at …: 0 the line is not there, 1 it is
)

// Hole is a point of the schedule that the adversary chooses: once for each member, however often its line runs.
type Hole struct {
	Span    Span // "any 0..30 step 5", "any s1..s5", "maybe gone": what a choice is written in place of
	Kind    HoleKind
	Name    string        // of the let or setting that is nothing but this hole, or of the maybe; "": nothing outside can name it
	Items   []AxisItem    // NumberHole: plain numbers or names of lets, in file order
	Step    Expr          // NumberHole: nil for 1; applies to ranges
	Servers []ServerRange // ServerHole
	Line    int
	In      *Hole // the MaybeHole of the line that it stands in: it is not chosen if that line is not there
}

// Outcome is a block "{ … }" after a step: the steps that run when the step's outcome is one of Words.
type Outcome struct {
	Span  Span
	Words []string // resolved: a bare block has the verb's success word
	Steps []*Step
}

// ClaimKind says what an expect is about.
type ClaimKind uint8

// The kinds of claims.
const (
	ClaimFinal    ClaimKind = iota // final "A"
	ClaimValue                     // at T value "B"
	ClaimHolds                     // at T A holds, at T nobody holds
	ClaimBelieves                  // at T A believes, at T nobody believes
	ClaimOutcome                   // at T A rejected
	ClaimNever                     // B never granted
	ClaimBlocked                   // B blocked 5
	ClaimToken                     // A token 1
	ClaimGrants                    // grants 2
	ClaimWrites                    // writes 2
	ClaimIdle                      // idle 6
	ClaimLaw                       // stale-write 1, stale-write, no stale-write
	ClaimClean                     // clean
)

// Quantifier says how many members of an explore block a claim is about.
type Quantifier uint8

// The quantifiers; Bare means always in an explore block.
const (
	Bare Quantifier = iota
	Always
	NeverIn
	Sometimes
	InCount
)

// Expect is one claim.
type Expect struct {
	Span    Span
	Source  string // the line as the formatter writes it, without comment and indentation: `expect final "A"`
	Kind    ClaimKind
	At      Expr   // ClaimValue, ClaimHolds, ClaimBelieves, ClaimOutcome
	Client  string // "" for nobody, or where no client is named
	Text    string // ClaimFinal, ClaimValue
	Outcome string // ClaimOutcome, ClaimNever: an outcome word
	Law     string // ClaimLaw
	None    bool   // ClaimLaw: "no LAW"
	N       Expr   // the number claimed; nil in ClaimLaw: at least one
	Iff     Expr   // nil if there is none
	Quant   Quantifier
	In      Expr // InCount: the number of members
}
