package enforcement

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas"
)

// Classes of a path (persisted; never change). The first that matches, in this
// order, wins.
const (
	ClassProtected = "protected"
	ClassPlan      = "plan"
	ClassFindings  = "findings"
	ClassTest      = "test"
	ClassScratch   = "scratch"
	ClassOutside   = "outside"
	ClassCode      = "code"
)

// DefaultFindings is the file a review writes, relative to the project root.
const DefaultFindings = "findings.md"

// Layout says where things are. All paths are absolute, with forward slashes
// and symbolic links resolved.
type Layout struct {
	Project         string
	Home            string
	DataDir         string   // Writ's own data and credentials
	Temp            []string // temp folders
	Trees           []string // other work trees of the project's repository, which are no scratch
	HookScripts     []string // files, absolute, that agents' settings have run by themselves
	Findings        string   // relative to the project; "" means DefaultFindings
	CaseInsensitive bool     // how the file system compares names
	// Absent says that a path is no folder; nil takes all for folders.
	Absent func(path string) bool
}

// Classify says what a path is. abs is absolute with symbolic links resolved,
// see Resolve. A path inside the project is never scratch or outside, also
// where the project lies in a temp folder.
func Classify(l Layout, abs string) schemas.Target {
	abs = path.Clean("/" + abs)
	t := schemas.Target{Path: abs}
	rel, inProject := within(l.Project, abs, l.CaseInsensitive)
	if inProject {
		t.Rel = l.canonical(rel)
	}
	switch {
	case l.protected(abs, inProject):
		t.Class = ClassProtected
	case !inProject && (l.scratch(abs) || device(abs)):
		t.Class = ClassScratch
	case !inProject:
		t.Class = ClassOutside
	case t.Rel == PlanFile || t.Rel == CapabilitiesFile:
		t.Class = ClassPlan
	case same(t.Rel, l.findings(), l.CaseInsensitive):
		t.Class = ClassFindings
	case isTest(t.Rel):
		t.Class = ClassTest
	default:
		t.Class = ClassCode
	}
	return t
}

// canonical gives the plan's files the one name that gates know.
func (l Layout) canonical(rel string) string {
	for _, name := range []string{PlanFile, CapabilitiesFile} {
		if same(rel, name, l.CaseInsensitive) {
			return name
		}
	}
	return rel
}

func (l Layout) findings() string {
	if l.Findings == "" {
		return DefaultFindings
	}
	return path.Clean(l.Findings)
}

// scratch reports whether a temp folder encloses abs more closely than the home
// folder does, or whether it is where a host has its agent draft the plan that
// its own dialog shows.
func (l Layout) scratch(abs string) bool {
	if rel, ok := within(l.Home, abs, l.CaseInsensitive); ok && path.Dir(rel) == ".claude/plans" && strings.HasSuffix(rel, ".md") {
		return true
	}
	for _, tree := range l.Trees {
		if _, ok := within(tree, abs, l.CaseInsensitive); ok {
			return false
		}
	}
	return l.tempDepth(abs) > rootDepth(l.Home, abs, l.CaseInsensitive)
}

func (l Layout) tempDepth(abs string) int {
	depth := 0
	for _, t := range l.Temp {
		depth = max(depth, rootDepth(t, abs, l.CaseInsensitive))
	}
	return depth
}

// rootDepth is the length of root where it encloses p, 0 where it does not. A
// temp folder that is the whole file system counts for nothing.
func rootDepth(root, p string, fold bool) int {
	if root = path.Clean(root); root == "/" || root == "." {
		return 0
	}
	if _, ok := within(root, p, fold); !ok {
		return 0
	}
	return len(root)
}

// device names that swallow or echo what is written to them.
func device(abs string) bool {
	switch abs {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/stdin":
		return true
	}
	return strings.HasPrefix(abs, "/dev/fd/")
}

// InData reports whether a path is among Writ's own data and credentials, which
// an agent may not even read.
func (l Layout) InData(abs string) bool {
	_, ok := within(l.DataDir, path.Clean("/"+abs), l.CaseInsensitive)
	return ok
}

// AroundData reports whether a folder is, lies in, or holds Writ's own data: to
// read everything in it would be to read that.
func (l Layout) AroundData(abs string) bool {
	_, above := within(path.Clean("/"+abs), path.Clean("/"+l.DataDir), l.CaseInsensitive)
	return l.InData(abs) || above && l.DataDir != ""
}

// hookScript reports a file that an agent's settings have run by itself.
func (l Layout) hookScript(abs string) bool {
	return slices.ContainsFunc(l.HookScripts, func(script string) bool {
		return script == abs || l.CaseInsensitive && strings.EqualFold(script, abs)
	})
}

