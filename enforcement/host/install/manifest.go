package install

import (
	"encoding/json"

	"github.com/writbus/writ/enforcement/host/settings"
)

// Places, relative to a project's root.
const (
	projectFile = ".writ/config.yaml"
	ignoreFile  = ".writ/.gitignore"
	backupDir   = ".writ/install"
	// parkedFile keeps settings of the user's own when Writ is taken out; a
	// later installation takes them up again.
	parkedFile = ".writ/config.yaml.off"
)

// manifestFile and originalFile are an agent's backups.
func manifestFile(a settings.Agent) string { return backupDir + "/" + a.Name + ".json" }
func originalFile(a settings.Agent) string { return backupDir + "/" + a.Name + "-settings.json" }

// manifest says what an agent's installation found and made, so that it can be undone.
// Persisted; fields are only ever added.
type manifest struct {
	Version int `json:"version"`
	// SettingsExisted says whether there was a settings file; the agent's
	// originalFile has its content then.
	SettingsExisted bool `json:"settings_existed"`
	// SettingsAfter is the SHA-256 of the settings as the installation left
	// them.
	SettingsAfter string `json:"settings_after"`
	// Files are the other files written: SHA-256 by path.
	Files map[string]string `json:"files"`
	// Dirs are folders created, outermost first.
	Dirs []string `json:"dirs,omitempty"`
}

// loadManifest returns nil where there is none, or none that can be read: a
// clone of the project has the hooks without it.
func loadManifest(root string, a settings.Agent) (*manifest, error) {
	raw, exists, err := read(root, manifestFile(a))
	if err != nil || !exists {
		return nil, err
	}
	var m manifest
	if json.Unmarshal(raw, &m) != nil {
		return nil, nil
	}
	return &m, nil
}

func (m manifest) encode() []byte {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic("install: a manifest does not marshal: " + err.Error())
	}
	return append(raw, '\n')
}
