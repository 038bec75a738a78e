// Package compile turns a checked script into programs for the engine: one plan for each run or sweep of the file, whose
// numbers are filled in cell by cell. It finds every fault of value (a division by zero, a tick below zero, a step inside
// its own client's pause); it runs nothing and judges nothing.
package compile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dlock/dsl"
	"dlock/engine"
)

// Unit is a file that is ready to run.
type Unit struct {
	Script *dsl.Script
	// Plans holds one plan for each run and sweep block in file order, or one without a name for a file without blocks.
	Plans []*Plan
	over  []setValue
	room  room
}

// room is what is left of the limits that all plans of a file share.
type room struct{ cells, lines, work int64 }

func fullRoom() room { return room{cells: MaxCells, lines: MaxLines, work: MaxCellWork} }

// Compile builds the plans of a checked script, with the overrides going before what the file says, and computes the values
// of every run and of every cell to find what is wrong with them. With errors among the diagnostics there is no unit.
func Compile(s *dsl.Script, over []Override) (*Unit, dsl.Diagnostics) {
	f := &faultList{}
	u := &Unit{Script: s, over: overrides(s, over, f), room: fullRoom()}
	if len(s.Blocks) == 0 {
		u.Plans = append(u.Plans, u.checkedPlan(nil, nil, f))
	}
	for _, b := range s.Blocks {
		if b.Kind == dsl.ExploreBlock {
			continue
		}
		if f.plan++; !u.roomForLines(b, f) {
			break
		}
		u.Plans = append(u.Plans, u.checkedPlan(b, nil, f))
	}
	if f.n > 0 {
		return nil, f.diagnostics(len(u.Plans))
	}
	return u, f.diagnostics(len(u.Plans))
}

// Sweep builds a sweep over axes that the file does not have: of the named run, or with the name "" of the top level alone.
// What the file's own claims say is not about such a sweep, so the plan has none. With errors there is no plan.
func (u *Unit) Sweep(run string, specs []AxisSpec) (*Plan, dsl.Diagnostics) {
	f := &faultList{}
	alone := Unit{Script: u.Script, over: u.over, room: fullRoom()}
	axes := specAxes(specs, letNames(u.Script), f)
	block, ok := u.runBlock(run)
	if !ok {
		f.add(dsl.CodeAxis, dsl.Span{}, fmt.Sprintf("the file has no run %q", run), "", "")
	}
	if f.n > 0 {
		return nil, f.diagnostics(1)
	}
	p := alone.checkedPlan(block, axes, f)
	if f.n > 0 {
		return nil, f.diagnostics(1)
	}
	p.Kind, p.Claims, p.Subjects, p.claims = dsl.SweepBlock, nil, nil, nil
	return p, f.diagnostics(1)
}

// runBlock finds a run; the name "" is the top level, which has no block.
func (u *Unit) runBlock(name string) (*dsl.Block, bool) {
	for _, b := range u.Script.Blocks {
		if b.Kind == dsl.RunBlock && b.Name == name && name != "" {
			return b, true
		}
	}
	return nil, name == ""
}

// Plan is one run, or one sweep with its cells: everything about it but the numbers of a cell.
type Plan struct {
	Name string
	Kind dsl.BlockKind
	Line int // of the block; 0 for a file without blocks
	Axes []Axis
	// Cells is the number of cells: 1 for a run.
	Cells int64
	// Overridden tells that the command line overrides something, so that the file's claims are not about this plan.
	Overridden bool
	// Claims holds the top level's claims, then the block's.
	Claims []*dsl.Expect
	// Subjects holds, for each claim, the client that it is about, by index; engine.None without one.
	Subjects []int32

	sc      *scope
	proto   *Binder // whose constants are filled in; binders are forks of it
	fields  []field // the numbers that differ between cells
	claims  []claimCode
	checks  []stepCheck
	servers []serverRef
	highest int // of the servers that the schedule names
	at      dsl.Span
	faulty  bool
}

