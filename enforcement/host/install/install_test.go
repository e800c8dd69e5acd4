package install

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/host/claude"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/host/settings"
)

const (
	program      = "/opt/writ/bin/writ"
	settingsFile = ".claude/settings.json"
	commandsDir  = ".claude/commands"
)

// tree is every file and folder below a root: mode and content by path.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found[rel] += "\n" + string(content)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func sameTree(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	if maps.Equal(want, got) {
		return
	}
	for path := range want {
		if got[path] != want[path] {
			t.Errorf("%s: %s was %q, is %q", what, path, want[path], got[path])
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s: %s is left over", what, path)
		}
	}
}

func write(t *testing.T, root, rel, content string) {
	t.Helper()
	path := filepath.Join(root, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, root, rel string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, rel))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// projects are folders before Writ comes: files by path.
var projects = map[string]map[string]string{
	"bare":              {},
	"code":              {"main.go": "package main\n"},
	"empty settings":    {settingsFile: ""},
	"odd settings":      {settingsFile: "\n {\t\"hooks\" : { \"Stop\" : [ ] , \"x\":[\n\n] } }"},
	"windows settings":  {settingsFile: "{\r\n\t\"hooks\": { }\r\n}\r\n"},
	"hooks of a user":   {settingsFile: "{\n    \"hooks\": {\n        \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./mine\"}]}]\n    }\n}\n"},
	"local settings":    {".claude/settings.local.json": "// whatever", settingsFile: "{}"},
	"other commands":    {commandsDir + "/deploy.md": "deploy\n"},
	"own writ folder":   {".writ/rules/one.md": "rule\n", ".writ/.gitignore": "cache"},
	"ignores already":   {".writ/.gitignore": "install/\ncache/\n"},
	"settings disabled": {settingsFile: "{\"disableAllHooks\": true}"},
}

func TestInstallAndRemoveLeaveNoTrace(t *testing.T) {
	for name, files := range projects {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for path, content := range files {
				write(t, root, path, content)
			}
			if _, ok := files[settingsFile]; ok {
				if err := os.Chmod(filepath.Join(root, settingsFile), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, root)
			if _, err := Init(root, program); err != nil {
				t.Fatal(err)
			}
			installed := tree(t, root)
			if missing, err := claude.Settings.Missing([]byte(load(t, root, settingsFile))); err != nil || len(missing) > 0 {
				t.Fatalf("hooks are missing: %v, %v", missing, err)
			}
			report, err := Init(root, program)
			if err != nil || len(report.Written) > 0 {
				t.Fatalf("the second time: %+v, %v", report, err)
			}
			sameTree(t, "the second installation", installed, tree(t, root))
			if _, err := Uninstall(root); err != nil {
				t.Fatal(err)
			}
			after := tree(t, root)
			if name == "own writ folder" {
				// A line was added to a file of the user's, and stays: it names
				// nothing that exists.
				before[".writ/.gitignore"] = before[".writ/.gitignore"] + "\ninstall/\n"
			}
			sameTree(t, "removal", before, after)
			report, err = Uninstall(root)
			if err != nil || len(report.Removed)+len(report.Written) > 0 {
				t.Fatalf("the second removal: %+v, %v", report, err)
			}
		})
	}
}

func TestANewVersionIsInstalledOverAnOldOne(t *testing.T) {
	root := t.TempDir()
	write(t, root, settingsFile, "{ }\n")
	before := tree(t, root)
	for _, program := range []string{"/old/writ", program, program} {
		if _, err := Init(root, program); err != nil {
			t.Fatal(err)
		}
	}
	for path, content := range tree(t, root) {
		if strings.Contains(content, "/old/writ") {
			t.Errorf("%s still names the old program", path)
		}
	}
	if _, err := Uninstall(root); err != nil {
		t.Fatal(err)
	}
	sameTree(t, "removal", before, tree(t, root))
}

