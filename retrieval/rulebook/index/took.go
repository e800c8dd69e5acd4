package index

import (
	"sync"
	"time"

	"github.com/writbus/writ/schemas"
)

// tookBounds are the upper bounds of the histogram's buckets; the last bucket
// has none.
var tookBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 150 * time.Microsecond, 200 * time.Microsecond, 300 * time.Microsecond,
	400 * time.Microsecond, 500 * time.Microsecond, 750 * time.Microsecond, time.Millisecond, 1500 * time.Microsecond,
	2 * time.Millisecond, 3 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond,
}

// keptMinutes is how many minutes of durations are kept.
const keptMinutes = 24 * 60

// durations are histograms of how long something took, per minute.
type durations struct {
	mu   sync.Mutex
	ring [keptMinutes]minuteOf
}

type minuteOf struct {
	minute int64 // since 1970; tells a slot of today from one of yesterday
	counts [len(tookBounds) + 1]uint32
	max    time.Duration
}

func (m *durations) add(at time.Time, took time.Duration) {
	minute := at.Unix() / 60
	m.mu.Lock()
	defer m.mu.Unlock()
	slot := &m.ring[minute%keptMinutes]
	if slot.minute != minute {
		*slot = minuteOf{minute: minute}
	}
	i := 0
	for i < len(tookBounds) && took > tookBounds[i] {
		i++
	}
	slot.counts[i]++
	slot.max = max(slot.max, took)
}

// minutes lists the minutes in which something was measured, oldest first.
func (m *durations) minutes() []schemas.RetrievalMinute {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []schemas.RetrievalMinute{}
	newest := int64(0)
	for _, slot := range m.ring {
		newest = max(newest, slot.minute)
	}
	for minute := newest - keptMinutes + 1; minute <= newest; minute++ {
		if minute < 0 {
			continue
		}
		slot := m.ring[minute%keptMinutes]
		if slot.minute == minute && minute > 0 {
			out = append(out, slot.summary())
		}
	}
	return out
}

func (s minuteOf) summary() schemas.RetrievalMinute {
	out := schemas.RetrievalMinute{Start: time.Unix(s.minute*60, 0).UTC(), Max: millis(s.max)}
	for _, n := range s.counts {
		out.Count += uint64(n)
	}
	out.P50, out.P95 = s.quantile(out.Count, 0.50), s.quantile(out.Count, 0.95)
	return out
}

// quantile is the upper bound of the bucket that holds it, in milliseconds,
// and never above the longest.
func (s minuteOf) quantile(total uint64, q float64) float64 {
	rank := uint64(q*float64(total-1)) + 1
	seen := uint64(0)
	for i, n := range s.counts {
		if seen += uint64(n); seen >= rank && i < len(tookBounds) {
			return millis(min(tookBounds[i], s.max))
		}
	}
	return millis(s.max)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
