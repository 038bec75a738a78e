package cli

import (
	"io"
	"strings"
	"testing"
)

// BenchmarkMain is what a command costs beside what it does: building the tree of commands, parsing flags, closing.
func BenchmarkMain(b *testing.B) {
	for b.Loop() {
		Main([]string{"version"}, Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Env: func(string) (string, bool) { return "", false }})
	}
}
