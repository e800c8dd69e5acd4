// Package owncommand says which of Writ's own commands an agent may run, which are a
// person's, and which a host runs.
//
// The table is complete: a command that is not in it is nobody's, and refused to
// agents like a person's. It holds names alone; who is an agent, the callers tell.
package owncommand

import (
	"maps"
	"strings"
)

// Side is whose a command is.
type Side int

// The sides. What the table does not know is a person's.
const (
	Person Side = iota
	Agent       // reads, or proposes: an agent may run it, and so may anybody
	Host        // a host's process runs it beside its agent; the agent does not
)

// Of tells whose the command is that the words of a call begin with, options left
// out. Known is false where no command is named, as in a call of help.
func Of(words []string) (command string, side Side, known bool) {
	if len(words) == 0 {
		return "", Agent, true
	}
	command = words[0]
	for _, next := range words[1:] {
		longer := command + " " + next
		if _, found := sides[longer]; !found {
			if groups[command] {
				return longer, Person, false
			}
			break
		}
		command = longer
	}
	side, known = sides[command]
	return command, side, known
}

// Group says whether a command's next word names another one.
func Group(command string) bool { return groups[command] }

// Commands are all that the table knows, with their sides.
func Commands() map[string]Side {
	return maps.Clone(sides)
}

var sides, groups = table(`
agent: agent, agent lint, agent list, agent schedule, agent schedule list, agent show, agent validate
agent: attest verify, audit attest verify, audit key, audit prove, audit verify
agent: check, completion, context, diff, doctor, find, graph, graph show, help
agent: index, index build, index deps, index status, lint-stream, log whatif
agent: memory, memory add, memory health, memory report, mode, mode set, observe, query, recall
agent: rule, rule graph, rule graph show, rule list, rule log, rule propose, rule search, rule show, rule stats, rule validate
agent: schedule, schedule list, search, session, session audit, session list, session show
agent: status, statusline, team release show, version, whatif

host: confine, git hook, hook, mcp

person: accept, agent dispatch, agent run, agent schedule cancel, agent schedule pause, agent schedule resume, agent stop
person: approve, approve key, approve passkey, approve passkey add, approve passkey list, approve passkey remove, approve second, approve settings
person: attest, audit, audit attest, audit checkpoint, audit export, backup, backup move, backup restore, benchmark, dash, dispatch, down, emit
person: git, git install, git uninstall
person: graph pull, graph push, init, log, log emit, log export, log move, log view, log view rebuild, log view verify
person: memory export, memory forget, memory import, memory reflect, memory review, memory scope, memory share, memory triage, model, model benchmark, model tune
person: passkey, passkey add, passkey list, passkey remove
person: phase, phase invalidate, phase reopen, phase show
person: repair, replay, restore, rule add, rule compress, rule edit, rule export, rule feedback, rule graph pull, rule graph push, rule import, rule retire, rule revert, rule review, rule symptoms, run
person: schedule cancel, schedule pause, schedule resume, session forget, session phase, session phase invalidate, session phase reopen, session phase show, session replay
person: team, team doctor, team join, team leave, team leaving, team manifest, team release, team release follow, team release leave, team release make, team release propose, team release review, team release update, team status, team witness, top, tune, uninstall, up, upgrade, view, view rebuild, view verify, watch
`)

func table(text string) (sides map[string]Side, groups map[string]bool) {
	sides, groups = map[string]Side{}, map[string]bool{}
	named := map[string]Side{"agent": Agent, "host": Host, "person": Person}
	for line := range strings.Lines(text) {
		side, names, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			continue
		}
		for name := range strings.SplitSeq(names, ", ") {
			sides[name] = named[side]
			if end := strings.LastIndexByte(name, ' '); end > 0 {
				groups[name[:end]] = true
			}
		}
	}
	return sides, groups
}
