package dsl

// The words of the language that other packages need as lists. Order is the order in which people see them.

// SettingWords lists, for each setting, the words it may be set to; a setting that takes a number or a text has
// "number" or "text" among them.
func SettingWords(name string) []string {
	for _, s := range settings {
		if s.name == name {
			return s.words
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
