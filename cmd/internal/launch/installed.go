package launch

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// InstallScript installs both programs from a release. It is the script that a
// release carries, so that an upgrade runs what this build was tested with.
//
//go:embed install.sh
var InstallScript []byte

// Way is how the programs came to be where they are.
type Way string

// The ways. Printed by `writ upgrade --json`; never change.
const (
	ByScript   Way = "script"   // install.sh put them there, and noted it
	ByGo       Way = "go"       // go install
	ByCheckout Way = "checkout" // built from the source in a checkout
	ByPackage  Way = "package"  // a package manager keeps the folder
	ByHand     Way = "hand"     // nothing tells
)

// Installation is where the programs lie, and how they came there.
type Installation struct {
	Way  Way    `json:"way"`
	Dir  string `json:"dir"`
	From string `json:"from,omitempty"` // what the script was given, "" for the forge's releases
}

// packaged are parts of paths that only package managers write to.
var packaged = []string{"/Cellar/", "/homebrew/", "/linuxbrew/", "/nix/store/", "/snap/", "/usr/bin/", "/scoop/", "/chocolatey/"}

// Installed tells how this program was installed. Vars are the environment, in
// the form of os.Environ.
func Installed(executable, home string, vars []string) Installation {
	executable = resolved(executable) // hooks start it by a link
	at := Installation{Way: ByHand, Dir: filepath.Dir(executable)}
	if bin, err := BinDir(); err == nil && bin == at.Dir || Temporary(executable) {
		at.Way = ByCheckout
		return at
	}
	if noted := readNote(home); noted["dir"] != "" && SameFolder(noted["dir"], at.Dir) {
		at.Way, at.From = ByScript, noted["from"]
		return at
	}
	for _, part := range packaged {
		if strings.Contains(filepath.ToSlash(executable), part) {
			at.Way = ByPackage
			return at
		}
	}
	for _, dir := range goBins(home, vars) {
		if dir != "" && SameFolder(dir, at.Dir) {
			at.Way = ByGo
			return at
		}
	}
	return at
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// SameFolder tells two names of one folder or file.
func SameFolder(a, b string) bool {
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}

// goBins are the folders that `go install` writes to, by what the environment
// says. What `go env -w` set is not asked: the go tool may be gone.
func goBins(home string, vars []string) []string {
	bins := []string{lookup(vars, "GOBIN")}
	for _, path := range filepath.SplitList(lookup(vars, "GOPATH")) {
		bins = append(bins, filepath.Join(path, "bin"))
	}
	if home != "" {
		bins = append(bins, filepath.Join(home, "go", "bin"))
	}
	return bins
}

// kept is the folder below a home folder that holds the script's note, and the
// link that hooks name.
const kept = ".local/share/writ"

// readNote reads what install.sh noted, in lines of NAME=VALUE.
func readNote(home string) map[string]string {
	raw, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(kept), "installed"))
	if err != nil {
		return nil
	}
	noted := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
			noted[name] = value
		}
	}
	return noted
}

// Remedy is the one command that puts writd beside a writ that lacks it.
func (i Installation) Remedy() string {
	switch i.Way {
	case ByCheckout:
		return "go run ./cmd/writ up"
	case ByPackage:
		return scriptLine
	case ByScript:
		return i.ScriptLine()
	case ByGo, ByHand:
	}
	return "GOBIN=" + word(i.Dir) + " go install " + Module + "/cmd/writd@" + released()
}

// GoLine is the command that brings both programs up to a version with Go.
func (i Installation) GoLine(version string) string {
	return "GOBIN=" + word(i.Dir) + " go install " + Module + "/cmd/writ@" + version + " " + Module + "/cmd/writd@" + version
}

// ScriptLine is the command that installs the latest release into a folder.
func (i Installation) ScriptLine() string { return scriptLine + " -s -- --dir " + word(i.Dir) }

const scriptLine = "curl -fsSL https://" + Module + "/releases/latest/download/install.sh | sh"

// released is the version by which the module's proxy knows this build, else
// the latest: both programs of one version understand each other.
func released() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" || strings.Contains(info.Main.Version, "+") {
		return "latest"
	}
	return info.Main.Version
}

// word quotes a path for a person's shell where it needs it.
func word(path string) string {
	if strings.ContainsAny(path, " '\"$&();<>|*?`\\") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// Link has a link in a home folder lead to a program, by which hooks find it, and
// returns where it led before, "" for nowhere or to the same.
func Link(at, program string) (was string, err error) {
	was, err = os.Readlink(at)
	switch {
	case err == nil && was == program:
		return "", nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
	default:
		return "", fmt.Errorf("launch: %s is not a link that can be read, and hooks need one there: %w", at, err)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return "", fmt.Errorf("launch: %w", err)
	}
	beside := fmt.Sprintf("%s.%d", at, os.Getpid())
	if err := os.Symlink(program, beside); err != nil {
		return "", fmt.Errorf("launch: %w", err)
	}
	if err := os.Rename(beside, at); err != nil {
		_ = os.Remove(beside)
		return "", fmt.Errorf("launch: %w", err)
	}
	return was, nil
}
