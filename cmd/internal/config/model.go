package config

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"
)

// ModelKey names the environment variable that holds the key of the language
// model's endpoint: secrets stay out of files.
const ModelKey = "WRIT_MODEL_KEY"

// Model is the language model that observes transcripts, reflects on what was
// observed and answers agents. Without an API there is none, and an embedded
// classifier decides.
type Model struct {
	// API is "openai" (any OpenAI-compatible endpoint), "anthropic", or "" for
	// no model.
	API string `yaml:"api"`
	// URL of the API, without /chat/completions or /v1/messages; "" is the
	// vendor's own.
	URL string `yaml:"url"`
	// Name of the model.
	Name string `yaml:"name"`
	// Timeout bounds one call with its tries.
	Timeout time.Duration `yaml:"timeout"`
}

// Memory says how observations are judged and watched.
type Memory struct {
	// Classify says which observations without an annotation a classifier
	// decides about: "transcripts" (what is said in them; what is handed in
	// without an annotation is allowed as a fallback), "all", or "off".
	Classify string `yaml:"classify"`
	// ReflectAfter is how many allowed observations of a project are waited for
	// before they are reflected on; 0 reflects on request alone.
	ReflectAfter int `yaml:"reflect_after"`
	// Drift says when the distribution of verdicts is an alarm.
	Drift Drift `yaml:"drift"`
}

// Drift holds the limits of the alarms: ratios of all verdicts of a window that
// has enough of them.
type Drift struct {
	MinVerdicts   int     `yaml:"min_verdicts"`   // verdicts a window needs to count
	WindowMinutes int     `yaml:"window_minutes"` // its length
	Fallback      float64 `yaml:"fallback"`       // ratio of fallbacks
	Hold          float64 `yaml:"hold"`           // ratio of held ones
	Discard       float64 `yaml:"discard"`        // ratio of discarded ones
}

// What Memory.Classify can be.
const (
	ClassifyTranscripts = "transcripts"
	ClassifyAll         = "all"
	ClassifyOff         = "off"
)

// DefaultModel is no model.
func DefaultModel() Model { return Model{Timeout: 2 * time.Minute} }

// DefaultMemory is what an empty file means (MEMORY.md, flow).
func DefaultMemory() Memory {
	return Memory{Classify: ClassifyTranscripts, ReflectAfter: 25, Drift: Drift{MinVerdicts: 45, WindowMinutes: 60, Fallback: 0.45, Hold: 0.85, Discard: 0.70}}
}

// modelFromEnvironment overrides what is set there.
func (m *Model) modelFromEnvironment() {
	for name, setting := range map[string]*string{"WRIT_MODEL_API": &m.API, "WRIT_MODEL_URL": &m.URL, "WRIT_MODEL_NAME": &m.Name} {
		if v := os.Getenv(name); v != "" {
			*setting = v
		}
	}
}

func (m Model) check() error {
	switch {
	case m.API == "" && m.Name == "" && m.URL == "":
		return nil
	case m.API != "openai" && m.API != "anthropic":
		return fmt.Errorf("%w: model.api is %q, must be openai or anthropic", ErrSettings, m.API)
	case m.Name == "":
		return fmt.Errorf("%w: model.name is missing: which model is to be asked?", ErrSettings)
	case m.Timeout <= 0:
		return fmt.Errorf("%w: model.timeout is %s, must be a duration such as 2m", ErrSettings, m.Timeout)
	}
	if u, err := url.Parse(m.URL); m.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%w: model.url is %q, must be the http or https URL of an API", ErrSettings, m.URL)
	}
	return nil
}

func (m Memory) check() error {
	if all := []string{ClassifyTranscripts, ClassifyAll, ClassifyOff}; !slices.Contains(all, m.Classify) {
		return fmt.Errorf("%w: memory.classify is %q, must be one of %q", ErrSettings, m.Classify, all)
	}
	if m.ReflectAfter < 0 {
		return fmt.Errorf("%w: memory.reflect_after is %d, must not be negative", ErrSettings, m.ReflectAfter)
	}
	d := m.Drift
	switch {
	case d.MinVerdicts < 1:
		return fmt.Errorf("%w: memory.drift.min_verdicts is %d, must be at least 1", ErrSettings, d.MinVerdicts)
	case d.WindowMinutes < 1 || d.WindowMinutes > 7*24*60:
		return fmt.Errorf("%w: memory.drift.window_minutes is %d, must be 1 to %d", ErrSettings, d.WindowMinutes, 7*24*60)
	}
	for name, ratio := range map[string]float64{"fallback": d.Fallback, "hold": d.Hold, "discard": d.Discard} {
		if !(ratio > 0 && ratio <= 1) { // also what is no number
			return fmt.Errorf("%w: memory.drift.%s is %g, must be above 0 and at most 1", ErrSettings, name, ratio)
		}
	}
	return nil
}
