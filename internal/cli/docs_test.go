package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The documents show what commands print, and here every one of them is run. A fenced block marked "console" holds command
// lines that start with "$ ", each followed by what it prints:
//
//	$ dlock …                  the command line, in a copy of the repository's scenarios, goldens and documents
//	$ go run ./cmd/dlock …     the same
//	$ cat FILE                 a file of that copy
//	$ …; echo $?               the exit code is the last line; without it the command must end with 0
//
// A line that holds only "…" stands for any lines, or none. A block marked "dlk FILE" is written to that file of the copy,
// so that the commands after it can use it. Nothing else can stand in such blocks: what is not run is marked otherwise.
const elision = "…"

// transcript is one command of a document with what is shown of its output.
type transcript struct {
	line    int // of the command, counted from 1
	command string
	want    []string
}

// block is a fenced block of a document.
type block struct {
	line int // of its first line after the fence
	info string
	text []string
}

func TestDocumentsShowWhatCommandsPrint(t *testing.T) {
	root := filepath.Join("..", "..")
	tour := filepath.Join("docs", "tour.md")
	names := documents(t, root)
	if !slices.Contains(names, tour) {
		t.Errorf("there is no %s", tour)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := fencedBlocks(string(text))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			desk := t.TempDir()
			copyOf(t, root, desk)
			t.Chdir(desk)
			ran := 0
			for _, b := range blocks {
				kind, file, _ := strings.Cut(b.info, " ")
				switch {
				case kind == "dlk" && file != "":
					put(t, file, strings.Join(b.text, "\n")+"\n")
				case kind == "console":
					commands, err := b.transcripts()
					if err != nil {
						t.Errorf("%s:%d: %v", name, b.line, err)
					}
					for _, c := range commands {
						ran++
						got, err := c.run()
						if err == nil {
							err = excerpt(c.want, got)
						}
						if err != nil {
							t.Errorf("%s:%d: %s: %v\nit prints:\n%s", name, c.line, c.command, err, strings.Join(got, "\n"))
						}
					}
				}
			}
			if name == tour && ran == 0 {
				t.Error("the tour shows no command")
			}
		})
	}
}

// documents lists what is for people to read, relative to root.
func documents(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"README.md", filepath.Join("docs", "*.md")} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			name, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	return names
}

// copyOf puts what commands read or write into a folder of its own, so that no document can change the repository.
func copyOf(t *testing.T, root, desk string) {
	t.Helper()
	for _, dir := range []string{"scenarios", "golden", "docs"} {
		if err := os.CopyFS(filepath.Join(desk, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			t.Fatal(err)
		}
	}
}

func fencedBlocks(text string) ([]block, error) {
	var blocks []block
	var open *block
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case open == nil && fence:
			open = &block{line: i + 2, info: strings.TrimSpace(info)}
		case open != nil && fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text = append(open.text, line)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block at line %d has no end", open.line)
	}
	return blocks, nil
}

// transcripts splits a console block at its commands.
func (b *block) transcripts() ([]transcript, error) {
	var out []transcript
	for i, line := range b.text {
		if command, is := strings.CutPrefix(line, "$ "); is {
			out = append(out, transcript{line: b.line + i, command: command})
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("a console block starts with a command, not with %q", line)
		}
		last := &out[len(out)-1]
		last.want = append(last.want, line)
	}
	return out, nil
}

// run gives the lines that a command prints on either stream.
func (c *transcript) run() ([]string, error) {
	command, wantsCode := strings.CutSuffix(c.command, "; echo $?")
	args, err := shellWords(strings.Replace(command, "go run ./cmd/dlock ", "dlock ", 1))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	code := 0
	switch {
	case len(args) > 0 && args[0] == "dlock":
		code = Main(args[1:], Streams{In: strings.NewReader(""), Out: &out, Err: &out, Env: func(string) (string, bool) { return "", false }})
	case len(args) == 2 && args[0] == "cat":
		text, err := os.ReadFile(args[1])
		if err != nil {
			return nil, err
		}
		out.Write(text)
	default:
		return nil, fmt.Errorf("only dlock and cat are run")
	}
	lines := trimmed(strings.Split(out.String(), "\n"))
	if wantsCode {
		return append(lines, fmt.Sprint(code)), nil
	}
	if code != 0 {
		return lines, fmt.Errorf("exit code %d", code)
	}
	return lines, nil
}

