package dsl

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Texts that are made to be slow: each would be quadratic, or deep, for a front end that is not careful.
func TestHostileTexts(t *testing.T) {
	repeat := func(s string, size int) string { return strings.Repeat(s, size/len(s)) }
	shapes := map[string]func(size int) string{
		"open strings":     func(n int) string { return repeat("\"\n", n) },
		"one open string":  func(n int) string { return "scenario \"" + repeat("\\\"", n) },
		"odd characters":   func(n int) string { return repeat("$", n) },
		"bad bytes":        func(n int) string { return repeat("\xff", n) },
		"bad bytes, lines": func(n int) string { return repeat("\xff\n", n) },
		"opening braces":   func(n int) string { return repeat("run \"x\" {\n", n) },
		"closing braces":   func(n int) string { return repeat("}\n", n) },
		"braces on a line": func(n int) string { return repeat("{", n) },
		"nested blocks":    func(n int) string { return "at 0 A read {\n" + repeat("+1 read {\n", n) },
		"balanced blocks":  func(n int) string { return "at 0 A read {\n" + repeat("+1 read {\n", n/2) + repeat("}\n", n/10) },
		"parentheses":      func(n int) string { return "let a = " + repeat("(", n) },
		"minus signs":      func(n int) string { return "let a = " + repeat("-", n) + "1\n" },
		"nots":             func(n int) string { return "expect clean iff " + repeat("not ", min(n, 12_000)) + "1\n" },
		"sums":             func(n int) string { return repeat("let a = "+strings.Repeat("1+", 2000)+"1\n", n) },
		"a chain of lets":  func(n int) string { return numbered("let a% = b + a1%\n", n/20) },
		"a circle of lets": func(n int) string {
			return "let a = b\nlet b = " + repeat("a + ", min(n, 8000)) + "a\n" + numbered("let x% = a + b + x%\n", n/24)
		},
		"blocks that change lets": func(n int) string {
			k := min(n/60, MaxBlocks)
			return numbered("let z% = z1%\n", n/40) + numbered("run \"r%\" {\n let z1 = z11\n}\n", k)
		},
		"unknown names":   func(n int) string { return numbered("let abcdef% = ghijkl%\n", n/24) },
		"unknown clients": func(n int) string { return numbered("at 0 abc% read\nexpect at 0 abd% holds\n", n/45) },
		"unknown servers": func(n int) string { return repeat("at 0 s9 s99..s999 crash\n", n) },
		"many runs":       func(n int) string { return repeat("at 0 A acquire ttl 3\n", n/2) + numbered("run \"%\" {\n}\n", n/40) },
		"one long time": func(n int) string {
			return "at 1" + strings.Repeat("+1", 1500) + " A read\n" + repeat("at 0 A read\n", n)
		},
		"one long text": func(n int) string {
			return "at 0 A write \"" + strings.Repeat("x", 4000) + "\" # x\n" + repeat("at 0 A read # y\n", n)
		},
		"one long line":      func(n int) string { return "at 0 A acquire ttl 3 " + repeat("on s1 ", n) },
		"unknown suffixes":   func(n int) string { return "at 0 A acquire ttl 3 " + repeat("xyz ", min(n, 16_000)) },
		"misspelt long word": func(n int) string { return repeat("x", n) + " on\n" },
	}
	for name, shape := range shapes {
		src := []byte(shape(64 << 10))
		start := time.Now()
		Parse("x.dlk", src)
		out, _ := Format(src, "x.dlk")
		// Generous, since other tests share the machine: a quadratic text takes minutes.
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: %d bytes take %v", name, len(src), took)
		}
		if len(out) > 8*len(src) {
			t.Errorf("%s: %d bytes are formatted into %d", name, len(src), len(out))
		}
	}
}

// A limit stops at the limit and not before it.
func TestLimitsAreExact(t *testing.T) {
	fits := map[string]string{
		"file":        strings.Repeat("# x\n", MaxFileSize/4),
		"statements":  strings.Repeat("at 0 A read\n", MaxStatements),
		"parentheses": "let x = " + strings.Repeat("(", MaxNesting) + "1" + strings.Repeat(")", MaxNesting) + "\nat x A read\n",
		"blocks":      numbered("run \"r%\" {\n}\n", MaxBlocks),
		"clients":     numbered("at 0 A% read\n", MaxClients),
		"name":        "at 0 " + strings.Repeat("A", MaxNameLength) + " read\n",
		"text":        "scenario \"" + strings.Repeat("x", MaxTextLength) + "\"\n",
		"line":        "at 0" + strings.Repeat("+1", MaxLineTokens/2-2) + " A read\n",
		"nesting":     "at 0 A read {\n" + strings.Repeat("+1 read {\n", MaxNesting-1) + strings.Repeat("}\n", MaxNesting),
		"servers":     "servers 1000\nat 0 s1000 crash\n",
	}
	for name, src := range fits {
		if _, ds := Parse("x.dlk", []byte(src)); len(ds) > 0 {
			t.Errorf("%s: %s %s", name, ds[0].Code, ds[0].Summary)
		}
	}
	deep := "at 0 A read {\n" + strings.Repeat("+1 read {\n", MaxNesting) + strings.Repeat("}\n", MaxNesting+1)
	if _, ds := Parse("x.dlk", []byte(deep)); len(ds) != 1 || ds[0].Code != CodeNestingTooDeep {
		t.Errorf("too deep: %v", ds)
	}
	if out, ds := Format([]byte(deep), "x.dlk"); out != nil || !ds.HasErrors() {
		t.Errorf("too deep: formatted with %v", ds)
	}
	if !bytes.Contains([]byte(pages()[0].rule), []byte("1 MiB")) || MaxFileSize != 1<<20 {
		t.Error("the page of the largest file names another size")
	}
}
