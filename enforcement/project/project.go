// Package project tells what decisions need to know about a guarded project as
// it lies on the disk: its settings, its layout with symlinks resolved, the
// languages it is written in, and its files as they stand.
//
// It guarantees that nothing here waits for a pipe in a file's place, that no
// more of a file is held than [MaxRead], and that settings which cannot be read
// are the strict defaults, with the problem beside them. It writes nothing and
// decides nothing.
package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
)

// Settings are what a project asks of its gates and of what is told its agents.
type Settings struct {
	Policy       enforcement.Settings
	Mode         string        // that sessions start in, "" for one to be declared
	Findings     string        // the file, relative to the root, that review mode may write
	BudgetTokens int           // of the rules that go with a prompt
	Domains      []string      // of rules, none for those of its languages
	RunTests     bool          // pending tests run when an agent ends its turn
	TestCommand  string        // "" for the one of the changed files' languages
	TestTimeout  time.Duration // of one run
	TestWait     time.Duration // of a turn's end, for one
	Memory       bool          // prompts bring what was observed, transcripts are observed
	Files        bool          // the first prompt brings files of the project's index
	Waits        []string      // what the file asks for that nobody accepted, "key: was → is"
}

// Project is a guarded project.
type Project struct {
	Root      string // absolute, symlinks resolved
	Settings  Settings
	Layout    enforcement.Layout
	Languages []string // it is written in, as far as its root tells
	// Subjects are the technologies it uses besides, as far as its root tells.
	Subjects []string
	Problem  error // of the settings, which are then the defaults
}

// Options say where projects are read from.
type Options struct {
	DataDir string
	// File is the settings file, relative to a project's root, and Load reads it.
	// With an error the settings are the strict defaults.
	File string
	Load func(root string) (Settings, error)
	// SettingsRoot is the root whose file rules a project; nil for its own.
	SettingsRoot func(root string) string
	// Trees are the other work trees of a project's repository; nil for none.
	Trees func(root string) []string
	Now   func() time.Time
}

// Cache keeps what every hook call needs to know of its project. An entry holds
// while the settings file is the same, and for a few seconds at most, since
// folders and links can change too.
type Cache struct {
	options Options

	mu      sync.Mutex
	entries map[string]*entry
}

type entry struct {
	sync.Mutex // held while the project is read, which those who come meanwhile wait for
	Project
	as
}

// as is how a project was found.
type as struct {
	read  time.Time
	trees time.Time // when a work tree was added or removed last
	mtime time.Time
	size  int64
}

const (
	// keptFor is how long an entry holds.
	keptFor = 5 * time.Second
	// keptProjects bounds the projects that are remembered.
	keptProjects = 256
)

// NewCache returns an empty cache.
func NewCache(o Options) *Cache { return &Cache{options: o, entries: map[string]*entry{}} }

// Forget makes the next call read every project anew.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

// At returns a project's settings and layout.
func (c *Cache) At(root, home string) Project {
	is := as{read: c.options.Now()}
	if info, err := os.Stat(c.options.file(root)); err == nil {
		is.mtime, is.size = info.ModTime(), info.Size()
	}
	if info, err := os.Stat(filepath.Join(root, ".git", "worktrees")); err == nil {
		is.trees = info.ModTime()
	}
	c.mu.Lock()
	one, known := c.entries[root+"\x00"+home]
	if !known {
		if len(c.entries) >= keptProjects {
			clear(c.entries)
		}
		one = &entry{}
		c.entries[root+"\x00"+home] = one
	}
	c.mu.Unlock()
	// One project on a disk that does not answer must not hold up the others.
	one.Lock()
	defer one.Unlock()
	if !one.mtime.Equal(is.mtime) || !one.trees.Equal(is.trees) || one.size != is.size || is.read.Sub(one.read) >= keptFor {
		one.Project, one.as = c.options.Read(root, home), is
	}
	return one.Project
}

