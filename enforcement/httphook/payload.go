package httphook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/hosts"
)

// folderHeader lets a host say the folder its session began in, such as
// $CLAUDE_PROJECT_DIR. The payload's own folder wins where it is guarded.
const folderHeader = "Writ-Dir"

// project is the root of the guarded project at or above the last of the
// folders that has one, "" for none; known is false where no folder was named.
func (s *Server) project(folders ...string) (root string, known bool) {
	for _, dir := range folders {
		if !filepath.IsAbs(dir) {
			continue
		}
		known = true
		dir = filepath.Clean(dir)
		found, guarded := s.Guarded(dir)
		if !guarded {
			if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
				found, guarded = s.Guarded(real)
			}
		}
		if guarded {
			root = found
		}
	}
	return root, known
}

// folderOf finds the working folder in a payload of Claude Code that ends too
// early or breaks off.
func folderOf(payload []byte) string {
	in := json.NewDecoder(bytes.NewReader(payload))
	if opening, err := in.Token(); err != nil || opening != json.Delim('{') {
		return ""
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return ""
		}
		var value json.RawMessage
		if in.Decode(&value) != nil {
			return ""
		}
		var dir string
		if key == "cwd" && json.Unmarshal(value, &dir) == nil {
			return dir
		}
	}
	return ""
}

var errShowsUser = errors.New("httphook: the payload would count as the user's act")

// origin is what prompts that come over HTTP are said to come from.
const origin = "http"

// withoutUser takes from an event and its payload what would make it the user's own
// act.
func withoutUser(agent, event string, payload []byte, call host.Call) (string, []byte, error) {
	if !showsUser(call) {
		return event, payload, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(payload, &fields); err != nil {
		return "", nil, fmt.Errorf("%w: %w", errShowsUser, err)
	}
	set := func(name, value string) {
		// The payload's reader takes keys in any case.
		for key := range fields {
			if strings.EqualFold(key, name) {
				delete(fields, key)
			}
		}
		raw, _ := json.Marshal(value)
		fields[name] = raw
	}
	switch call.Kind {
	case host.Prompt:
		set("source", origin)
	case host.Command:
		// A name that no host knows is read as what the hook was set for.
		event = call.Hook + " over " + origin
		set("hook_event_name", event)
	default:
		set("permission_mode", "dontAsk")
	}
	changed, err := json.Marshal(fields)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", errShowsUser, err)
	}
	if after, err := hosts.Parse(agent, event, changed); err != nil || showsUser(after) || after.Session != call.Session {
		return "", nil, errors.Join(errShowsUser, err)
	}
	return event, changed, nil
}

// showsUser says whether a call would be taken for something that the user did:
// a prompt, a typed command, or a plan accepted in the host's dialog.
func showsUser(call host.Call) bool {
	switch call.Kind {
	case host.Prompt:
		return call.Origin == "" || call.Origin == "user"
	case host.Command:
		return true
	case host.AfterTool:
		return call.Tool == "ExitPlanMode" && call.Permissions != "dontAsk"
	default:
		return false
	}
}
