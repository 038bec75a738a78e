package golden

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzCompare holds that any two texts can be compared, that what is said about them can be printed anywhere, and that
// only equal texts have no difference.
func FuzzCompare(f *testing.F) {
	f.Add(recorded, strings.Replace(recorded, "accepted", "\x1b[31mrejected\x1b[0m", 1))
	f.Add(recorded, strings.ReplaceAll(recorded, "\n", "\r\n"))
	f.Add("\x1b[1mbold\x1b[0m\n", "\x1b[1mbold\x1b[22m\n")
	f.Add(`a\x01b`, "a\x01b")
	f.Add("8..9  A  read  \"unfinished", "\xff\x1b[38;5;\x00")
	f.Fuzz(func(t *testing.T, want, got string) {
		d := words().Compare([]byte(want), Rendering{Text: []byte(got), Events: []Event{{Tick: 8, Actor: "A", Verb: "read", Line: 1}}})
		if (d == nil) != (want == got) {
			t.Fatalf("difference %+v between %q and %q", d, want, got)
		}
		if d == nil {
			return
		}
		if Equal([]byte(want), []byte(got)) != (d.Kind == LineEnds) {
			t.Errorf("equal texts have a difference of kind %q", d.Kind)
		}
		text := d.Text("a.dlk", "a.txt")
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
			t.Errorf("a control character at %d of %q", i, text)
		}
		if d.Diff != "" && !bytes.Contains([]byte(d.Diff), []byte("\n@@ ")) {
			t.Errorf("no hunk in %q", d.Diff)
		}
	})
}
