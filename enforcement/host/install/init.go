package install

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/host/settings"
	"github.com/writbus/writ/schemas/digest"
)

// Report says what was done, in paths relative to the project's root.
type Report struct {
	Root     string   `json:"root"`
	Written  []string `json:"written,omitempty"`
	Removed  []string `json:"removed,omitempty"`
	Kept     []string `json:"kept,omitempty"` // with the reason
	Warnings []string `json:"warnings,omitempty"`
	Notes    []string `json:"notes,omitempty"` // what the user still has to do
	Changes  []Change `json:"changes,omitempty"`
	Commits  string   `json:"commits,omitempty"` // what became of the hook of commits
}

// Change is what became of a file that was written, in lines.
type Change struct {
	Path    string `json:"path"`
	New     bool   `json:"new,omitempty"`
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
}

func changeOf(rel string, was, is []byte, existed bool) Change {
	c := Change{Path: rel, New: !existed}
	balance := map[string]int{}
	for line := range strings.Lines(string(is)) {
		balance[line]++
	}
	for line := range strings.Lines(string(was)) {
		balance[line]--
	}
	for _, n := range balance {
		c.Added += max(n, 0)
		c.Removed += max(-n, 0)
	}
	return c
}

// defaultProject is .writ/config.yaml as it is first written. Every line shows
// the default.
const defaultProject = `# How Writ guards this project. Remove the # to change a default.
# Agents cannot write this file.

# The mode sessions start in: conversation, debug, small, review or work. Without it an
# agent has to choose one before it can write.
# mode: work

# What happens to writes when the daemon cannot be reached: closed refuses
# them, open lets them pass and says so.
# fail: closed

# Whether the second refusal of a gate in a row becomes a question to you.
# deny_to_ask: true

# Sub-agents: exempt from phases, or inherit those of their parent. Without it,
# workers of an orchestrator are exempt and all others inherit.
# subagents: inherit

# The one file that review mode may write.
# findings: findings.md

# MCP tools that write files; what they write cannot be told, so they are asked
# for while a gate is closed.
# mcp_writers: ["mcp__fs__write_*"]

# Whether pending tests run when an agent ends its turn, by which command
# (without one: those that the change can reach, by the project's own tools), how
# long at most, and how long the turn waits for them.
# tests: on
# test_command: make test
# test_timeout: 60s
# test_wait: 10s

# Whether tests that pass then end the implementation without your approval.
# advance_on_green: false

# How many lines of code one prompt may change in small mode.
# small_lines: 40

# Whether work is the only mode that an agent may declare.
# require_work: false

# Approvals in your own language, each a sentence of its own.
# approval_phrases: ["godkendt", "goedgekeurd"]

# Whether a prompt may approve when its host does not say who typed it: allow or
# refuse.
# unsourced_prompts: allow

# How many tokens of rules a prompt is given at most.
# budget_tokens: 150

# Domains whose rules always count here, beside those seen from the files.
# domains: [go, security]
`

// ignored keeps the backups, which are of one machine, out of version control.
const ignored = "install/\n"

// Init installs Writ in a project for some agents, Claude Code where none is
// given. The hooks will run the given program: an absolute path, or
// settings.AtHome. What stands in the way is a *Problem, and nothing is changed.
func Init(root, program string, agents ...settings.Agent) (Report, error) {
	if len(agents) == 0 {
		agents = hosts.Agents[:1]
	}
	p := &plan{root: root, program: program, shared: map[string]string{}, report: Report{Root: root}}
	steps := []func() error{p.project}
	for _, a := range agents {
		one := &agentPlan{plan: p, Agent: a}
		p.agents = append(p.agents, one)
		steps = append(steps, one.load, one.own, one.settings)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return Report{Root: root}, err
		}
	}
	if len(p.changes)+len(p.last) == 0 {
		return p.report, nil
	}
	if err := p.apply(); err != nil {
		return Report{Root: root}, err
	}
	return p.report, nil
}

// plan is an installation before it is made.
type plan struct {
	root, program string
	agents        []*agentPlan
	shared        map[string]string // files that are no agent's: SHA-256 by path
	changes       []change
	last          []change // settings: what switches hooks on comes last
	parked        bool
	report        Report
}

// agentPlan is the part of a plan that is about one agent.
type agentPlan struct {
	*plan
	settings.Agent
	before *manifest
	after  manifest
}

func (p *plan) path(rel string) string { return filepath.Join(p.root, filepath.FromSlash(rel)) }

func (p *agentPlan) load() error {
	before, err := loadManifest(p.root, p.Agent)
	p.before = before
	p.after = manifest{Version: 1, Files: maps.Clone(p.shared)}
	if before != nil {
		p.after.Dirs = before.Dirs
	}
	return err
}

// want plans a file of Writ's own, and notes it among others.
func (p *plan) want(rel string, content []byte, among map[string]string) error {
	is, exists, err := read(p.root, rel)
	if err != nil {
		return err
	}
	among[rel] = digest.Hex(content)
	if exists && bytes.Equal(is, content) {
		return nil
	}
	p.write(rel, is, content, exists)
	return nil
}

func (p *plan) write(rel string, is, content []byte, exists bool) {
	p.changes = append(p.changes, change{p.path(rel), content, 0o644})
	p.wrote(changeOf(rel, is, content, exists))
}

func (p *plan) wrote(c Change) {
	p.report.Written = append(p.report.Written, c.Path)
	p.report.Changes = append(p.report.Changes, c)
}

