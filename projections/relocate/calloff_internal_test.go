package relocate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
)

// TestACallOffThatIsNotNotedTakesNothingAway: the move goes on with the credentials that
// were brought for it, and what stays at the new place is told.
func TestACallOffThatIsNotNotedTakesNothingAway(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, brought, "daemon.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(key), 0o700), os.WriteFile(key, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: filepath.Join(dir, "none"), Credentials: dir, Streams: "\x00", Writer: bus.WriterOptions{Now: time.Now}}
	p := Place{Moving: &Moving{ID: "m", To: NATS{URL: "nats://127.0.0.1:1"}}}
	done, err := callOff(t.Context(), o, p)
	if err == nil {
		t.Fatal("it was noted")
	}
	if _, err := os.Stat(key); err != nil {
		t.Errorf("the move has no credentials any more: %v", err)
	}
	if !strings.Contains(done.Left, "invalid argument") || !strings.Contains(done.Left, "127.0.0.1:1") {
		t.Errorf("left: %s", done.Left)
	}
}
