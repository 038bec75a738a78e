package dsl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// suspicions finds what runs and may not mean what its writer thinks.
func (c *checker) suspicions() {
	c.settingsWithoutEffect()
	c.unlockedWriters()
	runs := c.runScopes()
	for _, sc := range runs[:min(len(runs), maxSuspectRuns)] {
		c.assumedGrants(sc)
	}
}

// maxSuspectRuns bounds the search for assumed grants, which looks at every step once for each run.
const maxSuspectRuns = 100

// runScopes lists the scopes whose lines are executed as they stand: the runs, or the top level if there is no block.
func (c *checker) runScopes() []*scope {
	var out []*scope
	for _, sc := range c.scopes[1:] {
		if sc.block.Kind == RunBlock {
			out = append(out, sc)
		}
	}
	if len(c.scopes) == 1 {
		return c.scopes
	}
	return out
}

// word gives the word that a setting has in a scope, and whether a sweep changes it there.
func (c *checker) word(sc *scope, setting string) (word string, swept bool) {
	if sc.block != nil && slices.ContainsFunc(sc.block.Axes, func(a *Axis) bool { return a.Name == setting }) {
		return "", true
	}
	for _, at := range [...]*scope{sc, c.scopes[0]} {
		if s := at.settings[setting]; s != nil {
			return s.Value.Word, false
		}
	}
	return SettingWords(setting)[0], false
}

// settingsWithoutEffect suspects settings that another one makes void wherever they hold.
func (c *checker) settingsWithoutEffect() {
	needs := [...]struct{ setting, other string }{{"fence-at", "fencing"}, {"lock-delay", "leases"}, {"judge", "leases"}, {"validity", "leases"}}
	for _, n := range needs {
		for i, sc := range c.scopes {
			s := sc.settings[n.setting]
			if s == nil {
				continue
			}
			where := c.scopes[i : i+1]
			if i == 0 && len(c.scopes) > 1 {
				where = c.scopes[1:]
			}
			void := !slices.ContainsFunc(where, func(at *scope) bool {
				word, swept := c.word(at, n.other)
				return swept || word != "off"
			})
			if void {
				c.fault(CodeNoEffect, s.Span, quote(n.setting)+" has no effect with `"+n.other+" off`", "", "write `"+n.other+" on`, or delete the line")
			}
		}
	}
}

// unlockedWriters suspects clients that write and never ask for the lock.
func (c *checker) unlockedWriters() {
	acquires := map[string]bool{}
	first := map[string]*Step{}
	var order []string
	var walk func(steps []*Step)
	walk = func(steps []*Step) {
		for _, s := range steps {
			switch s.Verb {
			case Acquire:
				acquires[s.Actor.Client] = true
			case Append, Write:
				if first[s.Actor.Client] == nil {
					first[s.Actor.Client] = s
					order = append(order, s.Actor.Client)
				}
			}
			for _, o := range s.Outcomes {
				walk(o.Steps)
			}
		}
	}
	for _, sc := range c.scopes {
		walk(sc.body.Steps)
	}
	for _, name := range order {
		if !acquires[name] && !c.mentioned[name] {
			c.fault(CodeUnlockedWriter, first[name].Span, quote(name)+" writes and never asks for the lock", "Its writes carry token 0.", "add `at T "+name+" acquire ttl N`, or leave it so if "+name+" is the adversary")
		}
	}
}

// timed is a step at a known absolute time.
type timed struct {
	t    int64
	step *Step
}

// assumedGrants suspects steps at absolute times that follow an acquire which, by the file's own numbers, comes while
// another client holds the lock. It only guesses, so it keeps silent where
// servers fail, where messages are late, where clients judge leases themselves or where the file itself claims that the
// client is denied.
func (c *checker) assumedGrants(sc *scope) {
	if judge, _ := c.word(sc, "judge"); judge == "caller" || judge == "caller-ttl" {
		return
	}
	bodies := []*Body{&c.script.Body}
	if sc.block != nil {
		bodies = append(bodies, sc.body)
	}
	ev := &guess{c: c, scope: sc, lets: map[string]int64{}}
	var steps []timed
	denied := map[string]bool{} // clients whose denial the file claims
	for _, b := range bodies {
		for _, s := range b.Steps {
			if s.Actor.Client == "" || s.Verb == Cut || s.Verb == Heal || len(s.On) > 0 || len(s.Messages) > 0 {
				return
			}
			if t := ev.value(s.When.At); s.When.Kind == At && t != unknown {
				steps = append(steps, timed{t, s})
			}
		}
		for _, e := range b.Expects {
			switch {
			case e.Kind == ClaimOutcome && e.Outcome == "denied", e.Kind == ClaimNever && e.Outcome == "granted":
				denied[e.Client] = true
			case e.Kind == ClaimLaw && e.Law == "unlocked-write" && !e.None:
				return
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b timed) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.step.Span.Start.Offset, b.step.Span.Start.Offset))
	})
	c.replay(sc, ev, steps, denied)
}

