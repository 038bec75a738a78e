package compile

import (
	"fmt"
	"slices"
	"strings"

	"dlock/dsl"
	"dlock/engine"
)

// Plan is one run, one sweep with its cells, or one family with its members: everything about it but the numbers of one.
type Plan struct {
	Name string
	Kind dsl.BlockKind
	Line int // of the block; 0 for a file without blocks
	Axes []Axis
	// Cells is the number of cells: 1 for a run and for a family.
	Cells int64
	// Overridden tells that the command line overrides something, so that the file's claims are not about this plan.
	Overridden bool
	// Claims holds the top level's claims, then the block's.
	Claims []*dsl.Expect
	// Subjects holds, for each claim, the client that it is about, by index; engine.None without one.
	Subjects []int32

	sc      *scope
	proto   *Binder // whose constants are filled in; binders are forks of it
	fields  []field // the numbers that differ between cells or members
	claims  []claimCode
	checks  []stepCheck
	servers []serverRef
	lists   []serverList
	highest int // of the servers that the schedule names
	family  *Family
	at      dsl.Span
	faulty  bool
}

// claimCode is the numbers of a claim.
type claimCode struct{ at, n, iff, in code }

// serverRef is a server that the schedule names.
type serverRef struct {
	hi int
	at dsl.Span
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
	late := 0
	if p.family != nil && slices.ContainsFunc(p.checks, func(c stepCheck) bool { return c.root && c.src.Verb == dsl.Pause }) {
		for i := range p.fields {
			if n := p.fields[i].late; n > 0 { // a tick that is compared with the pauses value by value
				late += len(p.family.holes[p.family.late[n-1]].Values) * len(p.checks)
			}
		}
	}
	return int64(late) + int64(len(p.sc.moving)+len(p.fields)+len(p.proto.cb.ins)+len(p.checks)*(repeated+1)+len(p.proto.prog.Messages))
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

// Clients lists the clients that act in the plan or are claimed about; every other list goes by their places in it.
func (p *Plan) Clients() []string { return p.proto.prog.Clients }

// cellText words a cell: "lease = 10, stall = 14".
func cellText(at []Value) string {
	words := make([]string, len(at))
	for i, v := range at {
		words[i] = v.String()
	}
	return strings.Join(words, ", ")
}

// Varies tells whether a setting may differ between the cells or members of the plan.
func (p *Plan) Varies(setting string) bool {
	for i := range numSettings {
		if n := &p.sc.nodes[i]; n.name == setting {
			return n.varies
		}
	}
	return false
}
