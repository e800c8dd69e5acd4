package daemon

import (
	"cmp"
	"path/filepath"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/turn"
	"github.com/writbus/writ/enforcement/whatif"
	"github.com/writbus/writ/retrieval"
)

// PolicyOf is how a project's settings decide, for a run of what-if.
func PolicyOf(settings config.Project) whatif.Policy {
	findings := cmp.Or(filepath.ToSlash(settings.Findings), enforcement.DefaultFindings)
	return whatif.Policy{Settings: policyOf(settings), Mode: settings.Mode, Findings: findings, BudgetTokens: settings.BudgetTokens}
}

// ProjectsToday reads projects as a daemon of this data directory does, each
// once.
func ProjectsToday(dataDir, home string) func(root string) whatif.Project {
	from := projectOptions(dataDir, nil, func(root string) (config.Ruling, error) {
		settings, err := config.LoadProject(root)
		return config.Ruling{Project: settings}, err
	})
	known := map[string]whatif.Project{}
	return func(root string) whatif.Project {
		if p, have := known[root]; have {
			return p
		}
		read := from.Read(root, home)
		p := whatif.Project{
			Policy: whatif.Policy{Settings: read.Settings.Policy, Mode: read.Settings.Mode, Findings: read.Layout.Findings, BudgetTokens: read.Settings.BudgetTokens}, Layout: read.Layout,
			Languages: read.Languages,
			Subjects:  read.Subjects,
			Domains: func(index *retrieval.Index, prompt string) []string {
				return read.Domains(index.Domains(), read.Languages, prompt)
			},
			Band: turn.Band,
		}
		known[root] = p
		return p
	}
}
