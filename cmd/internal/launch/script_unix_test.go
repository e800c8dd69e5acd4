//go:build unix

package launch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// release is a folder with an archive whose programs are scripts, as a release
// has it.
func release(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	name := archiveName("9.9.1")
	putFile(t, filepath.Join(dir, name), packed.String())
	sums := fmt.Sprintf("%x  writ_9.9.1_plan9_mips.tar.gz\n%x  %s\n%x  %s.cdx.json\n", sha256.Sum256(nil), sha256.Sum256(packed.Bytes()), name, sha256.Sum256(nil), strings.TrimSuffix(name, ".tar.gz"))
	putFile(t, filepath.Join(dir, "checksums.txt"), sums)
	return dir
}

func archiveName(version string) string {
	return "writ_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
}

func putFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var wholeRelease = map[string]string{
	"writ": "#!/bin/sh\necho writ 9.9.1\n", "writd": "#!/bin/sh\necho writd\n", "README.md": "read", "../escape": "out",
}

// installer runs the script for somebody with an empty home.
type installer struct {
	t          *testing.T
	home, path string
	vars       []string
}

func newInstaller(t *testing.T) *installer {
	return &installer{t: t, home: t.TempDir(), path: "/usr/bin:/bin"}
}

func (i *installer) run(args ...string) (said string, err error) {
	i.t.Helper()
	cmd := exec.Command("sh", append([]string{"-s", "--"}, args...)...)
	cmd.Stdin, cmd.Dir = bytes.NewReader(InstallScript), i.t.TempDir()
	cmd.Env = append([]string{"HOME=" + i.home, "PATH=" + i.path, "SHELL=/bin/bash"}, i.vars...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (i *installer) clean(dir string) {
	i.t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".writ-install*"))
	if err != nil || len(left) > 0 {
		i.t.Errorf("it left %v, %v", left, err)
	}
}

func TestScriptInstallsBothPrograms(t *testing.T) {
	i := newInstaller(t)
	from := release(t, wholeRelease)
	bin := filepath.Join(i.home, ".local", "bin")
	for range 2 { // the second replaces the first
		said, err := i.run("--from", from)
		if err != nil || !strings.Contains(said, "writ 9.9.1 is installed in "+bin) || !strings.Contains(said, "not on your PATH") || !strings.Contains(said, "writ init") {
			t.Fatalf("%v: %s", err, said)
		}
	}
	if contents(t, filepath.Join(bin, "writd")) != wholeRelease["writd"] || contents(t, filepath.Join(i.home, ".local/share/writ/writ")) != wholeRelease["writ"] {
		t.Error("the programs are not those of the archive, or the link leads elsewhere")
	}
	if at := Installed(filepath.Join(bin, "writ"), i.home, nil); at.Way != ByScript || at.From != from {
		t.Errorf("noted as %+v", at)
	}
	if entries, err := os.ReadDir(bin); err != nil || len(entries) != 2 {
		t.Errorf("in %s are %v, %v", bin, entries, err)
	}
	i.clean(bin)
}

