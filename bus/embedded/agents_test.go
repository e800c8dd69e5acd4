package embedded_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

// TestAgentsLeaveRoomForHooks: agents connect and ask within bounds of their own; whoever
// asks as a hook beside them is let in.
func TestAgentsLeaveRoomForHooks(t *testing.T) {
	s := newStore(t)
	server, daemon := s.start()
	as := func(r embedded.Role) (*bus.Conn, error) { return bus.Connect(t.Context(), s.as(r, server)) }
	stop, err := daemon.Serve(t.Context(), bus.Service{Name: "writ", Version: "1.0.0", Endpoints: []bus.Endpoint{{Name: "status", Subject: schemas.SvcStatus, Handle: says}}})
	must(t, err)
	defer func() { must(t, stop(t.Context())) }()
	first, err := as(embedded.RoleAgent)
	must(t, err)
	defer first.Close()
	if _, err := first.Request(t.Context(), bus.Request{Subject: schemas.SvcStatus}); err != nil {
		t.Errorf("an agent looks nothing up: %v", err)
	}
	if _, err := first.Request(t.Context(), bus.Request{Subject: schemas.SvcStatus, Body: []byte(strings.Repeat("x", 2<<20))}); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("an agent's question of 2 MiB: %v", err)
	}
	refused := false
	for range 300 {
		c, err := as(embedded.RoleAgent)
		if err != nil {
			if refused = true; !errors.Is(err, bus.ErrBusy) {
				t.Errorf("one agent too many: %v", err)
			}
			break
		}
		defer c.Close()
	}
	if !refused {
		t.Error("300 agents are let in at once")
	}
	first.Close()
	freed := time.Now().Add(30 * time.Second)
	for again, err := as(embedded.RoleAgent); ; again, err = as(embedded.RoleAgent) {
		if err == nil {
			again.Close()
			break
		}
		if time.Now().After(freed) {
			t.Fatalf("one has left, and the next agent is kept out: %v", err)
		}
	}
	hook, err := as(embedded.RoleHook)
	must(t, err)
	defer hook.Close()
	if _, err := hook.Request(t.Context(), bus.Request{Subject: schemas.SvcStatus, Body: []byte(strings.Repeat("x", 2<<20))}); err != nil {
		t.Errorf("a hook beside them: %v", err)
	}
}
