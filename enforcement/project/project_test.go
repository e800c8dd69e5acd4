package project

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestCacheNoticesChangedSettings: an entry holds for a while, and no longer
// than its settings file stays the same.
func TestCacheNoticesChangedSettings(t *testing.T) {
	root, now, loads := t.TempDir(), time.Unix(1000, 0), 0
	file := filepath.Join(root, "settings")
	put := func(mode string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(mode), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("work")
	c := NewCache(Options{DataDir: t.TempDir(), File: "settings", Now: func() time.Time { return now }, Load: func(string) (Settings, error) {
		loads++
		raw, err := os.ReadFile(file)
		return Settings{Mode: string(raw)}, err
	}})
	expect := func(when, mode string, loaded int) {
		t.Helper()
		if p := c.At(root, "/home/u"); p.Settings.Mode != mode || loads != loaded {
			t.Errorf("%s: mode %q after %d loads, want %q after %d", when, p.Settings.Mode, loads, mode, loaded)
		}
	}
	expect("first", "work", 1)
	expect("again", "work", 1)
	put("review")
	expect("changed", "review", 2)
	now = now.Add(keptFor)
	expect("later", "review", 3)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if p := c.At(root, "/home/u"); p.Problem == nil || errors.Is(p.Problem, os.ErrNotExist) {
		t.Errorf("gone settings: %v", p.Problem)
	}
}

func TestDomainsLeaveOutOtherLanguages(t *testing.T) {
	all := []string{"go", "python", "security"}
	for name, c := range map[string]struct {
		project   Project
		languages []string
		want      []string
	}{
		"of go":           {Project{}, []string{"go"}, []string{"go", "security"}},
		"of any":          {Project{}, nil, nil},
		"by its settings": {Project{Settings: Settings{Domains: []string{"python"}}}, []string{"go"}, []string{"python"}},
	} {
		if got := c.project.Domains(all, c.languages); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
