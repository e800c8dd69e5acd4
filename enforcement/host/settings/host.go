package settings

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Host is how one agent's settings list hooks.
type Host struct {
	// Agent is the name in the hook's command line: writ hook AGENT EVENT.
	Agent string
	// Nested says that an event lists groups with a matcher, each with hooks;
	// else it lists the hooks themselves.
	Nested bool
	// Comments says that the agent reads settings with comments.
	Comments bool
	// Base are keys that new settings need beside the hooks, in their order.
	Base []Key
	// Hooks are those Writ answers.
	Hooks []Wanted
	// Line is the host's status line.
	Line Line
	// TimeoutKey is the handler's key for how long the agent waits. A longer
	// time than Writ's is the user's choice.
	TimeoutKey string
	// Handler is the hook of an event that runs the program, as it marshals.
	Handler func(event, program string) any
}

// EndOfTurn is how long a host waits for the hook at the end of a turn, in
// seconds: the longest that tests may run there, and Writ's own time.
const EndOfTurn = int(schemas.MaxTestTime/time.Second) + 10

// Key is a top-level key with its value.
type Key struct {
	Name  string
	Value any
}

// Wanted is an event with the tools it is about; "" is every occurrence.
type Wanted struct{ Event, Matcher string }

// group is an entry of an event's list where hooks are nested.
type group struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []any  `json:"hooks"`
}

// entry is what an event's list is given.
func (h Host) entry(w Wanted, program string) any {
	handler := h.Handler(w.Event, program)
	if !h.Nested {
		return handler
	}
	return group{w.Matcher, []any{handler}}
}

// handler is a hook as it stands in settings, whatever the host's form.
type handler struct {
	Command    string   `json:"command"`
	Bash       string   `json:"bash"`
	PowerShell string   `json:"powershell"`
	Exec       string   `json:"exec"`
	Args       []string `json:"args"`
}

// line is the hook's command, for a shell where it has no arguments of its own.
func (h handler) line() string {
	for _, line := range []string{h.Command, h.Exec, h.Bash, h.PowerShell} {
		if line != "" {
			return line
		}
	}
	return ""
}

// own says whether a handler is Writ's for an agent, of whatever version and
// path.
func (h handler) own(agent string) bool {
	line := h.line()
	if len(h.Args) > 0 {
		return isWrit(line) && len(h.Args) >= 2 && h.Args[0] == "hook" && h.Args[1] == agent
	}
	program, rest, found := strings.Cut(line, " hook "+agent)
	return found && isWrit(strings.Trim(strings.TrimPrefix(program, "& "), `"'`)) && (rest == "" || rest[0] == ' ')
}

func isWrit(command string) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(strings.ReplaceAll(command, `\`, "/"))), ".exe")
	return name == "writ"
}

// asWanted says whether a handler does what Writ's would. Keys of the user's
// beside Writ's are left alone.
func (h Host) asWanted(is json.RawMessage, event, program string) bool {
	raw, err := json.Marshal(h.Handler(event, program))
	if err != nil {
		return false
	}
	var want, have map[string]any
	if json.Unmarshal(raw, &want) != nil || json.Unmarshal(is, &have) != nil {
		return false
	}
	for key, value := range want {
		got, there := have[key]
		if key == h.TimeoutKey {
			seconds, isNumber := got.(float64)
			least, _ := value.(float64)
			if there && (!isNumber || seconds < least) {
				return false
			}
			continue
		}
		if !there || !reflect.DeepEqual(got, value) {
			return false
		}
	}
	return true
}

// AtHome is the program that hooks in a file that may be committed name: the same
// words for everybody, which every host's shell resolves to a link in the home
// folder of whoever runs it. PATH is not asked: a folder of the project on it,
// such as a virtual environment's, would let an agent put another writ there.
const AtHome = homeVar + LinkAtHome

// LinkAtHome is where the link lies below a home folder.
const LinkAtHome = ".local/share/writ/writ"

const homeVar = "$HOME/"

// IsAtHome says whether a program is named by the shell's variable, so that only
// a shell can run it.
func IsAtHome(program string) bool { return strings.HasPrefix(program, homeVar) }

// missing is what the first hook of a session says where the program is not
// there, which is the only one whose words a user looks for. The line means the
// same in sh, bash, zsh and fish.
const missing = "Writ guards this project and is not installed here: https://github.com/writbus/writ says how, and then: writ init"

// CommandLine is the shell's line that runs a hook. It stays the same from
// version to version: some hosts trust a hook by its exact text.
func CommandLine(program, agent, event string) string {
	line := Quote(program) + " hook " + agent + " " + event
	if IsAtHome(program) && strings.EqualFold(event, "SessionStart") {
		return "test -x " + Quote(program) + " || echo '" + missing + "' >&2; " + line
	}
	return line
}

// Quote writes a program's path as a shell's word; one at home stays a variable.
func Quote(program string) string {
	if IsAtHome(program) {
		return `"` + program + `"`
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r) || r > 127
	}
	if strings.IndexFunc(program, func(r rune) bool { return !plain(r) }) < 0 {
		return program
	}
	if runtime.GOOS == "windows" {
		return `"` + program + `"`
	}
	return "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
}
