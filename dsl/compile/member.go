package compile

import (
	"dlock/dsl"
	"dlock/engine"
)

// BindSlice computes the program of a slice: its late holes are holes of the program, and its ties are open if the family's
// are. The program is valid until the next call. It is nil if the slice has faults, which none has that Compile let pass.
func (b *Binder) BindSlice(choice []int64) (*engine.Program, dsl.Diagnostics) {
	return b.bindChoice(choice, true)
}

// BindMember computes the program of a member: choice has the index of a value for every hole, those of lines that are not
// there aside. It is an ordinary program but for its ties, which are open if the family's are. "where" is not asked.
func (b *Binder) BindMember(choice []int64) (*engine.Program, dsl.Diagnostics) {
	return b.bindChoice(choice, false)
}

func (b *Binder) bindChoice(choice []int64, slice bool) (*engine.Program, dsl.Diagnostics) {
	if b.plan.family == nil {
		return b.Bind(nil)
	}
	b.choose(choice, slice)
	if b.faults.n > 0 || b.plan.faulty {
		return nil, b.faults.diagnostics(1)
	}
	b.fillSettings()
	return &b.prog, nil
}

// pick computes the names for a choice. A hole that is not chosen has its first value.
func (b *Binder) pick(choice []int64) {
	b.restart()
	f := b.plan.family
	b.choice, b.cell = b.choice[:0], b.cell[:0]
	for h := range f.holes {
		values := f.holes[h].Values
		k := int64(-1)
		if h < len(choice) && choice[h] < int64(len(values)) {
			k = choice[h]
		}
		b.choice, b.cell = append(b.choice, k), append(b.cell, values[max(k, 0)])
	}
	b.settle(b.sc.moving, b.cell)
}

// choose is bind for a slice or a member.
func (b *Binder) choose(choice []int64, slice bool) {
	b.pick(choice)
	f := b.plan.family
	b.prog.Holes = nil
	if slice {
		b.late = b.late[:0]
		for _, h := range f.late {
			hole := &f.holes[h]
			n := int32(len(hole.Values))
			if hole.In >= 0 && b.cell[hole.In] == 0 {
				n = 1
			}
			b.late = append(b.late, engine.Hole{N: n, By: hole.by()})
		}
		b.prog.Holes = b.late
	}
	b.putLines(f)
	b.fill(b.plan.fields)
	if f.relist {
		b.putServers()
	}
	b.checkSettings()
	b.last = b.checkSchedule()
	if b.sc.nodes[setHorizon].from == byDefault {
		b.slots[setHorizon], b.good[setHorizon] = int64(f.horizon), true
	}
	b.fillClaims()
}

// putLines takes the lines out that are not there, and puts the others back.
func (b *Binder) putLines(f *Family) {
	if len(f.lines) == 0 {
		return
	}
	proto := &b.plan.proto.prog
	for _, l := range f.lines {
		gone := b.cell[l.hole] == 0
		if gone == b.gone[l.steps.Lo] {
			continue
		}
		for i := l.steps.Lo; i < l.steps.Hi; i++ {
			b.gone[i] = gone
			s := proto.Steps[i]
			if gone {
				// Nothing leads to the step. It looks like one that does nothing, so that nobody who goes through all of
				// them sees it.
				s = engine.Step{Line: s.Line, Repeat: s.Repeat, Verb: engine.Notice, Client: s.Client, Owner: engine.None, Text: engine.None,
					TTL: engine.Forever, RetryUntil: engine.Forever, PauseFor: engine.Tick(engine.None)}
			}
			b.prog.Steps[i] = s
		}
	}
	b.prog.Roots = b.prog.Roots[:0]
	for _, r := range proto.Roots {
		if !b.gone[r] {
			b.prog.Roots = append(b.prog.Roots, r)
		}
	}
}

// putServers lays out the lists of servers anew.
func (b *Binder) putServers() {
	b.prog.ServerIDs = b.prog.ServerIDs[:0]
	for i := range b.plan.lists {
		l := &b.plan.lists[i]
		if b.gone[l.step] {
			continue
		}
		var span engine.Span
		b.prog.ServerIDs, span = l.put(b.prog.ServerIDs, b.slots)
		if l.message == engine.None {
			b.prog.Steps[l.step].Servers = span
		} else {
			b.prog.Messages[l.message].Servers = span
		}
	}
}

// choiceText words the values that are chosen: "stall = 14, line 12 = s3".
func (b *Binder) choiceText() string {
	var words []string
	for h := range b.plan.family.holes {
		hole := &b.plan.family.holes[h]
		if h < len(b.choice) && b.choice[h] >= 0 {
			words = append(words, hole.Name+" = "+hole.Text(hole.Values[b.choice[h]]))
		}
	}
	return shortened(words)
}