// project plans the project's settings. Those of the user's own stay.
func (p *plan) project() error {
	content, exists, err := read(p.root, projectFile)
	if err != nil {
		return err
	}
	switch {
	case exists && string(content) != defaultProject:
	case exists:
		p.shared[projectFile] = digest.Hex(content)
	default:
		content, p.parked, err = read(p.root, parkedFile)
		if err != nil {
			return err
		}
		if p.parked {
			p.write(projectFile, nil, content, false)
			break
		}
		if err := p.want(projectFile, []byte(defaultProject), p.shared); err != nil {
			return err
		}
	}
	ignore, exists, err := read(p.root, ignoreFile)
	if err != nil {
		return err
	}
	if exists && string(ignore) != ignored && slices.Contains(strings.Fields(string(ignore)), strings.TrimSpace(ignored)) {
		return nil
	}
	if exists && string(ignore) != ignored {
		p.write(ignoreFile, ignore, append(ensureNewline(ignore), ignored...), true)
		return nil
	}
	return p.want(ignoreFile, []byte(ignored), p.shared)
}

func ensureNewline(text []byte) []byte {
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		return append(slices.Clip(text), '\n')
	}
	return slices.Clip(text)
}

// own plans the files that are Writ's as a whole.
func (p *agentPlan) own() error {
	for _, f := range p.Agent.Own(p.program) {
		is, exists, err := read(p.root, f.Path)
		if err != nil {
			return err
		}
		if exists && !f.Own(is) {
			return &Problem{
				p.path(f.Path) + " exists and is not Writ's", "it would be overwritten",
				"Rename it and run this again; nothing was changed.",
			}
		}
		if err := p.want(f.Path, f.Content, p.after.Files); err != nil {
			return err
		}
		if p.Settings == "" && (!exists || !bytes.Equal(is, f.Content)) {
			p.note()
		}
	}
	return nil
}

func (p *agentPlan) note() {
	if p.Note != "" && !slices.Contains(p.report.Notes, p.Note) {
		p.report.Notes = append(p.report.Notes, p.Note)
	}
}

func (p *agentPlan) settings() error {
	if p.Settings == "" {
		return nil
	}
	is, exists, err := read(p.root, p.Settings)
	if err != nil {
		return err
	}
	merged, err := p.Host.Merge(is, p.program)
	if err != nil {
		return settingsProblem(p.path(p.Settings), p.Title, err)
	}
	if p.Off != "" && settings.Disabled(is, p.Off) {
		p.report.Warnings = append(p.report.Warnings,
			p.Settings+" says \""+p.Off+"\": true: no hook runs, Writ guards nothing until that is removed")
	}
	p.after.SettingsAfter = digest.Hex(merged)
	original, existed, err := p.original(is, exists)
	if err != nil {
		return err
	}
	p.after.SettingsExisted = existed
	if existed {
		if kept, has, err := read(p.root, originalFile(p.Agent)); err != nil || !has || !bytes.Equal(kept, original) {
			p.changes = append(p.changes, change{p.path(originalFile(p.Agent)), original, 0o600})
		}
	}
	if exists && bytes.Equal(merged, is) {
		return nil
	}
	p.last = append(p.last, change{p.path(p.Settings), merged, 0o644})
	p.wrote(changeOf(p.Settings, is, merged, exists))
	p.note()
	return nil
}

// original is the settings file as it would be without Writ.
func (p *agentPlan) original(is []byte, exists bool) (content []byte, existed bool, err error) {
	if !exists {
		return nil, false, nil
	}
	if p.before != nil && p.before.SettingsAfter == digest.Hex(is) {
		if !p.before.SettingsExisted {
			return nil, false, nil
		}
		if kept, has, err := read(p.root, originalFile(p.Agent)); err == nil && has {
			return kept, true, nil
		}
	}
	content, err = p.Host.Remove(is, nil)
	return content, true, err
}

func (p *plan) apply() error {
	at := len(p.changes)
	for _, a := range p.agents {
		p.changes = append(p.changes, change{p.path(manifestFile(a.Agent)), a.after.encode(), 0o600})
	}
	p.changes = append(p.changes, p.last...)
	s, err := stage(p.changes)
	if err != nil {
		return err
	}
	if len(s.dirs) > 0 {
		// Which folders are new is known only now. Any one agent's manifest may
		// name them: all are taken out together.
		keeper := p.agents[0]
		for _, dir := range s.dirs {
			if rel, err := filepath.Rel(p.root, dir); err == nil {
				keeper.after.Dirs = append(keeper.after.Dirs, filepath.ToSlash(rel))
			}
		}
		p.changes[at].content = keeper.after.encode()
		if err := s.rewrite(at, p.changes[at]); err != nil {
			s.discard()
			return err
		}
	}
	if err := s.commit(p.changes); err != nil {
		return err
	}
	if p.parked {
		return removeFile(p.path(parkedFile))
	}
	return nil
}

// settingsProblem says where settings cannot be understood.
func settingsProblem(path, agent string, err error) error {
	why := err.Error()
	for _, prefix := range []string{settings.ErrSyntax.Error() + ": ", settings.ErrShape.Error() + ": "} {
		why = strings.TrimPrefix(why, prefix)
	}
	todo := "Repair it and run this again; nothing was changed."
	if strings.Contains(why, "which JSON does not have") {
		todo = "Remove the comments (" + agent + " reads plain JSON) and run this again; nothing was changed."
	}
	return &Problem{path + " cannot be changed", why, todo}
}
