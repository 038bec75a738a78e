package report

import (
	"cmp"
	"slices"
	"strings"

	"dlock/audit"
	"dlock/dsl"
	"dlock/engine"
	"dlock/internal/study"
)

// A happening is one line of a transcript: who did what when, what came of it, and why.
type happening struct {
	from, to engine.Tick // the same, unless several are told as one
	who      string
	what     string
	outcome  string
	why      string
	tone     tone // of the outcome
	calm     bool // beside the point: waiting
}

// teller tells one run. It holds what a line needs besides its own event.
type teller struct {
	rec     *engine.Record
	aud     *audit.Report
	votes   [][]int32 // by attempt, into rec.Votes
	writers map[int32]breach

	// By client, in order of time: into aud.Holders, rec.Beliefs, rec.Pauses and rec.Writes. Every line asks these, and a
	// run can have a million.
	holds, beliefs, pauses, sent [][]int32
	accepted                     map[int64][]engine.Moment // by token, when its writes were applied, ascending
}

// breach says which laws a write broke.
type breach struct {
	stale, unlocked, refused *audit.Finding
	lost                     []*audit.Finding // writes that it made vanish
}

func newTeller(r *study.Run) *teller {
	t := &teller{rec: r.Record, aud: r.Audit, votes: make([][]int32, len(r.Record.Attempts)), writers: map[int32]breach{}}
	for i := range t.rec.Votes {
		if a := t.rec.Votes[i].Attempt; a >= 0 && int(a) < len(t.votes) {
			t.votes[a] = append(t.votes[a], int32(i))
		}
	}
	clients := len(t.rec.Program.Clients)
	t.holds = byClient(clients, len(t.aud.Holders), func(i int) int32 { return t.aud.Holders[i].Client })
	t.beliefs = byClient(clients, len(t.rec.Beliefs), func(i int) int32 { return t.rec.Beliefs[i].Client })
	t.pauses = byClient(clients, len(t.rec.Pauses), func(i int) int32 { return t.rec.Pauses[i].Client })
	t.sent = byClient(clients, len(t.rec.Writes), func(i int) int32 { return t.rec.Writes[i].Client })
	t.accepted = map[int64][]engine.Moment{}
	for i := range t.rec.Writes {
		if w := &t.rec.Writes[i]; w.Accepted {
			t.accepted[w.Token] = append(t.accepted[w.Token], w.Applied)
		}
	}
	for _, applied := range t.accepted { // each list by itself: the order of the map does not matter
		slices.SortFunc(applied, func(a, b engine.Moment) int {
			return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Seq, b.Seq))
		})
	}
	for i := range t.aud.Findings {
		f := &t.aud.Findings[i]
		at := f.Index
		if f.Law == audit.LostUpdate {
			at = f.By
		}
		b := t.writers[at]
		switch f.Law {
		case audit.StaleWrite:
			b.stale = f
		case audit.UnlockedWrite:
			b.unlocked = f
		case audit.RefusedHolder:
			b.refused = f
		case audit.LostUpdate:
			b.lost = append(b.lost, f)
		default:
			continue
		}
		t.writers[at] = b
	}
	return t
}

// byClient sorts the places of a list by the client that each is about.
func byClient(clients, n int, of func(i int) int32) [][]int32 {
	out := make([][]int32, clients)
	for i := range n {
		if c := of(i); c >= 0 && int(c) < clients {
			out[c] = append(out[c], int32(i))
		}
	}
	return out
}

// places gives what byClient sorted to a client.
func places(lists [][]int32, client int32) []int32 {
	if l := at(lists, client); l != nil {
		return *l
	}
	return nil
}

// cover gives the first of a client's stretches, which do not overlap, that ends after a tick.
func cover(places []int32, at engine.Tick, end func(i int32) engine.Tick) (int32, bool) {
	n, _ := slices.BinarySearchFunc(places, at, func(i int32, at engine.Tick) int {
		if end(i) > at {
			return 1
		}
		return -1
	})
	if n == len(places) {
		return 0, false
	}
	return places[n], true
}

