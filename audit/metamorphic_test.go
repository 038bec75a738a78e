package audit

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"dlock/engine"
	"dlock/internal/randprog"
)

// Changes of a schedule whose effect is known without knowing what the schedule does.

const metamorphic = 10_000 // programs for each change

func clone(p *engine.Program) *engine.Program {
	q := *p
	q.Clients, q.Owners = slices.Clone(p.Clients), slices.Clone(p.Owners)
	q.Steps, q.Messages = slices.Clone(p.Steps), slices.Clone(p.Messages)
	return &q
}

// eachField calls f for every number, moment and flag in the lists of a record, with the name of its field.
func eachField(v reflect.Value, name string, f func(name string, v reflect.Value)) {
	switch {
	case v.Type() == reflect.TypeFor[engine.Moment]():
		eachField(v.Field(0), "Tick", f)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			eachField(v.Field(i), v.Type().Field(i).Name, f)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			eachField(v.Index(i), name, f)
		}
	case v.Kind() != reflect.Pointer:
		f(name, v)
	}
}

// same compares two records but for the programs that they came from.
func same(a, b *engine.Record) bool {
	x, y := *a, *b
	x.Program, y.Program = nil, nil
	return reflect.DeepEqual(&x, &y)
}

func TestShiftingAllTicksShiftsTheRecord(t *testing.T) {
	const by = 1000
	shift := func(t *engine.Tick) {
		if *t != engine.Forever {
			*t += by
		}
	}
	for seed := range uint64(metamorphic) {
		p := randprog.New(seed, randprog.All)
		q := clone(p)
		shift(&q.Settings.Horizon)
		for i := range q.Steps {
			s := &q.Steps[i]
			if s.Repeat != engine.AfterOutcome {
				shift(&s.At)
				shift(&s.Last)
			}
			for _, at := range []struct {
				tick *engine.Tick
				plus bool
			}{{&s.RetryUntil, s.RetryPlus}, {&s.PauseUntil, s.UntilPlus}, {&s.Before, s.BeforePlus}} {
				if !at.plus {
					shift(at.tick)
				}
			}
		}
		for i := range q.Messages {
			if m := &q.Messages[i]; !m.Plus {
				shift(&m.At)
			}
		}
		want, got := engine.Run(p), engine.Run(q)
		before := *Judge(want)
		eachField(reflect.ValueOf(want).Elem(), "", func(name string, v reflect.Value) {
			if v.Type() == reflect.TypeFor[engine.Tick]() && name != "By" && v.Int() != int64(engine.Forever) {
				v.SetInt(v.Int() + by)
			}
		})
		for i := range want.Trials {
			if tr := &want.Trials[i]; tr.Polls == 0 {
				tr.Last = got.Trials[i].Last // nothing was sent: there is no last send
			}
		}
		if !same(want, got) {
			t.Fatalf("seed %d: the record of the shifted program is not the shifted record", seed)
		}
		after := Judge(got)
		for i := range before.Holders {
			shift(&before.Holders[i].Start)
			shift(&before.Holders[i].End)
		}
		if before.Counts != after.Counts || before.Idle != after.Idle || before.Fault != after.Fault ||
			!slices.Equal(before.Holders, after.Holders) || !slices.Equal(before.Blocked, after.Blocked) {
			t.Fatalf("seed %d: the shifted program is judged otherwise", seed)
		}
	}
}

func TestAClientThatNeverActsChangesNothing(t *testing.T) {
	for seed := range uint64(metamorphic) {
		p := randprog.New(seed, randprog.All)
		n := len(p.Clients)
		q := clone(p)
		q.Clients = append(q.Clients, "Z")
		q.Owners = slices.Insert(q.Owners, n, "Z") // the first owner ids are the clients' own names
		for i := range q.Steps {
			if q.Steps[i].Owner >= int32(n) {
				q.Steps[i].Owner++
			}
		}
		want, got := engine.Run(p), engine.Run(q)
		before, after := Judge(want), Judge(got)
		if before.Counts != after.Counts || before.Idle != after.Idle || !slices.Equal(before.Holders, after.Holders) ||
			!slices.Equal(before.Blocked, after.Blocked[:n]) || after.Blocked[n] != -1 {
			t.Fatalf("seed %d: a client that never acts changes the verdict", seed)
		}
		if got.Tokens[n] != 0 {
			t.Fatalf("seed %d: a client that never acts has token %d", seed, got.Tokens[n])
		}
		got.Tokens = got.Tokens[:n]
		for i := range want.Leases {
			if want.Leases[i].Owner >= int32(n) {
				want.Leases[i].Owner++
			}
		}
		if !same(want, got) {
			t.Fatalf("seed %d: a client that never acts changes the record", seed)
		}
	}
}

