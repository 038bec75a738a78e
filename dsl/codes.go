package dsl

// The codes of diagnostics. D001 to D099 are errors of the front end, D100 to D199 its warnings; D200 to D299 belong to
// dsl/compile, which finds what depends on values. Codes explains each of them.
const (
	CodeFileTooLarge      = "D001"
	CodeTooManyStatements = "D002"
	CodeLineTooLong       = "D003"
	CodeNestingTooDeep    = "D004"
	CodeTooManyBlocks     = "D005"
	CodeTooManyClients    = "D006"
	CodeNameTooLong       = "D007"
	CodeTextTooLong       = "D008"

	CodeNotUTF8            = "D010"
	CodeOddCharacter       = "D011"
	CodeUnterminatedString = "D012"
	CodeBadEscape          = "D013"
	CodeNumberTooLarge     = "D014"

	CodeSyntax        = "D020"
	CodeUnknownWord   = "D021"
	CodeStrayBrace    = "D022"
	CodeUnclosedBlock = "D023"
	CodeMisplaced     = "D024"
	CodeNestedBlocks  = "D025"
	CodeNeedsPlus     = "D026"
	CodeStrayPlus     = "D027"

	CodeReservedName = "D030"
	CodeDuplicate    = "D031"
	CodeEmptyName    = "D033"

	CodeSettingValue = "D040"
	CodeUnknownName  = "D041"
	CodeLetCycle     = "D042"
	CodeNotANumber   = "D043"
	CodeSettingRef   = "D044"

	CodeUnknownVerb     = "D050"
	CodeWrongActor      = "D051"
	CodeMissingPart     = "D052"
	CodeUnknownSuffix   = "D053"
	CodeMisfitSuffix    = "D054"
	CodeRepeatedSuffix  = "D055"
	CodeRetryMessage    = "D056"
	CodeMessageServers  = "D057"
	CodeBadServer       = "D058"
	CodeNoOutcomes      = "D060"
	CodeWrongOutcome    = "D061"
	CodeRepeatedOutcome = "D062"

	CodeUnknownClaim  = "D070"
	CodeUnknownClient = "D071"
	CodeOutsideSweep  = "D072"

	CodeHolePlace      = "D081"
	CodeOutsideExplore = "D082"

	CodeUnusedLet      = "D100"
	CodeNoEffect       = "D101"
	CodeUnlockedWriter = "D102"
	CodeAssumesGrant   = "D103"

	CodeDivisionByZero = "D200"
	CodeOverflow       = "D201"
	CodeStepNumber     = "D202"
	CodeSettingRange   = "D203"
	CodeServerBeyond   = "D204"
	CodeInsidePause    = "D205"
	CodePauseEnd       = "D206"
	CodeMessageOrder   = "D207"
	CodeEmptyEvery     = "D208"
	CodeLimit          = "D209"
	CodeOverride       = "D210"
	CodeAxis           = "D212"
	CodeZeroTTL        = "D213"
	CodeQuorumRange    = "D214"
	CodeOpenHole       = "D215"
	CodeHoleValues     = "D216"
)

// CodePage explains one code: what is wrong, why the rule exists, a wrong and a right example.
type CodePage struct {
	Code  string
	Title string
	Text  string // Markdown; examples are fenced blocks named dlk
}

// CodePageOf gives the page of a code.
func CodePageOf(code string) (CodePage, bool) {
	for _, p := range Codes() {
		if p.Code == code {
			return p, true
		}
	}
	return CodePage{}, false
}