func TestScriptTakesItsOptions(t *testing.T) {
	from := release(t, wholeRelease)
	i := newInstaller(t)
	there := filepath.Join(i.home, "a folder", "it's")
	i.path = there + ":" + i.path
	for _, c := range []struct{ args, vars []string }{
		{[]string{"--dir=" + there, "--from=" + from + "/"}, nil},
		{[]string{"--dir", there}, []string{"WRIT_INSTALL_FROM=" + from}},
		{[]string{"--from", from}, []string{"WRIT_INSTALL_DIR=" + there}},
	} {
		i.vars = c.vars
		said, err := i.run(c.args...)
		if err != nil || !strings.Contains(said, "is installed in "+there) || strings.Contains(said, "not on your PATH") || strings.Contains(said, "Another one") {
			t.Errorf("%v %v: %v: %s", c.args, c.vars, err, said)
		}
	}
	first := filepath.Join(i.home, "first")
	putFile(t, filepath.Join(first, "writ"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(first, "writ"), 0o755); err != nil {
		t.Fatal(err)
	}
	i.path, i.vars = first+":"+i.path, nil
	if said, err := i.run("--dir", there, "--from", from); err != nil || !strings.Contains(said, "Another one comes first on your PATH: "+first) {
		t.Errorf("%v: %s", err, said)
	}
}

// Whatever is wrong, nothing is installed, what was there stays, and it is said.
func TestScriptRefuses(t *testing.T) {
	whole := release(t, wholeRelease)
	edited := func(edit func(dir string)) string {
		dir := t.TempDir()
		for _, name := range []string{"checksums.txt", archiveName("9.9.1")} {
			putFile(t, filepath.Join(dir, name), contents(t, filepath.Join(whole, name)))
		}
		edit(dir)
		return dir
	}
	remove := func(path string) {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
	sums := func(dir string) string { return filepath.Join(dir, "checksums.txt") }
	archive := func(dir string) string { return filepath.Join(dir, archiveName("9.9.1")) }
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a changed archive":  {[]string{"--from", edited(func(dir string) { putFile(t, archive(dir), contents(t, archive(dir))+"x") })}, "does not match checksums.txt"},
		"no archive":         {[]string{"--from", edited(func(dir string) { remove(archive(dir)) })}, "there is no " + archiveName("9.9.1")},
		"no checksums":       {[]string{"--from", edited(func(dir string) { remove(sums(dir)) })}, "there is no checksums.txt"},
		"empty checksums":    {[]string{"--from", edited(func(dir string) { putFile(t, sums(dir), "") })}, "has no archive for " + runtime.GOOS},
		"two archives":       {[]string{"--from", edited(func(dir string) { putFile(t, sums(dir), contents(t, sums(dir))+"00 "+archiveName("9.9.2")+"\n") })}, "several archives"},
		"a name with a path": {[]string{"--from", edited(func(dir string) { putFile(t, sums(dir), "00  writ_/../../"+archiveName("9.9.1")+"\n") })}, "has no archive"},
		"no program in it":   {[]string{"--from", release(t, map[string]string{"writ": "x"})}, "cannot be unpacked"},
		"one that fails":     {[]string{"--from", release(t, map[string]string{"writ": "#!/bin/sh\necho broken; exit 3\n", "writd": ""})}, "does not run here: broken"},
		"no such folder":     {[]string{"--from", filepath.Join(t.TempDir(), "none")}, "there is no folder"},
		"no server":          {[]string{"--from", "http://127.0.0.1:1/none"}, "cannot be downloaded"},
		"an unknown word":    {[]string{"--prefix", "/x"}, `"--prefix" is not known`},
		"a missing value":    {[]string{"--dir"}, "--dir needs a value"},
		"a file for a dir":   {[]string{"--from", whole, "--dir", sums(whole)}, "cannot be made"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newInstaller(t)
			bin := filepath.Join(i.home, ".local", "bin")
			putFile(t, filepath.Join(bin, "writ"), "before")
			said, err := i.run(c.args...)
			if err == nil || !strings.Contains(said, c.says) {
				t.Errorf("%v: %s", err, said)
			}
			if contents(t, filepath.Join(bin, "writ")) != "before" {
				t.Error("what was there is gone")
			}
			if _, err := os.Stat(filepath.Join(bin, "writd")); err == nil {
				t.Error("writd was installed")
			}
			i.clean(bin)
		})
	}
}

func TestScriptDownloads(t *testing.T) {
	_, curl := exec.LookPath("curl")
	_, wget := exec.LookPath("wget")
	if curl != nil && wget != nil {
		t.Skip("neither curl nor wget is installed")
	}
	server := httptest.NewServer(http.StripPrefix("/v9/", http.FileServer(http.Dir(release(t, wholeRelease)))))
	defer server.Close()
	i := newInstaller(t)
	i.vars = []string{"no_proxy=*"}
	if said, err := i.run("--from", server.URL+"/v9/"); err != nil || !strings.Contains(said, "is installed") {
		t.Errorf("%v: %s", err, said)
	}
}

// A download that broke off runs nothing: wherever the script is cut, no file is
// made.
func TestScriptCutOff(t *testing.T) {
	from := release(t, wholeRelease)
	for at := 0; at < len(InstallScript)-len("main \"$@\"\n"); at += 97 {
		home := t.TempDir()
		cmd := exec.Command("sh", "-s", "--", "--from", from)
		cmd.Stdin, cmd.Env = bytes.NewReader(InstallScript[:at]), []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		_ = cmd.Run() // most cuts are no shell at all
		if made, err := os.ReadDir(home); err != nil || len(made) > 0 {
			t.Fatalf("cut at %d it made %v, %v", at, made, err)
		}
	}
}
