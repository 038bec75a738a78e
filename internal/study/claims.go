package study

import (
	"fmt"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
)

// statement is an expect whose words are resolved to the engine's and the audit's.
type statement struct {
	expect  *dsl.Expect
	client  int32 // engine.None: no client, or nobody
	outcome engine.Outcome
	law     audit.Law
}

func statements(p *compile.Plan) []statement {
	out := make([]statement, len(p.Claims))
	for i, e := range p.Claims {
		out[i] = statement{expect: e, client: p.Subjects[i]}
		out[i].outcome, _ = compile.OutcomeOf(e.Outcome)
		for l := range audit.NumLaws {
			if l.String() == e.Law {
				out[i].law = l
			}
		}
	}
	return out
}

// judge looks at one finished run.
type judge struct {
	rec   *engine.Record
	rep   *audit.Report
	asker []int32 // scratch: by server, the first client that asked it
}

// holds tells whether a claim is true. With a condition, the claim must be true exactly if the condition is.
func (j *judge) holds(c *statement, v compile.ClaimValues) bool {
	if c.expect.Iff != nil {
		return j.says(c, v) == v.Iff
	}
	return j.says(c, v)
}

// says tells whether what the claim says is so, whatever its condition.
func (j *judge) says(c *statement, v compile.ClaimValues) bool {
	e := c.expect
	switch e.Kind {
	case dsl.ClaimFinal:
		return j.sameValue(j.rec.Final, e.Text)
	case dsl.ClaimValue:
		return j.sameValue(j.valueAt(v.At), e.Text)
	case dsl.ClaimHolds:
		if c.client == engine.None {
			return !j.anyHolder(v.At)
		}
		return j.holder(c.client, v.At)
	case dsl.ClaimBelieves:
		return j.believer(c.client, v.At) == (c.client != engine.None)
	case dsl.ClaimOutcome:
		return j.first(c.client, c.outcome, v.At) != engine.None
	case dsl.ClaimNever:
		return j.first(c.client, c.outcome, anyTick) == engine.None
	case dsl.ClaimBlocked:
		return j.rep.Blocked[c.client] == engine.Tick(v.N)
	case dsl.ClaimToken:
		return j.rec.Tokens[c.client] == v.N
	case dsl.ClaimGrants:
		return j.rep.Grants == v.N
	case dsl.ClaimWrites:
		return j.rep.Writes == v.N
	case dsl.ClaimIdle:
		return j.rep.Idle == engine.Tick(v.N)
	case dsl.ClaimClean:
		return j.rep.Clean()
	case dsl.ClaimLaw:
		n := j.rep.Counts[c.law]
		switch {
		case e.None:
			return n == 0
		case e.N == nil:
			return n > 0
		default:
			return n == v.N
		}
	}
	return false
}

// anyTick stands for every tick.
const anyTick engine.Tick = -1

// first finds the first event that gave a client an outcome, at a tick or at any. An event stands at the tick at which
// its outcome was heard; that of a write at the tick at which the resource decided.
func (j *judge) first(client int32, o engine.Outcome, at engine.Tick) int32 {
	for i := range j.rec.Events {
		e := &j.rec.Events[i]
		if e.Outcome == o && e.Client == client && (at == anyTick || e.At.Tick == at) {
			return int32(i)
		}
	}
	return engine.None
}

// valueAt gives the resource's value after all of a tick.
func (j *judge) valueAt(t engine.Tick) int32 {
	value, version := engine.None, int64(0)
	for i := range j.rec.Writes {
		if w := &j.rec.Writes[i]; w.Accepted && w.Applied.Tick <= t && w.Version > version {
			value, version = w.Value, w.Version
		}
	}
	return value
}

// sameValue compares a value of the record, None being the initial one, with a text without building it.
func (j *judge) sameValue(value int32, text string) bool {
	if value == engine.None {
		return text == j.rec.Program.Settings.Initial
	}
	for i := value; i != engine.None; i = j.rec.Values[i].Prev {
		var ok bool
		if text, ok = strings.CutSuffix(text, j.rec.Values[i].Text); !ok {
			return false
		}
	}
	return text == ""
}

func (j *judge) text(value int32) string {
	if value == engine.None {
		return j.rec.Program.Settings.Initial
	}
	return j.rec.Value(value)
}

func (j *judge) holder(client int32, t engine.Tick) bool {
	for i := range j.rep.Holders {
		if h := &j.rep.Holders[i]; h.Client == client && h.Start <= t && t < h.End {
			return true
		}
	}
	return false
}

func (j *judge) anyHolder(t engine.Tick) bool {
	for i := range j.rep.Holders {
		if h := &j.rep.Holders[i]; h.Start <= t && t < h.End {
			return true
		}
	}
	return false
}

