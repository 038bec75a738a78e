package dsl

import (
	"slices"
	"strings"
)

// The words of the language that other packages need as lists. Order is the order in which people see them.

// SettingWords lists, for each setting, the words it may be set to; a setting that takes a number or a text has
// "number" or "text" among them.
func SettingWords(name string) []string {
	for _, s := range settings {
		if s.name == name {
			return slices.Clone(s.words)
		}
	}
	return nil
}

// SettingNames lists every setting in the order of docs/language.md.
func SettingNames() []string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.name
	}
	return names
}

var settings = []struct {
	name  string
	words []string
}{
	{"servers", []string{"number"}},
	{"quorum", []string{"majority", "number"}},
	{"fencing", []string{"off", "on", "strict"}},
	{"fence-at", []string{"write", "read", "grant"}},
	{"leases", []string{"on", "off"}},
	{"handback", []string{"all", "confirmed", "off"}},
	{"tokens", []string{"counters", "ordered"}},
	{"validity", []string{"off", "on", "number"}},
	{"judge", []string{"server", "caller", "caller-ttl"}},
	{"lock-delay", []string{"number"}},
	{"reentrant", []string{"off", "on"}},
	{"owner-check", []string{"on", "off"}},
	{"initial", []string{"text"}},
	{"horizon", []string{"number"}},
}

// OutcomeWords lists every outcome word.
func OutcomeWords() []string {
	return []string{"granted", "denied", "renewed", "lost", "released", "expired", "accepted", "rejected", "yes", "no", "unheard", "skipped", "heard"}
}

// LawWords lists every law in the order of docs/language.md.
func LawWords() []string {
	return []string{"overlap", "double-hold", "double-belief", "stale-write", "lost-update", "unlocked-write",
		"token-regress", "refused-holder", "starvation", "deadlock", "orphan"}
}

// settingWord tells whether word is one of the setting's own words.
func settingWord(setting, word string) bool {
	return word != "number" && word != "text" && slices.Contains(SettingWords(setting), word)
}

// takesNumber tells whether a setting may be a number.
func takesNumber(setting string) bool { return slices.Contains(SettingWords(setting), "number") }

// numericSetting tells whether a setting always has a number, so that a condition can compare it.
func numericSetting(name string) bool {
	switch name {
	case "servers", "quorum", "lock-delay", "horizon":
		return true
	}
	return false
}

// isKeyword tells whether w can start or follow an operand. Such a word is never the name of a let, and because the
// lexer says so, no expression can swallow the word that ends it.
func isKeyword(w string) bool {
	switch w {
	case "any", "min", "max", "not", "and", "or", "none", "nobody", "on", "off", "in", "iff", "step", "by", "to", "until", "every",
		"when", "at", "from", "over", "never", "lost", "stop", "majority", "retry", "watchdog", "as", "recreate", "if", "guard",
		"arrives", "reply", "value", "resource":
		return true
	}
	return false
}

// hyphenated gives the word with a hyphen that text starts with, or "". Only these words hold a hyphen: in a name it is
// a subtraction.
func hyphenated(text string) string {
	for _, w := range hyphenWords() {
		if strings.HasPrefix(text, w) && (len(text) == len(w) || !nameByte(text[len(w)])) {
			return w
		}
	}
	return ""
}

func hyphenWords() []string {
	return []string{"fence-at", "lock-delay", "owner-check", "caller-ttl", "double-hold", "double-belief", "stale-write",
		"lost-update", "unlocked-write", "token-regress", "refused-holder"}
}

func isLaw(w string) bool { return slices.Contains(LawWords(), w) }

// isMeasure tells whether a claim may be about w without naming a client.
func isMeasure(w string) bool { return w == "grants" || w == "writes" || w == "idle" || w == "clean" }

// statementWords can start a line, apart from the settings.
func statementWords() []string {
	return []string{"scenario", "let", "at", "every", "maybe", "run", "sweep", "explore", "expect", "where", "ties"}
}

// suffixWords can stand after a verb.
func suffixWords() []string {
	return []string{"ttl", "on", "retry", "watchdog", "as", "recreate", "if", "guard", "arrives", "reply", "for", "until", "from", "stop", "empty", "wiped"}
}

// verbWords can follow an actor.
func verbWords() []string {
	return []string{"acquire", "renew", "release", "read", "append", "write", "check", "notice", "pause", "crash", "watchdog",
		"restart", "clock", "revoke", "forget"}
}

// isLanguageWord tells whether w is a word of the language, which no client may be called.
func isLanguageWord(w string) bool {
	if isKeyword(w) {
		return true
	}
	for _, list := range [...][]string{SettingNames(), OutcomeWords(), LawWords(), statementWords(), suffixWords(), verbWords(),
		{"cut", "heal", "checked", "valid", "version", "lock", "before", "final", "holds", "believes", "blocked", "token", "grants",
			"writes", "idle", "clean", "always", "sometimes"}} {
		if slices.Contains(list, w) {
			return true
		}
	}
	for _, s := range settings {
		if slices.Contains(s.words, w) && w != "number" && w != "text" {
			return true
		}
	}
	return false
}
