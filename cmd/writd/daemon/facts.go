package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/approval"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// maxRead bounds what is read of one project file to judge it. Plans and test
// files are far smaller; a larger file is hashed, not held.
const maxRead = 4 << 20

// project is what decisions need to know about the guarded project.
type project struct {
	root     string // absolute, symlinks resolved
	settings config.Project
	layout   enforcement.Layout
	language []string // languages it is written in, as far as its root tells
	problem  error    // of the settings, which are then the defaults
}

// projectCache keeps what every hook call needs to know of its project. An
// entry holds while the settings file is the same, and for projectAge at most,
// since folders and links can change too.
type projectCache struct {
	mu      sync.Mutex
	entries map[string]cachedProject
}

type cachedProject struct {
	project
	read  time.Time
	mtime time.Time
	size  int64
}

const projectAge = 5 * time.Second

// keptProjects bounds the projects that are remembered.
const keptProjects = 256

// projectAt returns a project's settings and layout.
func (d *Daemon) projectAt(root, home string) project {
	at := cachedProject{read: d.now()}
	if info, err := os.Stat(filepath.Join(root, config.ProjectFile)); err == nil {
		at.mtime, at.size = info.ModTime(), info.Size()
	}
	key := root + "\x00" + home
	d.projects.mu.Lock()
	have, known := d.projects.entries[key]
	d.projects.mu.Unlock()
	if known && have.mtime.Equal(at.mtime) && have.size == at.size && at.read.Sub(have.read) < projectAge {
		return have.project
	}
	// One project on a disk that does not answer must not hold up the others.
	at.project = d.readProject(root, home)
	d.projects.mu.Lock()
	defer d.projects.mu.Unlock()
	if len(d.projects.entries) >= keptProjects {
		clear(d.projects.entries)
	}
	d.projects.entries[key] = at
	return at.project
}

func (d *Daemon) readProject(root, home string) project {
	p := project{root: resolved(root)}
	p.language = languagesOf(p.root)
	p.settings, p.problem = config.LoadProject(root)
	if _, err := os.Stat(filepath.Join(root, config.ProjectFile)); errors.Is(err, fs.ErrNotExist) {
		p.problem = fmt.Errorf("%s is gone from %s. Restore it (git checkout, or writ init); to end the guard use writ uninstall", config.ProjectFile, root)
	}
	p.layout = enforcement.Layout{
		Project: filepath.ToSlash(p.root), Home: filepath.ToSlash(resolved(home)),
		DataDir: filepath.ToSlash(resolved(d.layout.Root)), Temp: tempFolders(),
		Findings:        filepath.ToSlash(p.settings.Findings),
		CaseInsensitive: runtime.GOOS == "darwin" || runtime.GOOS == "windows",
	}
	return p
}

func (p project) policy() enforcement.Settings {
	s := enforcement.DefaultSettings()
	s.DenyToAsk = p.settings.DenyToAsk
	s.Subagents = p.settings.Subagents
	s.MCPWriters = p.settings.MCPWriters
	s.AllowUnsourcedPrompts = p.settings.UnsourcedPrompts == "allow"
	s.AdvanceOnGreen = p.settings.AdvanceOnGreen
	s.RequireWork = p.settings.RequireWork
	s.Phrases = approval.Phrases{Approve: p.settings.ApprovalPhrases}
	return s
}

