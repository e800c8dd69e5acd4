package index

import (
	"testing"
	"time"
)

func TestDurationsPerMinute(t *testing.T) {
	var m durations
	start := time.Date(2026, 11, 21, 10, 0, 30, 0, time.UTC)
	for i := range 100 {
		m.add(start, time.Duration(i+1)*4*time.Microsecond)
	}
	m.add(start, 70*time.Millisecond)
	m.add(start.Add(time.Minute), 3*time.Millisecond)
	got := m.minutes()
	if len(got) != 2 || got[0].Count != 101 || got[0].P50 != 0.3 || got[0].P95 != 0.4 || got[0].Max != 70 {
		t.Fatalf("%+v", got)
	}
	if got[1].P50 != 3 || !got[1].Start.Equal(start.Truncate(time.Minute).Add(time.Minute)) {
		t.Errorf("%+v", got[1])
	}
	// A day later the slot is another minute's.
	m.add(start.Add(24*time.Hour), time.Millisecond)
	if got := m.minutes(); len(got) != 2 || got[1].Count != 1 || !got[1].Start.Equal(start.Truncate(time.Minute).Add(24*time.Hour)) {
		t.Errorf("%+v", got)
	}
}