// client names a client.
func (t *teller) client(i int32) string {
	if i < 0 || int(i) >= len(t.rec.Program.Clients) {
		return "nobody"
	}
	return t.rec.Program.Clients[i]
}

func (t *teller) step(i int32) *engine.Step {
	if i < 0 || int(i) >= len(t.rec.Program.Steps) {
		return &engine.Step{Client: engine.None}
	}
	return &t.rec.Program.Steps[i]
}

// settings of the run's world.
func (t *teller) settings() *engine.Settings { return &t.rec.Program.Settings }

// story tells the whole run: its events, and between them the leases that end without anybody's doing. Refused polls
// with the same reason are one line, and so are a watchdog's renewals with the same outcome. After maxLines lines it
// stops, and says how many events are left.
func (t *teller) story() (lines []happening, left int) {
	open := map[foldKey]int{} // the line that a repetition is told in
	ends := t.leaseEnds()
	for i := range t.rec.Events {
		e := &t.rec.Events[i]
		for len(ends) > 0 && ends[0].at.Before(e.At) { // what an event itself ends comes after it
			lines = append(lines, ends[0].line)
			ends = ends[1:]
		}
		if t.untold(e) {
			continue
		}
		if len(lines) >= maxLines {
			return lines, len(t.rec.Events) - i
		}
		h := t.happened(e)
		key, folds := t.fold(e, &h)
		if !folds {
			lines = append(lines, h)
			continue
		}
		if at, ok := open[key]; ok && lines[at].why == h.why && lines[at].outcome == h.outcome {
			lines[at].to = e.At.Tick
			continue
		}
		open[key] = len(lines)
		lines = append(lines, h)
	}
	for _, e := range ends {
		lines = append(lines, e.line)
	}
	return lines, 0
}

// maxLines is how many lines a story has: more than anybody reads, and little enough to print at once.
const maxLines = 5_000

// foldKey says which repetitions belong together: the polls of a trial, the renewals of a watchdog.
type foldKey struct {
	trial, step, client int32
}

func (t *teller) fold(e *engine.Event, h *happening) (foldKey, bool) {
	switch {
	case e.Outcome == engine.Waiting && e.Index >= 0:
		return foldKey{trial: t.rec.Attempts[e.Index].Trial, step: engine.None, client: engine.None}, true
	case e.Background && h.outcome != "":
		return foldKey{trial: engine.None, step: e.Step, client: e.Client}, true
	}
	return foldKey{}, false
}

// untold tells whether an event is part of what another line says: the send of a poll that was refused.
func (t *teller) untold(e *engine.Event) bool {
	return e.Verb == engine.Acquire && e.Outcome == engine.Sent && e.Index >= 0 &&
		t.rec.Attempts[e.Index].Outcome == engine.Waiting
}

// ending is a line about leases that end, and its place in the run.
type ending struct {
	at   engine.Moment
	line happening
}

// leaseEnds gives a line for every client's leases that end at a moment by running out or by somebody else's doing.
func (t *teller) leaseEnds() []ending {
	type group struct {
		at      engine.Moment
		client  int32
		ended   engine.Ending
		servers []int32
	}
	var groups []group
	for i := range t.rec.Leases {
		l := &t.rec.Leases[i]
		switch l.Ended {
		case engine.RanOut, engine.ByTakeover, engine.ByOther:
			if l.End.Tick <= l.Start.Tick && l.Ended == engine.RanOut {
				continue // a lease of ttl 0 held at no tick
			}
			groups = append(groups, group{l.End, l.Client, l.Ended, []int32{l.Server}})
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.at.Tick, b.at.Tick), cmp.Compare(a.at.Seq, b.at.Seq), cmp.Compare(a.client, b.client),
			cmp.Compare(a.ended, b.ended), cmp.Compare(a.servers[0], b.servers[0]))
	})
	var ends []ending
	for i := 0; i < len(groups); {
		g := groups[i]
		for i++; i < len(groups) && groups[i].client == g.client && groups[i].ended == g.ended && groups[i].at.Tick == g.at.Tick &&
			(g.ended == engine.RanOut || groups[i].at == g.at); i++ {
			g.servers = append(g.servers, groups[i].servers...)
		}
		slices.Sort(g.servers)
		h := happening{from: g.at.Tick, to: g.at.Tick, who: serverList(g.servers), what: "lease of " + t.client(g.client)}
		switch g.ended {
		case engine.RanOut:
			h.outcome, h.why = "runs out", t.unaware(g.client, g.at.Tick)
		case engine.ByTakeover:
			h.outcome, h.why = "taken", "the asker judges that it is over"
		case engine.ByOther:
			h.outcome, h.why = "freed", "by another client: the server does not check the owner"
		}
		ends = append(ends, ending{g.at, h})
	}
	return ends
}

