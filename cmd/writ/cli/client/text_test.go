package client

import (
	"testing"
	"time"
)

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
