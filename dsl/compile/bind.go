package compile

import (
	"fmt"
	"slices"
	"strings"

	"dlock/dsl"
	"dlock/engine"
)

// fieldKind is which number of a step or message an expression gives.
type fieldKind uint8

const (
	fieldAt fieldKind = iota
	fieldEvery
	fieldLast
	fieldTTL
	fieldRetry
	fieldRetryUntil
	fieldWatchdog
	fieldBefore
	fieldPauseFor
	fieldPauseUntil
	fieldClockBy
	fieldMessage
)

// String names the number as a diagnostic does.
func (k fieldKind) String() string {
	return [...]string{"the tick", `"every"`, "the last tick", "the ttl", `"retry every"`, `the tick after "until"`,
		`"watchdog every"`, `the tick after "before"`, "the pause", `the tick after "until"`, "the clock's jump", "the message's tick"}[k]
}

// least is the smallest that the number may be; all may be MaxTick at most.
func (k fieldKind) least() engine.Tick {
	switch k {
	case fieldEvery, fieldRetry, fieldWatchdog:
		return 1
	case fieldClockBy:
		return -MaxTick
	default:
		return 0
	}
}

// field is one number of the program that is computed from an expression.
type field struct {
	kind  fieldKind
	index int32 // of the step, or of the message
	step  int32
	code  code
	at    dsl.Span
	late  int32 // 1 plus the number of the late hole that it is the value of, plus a constant; 0 for none
}

// ClaimValues is the numbers of a claim in one cell. What the claim does not have is zero.
type ClaimValues struct {
	At  engine.Tick
	N   int64
	Iff bool
	In  int64 // the number of members that it is about
}

// Binder computes the cells of a plan, one after the other, into a program that it reuses. Use it from one goroutine.
type Binder struct {
	evaluator
	plan    *Plan
	prog    engine.Program
	bad     []bool // steps with a number that is wrong: no further complaints about them
	gone    []bool // steps of lines that are not there
	claims  []ClaimValues
	cell    []int64 // of a family: the holes' values
	choice  []int64
	late    []engine.Hole
	last    engine.Tick // the last scheduled one
	windows []window
	series  []window
	moving  []window // whose start waits for a late hole
}

// Binder makes a binder for one worker.
func (p *Plan) Binder() *Binder {
	b := &Binder{evaluator: p.proto.fork(), plan: p, prog: p.proto.prog, bad: slices.Clone(p.proto.bad), gone: p.proto.gone, claims: slices.Clone(p.proto.claims)}
	b.prog.Steps = slices.Clone(b.prog.Steps)
	b.prog.Messages = slices.Clone(b.prog.Messages)
	if p.family != nil {
		b.gone = make([]bool, len(p.proto.gone))
		b.prog.Roots = slices.Clone(b.prog.Roots)
		b.prog.ServerIDs = slices.Clone(b.prog.ServerIDs)
	}
	b.faults.where = b.where
	return b
}

func (b *Binder) where() (string, bool) {
	w, _ := b.plan.where()
	if b.plan.family != nil {
		text := b.choiceText()
		if text == "" {
			return w, false
		}
		return strings.TrimRight("with "+text+" "+w, " "), true
	}
	if len(b.cell) == 0 {
		return w, false
	}
	cell := "in the cell " + cellText(b.plan.At(b.cell))
	if w != "" {
		cell += " of" + strings.TrimPrefix(w, "in")
	}
	return cell, true
}

// Bind computes the program of a cell; nil is the only cell of a run, and of a family the member of all first values. The program is valid until the next call. It is nil
// if the cell has faults, which no cell has that Compile let pass. It allocates nothing.
func (b *Binder) Bind(cell []int64) (*engine.Program, dsl.Diagnostics) {
	if b.plan.family != nil {
		return b.BindMember(nil)
	}
	if prog, ok := b.bind(cell); ok {
		return prog, nil
	}
	return nil, b.faults.diagnostics(1)
}

func (b *Binder) bind(cell []int64) (*engine.Program, bool) {
	b.restart()
	b.cell = cell
	b.settle(b.sc.moving, cell)
	b.fill(b.plan.fields)
	b.checkSettings()
	b.last = b.checkSchedule()
	if b.sc.nodes[setHorizon].from == byDefault {
		b.slots[setHorizon], b.good[setHorizon] = int64(b.last+HorizonSlack), true
	}
	b.fillClaims()
	if b.faults.n > 0 || b.plan.faulty {
		return nil, false
	}
	b.fillSettings()
	return &b.prog, true
}

// restart forgets what was wrong with the cell before.
func (b *Binder) restart() {
	if b.faults.n > 0 {
		copy(b.bad, b.plan.proto.bad)
		b.faults.reset()
	}
}

// Claim gives the numbers of the i-th claim in the cell, slice or member that was bound last.
func (b *Binder) Claim(i int) ClaimValues { return b.claims[i] }

// Settings gives every setting in the cell that was bound last, in the language's order.
func (b *Binder) Settings() []Value {
	out := make([]Value, 0, numSettings)
	for i := range numSettings {
		name := b.sc.nodes[i].name
		if i == setInitial {
			out = append(out, Value{Name: name, Word: b.sc.initial, Str: true})
			continue
		}
		out = append(out, decode(name, b.slots[i]))
	}
	return out
}