// unaware says that a client goes on believing beyond a tick at which it ceases to hold the lock.
func (t *teller) unaware(client int32, at engine.Tick) string {
	who := t.client(client)
	if i, ok := cover(places(t.holds, client), at, func(i int32) engine.Tick { return t.aud.Holders[i].End }); ok &&
		t.aud.Holders[i].Start <= at {
		return who + " still holds the lock on the others"
	}
	i, ok := cover(places(t.beliefs, client), at, func(i int32) engine.Tick { return t.rec.Beliefs[i].End.Tick })
	switch {
	case !ok || t.rec.Beliefs[i].Start.Tick >= at:
		return ""
	case t.paused(client, at):
		return who + " is paused and still believes that it holds the lock"
	default:
		return who + " is not told and still believes that it holds the lock"
	}
}

// paused tells whether a client is paused at a tick.
func (t *teller) paused(client int32, at engine.Tick) bool {
	i, ok := cover(places(t.pauses, client), at, func(i int32) engine.Tick { return t.rec.Pauses[i].End })
	return ok && t.rec.Pauses[i].Start.Tick <= at
}

// happened tells one event.
func (t *teller) happened(e *engine.Event) happening {
	s := t.step(e.Step)
	h := happening{from: e.At.Tick, to: e.At.Tick, outcome: e.Outcome.String()}
	h.who, h.what = t.actor(e, s), t.action(e, s)
	switch e.Outcome {
	case engine.Sent:
		h.why = t.underway(e, s)
	case engine.Unheard:
		h.why = t.unheard(e)
	default:
		t.explain(e, s, &h)
	}
	if e.Outcome != engine.Sent && e.Sent < e.At.Tick {
		h.why = join([]string{h.why, "sent at " + tick(e.Sent)}, "; ")
	}
	if e.Heard != engine.Forever && e.Heard > e.At.Tick {
		h.why = join([]string{h.why, "heard at " + tick(e.Heard)}, "; ")
	}
	return h
}

// unheard says what an answer that never comes leaves behind.
func (t *teller) unheard(e *engine.Event) string {
	switch e.Verb {
	case engine.Append, engine.Write:
		return t.writeUnheard(e)
	case engine.Read:
		return "no answer comes: its copy stays as it was"
	case engine.Release:
		return "no answer comes: it has let go all the same"
	default:
		return "no answer comes: it believes what it did before"
	}
}

func (t *teller) explain(e *engine.Event, s *engine.Step, h *happening) {
	switch e.Verb {
	case engine.Acquire:
		t.explainAcquire(e, h)
	case engine.Renew, engine.Release, engine.Check:
		t.explainAsk(e, h)
	case engine.Read:
		if r := at(t.rec.Reads, e.Index); r != nil {
			h.outcome = value(t.rec.Value(r.Value))
			h.why = "version " + number(r.Version)
		}
	case engine.Append, engine.Write:
		t.explainWrite(e, s, h)
	case engine.Pause:
		if p := at(t.rec.Pauses, e.Index); p != nil {
			h.outcome, h.why = "paused", "executes nothing in "+interval(p.Start.Tick, p.End)
		}
	case engine.Notice:
		h.outcome, h.why = "knows", "that it no longer holds the lock"
	case engine.Crash:
		h.outcome, h.why = "gone", "its later steps with it"
	case engine.WatchdogStop:
		h.outcome, h.why = "stopped", "nothing renews the lease any more"
	default:
		t.explainFault(e, s, h)
	}
}

