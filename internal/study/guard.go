package study

import (
	"slices"

	"dlock/dsl"
)

// Guarded gives a script that differs in one thing: the resource looks at every write when it lands, for an unchanged
// version, for the lock, or for both. The script itself stays as it is.
func Guarded(s *dsl.Script, version, lock bool) *dsl.Script {
	out := *s
	out.Body = guardBody(s.Body, version, lock)
	out.Blocks = slices.Clone(s.Blocks)
	for i, b := range s.Blocks {
		block := *b
		block.Body = guardBody(b.Body, version, lock)
		out.Blocks[i] = &block
	}
	return &out
}

func guardBody(b dsl.Body, version, lock bool) dsl.Body {
	b.Steps = guardSteps(b.Steps, version, lock)
	return b
}

func guardSteps(steps []*dsl.Step, version, lock bool) []*dsl.Step {
	out := slices.Clone(steps)
	for i, s := range steps {
		step := *s
		if s.Verb == dsl.Append || s.Verb == dsl.Write {
			step.Version, step.Lock = s.Version || version, s.Lock || lock
		}
		step.Outcomes = slices.Clone(s.Outcomes)
		for k, o := range s.Outcomes {
			outcome := *o
			outcome.Steps = guardSteps(o.Steps, version, lock)
			step.Outcomes[k] = &outcome
		}
		out[i] = &step
	}
	return out
}
