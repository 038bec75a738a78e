package golden

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind says in what way a transcript differs from its golden.
type Kind string

// The kinds, from what matters most to what matters least.
const (
	Extra    Kind = "event"        // something happens now that did not, or the other way round
	Outcome  Kind = "outcome"      // the same step comes to something else
	Order    Kind = "order"        // the same events of a tick in another order
	Timing   Kind = "timing"       // the same event at another tick
	Value    Kind = "value"        // the same events with another number or text
	Verdict  Kind = "verdict"      // the events are the same; a law or a claim is judged otherwise
	Claims   Kind = "claims"       // everything that happens is the same; other things are claimed of it
	Wording  Kind = "wording only" // the words differ, not one event, number or verdict
	Colour   Kind = "colours only"
	LineEnds Kind = "line endings only" // CRLF against LF: counts as equal
)

// Difference explains how a transcript differs from its golden.
type Difference struct {
	Kind  Kind
	What  string // one sentence on the kind: what was wanted and what came
	Gone  string // tick and deed of an event of the golden that comes before all of the transcript that differs; or ""
	Event *Event // the first event that differs, or before which one is missing; nil where no event differs
	Want  string // its line in the golden, without colour; "" if there is none
	Got   string // its line now
	Flips []Flip
	Diff  string // unified, labelled -want +got, colours as names; "" for LineEnds
}

// Flip is a law whose count changed.
type Flip struct {
	Run, Law, Want, Got string
}

// String gives the flip in one line.
func (f Flip) String() string {
	where := ""
	if f.Run != "" {
		where = "run " + f.Run + ": "
	}
	return fmt.Sprintf("%s%s %s -> %s", where, f.Law, f.Want, f.Got)
}

// Equal tells whether a transcript counts as equal to its golden: byte for byte, but for CRLF.
func Equal(want, got []byte) bool {
	return bytes.Equal(want, got) || bytes.Equal(unifyLineEnds(want), unifyLineEnds(got))
}

// Compare explains how got differs from the golden want; nil if no byte does.
func (l Language) Compare(want []byte, got Rendering) *Difference {
	if bytes.Equal(want, got.Text) {
		return nil
	}
	w, g := unifyLineEnds(want), unifyLineEnds(got.Text)
	if bytes.Equal(w, g) {
		return &Difference{Kind: LineEnds, What: "the golden has CRLF line endings, the transcript LF"}
	}
	wantLines, gotLines := l.read(string(w)), l.read(string(g))
	d := l.explain(wantLines, gotLines, got.Events)
	d.Flips = l.flips(wantLines, gotLines)
	d.Diff = unified(visible(string(w)), visible(string(g)))
	if visible(string(w)) == visible(string(g)) { // two codes of one name, such as two ways to end a colour
		d.Diff = unified(spelled(string(w)), spelled(string(g)))
	}
	return d
}

// Flips lists the laws whose count differs between two transcripts.
func (l Language) Flips(want, got []byte) []Flip {
	return l.flips(l.read(string(unifyLineEnds(want))), l.read(string(unifyLineEnds(got))))
}

func (l Language) flips(want, got []line) []Flip {
	type place struct{ run, law string }
	counts := func(lines []line) (map[place]string, []string) {
		m, runs := map[place]string{}, []string(nil)
		for _, n := range lines {
			if n.law != "" {
				m[place{n.run, n.law}] = n.count
			}
			if len(runs) == 0 || runs[len(runs)-1] != n.run {
				runs = append(runs, n.run)
			}
		}
		return m, runs
	}
	old, known := counts(want)
	now, runs := counts(got)
	var out []Flip
	for _, run := range runs {
		if !slices.Contains(known, run) {
			continue // a new run flips nothing
		}
		for _, law := range l.Laws {
			before, after := cmp.Or(old[place{run, law}], "0"), cmp.Or(now[place{run, law}], "0")
			if before != after {
				out = append(out, Flip{Run: run, Law: law, Want: before, Got: after})
			}
		}
	}
	return out
}

