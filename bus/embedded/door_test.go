package embedded_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

func says(context.Context, bus.Request) ([]byte, error) { return []byte("{}"), nil }

// TestADoorIsForAgentsAlone: who runs confined is answered what its role may ask, nothing
// else, and has neither a log there nor another role's way in.
func TestADoorIsForAgentsAlone(t *testing.T) {
	folder := t.TempDir()
	door, err := embedded.OpenDoor(folder, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	daemon, err := bus.Connect(t.Context(), door.Daemon())
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	stop, err := bus.Serve(t.Context(), []*bus.Conn{nil, daemon}, bus.Service{Name: "writ", Version: "1.0.0", Endpoints: []bus.Endpoint{
		{Name: "status", Subject: schemas.SvcStatus, Handle: says}, {Name: "stop", Subject: schemas.SvcStop, Handle: says}, {Name: "observe", Subject: schemas.SvcObserve, Handle: says},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stop(context.Background()) }()
	trust, err := bus.TLS{CA: door.Trusted}.Config()
	if err != nil {
		t.Fatal(err)
	}
	own, err := bus.LoadCredential(folder, "agent")
	if err != nil {
		t.Fatal(err)
	}
	agent, err := bus.Connect(t.Context(), bus.Options{URL: door.URL(), TLS: trust, Timeout: 3 * time.Minute}.As(own))
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if _, err := agent.Request(t.Context(), bus.Request{Subject: schemas.SvcStatus}); err != nil {
		t.Errorf("it looks nothing up: %v", err)
	}
	for _, subject := range []string{schemas.SvcStop, schemas.SvcObserve} {
		if _, err := agent.Request(t.Context(), bus.Request{Subject: subject}); !errors.Is(err, bus.ErrDenied) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	if state, err := agent.State(t.Context(), schemas.StreamSessions); err == nil {
		t.Errorf("it sees a log: %+v", state)
	}
	for _, other := range []bus.Credential{{}, {User: "daemon", Password: own.Password}, {User: own.User, Password: "guess"}} {
		if c, err := bus.Connect(t.Context(), bus.Options{URL: door.URL(), TLS: trust}.As(other)); err == nil {
			c.Close()
			t.Errorf("%q is let in", other.User)
		}
	}
}
