package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

// outsideNATS is a server that is not the daemon's own.
func outsideNATS(t *testing.T) (address string) {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Options{
		Dir: t.TempDir(), Durability: embedded.Interval, Logger: slog.New(slog.DiscardHandler),
		Users: []embedded.User{{Name: "writ", Password: "secret", Role: embedded.RoleDaemon}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return strings.Replace(server.URL(), "nats://", "nats://writ:secret@", 1)
}

// TestTwoDaemonsOnOneLog lets two daemons decide on one session at once: their
// decisions have one order, and one act of the user approves once.
func TestTwoDaemonsOnOneLog(t *testing.T) {
	address := outsideNATS(t)
	project := newProject(t, "mode: work\n")
	var worlds []*world
	for range 2 {
		worlds = append(worlds, startWith(t, t.TempDir(), project, func(s *config.Settings) { s.NATSURL = address }))
	}
	a, b := worlds[0], worlds[1]
	endpoint, err := config.ReadEndpoint(a.data)
	if err != nil || strings.Contains(endpoint.URL, "secret") {
		t.Errorf("announced as %+v, %v", endpoint, err)
	}
	const n = 40
	errs := make(chan error, 2*n)
	for i := range n {
		for j, w := range worlds {
			go func() {
				raw := fmt.Sprintf(`{"session_id":"s1","cwd":%q,"tool_name":"Write","tool_use_id":"t%d-%d","tool_input":{"file_path":%q,"content":"x"}}`,
					project, i, j, filepath.Join(project, "plan.md"))
				reply, err := w.raw("PreToolUse", []byte(raw))
				if err == nil && reply.Exit != 0 && !strings.Contains(reply.Stderr, "too many at once") {
					err = fmt.Errorf("%+v", reply)
				}
				errs <- err
			}()
		}
	}
	for range 2 * n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, e := range a.history("s1") {
		var p schemas.ToolDecided
		if e.Type != "tool.decided" {
			continue
		}
		if err := json.Unmarshal(e.Data, &p); err != nil {
			t.Fatal(err)
		}
		if seen[p.ToolUseID] {
			t.Errorf("%s was decided twice", p.ToolUseID)
		}
		seen[p.ToolUseID] = true
	}
	if len(seen) < n {
		t.Errorf("only %d of %d decisions went through", len(seen), 2*n)
	}
	a.wrote("plan.md", goodPlan)
	done := make(chan struct{})
	for _, w := range worlds {
		go func() {
			raw := fmt.Sprintf(`{"session_id":"s1","cwd":%q,"prompt_id":"p1","prompt":"approved","source":"user"}`, project)
			if _, err := w.raw("UserPromptSubmit", []byte(raw)); err != nil {
				t.Error(err)
			}
			done <- struct{}{}
		}()
	}
	<-done
	<-done
	approvals := 0
	for _, e := range b.history("s1") {
		if e.Type == "gate.approved" {
			approvals++
		}
	}
	if approvals != 1 {
		t.Errorf("one act approved %d times", approvals)
	}
}

func TestOutsideNATSProblemsAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ address, want string }{
		"nobody there":   {"nats://127.0.0.1:1", "127.0.0.1:1"},
		"not an address": {"four two two two", "nats://host:4222"},
		"wrong password": {strings.Replace(outsideNATS(t), "secret", "guess", 1), "credential"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := config.DefaultSettings()
			settings.DataDir, settings.MemoryLimit, settings.NATSURL = t.TempDir(), 0, c.address
			err := Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) { t.Error("it serves") })
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "guess") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAddressesLoseTheirUser(t *testing.T) {
	plain, user, err := withoutUser("nats://u:p@a:1, nats://b:2")
	if err != nil || plain != "nats://a:1,nats://b:2" || user != (bus.Credential{User: "u", Password: "p"}) {
		t.Errorf("%q %+v %v", plain, user, err)
	}
}
