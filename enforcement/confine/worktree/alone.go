package worktree

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/confine"
)

// maxAlone bounds the files of git that [GitReadsAlone] looks through, in bytes.
const maxAlone = 32 << 20

// GitReadsAlone reports whether git, started in a folder to read the work tree at
// root, runs no program that the work tree chose: no other repository lies on the
// way, the settings name no program and include no file, and no repository is
// part of this one, which git would ask with the settings of that. Where root is
// "" there is no work tree. What cannot be told is false.
func GitReadsAlone(root, dir string) bool {
	if root == "" {
		return ownsFolders(filepath.VolumeName(dir)+string(filepath.Separator), dir)
	}
	if !ownsFolders(root, dir) {
		return false
	}
	folders := confine.GitFolders(root)
	if info, err := os.Lstat(filepath.Join(root, ".git")); err == nil && info.IsDir() {
		folders = []string{filepath.Join(root, ".git")}
	}
	for _, folder := range folders {
		for _, name := range []string{"config", "config.worktree"} {
			raw, err := readBounded(filepath.Join(folder, name))
			if err != nil && !os.IsNotExist(err) || namesPrograms(raw) {
				return false
			}
		}
	}
	if len(folders) == 0 {
		return false
	}
	raw, err := readBounded(filepath.Join(folders[0], "index"))
	return os.IsNotExist(err) || err == nil && !hasRepositories(raw)
}

// ownsFolders reports whether git finds no other repository on the way from a
// folder up to the root: neither a .git nor a bare one.
func ownsFolders(root, dir string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	root, errRoot := filepath.EvalSymlinks(root)
	if err != nil || errRoot != nil {
		return false
	}
	for ; dir != root; dir = filepath.Dir(dir) {
		if len(dir) <= len(root) {
			return false
		}
		for _, name := range []string{".git", "HEAD"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); !os.IsNotExist(err) {
				return false
			}
		}
	}
	return true
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxAlone:
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// programs are the last parts of settings by which git's reading commands run a
// program, take more settings, or look elsewhere.
var programs = []string{
	"fsmonitor", "hookspath", "pager", "command", "textconv", "external", "clean", "smudge", "process", "program", "path",
	"sshcommand", "gitproxy", "uploadpack", "helper", "askpass", "worktree", "submodule", "defaultkeycommand", "alternaterefscommand", "allow",
}

// namesPrograms reports whether settings may name a program or a file with more of
// them. The forms of git's large-file support and truth values are none.
func namesPrograms(settings []byte) bool {
	for line := range strings.Lines(strings.ToLower(string(settings))) {
		for setting := line; ; {
			if namesProgram(setting) {
				return true
			}
			_, rest, more := strings.Cut(setting, "]") // a setting may stand behind its section
			if !more {
				break
			}
			setting = rest
		}
	}
	return false
}

func namesProgram(setting string) bool {
	key, value, _ := strings.Cut(setting, "=")
	value = strings.TrimSpace(value)
	return slices.Contains(programs, strings.TrimSpace(key)) && value != "true" && value != "false" && !strings.HasPrefix(value, "git-lfs ")
}

// gitlink is the mode of an entry that stands for another repository.
const gitlink = 0o160000

// hasRepositories reports whether an index has entries that are repositories, or
// entries that are not in it.
func hasRepositories(raw []byte) bool {
	if len(raw) < indexHeader || !bytes.HasPrefix(raw, []byte("DIRC")) {
		return true
	}
	version, count := binary.BigEndian.Uint32(raw[4:]), binary.BigEndian.Uint32(raw[8:])
	if version < 2 || version > 4 {
		return true
	}
	rest := raw[indexHeader:]
	var last []byte
	for range count {
		if len(rest) < indexFixed+2 || binary.BigEndian.Uint32(rest[24:]) == gitlink {
			return true
		}
		fixed := indexFixed
		if binary.BigEndian.Uint16(rest[60:])&0x4000 != 0 {
			fixed += 2
		}
		name, next, ok := indexName(rest, fixed, version, last)
		if !ok {
			return true
		}
		last, rest = name, rest[next:]
	}
	return bytes.HasPrefix(rest, []byte("link"))
}
