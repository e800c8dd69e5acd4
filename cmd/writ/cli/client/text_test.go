package client

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestWhatIsPrintedObeysNobodyElse: of what an agent wrote a terminal is told no more than
// its letters, wherever it is printed, and in this program's own colours.
func TestWhatIsPrintedObeysNobodyElse(t *testing.T) {
	bad := "a\x1b]0;title\x07\x1b[2J\x1b[8mb\u009b31m\u202ec\u2066d\x08\x7f\re"
	var out, note bytes.Buffer
	a := &Client{Out: &out, Err: &note}
	a.Printf("%s\t%s\n", bad, Style{On: true}.Red("red"))
	a.Note("%s", bad)
	if err := Table(a, "one\ttwo", []string{bad}, func(s string) string { return s + "\t" + s }); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{out.String(), note.String()} {
		if at := strings.IndexAny(strings.ReplaceAll(strings.ReplaceAll(said, "\x1b[31m", ""), "\x1b[0m", ""), "\x1b\x07\x08\x7f\r\u009b\u202e\u2066"); at >= 0 {
			t.Errorf("%q", said)
		}
	}
	if !strings.Contains(out.String(), "\t\x1b[31mred\x1b[0m\n") || !strings.Contains(out.String(), "\uFFFD[8mb") {
		t.Errorf("%q", out.String())
	}
}

func TestSizesAndAges(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 20: "5.0 MiB", 1 << 50: "1024.0 TiB"} {
		if got := Size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "under a second", 61 * time.Second: "1m1s", 3*time.Hour + 5*time.Minute: "3h5m", 49 * time.Hour: "2d1h",
	} {
		if got := Age(d); got != want {
			t.Errorf("age(%s) = %s, want %s", d, got, want)
		}
	}
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
	if got := Shorten("one two three four", 12); got != "one two…" {
		t.Errorf("shorten = %q", got)
	}
}
