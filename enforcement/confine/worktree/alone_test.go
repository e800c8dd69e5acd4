package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGitReadsAlone: what has git run a program of the work tree's own is found.
// Where that program runs on `git status`, this shows it first.
func TestGitReadsAlone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, c := range []struct {
		name, script, dir string
		alone, runs       bool
	}{
		{name: "a repository", script: "mkdir sub", dir: "sub", alone: true},
		{name: "an empty one", script: "rm .git/index", alone: true},
		{name: "large-file support", script: "git config filter.lfs.process 'git-lfs filter-process'; git config core.fsmonitor false", alone: true},
		{name: "a repository in it", script: "git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor ../mark; git add sub 2>/dev/null", runs: true},
		{name: "the same, index of version 4", script: "git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor ../mark; git add sub 2>/dev/null; git update-index --index-version 4", runs: true},
		{name: "a repository on the way", script: "git init -q sub; git -C sub config core.fsmonitor ../mark", dir: "sub", runs: true},
		{name: "a bare one on the way", script: "mkdir sub; git init -q --bare sub", dir: "sub"},
		{name: "a link out", script: "ln -s / sub", dir: "sub"},
		{name: "a folder that is not there", dir: "nosuch"},
		{name: "settings of the project", script: "git config include.path ../settings; printf '[core]\\nfsmonitor = ./mark\\n' > settings", runs: true},
		{name: "hooks of the project", script: "git config core.hooksPath .husky"},
		{name: "a setting behind its section", script: "echo '[core] fsmonitor = ./mark' >> .git/config", runs: true},
		{name: "a filter", script: "git config filter.x.clean ./mark; echo '* filter=x' > .gitattributes; touch -d @1 a", runs: true},
		{name: "a split index", script: "git update-index --split-index"},
		{name: "a damaged index", script: "echo x > .git/index"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			run := func(script string) {
				t.Helper()
				cmd := exec.Command("bash", "-ec", script)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x", "ROOT="+root)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			run(`git init -q .; echo a > a; printf '#!/bin/sh\ntouch "$ROOT/ran"\n' > mark; chmod +x mark; git add a; git commit -qm x`)
			run(c.script)
			if c.runs {
				run("cd ./" + c.dir + "; git status || :")
				if _, err := os.Stat(filepath.Join(root, "ran")); err != nil {
					t.Errorf("git runs nothing: %v", err)
				}
			}
			if got := GitReadsAlone(root, filepath.Join(root, c.dir)); got != c.alone {
				t.Errorf("%v", got)
			}
		})
	}
}
