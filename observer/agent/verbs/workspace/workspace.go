package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
)

// Act is what an agent wants to do to its workspace: write a file or run a
// command.
type Act struct {
	Path    string // absolute, without links; "" for a command
	Content []byte
	Command string // as a shell gets it; "" for a write
}

// Decision is a Gate's answer. The zero value denies.
type Decision struct {
	Verdict dialect.Verdict
	Reason  string // of Deny and Ask, with what to do next
	Context string // for the agent, with the result
	// Argv runs the command where it is allowed, and Env are variables for it, in
	// the form of os.Environ; without them a shell of the system runs it.
	Argv, Env []string
	// Supervised says that Argv ends all that the command started when it ends
	// itself, and when it gets SIGTERM.
	Supervised bool
	// Ticket ties Ask and Done together.
	Ticket string
}

// Report is what became of an act.
type Report struct {
	Failed bool
	Error  string
	Millis int64
}

// Gate decides about acts, as about those of any other agent, and records them.
type Gate interface {
	// Ask decides about an act before it happens.
	Ask(ctx context.Context, c verbs.Call, a Act) (Decision, error)
	// Done takes what became of an act that was allowed, and returns what the
	// agent is to be told about it. It is called once for each act that began.
	Done(ctx context.Context, c verbs.Call, a Act, ticket string, r Report) (string, error)
}

// Artifacts are what conversations keep.
type Artifacts interface {
	// Artifacts lists those of a conversation, the oldest first, without their data.
	Artifacts(ctx context.Context, run string) ([]verbs.Artifact, error)
	// Artifact returns one whole; ok is false where there is none of this id.
	Artifact(ctx context.Context, run, id string) (a verbs.Artifact, ok bool, err error)
}

// Options are what the handlers need.
type Options struct {
	Gate      Gate
	Artifacts Artifacts
	// Private are absolute folders that no agent may look into: Writ's own data.
	Private []string
	// Outline names what a source file declares, in its order; nil shows nothing.
	Outline func(name string, text []byte) []string
}

// Handlers are the handlers of this package by verb.
func Handlers(o Options) map[string]verbs.Handler {
	for i, dir := range o.Private {
		o.Private[i] = resolved(dir)
	}
	w := &handlers{o}
	return map[string]verbs.Handler{
		"read": verbs.HandlerFunc(w.read), "list": verbs.HandlerFunc(w.list), "map": verbs.HandlerFunc(w.show),
		"write": verbs.HandlerFunc(w.write), "exec": verbs.HandlerFunc(w.exec),
	}
}

type handlers struct{ Options }

// folder is an open workspace. What is opened through root cannot leave it.
type folder struct {
	root *os.Root
	path string // absolute, without links
	as   string // as the call names it
}

// problem is what is wrong with a command, for its agent.
type problem struct{ what, adapt string }

func (p problem) Error() string { return p.what }

func (p problem) result() verbs.Result { return verbs.Err(p.what, p.adapt) }

// told makes a result of a problem and passes other errors on.
func told(err error) (verbs.Result, error) {
	if p, ok := errors.AsType[problem](err); ok {
		return p.result(), nil
	}
	return verbs.Result{}, err
}

func openFolder(c verbs.Call) (*folder, error) {
	if !filepath.IsAbs(c.Workspace) {
		return nil, fmt.Errorf("workspace: %q is no absolute folder", c.Workspace)
	}
	real, err := filepath.EvalSymlinks(c.Workspace)
	if err != nil {
		return nil, problem{"the workspace " + c.Workspace + " cannot be opened: " + reason(err), "tell the user"}
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, problem{"the workspace " + c.Workspace + " cannot be opened: " + reason(err), "tell the user"}
	}
	return &folder{root: root, path: real, as: filepath.Clean(c.Workspace)}, nil
}

func (f *folder) close() { _ = f.root.Close() }

// name cleans a path as an agent writes it and makes it relative to the
// workspace, with forward slashes; "." is the workspace itself.
func (f *folder) name(raw string) (string, error) {
	switch {
	case raw == "":
		return "", problem{"there is no path", "name one relative to the workspace"}
	case strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }):
		return "", problem{fmt.Sprintf("%q is no path: it has a backslash or a control character", raw), "use forward slashes and plain names"}
	}
	name := path.Clean(raw)
	if path.IsAbs(name) {
		inside := false
		for _, root := range []string{f.as, f.path} {
			if rest, ok := strings.CutPrefix(name+"/", strings.TrimSuffix(filepath.ToSlash(root), "/")+"/"); ok {
				name, inside = path.Clean(rest), true
				break
			}
		}
		if !inside {
			return "", problem{raw + " is outside of the workspace " + f.as, "name a path below the workspace"}
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", problem{raw + " is outside of the workspace", "name a path below the workspace"}
	}
	return name, nil
}

// follow returns what a name leads to when links are followed, relative to the
// workspace. It refuses what leaves it, what the agent's grant does not cover by
// its real name, and what is private.
func (w *handlers) follow(c verbs.Call, f *folder, name string) (string, error) {
	real, err := filepath.EvalSymlinks(filepath.Join(f.path, filepath.FromSlash(name)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", problem{"there is no " + shown(name), "/map shows what there is"}
	case err != nil:
		return "", problem{shown(name) + " cannot be read: " + reason(err), "use another path"}
	}
	rel, err := filepath.Rel(f.path, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", problem{shown(name) + " leads out of the workspace", "use a path below the workspace"}
	}
	if rel = filepath.ToSlash(rel); rel != name {
		if d := c.Grant.Check(dialect.Request{Verb: c.Verb, Args: rel, Workspace: f.path}); d.Verdict != dialect.Allow {
			return "", problem{shown(name) + " leads to " + shown(rel) + ", which is not granted", "do without it, or ask the user to grant it"}
		}
	}
	if w.private(real) {
		return "", problem{shown(name) + " is among Writ's own data", "do without it"}
	}
	return rel, nil
}

// private reports Writ's own data.
func (w *handlers) private(abs string) bool {
	return slices.ContainsFunc(w.Private, func(dir string) bool {
		rel, err := filepath.Rel(dir, abs)
		return err == nil && filepath.IsLocal(rel)
	})
}

// resolved follows links where a path exists, and cleans it where not.
func resolved(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return filepath.Clean(p)
}

// reason is the cause of an error of the file system, without the path that its
// text begins with.
func reason(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err.Error()
	}
	return err.Error()
}

// shown is a path as a text quotes it.
func shown(name string) string {
	if name == "." {
		return "the workspace"
	}
	return name
}

// limits are those of the call, the language's own where it has none.
func limits(c verbs.Call) dialect.Limits {
	l, normal := c.Limits, dialect.DefaultLimits()
	if l.Body <= 0 {
		l.Body = normal.Body
	}
	if l.Output <= 0 {
		l.Output = normal.Output
	}
	if l.Exec <= 0 {
		l.Exec = normal.Exec
	}
	return l
}