// shellWords splits a command line at blanks outside of quotes. Whatever else means something to a shell is refused: a
// reader who pastes the line would see something different.
func shellWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inside := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == ' ':
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		case strings.ContainsRune("|&;<>()$`\\*?[]#~{}!", r):
			return nil, fmt.Errorf("%q means something to a shell", r)
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %q has no end", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

// trimmed drops blanks at line ends and empty lines at both ends, which nobody sees.
func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(line, " \r")
	}
	for len(out) > 0 && out[0] == "" {
		out = out[1:]
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// excerpt tells why want is not an excerpt of got: its stretches between elisions must be found in order, the first at the
// beginning and the last at the end.
func excerpt(want, got []string) error {
	got = trimmed(got)
	var parts [][]string
	rest := trimmed(want)
	for {
		i := slices.Index(rest, elision)
		if i < 0 {
			parts = append(parts, rest)
			break
		}
		parts, rest = append(parts, rest[:i]), rest[i+1:]
	}
	from := 0
	for i, part := range parts {
		at := find(got[from:], part, i == 0, i == len(parts)-1)
		if at < 0 {
			return fmt.Errorf("it does not print, in this place:\n%s", strings.Join(part, "\n"))
		}
		from += at + len(part)
	}
	return nil
}

// find gives the first place at which part stands in lines as a whole, or -1. At the start it must be the first line, at
// the end its last line must be the last.
func find(lines, part []string, start, end bool) int {
	last := len(lines) - len(part)
	for at := 0; at <= last; at++ {
		if start && at > 0 {
			break
		}
		if end && at < last {
			continue
		}
		if slices.Equal(lines[at:at+len(part)], part) {
			return at
		}
	}
	return -1
}

func TestExcerpt(t *testing.T) {
	tests := []struct {
		want, got string
		ok        bool
	}{
		{"a\nb", "a\nb", true},
		{"a  \nb\n", "\na\nb\n\n", true},
		{"a", "a\nb", false},
		{"b", "a\nb", false},
		{"", "a", false},
		{"", "", true},
		{"…", "", true},
		{"…", "a\nb", true},
		{"a\n…", "a\nb\nc", true},
		{"a\n…", "x\na\nb", false},
		{"…\nc", "a\nb\nc", true},
		{"…\nb", "a\nb\nc", false},
		{"a\n…\nc", "a\nc", true},
		{"a\n…\na", "a", false},
		{"a\n…\nb\n…\nc", "a\nx\nb\ny\nc", true},
		{"a\n…\nb\nc\n…\nd", "a\nb\nx\nb\nc\nd", true},
		{"a\n…\nc\n…\nb\n…", "a\nb\nc", false},
		{"…\nb", "b\na\nb", true},
	}
	for _, tt := range tests {
		if err := excerpt(strings.Split(tt.want, "\n"), strings.Split(tt.got, "\n")); (err == nil) != tt.ok {
			t.Errorf("%q in %q: %v, want ok %v", tt.want, tt.got, err, tt.ok)
		}
	}
}

func TestShellWords(t *testing.T) {
	tests := []struct {
		line string
		want []string // nil: refused
	}{
		{"dlock run a.dlk", []string{"dlock", "run", "a.dlk"}},
		{"dlock  run --run 'it forgets'", []string{"dlock", "run", "--run", "it forgets"}},
		{`dlock run --run="it's"`, []string{"dlock", "run", "--run=it's"}},
		{"dlock run ''", []string{"dlock", "run", ""}},
		{"dlock run 'a", nil},
		{"dlock run a.dlk | head", nil},
		{"dlock run *.dlk", nil},
	}
	for _, tt := range tests {
		got, err := shellWords(tt.line)
		if !slices.Equal(got, tt.want) || (err != nil) != (tt.want == nil) {
			t.Errorf("%q: %q, %v, want %q", tt.line, got, err, tt.want)
		}
	}
}
