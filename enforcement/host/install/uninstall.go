package install

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/host/settings"
	"github.com/writbus/writ/schemas/digest"
)

// Uninstall takes Writ out of a project, for all agents. The hooks go first:
// whatever fails later, nothing is left that could block.
func Uninstall(root string) (Report, error) {
	r := &removal{root: root, before: map[string]*manifest{}, report: Report{Root: root}}
	for _, a := range hosts.Agents {
		before, err := loadManifest(root, a)
		if err != nil {
			return Report{Root: root}, err
		}
		if before != nil {
			r.before[a.Name] = before
		}
	}
	for _, step := range []func() error{r.hooks, r.project, r.rest} {
		if err := step(); err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

type removal struct {
	root   string
	before map[string]*manifest // by agent; those that were lost are missing
	report Report
}

func (r *removal) path(rel string) string { return filepath.Join(r.root, filepath.FromSlash(rel)) }

func (r *removal) hooks() error {
	for _, a := range hosts.Agents {
		if err := r.settings(a); err != nil {
			return err
		}
	}
	for _, a := range hosts.Agents {
		if err := r.own(a); err != nil {
			return err
		}
	}
	return nil
}

func (r *removal) settings(a settings.Agent) error {
	if a.Settings == "" {
		return nil
	}
	before := r.before[a.Name]
	is, exists, err := read(r.root, a.Settings)
	if before == nil && err != nil {
		return nil // not a file Writ could have put there
	}
	if err != nil || !exists {
		return err
	}
	original, hasOriginal, err := read(r.root, originalFile(a))
	if err != nil {
		return err
	}
	if before != nil && before.SettingsAfter == digest.Hex(is) {
		if !before.SettingsExisted {
			return r.remove(a.Settings)
		}
		if hasOriginal {
			return r.write(a.Settings, is, original)
		}
	}
	rest, err := a.Host.Remove(is, original)
	if err != nil && before == nil && !bytes.Contains(is, []byte("writ")) {
		return nil // somebody else's file, which Writ was never put into
	}
	if err != nil {
		return settingsProblem(r.path(a.Settings), a.Title, err)
	}
	if before != nil && !before.SettingsExisted && settings.Empty(rest) {
		return r.remove(a.Settings)
	}
	return r.write(a.Settings, is, rest)
}

// project removes the project's settings, whose presence is what makes a hook
// look at a project at all. Those the user changed are kept aside.
func (r *removal) project() error {
	content, exists, err := read(r.root, projectFile)
	if err != nil || !exists {
		return err
	}
	if string(content) == defaultProject || r.untouched(projectFile, content) {
		return r.remove(projectFile)
	}
	if err := os.Rename(r.path(projectFile), r.path(parkedFile)); err != nil {
		return cannotWrite(r.path(projectFile), err)
	}
	r.report.Removed = append(r.report.Removed, projectFile)
	r.report.Kept = append(r.report.Kept, parkedFile+" (your settings; `writ init` takes them up again)")
	return nil
}

// own removes the files that are Writ's as a whole. Those a user changed stay,
// unless they are the hooks themselves.
func (r *removal) own(a settings.Agent) error {
	for _, f := range a.Own("") {
		content, exists, err := read(r.root, f.Path)
		switch {
		case err != nil && r.before[a.Name] == nil:
		case err != nil:
			return err
		case !exists || !f.Own(content):
		case a.Settings != "" && r.before[a.Name] != nil && !r.untouched(f.Path, content):
			r.report.Kept = append(r.report.Kept, f.Path+" (changed since it was installed)")
		default:
			if err := r.remove(f.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// rest removes the backups, and folders that are empty and were not there.
func (r *removal) rest() error {
	if content, exists, err := read(r.root, ignoreFile); err == nil && exists && string(content) == ignored {
		if err := r.remove(ignoreFile); err != nil {
			return err
		}
	}
	dirs := []string{".writ", backupDir}
	for _, a := range hosts.Agents {
		for _, rel := range []string{originalFile(a), manifestFile(a)} {
			if err := removeFile(r.path(rel)); err != nil {
				return err
			}
		}
		if r.before[a.Name] == nil {
			continue
		}
		for _, dir := range r.before[a.Name].Dirs {
			if filepath.IsLocal(dir) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	// The longer path first, so that a folder is empty when its turn comes.
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, dir := range dirs {
		_ = os.Remove(r.path(dir))
	}
	return nil
}

func (r *removal) untouched(rel string, content []byte) bool {
	for _, before := range r.before {
		if before.Files[rel] == digest.Hex(content) {
			return true
		}
	}
	return false
}

func (r *removal) remove(rel string) error {
	if err := removeFile(r.path(rel)); err != nil {
		return err
	}
	r.report.Removed = append(r.report.Removed, rel)
	return nil
}

func (r *removal) write(rel string, is, content []byte) error {
	if bytes.Equal(is, content) {
		return nil
	}
	changes := []change{{r.path(rel), content, 0o644}}
	s, err := stage(changes)
	if err != nil {
		return err
	}
	r.report.Written = append(r.report.Written, rel)
	return s.commit(changes)
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Problem{"remove " + path, err.Error(), "Make it writable for you and run this again."}
	}
	return nil
}
