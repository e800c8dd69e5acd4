package project

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host/settings"
)

// hookSettings are the files in which hosts name commands that they run by
// themselves; a star stands for part of a name.
var hookSettings = []string{".claude/settings.json", ".claude/settings.local.json", ".cursor/hooks.json", ".gemini/settings.json", ".codex/hooks.json", ".github/hooks/*.json"}

// hookKeys are the settings in them that hold such commands, at any depth.
var hookKeys = []string{"hooks", "statusLine", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper"}

// rootNames are what commands of hooks call the project's folder.
var rootNames = []string{"${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR", "${GEMINI_PROJECT_DIR}", "$GEMINI_PROJECT_DIR", "${CURSOR_PROJECT_DIR}", "$CURSOR_PROJECT_DIR", "$PWD", "${PWD}"}

// hookScripts are the files of a project that its hosts' settings have run by
// themselves, absolute and sorted: as they are named, and where links lead. What
// such a script runs in turn is not followed.
func hookScripts(root string) (scripts []string) {
	for _, pattern := range hookSettings {
		files, _ := fs.Glob(os.DirFS(root), pattern) // the pattern is sound
		for _, file := range files {
			var all map[string]any
			if raw, err := ReadFile(filepath.Join(root, filepath.FromSlash(file))); err != nil || json.Unmarshal(settings.Plain(bytes.TrimPrefix(raw, []byte("\ufeff"))), &all) != nil {
				continue
			}
			for _, key := range hookKeys {
				scripts = appendScripts(scripts, root, all[key])
			}
		}
	}
	slices.Sort(scripts)
	return slices.Compact(scripts)
}

// appendScripts appends the files of a project that strings of a setting name.
func appendScripts(scripts []string, root string, setting any) []string {
	switch s := setting.(type) {
	case map[string]any:
		for _, inner := range s {
			scripts = appendScripts(scripts, root, inner)
		}
	case []any:
		for _, inner := range s {
			scripts = appendScripts(scripts, root, inner)
		}
	case string:
		for _, word := range wordsOf(root, s) {
			if at, is := fileIn(root, word); is {
				scripts = append(scripts, at, enforcement.Resolve(at, "", "", Readlink))
			}
		}
	}
	return scripts
}

// wordsOf splits a command, whatever its shell, into what may be names of files.
func wordsOf(root, command string) []string {
	for _, name := range rootNames {
		command = strings.ReplaceAll(command, name, root)
	}
	command = strings.NewReplacer(`"`, "", `'`, "", "`", "").Replace(command)
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()<>=", r) })
}

// fileIn is a regular file of the project by its name in a command.
func fileIn(root, name string) (at string, is bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	below, err := filepath.Rel(root, name)
	if err != nil || !filepath.IsLocal(below) {
		return "", false
	}
	info, err := os.Stat(name)
	return filepath.ToSlash(name), err == nil && info.Mode().IsRegular()
}
