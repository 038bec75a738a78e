package dsl

import (
	"strconv"

	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar: one line of a file. It takes more than the language allows wherever that lets the checker say something
// better than "unexpected": any word may stand for a verb, any suffix after any verb. Every choice is made on one token.

type (
	line struct {
		Step     *stepLine     `parser:"  @@"`
		After    *afterLine    `parser:"| @@"`
		Close    *closeLine    `parser:"| @@"`
		Expect   *expectLine   `parser:"| @@"`
		Let      *letLine      `parser:"| @@"`
		Setting  *settingLine  `parser:"| @@"`
		Run      *runLine      `parser:"| @@"`
		Sweep    *sweepLine    `parser:"| @@"`
		Explore  *exploreLine  `parser:"| @@"`
		Scenario *scenarioLine `parser:"| @@"`
		Where    *whereLine    `parser:"| @@"`
		Ties     *tiesLine     `parser:"| @@"`
		Unknown  *word         `parser:"| @@"`
	}

	scenarioLine struct {
		Title *quoted `parser:"'scenario' @@"` // scenario "…"
	}
	letLine struct {
		Name *word `parser:"'let' @@"` // let NAME = EXPR
		Expr *expr `parser:"'=' @@"`
	}
	settingLine struct {
		Name  *settingName  `parser:"@@"` // fencing on
		Value *settingValue `parser:"@@"`
	}
	settingName struct {
		Pos  lexer.Position
		Text string `parser:"@('servers'|'quorum'|'fencing'|'fence-at'|'leases'|'handback'|'tokens'|'validity'|'judge'|'lock-delay'|'reentrant'|'owner-check'|'initial'|'horizon')"`
	}
	settingValue struct {
		Pos  lexer.Position
		Text *quoted `parser:"  @@"`
		Word string  `parser:"| @('on'|'off'|'majority'|'none'|'caller-ttl')"` // other words parse as a name
		Expr *expr   `parser:"| @@"`
	}
	runLine struct {
		Name *quoted `parser:"'run' @@"` // run "…" {
		Open string  `parser:"@'{'"`
	}
	sweepLine struct {
		Name *quoted `parser:"'sweep' @@"` // sweep "…" over NAME in … by NAME in … {
		Axes []*axis `parser:"'over' @@ ('by' @@)*"`
		Open string  `parser:"@'{'"`
	}
	axis struct {
		Name  *word       `parser:"@@"` // NAME in ITEM, … [step K]
		Items []*axisItem `parser:"'in' @@ (',' @@)*"`
		Step  *expr       `parser:"('step' @@)?"`
	}
	axisItem struct {
		Word *settingWordItem `parser:"  @@"`
		Lo   *expr            `parser:"| @@"` // LO or LO..HI
		Hi   *expr            `parser:"('..' @@)?"`
	}
	settingWordItem struct {
		Pos  lexer.Position
		Text string `parser:"@('on'|'off'|'majority'|'none'|'caller-ttl')"`
	}
	exploreLine struct {
		Word *word   `parser:"(?= 'explore') @@"` // explore "…" {
		Name *quoted `parser:"@@"`
		Open string  `parser:"@'{'"`
	}
	whereLine struct {
		Word *word `parser:"(?= 'where') @@"` // where CONDITION
		Cond *expr `parser:"@@"`
	}
	tiesLine struct {
		Word *word  `parser:"(?= 'ties') @@"` // ties any
		Any  string `parser:"@'any'"`
	}
	closeLine struct {
		Pos  lexer.Position
		End  string `parser:"@'}'"` // } or } when WORD {
		When *word  `parser:"('when' @@"`
		Open string `parser:"@'{')?"`
	}

	stepLine struct {
		Maybe *maybe   `parser:"@@?"` // [maybe [NAME]] at T … or every K from T to T …
		At    *moment  `parser:"( 'at' @@"`
		Every *every   `parser:"| @@ )"`
		Net   *netPart `parser:"( @@"`
		Actor *actor   `parser:"| @@"`
		Doing *doing   `parser:"@@ )"`
	}
	maybe struct {
		Pos  lexer.Position
		Word string `parser:"@'maybe'"`
		Name string `parser:"@Ident?"`
	}
	every struct {
		K    *expr `parser:"'every' @@"` // every K from T to T
		From *expr `parser:"'from' @@"`
		To   *expr `parser:"'to' @@"`
	}
	afterLine struct {
		Plus  *sign  `parser:"(?= '+') @@"` // +N VERB …
		N     *expr  `parser:"@@"`
		Doing *doing `parser:"@@"`
	}
	actor struct {
		Resource *resourceWord `parser:"  @@"` // resource, s1 s3..s5, A
		Servers  []*servers    `parser:"| @@+"`
		Client   *word         `parser:"| @@"`
	}
	resourceWord struct {
		Pos  lexer.Position
		Word string `parser:"@'resource'"`
	}
	netPart struct {
		Verb     *netVerb      `parser:"@@"` // cut A from s1..s3, heal A
		Client   *word         `parser:"@@"`
		FromWord *fromWord     `parser:"( @@"`
		From     []*servers    `parser:"@@*"`
		Res      *resourceWord `parser:"@@?"`
		End      *ender        `parser:"@@?)?"`
	}
	netVerb struct {
		Pos  lexer.Position
		Text string `parser:"@('cut'|'heal')"`
	}
	fromWord struct {
		Pos  lexer.Position
		Text string `parser:"@'from'"`
	}
	// ender is a client after "from", which only the checker can explain.
	ender struct {
		Pos  lexer.Position
		Text string `parser:"@Ident"`
	}
	servers struct {
		Pos lexer.Position
		Any string      `parser:"@'any'?"` // [any] s3 or s3..s5
		Lo  *serverName `parser:"@@"`
		Hi  *serverName `parser:"('..' @@)?"`
	}
	serverName struct {
		Pos  lexer.Position
		Text string `parser:"@Server"`
	}

	doing struct {
		Verb  *word   `parser:"@@"` // VERB ITEM… [when WORD] [{]
		Items []*item `parser:"@@*"`
		When  *word   `parser:"('when' @@)?"`
		Open  *brace  `parser:"@@?"`
	}
	brace struct {
		Pos  lexer.Position
		Text string `parser:"@'{'"`
	}
	item struct {
		Pos      lexer.Position
		EndPos   lexer.Position
		Text     *quoted    `parser:"  @@"` // "A"
		TTL      *ttl       `parser:"| 'ttl' @@"`
		On       []*servers `parser:"| 'on' @@+"`
		Retry    *retry     `parser:"| 'retry' @@"`
		Watchdog *expr      `parser:"| 'watchdog' 'every' @@"`
		As       *quoted    `parser:"| 'as' @@"`
		Recreate string     `parser:"| @'recreate'"`
		If       *word      `parser:"| 'if' @@"` // if checked, if valid
		Guard    *guard     `parser:"| 'guard' @@"`
		Arrives  *message   `parser:"| 'arrives' @@"`
		Reply    *message   `parser:"| 'reply' @@"`
		For      *expr      `parser:"| 'for' @@"`
		Until    *moment    `parser:"| 'until' @@"`
		Stop     string     `parser:"| @'stop'"`
		Lose     string     `parser:"| @('empty'|'wiped')"`
		Jump     *jump      `parser:"| @@"`
		Unknown  string     `parser:"| @(Ident|Hyphen|Int|Server)"`
	}
	ttl struct {
		None string `parser:"  @'none'"`
		N    *expr  `parser:"| @@"`
	}
	retry struct {
		K     *expr   `parser:"'every' @@"` // every K [until T]
		Until *moment `parser:"('until' @@)?"`
	}
	guard struct {
		Before *moment `parser:"  'before' @@"` // before T, version, lock
		Word   *word   `parser:"| @@"`
	}
	message struct {
		Lost string     `parser:"( @('never'|'lost')"` // T or never [at s3], T or lost [from s3]
		When *moment    `parser:"| @@ )"`
		At   []*servers `parser:"( 'at' @@+"`
		From []*servers `parser:"| 'from' @@+ )?"`
	}
	jump struct {
		Plus *sign `parser:"( (?= '+') @@"` // +20, -5, any -3..3
		N    *expr `parser:"@@ | (?= '-')"`
		Neg  *expr `parser:"@@ | (?= 'any')"`
		Any  *expr `parser:"@@ )"`
	}
	moment struct {
		Pos    lexer.Position
		EndPos lexer.Position
		Plus   *sign `parser:"( (?= '+') @@ )?"` // T or +N
		Expr   *expr `parser:"@@"`
	}

	expectLine struct {
		Word  *word    `parser:"(?= 'expect') @@"` // expect [always] CLAIM [in N] [iff CONDITION]
		Quant *quant   `parser:"@@?"`
		Claim *claim   `parser:"@@"`
		In    *inPart  `parser:"@@?"`
		Iff   *iffPart `parser:"@@?"`
	}
	quant struct {
		Pos  lexer.Position
		Text string `parser:"@('always'|'never'|'sometimes')"`
	}
	inPart struct {
		Pos lexer.Position
		N   *expr `parser:"'in' @@"`
	}
	iffPart struct {
		Pos  lexer.Position
		Cond *expr `parser:"'iff' @@"`
	}
	claim struct {
		Final   *quoted  `parser:"  'final' @@"`
		At      *atClaim `parser:"| 'at' @@"`
		No      *word    `parser:"| 'no' @@"`
		Subject *subject `parser:"| @@"`
	}
	atClaim struct {
		T     *expr   `parser:"@@"` // T value "B", T WHO WHAT
		Value *quoted `parser:"( 'value' @@"`
		Who   *word   `parser:"| @@"`
		What  *word   `parser:"@@ )"`
	}
	subject struct {
		Name    *word `parser:"@@"` // A never granted, A blocked N, A token N, LAW [N]
		Never   *word `parser:"( 'never' @@"`
		Blocked *expr `parser:"| 'blocked' @@"`
		Token   *expr `parser:"| 'token' @@"`
		N       *expr `parser:"| @@ )?"`
	}

	// expr is a flat list of operands and operators; the checker gives it its precedence, which keeps the parse shallow.
	expr struct {
		First *term     `parser:"@@"`
		Rest  []*opTerm `parser:"@@*"`
	}
	opTerm struct {
		Pos  lexer.Position
		Op   string `parser:"@(Op|Logic)"`
		Term *term  `parser:"@@"`
	}
	term struct {
		Pos    lexer.Position
		EndPos lexer.Position
		Prefix []*sign  `parser:"@@*"` // - or not
		Int    *decimal `parser:"( @Int"`
		Name   string   `parser:"| @(Ident|Hyphen)"`
		Paren  *expr    `parser:"| '(' @@ ')'"`
		Call   *call    `parser:"| @@"`
		Any    *hole    `parser:"| @@ )"`
	}
	call struct {
		Fn   string  `parser:"@('min'|'max')"` // min(X, …)
		Args []*expr `parser:"'(' @@ (',' @@)* ')'"`
	}
	hole struct {
		Pos   lexer.Position
		Any   string      `parser:"@'any'"` // any LO..HI [step K], any X, …
		Items []*holeItem `parser:"@@ (',' @@)*"`
		Step  *bound      `parser:"('step' @@)?"`
	}
	holeItem struct {
		Lo *bound `parser:"@@"`
		Hi *bound `parser:"('..' @@)?"`
	}
	bound struct {
		Pos    lexer.Position
		EndPos lexer.Position
		Minus  *sign    `parser:"( (?= '-') @@ )?"`
		Int    *decimal `parser:"( @Int"`
		Name   string   `parser:"| @Ident )"`
	}

	// sign is a sign that belongs to what follows it: the minus of -1, the plus of +1, not.
	sign struct {
		Pos lexer.Position
		Op  string `parser:"@('-'|'+'|'not')"`
	}
	word struct {
		Pos  lexer.Position
		Text string `parser:"@(Ident|Keyword|Logic|Hyphen|Server)"`
	}
	quoted struct {
		Pos  lexer.Position
		Text string `parser:"@String"` // with its quotes
	}
)

// decimal is an integer; participle's own conversion would read 010 as eight.
type decimal struct {
	value    int64
	tooLarge bool
	size     int
}

// Capture implements participle.Capture.
func (d *decimal) Capture(values []string) error {
	n, err := strconv.ParseInt(values[0], 10, 64)
	d.value, d.tooLarge, d.size = n, err != nil, len(values[0])
	return nil
}
