package turn

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
)

// TestAPlainLineRunsNoProgramOfAnAgents: a name on the PATH is worth what the
// folder is worth that it is found in.
func TestAPlainLineRunsNoProgramOfAnAgents(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, name := range []string{"shop/bin/docker", "shop/docker", "system/docker", "system/ls", "tmp/ls", "tmp/writ", "home/.cache/x/cat"} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("shop/bin"), at("linked")); err != nil {
		t.Fatal(err)
	}
	layout := enforcement.Layout{Project: at("shop"), Home: at("home"), Temp: []string{at("tmp")}}
	for _, c := range []struct {
		path, command string
		own           bool
	}{
		{at("shop/bin") + ":" + at("system"), "docker ps", true},
		{at("shop/bin") + ":" + at("system"), "ls src", false},
		{at("system") + ":" + at("shop/bin"), "docker ps", false},
		{at("linked") + ":" + at("system"), "ls && docker ps", true},
		{".:" + at("system"), "docker ps", true},
		{":" + at("system"), "docker ps", true},
		{at("tmp") + ":" + at("system"), "ls", true},
		{at("home/.cache/x"), "cat a", true},
		{at("tmp"), "writ status", false},
		{"", "docker ps", false},
	} {
		one := turn{Call: host.Call{Shell: &c.command}, project: project.Project{Root: layout.Project, Layout: layout}, path: filepath.SplitList(c.path)}
		if got := one.runsOwn(layout.Project, at("tmp/writ")); got != c.own {
			t.Errorf("%s with PATH %s: %v", c.command, c.path, got)
		}
	}
}

// TestAPlainLineOfGitEntersNoRepositoryOfAnAgents: a repository below the
// project's is not taken for it, wherever the line goes.
func TestAPlainLineOfGitEntersNoRepositoryOfAnAgents(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".git", "src", "sub/.git"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for command, own := range map[string]bool{
		"git status": false, "cd src && git status": false, "cd src; git log -3 | head": false, "ls sub": false,
		"cd sub && git status": true, "cd src; cd ../sub || git status": true, "cd nosuch; git status": true, "cd src; cd .. ; git log": false, "cd sub; cd .. ; git status": true,
		"cd -P src && git status": true, "git log -p --submodule=diff": true, "git grep --recurse-submodules x": true,
	} {
		one := turn{Call: host.Call{Shell: &command}, project: project.Project{Root: base, Layout: enforcement.Layout{Project: base}}}
		if got := one.runsOwn(base, ""); got != own {
			t.Errorf("%s: %v", command, got)
		}
	}
	command := "git status"
	bare := filepath.Join(base, "src", "none")
	none := turn{Call: host.Call{Shell: &command}, project: project.Project{Root: bare, Layout: enforcement.Layout{Project: bare}}}
	if err := errors.Join(os.RemoveAll(filepath.Join(base, ".git")), os.Mkdir(bare, 0o755)); err != nil {
		t.Fatal(err)
	}
	if none.runsOwn(bare, "") {
		t.Error("there is no repository, and git is held")
	}
	if err := os.WriteFile(filepath.Join(bare, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !none.runsOwn(bare, "") {
		t.Error("a bare repository in place of the project is taken for none")
	}
}