// at gives an element of a list of the record, or nil if there is none.
func at[T any](list []T, i int32) *T {
	if i < 0 || int(i) >= len(list) {
		return nil
	}
	return &list[i]
}

// actor says who acts.
func (t *teller) actor(e *engine.Event, s *engine.Step) string {
	switch e.Verb {
	case engine.Cut, engine.Heal:
		return t.client(s.Client)
	case engine.ResourceForget:
		return "resource"
	}
	if e.Client >= 0 {
		return t.client(e.Client)
	}
	return serverList(t.servers(s))
}

// servers lists those that a step names; none named means all.
func (t *teller) servers(s *engine.Step) []int32 {
	ids := t.rec.Program.ServerIDs
	if s.Servers.Len() == 0 || int(s.Servers.Hi) > len(ids) {
		all := make([]int32, t.settings().Servers)
		for i := range all {
			all[i] = int32(i)
		}
		return all
	}
	named := slices.Clone(ids[s.Servers.Lo:s.Servers.Hi])
	slices.Sort(named)
	return named
}

// action writes what was done as the language does, with every value computed.
func (t *teller) action(e *engine.Event, s *engine.Step) string {
	var b strings.Builder
	b.WriteString(e.Verb.String())
	ttl := func(n engine.Tick) {
		if n == engine.Forever {
			b.WriteString(" ttl none")
		} else {
			b.WriteString(" ttl " + number(n))
		}
	}
	switch e.Verb {
	case engine.Acquire:
		ttl(s.TTL)
		if s.Servers.Len() > 0 {
			b.WriteString(" on " + serverList(t.servers(s)))
		}
		if s.Owner != s.Client && s.Owner >= 0 && int(s.Owner) < len(t.rec.Program.Owners) {
			b.WriteString(" as " + value(t.rec.Program.Owners[s.Owner]))
		}
	case engine.Renew:
		ttl(s.TTL)
		if s.Recreate {
			b.WriteString(" recreate")
		}
		if e.Background {
			return "renew by watchdog"
		}
	case engine.Append, engine.Write:
		if s.Text >= 0 && int(s.Text) < len(t.rec.Program.Texts) {
			b.WriteString(" " + value(t.rec.Program.Texts[s.Text]))
		}
		b.WriteString(conditions(s))
	case engine.Pause:
		if s.PauseFor >= 0 {
			b.WriteString(" for " + number(s.PauseFor))
		} else {
			b.WriteString(" until " + plus(s.UntilPlus) + number(s.PauseUntil))
		}
	case engine.ClientClock, engine.ServerClock:
		switch {
		case s.ClockStop:
			b.WriteString(" stop")
		case s.ClockBy < 0:
			b.WriteString(" " + number(s.ClockBy))
		default:
			b.WriteString(" +" + number(s.ClockBy))
		}
	case engine.ServerRestart:
		b.WriteString([...]string{"", " empty", " wiped"}[s.Restart])
	case engine.Cut, engine.Heal:
		if s.Servers.Len() > 0 || s.Resource {
			b.WriteString(" from")
		}
		if s.Servers.Len() > 0 {
			b.WriteString(" " + serverList(t.servers(s)))
		}
		if s.Resource {
			b.WriteString(" resource")
		}
	}
	return b.String()
}

func plus(is bool) string {
	if is {
		return "+"
	}
	return ""
}

// conditions writes the suffixes of a write that decide about it.
func conditions(s *engine.Step) string {
	var b strings.Builder
	switch s.If {
	case engine.CondChecked:
		b.WriteString(" if checked")
	case engine.CondValid:
		b.WriteString(" if valid")
	}
	if s.Guards&engine.GuardVersion != 0 {
		b.WriteString(" guard version")
	}
	if s.Guards&engine.GuardLock != 0 {
		b.WriteString(" guard lock")
	}
	if s.Guards&engine.GuardBefore != 0 {
		b.WriteString(" guard before " + plus(s.BeforePlus) + number(s.Before))
	}
	return b.String()
}

