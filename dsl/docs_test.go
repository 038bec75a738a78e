package dsl

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// example is a fenced block of the reference: dlk is a whole file, dlk-lines a part of one.
var example = regexp.MustCompile("(?ms)^```(dlk[a-z-]*)(?: [^ \n]+)?\n(.*?)^```$")

// around is what the parts of files in the reference take for granted.
const around = "let lease = 10\nlet stall = 14\nlet arrival = 12\nat 0 A acquire ttl lease\nat arrival B acquire ttl lease\nat stall C read\n"

func TestReference(t *testing.T) {
	doc, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, m := range example.FindAllSubmatchIndex(doc, -1) {
		kind, text := string(doc[m[2]:m[3]]), doc[m[4]:m[5]]
		line := 1 + bytes.Count(doc[:m[4]], []byte("\n"))
		found[kind]++
		src := text
		if kind == "dlk-lines" {
			src = append([]byte(around), text...)
		}
		_, ds := Parse("language.md", src)
		for _, d := range ds {
			if kind == "dlk" || d.Severity == Error {
				t.Errorf("language.md:%d: %s %s\n%s", line, d.Code, d.Summary, text)
			}
		}
		if out, _ := Format(text, "language.md"); !bytes.Equal(out, text) {
			t.Errorf("language.md:%d: not in the one form:\n%s", line, out)
		}
	}
	if found["dlk"] < 8 || found["dlk-lines"] == 0 {
		t.Errorf("examples found: %v", found)
	}
}

// The reference names every word that people can look up in it, and the limits as they are.
func TestReferenceIsWhole(t *testing.T) {
	doc, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(doc)
	var words []string
	for _, list := range [][]string{SettingNames(), LawWords(), statementWords(), suffixWords(), verbWords()} {
		words = append(words, list...)
	}
	for _, s := range settings {
		for _, w := range s.words {
			if w != "number" && w != "text" {
				words = append(words, w)
			}
		}
	}
	for _, w := range words {
		if !regexp.MustCompile("`[^`\n]*\\b" + regexp.QuoteMeta(w) + "\\b[^`\n]*`").MatchString(text) {
			t.Errorf("the reference does not show %q", w)
		}
	}
	for _, w := range OutcomeWords() {
		if !strings.Contains(text, w) {
			t.Errorf("the reference does not name the outcome %q", w)
		}
	}
	for _, n := range []int{MaxFileSize, MaxStatements, MaxLineTokens, MaxNesting, MaxBlocks, MaxClients, MaxServers, MaxNameLength, MaxTextLength} {
		if !strings.Contains(text, "| "+grouped(n)+" |") {
			t.Errorf("the reference does not name the limit %d", n)
		}
	}
	for w := range strings.FieldsSeq("any min max not and or none nobody on off in iff step by to until every when at from over never lost stop majority retry watchdog as recreate if guard arrives reply value resource") {
		if !isKeyword(w) {
			t.Errorf("%q is not reserved", w)
		}
	}
}

// grouped writes a number with commas.
func grouped(n int) string {
	s := itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
