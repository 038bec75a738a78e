// Package why finds the causes of a broken law: the chain of events that led to it, and what the same schedule does when one
// rule of the world differs. It reruns and compares; it words nothing, and it claims nothing that no rerun showed.
package why

import (
	"context"

	"dlock/audit"
	"dlock/engine"
	"dlock/internal/study"
)

// Answer is why one law is broken in a run.
type Answer struct {
	Law     audit.Law
	Count   int64         // how often it is broken
	Finding audit.Finding // the first time, which Chain and Reruns are about
	Chain   []Link        // in order of time; the last link completes it
	Reruns  []Rerun       // in the order in which they were tried
}

// LinkKind says what a link of a chain is.
type LinkKind uint8

// The kinds of links.
const (
	LinkEvent LinkKind = iota // Index is into Record.Events
	LinkLease                 // Index is into Record.Leases: the lease ends
	LinkHold                  // Index is into Report.Holders: the client's hold ends, and no step of the file ended it
)

// Link is one event of a chain.
type Link struct {
	Kind  LinkKind
	At    engine.Moment
	Line  int32 // of the file; 0 if no line did it
	Index int32
}

// Rerun is the same schedule with one change.
type Rerun struct {
	Change Change
	Count  int64 // how often the law is broken now
	Final  string
	// Gone and New list the other laws that are no longer broken, and those that are broken only now.
	Gone, New []audit.Law
	// Shown is the first event that came out differently, in A the original run and in B the rerun, preferring the event that
	// completed the finding; both are engine.None if nothing differs.
	Shown study.EventPair
	Run   *study.Run
}

// Helps tells whether the law is kept in the rerun.
func (r *Rerun) Helps() bool { return r.Count == 0 }

// Harms tells whether the rerun breaks a law that the original run keeps.
func (r *Rerun) Harms() bool { return len(r.New) > 0 }

// Same tells whether every event came out as before. Leases, and laws that are judged by them, can differ all the same.
func (r *Rerun) Same() bool { return r.Shown == study.EventPair{A: engine.None, B: engine.None} }

// Explain answers for every law that a run breaks, or for one of them. A run that stopped at a limit of the engine is not
// explained, since what it lacks is not known. The only error is the context's.
func Explain(ctx context.Context, run *study.Run, only []audit.Law) ([]Answer, error) {
	if run.Inconclusive() {
		return nil, nil
	}
	var out []Answer
	for i := range run.Audit.Findings {
		f := &run.Audit.Findings[i]
		if len(out) > 0 && out[len(out)-1].Law == f.Law || !wanted(only, f.Law) {
			continue
		}
		a := Answer{Law: f.Law, Count: run.Audit.Counts[f.Law], Finding: *f, Chain: follow(run, f)}
		for _, c := range changes(run, f) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if a.enough(&c) {
				continue
			}
			if r, ok := rerun(run, f, c); ok {
				a.Reruns = append(a.Reruns, r)
			}
		}
		if r, ok := closeLonger(run, f); ok {
			a.Reruns = append(a.Reruns, r)
		}
		out = append(out, a)
	}
	return out, nil
}

// enough tells whether a weaker fence than the change's keeps the law already.
func (a *Answer) enough(c *Change) bool {
	for i := range a.Reruns {
		r := &a.Reruns[i]
		if r.Helps() && (c.Kind == SetFencing || c.Fenced) && r.Change.Settings.Fencing != engine.FencingOff &&
			r.Change.Kind == SetFencing && c.Settings.Fencing >= r.Change.Settings.Fencing {
			return true
		}
	}
	return false
}

func wanted(only []audit.Law, l audit.Law) bool {
	for _, o := range only {
		if o == l {
			return true
		}
	}
	return len(only) == 0
}

// rerun runs the schedule with a change. A run that reaches a limit shows nothing.
func rerun(run *study.Run, f *audit.Finding, c Change) (Rerun, bool) {
	rec := engine.Run(c.apply(run.Record.Program))
	if rec.Limit != engine.NoLimit {
		return Rerun{}, false
	}
	again := &study.Run{Name: run.Name, Line: run.Line, Record: rec, Audit: audit.Judge(rec)}
	r := Rerun{Change: c, Count: again.Audit.Counts[f.Law], Final: rec.Value(rec.Final), Run: again}
	for l := range audit.NumLaws {
		before, after := run.Audit.Counts[l] > 0, again.Audit.Counts[l] > 0
		switch {
		case l == f.Law:
		case before && !after:
			r.Gone = append(r.Gone, l)
		case after && !before:
			r.New = append(r.New, l)
		}
	}
	r.Shown = shown(run, again, f)
	return r, true
}

// shown picks the difference that says most: what became of the step that completed the finding, or else the first one.
func shown(a, b *study.Run, f *audit.Finding) study.EventPair {
	d := study.Diff(a, b)
	if len(d.Events) == 0 {
		return study.EventPair{A: engine.None, B: engine.None}
	}
	for _, p := range d.Events {
		if p.A == engine.None || p.B == engine.None {
			continue
		}
		x, y := &a.Record.Events[p.A], &b.Record.Events[p.B]
		if x.Line == f.Line && x.At.Tick == f.T && x.Outcome != y.Outcome {
			return p
		}
	}
	for _, p := range d.Events {
		if p.A == engine.None || p.B == engine.None || a.Record.Events[p.A].Outcome != b.Record.Events[p.B].Outcome {
			return moved(a.Record, b.Record, p)
		}
	}
	return d.Events[0]
}

// moved completes a pair of which only the original run has an event: the same request may have come to its end at another
// tick.
func moved(a, b *engine.Record, p study.EventPair) study.EventPair {
	if p.A == engine.None || p.B != engine.None {
		return p
	}
	x := &a.Events[p.A]
	for i := range b.Events {
		y := &b.Events[i]
		if y.Step == x.Step && y.Client == x.Client && y.Verb == x.Verb && y.Sent == x.Sent && y.At.Tick != x.At.Tick && y.Outcome != engine.Sent {
			p.B = int32(i)
			return p
		}
	}
	return p
}
