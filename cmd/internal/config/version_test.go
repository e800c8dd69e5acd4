package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestVersionIsThatOfTheTag(t *testing.T) {
	for _, c := range []struct{ module, want string }{
		{"v0.2.0", "0.2.0"},
		{"v0.2.1-0.20261126203309-5276d38a1b2c+dirty", "0.2.1-0.20261126203309-5276d38a1b2c"},
		{"v0.0.0-20261126203309-5276d38a1b2c", untagged},
		{"(devel)", untagged},
		{"", untagged},
	} {
		got := versionOf(func() (*debug.BuildInfo, bool) {
			return &debug.BuildInfo{Main: debug.Module{Version: c.module}}, c.module != ""
		})
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestDaemonsOfOtherVersions(t *testing.T) {
	for _, c := range []struct {
		at    Endpoint
		older bool
	}{
		{Endpoint{Version: "0.2.0", Protocol: 2}, false},
		{Endpoint{Version: "0.10.0", Protocol: 2}, false},
		{Endpoint{Version: "0.3.0", Protocol: 1}, true},
		{Endpoint{Version: "0.1.9", Protocol: 2}, true},
		{Endpoint{Version: "0.2.0-rc.1", Protocol: 2}, true},
		{Endpoint{Version: "0.1.0"}, true}, // of before there was a number
		{Endpoint{}, false},
	} {
		if got := c.at.Older("0.2.0", 2); got != c.older {
			t.Errorf("%+v: older %v", c.at, got)
		}
	}
	if err := (Endpoint{Version: "9.0.0", Protocol: Protocol}).Understood(); err != nil {
		t.Errorf("a newer daemon of this protocol: %v", err)
	}
	err := Endpoint{PID: 7, Version: "9.0.0", Protocol: Protocol + 1}.Understood()
	for _, word := range []string{"9.0.0", Version, "process 7", "`writ upgrade`"} {
		if !errors.Is(err, ErrNewerDaemon) || !strings.Contains(err.Error(), word) {
			t.Errorf("%v lacks %q", err, word)
		}
	}
}

var updateVocabulary = flag.Bool("update-vocabulary", false, "note the events of this build under its format")

// TestNewEventsRaiseTheFormat: a folder that may hold an event that older programs
// do not know has a format that they do not know either, so that they refuse it
// and do not decide without the event.
func TestNewEventsRaiseTheFormat(t *testing.T) {
	path := filepath.Join("testdata", "vocabulary.txt")
	var now strings.Builder
	for _, kind := range schemas.Types() {
		fmt.Fprintf(&now, "%s %d\n", kind, kind.Version())
	}
	want := fmt.Sprintf("format %d\n", Format()) + now.String()
	raw, err := os.ReadFile(path)
	if err != nil && !*updateVocabulary {
		t.Fatal(err)
	}
	head, noted, _ := strings.Cut(string(raw), "\n")
	switch {
	case string(raw) == want:
	case noted != now.String() && head == fmt.Sprintf("format %d", Format()):
		t.Fatalf("the events are others than those noted for format %d in %s: add a step to steps() in format.go, then run this test with -update-vocabulary", Format(), path)
	case !*updateVocabulary:
		t.Fatalf("%s is not of format %d: run this test with -update-vocabulary", path, Format())
	default:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
