package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dlock": main})
}

// TestScripts runs the real binary. Besides testscript's own commands there are:
//
//	status N dlock …   run it and expect exactly this exit code
//	interrupt FILE dlock …   run it, interrupt it as soon as FILE is there, expect exit status 3; "interrupted" is what it says
//	json FILE PATH VALUE   FILE is one JSON document whose value at PATH ("runs.0.final") prints as VALUE
//	rewrite crlf|bom FILE…   give a file other line ends, or a byte order mark
//	edit FILE OLD NEW  write NEW for the first OLD in a file
//	nocontrol FILE…   no terminal control characters but newlines
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":    status,
			"interrupt": interrupt,
			"json":      jsonValue,
			"rewrite":   rewrite,
			"edit":      edit,
			"nocontrol": noControl,
		},
	})
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command…")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt FILE command…")
	}
	program := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[1])
	cmd := exec.Command(program, args[2:]...) //nolint:noctx // it ends with the interrupt
	cmd.Dir = ts.MkAbs(".")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	ts.Check(cmd.Start())
	for range 600 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err == nil || err.Error() != "exit status 3" {
		ts.Fatalf("it ends with %v, want exit status 3\n%s", err, errs.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("interrupted"), append(out.Bytes(), errs.Bytes()...), 0o644))
}

func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for key := range strings.SplitSeq(args[1], ".") {
		switch at := doc.(type) {
		case map[string]any:
			doc = at[key]
		case []any:
			var i int
			if err := json.Unmarshal([]byte(key), &i); err != nil || i >= len(at) {
				ts.Fatalf("%s: no %q in a list of %d", args[0], key, len(at))
			}
			doc = at[i]
		default:
			ts.Fatalf("%s: nothing at %q", args[0], key)
		}
	}
	got, err := json.Marshal(doc)
	ts.Check(err)
	if text := strings.Trim(string(got), `"`); text != args[2] {
		ts.Fatalf("%s: %s is %s, want %s", args[0], args[1], text, args[2])
	}
}

func rewrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: rewrite crlf|bom FILE…")
	}
	for _, name := range args[1:] {
		text := []byte(ts.ReadFile(name))
		switch args[0] {
		case "crlf":
			text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		case "bom":
			text = append([]byte("\xef\xbb\xbf"), text...)
		default:
			ts.Fatalf("rewrite does not know %q", args[0])
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), text, 0o644))
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
}

func noControl(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		if has := strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0x202e }); has != neg {
			ts.Fatalf("%s: control characters: %v\n%q", name, has, text)
		}
	}
}
