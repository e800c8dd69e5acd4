package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWhatShellsRunOfACacheIsNotWritten: a file that the user's next shell reads would
// get it to do what the hold refuses, and so would a program that hooks run, or one of the
// user's PATH. Other caches are written as ever.
func TestWhatShellsRunOfACacheIsNotWritten(t *testing.T) {
	needLandlock(t)
	for user, uid := range users() {
		for _, profile := range []Profile{Scratch, ReadOnly, Implementation} {
			t.Run(user+"/"+string(profile), func(t *testing.T) {
				const script = `echo x >> $HOME/.cache/p10k-instant-prompt-u.zsh; rm -r $HOME/.cache/gitstatus; mv $HOME/.cache/nvim $HOME/.cache/n; echo x > $HOME/.cache/writ/bin/writ; echo x >> $HOME/.cache/starship/init.nu; echo x > $HOME/.pub-cache/bin/tool; echo ok > $HOME/.cache/pip/x`
				for _, held := range []bool{false, true} {
					w := newWorld(t, uid)
					cache := filepath.Join(w.home, ".cache")
					laid := []string{
						filepath.Join(cache, "p10k-instant-prompt-u.zsh"), filepath.Join(cache, "gitstatus", "gitstatusd"), filepath.Join(cache, "nvim", "luac", "x"),
						filepath.Join(cache, "writ", "bin", "writ"), filepath.Join(cache, "starship", "init.nu"), filepath.Join(w.home, ".pub-cache", "bin", "tool"),
					}
					for _, path := range append(laid, filepath.Join(cache, "pip", "y")) {
						w.write(path, "")
					}
					w.own()
					command := w.plain("/bin/sh", "-c", script)
					if held {
						command = w.confined(w.options(profile, "/bin/sh", "-c", script))
					}
					out, _ := w.result(command)
					for _, path := range laid {
						if raw, err := os.ReadFile(path); (err == nil && len(raw) == 0) != held {
							t.Errorf("held %v: %s is %q, %v: %s", held, path, raw, err, out)
						}
					}
					if raw, err := os.ReadFile(filepath.Join(cache, "pip", "x")); err != nil || string(raw) != "ok\n" {
						t.Errorf("held %v: another cache is %q, %v: %s", held, raw, err, out)
					}
				}
			})
		}
	}
}

// TestModulesHaveOutputsOfTheirOwn: each module below a root's pom.xml or settings.gradle,
// and nothing that a link leads to.
func TestModulesHaveOutputsOfTheirOwn(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for _, file := range []string{"pom.xml", "cart/pom.xml", "cart/deep/pom.xml", "docs/x/pom.xml", "till/pom.xml", "settings.gradle", "app/build.gradle", "tool/build.gradle.kts", "c/build/CMakeCache.txt", "lib/build/x.c"} {
		at := filepath.Join(project, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(project, "till", "target")); err != nil {
		t.Fatal(err)
	}
	if got := caches(Options{Home: t.TempDir(), Dir: elsewhere}, project, nil); slices.Contains(got, filepath.Join(project, "docs/x/target")) {
		t.Errorf("from elsewhere: %v", got)
	}
	// From within a folder that has a project of its own, as in a repository of several.
	if got := caches(Options{Home: t.TempDir(), Dir: filepath.Join(project, "docs/x")}, project, nil); !slices.Contains(got, filepath.Join(project, "docs/x/target")) || !slices.Contains(got, filepath.Join(project, "target")) {
		t.Errorf("from within: %v", got)
	}
	for dir, want := range map[string]bool{"c": true, "lib": false} { // one that CMake made, and one of sources
		if got := caches(Options{Home: t.TempDir(), Dir: filepath.Join(project, dir)}, project, nil); slices.Contains(got, filepath.Join(project, dir, "build")) != want {
			t.Errorf("%s/build: %v", dir, got)
		}
	}
	if err := os.Remove(filepath.Join(project, "docs/x/target")); err != nil {
		t.Fatal(err)
	}
	got := caches(Options{Home: t.TempDir()}, project, nil)
	for dir, want := range map[string]bool{"target": true, "cart/target": true, "cart/deep/target": true, "docs/x/target": false, "till/target": false, ".gradle": true, "build": false, "app/build": true, "tool/build": false} {
		if is := slices.Contains(got, filepath.Join(project, dir)); is != want {
			t.Errorf("%s may be written: %v, want %v; %v", dir, is, want, got)
		}
	}
}
