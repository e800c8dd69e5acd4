package observation

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAlarms(t *testing.T) {
	none := Limits{MinVerdicts: 1, WindowMinutes: 60, Fallback: 2, Hold: 2, Discard: 2}
	all := Limits{MinVerdicts: 2, WindowMinutes: 10, Fallback: 0.25, Hold: 0.25, Discard: 0.25}
	for _, c := range []struct {
		name                                     string
		allow, hold, discard, fallbacks, minutes int
		limits                                   Limits
		want                                     []string
	}{
		{"nothing at all", 0, 0, 0, 0, 60, DefaultLimits(), nil},
		{"one short", 0, 44, 0, 0, 60, DefaultLimits(), nil},
		{"just enough", 0, 45, 0, 0, 60, DefaultLimits(), []string{"hold"}},
		{"fallback at its ratio", 90, 110, 0, 90, 60, DefaultLimits(), []string{"fallback"}},
		{"fallback under it", 90, 110, 0, 89, 60, DefaultLimits(), nil},
		{"fallbacks count once", 45, 0, 0, 20, 60, DefaultLimits(), nil},
		{"hold at its ratio", 3, 17 * 3, 6, 0, 60, DefaultLimits(), []string{"hold"}},
		{"discard at its ratio", 30, 0, 70, 0, 60, DefaultLimits(), []string{"discard"}},
		{"discard under it", 31, 0, 69, 0, 60, DefaultLimits(), nil},
		{"a shorter window", 0, 45, 0, 0, 5, DefaultLimits(), []string{"hold"}},
		{"a longer window, too slow", 0, 89, 0, 0, 120, DefaultLimits(), nil},
		{"a longer window, at the rate", 0, 90, 0, 0, 120, DefaultLimits(), []string{"hold"}},
		{"all three, in order", 2, 1, 1, 1, 10, all, []string{"fallback", "hold", "discard"}},
		{"limits out of reach", 9, 0, 0, 9, 60, none, nil},
		{"a limit whose product would round up", 93, 7, 0, 0, 60, Limits{MinVerdicts: 1, WindowMinutes: 60, Fallback: 1, Hold: 0.07, Discard: 1}, []string{"hold"}},
		{"fallbacks of no verdicts", 0, 0, 0, 1, 60, Limits{}, nil},
		{"no minimum, no verdict", 0, 0, 0, 0, 60, Limits{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Alarms(c.allow, c.hold, c.discard, c.fallbacks, c.minutes, c.limits); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// The alarms in whole numbers, where nothing is rounded.
func TestAlarmsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 2000)
		allow, hold, discard := count.Draw(t, "allow"), count.Draw(t, "hold"), count.Draw(t, "discard")
		fallbacks := rapid.IntRange(0, allow).Draw(t, "fallback")
		if rapid.Bool().Draw(t, "on the edge") {
			n := rapid.IntRange(3, 100).Draw(t, "n")
			allow, hold, discard, fallbacks = 9*n, 11*n, 0, 9*n+rapid.IntRange(-1, 0).Draw(t, "below")
		}
		total := allow + hold + discard
		var want []string
		if total >= 45 {
			if 100*fallbacks >= 45*total {
				want = append(want, AlarmFallback)
			}
			if 100*hold >= 85*total {
				want = append(want, AlarmHold)
			}
			if 100*discard >= 70*total {
				want = append(want, AlarmDiscard)
			}
		}
		if got := Alarms(allow, hold, discard, fallbacks, 60, DefaultLimits()); !slices.Equal(got, want) {
			t.Fatalf("%d %d %d %d: got %v, want %v", allow, hold, discard, fallbacks, got, want)
		}
	})
}
