// Package numbers lists the numbers of a schedule and what each of them is: the tick of a step, a ttl, the length of a
// pause. It changes nothing and runs nothing; those who move numbers one at a time in one run start from it.
package numbers

import (
	"slices"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
)

// Kind says what a number is.
type Kind uint8

// The kinds of numbers, all in ticks. The word behind each is the one before the number in a line.
const (
	Tick       Kind = iota // at T
	Offset                 // +N, in an outcome block: after the outcome reached the client
	Interval               // every K
	From                   // every … from T
	To                     // every … to T
	TTL                    // ttl N
	Retry                  // retry every K
	RetryUntil             // retry … until T
	Watchdog               // watchdog every K
	Before                 // guard before T
	PauseFor               // pause for N
	PauseUntil             // pause until T
	Jump                   // clock +N
	Arrives                // arrives T
	Reply                  // reply T
)

// String gives the words that stand before the number in a line; an Offset has the word "after".
func (k Kind) String() string {
	return [...]string{"at", "after", "every", "from", "to", "ttl", "retry every", "retry until", "watchdog every", "guard before",
		"pause for", "pause until", "clock", "arrives", "reply"}[k]
}

// Place is one number of a schedule.
type Place struct {
	Kind    Kind
	Step    *dsl.Step
	Expr    *dsl.Expr // where the formula hangs in the tree
	Plus    bool      // it counts from something that happened, and is no tick of the run
	Message int       // Arrives and Reply: which of the step's messages
}

// Absolute tells whether the number is a tick of the run.
func (p *Place) Absolute() bool {
	switch p.Kind {
	case Tick, From, To:
		return true
	case RetryUntil, Before, PauseUntil, Arrives, Reply:
		return !p.Plus
	}
	return false
}

// Of lists the numbers of steps and of what hangs on them, in the order of the file.
func Of(steps []*dsl.Step) []Place {
	var all []Place
	for _, s := range steps {
		all = append(all, step(s)...)
		for _, o := range s.Outcomes {
			all = append(all, Of(o.Steps)...)
		}
	}
	return all
}

func step(s *dsl.Step) []Place {
	var all []Place
	add := func(k Kind, e *dsl.Expr, plus bool) {
		if *e != nil {
			all = append(all, Place{Kind: k, Step: s, Expr: e, Plus: plus})
		}
	}
	switch s.When.Kind {
	case dsl.At:
		add(Tick, &s.When.At, false)
	case dsl.After:
		add(Offset, &s.When.At, true)
	case dsl.Every:
		add(Interval, &s.When.K, false)
		add(From, &s.When.From, false)
		add(To, &s.When.To, false)
	}
	if s.TTL != nil {
		add(TTL, &s.TTL.N, false)
	}
	if s.Retry != nil {
		add(Retry, &s.Retry.K, false)
		add(RetryUntil, &s.Retry.Until.Expr, s.Retry.Until.Plus)
	}
	add(Watchdog, &s.Watchdog, false)
	add(Before, &s.Before.Expr, s.Before.Plus)
	add(PauseFor, &s.PauseFor, false)
	add(PauseUntil, &s.Until.Expr, s.Until.Plus)
	add(Jump, &s.ClockBy, false)
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.When.Expr == nil {
			continue
		}
		k := Arrives
		if m.Reply {
			k = Reply
		}
		all = append(all, Place{Kind: k, Step: s, Expr: &m.When.Expr, Plus: m.When.Plus, Message: i})
	}
	return all
}

// Blocks lists what of a file can be looked at as one run: the runs, or in a file without any its explore blocks, whose
// holes have to be closed from outside, or else nil for the top level alone. With a name, it is the block of that name.
func Blocks(script *dsl.Script, name string) []*dsl.Block {
	var runs, explores []*dsl.Block
	for _, b := range script.Blocks {
		switch {
		case name != "" && b.Name != name:
		case b.Kind == dsl.RunBlock:
			runs = append(runs, b)
		case b.Kind == dsl.ExploreBlock:
			explores = append(explores, b)
		}
	}
	switch {
	case len(runs) > 0:
		return runs
	case len(explores) > 0:
		return explores
	}
	return []*dsl.Block{nil}
}

// Alone gives a file that is nothing but one of its blocks as a run, nil meaning the top level, without claims; and of
// some overrides those that it has a place for.
func Alone(script *dsl.Script, b *dsl.Block, over []compile.Override) (*dsl.Script, []compile.Override) {
	alone := *script
	alone.Expects, alone.Blocks = nil, nil
	bodies := []*dsl.Body{&alone.Body}
	if b != nil {
		run := *b
		run.Kind, run.Expects, run.Ties, run.Where = dsl.RunBlock, nil, false, nil
		alone.Blocks = []*dsl.Block{&run}
		bodies = append(bodies, &run.Body)
	}
	others := map[string]bool{} // lets of other blocks
	for _, o := range script.Blocks {
		for _, l := range o.Lets {
			others[l.Name] = true
		}
	}
	for _, body := range bodies {
		for _, l := range body.Lets {
			delete(others, l.Name)
		}
	}
	return &alone, slices.DeleteFunc(slices.Clone(over), func(o compile.Override) bool { return others[o.Name] })
}

// Refs calls f with every name in a formula.
func Refs(e dsl.Expr, f func(*dsl.Ref)) {
	switch e := e.(type) {
	case *dsl.Ref:
		f(e)
	case *dsl.Unary:
		Refs(e.X, f)
	case *dsl.Binary:
		Refs(e.X, f)
		Refs(e.Y, f)
	case *dsl.Call:
		for _, a := range e.Args {
			Refs(a, f)
		}
	}
}

// Value gives what the number is in the step and the messages that the line was compiled to.
func (p *Place) Value(s *engine.Step, messages []engine.Message) engine.Tick {
	switch p.Kind {
	case Interval:
		return s.K
	case To:
		return s.Last
	case TTL:
		return s.TTL
	case Retry:
		return s.Retry
	case RetryUntil:
		return s.RetryUntil
	case Watchdog:
		return s.Watchdog
	case Before:
		return s.Before
	case PauseFor:
		return s.PauseFor
	case PauseUntil:
		return s.PauseUntil
	case Jump:
		return s.ClockBy
	case Arrives, Reply:
		return messages[int(s.Messages.Lo)+p.Message].At
	}
	return s.At
}
