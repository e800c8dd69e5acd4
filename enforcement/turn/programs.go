package turn

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/project"
)

// runsOwn reports whether a program of a plain line is found where an agent may
// write at some time – in the project, a temp folder or a cache – so that its name
// says nothing of what it does, or is git and may run one from there. Writ's own
// client may lie anywhere.
func (t turn) runsOwn(dir, writ string) bool {
	commands := enforcement.PlainCommands(*t.Shell)
	for _, words := range commands {
		if at := t.searched(words[0], dir); at != "" && t.writable(at) && !sameFile(at, writ) {
			return true
		}
	}
	return slices.ContainsFunc(commands, gitOf) && !t.gitReadsAlone(commands, dir)
}

func gitOf(words []string) bool { return words[0] == "git" }

// gitReadsAlone reports whether git runs nothing that the project chose, in each
// folder that the line may stand in: a change of folder may fail.
func (t turn) gitReadsAlone(commands [][]string, dir string) bool {
	folders := []string{dir}
	for _, words := range commands {
		switch {
		case words[0] == "cd" && len(words) == 2 && len(folders) < maxFolders:
			for _, from := range folders {
				to := words[1]
				if !filepath.IsAbs(to) {
					to = filepath.Join(from, to)
				}
				folders = append(folders, to)
			}
		case words[0] == "cd", gitOf(words) && slices.ContainsFunc(words, entersOthers):
			return false
		}
	}
	return !slices.ContainsFunc(folders, func(folder string) bool {
		root := project.WorkTree(folder)
		if root != "" {
			below, err := filepath.Rel(root, t.project.Root)
			if err != nil || !filepath.IsLocal(below) {
				return true // a repository below the project's is an agent's to set up
			}
		}
		return !worktree.GitReadsAlone(root, folder)
	})
}

// maxFolders bounds the folders in which a line's commands are looked at.
const maxFolders = 8

// entersOthers reports an option that has git look into other repositories.
func entersOthers(word string) bool {
	return strings.HasPrefix(word, "--su") || strings.HasPrefix(word, "--rec")
}

// searched is the program of a name as a shell finds it from a folder, "" for none.
func (t turn) searched(name, dir string) string {
	for _, folder := range t.path {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder) // "" is the working folder
		}
		at := filepath.Join(folder, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// writable says that a file lies where an agent may write at some time, by its path
// or where that leads.
func (t turn) writable(path string) bool {
	path = filepath.ToSlash(path)
	for _, at := range []string{path, enforcement.Resolve(path, "", "", project.Readlink)} {
		if enforcement.Classify(t.project.Layout, at).Class != enforcement.ClassOutside || strings.Contains(at, "/.cache/") {
			return true
		}
	}
	return false
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, errOther := os.Stat(b)
	return err == nil && errOther == nil && os.SameFile(one, other)
}
