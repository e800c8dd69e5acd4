package projections

import (
	"testing"
	"time"
)

func TestRecordsGatherForLongerWhereAnnouncingTakesLong(t *testing.T) {
	const usual = 25 * time.Millisecond
	for _, c := range []struct {
		records          int
		announcing, want time.Duration
	}{
		{1, 0, usual},
		{1, time.Millisecond, usual},
		{lingerRecords, 0, 0},
		{lingerRecords, 10 * time.Millisecond, 40 * time.Millisecond},
		{1, 100 * time.Millisecond, 400 * time.Millisecond},
		{5000, time.Minute, lingerMost},
	} {
		if got := lingering(c.records, usual, c.announcing); got != c.want {
			t.Errorf("%d records after announcing took %s: %s, want %s", c.records, c.announcing, got, c.want)
		}
	}
}