// claimCode is the numbers of a claim.
type claimCode struct{ at, n, iff code }

// serverRef is a server that the schedule names.
type serverRef struct {
	hi int
	at dsl.Span
}

// roomForLines takes the lines of a block's plan out of what is left, or reports that there are too many.
func (u *Unit) roomForLines(b *dsl.Block, f *faultList) bool {
	u.room.lines -= int64(lines(&u.Script.Body) + lines(&b.Body))
	if u.room.lines < 0 {
		f.add(dsl.CodeLimit, b.Span, fmt.Sprintf("the runs and sweeps have more than %d lines in all", MaxLines),
			"Each has the top level's lines as well as its own.", "put fewer blocks into one file")
	}
	return u.room.lines >= 0
}

func lines(b *dsl.Body) int { return len(b.Settings) + len(b.Lets) + len(b.Expects) + steps(b.Steps) }

func steps(list []*dsl.Step) int {
	n := len(list)
	for _, s := range list {
		for _, o := range s.Outcomes {
			n += steps(o.Steps)
		}
	}
	return n
}

// checkedPlan builds a plan and computes all of its cells once.
func (u *Unit) checkedPlan(b *dsl.Block, axes []Axis, f *faultList) *Plan {
	p := u.newPlan(b, axes, f)
	if u.room.work -= p.Cells * p.work(); u.room.work < 0 {
		f.add(dsl.CodeLimit, p.at, "computing the cells of the sweeps takes too long",
			fmt.Sprintf("The lines and operations of a cell, times the cells, may be %d at most.", MaxCellWork), "sweep fewer values, or a shorter schedule")
		p.Cells = 1
	}
	p.check(f)
	return p
}

func (u *Unit) newPlan(b *dsl.Block, axes []Axis, f *faultList) *Plan {
	p := &Plan{Overridden: len(u.over) > 0, Cells: 1}
	bodies := []*dsl.Body{&u.Script.Body}
	if b != nil {
		p.Name, p.Kind, p.Line, p.at = b.Name, b.Kind, b.Span.Start.Line, b.Span
		bodies = append(bodies, &b.Body)
	}
	before := f.n
	f.where = p.where
	defer func() { f.where = nil }()
	if axes == nil && p.Kind == dsl.SweepBlock {
		axes = blockAxes(b, bodies, u.over, u.room.cells, f)
	}
	p.Axes = axes
	for i := range axes {
		p.Cells *= int64(max(axes[i].Len(), 1))
	}
	u.room.cells -= p.Cells
	p.sc = newScope(bodies, axes, u.over)
	p.sc.sort()
	ev := newEvaluator(p.sc, f)
	ev.compileNodes()
	ev.settle(ev.sc.fixed, nil)
	sh := shaper{plan: p, ev: ev, texts: map[string]int32{}, owners: map[string]int32{}, clients: map[string]int32{}}
	sh.layout(u.Script.Clients, bodies)
	p.proto = &Binder{
		evaluator: *ev, plan: p, prog: sh.prog,
		bad: make([]bool, len(sh.prog.Steps)), claims: make([]ClaimValues, len(p.Claims)),
	}
	p.proto.fill(sh.constants)
	p.faulty = f.n > before
	return p
}

// work is about how many operations the computing of a cell takes. Whether a step lies inside a pause that comes again is
// looked at for each two of them.
func (p *Plan) work() int64 {
	repeated := 0
	for i := range p.checks {
		if s := &p.proto.prog.Steps[p.checks[i].step]; s.Verb == engine.Pause && s.Repeat == engine.Every {
			repeated++
		}
	}
	return int64(len(p.sc.moving) + len(p.fields) + len(p.proto.cb.ins) + len(p.checks)*(repeated+1) + len(p.proto.prog.Messages))
}

// where says which run or sweep a fault is found in.
func (p *Plan) where() (string, bool) {
	if p.Name == "" {
		return "", false
	}
	return fmt.Sprintf("in %s %s", p.Kind, Quote(p.Name)), false
}

