package lifecycle

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/host/claude"
)

// writePlugin makes a folder that is Writ as a plugin of Claude Code. Its hooks
// run whichever writ is on the PATH: the folder may travel.
func (a *app) writePlugin(dir string) error {
	dir = a.Env.Absolute(dir)
	if foreign, err := foreignPlugin(dir); err != nil || foreign {
		if err == nil {
			err = errors.New("it holds another plugin")
		}
		return client.Refused("init --plugin", dir+": "+err.Error(), "Name a folder that is new, or one that this made before.")
	}
	files, err := claude.Plugin("writ", Version)
	if err != nil {
		return client.Explain("init --plugin", err)
	}
	for _, f := range files {
		at := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return client.Refused("init --plugin", err.Error(), "Make the folder writable for you.")
		}
		if err := os.WriteFile(at, f.Content, 0o644); err != nil {
			return client.Refused("init --plugin", err.Error(), "Make the folder writable for you.")
		}
	}
	return a.Print(map[string]any{"plugin": dir, "files": len(files)}, func() {
		a.Printf("%s is Writ as a plugin of Claude Code, in %s. Install it there with\n  /plugin marketplace add %s\n  /plugin install writ@writ\n"+
			"writ has to be on the PATH. A project is under guard once it has .writ/config.yaml, which `writ init` makes.\n", dir, client.Plural(len(files), "file", "files"), dir)
	})
}

// foreignPlugin reports a folder that is somebody else's plugin.
func foreignPlugin(dir string) (bool, error) {
	raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(claude.PluginManifest)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var manifest struct {
		Name string `json:"name"`
	}
	return json.Unmarshal(raw, &manifest) != nil || manifest.Name != claude.PluginName, nil
}
