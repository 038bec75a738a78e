package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

// jsonVersion is the version of the JSON that this package writes. Keys may be added within a version; one that goes or
// changes its meaning makes a new one.
const jsonVersion = 1

// JSON writes files as indented JSON: one object for one file, an array of such objects for any other number. Keys and
// lists have a fixed order; an end or a tick that never comes is null. It returns the first error of w.
func JSON(w io.Writer, files []*study.File) error { return writeJSON(w, files, true) }

// SweepJSON writes what JSON writes, with only the sweeps of each file. It returns the first error of w.
func SweepJSON(w io.Writer, files []*study.File) error { return writeJSON(w, files, false) }

func writeJSON(w io.Writer, files []*study.File, runs bool) error {
	all := make([]jsonFile, len(files))
	for i, f := range files {
		all[i] = fileJSON(f, runs)
	}
	return encodeJSON(w, all)
}

// encodeJSON writes one file as an object, any other number of them as a list.
func encodeJSON(w io.Writer, all []jsonFile) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	var v any = all
	if len(all) == 1 {
		v = all[0]
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(asciiControls(b.Bytes()))
	return err
}

// asciiControls spells out the characters that JSON allows in strings and a terminal acts on: they can stand nowhere
// else in a document, so they can be replaced wherever they are.
func asciiControls(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		r, n := utf8.DecodeRune(doc[i:])
		switch {
		case r == '\n' || isSafe(r, n):
			out = append(out, doc[i:i+n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}

type jsonFile struct {
	Dlock    int    `json:"dlock"`
	File     string `json:"file"`
	Scenario string `json:"scenario"`
	About    string `json:"about"`
	Runs     []any  `json:"runs"` // jsonRun, jsonSweep and jsonExplore
}

type jsonRun struct {
	Name     string        `json:"name"`
	Kind     string        `json:"kind"` // "run"
	Line     int           `json:"line"`
	Horizon  engine.Tick   `json:"horizon"`
	Limit    string        `json:"limit"` // the limit that stopped the run early, "" for none
	Settings object        `json:"settings"`
	Lets     object        `json:"lets"`
	Final    string        `json:"final"`
	Verdict  string        `json:"verdict"`
	Fault    string        `json:"fault"`
	Counts   object        `json:"counts"`
	Measures jsonMeasures  `json:"measures"`
	Findings []jsonFinding `json:"findings"`
	Votes    []jsonVote    `json:"votes"` // those that took time or were lost
	Leases   []jsonLease   `json:"leases"`
	Holders  []jsonHold    `json:"holders"`
	Beliefs  []jsonBelief  `json:"beliefs"`
	Pauses   []jsonHold    `json:"pauses"`
	Faults   []jsonFault   `json:"faults"`
	Reads    []jsonRead    `json:"reads"`
	Writes   []jsonWrite   `json:"writes"`
	Clients  []jsonClient  `json:"clients"`
	Events   []jsonEvent   `json:"events"`
	Expects  []jsonExpect  `json:"expects"`
}

type jsonMeasures struct {
	Grants int64       `json:"grants"`
	Writes int64       `json:"writes"`
	Idle   engine.Tick `json:"idle"`
}

type jsonFinding struct {
	Law     string      `json:"law"`
	T       engine.Tick `json:"t"`
	End     any         `json:"end,omitempty"` // of the stretch, for overlap, double-hold and double-belief alone
	Client  string      `json:"client"`
	Other   string      `json:"other"`
	Server  string      `json:"server"`
	Line    int32       `json:"line"`
	Lines   []int32     `json:"lines"` // of all the steps that it is about
	Token   int64       `json:"token"`
	Applied int64       `json:"applied"`
	Says    string      `json:"says"`
}

// jsonVote is a server's part in an attempt whose messages took time: its request was sent, it answered at t, and the answer
// was heard, each of them null if it never came to that.
type jsonVote struct {
	Sent     int64  `json:"sent"`
	T        *int64 `json:"t"`
	Heard    *int64 `json:"heard"`
	Client   string `json:"client"`
	Server   string `json:"server"`
	Vote     string `json:"vote"`
	Token    int64  `json:"token"`
	Returned bool   `json:"returned"` // given back
	Line     int32  `json:"line"`
}

type jsonLease struct {
	Server   string      `json:"server"`
	Client   string      `json:"client"`
	Token    int64       `json:"token"`
	Start    engine.Tick `json:"start"`
	End      *int64      `json:"end"`
	Promised *int64      `json:"promised"` // the tick to which its client may rely on it
	Ended    string      `json:"ended"`
	Line     int32       `json:"line"`
}

type jsonHold struct {
	Client string      `json:"client"`
	Start  engine.Tick `json:"start"`
	End    *int64      `json:"end"`
}

type jsonBelief struct {
	jsonHold
	Ended string `json:"ended"`
}

type jsonFault struct {
	Kind  string      `json:"kind"`
	Who   string      `json:"who"`
	From  string      `json:"from"` // cut: what the client is cut off from
	By    engine.Tick `json:"by"`   // clock: the jump
	Start engine.Tick `json:"start"`
	End   *int64      `json:"end"`
	Line  int32       `json:"line"`
}

type jsonRead struct {
	T       *int64 `json:"t"`
	Sent    int64  `json:"sent"`
	Heard   *int64 `json:"heard"`
	Client  string `json:"client"`
	Value   string `json:"value"`
	Version int64  `json:"version"`
	Line    int32  `json:"line"`
}

type jsonWrite struct {
	Sent     int64  `json:"sent"`
	T        *int64 `json:"t"` // when the resource decided
	Heard    *int64 `json:"heard"`
	Client   string `json:"client"`
	Value    string `json:"value"`
	Base     int64  `json:"base"`
	Version  int64  `json:"version"`
	Token    int64  `json:"token"`
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason"`
	Line     int32  `json:"line"`
}

type jsonClient struct {
	Client  string        `json:"client"`
	Granted []engine.Tick `json:"granted"`
	Blocked *int64        `json:"blocked"` // null: it never asked or was never granted
	Token   int64         `json:"token"`
}

type jsonEvent struct {
	T       engine.Tick `json:"t"`
	Actor   string      `json:"actor"`
	Verb    string      `json:"verb"`
	Outcome string      `json:"outcome"`
	Sent    engine.Tick `json:"sent"`
	Heard   *int64      `json:"heard"`
	Token   int64       `json:"token"`
	Line    int32       `json:"line"`
	Says    string      `json:"says"`
}

type jsonExpect struct {
	Line      int           `json:"line"`
	Text      string        `json:"text"`
	OK        bool          `json:"ok"`
	Unchecked bool          `json:"unchecked"`
	Undecided bool          `json:"undecided"` // a limit stopped the run before it could be judged
	Vacuous   string        `json:"vacuous"`
	Got       string        `json:"got"`
	Broken    int64         `json:"broken"`            // sweep: cells in which it fails
	Members   string        `json:"members,omitempty"` // explore: members in which what it says is so
	Cells     []jsonFailure `json:"cells,omitempty"`
	Replay    string        `json:"replay,omitempty"` // sweep: the command that runs the first of these cells by itself
}

type jsonFailure struct {
	At  object `json:"at"`
	Got string `json:"got"`
}

type jsonSweep struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"` // "sweep"
	Line    int          `json:"line"`
	Axes    []jsonAxis   `json:"axes"`
	Size    int64        `json:"size"`
	Clean   int64        `json:"clean"`   // cells in which no law of safety is broken
	Broken  object       `json:"broken"`  // by law: cells in which it is broken
	Limited int64        `json:"limited"` // cells that a limit stopped early
	Cells   []jsonCell   `json:"cells"`   // empty if there are too many to keep
	Expects []jsonExpect `json:"expects"`
}

type jsonAxis struct {
	Name   string `json:"name"`
	Values []any  `json:"values"`
}

type jsonCell struct {
	At      object `json:"at"`
	Final   string `json:"final"`
	Counts  object `json:"counts"`
	Blocked object `json:"blocked"` // by client
	OK      bool   `json:"ok"`
	Limit   string `json:"limit"`
}

// object is a JSON object whose keys keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.key); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1) // the encoder's line break
		b.WriteByte(':')
		if n, ok := m.value.(int64); ok { // most members, in the cells of a sweep
			b.Write(strconv.AppendInt(b.AvailableBuffer(), n, 10))
			continue
		}
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// finite gives a tick, or null for one that never comes.
func finite(t engine.Tick) *int64 {
	if t == engine.Forever {
		return nil
	}
	n := int64(t)
	return &n
}

// headJSON is what is said of a file itself.
func headJSON(f *study.File) jsonFile {
	out := jsonFile{Dlock: jsonVersion, Runs: []any{}}
	if s := f.Script; s != nil {
		out.File, out.Scenario, out.About = s.File, s.Title, s.About
	}
	return out
}

func fileJSON(f *study.File, runs bool) jsonFile {
	out := headJSON(f)
	for _, item := range f.Items {
		switch {
		case item.Run != nil && runs:
			out.Runs = append(out.Runs, runJSON(item.Run))
		case item.Sweep != nil:
			out.Runs = append(out.Runs, sweepJSON(item.Sweep))
		case item.Explore != nil && runs:
			out.Runs = append(out.Runs, exploreJSON(item.Explore, nil))
		}
	}
	return out
}

func valuesJSON(values []study.Value) object {
	o := make(object, len(values))
	for i, v := range values {
		o[i] = member{v.Name, valueJSON(v)}
	}
	return o
}

func valueJSON(v study.Value) any {
	if v.Str || v.Word != "" {
		return v.Word
	}
	return v.N
}

func countsJSON(counts *[audit.NumLaws]int64) object {
	o := make(object, audit.NumLaws)
	for i, l := range laws() {
		o[i] = member{l.String(), counts[l]}
	}
	return o
}

// faultWord is the word for where the fault lies.
func faultWord(f audit.Fault) string {
	switch f {
	case audit.FaultLock:
		return "lock"
	case audit.FaultTokens:
		return "tokens"
	case audit.FaultResource:
		return "resource"
	case audit.FaultSnapshot:
		return "snapshot"
	case audit.FaultBypass:
		return "bypass"
	}
	return "none"
}

func runJSON(r *study.Run) jsonRun {
	t := newTeller(r)
	rec := r.Record
	out := jsonRun{
		Name: r.Name, Kind: "run", Line: r.Line, Horizon: rec.Program.Settings.Horizon,
		Settings: valuesJSON(r.Settings), Lets: valuesJSON(r.Lets), Final: rec.Value(rec.Final),
		Verdict: t.verdict(), Fault: faultWord(r.Audit.Fault), Counts: countsJSON(&r.Audit.Counts),
		Measures: jsonMeasures{r.Audit.Grants, r.Audit.Writes, r.Audit.Idle}, Expects: expectsJSON(r.Claims),
	}
	out.Limit = limitWord(rec.Limit)
	out.Findings = t.findingsJSON()
	out.Leases, out.Holders, out.Beliefs, out.Pauses = t.stretchesJSON()
	out.Faults = t.faultsJSON()
	out.Votes = t.votesJSON()
	out.Reads, out.Writes = t.operationsJSON()
	out.Clients, out.Events = t.clientsJSON(), t.eventsJSON()
	return out
}

// someone names a client or server of a finding, "" where the law has no use for one.
func (t *teller) someone(i int32) string {
	if i < 0 {
		return ""
	}
	return t.client(i)
}

func someServer(i int32) string {
	if i < 0 {
		return ""
	}
	return server(i)
}

func (t *teller) findingsJSON() []jsonFinding {
	out := make([]jsonFinding, len(t.aud.Findings))
	for i := range t.aud.Findings {
		out[i] = t.findingJSON(&t.aud.Findings[i])
	}
	return out
}

func (t *teller) findingJSON(f *audit.Finding) jsonFinding {
	out := jsonFinding{
		Law: f.Law.String(), T: f.T, Client: t.someone(f.Client), Other: t.someone(f.Other), Server: someServer(f.Server),
		Line: max(f.Line, 0), Lines: append([]int32{}, t.linesOf(f)...), Token: f.Token, Applied: f.Applied, Says: t.whole(f),
	}
	switch f.Law {
	case audit.Overlap, audit.DoubleHold, audit.DoubleBelief:
		out.End = finite(f.End)
	}
	return out
}

func (t *teller) stretchesJSON() (leases []jsonLease, holders []jsonHold, beliefs []jsonBelief, pauses []jsonHold) {
	rec := t.rec
	leases, holders = make([]jsonLease, len(rec.Leases)), make([]jsonHold, len(t.aud.Holders))
	beliefs, pauses = make([]jsonBelief, len(rec.Beliefs)), make([]jsonHold, len(rec.Pauses))
	for i := range rec.Leases {
		l := &rec.Leases[i]
		leases[i] = jsonLease{Server: server(l.Server), Client: t.client(l.Client), Token: l.Token, Start: l.Start.Tick,
			End: finite(l.End.Tick), Ended: l.Ended.String(), Line: l.Line}
		if p := at(rec.Promises, l.Promise); p != nil {
			leases[i].Promised = finite(p.End.Tick)
		}
	}
	for i, h := range t.aud.Holders {
		holders[i] = jsonHold{t.client(h.Client), h.Start, finite(h.End)}
	}
	for i := range rec.Beliefs {
		b := &rec.Beliefs[i]
		beliefs[i] = jsonBelief{jsonHold{t.client(b.Client), b.Start.Tick, finite(b.End.Tick)}, b.Ended.String()}
	}
	for i := range rec.Pauses {
		p := &rec.Pauses[i]
		pauses[i] = jsonHold{t.client(p.Client), p.Start.Tick, finite(p.End)}
	}
	return leases, holders, beliefs, pauses
}

func (t *teller) faultsJSON() []jsonFault {
	out := make([]jsonFault, len(t.rec.Faults))
	for i := range t.rec.Faults {
		f := &t.rec.Faults[i]
		out[i] = jsonFault{Kind: f.Kind.String(), By: f.By, Start: f.Start.Tick, End: finite(f.End.Tick), Line: f.Line}
		switch {
		case f.Kind == engine.FaultCut && f.Server < 0:
			out[i].Who, out[i].From = t.client(f.Client), "resource"
		case f.Kind == engine.FaultCut:
			out[i].Who, out[i].From = t.client(f.Client), server(f.Server)
		case f.Server >= 0:
			out[i].Who = server(f.Server)
		case f.Client >= 0:
			out[i].Who = t.client(f.Client)
		default:
			out[i].Who = "resource"
		}
	}
	return out
}

func (t *teller) votesJSON() []jsonVote {
	out := []jsonVote{}
	for i := range t.rec.Votes {
		v := &t.rec.Votes[i]
		a := at(t.rec.Attempts, v.Attempt)
		if a == nil || v.Applied.Tick == a.Sent.Tick && v.Heard == a.Sent.Tick {
			continue
		}
		out = append(out, jsonVote{Sent: int64(a.Sent.Tick), T: finite(v.Applied.Tick), Heard: finite(v.Heard), Client: t.client(a.Client),
			Server: server(v.Server), Vote: [...]string{"no", "yes", "again", ""}[v.Kind], Token: v.Token, Returned: v.Returned, Line: a.Line})
	}
	return out
}

func (t *teller) operationsJSON() ([]jsonRead, []jsonWrite) {
	rec := t.rec
	reads, writes := make([]jsonRead, len(rec.Reads)), make([]jsonWrite, len(rec.Writes))
	for i := range rec.Reads {
		r := &rec.Reads[i]
		reads[i] = jsonRead{T: finite(r.Applied.Tick), Sent: int64(r.Sent.Tick), Heard: finite(r.Heard), Client: t.client(r.Client),
			Value: rec.Value(r.Value), Version: r.Version, Line: r.Line}
	}
	for i := range rec.Writes {
		w := &rec.Writes[i]
		writes[i] = jsonWrite{Sent: int64(w.Sent.Tick), T: finite(w.Applied.Tick), Heard: finite(w.Heard), Client: t.client(w.Client),
			Value: rec.Value(w.Value), Base: w.Base, Version: w.Version, Token: w.Token, Accepted: w.Accepted,
			Reason: w.Reason.String(), Line: w.Line}
	}
	return reads, writes
}

func (t *teller) clientsJSON() []jsonClient {
	out := make([]jsonClient, len(t.rec.Program.Clients))
	for c := range out {
		out[c] = jsonClient{Client: t.rec.Program.Clients[c], Granted: []engine.Tick{}}
		if c < len(t.rec.Tokens) {
			out[c].Token = t.rec.Tokens[c]
		}
		if c < len(t.aud.Blocked) && t.aud.Blocked[c] >= 0 {
			out[c].Blocked = finite(t.aud.Blocked[c])
		}
	}
	for i := range t.rec.Grants {
		g := &t.rec.Grants[i]
		if g.Client >= 0 && int(g.Client) < len(out) {
			out[g.Client].Granted = append(out[g.Client].Granted, g.Heard.Tick)
		}
	}
	return out
}

// eventsJSON tells every event of the record; nothing is folded.
func (t *teller) eventsJSON() []jsonEvent {
	out := make([]jsonEvent, len(t.rec.Events))
	for i := range t.rec.Events {
		out[i] = t.eventJSON(&t.rec.Events[i])
	}
	return out
}

func (t *teller) eventJSON(e *engine.Event) jsonEvent {
	h := t.happened(e)
	says := h.who + " " + h.what + prefixed(": ", join([]string{h.outcome, h.why}, ", "))
	return jsonEvent{T: e.At.Tick, Actor: h.who, Verb: e.Verb.String(), Outcome: e.Outcome.String(), Sent: e.Sent,
		Heard: finite(e.Heard), Token: e.Token, Line: e.Line, Says: says}
}

func expectsJSON(list []study.Claim) []jsonExpect {
	out := make([]jsonExpect, len(list))
	for i, c := range list {
		x := c.Expect
		if x == nil {
			x = &dsl.Expect{}
		}
		out[i] = jsonExpect{Line: x.Span.Start.Line, Text: x.Source, OK: c.OK, Unchecked: c.Unchecked, Undecided: c.Inconclusive,
			Vacuous: c.Vacuous, Got: c.Got, Broken: c.Broken, Replay: c.Replay}
		if c.Held != nil {
			out[i].Members = c.Held.String()
		}
		for _, f := range c.Cells {
			out[i].Cells = append(out[i].Cells, jsonFailure{valuesJSON(f.At), f.Got})
		}
	}
	return out
}

func axesJSON(axes []study.Axis) []jsonAxis {
	out := make([]jsonAxis, len(axes))
	for i, a := range axes {
		out[i] = jsonAxis{Name: a.Name, Values: make([]any, len(a.Values))}
		for j, v := range a.Values {
			out[i].Values[j] = valueJSON(v)
		}
	}
	return out
}

func sweepJSON(s *study.Sweep) jsonSweep {
	out := jsonSweep{Name: s.Name, Kind: "sweep", Line: s.Line, Size: s.Cells, Clean: s.Clean, Limited: s.Limited, Broken: countsJSON(&s.Broken),
		Axes: axesJSON(s.Axes), Cells: make([]jsonCell, len(s.Kept)), Expects: expectsJSON(s.Claims)}
	for i := range s.Kept {
		c := &s.Kept[i]
		cell := jsonCell{At: valuesJSON(c.At), Final: c.Final, Counts: countsJSON(&c.Counts), OK: c.OK, Limit: limitWord(c.Limit), Blocked: object{}}
		for j, n := range c.Blocked {
			if j >= len(s.Clients) {
				break
			}
			var blocked any
			if n >= 0 {
				blocked = n
			}
			cell.Blocked = append(cell.Blocked, member{s.Clients[j], blocked})
		}
		out.Cells[i] = cell
	}
	return out
}
