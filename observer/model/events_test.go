package model

import (
	"io"
	"strings"
	"testing"
)

// FuzzEvents reads any bytes as a stream of events.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"", "data: a\n\n", ": c\n\ndata:a\r\ndata:b\r\n\r\n", "event: x\n\ndata\n\n", "data: \xff\n\ndata: cut", "\n\n\n:\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		d := newDecoder(io.NopCloser(strings.NewReader(stream)))
		n := 0
		for d.Next() {
			e := d.Event()
			if len(e.Data) == 0 || strings.Count(stream, "data") < 1 {
				t.Fatalf("%q: an event without data", stream)
			}
			n += strings.Count(string(e.Data), "\n")
		}
		if d.Err() != nil || n > strings.Count(stream, "data") {
			t.Fatalf("%q: %d lines of data, %v", stream, n, d.Err())
		}
	})
}
