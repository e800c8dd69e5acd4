package observation

// The alarms of drift. Persisted; never change.
const (
	AlarmFallback = "fallback" // observers stopped writing annotations the gate can read
	AlarmHold     = "hold"     // nearly everything is held
	AlarmDiscard  = "discard"  // most is discarded
)

// Limits say when the distribution of verdicts is an alarm: at which ratios of all
// verdicts of a window that has enough of them, above 0 and at most 1.
type Limits struct {
	MinVerdicts   int     `yaml:"min_verdicts"`   // verdicts a window needs to count
	WindowMinutes int     `yaml:"window_minutes"` // its length
	Fallback      float64 `yaml:"fallback"`       // ratio of fallbacks
	Hold          float64 `yaml:"hold"`           // ratio of held ones
	Discard       float64 `yaml:"discard"`        // ratio of discarded ones
}

// DefaultLimits returns the limits that hold where nothing else is configured.
func DefaultLimits() Limits {
	return Limits{MinVerdicts: 45, WindowMinutes: 60, Fallback: 0.45, Hold: 0.85, Discard: 0.70}
}

// Alarms returns the alarms that the counts of the last windowMinutes raise, in
// the order fallback, hold, discard. Fallbacks are among the allows: ratios
// divide by allow + hold + discard. Counts of a window longer than the limits'
// must reach MinVerdicts at that rate; those of a shorter one must reach it
// whole, as the longer window around it does then.
func Alarms(allow, hold, discard, fallback int, windowMinutes int, l Limits) []string {
	total := float64(allow) + float64(hold) + float64(discard)
	need := float64(l.MinVerdicts)
	if windowMinutes > l.WindowMinutes {
		need *= float64(windowMinutes) / float64(l.WindowMinutes)
	}
	if total <= 0 || total < need {
		return nil
	}
	var alarms []string
	for _, ratio := range []struct {
		alarm string
		count int
		limit float64
	}{
		{AlarmFallback, fallback, l.Fallback},
		{AlarmHold, hold, l.Hold},
		{AlarmDiscard, discard, l.Discard},
	} {
		// The quotient is rounded as the limit was, so that 90 of 200 is 0.45;
		// limit × total is not.
		if float64(ratio.count)/total >= ratio.limit {
			alarms = append(alarms, ratio.alarm)
		}
	}
	return alarms
}
