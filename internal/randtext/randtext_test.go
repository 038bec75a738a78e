package randtext

import (
	"reflect"
	"testing"

	"dlock/dsl"
	"dlock/dsl/compile"
	"dlock/engine"
	"dlock/internal/randprog"
)

// The same things happen in the program and in the file that was written from it.
func TestWriteKeepsTheMeaning(t *testing.T) {
	compared := 0
	for seed := range uint64(400) {
		p := randprog.New(seed, randprog.All)
		text := Write(p, seed%2 == 0)
		script, ds := dsl.Parse("random.dlk", []byte(text))
		if ds.HasErrors() {
			continue // the checker forbids more than the engine does
		}
		u, _ := compile.Compile(script, nil)
		if u == nil {
			continue
		}
		q, _ := u.Plans[0].Binder().Bind(nil)
		if q == nil {
			continue
		}
		compared++
		one, two := story(engine.Run(p)), story(engine.Run(q))
		if !reflect.DeepEqual(one, two) {
			t.Fatalf("seed %d: the file tells another story\n%s\n%v\n%v", seed, text, one, two)
		}
	}
	if compared < 100 {
		t.Fatalf("only %d of 400 programs could be written as a file", compared)
	}
}

// happening is an event by name.
type happening struct {
	t, heard engine.Tick
	who      string
	verb     engine.Verb
	outcome  engine.Outcome
	token    int64
}

func story(r *engine.Record) (all []happening) {
	for _, e := range r.Events {
		who := ""
		if e.Client != engine.None {
			who = r.Program.Clients[e.Client]
		}
		all = append(all, happening{e.At.Tick, e.Heard, who, e.Verb, e.Outcome, e.Token})
	}
	return append(all, happening{who: r.Value(r.Final)})
}
