//go:build linux && !race

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whatever stands in a file of 64 KiB: the whole process ends by itself, with an exit code for people and not with a
// panic, within these bounds of processor time and memory. Other tests share the machine, so time has some room.
func TestBounds(t *testing.T) {
	const size = 64 << 10
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	lines := func(head, line string) string { // % is the number of the line, & one of 900
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < size-len(line)-16; i++ {
			b.WriteString(strings.NewReplacer("%", fmt.Sprint(i), "&", fmt.Sprint(i%900)).Replace(line))
		}
		return b.String()
	}
	bounds := []struct {
		command string
		time    time.Duration
		mib     int64
		texts   map[string]string
	}{
		{"check", 3 * time.Second, 128, map[string]string{
			"braces":           fill("{"),
			"opening blocks":   fill("run \"x\" {\n"),
			"closing braces":   fill("}\n"),
			"outcomes":         "at 0 A acquire ttl 1 {\n" + fill("+1 acquire ttl 1 {\n"),
			"parentheses":      "let x = " + fill("("),
			"minus signs":      "let x = " + fill("-") + "1",
			"a long sum":       "let x = 1" + fill("+1"),
			"zero bytes":       fill("\x00"),
			"escapes":          fill("\x1b[31m"),
			"other directions": fill("\u202e"),
			"not UTF-8":        fill("\xff"),
			"digits":           "at " + fill("9") + " A read",
			"a long name":      "at 0 " + fill("A") + " read",
			"a long text":      "at 0 A append \"" + fill("x"),
			"quotes":           fill("\""),
			"a comment":        fill("#"),
			"empty lines":      fill("\n"),
			"carriage returns": fill("\r"),
			"ranges":           "at 0 A acquire ttl 1 on " + fill("s1..s1000 "),
			"ranges on lines":  lines("servers 1000\n", "at 0 A acquire ttl 1 on s1..s1000\n"),
			"misspelt verbs":   fill("at 0 A aquire ttl 1\n"),
			"unknown names":    lines("", "at nam% A read\n"),
			"many clients":     lines("", "at 0 A% read\n"),
			"many sweeps":      lines("let a = 1\nat a A acquire ttl 1\n", "sweep \"s%\" over a in 1..100000 {\n}\n"),
			"many runs":        lines("at 0 A read\n", "run \"r%\" {\n}\n"),
			"a chain of lets":  lines("", "let a% = b + b\n"),
			"open holes":       lines("explore \"x\" {\n", "at any 0..1000 A% read\n"),
		}},
		{"run", 10 * time.Second, 640, map[string]string{
			"polls without end": lines("servers 1000\nhorizon 1000000000\nat 0 A acquire ttl none\n", "at 1 B& acquire ttl 1 retry every 1\n"),
			"renewals":          lines("servers 1000\nhorizon 1000000000\n", "at 0 W& acquire ttl 1000 watchdog every 1\n"),
			"repeated lines":    lines("servers 1000\n", "every 1 from 0 to 200 A acquire ttl 1 # %\n"),
			"reads":             "at 0 A acquire ttl none\nevery 1 from 1 to 300000 A read\n",
			"reads in blocks":   "every 3 from 0 to 899999 A read {\n" + strings.Repeat("  +1  read\n", 9) + "}\n",
			"long values":       "every 1 from 0 to 100000 A append \"" + strings.Repeat("x", 4000) + "\"\n",
			"many acquires":     lines("servers 1000\n", "at 0 A acquire ttl 1\n"),
			"many writes":       lines("initial \""+strings.Repeat("x", 4000)+"\"\n", "at 0 A append \"y\"\n"),
			"many cuts":         lines("at 0 A acquire ttl 3 retry every 1\n", "at 5 cut A from s1..s5\n"),
		}},
	}
	file := filepath.Join(t.TempDir(), "hostile.dlk")
	for _, b := range bounds {
		for name, text := range b.texts {
			if len(text) > size+100 {
				t.Fatalf("%s: %d bytes", name, len(text))
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			cmd := exec.CommandContext(ctx, "dlock", b.command, file)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			err := cmd.Run()
			cancel()
			state := cmd.ProcessState
			if state == nil {
				t.Fatal(err)
			}
			use, ok := state.SysUsage().(*syscall.Rusage)
			if !ok {
				t.Fatal("the system does not say what a process used")
			}
			took, mib := state.UserTime()+state.SystemTime(), use.Maxrss>>10
			t.Logf("%s, %s: %v, %d MiB, exit code %d", b.command, name, took, mib, state.ExitCode())
			if code := state.ExitCode(); code < 0 || code > 3 {
				t.Errorf("%s, %s: exit code %d\n%.2000s", b.command, name, code, errs.String())
			}
			if name == "reads" && state.ExitCode() != 0 {
				t.Errorf("as many firings as a file may have do not come to their end: exit code %d\n%.2000s", state.ExitCode(), errs.String())
			}
			if took > b.time || mib > b.mib {
				t.Errorf("%s, %s: %v and %d MiB, but %v and %d MiB are the bounds", b.command, name, took, mib, b.time, b.mib)
			}
		}
	}
}
