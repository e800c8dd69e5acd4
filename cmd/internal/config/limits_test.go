package config

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestLimitsAreSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(Layout{dir}.Settings(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("limits:\n  fetches: 9\n  exec: 90s\n")
	s, err := Load(dir)
	if err != nil || s.Limits.Fetches != 9 || s.Limits.Exec != 90*time.Second || s.Limits.Commands != 0 {
		t.Fatalf("%+v, %v", s.Limits, err)
	}
	for text, name := range map[string]string{
		"limits:\n  fetches: -1\n":    "limits.fetches",
		"limits:\n  body: 99999999\n": "limits.body",
		"limits:\n  exec: 2h\n":       "limits.exec",
		"limits:\n  fetchez: 1\n":     "fetchez",
	} {
		write(text)
		if _, err := Load(dir); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
