package study

import (
	"bytes"
	"context"
	"errors"
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
		"another version":         change(`"dlock":1`, `"dlock":2`),
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
		if err := merge(t, text); !errors.Is(err, ErrPart) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
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
	f.Fuzz(func(t *testing.T, text string) { _ = merge(t, text) })
}
