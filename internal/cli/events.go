package cli

import (
	"fmt"
	"slices"
	"strings"

	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/golden"
	"dlock/internal/study"
)

// transcripts tells golden the words by which the lines of a transcript are read back.
func transcripts() golden.Language {
	verbs := []string{"lease of"} // a lease that ends has a line too
	for v := engine.Acquire; v <= engine.Heal; v++ {
		verbs = append(verbs, v.String())
	}
	outcomes := append(dsl.OutcomeWords(), "waiting", "sent", "down", "up", "taken", "freed", "frozen", "runs")
	return golden.Language{Verbs: verbs, Outcomes: outcomes, Laws: dsl.LawWords()}
}

// events lists the typed events of a file's runs, in the order of its transcript.
func events(file *study.File) []golden.Event {
	var all []golden.Event
	for _, it := range file.Items {
		if it.Run == nil {
			continue
		}
		rec := it.Run.Record
		for i := range rec.Events {
			e := &rec.Events[i]
			all = append(all, golden.Event{
				Run: it.Run.Name, Tick: int64(e.At.Tick), Actor: actor(rec, e), Verb: e.Verb.String(), Line: int(e.Line),
				World: func() string { return world(rec, e.At) },
			})
		}
	}
	return all
}

// actor names who an event is about, as transcripts do.
func actor(rec *engine.Record, e *engine.Event) string {
	client := e.Client
	if e.Verb == engine.Cut || e.Verb == engine.Heal {
		client = rec.Program.Steps[e.Step].Client
	}
	switch {
	case e.Verb == engine.ResourceForget:
		return "resource"
	case client >= 0:
		return rec.Program.Clients[client]
	}
	s := rec.Program.Steps[e.Step].Servers
	servers := slices.Clone(rec.Program.ServerIDs[s.Lo:s.Hi])
	if len(servers) == 0 {
		for i := range rec.Program.Settings.Servers {
			servers = append(servers, int32(i))
		}
	}
	slices.Sort(servers)
	var parts []string
	for i := 0; i < len(servers); {
		j := i
		for j+1 < len(servers) && servers[j+1] == servers[j]+1 {
			j++
		}
		switch {
		case j > i+1:
			parts = append(parts, fmt.Sprintf("s%d..s%d", servers[i]+1, servers[j]+1))
		default: // two are not worth a range
			parts = append(parts, fmt.Sprintf("s%d", servers[i]+1))
			j = i
		}
		i = j + 1
	}
	return strings.Join(parts, " ")
}

// maxValue is how much of a value is shown, in bytes; a value can have grown to any length.
const maxValue = 60

// world says in a few words what the world was just before a moment: whose leases live, who believes, what is stored.
func world(rec *engine.Record, m engine.Moment) string {
	covers := func(start, end engine.Moment) bool { return start.Before(m) && !end.Before(m) }
	held := make([]int, len(rec.Program.Clients))
	for i := range rec.Leases {
		if l := &rec.Leases[i]; covers(l.Start, l.End) {
			held[l.Client]++
		}
	}
	believes := make([]bool, len(held))
	for i := range rec.Beliefs {
		if b := &rec.Beliefs[i]; covers(b.Start, b.End) {
			believes[b.Client] = true
		}
	}
	var parts []string
	for c, n := range held {
		name := rec.Program.Clients[c]
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s has leases on %d of %d servers", name, n, rec.Program.Settings.Servers))
		}
		if believes[c] {
			parts = append(parts, name+" believes that it holds the lock")
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "nobody has a lease")
	}
	value, version := rec.Program.Settings.Initial, int64(0)
	for i := range rec.Writes {
		if w := &rec.Writes[i]; w.Accepted && w.Applied.Before(m) && w.Version > version {
			value, version = rec.Value(w.Value), w.Version
		}
	}
	if len(value) > maxValue {
		value = value[:maxValue] + "…"
	}
	return strings.Join(append(parts, fmt.Sprintf("the resource holds %q, version %d", value, version)), "; ")
}