// Read reads a project anew.
func (o Options) Read(root, home string) Project {
	p := o.Bare(root, home)
	p.Languages, p.Subjects = Uses(p.Root)
	p.Settings, p.Problem = o.Load(root)
	if _, err := os.Stat(o.file(root)); errors.Is(err, fs.ErrNotExist) {
		p.Problem = fmt.Errorf("%s is gone from %s. Restore it (git checkout, or writ init); to end the guard use writ uninstall", o.File, root)
	}
	if o.Trees != nil {
		p.Layout.Trees = o.Trees(p.Root)
	}
	p.Layout.HookScripts = hookScripts(p.Root)
	p.Layout.Findings = filepath.ToSlash(p.Settings.Findings)
	p.Layout.CaseInsensitive = foldsCase(p.Root)
	return p
}

// foldsCase reports whether names of a project that differ in case are one: on
// Linux, of a disk of another system, or a folder that was made so.
func foldsCase(root string) bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return true
	}
	for _, name := range []string{".writ", ".git"} {
		is, err := os.Stat(filepath.Join(root, name))
		other, otherErr := os.Stat(filepath.Join(root, strings.ToUpper(name)))
		if err == nil && otherErr == nil && os.SameFile(is, other) {
			return true
		}
	}
	return false
}

// file is where the settings of a project lie.
func (o Options) file(root string) string {
	if o.SettingsRoot != nil {
		root = o.SettingsRoot(root)
	}
	return filepath.Join(root, o.File)
}

// Bare is a folder that is no guarded project: it has a layout and no settings.
func (o Options) Bare(root, home string) Project {
	root = Resolved(root)
	return Project{Root: root, Layout: enforcement.Layout{
		Project: filepath.ToSlash(root), Home: filepath.ToSlash(Resolved(home)),
		DataDir: filepath.ToSlash(Resolved(o.DataDir)), Temp: tempFolders(), Absent: absent,
	}}
}

func absent(dir string) bool {
	info, err := os.Stat(filepath.FromSlash(dir))
	return err != nil || !info.IsDir()
}

func tempFolders() []string {
	var folders []string
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if dir = filepath.ToSlash(Resolved(dir)); !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// Resolved follows symlinks where the path exists, and cleans it where not.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Readlink returns what a symlink names, in slashes; ok is false where there is none.
func Readlink(path string) (target string, ok bool) {
	target, err := os.Readlink(filepath.FromSlash(path))
	return filepath.ToSlash(target), err == nil
}

// Target resolves a path as a tool named it and says what it is.
func (p Project) Target(path, dir string) schemas.Target {
	dir = cmp.Or(dir, p.Root)
	dir = filepath.ToSlash(dir)
	abs := enforcement.Resolve(filepath.ToSlash(path), dir, p.Layout.Home, enforcement.LinksFrom(dir, Readlink))
	return enforcement.Classify(p.Layout, abs)
}

// Readings are other places that a path may stand for than its target: as it is
// written, its links apart; with its dots before its links, as many programs
// read it; and with a link at its end replaced by a file. Only those are told that
// are of another class, and the plan's files.
func (p Project) Readings(written, dir string, target schemas.Target) []schemas.Target {
	dir = cmp.Or(dir, p.Root)
	text := enforcement.Resolve(filepath.ToSlash(written), filepath.ToSlash(dir), p.Layout.Home, nil)
	if text == target.Path {
		return nil
	}
	resolved := func(text string) string { return enforcement.Resolve(text, "", "", Readlink) }
	places := []string{resolved(text), path.Join(resolved(path.Dir(text)), path.Base(text))}
	for i := range text {
		if i > 0 && text[i] == '/' && resolved(text[:i]) == p.Layout.Project {
			places = append(places, p.Layout.Project+text[i:])
			break
		}
	}
	var all []schemas.Target
	for _, place := range places {
		if t := enforcement.Classify(p.Layout, place); t.Path != target.Path && (t.Class != target.Class || t.Class == enforcement.ClassPlan) && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// WorkTree is the repository that holds a folder, "" for none.
func WorkTree(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) && err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
