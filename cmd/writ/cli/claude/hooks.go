package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// timeout is how long Claude Code waits for a hook, in seconds. Writ answers
// in two; the rest is for a machine under load, and SessionEnd's budget follows
// the largest timeout there is.
const timeout = 10

// Matchers are anchored: Claude Code looks for them anywhere in a tool's name
// otherwise.
const (
	toolsThatWrite = `^(Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|Monitor|mcp__.*)$`
	toolsBefore    = `^(Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|Monitor|mcp__.*|Read|Grep|ExitPlanMode|Task|Agent|TodoWrite|TaskCreate|TaskUpdate)$`
	toolsAfter     = `^(Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|Monitor|mcp__.*|ExitPlanMode)$`
	ownCommands    = `writ-approve|writ-mode|writ-status|writ-query`
)

// wanted lists the hooks Writ answers. A matcher of "" is every occurrence.
var wanted = []struct{ event, matcher string }{
	{"SessionStart", ""},
	{"UserPromptSubmit", ""},
	{"UserPromptExpansion", ownCommands},
	{"PreToolUse", toolsBefore},
	{"PermissionRequest", toolsThatWrite},
	{"PostToolUse", toolsAfter},
	{"PostToolUseFailure", toolsThatWrite},
	{"SubagentStart", ""},
	{"SubagentStop", ""},
	{"Stop", ""},
	{"PreCompact", ""},
	{"PostCompact", ""},
	{"SessionEnd", ""},
	{"CwdChanged", ""},
	{"InstructionsLoaded", ""},
	{"Notification", ""},
}

// group is an entry of an event's list, as Writ writes it.
type matcherGroup struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Timeout float64  `json:"timeout,omitempty"`
}

func groupFor(event, matcher, command string) matcherGroup {
	return matcherGroup{matcher, []handler{{"command", command, []string{"hook", "claude", event}, timeout}}}
}

// own says whether a handler is Writ's, of whatever version and path.
func (h handler) own() bool {
	if len(h.Args) > 0 {
		return isWrit(h.Command) && len(h.Args) >= 2 && h.Args[0] == "hook" && h.Args[1] == "claude"
	}
	program, rest, found := strings.Cut(h.Command, " hook claude")
	return found && isWrit(strings.Trim(program, `"'`)) && (rest == "" || rest[0] == ' ')
}