func TestRenamingClientsRenamesThem(t *testing.T) {
	for seed := range uint64(metamorphic) {
		p := randprog.New(seed, randprog.All)
		n := int32(len(p.Clients))
		other := func(c int32) int32 { // the clients in the opposite order; shared owner ids stay
			if c == engine.None || c >= n {
				return c
			}
			return n - 1 - c
		}
		q := clone(p)
		slices.Reverse(q.Clients)
		slices.Reverse(q.Owners[:n])
		for i := range q.Steps {
			s := &q.Steps[i]
			s.Client, s.Owner = other(s.Client), other(s.Owner)
		}
		want, got := engine.Run(p), engine.Run(q)
		before, after := Judge(want), Judge(got)
		eachField(reflect.ValueOf(want).Elem(), "", func(name string, v reflect.Value) {
			if name == "Client" || name == "Holder" || name == "Owner" {
				v.SetInt(int64(other(int32(v.Int()))))
			}
		})
		slices.Reverse(want.Tokens)
		if !same(want, got) {
			t.Fatalf("seed %d: renaming the clients does more to the record than to rename them", seed)
		}
		for i := range before.Holders {
			before.Holders[i].Client = other(before.Holders[i].Client)
		}
		slices.SortFunc(before.Holders, func(a, b Interval) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Client, b.Client))
		})
		slices.Reverse(before.Blocked)
		if before.Counts != after.Counts || before.Idle != after.Idle || !slices.Equal(before.Holders, after.Holders) ||
			!slices.Equal(before.Blocked, after.Blocked) {
			t.Fatalf("seed %d: renaming the clients changes the verdict", seed)
		}
	}
}

// The study guide's 6.4: servers that neither fail nor disagree are as good as one.
func TestMoreHealthyServersChangeOnlyCounts(t *testing.T) {
	harmed := 0
	for seed := range uint64(metamorphic) {
		p := randprog.New(seed, randprog.Basic)
		for i := range p.Steps {
			p.Steps[i].Servers = engine.Span{}
		}
		p.Settings.Servers, p.Settings.Quorum = 1, 1
		one := engine.Run(p)
		before := Judge(one)
		if before.Counts[StaleWrite] > 0 {
			harmed++
		}
		for _, servers := range []int{3, 4, 21} {
			q := clone(p)
			q.Settings.Servers, q.Settings.Quorum = servers, servers/2+1
			many := engine.Run(q)
			after := Judge(many)
			counts := after.Counts
			counts[Overlap] /= int64(servers)
			if counts != before.Counts || after.Counts[Overlap]%int64(servers) != 0 || after.Idle != before.Idle ||
				after.Fault != before.Fault || after.Grants != before.Grants || after.Writes != before.Writes ||
				!slices.Equal(after.Holders, before.Holders) || !slices.Equal(after.Blocked, before.Blocked) {
				t.Fatalf("seed %d: %d servers change more than counts:\n%+v\n%+v", seed, servers, before, after)
			}
			if one.Value(one.Final) != many.Value(many.Final) || !slices.Equal(one.Writes, many.Writes) {
				t.Fatalf("seed %d: %d servers change the data", seed, servers)
			}
		}
	}
	if harmed < metamorphic/20 {
		t.Errorf("only %d programs do harm, so that more servers could have helped", harmed)
	}
}

// Fencing is on the resource and not on the lock (study guide 5.3).
func TestFencingChangesNothingAboutTheLock(t *testing.T) {
	refused := 0
	for seed := range uint64(metamorphic) {
		p := randprog.New(seed, randprog.All|randprog.NoReacts)
		p.Settings.Fencing = engine.FencingOff
		off := engine.Run(p)
		for _, fencing := range []engine.Fencing{engine.FencingOn, engine.FencingStrict} {
			q := clone(p)
			q.Settings.Fencing = fencing
			on := engine.Run(q)
			if !slices.Equal(off.Attempts, on.Attempts) || !slices.Equal(off.Trials, on.Trials) ||
				!slices.Equal(off.Votes, on.Votes) || !slices.Equal(off.Leases, on.Leases) ||
				!slices.Equal(off.Promises, on.Promises) || !slices.Equal(off.Grants, on.Grants) || !slices.Equal(off.Asks, on.Asks) {
				t.Fatalf("seed %d: fencing %d changes the history of the lock", seed, fencing)
			}
			if slices.ContainsFunc(on.Writes, func(w engine.WriteOp) bool { return w.Reason == engine.ReasonStale }) {
				refused++
			}
		}
	}
	if refused < metamorphic/20 {
		t.Errorf("the fence refused a write in %d runs only", refused)
	}
}
