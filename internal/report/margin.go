package report

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/margin"
	"dlock/internal/numbers"
)

// maxAlso is how many other numbers are named that would flip a verdict too.
const maxAlso = 3

// Margins writes, for each verdict of each run, the smallest shift of one number that flips it. It returns the first
// error of w.
func Margins(w io.Writer, f *margin.File, o Options) error {
	p := &page{}
	if f.Script.Title != "" {
		p.add(title, mark(bold, f.Script.Title))
	}
	for _, r := range f.Runs {
		marginRun(p, r)
	}
	return printText(w, p, o)
}

func marginRun(p *page, r *margin.Run) {
	head := "margins"
	if r.Name != "" {
		head += " of run " + quote(r.Name)
	}
	lets := make([]string, len(r.Lets))
	for i, l := range r.Lets {
		lets[i] = l.String()
	}
	p.add(heading, mark(bold, head), say(prefixed("  ", strings.Join(lets, ", "))))
	if r.Limit != engine.NoLimit {
		p.add(para, mark(bad, "no result"), say(": the run itself reaches a limit ("+limitWord(r.Limit)+")"))
		return
	}
	if len(r.Verdicts) > 0 {
		t := p.grid("", "")
		t.most = maxShownName
		for i := range r.Verdicts {
			marginRows(t, r, &r.Verdicts[i])
		}
	}
	if r.Unlisted > 0 {
		p.add(para, mark(dim, count(r.Unlisted, "more write")+" not looked at"))
	}
	p.add(para, mark(dim, "Each of "+count(r.Knobs, "number")+" was moved by itself, by up to "+count(r.Reach, "tick")+" either way."))
}

func marginRows(t *block, r *margin.Run, v *margin.Verdict) {
	label := say(marginLabel(v))
	if len(v.Flips) == 0 {
		t.row(label, mark(dim, marginNow(v)+prefixed(" ", "whatever one number does within "+count(r.Reach, "tick"))))
		return
	}
	state := mark(plain, marginNow(v))
	if v.Subject == margin.OfLaw && v.Now.Count > 0 {
		state.tone = bad
	}
	by := " by "
	if state.text == "" {
		by = "by "
	}
	t.rows = append(t.rows, []cell{{label}, {state, say(by + marginSays(v, &v.Flips[0]))}})
	var also []string
	for i := range v.Flips[1:] {
		f := &v.Flips[1+i]
		if i == maxAlso {
			also = append(also, count(len(v.Flips)-1-i, "other number"))
			break
		}
		also = append(also, knob(f))
	}
	if len(also) > 0 {
		t.row(say(""), mark(dim, "also with "+list(also, "or")))
	}
}

// marginLabel names what a verdict is about.
func marginLabel(v *margin.Verdict) string {
	switch v.Subject {
	case margin.OfLaw:
		return v.Law.String()
	case margin.OfFinal:
		return "final " + value(v.Now.Final)
	}
	if v.Now.T == engine.Forever {
		return v.Client + "'s write of line " + number(v.Line)
	}
	return v.Client + "'s write at " + tick(v.Now.T)
}

// marginNow says how a verdict is.
func marginNow(v *margin.Verdict) string {
	switch v.Subject {
	case margin.OfLaw:
		switch v.Now.Count {
		case 0:
			return "kept"
		case 1:
			return "broken"
		}
		return "broken " + count(v.Now.Count, "time")
	case margin.OfFinal:
		return "left"
	}
	return fate(v.Now.Fate)
}

func fate(f margin.Fate) string {
	switch f {
	case margin.Skipped:
		return "held back"
	case margin.Absent:
		return "not made"
	}
	return f.String()
}

// marginSays words a flip: how far, by what, and to what.
func marginSays(v *margin.Verdict, f *margin.Flip) string {
	return count(max(f.Shift, -f.Shift), "tick") + ": with " + knob(f) + " " + outcome(v, &f.Then)
}

// outcome says how a verdict would be.
func outcome(v *margin.Verdict, then *margin.State) string {
	switch v.Subject {
	case margin.OfLaw:
		if then.Count == 0 {
			return mended(v.Law, v.Now.First, v.Now.Count)
		}
		return broken(v.Law, then.First)
	case margin.OfFinal:
		return value(then.Final) + " would be left"
	}
	switch then.Fate {
	case margin.Accepted:
		return "it would be accepted, at " + tick(then.T)
	case margin.Refused:
		return "it would be rejected, at " + tick(then.T) + " (" + then.Reason.String() + ")"
	case margin.Skipped:
		return v.Client + " would hold it back, at " + tick(then.T) + " (" + then.Reason.String() + ")"
	case margin.Adrift:
		return "it would never arrive"
	}
	return "it would not be made"
}

