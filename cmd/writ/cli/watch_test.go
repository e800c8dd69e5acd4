package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// live is a log with one new record in a stream, after which it ends.
type live struct {
	services
	record schemas.Record
	after  map[schemas.Stream]uint64
	ends   error
}

func (l *live) Follow(_ context.Context, s schemas.Stream, after uint64, _ bus.FollowOptions, fn func([]schemas.Record) error) error {
	if s != l.record.Stream {
		return nil
	}
	l.after = map[schemas.Stream]uint64{s: after}
	if err := fn([]schemas.Record{l.record}); err != nil {
		return err
	}
	return l.ends
}

func watching(t *testing.T, l *live, args ...string) result {
	t.Helper()
	data := t.TempDir()
	if err := config.WriteEndpoint(data, config.Endpoint{URL: "nats://x", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	l.replies = map[string]any{schemas.SvcStatus: schemas.Status{Streams: []schemas.StreamStatus{{Name: schemas.StreamSessions, Last: 41}}}}
	env := client.Env{Vars: []string{"WRIT_HOME=" + data}, Dir: t.TempDir(), Now: time.Now}
	env.Connect = func(_ context.Context, _ config.Endpoint, _, role string) (client.Service, error) {
		l.roles = append(l.roles, role)
		return l, nil
	}
	var out, problems bytes.Buffer
	code := Run(t.Context(), append([]string{"watch"}, args...), strings.NewReader(""), &out, &problems, env)
	return result{out.String(), problems.String(), code}
}

func record(t *testing.T) schemas.Record {
	t.Helper()
	m, err := schemas.Encode(schemas.Event{
		ID: "0199a000-0000-7000-8000-000000000001", Time: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Source: "/writ/test",
		Aggregate: schemas.Session("s"), Actor: schemas.ParseActor("user"), Data: schemas.PromptSubmitted{Prompt: "a < b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return schemas.Record{Stream: schemas.StreamSessions, Seq: 42, Message: m}
}

func TestWatchShowsWhatComesAfterNow(t *testing.T) {
	l := &live{record: record(t)}
	r := watching(t, l, "--json")
	var e schemas.ReplayEvent
	if err := json.Unmarshal([]byte(r.out), &e); err != nil || r.code != 0 {
		t.Fatalf("%+v: %v", r, err)
	}
	if e.Type != "prompt.submitted" || e.Position.Seq != 42 || !strings.Contains(r.out, `"a < b"`) {
		t.Errorf("%+v", e)
	}
	if l.after[schemas.StreamSessions] != 41 || l.roles[0] != client.RoleDashboard {
		t.Errorf("after %v as %v", l.after, l.roles)
	}
	if r := watching(t, l, "--session", "other"); r.out != "" || r.code != 0 {
		t.Errorf("another session: %+v", r)
	}
	if r := watching(t, l, "--type", "gate.approved"); r.out != "" || r.code != 0 {
		t.Errorf("another type: %+v", r)
	}
}

func TestWatchShowsWhatItCannotRead(t *testing.T) {
	broken := record(t)
	broken.Message.Body = []byte("{")
	if r := watching(t, &live{record: broken}); r.code != 0 || !strings.Contains(r.out, "prompt.submitted") {
		t.Errorf("%+v", r)
	}
}

func TestWatchEndsWithTheReason(t *testing.T) {
	r := watching(t, &live{record: record(t), ends: bus.ErrGap})
	if r.code != 1 || !strings.Contains(r.err, "records are missing") {
		t.Errorf("%+v", r)
	}
}
