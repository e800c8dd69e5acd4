package daemon

import (
	"path/filepath"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writd/whatif"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/retrieval"
)

// PolicyOf is how a project's settings decide, for a run of what-if.
func PolicyOf(settings config.Project) whatif.Policy {
	p := project{settings: settings}
	findings := filepath.ToSlash(settings.Findings)
	if findings == "" {
		findings = enforcement.DefaultFindings
	}
	return whatif.Policy{Settings: p.policy(), Mode: settings.Mode, Findings: findings, BudgetTokens: settings.BudgetTokens}
}

// ProjectsToday reads projects as a daemon of this data directory does, each
// once.
func ProjectsToday(dataDir, home string) func(root string) whatif.Project {
	d := &Daemon{layout: config.Layout{Root: dataDir}}
	known := map[string]whatif.Project{}
	return func(root string) whatif.Project {
		if p, have := known[root]; have {
			return p
		}
		read := d.readProject(root, home)
		p := whatif.Project{
			Policy: PolicyOf(read.settings), Layout: read.layout,
			Domains: func(index *retrieval.Index) []string { return read.domains(index, read.language) },
			Band:    bandLines,
		}
		known[root] = p
		return p
	}
}
