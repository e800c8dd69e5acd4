package install

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/host/settings"
)

// Detect finds the agents a project shows traces of, else those whose program is
// installed, else Claude Code. Others are those that are installed besides.
func Detect(root string, installed func(program string) bool) (found, others []settings.Agent) {
	var here []settings.Agent
	for _, a := range hosts.Agents {
		switch {
		case slices.ContainsFunc(a.Traces, func(trace string) bool {
			_, err := os.Stat(filepath.Join(root, filepath.FromSlash(trace)))
			return err == nil
		}):
			found = append(found, a)
		case slices.ContainsFunc(a.Programs, installed):
			here = append(here, a)
		}
	}
	switch {
	case len(found) > 0:
		return found, here
	case len(here) > 0:
		return here, nil
	}
	return hosts.Agents[:1:1], nil
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
