package margin

import (
	"cmp"
	"slices"
	"strconv"

	"dlock/audit"
	"dlock/engine"
)

// world is a run with its audit, as verdicts are read from it.
type world struct {
	rec    *engine.Record
	aud    *audit.Report
	writes []write         // in the order of time
	byLine map[int32][]int // into writes
	final  string
}

// write is a write that its client came to, sent or not.
type write struct {
	client int32
	line   int32
	nth    int
	at     engine.Moment
	State
}

func newWorld(p *engine.Program) *world {
	w := &world{rec: engine.Run(p), byLine: map[int32][]int{}}
	w.aud = audit.Judge(w.rec)
	w.final = w.rec.Value(w.rec.Final)
	for i := range w.rec.Writes {
		o := &w.rec.Writes[i]
		st := State{Fate: Refused, Reason: o.Reason, T: o.Applied.Tick}
		switch {
		case o.Accepted:
			st.Fate = Accepted
		case o.Applied.Tick == engine.Forever:
			st.Fate = Adrift
		}
		w.writes = append(w.writes, write{client: o.Client, line: o.Line, at: o.Sent, State: st})
	}
	for i := range w.rec.Events {
		if e := &w.rec.Events[i]; e.Outcome == engine.Skipped {
			w.writes = append(w.writes, write{client: e.Client, line: e.Line, at: e.At, State: State{Fate: Skipped, Reason: e.Reason, T: e.At.Tick}})
		}
	}
	slices.SortStableFunc(w.writes, func(a, b write) int {
		return cmp.Or(cmp.Compare(a.at.Tick, b.at.Tick), cmp.Compare(a.at.Seq, b.at.Seq))
	})
	for i := range w.writes {
		o := &w.writes[i]
		o.nth = len(w.byLine[o.line])
		w.byLine[o.line] = append(w.byLine[o.line], i)
	}
	return w
}

func (w *world) client(i int32) string {
	if i < 0 || int(i) >= len(w.rec.Program.Clients) {
		return ""
	}
	return w.rec.Program.Clients[i]
}

// state reads one side of a verdict.
func (w *world) state(v *Verdict) State {
	switch v.Subject {
	case OfLaw:
		return w.law(v.Law)
	case OfFinal:
		return State{Final: w.final}
	}
	if same := w.byLine[v.Line]; v.Nth < len(same) {
		return w.writes[same[v.Nth]].State
	}
	return State{Fate: Absent, T: engine.Forever}
}

func (w *world) law(l audit.Law) State {
	st := State{Count: w.aud.Counts[l]}
	for i := range w.aud.Findings {
		f := &w.aud.Findings[i]
		if f.Law != l {
			continue
		}
		st.First = &Finding{Client: w.client(f.Client), Other: w.client(f.Other), T: f.T, End: f.End}
		if l == audit.Overlap {
			st.First.Server = "s" + strconv.Itoa(int(f.Server)+1)
		}
		break
	}
	return st
}

// verdicts lists what can flip: the laws of safety, those others that are broken, the final value, the writes.
func (s *scan) verdicts(base *world) {
	out := &s.out.Verdicts
	for l := range audit.NumLaws {
		if l.Kind() == audit.Safety || base.aud.Counts[l] > 0 {
			*out = append(*out, Verdict{Subject: OfLaw, Law: l})
		}
	}
	*out = append(*out, Verdict{Subject: OfFinal})
	for i := range base.writes {
		if i == MaxWrites {
			s.out.Unlisted = len(base.writes) - i
			break
		}
		o := &base.writes[i]
		*out = append(*out, Verdict{Subject: OfWrite, Client: base.client(o.client), Line: o.line, Nth: o.nth})
	}
	for i := range *out {
		(*out)[i].Now = base.state(&(*out)[i])
	}
}

func decimal(t engine.Tick) string { return strconv.FormatInt(int64(t), 10) }
