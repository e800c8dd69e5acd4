package install

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/writbus/writ/cmd/writ/cli/claude"
)

// Uninstall takes Writ out of a project. The hooks go first: whatever fails
// later, nothing is left that could block.
func Uninstall(root string) (Report, error) {
	before, err := loadManifest(root)
	if err != nil {
		return Report{Root: root}, err
	}
	r := &removal{root: root, before: before, report: Report{Root: root}}
	for _, step := range []func() error{r.settings, r.project, r.commands, r.rest} {
		if err := step(); err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

type removal struct {
	root   string
	before *manifest // nil where it was lost
	report Report
}

func (r *removal) path(rel string) string { return filepath.Join(r.root, filepath.FromSlash(rel)) }

func (r *removal) settings() error {
	is, exists, err := read(r.path(settingsFile))
	if err != nil || !exists {
		return err
	}
	original, hasOriginal, err := read(r.path(originalFile))
	if err != nil {
		return err
	}
	if r.before != nil && r.before.SettingsAfter == digest(is) {
		if !r.before.SettingsExisted {
			return r.remove(settingsFile)
		}
		if hasOriginal {
			return r.write(settingsFile, is, original)
		}
	}
	rest, err := claude.Remove(is, original)
	if err != nil {
		return settingsProblem(r.path(settingsFile), err)
	}
	if r.before != nil && !r.before.SettingsExisted && claude.Empty(rest) {
		return r.remove(settingsFile)
	}
	return r.write(settingsFile, is, rest)
}

// project removes the project's settings, whose presence is what makes a hook
// look at a project at all. Those the user changed are kept aside.
func (r *removal) project() error {
	content, exists, err := read(r.path(projectFile))
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

func (r *removal) commands() error {
	for _, c := range claude.Commands("") {
		rel := commandsDir + "/" + c.Name
		content, exists, err := read(r.path(rel))
		switch {
		case err != nil:
			return err
		case !exists || !claude.OwnCommand(content):
		case r.before != nil && !r.untouched(rel, content):
			r.report.Kept = append(r.report.Kept, rel+" (changed since it was installed)")
		default:
			if err := r.remove(rel); err != nil {
				return err
			}
		}
	}
	return nil
}

// rest removes the backups, and folders that are empty and were not there.
func (r *removal) rest() error {
	if content, exists, err := read(r.path(ignoreFile)); err == nil && exists && string(content) == ignored {
		if err := r.remove(ignoreFile); err != nil {
			return err
		}
	}
	for _, rel := range []string{originalFile, manifestFile} {
		if err := removeFile(r.path(rel)); err != nil {
			return err
		}
	}
	dirs := []string{".writ", backupDir}
	if r.before != nil {
		for _, dir := range r.before.Dirs {
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
	return r.before != nil && r.before.Files[rel] == digest(content)
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

func rewrite(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}