// Cell computes the values of the i-th cell, the first axis varying slowest, into a slice of the axes' length.
func (p *Plan) Cell(i int64, into []int64) {
	for a := len(p.Axes) - 1; a >= 0; a-- {
		n := int64(p.Axes[a].Len())
		into[a] = p.Axes[a].values[i%n]
		i /= n
	}
}

// At gives the values of a cell as people write them.
func (p *Plan) At(cell []int64) []Value {
	out := make([]Value, len(p.Axes))
	for a := range p.Axes {
		out[a] = decode(p.Axes[a].Name, cell[a])
	}
	return out
}

// check computes the cells and reports the faults of the first one that has any. Where constants are wrong already, the
// first cell shows what else is.
func (p *Plan) check(f *faultList) {
	for i := range p.Axes {
		if p.Axes[i].Len() == 0 {
			return // its values have been reported
		}
	}
	b := p.Binder()
	cell := make([]int64, len(p.Axes))
	for i := range p.Cells {
		p.Cell(i, cell)
		if _, ok := b.bind(cell); !ok {
			f.merge(b.faults)
			return
		}
	}
}

// shaper lays out a program: everything of it but its numbers, which it notes as fields.
type shaper struct {
	plan      *Plan
	ev        *evaluator
	prog      engine.Program
	texts     map[string]int32
	owners    map[string]int32
	clients   map[string]int32
	constants []field
}

func (sh *shaper) layout(clients []string, bodies []*dsl.Body) {
	p := sh.plan
	var roots []*dsl.Step
	for _, b := range bodies {
		roots = append(roots, b.Steps...)
		p.Claims = append(p.Claims, b.Expects...)
	}
	slices.SortStableFunc(roots, func(a, b *dsl.Step) int { return cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset) })
	sh.nameClients(clients, roots)
	for _, root := range roots {
		sh.prog.Roots = append(sh.prog.Roots, int32(len(sh.prog.Steps)))
		sh.prog.Steps = append(sh.prog.Steps, engine.Step{})
		sh.tree(root)
	}
	for _, c := range p.Claims {
		client := engine.None
		if i, ok := sh.clients[c.Client]; ok {
			client = i
		}
		p.Subjects = append(p.Subjects, client)
		p.claims = append(p.claims, claimCode{at: sh.ev.add(c.At), n: sh.ev.add(c.N), iff: sh.ev.add(c.Iff)})
	}
}

// nameClients numbers the clients that act or are claimed about, in the file's order.
func (sh *shaper) nameClients(clients []string, roots []*dsl.Step) {
	used := map[string]bool{}
	for _, s := range roots {
		used[s.Actor.Client] = true // the lines of a block have their step's actor
	}
	for _, c := range sh.plan.Claims {
		used[c.Client] = true
	}
	for _, name := range clients {
		if used[name] {
			i := int32(len(sh.prog.Clients))
			sh.clients[name], sh.owners[name] = i, i
			sh.prog.Clients = append(sh.prog.Clients, name)
		}
	}
	sh.prog.Owners = slices.Clone(sh.prog.Clients)
}

// tree lays out a root step, for which there is room at the end of the steps, and the blocks below it level by level: the
// steps of one block must lie side by side.
func (sh *shaper) tree(root *dsl.Step) {
	type pending struct {
		step *dsl.Step
		at   int32
	}
	client := engine.None
	if root.Actor.Client != "" {
		client = sh.clients[root.Actor.Client]
	}
	queue := []pending{{root, int32(len(sh.prog.Steps)) - 1}}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		sh.step(next.step, next.at, client)
		blocks := engine.Span{Lo: int32(len(sh.prog.Blocks))}
		for _, o := range next.step.Outcomes {
			span := engine.Span{Lo: int32(len(sh.prog.Steps))}
			for _, s := range o.Steps {
				queue = append(queue, pending{s, int32(len(sh.prog.Steps))})
				sh.prog.Steps = append(sh.prog.Steps, engine.Step{})
			}
			span.Hi = int32(len(sh.prog.Steps))
			sh.prog.Blocks = append(sh.prog.Blocks, engine.Block{On: outcomeBits(o.Words), Steps: span})
		}
		blocks.Hi = int32(len(sh.prog.Blocks))
		sh.prog.Steps[next.at].Blocks = blocks
	}
}

