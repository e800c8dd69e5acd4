package scanner

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

type discard struct{ bytes, commands int }

func (d *discard) Prose(p []byte)        { d.bytes += len(p) }
func (d *discard) Command(Command)       { d.commands++ }
func (d *discard) Diagnostic(Diagnostic) {}

const proseLine = "The scanner passes on what cannot become a command any more.\n"

// mixed has a command in every tenth line.
func mixed() []byte {
	return []byte(strings.Repeat(strings.Repeat(proseLine, 9)+"/exec go test ./observer/agent/scanner/...\n", 200))
}

func TestProseAllocatesNothing(t *testing.T) {
	s := New(table(t), &discard{})
	text := []byte(strings.Repeat(proseLine+"  indented – and ```more```\n```go\nx\n```\n/usr/bin\n<b>\n\n", 100))
	s.Write(text)
	// The least of some runs: all of the process is counted.
	least := math.Inf(1)
	for range 10 {
		least = min(least, testing.AllocsPerRun(10, func() { s.Write(text) }))
	}
	if least > 0 {
		t.Errorf("%v allocations per 800 lines of prose", least)
	}
}

func benchmark(b *testing.B, text []byte, chunk int) {
	s := New(table(b), &discard{})
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for part := range chunks(text, chunk) {
			s.Write(part)
		}
	}
}

func chunks(text []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			n := min(size, len(text))
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

func BenchmarkProse(b *testing.B) {
	text := bytes.Repeat([]byte(proseLine), 2000)
	b.Run("4KiB", func(b *testing.B) { benchmark(b, text, 4<<10) })
	b.Run("64B", func(b *testing.B) { benchmark(b, text, 64) })
}

func BenchmarkMixed(b *testing.B) {
	b.Run("4KiB", func(b *testing.B) { benchmark(b, mixed(), 4<<10) })
	b.Run("64B", func(b *testing.B) { benchmark(b, mixed(), 64) })
}
