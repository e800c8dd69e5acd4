package install

import (
	"os"
	"path/filepath"

	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/host/settings"
)

// Detect finds the agents a project shows traces of; without any it is Claude
// Code.
func Detect(root string) []settings.Agent {
	var found []settings.Agent
	for _, a := range hosts.Agents {
		for _, trace := range a.Traces {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(trace))); err == nil {
				found = append(found, a)
				break
			}
		}
	}
	if len(found) == 0 {
		found = hosts.Agents[:1:1]
	}
	return found
}

// Hooks lists the hooks of Writ's that a project has for an agent, and the file
// they stand in. There is no error for a file that is not there.
func Hooks(root string, a settings.Agent) (hooks []settings.Hook, path string, err error) {
	path = filepath.Join(root, filepath.FromSlash(a.HookFile()))
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, path, nil
	}
	if err != nil {
		return nil, path, err
	}
	hooks, err = a.Hooks(text)
	return hooks, path, err
}