func isWrit(command string) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(strings.ReplaceAll(command, `\`, "/"))), ".exe")
	return name == "writ"
}

// Hook is a hook found in settings.
type Hook struct {
	Event   string
	Matcher string
	Command string
	Args    []string // empty: Command is for a shell
}

// Merge returns the settings with Writ's hooks, which run the given program.
// It returns the same bytes where they are there already. Without settings it
// returns a file's worth of new ones.
func Merge(settings []byte, command string) ([]byte, error) {
	d, err := parseHooks(settings)
	if err != nil {
		return nil, err
	}
	changed := false
	for _, w := range wanted {
		if d.installed(w.event, w.matcher, command) {
			continue
		}
		changed = true
		d = d.without(w.event, func(string) bool { return true })
		d = d.withGroup(w.event, groupFor(w.event, w.matcher, command))
	}
	for _, event := range d.events() {
		if !isWanted(event) && len(d.ownIn(event)) > 0 {
			changed = true
			d = d.without(event, nil)
		}
	}
	if !changed {
		return settings, nil
	}
	if len(bytes.TrimSpace(settings)) == 0 {
		return append(d.text, '\n'), nil
	}
	return d.text, nil
}

// Remove returns the settings without Writ's hooks. A list or object that is
// empty then goes too, unless the original settings, from before Merge, had
// it.
func Remove(settings, original []byte) ([]byte, error) {
	d, err := parseHooks(settings)
	if err != nil {
		return nil, err
	}
	before, err := parseHooks(original)
	if err != nil {
		before, _ = parse(nil)
	}
	had := before.root.member("hooks")
	removed := false
	for _, event := range d.events() {
		if len(d.ownIn(event)) > 0 {
			removed = true
			d = d.without(event, func(event string) bool { return had.index(event) >= 0 })
		}
	}
	if !removed {
		return settings, nil
	}
	if hooks := d.root.index("hooks"); had == nil && hooks >= 0 && len(d.root.children[hooks].children) == 0 {
		d = d.remove(d.root, hooks)
	}
	return d.text, nil
}

// Installed lists Writ's hooks in settings, in their order.
func Installed(settings []byte) ([]Hook, error) {
	d, err := parseHooks(settings)
	if err != nil {
		return nil, err
	}
	var found []Hook
	for _, event := range d.events() {
		for _, o := range d.ownIn(event) {
			found = append(found, Hook{event, o.matcher, o.handler.Command, o.handler.Args})
		}
	}
	return found, nil
}

// Missing lists events Writ answers for which settings have no hook of Writ's.
func Missing(settings []byte) ([]string, error) {
	installed, err := Installed(settings)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, w := range wanted {
		if !slices.ContainsFunc(installed, func(h Hook) bool { return h.Event == w.event }) {
			missing = append(missing, w.event)
		}
	}
	return missing, nil
}

// Disabled says whether settings switch all hooks off.
func Disabled(settings []byte) bool {
	d, err := parse(settings)
	if err != nil {
		return false
	}
	n := d.root.member("disableAllHooks")
	return n != nil && string(d.bytes(n)) == "true"
}

// Empty says whether settings hold nothing.
func Empty(settings []byte) bool {
	d, err := parse(settings)
	return err == nil && len(d.root.children) == 0
}

func isWanted(event string) bool {
	for _, w := range wanted {
		if w.event == event {
			return true
		}
	}
	return false
}

// parseHooks checks the shape that the functions here rely on.
func parseHooks(settings []byte) (document, error) {
	d, err := parse(settings)
	if err != nil {
		return d, err
	}
	hooks := d.root.member("hooks")
	if hooks == nil {
		return d, nil
	}
	line, _ := position(d.text, hooks.start)
	if hooks.kind != '{' {
		return d, fmt.Errorf("%w: line %d: \"hooks\" is not an object", ErrShape, line)
	}
	for i, event := range hooks.children {
		line, _ := position(d.text, event.start)
		if event.kind != '[' {
			return d, fmt.Errorf("%w: line %d: the hooks of %s are not a list", ErrShape, line, hooks.keys[i])
		}
	}
	return d, nil
}

func (d document) events() []string {
	hooks := d.root.member("hooks")
	if hooks == nil {
		return nil
	}
	return slices.Compact(slices.Clone(hooks.keys))
}

// ownHandler is the place of one of Writ's handlers in an event's list.
type ownHandler struct {
	group, handlerAt int
	alone            bool // its group holds nothing else
	matcher          string
	handler          handler
}

func (d document) ownIn(event string) []ownHandler {
	list := d.root.member("hooks").member(event)
	if list == nil {
		return nil
	}
	var found []ownHandler
	for g, group := range list.children {
		handlers := group.member("hooks")
		if handlers == nil || handlers.kind != '[' {
			continue
		}
		matcher := ""
		if m := group.member("matcher"); m != nil {
			_ = json.Unmarshal(d.bytes(m), &matcher)
		}
		for i, n := range handlers.children {
			var h handler
			if json.Unmarshal(d.bytes(n), &h) == nil && h.own() {
				found = append(found, ownHandler{g, i, len(handlers.children) == 1, matcher, h})
			}
		}
	}
	return found
}

// installed says whether an event has Writ's hook, once and as it should be.
// A longer timeout is the user's choice.
func (d document) installed(event, matcher, command string) bool {
	found := d.ownIn(event)
	if len(found) != 1 {
		return false
	}
	want := groupFor(event, matcher, command).Hooks[0]
	is := found[0].handler
	return found[0].matcher == matcher && is.Command == want.Command && slices.Equal(is.Args, want.Args) &&
		(is.Timeout == 0 || is.Timeout >= timeout)
}

// without takes Writ's handlers out of an event, and what is empty then,
// except the event's list where keep says so.
func (d document) without(event string, keep func(event string) bool) document {
	for {
		found := d.ownIn(event)
		if len(found) == 0 {
			break
		}
		// From the end, so that earlier places stay.
		last := found[len(found)-1]
		list := d.root.member("hooks").member(event)
		if last.alone {
			d = d.remove(list, last.group)
		} else {
			d = d.remove(list.children[last.group].member("hooks"), last.handlerAt)
		}
	}
	hooks := d.root.member("hooks")
	i := hooks.index(event)
	if i >= 0 && len(hooks.children[i].children) == 0 && (keep == nil || !keep(event)) {
		d = d.remove(hooks, i)
	}
	return d
}

func (d document) withGroup(event string, g matcherGroup) document {
	if d.root.member("hooks") == nil {
		d = d.add(d.root, "hooks", struct{}{})
	}
	hooks := d.root.member("hooks")
	if list := hooks.member(event); list != nil {
		return d.add(list, "", g)
	}
	return d.add(hooks, event, []matcherGroup{g})
}
