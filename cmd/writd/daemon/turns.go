package daemon

import (
	"context"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/phrase"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/enforcement/session"
	"github.com/writbus/writ/enforcement/turn"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/rulebook/index"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/origin"
)

// blobTime bounds reading contents from git. A variable for tests.
var blobTime = 2 * time.Second

// openTurns opens what answers hooks.
func (d *Daemon) openTurns() {
	root, rules := d.layout.Root, rulesOfTurns{d.corpus, d.corpus.Current(), d}
	d.accepted = &acceptedSettings{dataDir: root, least: d.settings.Approval, state: bus.Kept[config.Accepted]{
		Conn: d.conn, Log: d.log, Aggregate: schemas.AcceptedSettings(), Evolve: config.EvolveAccepted,
	}}
	projects := projectOptions(root, d.now, d.accepted.rule)
	if d.settings.Policy != "" {
		projects.Load = underPolicy(d, projects.Load)
	}
	d.projects, d.runner = project.NewCache(projects), runner.Find(root)
	d.sessions = session.New(session.Options{
		Conn: d.conn, Log: d.log, Runtime: d.runtime, States: d.views.state, List: d.views.sessions,
		Projects: d.projects, Known: rules.known, Approved: filepath.Join(root, "approved"), Runner: d.runner,
		Persons: func(ctx context.Context) []string { return d.rules.Releases().State(ctx).Persons(d.now()) },
		Before:  worktree.Before, Committed: worktree.Committed,
		Meter: d.telemetry, Now: d.now, Logger: d.logger,
	})
	d.turn = turn.New(turn.Options{
		Sessions: d.sessions, Rules: rules, Memories: memoriesOfTurns{d}, Files: d.files,
		Meter: d.telemetry, Projects: d.projects, Runner: d.runner, Budget: d.settings.HookBudget, GitTime: blobTime,
		Guarded:    func(dir string) (string, bool) { return config.FindGuarded(root, dir) },
		Repository: origin.Of,
		Now:        d.now, Logger: d.logger,
	})
}

// beginProbes tries in the background what the hold keeps from commands; stop waits
// until nothing of it runs.
func (d *Daemon) beginProbes(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.runner.Prove(ctx)
		if absent := d.runner.Absent(); absent != "" && ctx.Err() == nil {
			d.logger.Info("commands are not held", "why", absent)
		}
	}()
	return func() { cancel(); <-ended }
}

// projectOptions say where a daemon of a data directory reads projects, and what
// rules one.
func projectOptions(dataDir string, now func() time.Time, rule func(root string) (config.Ruling, error)) project.Options {
	return project.Options{DataDir: dataDir, File: config.ProjectFile, SettingsRoot: settingsRoot(dataDir), Trees: func(root string) []string {
		return worktree.Others(project.WorkTree(root))
	}, Now: now, Load: func(root string) (project.Settings, error) {
		c, err := rule(config.SettingsRootIn(dataDir, root))
		return project.Settings{
			Policy: policyOf(c.Project), Mode: modeOf(c.Project), Findings: c.Findings, BudgetTokens: c.BudgetTokens, Domains: c.Domains,
			RunTests: c.Tests == "on", TestCommand: c.TestCommand, TestTimeout: c.TestTimeout, TestWait: c.TestWait,
			Memory: c.Memory != "off", Files: c.AutoRetrieveOnStart, Waits: c.Waits,
		}, err
	}}
}

// underPolicy reads projects whose agents work under a released policy.
func underPolicy(d *Daemon, load func(root string) (project.Settings, error)) func(root string) (project.Settings, error) {
	return func(root string) (project.Settings, error) {
		ctx, cancel := context.WithTimeout(context.Background(), acceptTime)
		defer cancel()
		s, err := load(root)
		p, text, why := d.rules.Releases().State(ctx).Policy(d.settings.Policy, origin.Of(ctx, root), d.now())
		s.Policy, s.Mode = s.Policy.UnderPolicy(text, p.Write, why), ""
		return s, err
	}
}

// settingsRoot finds the settings of a project, and notes that a work tree without
// its own is under guard: it stays so where git's file in it is gone.
func settingsRoot(dataDir string) func(root string) string {
	return func(root string) string {
		from := config.SettingsRootIn(dataDir, root)
		if from != root && !config.Registered(dataDir, root) {
			_ = config.RegisterShared(dataDir, root, from) // best-effort: it is tried again with the next call
		}
		return from
	}
}

// modeOf is the mode that sessions start in: where two persons approve, none that
// lets code be written before.
func modeOf(c config.Project) string {
	if c.Approval == enforcement.TwoPersons && c.Mode != enforcement.ModeReview {
		return enforcement.ModeWork
	}
	return c.Mode
}

// policyOf is how the gates of a project with these settings decide.
func policyOf(c config.Project) enforcement.Settings {
	s := enforcement.DefaultSettings()
	s.Approval = c.Approval
	s.DenyToAsk = c.DenyToAsk
	if s.Subagents = c.Subagents; c.Approval == enforcement.TwoPersons {
		s.Subagents = enforcement.SubagentsInherit
	}
	s.MCPWriters = c.MCPWriters
	s.AllowUnsourcedPrompts = c.UnsourcedPrompts == "allow"
	s.AdvanceOnGreen = c.AdvanceOnGreen
	s.SmallLines = c.SmallLines
	s.RequireWork = c.RequireWork
	s.Phrases = phrase.Phrases{Approve: c.ApprovalPhrases}
	return s
}

// rulesOfTurns fills turn.Rules.
type rulesOfTurns struct {
	*index.Index
	none *retrieval.Index
	d    *Daemon
}

// Await waits for the shipped rules.
func (r rulesOfTurns) Await(ctx context.Context, patience time.Duration) bool {
	return r.d.rules.Ready(ctx, patience)
}

// Current is the index in use, and one without rules while most of the shipped ones
// are on their way: a prompt is given what is right among all of them, or nothing.
func (r rulesOfTurns) Current() *retrieval.Index {
	if r.d.rules.Filling() {
		return r.none
	}
	return r.Index.Current()
}

// Search lets the configured model, if there is one, choose what a prompt is given.
func (r rulesOfTurns) Search(ctx context.Context, q retrieval.Query) retrieval.Answer {
	if r.d.rules.Filling() {
		return retrieval.Answer{}
	}
	return r.d.rules.Search(ctx, q)
}

// Releases are those that the log has, as far as it can be read now.
func (r rulesOfTurns) Releases(ctx context.Context) []string {
	return r.d.rules.Releases().State(ctx).Texts()
}

// known tells whether a plan may cite a rule.
func (r rulesOfTurns) known(id string) bool {
	_, found := r.Current().Document(id)
	return found
}

// Outcome records an outcome, as long as more of it count for the session.
func (r rulesOfTurns) Outcome(ctx context.Context, rule string, o schemas.OutcomeRecorded) error {
	return r.d.rules.RecordOutcome(ctx, rule, o)
}

// memoriesOfTurns fills turn.Memories.
type memoriesOfTurns struct{ d *Daemon }

func (m memoriesOfTurns) ForPrompt(ctx context.Context, session, project, prompt string, room int) string {
	block, _ := m.d.memory.ForPrompt(ctx, session, project, prompt, room)
	return block
}

func (m memoriesOfTurns) Heard(session, project, transcript string) {
	m.d.memory.NoteTranscript(session, project, transcript)
}
