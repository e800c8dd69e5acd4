package artifacts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ignoredBy says what an ignore file in the project's folder says of a path,
// and of the folders that lead to it.
func ignoredBy(f *ignoreFile, file string) bool {
	for at := 0; ; {
		next := strings.IndexByte(file[at:], '/')
		folder := next >= 0
		part := file
		if folder {
			part = file[:at+next]
		}
		if r, found := f.match(part, folder); found && !r.include {
			return true
		}
		if !folder {
			return false
		}
		at += next + 1
	}
}

// gitIgnores asks git which of the paths a .gitignore ignores.
func gitIgnores(t interface{ Fatal(...any) }, git, dir, rules string, files []string) map[string]bool {
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(git, "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	cmd.Stdin = strings.NewReader(strings.Join(files, "\x00") + "\x00")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(err, stderr.String())
	}
	ignored := map[string]bool{}
	for _, file := range strings.Split(string(out), "\x00") {
		ignored[file] = true
	}
	return ignored
}

func repository(t *testing.T) (git, dir string) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	dir = t.TempDir()
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("git init: %v: %s", err, out)
	}
	return git, dir
}

var ignoreFiles = []string{
	"a", "b.md", "a.md", "x/a", "x/a.md", "x/y/a.md", "x/y/z/b.md", "a b", "#a", "!a", "x/#b", "foo/bar", "foo/bar/baz", "foo/x/bar", "foo/x/y/bar",
	"build/out.o", "src/build/out.o", "[a]", "a[b", "é", "x/é.md", "A", "a-b", "a]", "z/a/b", "ab", "abc", "a.b.c", "foo.txt ", "foo.txt",
}

func TestIgnoreRulesAreGits(t *testing.T) {
	git, dir := repository(t)
	compare := func(t interface {
		Fatal(...any)
		Fatalf(string, ...any)
	}, rules string,
	) {
		want := gitIgnores(t, git, dir, rules, ignoreFiles)
		f := parseIgnore(".gitignore", "", "", rules)
		for _, file := range ignoreFiles {
			if got := ignoredBy(f, file); got != want[file] {
				t.Fatalf("with %q, %q is ignored: %v, git says %v", rules, file, got, want[file])
			}
		}
	}
	for _, rules := range []string{
		"", "a", "/a", "a/", "*.md", "/*.md", "x/", "x/*", "x/**", "**/a.md", "x/**/a.md", "foo/**/bar", "foo/**", "**/bar", "**", "*", "/*", "/*\n!/x",
		"*.md\n!a.md", "x\n!x/a", "\\#a", "#a", "\\!a", "!a", "a b", "a\\ b", "foo.txt ", "foo.txt\\ ", "build", "build/", "/build/", "[a]", "\\[a\\]", "[a", "a[[]b", "[!a]*",
		"[^a]*", "[]a]", "a]", "[[:alpha:]]", "[[:upper:]]", "[[:nope:]]", "[a-c]b", "?.md", "a?b", "?", "é", "[é]", "x/?.md", "a**", "a**c", "**c", "x**y/a.md", "foo/**bar", "***/a.md", "x/***",
		"foo/", "foo/bar/", "/foo/bar", "foo/bar", "/", "//", "/**/", "a\r\n*.o\r\n", "\\", "a\\", "[\\]]", "x/y/../y", "./a", "\ufeffa", "[a-", "[--0]", "**/x/**",
	} {
		compare(t, rules)
	}
	parts := rapid.SampledFrom([]string{"*", "**", "?", "/", "a", "b", "x", "y", ".md", "foo", "bar", "[ab]", "[!x]", "\\", "!", "#", " ", "[", "]", "-", "é", "build", "/**/", "\n"})
	rapid.Check(t, func(t *rapid.T) {
		rules := strings.Join(rapid.SliceOfN(parts, 1, 7).Draw(t, "rules"), "")
		compare(t, rules)
	})
}

func FuzzWildmatch(f *testing.F) {
	f.Add("**/a[!b]*?.md", "x/y/ac1.md")
	f.Add("[[:alpha:]]\\", "a")
	f.Fuzz(func(_ *testing.T, pattern, name string) {
		if len(pattern) > 12 || len(name) > 40 {
			return // stars take time that grows with their number
		}
		parseIgnore("x", "", "", pattern+"\n"+name).match(name, true)
		wildmatch(plainStars(pattern), name)
	})
}
