package turn

import (
	"context"
	"log/slog"
	"reflect"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/enforcement/turn/admission"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// Sessions decides on sessions and appends, one session at a time each, and
// gathers the files that a decision needs.
type Sessions interface {
	Act(ctx context.Context, id string, actor schemas.Actor, correlation string, decide func(enforcement.State) (enforcement.Decision, error), once ...string) (enforcement.Decision, enforcement.State, error)
	State(ctx context.Context, id string) (enforcement.State, uint64, error)
	Peek(ctx context.Context, id string) (enforcement.State, error)
	Link(parent, child string)
	Linked(parent string) []string
	// Accepted reports whether the user let a tool of a server run in the project.
	Accepted(root, tool string) bool
	// HandedIn reports whether a tool of any session in the project handed in a
	// prompt for later. After an error nobody knows.
	HandedIn(ctx context.Context, root, prompt string) (bool, error)
	Watched(p project.Project, s enforcement.State) enforcement.Workspace
	Workspace(ctx context.Context, p project.Project, id string, s enforcement.State) enforcement.Workspace
	Approvable(ctx context.Context, p project.Project, id string, s enforcement.State) enforcement.Workspace
}

// Rules are the rules in force.
type Rules interface {
	// Await waits until they are there, and reports whether they are.
	Await(ctx context.Context, patience time.Duration) bool
	Current() *retrieval.Index
	Checks() *check.Set
	Search(ctx context.Context, q retrieval.Query) retrieval.Answer
	// Releases are those whose rules are in force, as schemas.Release.Text names them.
	Releases(ctx context.Context) []string
	// Outcome records what came of a rule in a session, as often as it counts.
	Outcome(ctx context.Context, rule string, o schemas.OutcomeRecorded) error
}

// Memories are what was observed earlier.
type Memories interface {
	// ForPrompt returns the block that goes with a prompt, "" for none, within a
	// room of characters.
	ForPrompt(ctx context.Context, session, project, prompt string, room int) string
	// Heard observes what a transcript has anew. Nobody waits for it.
	Heard(session, project, transcript string)
}

// Files are the indexed files of projects.
type Files interface {
	// ForPrompt returns the block that goes with the first prompt of a session, ""
	// for none, within a room of characters.
	ForPrompt(ctx context.Context, session, agentType, project, prompt string, room int) string
	// Began hears that a session begins in a project, and whether an index is made
	// of its files where there is none. Nobody waits for it.
	Began(project string, index bool)
	// Wrote hears of files that an agent wrote or removed, by their absolute paths.
	// Nobody waits for it.
	Wrote(paths []string)
}

// Meter is what the monitoring is told.
type Meter interface {
	HookSpan(ctx context.Context, began time.Time, attributes ...string) (context.Context, func(error))
	Span(ctx context.Context, name string, attributes ...string) (context.Context, func(error))
	Hook(ctx context.Context, host, event string, took time.Duration)
}

// Options are what a turn needs of others.
type Options struct {
	Sessions Sessions
	Rules    Rules
	Memories Memories
	Files    Files
	Meter    Meter
	Projects *project.Cache
	Runner   runner.Runner
	// Guarded finds the project around a folder.
	Guarded func(dir string) (root string, guarded bool)
	// Repository tells which repository a folder belongs to.
	Repository func(ctx context.Context, dir string) schemas.Repository

	Budget  time.Duration // of a hook
	GitTime time.Duration // of reading what files held from git
	Now     func() time.Time
	Logger  *slog.Logger
}

// Service answers hooks.
type Service struct {
	Options
	admission  *admission.Queue
	answered   *replies
	in         injection
	contents   contents
	afterwards afterwards
	landings   landings
	runs       testRuns
	bounds     bounds
	done       doneItems
	tasks      tasks
	waiting    waiting
	shown      shown
	untold     shown // what runs of tests that ended after the turn could not say, until the next prompt
	greeted    shown // what sessions were told of where they stand as they started, until their first prompt
}

// New returns a service.
func New(o Options) *Service {
	return &Service{
		Options: o, admission: admission.New(o.Budget / 4), answered: newReplies(), in: injection{o.Rules, o.Now},
		contents:   contents{rules: o.Rules, sessions: o.Sessions, gitTime: o.GitTime},
		afterwards: afterwards{sessions: o.Sessions, guards: guards{now: o.Now}, left: leftRunning{jobs: alreadyRunning()}},
		landings:   landings{gitTime: o.GitTime},
		runs:       testRuns{sessions: o.Sessions, runner: o.Runner, now: o.Now},
		bounds:     bounds{runner: o.Runner},
	}
}

// Close lets go of the protected files that are held.
func (v *Service) Close() { v.afterwards.guards.close() }

// Endpoint is what answers the processes of hooks.
func (v *Service) Endpoint() bus.Endpoint {
	return bus.Endpoint{Name: "hook", Subject: schemas.SvcHook, Handle: v.Handle, Concurrency: admission.Concurrency, Metadata: map[string]string{
		bus.MetadataRequest: `{"description":"the host's payload, as it came; what it does not say stands in headers that begin with writ-"}`,
		bus.MetadataReply:   string(schemas.ReplySchema(reflect.TypeFor[schemas.HookReply]())),
	}}
}

// Take answers a call of an agent that Writ itself runs, as a hook would report
// it.
func (v *Service) Take(ctx context.Context, c host.Call, p project.Project) (host.Answer, error) {
	return v.answer(ctx, turn{Call: c, project: p, payload: c.Input})
}