// believer tells whether a client, or with engine.None anybody, believes after all of a tick that it holds the lock.
func (j *judge) believer(client int32, t engine.Tick) bool {
	for i := range j.rec.Beliefs {
		b := &j.rec.Beliefs[i]
		if (client == engine.None || b.Client == client) && b.Start.Tick <= t && t < b.End.Tick {
			return true
		}
	}
	return false
}

// got says what was there instead of what a claim says, in a few words.
func (j *judge) got(c *statement, v compile.ClaimValues) string {
	if c.expect.Iff != nil && !v.Iff {
		return "it is so, although the condition is false"
	}
	what := j.instead(c, v)
	if c.expect.Iff != nil {
		return "the condition is true, but " + what
	}
	return what
}

func (j *judge) instead(c *statement, v compile.ClaimValues) string {
	e := c.expect
	name := e.Client
	switch e.Kind {
	case dsl.ClaimFinal:
		return "the final value is " + shown(j.text(j.rec.Final))
	case dsl.ClaimValue:
		return fmt.Sprintf("at %d the value is %s", v.At, shown(j.text(j.valueAt(v.At))))
	case dsl.ClaimHolds:
		return fmt.Sprintf("at %d %s", v.At, j.who("holds", "hold", func(client int32) bool { return j.holder(client, v.At) }))
	case dsl.ClaimBelieves:
		return fmt.Sprintf("at %d %s", v.At, j.who("believes", "believe", func(client int32) bool { return j.believer(client, v.At) }))
	case dsl.ClaimOutcome:
		return j.insteadOf(c, v.At)
	case dsl.ClaimNever:
		i := j.first(c.client, c.outcome, anyTick)
		return fmt.Sprintf("%s is %s at %d", name, outcomePhrase(c.outcome), j.rec.Events[i].At.Tick)
	case dsl.ClaimBlocked:
		if n := j.rep.Blocked[c.client]; n >= 0 {
			return fmt.Sprintf("%s was blocked for %d", name, n)
		}
		if !j.asked(c.client) {
			return name + " never asked"
		}
		return name + " was never granted"
	case dsl.ClaimToken:
		return fmt.Sprintf("its last token is %d", j.rec.Tokens[c.client])
	case dsl.ClaimGrants:
		return fmt.Sprintf("there are %d", j.rep.Grants)
	case dsl.ClaimWrites:
		return fmt.Sprintf("there are %d", j.rep.Writes)
	case dsl.ClaimIdle:
		return fmt.Sprintf("the lock was idle for %d", j.rep.Idle)
	case dsl.ClaimLaw:
		return fmt.Sprintf("%s is %d", e.Law, j.rep.Counts[c.law])
	default:
		var broken []string
		for _, l := range [...]audit.Law{audit.Overlap, audit.DoubleHold, audit.StaleWrite, audit.LostUpdate, audit.UnlockedWrite} {
			if n := j.rep.Counts[l]; n > 0 {
				broken = append(broken, fmt.Sprintf("%s is %d", l, n))
			}
		}
		return strings.Join(broken, ", ")
	}
}

// insteadOf says what came of a client's steps at a tick, or else when the outcome that was claimed did come.
func (j *judge) insteadOf(c *statement, t engine.Tick) string {
	name := c.expect.Client
	var heard []string
	for i := range j.rec.Events {
		e := &j.rec.Events[i]
		if e.Client == c.client && e.At.Tick == t && e.Outcome != engine.Done && e.Outcome != engine.Sent {
			heard = append(heard, e.Verb.String()+" "+e.Outcome.String())
		}
	}
	if len(heard) > 3 {
		heard = append(heard[:3], "…")
	}
	if len(heard) > 0 {
		return fmt.Sprintf("at %d %s has: %s", t, name, strings.Join(heard, ", "))
	}
	if i := j.first(c.client, c.outcome, anyTick); i != engine.None {
		return fmt.Sprintf("%s is %s at %d", name, outcomePhrase(c.outcome), j.rec.Events[i].At.Tick)
	}
	return fmt.Sprintf("%s is never %s", name, outcomePhrase(c.outcome))
}

// outcomePhrase makes an outcome word fit behind "is".
func outcomePhrase(o engine.Outcome) string {
	switch o {
	case engine.Yes, engine.No:
		return "told " + o.String()
	default:
		return o.String()
	}
}

// who lists the clients for which something is so, with the verb that fits their number.
func (j *judge) who(one, many string, is func(client int32) bool) string {
	var names []string
	for i, n := range j.rec.Program.Clients {
		if is(int32(i)) {
			names = append(names, n)
		}
	}
	switch len(names) {
	case 0:
		return "nobody " + one
	case 1:
		return names[0] + " " + one
	default:
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " " + many
	}
}

// shownRunes is how much of a value is shown where a few words are wanted.
const shownRunes = 60

// shown quotes a value as the language does, cut short if it is long.
func shown(s string) string {
	n := 0
	for i := range s {
		if n++; n > shownRunes {
			return compile.Quote(s[:i]) + "…"
		}
	}
	return compile.Quote(s)
}
