package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tracing makes steps that note themselves in a file of the directory; the one
// at failing fails once.
func tracing(n, failing int) []step {
	var all []step
	for i := range n {
		all = append(all, func(l Layout) error {
			if i == failing {
				failing = -1
				return errors.New("interrupted")
			}
			f, err := os.OpenFile(filepath.Join(l.Root, "trace"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(f, "%d ", i)
			return errors.Join(err, f.Close())
		})
	}
	return all
}

func TestUpgradeGoesStepByStep(t *testing.T) {
	l := Layout{t.TempDir()}
	three := tracing(3, 2)
	if _, err := upgrade(l, three); err == nil || !strings.Contains(err.Error(), "from format 2 to 3") {
		t.Fatalf("interrupted: %v", err)
	}
	for i, want := range []int{2, 3} {
		if was, err := upgrade(l, three); was != want || err != nil {
			t.Errorf("start %d: format %d, want %d: %v", i, was, want, err)
		}
	}
	if trace, err := os.ReadFile(filepath.Join(l.Root, "trace")); string(trace) != "0 1 2 " {
		t.Errorf("steps %q: %v", trace, err)
	}
}

func TestUpgradeRefusesNewerAndDamaged(t *testing.T) {
	l := Layout{t.TempDir()}
	refused := func(why string, words ...string) {
		t.Helper()
		before, _ := os.ReadFile(l.FormatFile())
		_, err := upgrade(l, tracing(2, -1))
		if !errors.Is(err, ErrFormat) {
			t.Fatalf("%s: %v", why, err)
		}
		for _, word := range words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q lacks %q", why, err, word)
			}
		}
		if after, _ := os.ReadFile(l.FormatFile()); string(after) != string(before) {
			t.Errorf("%s: the file was changed", why)
		}
		if _, err := os.Stat(filepath.Join(l.Root, "trace")); err == nil {
			t.Errorf("%s: a step was taken", why)
		}
	}
	if _, err := upgrade(l, []step{func(Layout) error { return nil }, func(Layout) error { return nil }, func(Layout) error { return nil }}); err != nil {
		t.Fatal(err)
	}
	refused("a newer one", l.Root, "format 3", "Install that version", "WRIT_HOME", "nothing was changed")
	for _, damaged := range []string{"", "3", "writ data directory, format 2\n", strings.Replace(string(formatLine(3)), "3", "2", 1)} {
		if err := os.WriteFile(l.FormatFile(), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		refused("damaged", l.FormatFile(), "Restore that file")
	}
}