func tempFolders() []string {
	var folders []string
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if dir = filepath.ToSlash(resolved(dir)); !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// resolved follows symlinks where the path exists, and cleans it where not.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

func readlink(path string) (string, bool) {
	target, err := os.Readlink(filepath.FromSlash(path))
	return filepath.ToSlash(target), err == nil
}

// target resolves a path as a tool named it and says what it is.
func (p project) target(path, dir string) schemas.Target {
	if dir == "" {
		dir = p.root
	}
	abs := enforcement.Resolve(filepath.ToSlash(path), filepath.ToSlash(dir), p.layout.Home, readlink)
	return enforcement.Classify(p.layout, abs)
}

// targets turns the writes of a call into targets with the content they would
// leave.
func (p project) targets(c host.Call) []schemas.Target {
	var targets []schemas.Target
	for _, w := range c.Writes {
		t := p.target(w.Path, c.Dir)
		t.Result = resultOf(w, t.Path)
		targets = append(targets, t)
	}
	return targets
}

// resultOf is the SHA-256 of what a write would leave, "" where it cannot be
// told.
func resultOf(w host.Write, path string) string {
	if w.Content != nil && !w.Opaque {
		return digest([]byte(*w.Content))
	}
	before, err := readBounded(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if after, known := contentAfter(w, before, err == nil); known {
		return digest(after)
	}
	return ""
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// maxHashed bounds what is hashed within a hook's time.
const maxHashed = 64 << 20

// openRegular opens a regular file. It never waits: opening a pipe that somebody
// put in a file's place would, for ever.
func openRegular(path string) (*os.File, int64, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, 0, err
	} else if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("daemon: %s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("daemon: %s is not a regular file", path)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func readBounded(path string) ([]byte, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err == nil && len(content) > maxRead {
		return nil, fmt.Errorf("daemon: %s is over %d bytes", path, maxRead)
	}
	return content, err
}

// fileState is a file of the project as it stands; found is false where there
// is none, or none that can be read.
func (p project) fileState(rel string) (state schemas.FileState, found bool) {
	path := rel
	if !filepath.IsAbs(rel) {
		path = filepath.Join(p.root, filepath.FromSlash(rel))
	}
	f, size, err := openRegular(path)
	if err != nil {
		return schemas.FileState{Path: rel}, false
	}
	defer func() { _ = f.Close() }()
	if size > maxHashed {
		// No hash of a content is of this form, so it is never the approved one.
		return schemas.FileState{Path: rel, SHA256: fmt.Sprintf("over %d bytes", maxHashed), Bytes: size}, true
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return schemas.FileState{Path: rel}, false
	}
	return schemas.FileState{Path: rel, SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, true
}

// watched is the workspace that every decision on a write needs: the approved
// files as they stand.
func (d *Daemon) watched(p project, s enforcement.State) enforcement.Workspace {
	ws := enforcement.Workspace{Files: map[string]schemas.FileState{}, Known: d.ruleExists}
	for _, rel := range s.Watched() {
		if state, found := p.fileState(rel); found {
			ws.Files[rel] = state
		}
	}
	return ws
}

// workspace is what watched is, with what the session's own workers left.
func (d *Daemon) workspace(ctx context.Context, p project, id string, s enforcement.State) enforcement.Workspace {
	ws := d.watched(p, s)
	ws.Left, _ = d.workers(ctx, id, s)
	return ws
}

// approvable is the workspace that an approval needs: also the contents of what
// would be approved.
func (d *Daemon) approvable(ctx context.Context, p project, id string, s enforcement.State) enforcement.Workspace {
	ws := d.watched(p, s)
	ws.Tests = map[string][]byte{}
	left, theirs := d.workers(ctx, id, s)
	ws.Left = left
	tests := append(theirs, s.TestFiles()...)
	for _, rel := range append(theirs, s.ApprovalFiles()...) {
		state, found := p.fileState(rel)
		if !found {
			continue
		}
		ws.Files[rel] = state
		wanted := rel == enforcement.PlanFile || rel == enforcement.CapabilitiesFile || slices.Contains(tests, rel)
		if !wanted {
			continue
		}
		content, err := readBounded(filepath.Join(p.root, filepath.FromSlash(rel)))
		if err != nil {
			continue
		}
		// What is judged and what is fingerprinted must be one and the same.
		ws.Files[rel] = schemas.FileState{Path: rel, SHA256: digest(content), Bytes: int64(len(content))}
		switch rel {
		case enforcement.PlanFile:
			ws.Plan = content
		case enforcement.CapabilitiesFile:
			ws.Capabilities = content
		default:
			ws.Tests[rel] = content
		}
	}
	return ws
}

// ruleExists tells whether a plan may cite a rule.
func (d *Daemon) ruleExists(id string) bool {
	_, found := d.corpus.Current().Document(id)
	return found
}
