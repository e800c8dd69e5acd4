package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/writbus/writ/schemas/digest"
)

// ErrNoHome is returned by DataDir when neither WRIT_HOME nor a home folder
// is known.
var ErrNoHome = errors.New("config: no home folder is known")

// DataDir is the absolute folder that holds the log, the views, credentials
// and the daemon's own log: WRIT_HOME, else the platform's folder for
// application state. It is never inside a work tree by default.
func DataDir() (string, error) {
	if dir := os.Getenv("WRIT_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "writ"), nil
	}
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = fmt.Errorf("%s is not a whole path", home)
	}
	if err != nil {
		return "", fmt.Errorf("%w (%w): set WRIT_HOME to a folder of yours", ErrNoHome, err)
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "writ"), nil
	case "windows":
		if local := os.Getenv("LOCALAPPDATA"); local != "" {
			return filepath.Join(local, "writ"), nil
		}
		return filepath.Join(home, "AppData", "Local", "writ"), nil
	}
	return filepath.Join(home, ".local", "state", "writ"), nil
}

// Layout names the folders and files of a data directory.
type Layout struct{ Root string }

// Log is the folder of the streams.
func (l Layout) Log() string { return filepath.Join(l.Root, "streams") }

// Damage is the file that says what was found wrong with the log.
func (l Layout) Damage() string { return filepath.Join(l.Root, "damage.txt") }

// Restored is the file that says what backup the directory was restored from, until
// the next start has recorded it.
func (l Layout) Restored() string { return filepath.Join(l.Root, "restored.json") }

// Moved is the file that says where the directory went: no daemon starts on it.
func (l Layout) Moved() string { return filepath.Join(l.Root, "moved") }

// Views is the folder of the projections, which can be deleted at any time.
func (l Layout) Views() string { return filepath.Join(l.Root, "views") }

// Audit is the folder of signed checkpoints and hashes of the log. It is
// evidence: it cannot be made again from a log that was changed.
func (l Layout) Audit() string { return filepath.Join(l.Root, "audit") }

// Credentials is the folder of the roles' secrets.
func (l Layout) Credentials() string { return filepath.Join(l.Root, "credentials") }

// Witness is the file outside of the data directory that remembers what was
// signed of its log, "" where no place for it is known.
func (l Layout) Witness() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "writ-checkpoints", digest.Hex(l.Root)[:16])
}

// Lock is the file a running daemon holds locked.
func (l Layout) Lock() string { return filepath.Join(l.Root, "daemon.lock") }

// NotInBackups are patterns of the names in a data directory that are made again,
// pulled again, or of the running daemon alone. What the roles sign in with is made again,
// too: agents read what lies outside the directory, and would be let in as a person.
func NotInBackups() []string {
	return []string{"views*", "artifacts", "models", "log", "run", "daemon.lock", "start.lock", "restored.json", "moved", "credentials/.lock", "credentials/identity.pem", "credentials/metrics.token", "credentials/daemon.json", "credentials/hook.json", "credentials/dashboard.json", "credentials/admin.json", "credentials/agent.json"}
}

// Settings is the user's settings file.
func (l Layout) Settings() string { return filepath.Join(l.Root, "config.yaml") }

// DaemonLog is where a daemon started in the background writes.
func (l Layout) DaemonLog() string { return filepath.Join(l.Root, "log", "writd.log") }

// CredentialPath is the file that holds a role's credential.
func CredentialPath(dataDir, role string) string {
	return filepath.Join(Layout{dataDir}.Credentials(), role+".json")
}