func TestRemovalAfterTheUserChangedThings(t *testing.T) {
	root := t.TempDir()
	write(t, root, settingsFile, "{\n  \"model\": \"opus\"\n}\n")
	if _, err := Init(root, program); err != nil {
		t.Fatal(err)
	}
	settings := load(t, root, settingsFile)
	write(t, root, settingsFile, strings.Replace(settings, "\"opus\"", "\"sonnet\"", 1))
	write(t, root, projectFile, "mode: work\n")
	write(t, root, commandsDir+"/writ-mode.md", load(t, root, commandsDir+"/writ-mode.md")+"more\n")
	report, err := Uninstall(root)
	if err != nil {
		t.Fatal(err)
	}
	if got := load(t, root, settingsFile); got != "{\n  \"model\": \"sonnet\"\n}\n" {
		t.Errorf("settings = %q", got)
	}
	if len(report.Kept) != 2 || load(t, root, parkedFile) != "mode: work\n" {
		t.Errorf("kept %v", report.Kept)
	}
	if _, err := os.Stat(filepath.Join(root, projectFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the project still counts as guarded")
	}
	if _, err := Init(root, program); err != nil {
		t.Fatal(err)
	}
	if got := load(t, root, projectFile); got != "mode: work\n" {
		t.Errorf("the user's settings were not taken up again: %q", got)
	}
	if _, err := os.Stat(filepath.Join(root, parkedFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the parked settings are still there")
	}
}

func TestRemovalInACloneWithoutBackups(t *testing.T) {
	root := t.TempDir()
	write(t, root, settingsFile, "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n")
	if _, err := Init(root, program); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, backupDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Uninstall(root); err != nil {
		t.Fatal(err)
	}
	hooks, err := claude.Installed([]byte(load(t, root, settingsFile)))
	if err != nil || len(hooks) > 0 {
		t.Errorf("hooks left: %v, %v", hooks, err)
	}
	for path := range tree(t, root) {
		if strings.Contains(path, "writ") {
			t.Errorf("%s is left over", path)
		}
	}
}

func TestWhatStandsInTheWayChangesNothing(t *testing.T) {
	link := func(t *testing.T, root, at, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(root, at)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for name, c := range map[string]struct {
		prepare func(*testing.T, string)
		says    string
	}{
		"broken settings":    {func(t *testing.T, r string) { write(t, r, settingsFile, "{\n  \"a\": 1\n  \"b\": 2\n}\n") }, "line 3, column 3"},
		"commented settings": {func(t *testing.T, r string) { write(t, r, settingsFile, "{\n  // mine\n}\n") }, "Remove the comments"},
		"an endless comment": {func(t *testing.T, r string) { write(t, r, settingsFile, "{\n  /* mine\n}\n") }, "a comment that does not end. Repair it"},
		"odd hooks":          {func(t *testing.T, r string) { write(t, r, settingsFile, "{\"hooks\": 1}") }, "is not an object"},
		"a foreign command":  {func(t *testing.T, r string) { write(t, r, commandsDir+"/writ-approve.md", "mine\n") }, "is not Writ's"},
		"linked settings":    {func(t *testing.T, r string) { link(t, r, settingsFile, "elsewhere.json") }, "is a symbolic link to elsewhere.json"},
		"linked folder":      {func(t *testing.T, r string) { link(t, r, ".claude", os.TempDir()) }, "is a symbolic link"},
		"linked own folder":  {func(t *testing.T, r string) { link(t, r, ".writ", os.TempDir()) }, "is a symbolic link"},
		"a file as folder":   {func(t *testing.T, r string) { write(t, r, ".claude", "not a folder") }, "not a"},
		"a folder as file": {func(t *testing.T, r string) {
			if err := os.MkdirAll(filepath.Join(r, settingsFile), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "it is not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			c.prepare(t, root)
			before := tree(t, root)
			_, err := Init(root, program)
			var problem *Problem
			if !errors.As(err, &problem) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error = %v", err)
			}
			sameTree(t, "a refused installation", before, tree(t, root))
		})
	}
}

func TestAReadOnlyFolderChangesNothing(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the super-user may write everywhere")
	}
	root := t.TempDir()
	write(t, root, settingsFile, "{}")
	if err := os.Chmod(filepath.Join(root, ".claude"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(filepath.Join(root, ".claude"), 0o755) }()
	before := tree(t, root)
	if _, err := Init(root, program); err == nil || !strings.Contains(err.Error(), "Make it writable") {
		t.Fatalf("error = %v", err)
	}
	sameTree(t, "a refused installation", before, tree(t, root))
}

func TestStagingFailsAsAWhole(t *testing.T) {
	root := t.TempDir()
	write(t, root, "file", "a file")
	before := tree(t, root)
	_, err := stage([]change{
		{filepath.Join(root, "new", "deep", "one"), []byte("1"), 0o644},
		{filepath.Join(root, "file", "two"), []byte("2"), 0o644},
	})
	if err == nil {
		t.Fatal("it wrote below a file")
	}
	sameTree(t, "failed staging", before, tree(t, root))
}

func TestTheDefaultSettingsAreComments(t *testing.T) {
	for _, line := range strings.Split(defaultProject, "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") {
			t.Errorf("%q sets something", line)
		}
	}
	for _, key := range []string{"mode", "fail", "deny_to_ask", "subagents", "findings"} {
		if !strings.Contains(defaultProject, "\n# "+key+": ") {
			t.Errorf("%s is not shown", key)
		}
	}
}

func TestTheOriginalIsKept(t *testing.T) {
	root := t.TempDir()
	original := []byte("{ \"a\" :1}")
	write(t, root, settingsFile, string(original))
	if _, err := Init(root, program); err != nil {
		t.Fatal(err)
	}
	if kept := load(t, root, originalFile(hosts.Agents[0])); !bytes.Equal([]byte(kept), original) {
		t.Errorf("kept %q", kept)
	}
	if ignored := strings.Fields(load(t, root, ignoreFile)); !slices.Contains(ignored, "install/") {
		t.Errorf("the backups are not ignored: %v", ignored)
	}
}

// Every agent's installation leaves no trace, beside settings of any layout.
func TestAllAgentsLeaveNoTrace(t *testing.T) {
	for name, settings := range map[string]string{
		"none": "", "spaced": "{\n  \"a\": 1\n}\n", "hooks": "{\n\t\"version\": 1,\n\t\"hooks\": { }\n}", "compact": `{"hooks":{"stop":[{"command":"./mine"}]},"version":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, a := range hosts.Agents {
				if a.Settings != "" && settings != "" && a.Name != "copilot" {
					write(t, root, a.Settings, settings)
				}
			}
			before := tree(t, root)
			// One after the other, then all at once: the result is the same.
			for _, a := range hosts.Agents {
				if _, err := Init(root, "/old place/writ", a); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Init(root, program, hosts.Agents...); err != nil {
				t.Fatal(err)
			}
			installed := tree(t, root)
			for _, a := range hosts.Agents {
				hooks, path, err := Hooks(root, a)
				if err != nil || len(hooks) == 0 {
					t.Fatalf("%s: %v in %s, %v", a.Name, hooks, path, err)
				}
				for _, h := range hooks {
					if !strings.Contains(h.Command, program) {
						t.Errorf("%s runs %q", a.Name, h.Command)
					}
				}
			}
			if report, err := Init(root, program, hosts.Agents...); err != nil || len(report.Written)+len(report.Notes) > 0 {
				t.Fatalf("the second time: %+v, %v", report, err)
			}
			sameTree(t, "the second installation", installed, tree(t, root))
			if _, err := Uninstall(root); err != nil {
				t.Fatal(err)
			}
			sameTree(t, "removal", before, tree(t, root))
		})
	}
}

func TestAgentsAreDetected(t *testing.T) {
	root := t.TempDir()
	has := func(programs ...string) func(string) bool {
		return func(program string) bool { return slices.Contains(programs, program) }
	}
	check := func(what string, installed func(string) bool, want, wantOthers string) {
		t.Helper()
		found, others := Detect(root, installed)
		if got := names(found); got != want || names(others) != wantOthers {
			t.Errorf("%s: %s, others %s", what, got, names(others))
		}
	}
	check("a bare project", has(), "claude", "")
	check("a bare project, others are installed", has("codex", "cursor-agent"), "cursor codex", "")
	write(t, root, ".cursor/rules/a.mdc", "x")
	write(t, root, "opencode.json", "{}")
	check("traces", has(), "cursor opencode", "")
	check("traces, and one is installed besides", has("claude", "cursor"), "cursor opencode", "claude")
	if _, unknown := hosts.Named("codex", "emacs"); unknown != "emacs" {
		t.Errorf("unknown %q", unknown)
	}
}

func names(agents []settings.Agent) string {
	var all []string
	for _, a := range agents {
		all = append(all, a.Name)
	}
	return strings.Join(all, " ")
}

// What a project is given can be committed: it says the same on every machine,
// takes the place of a path that does not, and goes without a trace.
func TestWhatIsWrittenNamesNoMachine(t *testing.T) {
	root := t.TempDir()
	write(t, root, settingsFile, "{\n  \"model\": \"opus\"\n}\n")
	before := tree(t, root)
	for _, program := range []string{"/home/dev/bin/writ", settings.AtHome, settings.AtHome} {
		if _, err := Init(root, program, hosts.Agents...); err != nil {
			t.Fatal(err)
		}
	}
	for path, content := range tree(t, root) {
		if strings.Contains(content, "/home/dev") {
			t.Errorf("%s names a path of one machine:\n%s", path, content)
		}
	}
	for _, a := range hosts.Agents {
		hooks, path, err := Hooks(root, a)
		if err != nil || len(hooks) == 0 {
			t.Fatalf("%s: %v in %s, %v", a.Name, hooks, path, err)
		}
		for _, h := range hooks {
			if len(h.Args) > 0 || !strings.Contains(h.Command, `"$HOME/.local/share/writ/writ" hook `+a.Name+" ") {
				t.Errorf("%s runs %q %q", a.Name, h.Command, h.Args)
			}
		}
	}
	report, err := Init(root, settings.AtHome, hosts.Agents...)
	if err != nil || len(report.Written) > 0 {
		t.Fatalf("again: %+v, %v", report, err)
	}
	if _, err := Uninstall(root); err != nil {
		t.Fatal(err)
	}
	sameTree(t, "removal", before, tree(t, root))
}

func TestTheReportCountsLines(t *testing.T) {
	root := t.TempDir()
	write(t, root, settingsFile, "{\n  \"hooks\": {}\n}\n")
	report, err := Init(root, program)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(report.Changes, func(c Change) bool { return c.Path == settingsFile })
	if c := report.Changes[at]; c.New || c.Added < 50 || c.Removed != 1 {
		t.Errorf("settings: %+v", c)
	}
	at = slices.IndexFunc(report.Changes, func(c Change) bool { return c.Path == projectFile })
	if c := report.Changes[at]; !c.New || c.Added != strings.Count(defaultProject, "\n") || c.Removed != 0 {
		t.Errorf("the project's: %+v", c)
	}
}

func TestSettingsOfOthersDoNotStopARemoval(t *testing.T) {
	root := t.TempDir()
	if _, err := Init(root, program); err != nil {
		t.Fatal(err)
	}
	write(t, root, ".gemini/settings.json", "{\n  // mine\n}\n")
	if _, err := Uninstall(root); err != nil {
		t.Error(err)
	}
}
