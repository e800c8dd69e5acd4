package observation

import (
	"fmt"
	"slices"
)

// What Settings.Classify can be.
const (
	ClassifyTranscripts = "transcripts" // what is said in transcripts
	ClassifyAll         = "all"         // and what is handed in without an annotation
	ClassifyOff         = "off"
)

// Settings say how observations are judged and watched.
type Settings struct {
	// Classify says which observations without an annotation a classifier
	// decides about: "transcripts" (what is said in them; what is handed in
	// without an annotation is allowed as a fallback), "all", or "off".
	Classify string `yaml:"classify"`
	// ReflectAfter is how many allowed observations of a project are waited for
	// before they are reflected on; 0 reflects on request alone.
	ReflectAfter int `yaml:"reflect_after"`
	// Drift says when the distribution of verdicts is an alarm.
	Drift Limits `yaml:"drift"`
}

// DefaultSettings hold where nothing else is configured.
func DefaultSettings() Settings {
	return Settings{Classify: ClassifyTranscripts, ReflectAfter: 25, Drift: DefaultLimits()}
}

// Check names the first setting that cannot be.
func (s Settings) Check() error {
	if all := []string{ClassifyTranscripts, ClassifyAll, ClassifyOff}; !slices.Contains(all, s.Classify) {
		return fmt.Errorf("classify is %q, must be one of %q", s.Classify, all)
	}
	if s.ReflectAfter < 0 {
		return fmt.Errorf("reflect_after is %d, must not be negative", s.ReflectAfter)
	}
	d := s.Drift
	switch {
	case d.MinVerdicts < 1:
		return fmt.Errorf("drift.min_verdicts is %d, must be at least 1", d.MinVerdicts)
	case d.WindowMinutes < 1 || d.WindowMinutes > 7*24*60:
		return fmt.Errorf("drift.window_minutes is %d, must be 1 to %d", d.WindowMinutes, 7*24*60)
	}
	for name, ratio := range map[string]float64{"fallback": d.Fallback, "hold": d.Hold, "discard": d.Discard} {
		if !(ratio > 0 && ratio <= 1) { // also what is no number
			return fmt.Errorf("drift.%s is %g, must be above 0 and at most 1", name, ratio)
		}
	}
	return nil
}