// OutcomeOf gives the engine's outcome for a word of the language.
func OutcomeOf(word string) (engine.Outcome, bool) {
	for o := engine.Outcome(0); o < engine.NumOutcomes; o++ {
		if o.String() == word {
			return o, word != ""
		}
	}
	return 0, false
}

func outcomeBits(words []string) uint32 {
	var bits uint32
	for _, w := range words {
		if o, ok := OutcomeOf(w); ok {
			bits |= 1 << o
		}
	}
	return bits
}

// number notes that a number of a step or message is the value of e.
func (sh *shaper) number(kind fieldKind, index int32, e dsl.Expr, step int32) {
	if e == nil {
		return
	}
	f := field{kind: kind, index: index, step: step, code: sh.ev.add(e), at: e.Span()}
	if sh.ev.varies(f.code) {
		sh.plan.fields = append(sh.plan.fields, f)
	} else {
		sh.constants = append(sh.constants, f)
	}
}

func (sh *shaper) step(s *dsl.Step, i, client int32) {
	verb := engineVerb(s)
	out := engine.Step{
		Line: int32(s.Span.Start.Line), Verb: verb, Client: client,
		TTL: engine.Forever, RetryUntil: engine.Forever, PauseFor: engine.Tick(engine.None), Owner: engine.None, Text: engine.None,
		Recreate: s.Recreate, Resource: s.FromRes, ClockStop: s.ClockEnd,
	}
	switch s.When.Kind {
	case dsl.At:
		sh.number(fieldAt, i, s.When.At, i)
	case dsl.After:
		out.Repeat = engine.AfterOutcome
		sh.number(fieldAt, i, s.When.At, i)
	case dsl.Every:
		out.Repeat = engine.Every
		sh.number(fieldAt, i, s.When.From, i)
		sh.number(fieldEvery, i, s.When.K, i)
		sh.number(fieldLast, i, s.When.To, i)
	}
	if s.TTL != nil && !s.TTL.None {
		sh.number(fieldTTL, i, s.TTL.N, i)
	}
	if s.Retry != nil {
		sh.number(fieldRetry, i, s.Retry.K, i)
		out.RetryPlus = s.Retry.Until.Plus
		sh.number(fieldRetryUntil, i, s.Retry.Until.Expr, i)
	}
	sh.number(fieldWatchdog, i, s.Watchdog, i)
	sh.number(fieldBefore, i, s.Before.Expr, i)
	out.BeforePlus = s.Before.Plus
	sh.number(fieldPauseFor, i, s.PauseFor, i)
	sh.number(fieldPauseUntil, i, s.Until.Expr, i)
	out.UntilPlus = s.Until.Plus
	sh.number(fieldClockBy, i, s.ClockBy, i)

	switch verb {
	case engine.Acquire, engine.Renew:
		out.Owner = client
		if s.As != "" {
			out.Owner = intern(&sh.prog.Owners, sh.owners, s.As)
		}
	case engine.Append, engine.Write:
		out.Text = intern(&sh.prog.Texts, sh.texts, s.Text)
	case engine.ServerRestart:
		switch s.Lose {
		case "empty":
			out.Restart = engine.RestartEmpty
		case "wiped":
			out.Restart = engine.RestartWiped
		}
	}
	switch {
	case s.IfCheck:
		out.If = engine.CondChecked
	case s.IfValid:
		out.If = engine.CondValid
	}
	if s.Version {
		out.Guards |= engine.GuardVersion
	}
	if s.Lock {
		out.Guards |= engine.GuardLock
	}
	if s.Before.Expr != nil {
		out.Guards |= engine.GuardBefore
	}

	switch {
	case len(s.Actor.Servers) > 0:
		out.Servers = sh.serverList(s.Actor.Servers)
	case len(s.From) > 0:
		out.Servers = sh.serverList(s.From)
	default:
		out.Servers = sh.serverList(s.On)
	}
	messages := engine.Span{Lo: int32(len(sh.prog.Messages))}
	for k := range s.Messages {
		m := &s.Messages[k]
		sh.prog.Messages = append(sh.prog.Messages, engine.Message{
			Servers: sh.serverList(m.Servers), Reply: m.Reply, Lost: m.Lost, Plus: m.When.Plus,
		})
		if !m.Lost {
			sh.number(fieldMessage, int32(len(sh.prog.Messages))-1, m.When.Expr, i)
		}
	}
	messages.Hi = int32(len(sh.prog.Messages))
	out.Messages = messages
	sh.prog.Steps[i] = out
	sh.plan.checks = append(sh.plan.checks, newStepCheck(s, i, &sh.prog))
}

