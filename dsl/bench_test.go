package dsl

import (
	"strings"
	"testing"
)

// lines is a file of about n lines of every kind that people write.
func lines(n int) []byte {
	const some = `at 0      A acquire ttl lease retry every 2 until 400 {
  +1  read
  +2  append "A" guard before +5
} when denied {
  +3  acquire ttl lease + 2 * stall
}
# a comment
at stall  B write "b" if valid arrives +1 reply +2
expect at 3 A holds
`
	var b strings.Builder
	b.WriteString("let lease = 10\nlet stall = max(lease, 3) * 2\n")
	for range n / strings.Count(some, "\n") {
		b.WriteString(some)
	}
	return []byte(b.String())
}

// BenchmarkParse checks a file of 10,000 lines.
func BenchmarkParse(b *testing.B) {
	src := lines(10_000)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		Parse("bench.dlk", src)
	}
}

// BenchmarkFormat formats a file of 10,000 lines.
func BenchmarkFormat(b *testing.B) {
	src := lines(10_000)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ds := Format(src, "bench.dlk"); len(ds) > 0 {
			b.Fatal(ds)
		}
	}
}