// explain finds the first difference that matters.
func (l Language) explain(want, got []line, events []Event) *Difference {
	we, ge := unfold(eventLines(want, events), eventLines(got, events), events)
	i := 0
	for i < len(we) && i < len(ge) && we[i].event == ge[i].event && we[i].values == ge[i].values {
		i++
	}
	if i == len(we) && i == len(ge) {
		return explainRest(l.flips(want, got), want, got)
	}
	d := &Difference{}
	var w, g *line
	if i < len(we) {
		w, d.Want = &we[i], strings.TrimSpace(we[i].text)
	}
	if i < len(ge) {
		g, d.Got = &ge[i], strings.TrimSpace(ge[i].text)
	}
	d.Kind, d.What = kindOf(w, g, we[i:], ge[i:])
	d.Event = typed(ge, i, events)
	if w != nil && (g == nil || w.run == g.run && w.from() < g.from()) {
		d.Gone = fmt.Sprintf("tick %d, %s", w.from(), w.event.step)
	}
	return d
}

// kindOf names the difference between the first event lines that differ; one of them may be nil.
func kindOf(w, g *line, restWant, restGot []line) (Kind, string) {
	switch {
	case w == nil:
		return Extra, "the golden ends here, the transcript goes on"
	case g == nil:
		return Extra, "the transcript ends here, the golden goes on"
	}
	a, b := w.event, g.event
	switch {
	case a == b:
		return Value, changed(w.values, g.values)
	case a.step == b.step && a.tick == b.tick:
		return Outcome, fmt.Sprintf("wanted %s, got %s", word(a.outcome), word(b.outcome))
	case a.step == b.step && a.outcome == b.outcome:
		return Timing, fmt.Sprintf("wanted at tick %s, got at tick %s", a.tick, b.tick)
	}
	same := func(e happening) func(line) bool { return func(l line) bool { return l.event == e } }
	wLater, gLater := slices.ContainsFunc(restGot, same(a)), slices.ContainsFunc(restWant, same(b))
	moved := func(e happening, at string) func(line) bool {
		return func(l line) bool { return l.event.step == e.step && l.event.outcome == e.outcome && l.event.tick != at }
	}
	switch {
	case wLater && gLater && a.tick == b.tick:
		return Order, "the same events of tick " + a.tick + " in another order"
	case wLater && !gLater:
		if k := slices.IndexFunc(restWant, moved(b, b.tick)); k >= 0 && !slices.ContainsFunc(restGot, same(restWant[k].event)) {
			return Timing, fmt.Sprintf("%s: wanted at tick %s, got at tick %s", b.step, restWant[k].event.tick, b.tick)
		}
		return Extra, "the golden has no such event"
	case gLater && !wLater:
		if k := slices.IndexFunc(restGot, moved(a, a.tick)); k >= 0 && !slices.ContainsFunc(restWant, same(restGot[k].event)) {
			return Timing, fmt.Sprintf("%s: wanted at tick %s, got at tick %s", a.step, a.tick, restGot[k].event.tick)
		}
		return Extra, "the event of the golden does not happen any more"
	}
	return Extra, "another event happens"
}

func word(outcome string) string {
	if outcome == "" {
		return "nothing"
	}
	return outcome
}

// changed words how the values of a line differ: if they are as many as before, only those that do.
func changed(want, got string) string {
	w, g := fields(want), fields(got)
	if len(w) == len(g) {
		var a, b []string
		for i := range w {
			if w[i] != g[i] {
				a, b = append(a, w[i]), append(b, g[i])
			}
		}
		want, got = strings.Join(a, " "), strings.Join(b, " ")
	}
	return fmt.Sprintf("wanted %s, got %s", cmp.Or(want, "no value"), cmp.Or(got, "no value"))
}