// underway says when a request that takes time lands. An acquire's votes have it; for the other questions to servers it
// follows from their line.
func (t *teller) underway(e *engine.Event, s *engine.Step) string {
	first, last := engine.Forever, engine.Tick(-1)
	see := func(lands engine.Tick) {
		if lands != engine.Forever {
			first, last = min(first, lands), max(last, lands)
		}
	}
	switch e.Verb {
	case engine.Append, engine.Write:
		if w := at(t.rec.Writes, e.Index); w != nil {
			see(w.Applied.Tick)
		}
	case engine.Read:
		if r := at(t.rec.Reads, e.Index); r != nil {
			see(r.Applied.Tick)
		}
	case engine.Acquire:
		if a := at(t.votes, e.Index); a != nil {
			for _, v := range *a {
				see(t.rec.Votes[v].Applied.Tick)
			}
		}
	default:
		for _, server := range t.servers(&engine.Step{}) {
			see(t.lands(s, server, e.Sent))
		}
	}
	switch {
	case last < 0:
		return "lost on the way: it never lands"
	case last <= e.Sent:
		return "lands at once; the answer is under way"
	}
	return "under way, lands at " + stretch(first, last)
}

// lands says when a line's request reaches a server, by the line's suffixes.
func (t *teller) lands(s *engine.Step, server int32, sent engine.Tick) engine.Tick {
	lands := sent
	for i := s.Messages.Lo; i < s.Messages.Hi; i++ {
		m := at(t.rec.Program.Messages, i)
		switch {
		case m == nil || m.Reply || m.Servers.Len() > 0 && !slices.Contains(t.rec.Program.ServerIDs[m.Servers.Lo:m.Servers.Hi], server):
		case m.Lost:
			lands = engine.Forever
		case m.Plus:
			lands = sent + m.At
		default:
			lands = max(m.At, sent)
		}
	}
	return lands
}

func (t *teller) explainAcquire(e *engine.Event, h *happening) {
	a := at(t.rec.Attempts, e.Index)
	if a == nil {
		h.why = "it stops asking"
		return
	}
	switch e.Outcome {
	case engine.Granted:
		h.why = "token " + number(a.Token) + ", " + votes(a.HeardYes, int32(len(t.votes[e.Index])))
		if a.Again {
			h.why += "; it held the lock already (reentrant)"
		}
		h.why += "; " + t.leasesOf(a, e.Index)
		if every := t.step(e.Step).Watchdog; every > 0 {
			h.why += "; renewed every " + number(every)
		}
	case engine.Waiting:
		h.why, h.calm = t.refusal(a, e.Index)+"; it asks again every "+number(t.step(e.Step).Retry), true
	case engine.Denied:
		h.why = t.refusal(a, e.Index)
	}
}

// leasesOf says how long the leases of a granted attempt run if nothing renews or ends them.
func (t *teller) leasesOf(a *engine.Attempt, index int32) string {
	ttl := t.step(a.Step).TTL
	if ttl == engine.Forever || !t.settings().Leases {
		return "its leases have no end"
	}
	if t.settings().Judge == engine.JudgeCaller {
		return "leases to " + tick(a.Sent.Tick+ttl)
	}
	first, last := engine.Forever, engine.Tick(0)
	for _, v := range t.votes[index] {
		if v := &t.rec.Votes[v]; v.Kind == engine.VoteYes || v.Kind == engine.VoteAgain {
			first, last = min(first, v.Applied.Tick), max(last, v.Applied.Tick)
		}
	}
	switch first {
	case engine.Forever:
		return "no lease"
	case last:
		return "leases " + interval(first, first+ttl)
	default:
		return "leases to " + stretch(first+ttl, last+ttl)
	}
}