// Lets gives every let in the cell, slice or member that was bound last, in file order; in a slice the late holes have
// their first values. A let that is left open, which nothing depends on, is missing.
func (b *Binder) Lets() []Value {
	out := make([]Value, 0, b.sc.named-int(numSettings))
	for i := int(numSettings); i < b.sc.named; i++ {
		if !b.good[i] {
			continue
		}
		out = append(out, Value{Name: b.sc.nodes[i].name, N: b.slots[i]})
	}
	return out
}

// fill computes fields into the program.
func (b *Binder) fill(fields []field) {
	for i := range fields {
		f := &fields[i]
		if b.gone[f.step] {
			continue
		}
		n, ok := b.eval(f.code)
		if ok && (n < int64(f.kind.least()) || n > int64(MaxTick)) {
			ok = false
			b.outOfRange(f, n)
		}
		hole := int32(0)
		if b.prog.Holes != nil {
			hole = f.late
		}
		if n := n + int64(b.reach(hole)); ok && n > int64(MaxTick) {
			ok = false
			b.pickLate(hole, int64(b.prog.Holes[hole-1].N)-1)
			b.outOfRange(f, n)
			b.pickLate(hole, -1)
		}
		if !ok {
			b.bad[f.step] = true
			continue
		}
		v := engine.Tick(n)
		s := &b.prog.Steps[f.step]
		switch f.kind {
		case fieldAt:
			s.At, s.Hole = v, hole
		case fieldEvery:
			s.K = v
		case fieldLast:
			s.Last = v
		case fieldTTL:
			s.TTL = v
			if v == 0 && len(b.plan.Axes) == 0 && !b.varies(f.code) {
				b.faults.warn(dsl.CodeZeroTTL, f.at, "a lease with ttl 0 holds for no tick", "A lease taken at t covers [t, t+ttl), which is empty here: the grant is over before anything can be done under it.", "")
			}
		case fieldRetry:
			s.Retry = v
		case fieldRetryUntil:
			s.RetryUntil = v
		case fieldWatchdog:
			s.Watchdog = v
		case fieldBefore:
			s.Before = v
		case fieldPauseFor:
			s.PauseFor = v
		case fieldPauseUntil:
			s.PauseUntil = v
		case fieldClockBy:
			s.ClockBy = v
		case fieldMessage:
			b.prog.Messages[f.index].At = v
		}
	}
}

// reach is how far the tick of a line that waits for a late hole, by 1 plus its number, can be from the first one.
func (b *Binder) reach(hole int32) engine.Tick {
	if hole == 0 || b.prog.Holes == nil {
		return 0
	}
	h := &b.prog.Holes[hole-1]
	return engine.Tick(h.N-1) * h.By
}

// pickLate lets a fault name the value of a late hole that it is about.
func (b *Binder) pickLate(hole int32, value int64) {
	if hole > 0 {
		b.choice[b.plan.family.late[hole-1]] = value
	}
}

func (b *Binder) outOfRange(f *field, n int64) {
	code, lo := dsl.CodeStepNumber, f.kind.least()
	if lo == 1 {
		code = dsl.CodeEmptyEvery
	}
	if n > int64(MaxTick) {
		b.faults.add(code, f.at, fmt.Sprintf("%s is %d, but may be at most %d", f.kind, n, MaxTick), "", "")
		return
	}
	b.faults.add(code, f.at, fmt.Sprintf("%s is %d, but must be %d or more", f.kind, n, lo), "", "")
}

func (b *Binder) fillClaims() {
	for i := range b.plan.claims {
		c, v := &b.plan.claims[i], &b.claims[i]
		e := b.plan.Claims[i]
		if !c.at.missing() {
			v.At = engine.Tick(b.claimed(c.at, e.At, int64(MaxTick)))
		}
		if !c.n.missing() {
			v.N = b.claimed(c.n, e.N, 1<<62)
		}
		if !c.in.missing() {
			v.In = b.claimed(c.in, e.In, 1<<62)
		}
		if !c.iff.missing() {
			n, _ := b.eval(c.iff)
			v.Iff = n != 0
		}
	}
}

func (b *Binder) claimed(c code, e dsl.Expr, hi int64) int64 {
	n, ok := b.eval(c)
	if ok && (n < 0 || n > hi) {
		b.faults.add(dsl.CodeStepNumber, e.Span(), fmt.Sprintf("the claim's number is %d, but must be from 0 to %d", n, hi), "", "")
	}
	return n
}

func (b *Binder) fillSettings() {
	at := func(i int32) int64 { return b.slots[i] - firstWord }
	s := &b.prog.Settings
	s.Servers, s.Quorum = int(b.slots[setServers]), int(b.slots[setQuorum])
	s.Fencing, s.FenceAt = engine.Fencing(at(setFencing)), engine.FenceAt(at(setFenceAt))
	s.Leases, s.OwnerCheck, s.Reentrant = at(setLeases) == 0, at(setOwnerCheck) == 0, at(setReentrant) == 1
	s.Handback, s.Tokens, s.Judge = engine.Handback(at(setHandback)), engine.Tokens(at(setTokens)), engine.Judge(at(setJudge))
	s.Validity, s.Margin = true, 0
	switch v := b.slots[setValidity]; {
	case v == firstWord:
		s.Validity = false
	case !isWord(v):
		s.Margin = engine.Tick(v)
	}
	s.LockDelay, s.Horizon = engine.Tick(b.slots[setLockDelay]), engine.Tick(b.slots[setHorizon])
	s.Initial = b.sc.initial
}