// broken says how a law would be broken.
func broken(l audit.Law, f *margin.Finding) string {
	if f == nil {
		return "it would be broken"
	}
	write := f.Client + "'s write at " + tick(f.T) + " would be "
	switch l {
	case audit.Overlap:
		return f.Server + " would promise itself to " + f.Other + " and to " + f.Client + " at once, " + during(f.T, f.End)
	case audit.DoubleHold:
		return f.Other + " and " + f.Client + " would both hold the lock, " + during(f.T, f.End)
	case audit.StaleWrite:
		return write + "stale"
	case audit.LostUpdate:
		if f.Client == f.Other {
			return "a write of " + f.Other + " would be lost under its own at " + tick(f.T)
		}
		return f.Other + "'s write would be lost under " + f.Client + "'s at " + tick(f.T)
	case audit.UnlockedWrite:
		return write + "accepted although " + f.Client + " would not be the holder"
	}
	return "it would be broken"
}

// mended says how a law would no longer be broken.
func mended(l audit.Law, f *margin.Finding, n int64) string {
	one := f != nil && n == 1
	switch l {
	case audit.Overlap:
		if f != nil {
			return "no server would promise itself to two clients at once"
		}
	case audit.DoubleHold:
		if one {
			return f.Other + " and " + f.Client + " would no longer both hold the lock"
		}
		return "no two clients would hold the lock at once"
	case audit.DoubleBelief:
		if one {
			return f.Other + " and " + f.Client + " would no longer both believe that they hold the lock"
		}
		return "no two clients would believe at once that they hold the lock"
	case audit.StaleWrite:
		if one {
			return f.Client + "'s write at " + tick(f.T) + " would no longer be stale"
		}
		return "no write would be stale"
	case audit.LostUpdate:
		if one && f.Client != f.Other {
			return f.Other + "'s write would no longer be lost under " + f.Client + "'s at " + tick(f.T)
		}
		return "no write would be lost"
	case audit.UnlockedWrite:
		if one {
			return f.Client + "'s write at " + tick(f.T) + " would no longer be accepted without the lock"
		}
		return "no write would be accepted without the lock"
	case audit.TokenRegress:
		return "the tokens would rise from grant to grant"
	case audit.RefusedHolder:
		if one {
			return f.Client + "'s write at " + tick(f.T) + " would no longer be refused although it holds the lock"
		}
		return "no holder's write would be refused"
	case audit.Starvation:
		if one {
			return f.Client + " would no longer starve"
		}
		return "nobody would starve"
	case audit.Deadlock:
		return "the run would not end in a deadlock"
	case audit.Orphan:
		return "no grant would be left without its client"
	}
	return "it would not be broken"
}

// knob says what a number would be, and what it is.
func knob(f *margin.Flip) string {
	k := f.Knob
	if k.Name != "" {
		return k.Name + " " + number(f.To) + " (now " + number(k.Value) + ")"
	}
	sign := func(t engine.Tick) string {
		if (k.Place.Plus || k.Place.Kind == numbers.Jump) && t >= 0 {
			return "+" + number(t)
		}
		return number(t)
	}
	return part(&k.Place) + " " + sign(f.To) + " (now " + sign(k.Value) + ", line " + number(k.Line) + ")"
}

// part names a number of a line as the line does: "A's append at", "A's acquire ttl".
func part(p *numbers.Place) string {
	who := deed(p.Step)
	switch p.Kind {
	case numbers.Offset:
		return who + " at"
	case numbers.From:
		return who + " repeated from"
	case numbers.To:
		return who + " repeated to"
	case numbers.PauseFor, numbers.PauseUntil, numbers.Jump:
		verb := string(p.Step.Verb)
		return strings.TrimSuffix(who, verb) + p.Kind.String()
	}
	return who + " " + p.Kind.String()
}

// deed names a step by who does it and its verb.
func deed(s *dsl.Step) string {
	verb := string(s.Verb)
	switch {
	case s.Verb == dsl.Cut || s.Verb == dsl.Heal:
		return "the " + verb + " of " + s.Actor.Client
	case s.Actor.Resource:
		return "the resource's " + verb
	case len(s.Actor.Servers) > 0:
		var names []string
		for _, r := range s.Actor.Servers {
			n := server(int32(r.Lo) - 1)
			if r.Hi > r.Lo {
				n += ".." + server(int32(r.Hi)-1)
			}
			names = append(names, n)
		}
		return strings.Join(names, " ") + "'s " + verb
	}
	return s.Actor.Client + "'s " + verb
}

