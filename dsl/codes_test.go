package dsl

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// provoke makes the inputs that no page can show: too large, too many, not text.
var provoke = map[string]string{
	CodeFileTooLarge:      strings.Repeat("# x\n", MaxFileSize/4+1),
	CodeTooManyStatements: strings.Repeat("at 0 A read\n", MaxStatements+1),
	CodeLineTooLong:       "at 0" + strings.Repeat("+1", MaxLineTokens/2) + " A read\n",
	CodeNestingTooDeep:    "let x = " + strings.Repeat("(", MaxNesting+1) + "1" + strings.Repeat(")", MaxNesting+1) + "\n",
	CodeTooManyBlocks:     numbered("run \"r%\" {\n}\n", MaxBlocks+1),
	CodeTooManyClients:    numbered("at 0 A% read\n", MaxClients+1),
	CodeTextTooLong:       "scenario \"" + strings.Repeat("x", MaxTextLength+1) + "\"\n",
	CodeNotUTF8:           "# \xff\n",
}

func numbered(pattern string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(pattern, "%", itoa(i+1)))
	}
	return b.String()
}

func codes(ds Diagnostics) []string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Code)
	}
	return out
}

// Every code has a page whose wrong example provokes it and whose right example provokes nothing at all.
func TestPages(t *testing.T) {
	seen := map[string]bool{}
	previous := ""
	for _, p := range pages() {
		if seen[p.code] || p.code <= previous {
			t.Errorf("%s is out of order or there twice", p.code)
		}
		seen[p.code], previous = true, p.code
		if p.title == "" || p.rule == "" {
			t.Errorf("%s has an empty page", p.code)
		}
		// What depends on values is found by dsl/compile; D204 is found here when the number is written out.
		ours := p.code < CodeDivisionByZero || p.code == CodeServerBeyond
		wrong := p.wrong
		if wrong == "" {
			wrong = provoke[p.code]
		}
		if wrong == "" && ours {
			t.Errorf("%s: nothing provokes it", p.code)
		}
		if wrong != "" {
			_, ds := Parse("wrong.dlk", []byte(wrong))
			if got := codes(ds); ours && !slices.Equal(got, []string{p.code}) {
				t.Errorf("%s: the wrong example gives %v", p.code, got)
			} else if !ours && ds.HasErrors() {
				t.Errorf("%s: the wrong example does not parse: %v", p.code, ds)
			}
		}
		if p.right != "" {
			if _, ds := Parse("right.dlk", []byte(p.right)); len(ds) > 0 {
				t.Errorf("%s: the right example gives %v", p.code, ds)
			}
			out, _ := Format([]byte(p.right), "right.dlk")
			if !bytes.Equal(out, []byte(p.right)) {
				t.Errorf("%s: the right example is not in the one form:\n%s", p.code, out)
			}
		}
	}
	if _, ok := CodePageOf("D999"); ok {
		t.Error("a code that does not exist has a page")
	}
	if p, ok := CodePageOf(CodeSyntax); !ok || !strings.Contains(p.Text, "```dlk\nat 0 A acquire ttl\n```") {
		t.Errorf("page of %s: %q", CodeSyntax, p.Text)
	}
}