// fields splits values at blanks; a text in quotes is one of them.
func fields(s string) []string {
	var out []string
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		n := strings.IndexByte(s, ' ')
		if q, err := strconv.QuotedPrefix(s); err == nil {
			n = len(q)
		}
		if n < 0 {
			n = len(s)
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// explainRest is for transcripts whose events agree: the verdicts, the numbers, the claims, the words, the colours.
func explainRest(flips []Flip, want, got []line) *Difference {
	if len(flips) > 0 {
		return &Difference{Kind: Verdict, What: "every event is the same; " + flips[0].String()}
	}
	differ := func(k Kind, what string, w, g []line, same func(a, b line) bool) *Difference {
		i := 0
		for i < len(w) && i < len(g) && same(w[i], g[i]) {
			i++
		}
		if i == len(w) && i == len(g) {
			return nil
		}
		d := &Difference{Kind: k, What: what}
		var a, b line
		if i < len(w) {
			a, d.Want = w[i], strings.TrimSpace(w[i].text)
		}
		if i < len(g) {
			b, d.Got = g[i], strings.TrimSpace(g[i].text)
		}
		if k == Value {
			d.What += changed(a.values, b.values)
		}
		return d
	}
	in := func(p part) (w, g []line) {
		of := func(lines []line) []line {
			return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.part != p || p == body && l.values == "" })
		}
		return of(want), of(got)
	}
	sameText := func(a, b line) bool { return a.text == b.text }
	claimsWant, claimsGot := in(claimed)
	if slices.EqualFunc(claimsWant, claimsGot, func(a, b line) bool { return a.claim() == b.claim() }) {
		if d := differ(Verdict, "every event and every law is the same; a claim is judged otherwise", claimsWant, claimsGot, sameVerdict); d != nil {
			return d
		}
	}
	w, g := in(body)
	if d := differ(Value, "every event and every law is the same; ", w, g, func(a, b line) bool { return a.values == b.values }); d != nil {
		return d
	}
	w, g = slices.DeleteFunc(claimsWant, line.head), slices.DeleteFunc(claimsGot, line.head)
	sameClaim := func(a, b line) bool { return a.claim() == b.claim() }
	if d := differ(Claims, "all that happens is the same; something else is claimed of it", w, g, sameClaim); d != nil {
		return d
	}
	if d := differ(Wording, "every event, number and verdict is the same", want, got, sameText); d != nil {
		return d
	}
	return &Difference{Kind: Colour, What: "only colours differ"}
}

// unfold makes two lists of event lines comparable where one line stands for several events, as "15..30" does. Of two
// such lines that say the same from the same tick on, the one that goes on for longer is cut into what both tell, and
// the rest, which stands where it begins: the difference is there, not where the lines begin.
func unfold(want, got []line, events []Event) (w, g []line) {
	type place struct {
		run, values, outcome string
		step                 deed
		from                 int64
	}
	at := map[place][]int{}
	key := func(l line) place { return place{l.run, l.values, l.event.outcome, l.event.step, l.from()} }
	for i, l := range got {
		at[key(l)] = append(at[key(l)], i)
	}
	w, g = slices.Clone(want), slices.Clone(got)
	var wRest, gRest []line
	for i, l := range want {
		k := key(l)
		if len(at[k]) == 0 {
			continue
		}
		j := at[k][0]
		at[k] = at[k][1:]
		switch a, b := l.to(), got[j].to(); {
		case a < b:
			g[j].event.tick = l.event.tick
			gRest = append(gRest, got[j].since(nextAfter(events, got[j], a)))
		case a > b:
			w[i].event.tick = got[j].event.tick
			// The golden has no typed events. It asked again as often as the transcript does, or nobody knows when.
			next := b + 1
			if before := lastBefore(events, got[j], b); before >= k.from {
				next = b + (b - before)
			}
			wRest = append(wRest, l.since(min(next, a)))
		}
	}
	return withRests(w, wRest), withRests(g, gRest)
}

// withRests puts every rest where it begins, behind what happens at the same tick.
func withRests(lines, rests []line) []line {
	for _, r := range rests {
		at := slices.IndexFunc(lines, func(l line) bool { return l.run == r.run && l.from() > r.from() })
		if at < 0 {
			at = len(lines)
			for at > 0 && lines[at-1].run != r.run {
				at--
			}
		}
		lines = slices.Insert(lines, at, r)
	}
	return lines
}

