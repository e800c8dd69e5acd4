package config

import (
	"fmt"
	"net/url"
	"os"
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

// DefaultModel is no model.
func DefaultModel() Model { return Model{Timeout: 2 * time.Minute} }

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
