package gitcommit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/lazyregexp"
)

const (
	// hookName is the one hook of git's that Writ uses: it runs for commits and for
	// merges, knows what is committed, and can add to the message.
	hookName = "commit-msg"
	// mark is in every line or file that Writ puts there (persisted; never
	// change).
	mark = "# writ git"
	// before ends the name of the hook that was there before Writ's, which runs
	// first (persisted; never change).
	before = ".before-writ"
	// TrailerSession begins the trailer of a message that names a session (persisted;
	// never change).
	TrailerSession = "Writ-Session"
	// TrailerLog begins the one that names the log (persisted; never change).
	TrailerLog = "Writ-Log"
)

// script is the hook in a folder of hooks. The hook that was there before keeps
// its folder, since many find their own files by it.
const script = `#!/bin/sh
` + mark + `: made by writ git install, taken away by writ git uninstall
if [ -x "$0` + before + `" ]; then
  "$0` + before + `" "$@" || exit $?
fi
` + ask + "\n"

// ask asks Writ, where it is installed.
const ask = `if command -v writ >/dev/null 2>&1; then writ git hook "$1"; fi ` + mark

var huskyFolder = lazyregexp.New(`(^|/)\.husky(/_)?$`)

// ErrShared is returned by HookOf for hooks that other repositories use, too.
var ErrShared = errors.New("core.hooksPath leads out of the repository")

// Hook is the file of a hook in its place. With husky that is one of the project's,
// which git does not run itself.
type Hook struct {
	Path  string
	Husky bool
}

// HookOf finds the place of the repository's hook. It returns ErrShared where that
// is outside of it, but for shared, or what git says.
func (r Repository) HookOf(ctx context.Context, shared bool) (Hook, error) {
	top, err := r.Git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return Hook{}, err
	}
	common, err := r.Git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return Hook{}, err
	}
	folder, err := r.Git(ctx, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err != nil {
		return Hook{}, err
	}
	inside := func(dir string) bool {
		rel, err := filepath.Rel(dir, folder)
		return err == nil && filepath.IsLocal(rel)
	}
	if !inside(top) && !inside(common) && !shared {
		return Hook{}, fmt.Errorf("%w, to %s", ErrShared, folder)
	}
	if slashed := filepath.ToSlash(folder); huskyFolder.MatchString(slashed) {
		return Hook{filepath.Join(filepath.FromSlash(strings.TrimSuffix(slashed, "/_")), hookName), true}, nil
	}
	return Hook{filepath.Join(folder, hookName), false}, nil
}

// Install puts the hook in its place; one that is there is kept beside it. It says
// what it did.
func (h Hook) Install() (said string, err error) {
	at, husky := h.Path, h.Husky
	there, err := os.ReadFile(at)
	switch {
	case err == nil && bytes.Contains(there, []byte(mark)):
		return "installed already", nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return "", err
	}
	if husky {
		if len(there) > 0 && !bytes.HasSuffix(there, []byte("\n")) {
			there = append(there, '\n')
		}
		return "the line of Writ is in it; commit it for the others", atomicfile.Write(at, append(there, ask+"\n"...), 0o755)
	}
	said = "installed"
	if err == nil {
		info, err := os.Stat(at)
		if err != nil {
			return "", err
		}
		if _, err := os.Lstat(at + before); err == nil {
			return "", fmt.Errorf("%s holds the hook of an earlier installation, and another one lies in its place now. Put what of both you want into %s, remove the other file, and install again", at+before, at)
		}
		if err := atomicfile.Write(at+before, there, info.Mode().Perm()); err != nil {
			return "", err
		}
		said = "installed; the hook that was there runs first, from " + filepath.Base(at) + before
	}
	return said, atomicfile.Write(at, []byte(script), 0o755)
}

// Absent is what Uninstall says where there is nothing to undo.
const Absent = "Writ is not in it"

// Uninstall undoes Install. A hook that somebody changed loses the lines of Writ
// alone. It says what it did.
func (h Hook) Uninstall() (said string, err error) {
	at, husky := h.Path, h.Husky
	there, err := os.ReadFile(at)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(there, []byte(mark)) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	if husky || string(there) != script {
		kept := strings.Join(slices.DeleteFunc(strings.SplitAfter(string(there), "\n"), func(line string) bool { return strings.Contains(line, mark) }), "")
		if husky && strings.TrimSpace(kept) == "" {
			return "taken away", os.Remove(at)
		}
		info, err := os.Stat(at)
		if err != nil {
			return "", err
		}
		return "the lines of Writ are gone", atomicfile.Write(at, []byte(kept), info.Mode().Perm())
	}
	kept, err := os.ReadFile(at + before)
	if errors.Is(err, fs.ErrNotExist) {
		return "taken away", os.Remove(at)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(at + before)
	if err != nil {
		return "", err
	}
	if err := atomicfile.Write(at, kept, info.Mode().Perm()); err != nil {
		return "", err
	}
	return "taken away; the hook that was there before is back", os.Remove(at + before)
}