type jsonMargins struct {
	Dlock    int             `json:"dlock"`
	File     string          `json:"file"`
	Scenario string          `json:"scenario"`
	MaxShift engine.Tick     `json:"maxShift"`
	Runs     []jsonMarginRun `json:"runs"`
}

type jsonMarginRun struct {
	Name     string        `json:"name"`
	Kind     string        `json:"kind"` // "margin"
	Line     int           `json:"line"`
	Limit    string        `json:"limit"` // the limit that stopped the run itself, "" for none
	Lets     object        `json:"lets"`
	Numbers  int           `json:"numbers"`  // how many were moved
	Reach    engine.Tick   `json:"reach"`    // how far, either way
	Unlisted int           `json:"unlisted"` // writes that were not looked at
	Verdicts []jsonVerdict `json:"verdicts"`
}

type jsonVerdict struct {
	About string      `json:"about"`           // "law", "final" or "write"
	Law   string      `json:"law,omitempty"`   // law
	Write *jsonFiring `json:"write,omitempty"` // write
	Now   jsonState   `json:"now"`
	Flips []jsonFlip  `json:"flips"` // the smallest shift first
}

type jsonFiring struct {
	Client string `json:"client"`
	Line   int32  `json:"line"`
	Nth    int    `json:"nth"` // which firing of its line, from 0
}

type jsonState struct {
	Broken *int64  `json:"broken,omitempty"` // law: how often
	Final  *string `json:"final,omitempty"`  // final
	Fate   string  `json:"fate,omitempty"`   // write: "accepted", "rejected", "skipped", "never arrived" or "not made"
	Reason string  `json:"reason,omitempty"`
	T      *int64  `json:"t,omitempty"`
}

type jsonFlip struct {
	Name  string      `json:"name"` // a let or a setting; "" for a number that stands in a line
	Kind  string      `json:"kind"` // "let", "setting", or the words before the number: "at", "after", "ttl", "pause for"
	Line  int         `json:"line"`
	Now   engine.Tick `json:"now"`
	To    engine.Tick `json:"to"`
	Shift engine.Tick `json:"shift"`
	Then  jsonState   `json:"then"`
	Says  string      `json:"says"`
}

// MarginsJSON writes what Margins writes as indented JSON, with every number that flips a verdict. It returns the first
// error of w.
func MarginsJSON(w io.Writer, f *margin.File) error {
	out := jsonMargins{Dlock: jsonVersion, File: f.Script.File, Scenario: f.Script.Title, MaxShift: margin.MaxShift, Runs: []jsonMarginRun{}}
	for _, r := range f.Runs {
		run := jsonMarginRun{
			Name: r.Name, Kind: "margin", Line: r.Line, Limit: limitWord(r.Limit), Lets: valuesJSON(r.Lets), Numbers: r.Knobs,
			Reach: r.Reach, Unlisted: r.Unlisted, Verdicts: []jsonVerdict{},
		}
		for i := range r.Verdicts {
			run.Verdicts = append(run.Verdicts, verdictJSON(&r.Verdicts[i]))
		}
		out.Runs = append(out.Runs, run)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := w.Write(asciiControls(b.Bytes()))
	return err
}

func verdictJSON(v *margin.Verdict) jsonVerdict {
	out := jsonVerdict{Now: stateJSON(v.Subject, &v.Now), Flips: []jsonFlip{}}
	switch v.Subject {
	case margin.OfLaw:
		out.About, out.Law = "law", v.Law.String()
	case margin.OfFinal:
		out.About = "final"
	default:
		out.About, out.Write = "write", &jsonFiring{Client: v.Client, Line: v.Line, Nth: v.Nth}
	}
	for i := range v.Flips {
		f := &v.Flips[i]
		out.Flips = append(out.Flips, jsonFlip{
			Name: f.Knob.Name, Kind: knobKind(f.Knob), Line: f.Knob.Line, Now: f.Knob.Value, To: f.To, Shift: f.Shift,
			Then: stateJSON(v.Subject, &f.Then), Says: marginSays(v, f),
		})
	}
	return out
}

func knobKind(k *margin.Knob) string {
	switch {
	case k.Name == "":
		return k.Place.Kind.String()
	case k.Setting:
		return "setting"
	}
	return "let"
}

func stateJSON(about margin.Subject, s *margin.State) jsonState {
	switch about {
	case margin.OfLaw:
		return jsonState{Broken: &s.Count}
	case margin.OfFinal:
		return jsonState{Final: &s.Final}
	}
	out := jsonState{Fate: s.Fate.String(), Reason: s.Reason.String()}
	if s.T != engine.Forever {
		t := int64(s.T)
		out.T = &t
	}
	return out
}
