package dsl

import "slices"

// actors is a set of kinds of actors.
type actors uint8

const (
	byClient actors = 1 << iota
	byServer
	byResource
)

// verbRule says who may do a verb, what may come of it and which suffixes it takes.
type verbRule struct {
	verb     Verb
	by       actors
	outcomes []string // success first; none: it cannot fail and takes no block
	suffixes []string // by the name that item.kind gives them
	needs    []string // one of these
	needHint string
}

const (
	partText    = "text"
	partJump    = "jump"
	partStop    = "stop"
	partLose    = "lose"
	partArrives = "arrives"
	partReply   = "reply"
	partEnd     = "end" // of a pause, either way
)

var verbRules = [...]verbRule{
	{verb: Acquire, by: byClient, outcomes: []string{"granted", "denied"},
		suffixes: []string{"ttl", "on", "retry", "watchdog", "as", partArrives, partReply},
		needs:    []string{"ttl"}, needHint: "write `acquire ttl 10`; `ttl none` never ends"},
	{verb: Renew, by: byClient, outcomes: []string{"renewed", "lost", "unheard"},
		suffixes: []string{"ttl", "recreate", partArrives, partReply},
		needs:    []string{"ttl"}, needHint: "write `renew ttl 10`"},
	{verb: Release, by: byClient, outcomes: []string{"released", "expired", "unheard"}, suffixes: []string{partArrives, partReply}},
	{verb: Read, by: byClient, outcomes: []string{"heard", "unheard"}, suffixes: []string{partArrives, partReply}},
	{verb: Append, by: byClient, outcomes: []string{"accepted", "rejected", "unheard"},
		suffixes: []string{partText, "if", "guard", partArrives, partReply},
		needs:    []string{partText}, needHint: "write what is appended in quotes: `append \"A\"`"},
	{verb: Write, by: byClient, outcomes: []string{"accepted", "rejected", "unheard"},
		suffixes: []string{partText, "if", "guard", partArrives, partReply},
		needs:    []string{partText}, needHint: "write what is written in quotes: `write \"x\"`"},
	{verb: Check, by: byClient, outcomes: []string{"yes", "no", "unheard"}, suffixes: []string{partArrives, partReply}},
	{verb: Notice, by: byClient},
	{verb: Pause, by: byClient, suffixes: []string{"for", "until"},
		needs: []string{"for", "until"}, needHint: "write `pause for 14` or `pause until 16`"},
	{verb: Crash, by: byClient | byServer},
	{verb: WatchdogStop, by: byClient, suffixes: []string{partStop},
		needs: []string{partStop}, needHint: "write `watchdog stop`; a watchdog is started by `acquire ttl 10 watchdog every 3`"},
	{verb: Restart, by: byServer, suffixes: []string{partLose}},
	{verb: Clock, by: byClient | byServer, suffixes: []string{partJump, partStop},
		needs: []string{partJump, partStop}, needHint: "write `clock +20`, `clock -5` or `clock stop`"},
	{verb: Revoke, by: byServer},
	{verb: Forget, by: byResource},
}

// ruleOf gives the rule of a verb's first word.
func ruleOf(word string) (*verbRule, bool) {
	if word == "watchdog" {
		word = string(WatchdogStop)
	}
	for i := range verbRules {
		if string(verbRules[i].verb) == word {
			return &verbRules[i], true
		}
	}
	return nil, false
}

func isVerb(word string) bool { return slices.Contains(verbWords(), word) }

// verbsOf lists the verbs of a kind of actor.
func verbsOf(by actors) []string {
	var out []string
	for i := range verbRules {
		if verbRules[i].by&by != 0 {
			out = append(out, string(verbRules[i].verb))
		}
	}
	return out
}

// outcomesOf lists what can come of a step, success first.
func outcomesOf(rule *verbRule, s *Step) []string {
	out := slices.Clone(rule.outcomes)
	if s.IfCheck || s.IfValid {
		out = append(out, "skipped")
	}
	if s.Watchdog != nil {
		out = append(out, "lost")
	}
	return out
}
