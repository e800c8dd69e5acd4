package rulebook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// newer is the view of rules of a later version.
type newer struct{ projections.Rules[rule.State] }

func (newer) Version() int { return 1 << 20 }

// TestADecisionKnowsTheRulesLastChange, also while the view is built anew and the one before
// it answers, which does not hold that.
func TestADecisionKnowsTheRulesLastChange(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	server, err := embedded.Start(t.Context(), embedded.Options{
		Dir: t.TempDir(), Durability: embedded.Interval, Users: []embedded.User{{Name: "writd", Password: "x", Role: embedded.RoleDaemon}},
	})
	check(err)
	t.Cleanup(func() { _ = server.Shutdown(context.WithoutCancel(t.Context())) })
	conn, err := bus.Connect(t.Context(), bus.Options{Dial: server.Dial, User: "writd", Password: "x", Timeout: 3 * time.Minute})
	check(err)
	t.Cleanup(conn.Close)
	check(conn.EnsureStreams(t.Context(), bus.Retention{}))
	views, err := pebblestore.Open("views", pebblestore.Options{FS: vfs.NewMem()})
	check(err)
	t.Cleanup(func() { _ = views.Close() })
	s := &store{conn: conn, writer: conn.Writer(bus.WriterOptions{Source: "/writ/test", Now: time.Now}), rules: projections.NewRules(rule.Evolve)}
	run := func(p projections.Projector) (stop func()) {
		s.runtime, err = projections.NewRuntime(projections.OnBus(conn, s.writer), views, projections.Options{}, p)
		check(err)
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- s.runtime.Run(ctx) }()
		return func() { cancel(); <-ended }
	}
	record := func(p schemas.Payload) schemas.Position {
		at, err := s.record(t.Context(), "A-A-001", schemas.Writ("test"), p)
		check(err)
		return at
	}

	stop := run(s.rules)
	check(s.runtime.WaitFor(t.Context(), s.rules.Name(), record(schemas.RuleImported{Rule: schemas.Rule{ID: "A-A-001", Severity: "low", Trigger: "a", Statement: "a"}, Source: "a", Hash: strings.Repeat("a", 64)})))
	stop()
	record(schemas.RuleRetired{Reason: "old"})
	goOn := make(chan struct{})
	defer run(newer{projections.NewRules(func(state rule.State, e schemas.Event) rule.State {
		<-goOn
		return rule.Evolve(state, e)
	})})()

	decided := errors.New("decided")
	decide := func(ctx context.Context) error {
		_, _, err := s.decide(ctx, "A-A-001", schemas.Writ("test"), func(state rule.State) (rule.Command, error) {
			if state.Status != rule.Retired {
				t.Errorf("decided on a rule that is %s, and was retired", state.Status)
			}
			return nil, decided
		}, s.visible)
		return err
	}
	soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := decide(soon); err == nil || errors.Is(err, decided) {
		t.Errorf("while the view is built: %v", err)
	}
	close(goOn)
	if err := decide(t.Context()); !errors.Is(err, decided) {
		t.Errorf("after it was built: %v", err)
	}
}
