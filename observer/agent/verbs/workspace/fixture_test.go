package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
)

// helperArg makes the test binary run a command as `writ confine --whole` does.
const helperArg = "run-confined"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == helperArg {
		var o confine.Options
		if err := json.Unmarshal([]byte(os.Args[2]), &o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(confine.ExitUsage)
		}
		o.Vars = os.Environ()
		exit, err := confine.Run(o, os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

// gate allows everything, or answers as it is told, and remembers.
type gate struct {
	mu       sync.Mutex
	decision func(c verbs.Call, a Act) Decision
	asked    []Act
	reports  []Report
	more     string
}

func (g *gate) Ask(_ context.Context, c verbs.Call, a Act) (Decision, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, a)
	if g.decision != nil {
		return g.decision(c, a), nil
	}
	return Decision{Verdict: dialect.Allow, Ticket: "t"}, nil
}

func (g *gate) Done(_ context.Context, _ verbs.Call, _ Act, ticket string, r Report) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ticket != "t" {
		return "", fmt.Errorf("ticket %q", ticket)
	}
	g.reports = append(g.reports, r)
	return g.more, nil
}

// shelf is a conversation's artifacts.
type shelf []verbs.Artifact

func (s shelf) Artifacts(context.Context, string) ([]verbs.Artifact, error) { return s, nil }

func (s shelf) Artifact(_ context.Context, _, id string) (verbs.Artifact, bool, error) {
	for _, a := range s {
		if a.ID == id {
			return a, true, nil
		}
	}
	return verbs.Artifact{}, false, nil
}

// bench is a workspace in a folder of its own, with something outside of it.
type bench struct {
	t        *testing.T
	dir      string
	outside  string
	gate     *gate
	options  Options
	handlers map[string]verbs.Handler
	grants   []string
	limits   dialect.Limits
	confirm  bool

	constitution string
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(base, "work"), outside: filepath.Join(base, "outside"), gate: &gate{}, grants: []string{"*"}, limits: dialect.DefaultLimits()}
	for _, dir := range []string{b.dir, b.outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.put(filepath.Join(b.outside, "secret"), "the secret\n")
	for name, content := range files {
		b.put(filepath.Join(b.dir, name), content)
	}
	b.options = Options{Gate: b.gate}
	b.handlers = Handlers(b.options)
	return b
}

func (b *bench) put(path, content string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(name string) string {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

func (b *bench) call(verb, args string, body []byte) verbs.Result {
	b.t.Helper()
	return b.callIn(b.t.Context(), verb, args, body)
}

func (b *bench) callIn(ctx context.Context, verb, args string, body []byte) verbs.Result {
	b.t.Helper()
	c := verbs.NewCall(verb, args, body)
	c.Workspace, c.Grant, c.Limits, c.Confirmed = b.dir, dialect.NewGrant(b.grants), b.limits, b.confirm
	c.Constitution = b.constitution
	r, err := b.handlers[verb].Handle(ctx, c)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}