// refusal says why an attempt was not granted.
func (t *teller) refusal(a *engine.Attempt, index int32) string {
	if a.Invalid {
		return "the quorum was heard too late: its ttl had passed since the send (validity)"
	}
	type blocker struct {
		holder  int32
		servers []int32
	}
	var blockers []blocker
	var silent, returned []int32
	for _, i := range t.votes[index] {
		v := &t.rec.Votes[i]
		switch v.Kind {
		case engine.VoteNothing:
			silent = append(silent, v.Server)
		case engine.VoteNo:
			at := slices.IndexFunc(blockers, func(b blocker) bool { return b.holder == v.Holder })
			if at < 0 {
				at = len(blockers)
				blockers = append(blockers, blocker{holder: v.Holder})
			}
			blockers[at].servers = append(blockers[at].servers, v.Server)
		default:
			if v.Returned {
				returned = append(returned, v.Server)
			}
		}
	}
	var parts []string
	if a.Yes > 0 {
		heard := votes(a.HeardYes, int32(len(t.votes[index])))
		if a.Yes > a.HeardYes {
			heard += " heard (" + number(a.Yes) + " were cast)"
		}
		parts = append(parts, heard+", "+number(t.settings().Quorum)+" needed")
	}
	for _, b := range blockers {
		slices.Sort(b.servers)
		where := serverList(b.servers)
		switch {
		case b.holder < 0:
			parts = append(parts, where+" closed by lock-delay")
		case b.holder == a.Client:
			parts = append(parts, "it has "+where+" already")
		default:
			parts = append(parts, t.client(b.holder)+" has "+where)
		}
	}
	if len(silent) > 0 {
		slices.Sort(silent)
		parts = append(parts, "no answer from "+serverList(silent))
	}
	if a.Yes > 0 {
		slices.Sort(returned)
		if len(returned) > 0 {
			parts = append(parts, "hands back "+serverList(returned))
		} else {
			parts = append(parts, "hands nothing back")
		}
	}
	return strings.Join(parts, "; ")
}

func (t *teller) explainAsk(e *engine.Event, h *happening) {
	a := at(t.rec.Asks, e.Index)
	if a == nil {
		return
	}
	who := t.client(e.Client)
	part := number(a.Heard) + " of " + number(a.Asked) + " servers"
	switch e.Outcome {
	case engine.Renewed:
		h.why = "on " + part
		if a.Token > 0 {
			h.why += ", anew with token " + number(a.Token)
		}
	case engine.Lost:
		h.why = "only " + part + " still had its lease"
		if a.Heard == 0 {
			h.why = "no server has a lease of it"
		}
	case engine.Released:
		h.why = "on " + part
	case engine.Expired:
		h.why = "its leases were over: nothing to give back"
		if a.Heard > 0 {
			h.why = "only " + part + " still had its lease"
		}
	case engine.Yes:
		h.why = who + " has " + part
	case engine.No:
		h.why = who + " has " + part
		if a.Heard == 0 {
			h.why = who + " has no server"
		}
	}
}

func (t *teller) explainFault(e *engine.Event, s *engine.Step, h *happening) {
	switch e.Verb {
	case engine.ServerCrash:
		h.outcome, h.why = "down", "answers nothing"
	case engine.ServerRestart:
		h.outcome = "up"
		h.why = [...]string{"with all it knew", "without its lease", "without its lease and its token counter"}[s.Restart]
	case engine.ServerClock, engine.ClientClock:
		h.outcome = "jumps"
		if s.ClockStop {
			h.outcome, h.why = "frozen", "no lease ends by this clock"
			if e.Verb == engine.ClientClock {
				h.why = "its own clock no longer moves"
			}
		}
	case engine.ServerRevoke:
		h.outcome, h.why = "unlocked", "by force; the holder is not told"
	case engine.ResourceForget:
		h.outcome, h.why = "forgets", "the highest token it has seen"
	case engine.Cut:
		h.outcome, h.why = "cut off", "what is sent from here on is lost"
	case engine.Heal:
		h.outcome = "connected"
	}
}

// lines gives the source line of a step that a block of the script holds, for people.
func sourceLine(line int32) string {
	if line <= 0 {
		return ""
	}
	return "line " + number(line)
}

// blank is what a table shows where nothing is to be said.
const blank = "-"

// runName names a run in headings.
func runName(r *study.Run) string {
	if r.Name == "" {
		return "run"
	}
	return "run " + quote(name(r.Name))
}

// scriptTitle is the scenario's title, or its file's name.
func scriptTitle(s *dsl.Script) string {
	if s.Title != "" {
		return name(s.Title)
	}
	return name(s.File)
}
