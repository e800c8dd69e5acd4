package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstalledTellsTheWay(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	bin := filepath.Join(home, ".local", "bin")
	gopath := filepath.Join(home, "gopath", "bin")
	for _, dir := range []string{bin, gopath, filepath.Join(home, "go", "bin"), filepath.Join(home, ".local", "share", "writ")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	note := "dir=" + bin + "\nfrom=/a folder=with/signs\nlater=unknown\n"
	if err := os.WriteFile(filepath.Join(home, ".local", "share", "writ", "installed"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	built, err := BinDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir  string
		vars []string
		want Way
		from string
		run  string // part of the command that brings writd
	}{
		"script":            {bin, nil, ByScript, "/a folder=with/signs", "install.sh | sh -s -- --dir " + bin},
		"go, the usual":     {filepath.Join(home, "go", "bin"), nil, ByGo, "", "GOBIN=" + filepath.Join(home, "go", "bin") + " go install github.com/writbus/writ/cmd/writd@"},
		"go, by GOPATH":     {gopath, []string{"GOPATH=" + filepath.Dir(gopath)}, ByGo, "", "go install"},
		"go, by GOBIN":      {gopath, []string{"GOBIN=" + gopath}, ByGo, "", "go install"},
		"checkout":          {built, nil, ByCheckout, "", "go run ./cmd/writ up"},
		"go run":            {filepath.Join(home, "go-build7", "exe"), nil, ByCheckout, "", "go run ./cmd/writ up"},
		"package":           {"/opt/homebrew/bin", nil, ByPackage, "", "install.sh | sh"},
		"nothing is known":  {filepath.Join(home, "tools"), nil, ByHand, "", "GOBIN="},
		"a folder with a '": {filepath.Join(home, "o'tools"), nil, ByHand, "", `'\''tools'`},
	} {
		at := Installed(filepath.Join(c.dir, "writ"), home, c.vars)
		if at.Way != c.want || at.From != c.from || at.Dir != c.dir || !strings.Contains(at.Remedy(), c.run) {
			t.Errorf("%s: %+v, %q", name, at, at.Remedy())
		}
	}
	if _, err := Find(filepath.Join(bin, "writ"), []string{"HOME=" + home}); !errors.Is(err, ErrNoBinary) || !strings.Contains(err.Error(), "`"+scriptLine+" -s -- --dir "+bin+"` installs it") {
		t.Errorf("error = %v", err)
	}
}

func TestLinkLeadsToTheLastProgram(t *testing.T) {
	at := filepath.Join(t.TempDir(), "share", "writ", "writ")
	for _, c := range []struct{ program, was string }{{"/opt/writ", ""}, {"/opt/writ", ""}, {"/usr/bin/writ", "/opt/writ"}} {
		was, err := Link(at, c.program)
		if err != nil || was != c.was {
			t.Errorf("%s: was %q, %v", c.program, was, err)
		}
		if leads, err := os.Readlink(at); err != nil || leads != c.program {
			t.Errorf("it leads to %q, %v", leads, err)
		}
	}
	plain := filepath.Join(t.TempDir(), "writ")
	if err := os.WriteFile(plain, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Link(plain, "/opt/writ"); err == nil {
		t.Error("a file that is no link was replaced")
	}
	if raw, err := os.ReadFile(plain); err != nil || string(raw) != "mine" {
		t.Errorf("%q, %v", raw, err)
	}
}

// Started by a link, a program has its daemon beside where the link leads.
func TestFindFollowsTheLink(t *testing.T) {
	dir := t.TempDir()
	writd := filepath.Join(dir, binaryName("writd"))
	for _, path := range []string{writd, filepath.Join(dir, "writ")} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(t.TempDir(), "writ")
	if _, err := Link(at, filepath.Join(dir, "writ")); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(at, nil); err != nil || !SameFolder(got, writd) {
		t.Errorf("%q, %v", got, err)
	}
}
