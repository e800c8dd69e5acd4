// Package permit says which of Writ's own commands an agent may run, which are a
// person's, and which a host runs.
//
// The table is complete: a command that is not in it is nobody's, and refused to
// agents like a person's. It holds names alone; who is an agent, the callers tell.
package permit

import "strings"

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
	first := words[0]
	if len(words) > 1 {
		both := first + " " + words[1]
		if side, found := sides[both]; found {
			return both, side, true
		}
		if groups[first] {
			return both, Person, false
		}
	}
	side, found := sides[first]
	return first, side, found
}

// Group says whether a command's next word names another one.
func Group(command string) bool { return groups[command] }

// Commands are all that the table knows, with their sides.
func Commands() map[string]Side {
	all := make(map[string]Side, len(sides))
	for name, side := range sides {
		all[name] = side
	}
	return all
}

var sides, groups = table(`
agent: agent, agent list, agent show, agent validate, attest verify
agent: audit key, audit prove, audit verify
agent: check, completion, context, diff, doctor, graph, graph show, help
agent: index, index build, index deps, index status, lint-stream
agent: memory, memory health, memory report, mode, mode set, observe, query, recall
agent: rule, rule list, rule log, rule propose, rule search, rule show, rule stats, rule validate
agent: schedule, schedule list, search, session, session audit, session list, session show
agent: status, statusline, version, whatif

host: confine, hook, mcp

person: accept, agent stop, approve, attest, audit, audit checkpoint, audit export, backup, benchmark, dash, dispatch, down, emit
person: graph pull, graph push, init
person: memory export, memory forget, memory import, memory reflect, memory review, memory triage, model
person: passkey, passkey add, passkey list, passkey remove
person: phase, phase invalidate, phase reopen, phase show
person: replay, restore, rule add, rule compress, rule edit, rule export, rule feedback, rule import, rule retire, rule revert, rule review, run
person: schedule cancel, schedule pause, schedule resume, session replay
person: top, tune, uninstall, up, upgrade, view, view rebuild, view verify, watch
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
			if group, _, below := strings.Cut(name, " "); below {
				groups[group] = true
			}
		}
	}
	return sides, groups
}
