package install

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/cmd/writ/cli/claude"
)

// Report says what was done, in paths relative to the project's root.
type Report struct {
	Root     string   `json:"root"`
	Written  []string `json:"written,omitempty"`
	Removed  []string `json:"removed,omitempty"`
	Kept     []string `json:"kept,omitempty"` // with the reason
	Warnings []string `json:"warnings,omitempty"`
}

// defaultProject is .writ/config.yaml as it is first written. Every line shows
// the default.
const defaultProject = `# How Writ guards this project. Remove the # to change a default.
# Agents cannot write this file.

# The mode sessions start in: conversation, debug, review or work. Without it an
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

# Whether a prompt may approve when its host does not say who typed it: allow or
# refuse.
# unsourced_prompts: allow

# How many tokens of rules a prompt is given at most.
# budget_tokens: 4000

# Domains whose rules always count here, beside those seen from the files.
# domains: [go, security]
`

// ignored keeps the backups, which are of one machine, out of version control.
const ignored = "install/\n"

// Init installs Writ in a project. The hooks will run the given program, an
// absolute path. What stands in the way is a *Problem, and nothing is changed.
func Init(root, program string) (Report, error) {
	p := &plan{root: root, program: program, report: Report{Root: root}}
	for _, step := range []func() error{p.load, p.project, p.commands, p.settings} {
		if err := step(); err != nil {
			return Report{Root: root}, err
		}
	}
	if len(p.changes) == 0 && p.last == nil {
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
	before        *manifest
	after         manifest
	changes       []change
	last          *change // the settings: what switches the hooks on comes last
	parked        bool
	report        Report
}

func (p *plan) path(rel string) string { return filepath.Join(p.root, filepath.FromSlash(rel)) }

func (p *plan) load() error {
	before, err := loadManifest(p.root)
	p.before = before
	p.after = manifest{Version: 1, Files: map[string]string{}}
	if before != nil {
		p.after.Dirs = before.Dirs
	}
	return err
}

// want plans a file of Writ's own.
func (p *plan) want(rel string, content []byte) error {
	is, exists, err := read(p.path(rel))
	if err != nil {
		return err
	}
	p.after.Files[rel] = digest(content)
	if exists && bytes.Equal(is, content) {
		return nil
	}
	p.write(rel, content)
	return nil
}

func (p *plan) write(rel string, content []byte) {
	p.changes = append(p.changes, change{p.path(rel), content, 0o644})
	p.report.Written = append(p.report.Written, rel)
}

// project plans the project's settings. Those of the user's own stay.
func (p *plan) project() error {
	content, exists, err := read(p.path(projectFile))
	if err != nil {
		return err
	}
	switch {
	case exists && string(content) != defaultProject:
	case exists:
		p.after.Files[projectFile] = digest(content)
	default:
		content, p.parked, err = read(p.path(parkedFile))
		if err != nil {
			return err
		}
		if p.parked {
			p.write(projectFile, content)
			break
		}
		if err := p.want(projectFile, []byte(defaultProject)); err != nil {
			return err
		}
	}
	ignore, exists, err := read(p.path(ignoreFile))
	if err != nil {
		return err
	}
	if exists && string(ignore) != ignored && slices.Contains(strings.Fields(string(ignore)), strings.TrimSpace(ignored)) {
		return nil
	}
	if exists && string(ignore) != ignored {
		p.write(ignoreFile, append(ensureNewline(ignore), ignored...))
		return nil
	}
	return p.want(ignoreFile, []byte(ignored))
}

func ensureNewline(text []byte) []byte {
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		return append(slices.Clip(text), '\n')
	}
	return slices.Clip(text)
}

func (p *plan) commands() error {
	for _, c := range claude.Commands(p.program) {
		rel := commandsDir + "/" + c.Name
		is, exists, err := read(p.path(rel))
		if err != nil {
			return err
		}
		if exists && !claude.OwnCommand(is) {
			return &Problem{
				p.path(rel) + " exists and is not Writ's", "it would be overwritten",
				"Rename it and run this again; nothing was changed.",
			}
		}
		if err := p.want(rel, c.Content); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) settings() error {
	is, exists, err := read(p.path(settingsFile))
	if err != nil {
		return err
	}
	merged, err := claude.Merge(is, p.program)
	if err != nil {
		return settingsProblem(p.path(settingsFile), err)
	}
	if claude.Disabled(is) {
		p.report.Warnings = append(p.report.Warnings,
			settingsFile+" says \"disableAllHooks\": true: no hook runs, Writ guards nothing until that is removed")
	}
	p.after.SettingsAfter = digest(merged)
	original, existed, err := p.original(is, exists)
	if err != nil {
		return err
	}
	p.after.SettingsExisted = existed
	if existed {
		if kept, has, err := read(p.path(originalFile)); err != nil || !has || !bytes.Equal(kept, original) {
			p.changes = append(p.changes, change{p.path(originalFile), original, 0o600})
		}
	}
	if exists && bytes.Equal(merged, is) {
		return nil
	}
	p.last = &change{p.path(settingsFile), merged, 0o644}
	p.report.Written = append(p.report.Written, settingsFile)
	return nil
}

// original is the settings file as it would be without Writ.
func (p *plan) original(is []byte, exists bool) (content []byte, existed bool, err error) {
	if !exists {
		return nil, false, nil
	}
	if p.before != nil && p.before.SettingsAfter == digest(is) {
		if !p.before.SettingsExisted {
			return nil, false, nil
		}
		if kept, has, err := read(p.path(originalFile)); err == nil && has {
			return kept, true, nil
		}
	}
	content, err = claude.Remove(is, nil)
	return content, true, err
}

func (p *plan) apply() error {
	at := len(p.changes)
	p.changes = append(p.changes, change{p.path(manifestFile), p.after.encode(), 0o600})
	if p.last != nil {
		p.changes = append(p.changes, *p.last)
	}
	s, err := stage(p.changes)
	if err != nil {
		return err
	}
	if len(s.dirs) > 0 {
		// Which folders are new is known only now.
		for _, dir := range s.dirs {
			if rel, err := filepath.Rel(p.root, dir); err == nil {
				p.after.Dirs = append(p.after.Dirs, filepath.ToSlash(rel))
			}
		}
		if err := rewrite(s.temps[at], p.after.encode()); err != nil {
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
func settingsProblem(path string, err error) error {
	why := err.Error()
	for _, prefix := range []string{"claude: the settings are not JSON: ", "claude: the settings have an unexpected shape: "} {
		why = strings.TrimPrefix(why, prefix)
	}
	todo := "Repair it and run this again; nothing was changed."
	if errors.Is(err, claude.ErrSyntax) && strings.Contains(why, "comment") {
		todo = "Remove the comments (Claude Code reads plain JSON) and run this again; nothing was changed."
	}
	return &Problem{path + " cannot be changed", why, todo}
}