// attempt is a client's last acquire in a replay: free is when the lock is expected to be free for it.
type attempt struct {
	step   *Step
	free   int64
	holder string // who has it until then
}

// replay follows the lock through the steps in order of time.
func (c *checker) replay(sc *scope, ev *guess, steps []timed, denied map[string]bool) {
	holder, owner, until := "", "", int64(math.MinInt64)
	last := map[string]attempt{}
	leases, _ := c.word(sc, "leases")
	reentrant, _ := c.word(sc, "reentrant")
	for _, x := range steps {
		who := x.step.Actor.Client
		switch x.step.Verb {
		case Acquire:
			last[who] = attempt{}
			start, id := x.t, cmp.Or(x.step.As, who)
			if holder != who && (reentrant != "on" || owner != id) && x.t < until {
				if len(x.step.Outcomes) == 0 && !denied[who] {
					last[who] = attempt{x.step, math.MaxInt64, holder}
				}
				if x.step.Retry == nil || until == math.MaxInt64 {
					continue
				}
				start = until
				if a := last[who]; a.step != nil {
					last[who] = attempt{a.step, until, holder}
				}
			}
			holder, owner, until = who, id, ev.holdsUntil(x.step, start, leases == "off")
		case Release:
			c.suspect(last, x)
			if holder == who {
				until = min(until, x.t)
			}
		case Append, Write:
			if !x.step.IfCheck && !x.step.IfValid {
				c.suspect(last, x)
			}
		}
	}
}

func (c *checker) suspect(last map[string]attempt, x timed) {
	who := x.step.Actor.Client
	a := last[who]
	if a.step == nil || x.t >= a.free {
		return
	}
	delete(last, who) // once for each acquire
	c.fault(CodeAssumesGrant, x.step.Span, fmt.Sprintf("this step assumes that the acquire on line %d is granted by now", a.step.Span.Start.Line),
		quote(a.holder)+" holds the lock then, by the file's own numbers. A step at an absolute time is taken whatever came of the acquire.", "put it into the block of the acquire, or claim `expect at T "+who+" denied`")
}

const unknown = math.MinInt64

// guess computes what the formulas of a scope come to without any override. Whatever is not plain stays unknown: the
// exact evaluation, with its errors, is the compiler's.
type guess struct {
	c     *checker
	scope *scope
	lets  map[string]int64
}

// holdsUntil is the tick at which a granted lock is free again at the latest.
func (g *guess) holdsUntil(s *Step, start int64, forever bool) int64 {
	until := int64(math.MaxInt64)
	if ttl := s.TTL; ttl != nil && ttl.N != nil && !forever && s.Watchdog == nil {
		n := g.value(ttl.N)
		if n == unknown {
			return start // nobody is suspected on its account
		}
		until = start + n
	}
	for _, o := range s.Outcomes {
		for _, b := range o.Steps {
			if n := g.value(b.When.At); b.Verb == Release && n != unknown {
				until = min(until, start+n)
			}
		}
	}
	return until
}

func (g *guess) value(e Expr) int64 {
	const largest = 1 << 31 // products of two stay in range
	v := int64(unknown)
	switch e := e.(type) {
	case *Num:
		v = e.Value
	case *Ref:
		v = g.let(e)
	case *Unary:
		if x := g.value(e.X); x != unknown && e.Op == "-" {
			v = -x
		}
	case *Binary:
		x, y := g.value(e.X), g.value(e.Y)
		switch {
		case x == unknown || y == unknown:
		case e.Op == "+":
			v = x + y
		case e.Op == "-":
			v = x - y
		case e.Op == "*":
			v = x * y
		}
	case *Call:
		for i, a := range e.Args {
			x := g.value(a)
			switch {
			case x == unknown:
				return unknown
			case i == 0, e.Fn == "min" && x < v, e.Fn == "max" && x > v:
				v = x
			}
		}
	}
	if v > largest || v < -largest {
		return unknown
	}
	return v
}

func (g *guess) let(r *Ref) int64 {
	if v, ok := g.lets[r.Name]; ok {
		return v
	}
	g.lets[r.Name] = unknown // for a circle
	l := g.scope.lets[r.Name]
	if l == nil {
		l = g.c.scopes[0].lets[r.Name]
	}
	if l != nil && !r.Setting {
		g.lets[r.Name] = g.value(l.Expr)
	}
	return g.lets[r.Name]
}