// nextAfter gives the tick of the next event of a folded line, the one after tick.
func nextAfter(events []Event, l line, tick int64) int64 {
	for i := range events {
		if e := &events[i]; e.behind(l) && e.Tick > tick && e.Tick <= l.to() {
			return e.Tick
		}
	}
	return tick + 1
}

// lastBefore gives the tick of the last event of a folded line before tick, -1 if there is none.
func lastBefore(events []Event, l line, tick int64) int64 {
	last := int64(-1)
	for i := range events {
		if e := &events[i]; e.behind(l) && e.Tick < tick && e.Tick >= l.from() {
			last = e.Tick
		}
	}
	return last
}

// behind tells whether an event is one of a line's run, client and verb.
func (e *Event) behind(l line) bool {
	return l.event.step == (deed{e.Actor, e.Verb}) && (!l.named || l.run == strconv.Quote(e.Run))
}

// typed finds the typed event behind the i-th event line: the one with the same run, tick, actor and verb, counted as often
// as the lines before it name that. Where the golden has a line that is gone, it is the event that took its place.
func typed(got []line, i int, events []Event) *Event {
	if i >= len(got) {
		return nil
	}
	at, nth := got[i].event, 0
	first, _, _ := strings.Cut(at.tick, "..")
	for _, l := range got[:i] {
		if l.run == got[i].run && l.event.step == at.step && l.event.tick == at.tick {
			nth++
		}
	}
	for k := range events {
		e := &events[k]
		if first == strconv.FormatInt(e.Tick, 10) && e.behind(got[i]) {
			if nth == 0 {
				return e
			}
			nth--
		}
	}
	return nil
}

// eventLines picks the lines that tell events, and notes which of them stand in a run that events name as the transcript
// does: there a long name is shortened, and a strange one spelled out.
func eventLines(lines []line, events []Event) []line {
	runs := map[string]bool{}
	for i := range events {
		runs[strconv.Quote(events[i].Run)] = true
	}
	var out []line
	for _, l := range lines {
		if l.event.tick != "" {
			l.named = runs[l.run]
			out = append(out, l)
		}
	}
	return out
}

// maxDiffLines is how much of a diff is shown: more than that nobody reads, and a log should stay one.
const maxDiffLines = 400

// Text words the difference for people, without colours: where, what kind, the event with its source line and the world
// before it, the verdicts that flip, and the diff.
func (d *Difference) Text(script, golden string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s prints something else than %s\n", visible(script), visible(golden))
	fmt.Fprintf(&b, "  kind   %s: %s\n", d.Kind, d.What)
	first := "first"
	if d.Gone != "" {
		fmt.Fprintf(&b, "  first  %s, as the golden has it\n", d.Gone)
		first = "now  "
	}
	if e := d.Event; e != nil {
		fmt.Fprintf(&b, "  %s  tick %d, %s %s", first, e.Tick, e.Actor, e.Verb)
		if e.Line > 0 {
			fmt.Fprintf(&b, ", line %d of the script", e.Line)
		}
		if e.Run != "" {
			fmt.Fprintf(&b, ", run %q", e.Run)
		}
		b.WriteByte('\n')
	}
	if d.Want != "" {
		fmt.Fprintf(&b, "  want   %s\n", d.Want)
	}
	if d.Got != "" {
		fmt.Fprintf(&b, "  got    %s\n", d.Got)
	}
	if d.Event != nil && d.Event.World != nil {
		fmt.Fprintf(&b, "  before %s\n", d.Event.World())
	}
	for _, f := range d.Flips {
		fmt.Fprintf(&b, "  flips  %s\n", f)
	}
	rest := d.Diff
	for range maxDiffLines {
		l, after, more := strings.Cut(rest, "\n")
		if !more {
			break
		}
		b.WriteString(l + "\n")
		rest = after
	}
	if n := strings.Count(rest, "\n"); n > 0 {
		fmt.Fprintf(&b, "… and %d lines more\n", n)
	}
	return b.String()
}
