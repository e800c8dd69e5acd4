package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/observer/observation"
)

func TestModelAndMemorySettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	put(t, file, "model:\n  api: openai\n  url: http://127.0.0.1:11434/v1\n  name: m\nmemory:\n  drift:\n    hold: 0.5\n")
	s, err := Load(dir)
	if err != nil || s.Model != (Model{API: "openai", URL: "http://127.0.0.1:11434/v1", Name: "m", Timeout: 2 * time.Minute}) {
		t.Errorf("%+v, %v", s.Model, err)
	}
	want := observation.DefaultSettings()
	want.Drift.Hold = 0.5
	if s.Memory != want {
		t.Errorf("a key changed more than itself: %+v", s.Memory)
	}
	t.Setenv("WRIT_MODEL_NAME", "other")
	if s, err := Load(dir); err != nil || s.Model.Name != "other" {
		t.Errorf("%+v, %v", s.Model, err)
	}
	for content, names := range map[string]string{
		"model:\n  api: telnet\n  name: m\n":                 "model.api",
		"model:\n  url: x\n  name: m\n":                      "model.api",
		"model:\n  api: openai\n  name: m\n  url: here\n":    "model.url",
		"model:\n  api: openai\n  name: m\n  timeout: -1s\n": "model.timeout",
		"model:\n  api: openai\n  key: secret\n  name: m\n":  "key",
		"memory:\n  reflect_after: -1\n":                     "reflect_after",
		"memory:\n  classify: some\n":                        "memory.classify",
		"memory:\n  drift:\n    fallback: 0\n":               "memory.drift.fallback",
		"memory:\n  drift:\n    discard: .nan\n":             "memory.drift.discard",
		"memory:\n  drift:\n    min_verdicts: 0\n":           "min_verdicts",
		"memory:\n  drift:\n    window_minutes: 999999999\n": "window_minutes",
	} {
		put(t, file, content)
		if _, err := Load(dir); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), names) {
			t.Errorf("%q: %v", content, err)
		}
	}
}