func (l Layout) protected(abs string, inProject bool) bool {
	if l.CaseInsensitive {
		abs = strings.Map(seen, abs)
	}
	if l.InData(abs) || l.hookScript(abs) {
		return true
	}
	if _, above := within(abs, path.Clean("/"+l.DataDir), l.CaseInsensitive); above && l.DataDir != "" && abs != "/" && !inProject {
		return true
	}
	if l.CaseInsensitive {
		abs = strings.ToLower(strings.ToUpper(abs)) // some letters have one capital
	}
	// Shell start-up files, the programs that hooks run, git's settings, credentials.
	if rel, ok := within(l.Home, abs, l.CaseInsensitive); systemFiles[abs] || below(systemFolders, abs) || ok && (homeFiles[rel] || below(homeFolders, rel)) {
		return true
	}
	// Copies in a temp folder are nobody's live settings.
	if !inProject && l.scratch(abs) {
		return false
	}
	return settingsOfTools(strings.Split(strings.TrimPrefix(abs, "/"), "/"))
}

// settingsOfTools finds the settings of agents, hooks and git at any depth: a
// nested one is live for whoever starts there. So are commands of hosts that
// pass on what a typed command stands for as if the user had typed that: one
// that says "approved" would approve.
func settingsOfTools(parts []string) bool {
	for i, part := range parts {
		below := parts[i+1:]
		switch part {
		case ".writ", ".codex":
			return true
		case ".claude":
			if len(below) == 0 || below[0] == "hooks" || len(below) == 1 && settingsFile(below[0]) {
				return true
			}
		case ".cursor":
			if len(below) == 0 || len(below) == 1 && below[0] == "hooks.json" || below[0] == "commands" {
				return true
			}
		case ".opencode":
			if len(below) == 0 || slices.Contains([]string{"plugin", "plugins", "command", "commands"}, below[0]) || len(below) == 1 && strings.HasPrefix(below[0], "opencode.json") {
				return true
			}
		case "opencode.json", "opencode.jsonc":
			if len(below) == 0 {
				return true
			}
		case ".gemini":
			if len(below) == 0 || len(below) == 1 && below[0] == "settings.json" || below[0] == "commands" {
				return true
			}
		case ".github":
			if len(below) > 0 && below[0] == "hooks" {
				return true
			}
		case ".git":
			if gitMachinery(below) {
				return true
			}
		}
	}
	return false
}

// seen drops letters that nobody sees, which file systems that fold case may take
// for none.
func seen(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
		return -1
	}
	return r
}

func settingsFile(name string) bool {
	return strings.HasPrefix(name, "settings") && strings.HasSuffix(name, ".json")
}

// gitMachinery finds what makes git run code or look elsewhere: the folder (or
// the file of a worktree) itself, hooks and configuration, those of submodules
// and worktrees included.
func gitMachinery(below []string) bool {
	if len(below) == 0 {
		return true
	}
	for i, part := range below {
		switch part {
		case "hooks":
			// A branch may be called "hooks": refs and logs of it are data.
			if i == 0 || below[0] == "modules" || below[0] == "worktrees" {
				return true
			}
		case "config", "config.worktree", "commondir", "gitdir":
			if i == len(below)-1 && (i == 0 || below[0] == "modules" || below[0] == "worktrees") {
				return true
			}
		case "attributes":
			if i == len(below)-1 && i > 0 && below[i-1] == "info" && (i == 1 || below[0] == "modules" || below[0] == "worktrees") {
				return true
			}
		}
	}
	return false
}

var (
	homeFiles = setOf(
		".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc",
		".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".pam_environment", ".xprofile", ".xsessionrc",
		".gitconfig", ".git-credentials", ".netrc", ".pgpass",
	)
	homeFolders = []string{
		".ssh", ".gnupg", ".aws", ".config/fish", ".config/git", ".config/gh", ".config/gcloud", ".config/zsh",
		".config/powershell", ".config/nushell", ".config/environment.d", ".config/systemd/user", ".config/autostart",
		".kube/config", ".docker/config.json", ".local/share/writ", "Library/LaunchAgents", "library/launchagents",
	}
	systemFiles   = setOf("/etc/profile", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zshenv", "/etc/zshrc", "/etc/zprofile", "/etc/environment", "/etc/gitconfig")
	systemFolders = []string{"/etc/profile.d", "/etc/zsh", "/etc/fish"}
)

func setOf(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// below reports whether a path lies in one of some folders.
func below(folders []string, p string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		_, ok := within(folder, p, false)
		return ok
	})
}
