// Package hosts knows all the hosts that Writ has an adapter and an installer
// for.
//
// It does no IO, and holds nothing of any host itself.
package hosts

import (
	"slices"

	"github.com/writbus/writ/enforcement/host/claude"
	"github.com/writbus/writ/enforcement/host/codex"
	"github.com/writbus/writ/enforcement/host/copilot"
	"github.com/writbus/writ/enforcement/host/cursor"
	"github.com/writbus/writ/enforcement/host/gemini"
	"github.com/writbus/writ/enforcement/host/opencode"
	"github.com/writbus/writ/enforcement/host/settings"
)

// Agents are those that Writ can be installed for, in the order of the help.
var Agents = []settings.Agent{claude.Agent, cursor.Agent, codex.Agent, gemini.Agent, copilot.Agent, opencode.Agent}

// Named finds agents by their names.
func Named(names ...string) (found []settings.Agent, unknown string) {
	for _, name := range names {
		at := slices.IndexFunc(Agents, func(a settings.Agent) bool { return a.Name == name })
		if at < 0 {
			return nil, name
		}
		found = append(found, Agents[at])
	}
	return found, ""
}
