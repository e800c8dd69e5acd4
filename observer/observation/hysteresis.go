package observation

import "slices"

const (
	// clearShare is how far below its limit a ratio has to fall before a raised
	// alarm is over, so that one at the limit does not come and go.
	clearShare = 0.8
	// quietShare is the share of the needed verdicts below which a window is
	// quiet, which ends an alarm, too.
	quietShare = 0.5
)

// Drift is a change of an alarm.
type Drift struct {
	Alarm        string
	Raised       bool // else it is over
	Ratio, Limit float64
	Verdicts     int
}

// Drifts returns the changes that the counts of a window of the limits' own
// length bring to the alarms that are raised: each is raised once, and over
// when its ratio is well below its limit or the window has gone quiet.
func Drifts(allow, hold, discard, fallback int, raised []string, l Limits) []Drift {
	total := allow + hold + discard
	alarms := Alarms(allow, hold, discard, fallback, l.WindowMinutes, l)
	var changes []Drift
	for _, a := range []struct {
		alarm string
		count int
		limit float64
	}{{AlarmFallback, fallback, l.Fallback}, {AlarmHold, hold, l.Hold}, {AlarmDiscard, discard, l.Discard}} {
		ratio := 0.0
		if total > 0 {
			ratio = float64(a.count) / float64(total)
		}
		was, is := slices.Contains(raised, a.alarm), slices.Contains(alarms, a.alarm)
		quiet := float64(total) < quietShare*float64(l.MinVerdicts)
		calm := total >= l.MinVerdicts && ratio < clearShare*a.limit
		if is && !was || was && !is && (quiet || calm) {
			changes = append(changes, Drift{Alarm: a.alarm, Raised: is, Ratio: ratio, Limit: a.limit, Verdicts: total})
		}
	}
	return changes
}
