package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table of incidents is what the command above it prints.
func TestIncidentsTableIsFresh(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text, err := os.ReadFile(filepath.Join("scenarios", "incidents", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.ReplaceAll(string(text), "\r\n", "\n")
	_, after, ok := strings.Cut(doc, "```\ndlock ")
	command, rest, closed := strings.Cut(after, "\n```\n")
	if !ok || !closed {
		t.Fatal("the file names no command")
	}
	var out, errs bytes.Buffer
	code := Main(strings.Fields(command), Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }})
	if code != 0 || out.Len() == 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if want := "\n" + out.String() + "\n"; !strings.HasPrefix(rest, want) {
		t.Errorf("the table is not what `dlock %s` prints; put this there:\n%s", command, out.String())
	}
}
