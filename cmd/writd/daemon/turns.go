package daemon

import (
	"context"
	"path/filepath"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/phrase"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/enforcement/session"
	"github.com/writbus/writ/enforcement/turn"
	"github.com/writbus/writ/retrieval/rulebook/index"
	"github.com/writbus/writ/schemas"
)

// blobTime bounds reading contents from git. A variable for tests.
var blobTime = 2 * time.Second

// openTurns opens what answers hooks.
func (d *Daemon) openTurns() {
	root, rules := d.layout.Root, rulesOfTurns{d.corpus, d}
	d.projects, d.runner = project.NewCache(projectOptions(root, d.now)), runner.Find(root)
	d.sessions = session.New(session.Options{
		Conn: d.conn, Log: d.log, Runtime: d.runtime, States: d.views.state, List: d.views.sessions,
		Projects: d.projects, Known: rules.known, Approved: filepath.Join(root, "approved"),
		Meter: d.telemetry, Now: d.now, Logger: d.logger,
	})
	d.turn = turn.New(turn.Options{
		Sessions: d.sessions, Rules: rules, Memories: memoriesOfTurns{d}, Files: d.files,
		Meter: d.telemetry, Projects: d.projects, Runner: d.runner, Budget: d.settings.HookBudget, GitTime: blobTime,
		Guarded: func(dir string) (string, bool) { return config.FindGuarded(root, dir) },
		Now:     d.now, Logger: d.logger,
	})
}

// projectOptions say where a daemon of a data directory reads projects.
func projectOptions(dataDir string, now func() time.Time) project.Options {
	return project.Options{DataDir: dataDir, File: config.ProjectFile, Now: now, Load: func(root string) (project.Settings, error) {
		c, err := config.LoadProject(root)
		return project.Settings{
			Policy: policyOf(c), Mode: c.Mode, Findings: c.Findings, BudgetTokens: c.BudgetTokens, Domains: c.Domains,
			RunTests: c.Tests == "on", TestCommand: c.TestCommand, TestTimeout: c.TestTimeout,
			Memory: c.Memory != "off", Files: c.AutoRetrieveOnStart,
		}, err
	}}
}

// policyOf is how the gates of a project with these settings decide.
func policyOf(c config.Project) enforcement.Settings {
	s := enforcement.DefaultSettings()
	s.DenyToAsk = c.DenyToAsk
	s.Subagents = c.Subagents
	s.MCPWriters = c.MCPWriters
	s.AllowUnsourcedPrompts = c.UnsourcedPrompts == "allow"
	s.AdvanceOnGreen = c.AdvanceOnGreen
	s.RequireWork = c.RequireWork
	s.Phrases = phrase.Phrases{Approve: c.ApprovalPhrases}
	return s
}

// rulesOfTurns fills turn.Rules.
type rulesOfTurns struct {
	*index.Index
	d *Daemon
}

// Await waits for the shipped rules.
func (r rulesOfTurns) Await(ctx context.Context, patience time.Duration) {
	r.d.rules.Ready(ctx, patience)
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
