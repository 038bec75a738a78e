package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"dlock/audit"
	"dlock/engine"
)

// because says in a clause what led to a finding, "" where the finding says so itself or where it is not known. It looks one
// step back; `dlock why` goes back further.
func (t *teller) because(f *audit.Finding) string {
	switch f.Law {
	case audit.Overlap:
		return t.cause(f)
	case audit.DoubleHold:
		if o := t.overlapOf(f); o != nil {
			return t.cause(o)
		}
		if 2*t.settings().Quorum > t.settings().Servers {
			return "" // any two quorums share a server; its overlap is beyond those that are listed
		}
		return ", because " + number(t.settings().Quorum) + " of " + number(t.settings().Servers) + " votes are no majority"
	case audit.DoubleBelief:
		for _, c := range [...]int32{f.Other, f.Client} {
			if c >= 0 && int(c) < len(t.rec.Program.Clients) && !t.aud.Holds(c, f.T) {
				return prefixed(", though ", t.ofClient(c, f.T, math.MaxInt64))
			}
		}
		if o := t.overlapOf(f); o != nil {
			return t.cause(o)
		}
	case audit.StaleWrite:
		if w := t.unlockedWrite(f.Index); w != nil {
			return prefixed(", though ", t.ofClient(w.Client, w.Applied.Tick, w.Token))
		}
	case audit.LostUpdate:
		w := at(t.rec.Writes, f.By)
		if w == nil {
			return ""
		}
		if r := t.lastRead(w); r != nil {
			return ", read at " + tick(r.Applied.Tick)
		}
		if w.Base == 0 {
			return ", since it had read nothing"
		}
		return ", its own write"
	case audit.TokenRegress:
		return t.wiped(f)
	case audit.RefusedHolder:
		if at(t.rec.Writes, f.Index) == nil || f.Applied <= f.Token {
			return ""
		}
		if when, ok := t.applied(f.Index, f.Applied); ok {
			return ", applied at " + tick(when)
		}
	case audit.Starvation, audit.Deadlock:
		return t.lastRefusal(f)
	case audit.Orphan:
		return t.neverHeard(f)
	}
	return ""
}

// ofClient says how a client lost the lock, with its name in the sentence.
func (t *teller) ofClient(client int32, when engine.Tick, token int64) string {
	why, end := t.holdEnd(client, when, token)
	if why == "" || end == engine.Forever {
		return ""
	}
	return t.named(client, why)
}

// unlockedWrite gives a write if its client was not the holder, nil otherwise.
func (t *teller) unlockedWrite(i int32) *engine.WriteOp {
	if w := at(t.rec.Writes, i); w != nil && t.writers[i].unlocked != nil {
		return w
	}
	return nil
}

// overlapOf gives an overlap of the two clients of a double hold, in its stretch.
func (t *teller) overlapOf(f *audit.Finding) *audit.Finding {
	for i := range t.aud.Findings {
		o := &t.aud.Findings[i]
		if o.Law == audit.Overlap && o.T <= f.T && f.T < o.End &&
			(o.Client == f.Client && o.Other == f.Other || o.Client == f.Other && o.Other == f.Client) {
			return o
		}
	}
	return nil
}

// wiped names the last restart before a grant at which a server forgot its counter.
func (t *teller) wiped(f *audit.Finding) string {
	g := at(t.rec.Grants, f.Index)
	if g == nil || t.settings().Tokens != engine.TokensCounters {
		return ""
	}
	for i := len(t.rec.Faults) - 1; i >= 0; i-- {
		x := &t.rec.Faults[i]
		if x.Kind == engine.FaultServerCrash && x.Restart == engine.RestartWiped && x.End.Before(g.Cast) {
			return ", since " + server(x.Server) + " came up at " + tick(x.End.Tick) + " without its token counter"
		}
	}
	return ""
}

// lastRefusal says who had which servers when a client was refused for the last time.
func (t *teller) lastRefusal(f *audit.Finding) string {
	for i := len(t.rec.Attempts) - 1; i >= 0; i-- {
		a := &t.rec.Attempts[i]
		if a.Trial == f.Index && failed(a) {
			return prefixed(": ", t.refusal(a, int32(i)))
		}
	}
	return ""
}

// neverHeard says why the client of an orphaned attempt never heard of it.
func (t *teller) neverHeard(f *audit.Finding) string {
	a := at(t.rec.Attempts, f.Index)
	if a == nil {
		return ""
	}
	for i := range t.rec.Faults {
		if x := &t.rec.Faults[i]; x.Kind == engine.FaultClientCrash && x.Client == a.Client && x.Start.Before(a.Decided) {
			return ": it crashes at " + tick(x.Start.Tick)
		}
	}
	var lost []int32
	for _, v := range t.votes[f.Index] {
		if v := &t.rec.Votes[v]; v.Kind != engine.VoteNo && v.Kind != engine.VoteNothing && v.Lost {
			lost = append(lost, v.Server)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	slices.Sort(lost)
	return ": the answers of " + serverList(lost) + " are lost"
}

// whole is a finding with its cause and the lines of the file that it is about.
func (t *teller) whole(f *audit.Finding) string {
	s, why := t.finding(f), t.because(f)
	lines := t.linesOf(f)
	words := make([]string, len(lines))
	for i, l := range lines {
		words[i] = strconv.Itoa(int(l))
	}
	var where string
	switch len(lines) {
	case 0:
		return s + why
	case 1:
		where = "line " + words[0]
	default:
		where = "lines " + list(words, "and")
	}
	if strings.HasPrefix(why, " (") { // one pair of parentheses for both
		return s + strings.TrimSuffix(why, ")") + "; " + where + ")"
	}
	return s + why + " (" + where + ")"
}

// linesOf lists the lines of the steps that a finding is about, in the order of the file.
func (t *teller) linesOf(f *audit.Finding) []int32 {
	var lines []int32
	add := func(l int32) {
		if l > 0 {
			lines = append(lines, l)
		}
	}
	add(f.Line)
	switch f.Law {
	case audit.Overlap:
		if p := at(t.rec.Promises, f.By); p != nil {
			add(p.Line)
		}
	case audit.DoubleHold:
		if o := t.overlapOf(f); o != nil {
			if p := at(t.rec.Promises, o.By); p != nil {
				add(p.Line)
			}
		} else {
			add(t.grantLine(f.Other, f.T))
		}
	case audit.DoubleBelief:
		for i := range t.rec.Beliefs {
			if b := &t.rec.Beliefs[i]; b.Client == f.Other && b.Start.Tick <= f.T && (f.T < b.End.Tick || b.End.Tick == f.T) {
				add(b.Line)
			}
		}
	case audit.StaleWrite:
		if w := at(t.rec.Writes, f.By); w != nil {
			add(w.Line)
		}
	case audit.LostUpdate:
		if w := at(t.rec.Writes, f.Index); w != nil {
			add(w.Line)
		}
	case audit.UnlockedWrite, audit.RefusedHolder:
		add(t.grantLine(f.Client, f.T))
	case audit.TokenRegress:
		for i := range t.rec.Grants {
			if g := &t.rec.Grants[i]; g.Client == f.Other && g.Token == f.Applied && int32(i) != f.Index {
				add(g.Line)
				break
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// grantLine gives the line of the last grant that a client had heard by a tick, 0 for none.
func (t *teller) grantLine(client int32, when engine.Tick) int32 {
	line := int32(0)
	for i := range t.rec.Grants {
		if g := &t.rec.Grants[i]; g.Client == client && g.Heard.Tick <= when {
			line = g.Line
		}
	}
	return line
}