// engineVerb tells a client's crash and clock from a server's.
func engineVerb(s *dsl.Step) engine.Verb {
	client := s.Actor.Client != ""
	switch s.Verb {
	case dsl.Acquire:
		return engine.Acquire
	case dsl.Renew:
		return engine.Renew
	case dsl.Release:
		return engine.Release
	case dsl.Read:
		return engine.Read
	case dsl.Append:
		return engine.Append
	case dsl.Write:
		return engine.Write
	case dsl.Check:
		return engine.Check
	case dsl.Notice:
		return engine.Notice
	case dsl.Pause:
		return engine.Pause
	case dsl.WatchdogStop:
		return engine.WatchdogStop
	case dsl.Restart:
		return engine.ServerRestart
	case dsl.Revoke:
		return engine.ServerRevoke
	case dsl.Forget:
		return engine.ResourceForget
	case dsl.Cut:
		return engine.Cut
	case dsl.Heal:
		return engine.Heal
	case dsl.Crash:
		if client {
			return engine.Crash
		}
		return engine.ServerCrash
	default:
		if client {
			return engine.ClientClock
		}
		return engine.ServerClock
	}
}

func intern(list *[]string, index map[string]int32, s string) int32 {
	if i, ok := index[s]; ok {
		return i
	}
	i := int32(len(*list))
	index[s] = i
	*list = append(*list, s)
	return i
}

// serverList appends the servers of some ranges, in their own order and each once. A server that no setting could
// provide is left out; the check of the cell reports it.
func (sh *shaper) serverList(ranges []dsl.ServerRange) engine.Span {
	if len(ranges) == 0 {
		return engine.Span{}
	}
	lo := len(sh.prog.ServerIDs)
	for _, r := range ranges {
		sh.plan.servers = append(sh.plan.servers, serverRef{hi: r.Hi, at: r.Span})
		sh.plan.highest = max(sh.plan.highest, r.Hi)
		for s := r.Lo; s <= min(r.Hi, dsl.MaxServers); s++ {
			sh.prog.ServerIDs = append(sh.prog.ServerIDs, int32(s)-1)
		}
	}
	slices.Sort(sh.prog.ServerIDs[lo:])
	sh.prog.ServerIDs = append(sh.prog.ServerIDs[:lo], slices.Compact(sh.prog.ServerIDs[lo:])...)
	return engine.Span{Lo: int32(lo), Hi: int32(len(sh.prog.ServerIDs))}
}

// cellText words a cell: "lease = 10, stall = 14".
func cellText(at []Value) string {
	words := make([]string, len(at))
	for i, v := range at {
		words[i] = v.String()
	}
	return strings.Join(words, ", ")
}

// Clients lists the clients that act in the plan or are claimed about; every other list goes by their places in it.
func (p *Plan) Clients() []string { return p.proto.prog.Clients }
