package study

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"dlock/dsl"
)

const partFamily = `let stall = any 8..12
at 0 A acquire ttl 10
at 1 A read
at 2 + stall A append "A"
at 3 B acquire ttl 10 retry every 1 {
  +1 append "B"
}
explore "small" {
  maybe gone at 9 s1 crash
  expect sometimes lost-update
}
`

func partStudy(t testing.TB) *Study {
	t.Helper()
	script, ds := dsl.Parse("part.dlk", []byte(partFamily))
	st, more := Open(script, nil)
	if st == nil {
		t.Fatal(ds, more)
	}
	return st.WithSource([]byte(partFamily))
}

func partText(t testing.TB, o Options) string {
	t.Helper()
	f, err := partStudy(t).Do(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteParts(&b, []Part{*f.Items[0].Explore.Part}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sealed gives parts the checksums that they ought to have.
func sealed(text string) string {
	var b bytes.Buffer
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var p Part
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil || WriteParts(&b, []Part{p}) != nil {
			return text
		}
	}
}

// merge reads parts and puts them together.
func merge(t testing.TB, text string) error {
	t.Helper()
	parts, err := ReadParts(strings.NewReader(text))
	if err != nil {
		return err
	}
	_, err = partStudy(t).Do(context.Background(), Options{Parts: parts, MergeOnly: true})
	return err
}

func TestPartsFromOutside(t *testing.T) {
	good := partText(t, Options{})
	if err := merge(t, good); err != nil {
		t.Fatal(err)
	}
	if err := merge(t, strings.Replace(good, `"members":`, `"members":1`, 1)); !errors.Is(err, ErrPart) || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("a part that was edited: %v", err)
	}
	change := func(old, now string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("there is no %s in %s", old, good)
		}
		return strings.Replace(good, old, now, 1)
	}
	for name, text := range map[string]string{
		"nothing":                 "",
		"no JSON":                 "hello",
		"cut off":                 good[:len(good)/2],
		"twice":                   good + good,
		"another kind":            change("explore-part", "report"),
		"another version":         change(`"dlock":2`, `"dlock":3`),
		"other settings":          change(`"settings":null`, `"settings":["stall=3"]`),
		"other slices":            change(`"slices":2`, `"slices":3`),
		"too many slices":         change(`"done":[[0,2]]`, `"done":[[0,9223372036854775807]]`),
		"slices back to front":    change(`"done":[[0,2]]`, `"done":[[2,0],[0,2]]`),
		"a negative count":        change(`"members":`, `"members":-`),
		"a class of no laws":      change(`"broken":`, `"broken":4`),
		"a slice that is not":     change(`"slice":0`, `"slice":77`),
		"a claim of no count":     change(`"held":null`, `"held":[null]`),
		"an outcome that is none": change(`"final":"`, `"final":"x`),
	} {
		// With a checksum that fits, it is for the other checks to find out.
		if err := merge(t, sealed(text)); !errors.Is(err, ErrPart) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

const oneSlice = `let stall = any 0..12
let b = any 0..12
at 0 A acquire ttl 5
at 1 A read
at 2 + stall A append "A"
at b B acquire ttl 5 retry every 1 {
  +1 append "B"
}
explore "one slice" {
  ties any
  expect sometimes lost-update
}
`

// A part of a slice that was begun goes on where it stopped; its states are looked at before they are believed.
func TestABegunSliceGoesOn(t *testing.T) {
	study := func(text string) *Study {
		t.Helper()
		script, ds := dsl.Parse("part.dlk", []byte(text))
		st, more := Open(script, nil)
		if st == nil {
			t.Fatal(ds, more)
		}
		return st.WithSource([]byte(text))
	}
	do := func(o Options) (*Explore, error) {
		t.Helper()
		f, err := study(oneSlice).Do(context.Background(), o)
		if err != nil {
			return nil, err
		}
		return f.Items[0].Explore, nil
	}
	want, err := do(Options{})
	if err != nil || want.Slices != 1 || want.Stopped != "" {
		t.Fatal(want, err)
	}
	half, err := do(Options{Limit: 60, Checkpoint: func(func() *Part) {}})
	if err != nil || half.Stopped == "" || !half.Partial || half.Part.Begun == nil || half.Members.Sign() == 0 || half.Members.Cmp(want.Members) >= 0 {
		t.Fatalf("%+v %v", half, err)
	}
	var b bytes.Buffer
	if err := WriteParts(&b, []Part{*half.Part}); err != nil {
		t.Fatal(err)
	}
	parts, err := ReadParts(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := do(Options{Parts: parts})
	if err != nil || got.Members.Cmp(want.Members) != 0 || len(got.Classes) != len(want.Classes) || got.Smallest[0].Source != want.Smallest[0].Source {
		t.Errorf("%+v %v", got, err)
	}
	if got.Branches >= want.Branches || got.States != want.States {
		t.Errorf("%d branches were taken to %d states; from the start %d to %d", got.Branches, got.States, want.Branches, want.States)
	}
	// One that is interrupted before it goes on keeps what it was to go on from.
	gone, stop := context.WithCancel(context.Background())
	stop()
	f, err := study(oneSlice).Do(gone, Options{Parts: parts, Checkpoint: func(func() *Part) {}})
	if err != nil || f.Items[0].Explore.Part.Begun == nil || !bytes.Equal(f.Items[0].Explore.Part.Begun.States, half.Part.Begun.States) {
		t.Errorf("%v", err)
	}
	// A claim that what is known refutes is refuted, whatever the rest may be.
	again := strings.Replace(oneSlice, "sometimes", "never", 1)
	f, err = study(again).Do(context.Background(), Options{Limit: 60})
	if err != nil || f.Items[0].Explore.Claims[0].Inconclusive || f.Items[0].Explore.Claims[0].OK || len(f.Items[0].Explore.Claims[0].Cells) != 1 {
		t.Errorf("%+v %v", f.Items[0].Explore.Claims, err)
	}
	for name, spoil := range map[string]func(p *Part){
		"cut off":        func(p *Part) { p.Begun.States = p.Begun.States[:40] },
		"nothing":        func(p *Part) { p.Begun.States = nil },
		"another slice":  func(p *Part) { p.Begun.Slice = 3 },
		"no slice":       func(p *Part) { p.Begun.Slice = -1 },
		"a slice done":   func(p *Part) { p.Done = [][2]int64{{0, 1}} },
		"another family": func(p *Part) { p.Begun.States = gzipped("what is this") },
	} {
		parts, err := ReadParts(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		parts[0].From = "half.json"
		spoil(&parts[0])
		if _, err := do(Options{Parts: parts}); !errors.Is(err, ErrPart) || !strings.HasPrefix(err.Error(), "half.json: ") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // a Buffer has no errors
	_ = z.Close()
	return b.Bytes()
}

// Of many parts, the message names the one that does not belong, and the one that it overlaps with.
func TestErrorsNameThePart(t *testing.T) {
	text := partText(t, Options{})
	var parts []Part
	for _, name := range []string{"a.json", "b.json"} {
		p, err := ReadParts(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		p[0].From = name
		parts = append(parts, p...)
	}
	_, err := partStudy(t).Do(context.Background(), Options{Parts: parts, MergeOnly: true})
	if err == nil || !strings.HasPrefix(err.Error(), "b.json: ") || !strings.HasSuffix(err.Error(), "slice 0 is in this part and in that of a.json") {
		t.Errorf("the error is %v", err)
	}
	parts[1].Source = "another"
	_, err = partStudy(t).Do(context.Background(), Options{Parts: parts, MergeOnly: true})
	if err == nil || !strings.HasPrefix(err.Error(), "b.json: ") {
		t.Errorf("the error is %v", err)
	}
}

// FuzzParts takes parts from anybody: they are refused or put together, and nothing panics.
func FuzzParts(f *testing.F) {
	f.Add(partText(f, Options{}))
	f.Add(partText(f, Options{Brute: true}))
	f.Add(partText(f, Options{Shards: 2, PartOnly: true}))
	f.Fuzz(func(t *testing.T, text string) { _ = merge(t, sealed(text)) })
}
