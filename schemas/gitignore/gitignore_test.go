package gitignore

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ignores says what ignore files say of a path and of the folders that lead to
// it.
func ignores(all Files, file string) bool {
	for at := 0; ; {
		next := strings.IndexByte(file[at:], '/')
		folder := next >= 0
		part := file
		if folder {
			part = file[:at+next]
		}
		var hold Files
		for _, f := range all {
			if f.Base == "" || strings.HasPrefix(part, f.Base+"/") {
				hold = append(hold, f)
			}
		}
		if _, r, found := hold.Match(part, folder); found && !r.Include {
			return true
		}
		if !folder {
			return false
		}
		at += next + 1
	}
}

type fataler interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// places are where a repository has rules, the nearest last; the first is what
// core.excludesFile names.
var places = []string{"excludes", ".git/info/exclude", ".gitignore", "x/.gitignore", "x/y/.gitignore"}

// compare asks git which files the rules at each place ignore.
func compare(t fataler, git, dir string, rules [5]string, files []string) {
	var all Files
	for i, place := range places {
		if err := os.WriteFile(filepath.Join(dir, place), []byte(rules[i]), 0o644); err != nil {
			t.Fatal(err)
		}
		f := Parse(rules[i])
		if base, below := strings.CutSuffix(place, "/.gitignore"); below {
			f.Base = base
		}
		all = append(all, f)
	}
	cmd := exec.Command(git, "-c", "core.excludesFile="+filepath.Join(dir, "excludes"), "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	cmd.Stdin = strings.NewReader(strings.Join(files, "\x00") + "\x00")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(err, stderr.String())
	}
	want := strings.Split(string(out), "\x00")
	for _, file := range files {
		if got := ignores(all, file); got != slices.Contains(want, file) {
			t.Fatalf("with %q, %q is ignored: %v, git says %v", rules, file, got, !got)
		}
	}
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
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "x", "y"), 0o755), os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o755)); err != nil {
		t.Fatal(err)
	}
	return git, dir
}

var ignoreFiles = []string{
	"a", "b.md", "a.md", "x/a", "x/a.md", "x/y/a.md", "x/y/z/b.md", "a b", "#a", "!a", "x/#b", "foo/bar", "foo/bar/baz", "foo/x/bar", "foo/x/y/bar",
	"build/out.o", "src/build/out.o", "[a]", "a[b", "é", "x/é.md", "A", "a-b", "a]", "z/a/b", "ab", "abc", "a.b.c", "foo.txt ", "foo.txt", "\v", "ab/bar", "z",
}

func TestRulesAreGits(t *testing.T) {
	git, dir := repository(t)
	for _, rules := range []string{
		"", "a", "/a", "a/", "*.md", "/*.md", "x/", "x/*", "x/**", "**/a.md", "x/**/a.md", "foo/**/bar", "foo/**", "**/bar", "**", "*", "/*", "/*\n!/x",
		"*.md\n!a.md", "x\n!x/a", "\\#a", "#a", "\\!a", "!a", "a b", "a\\ b", "foo.txt ", "foo.txt\\ ", "build", "build/", "/build/", "[a]", "\\[a\\]", "[a", "a[[]b", "[!a]*",
		"[^a]*", "[]a]", "a]", "[[:alpha:]]", "[[:upper:]]", "[[:nope:]]", "[a-c]b", "?.md", "a?b", "?", "é", "[é]", "x/?.md", "a**", "a**c", "**c", "x**y/a.md", "foo/**bar", "***/a.md", "x/***",
		"foo/", "foo/bar/", "/foo/bar", "foo/bar", "/", "//", "/**/", "a\r\n*.o\r\n", "\\", "a\\", "[\\]]", "x/y/../y", "./a", "\ufeffa", "[a-", "[--0]", "**/x/**",
		"a\x00b", "[[:space:]]", "[z-a]", "[a-[[:space:]]", "[[:a]b", "[[:]", "**\\/bar", "foo/**\\/bar",
	} {
		compare(t, git, dir, [5]string{2: rules}, ignoreFiles)
	}
	parts := rapid.SampledFrom(slices.Concat(ruleParts, []string{"x", "y", "foo", "bar", "build"}))
	names := rapid.SampledFrom(nameParts)
	rapid.Check(t, func(t *rapid.T) {
		rules := [5]string{2: strings.Join(rapid.SliceOfN(parts, 1, 9).Draw(t, "rules"), "")}
		files := slices.Clone(ignoreFiles)
		for range 30 {
			files = append(files, strings.Join(rapid.SliceOfN(names, 1, 4).Draw(t, "names"), "/"))
		}
		compare(t, git, dir, rules, files)
	})
}

// ruleParts make up rules, and nameParts the names of files. Bytes that are no UTF-8,
// blanks of all kinds and what classes are made of are among them; no name begins with a
// colon, with which git would begin something else than a path.
var (
	ruleParts = []string{
		"*", "**", "***", "?", "/", "/**/", "**/", "/**", "a", "b", "A", ".", "..", ".md", "-", "!", "\\!", "#", "\\#", " ", "  ", "\\ ", "\t", "\v", "\f", "\r", "\n", "\r\n", "\x00", "\x01", "\x7f",
		"é", "\xff", "\xc3", "\x80", "\ufeff", "\\", "\\\\", "\\a", "\\*", "\\?", "\\[", "\\/", "[", "]", "[:", ":]", "[[:", "[a-", "[ab]", "[!x]", "[^a-b]", "[z-a]", "[]-]", "[]-a]", "[\\]]", "[a\\-z]", "[-a]", "[/]", "[!/]",
		"[!b-z]", "[\xff]", "[é]", "[[:alpha:]]", "[[:space:]]", "[[:punct:]]", "[[:cntrl:]]", "[[:print:]]", "[[:graph:]]", "[[:nope:]]", "{a,b}", "~", "$", "+", "(", "|",
	}
	nameParts = []string{
		"a", "b", "ab", "A", "bar", ".md", "a.md", " ", "a ", " a", "a b", "\t", "a\t", "\v", "\f", "\r", "a\r", "a\n", "\x01", "\x7f", "\x80", "!", "!a", "#", "#a", "\\", "a\\", "é", "\xff", "\xc3", "\xffa", "\ufeff", "\ufeffa",
		"*", "**", "?", "[", "]", "[a]", "-", "a-b", "{a,b}", "~", "$", "+", "(", "|", "a..", "..a", "z:",
	}
)

func TestTheNearestFileDecidesAsForGit(t *testing.T) {
	git, dir := repository(t)
	for _, rules := range [][5]string{
		{"a", "!a", "", "", ""},
		{"", "a", "!a", "", ""},
		{"", "", "a.md", "!a.md", "/a.md"},
		{"", "", "x/", "!a.md", "!*"},
		{"x/y", "", "", "!y", ""},
		{"", "*", "!*/", "!a", "!b.md"},
		{"*.md", "", "!/x/*.md", "y/*", "!z"},
		{"", "", "", "/y/a.md", ""},
	} {
		compare(t, git, dir, rules, ignoreFiles)
	}
	rule := rapid.SampledFrom([]string{"*", "/*", "a", "a.md", "*.md", "x", "x/", "x/*", "/y", "y/", "y/*", "z", "z/**", "**/b.md", "?", "[ab]", "*.[!ch]", "[!x]*"})
	text := rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "negated") {
			return "!" + rule.Draw(t, "rule")
		}
		return rule.Draw(t, "rule")
	})
	rapid.Check(t, func(t *rapid.T) {
		var rules [5]string
		for i := range rules {
			rules[i] = strings.Join(rapid.SliceOfN(text, 0, 3).Draw(t, places[i]), "\n")
		}
		compare(t, git, dir, rules, ignoreFiles)
	})
}

func FuzzParse(f *testing.F) {
	f.Add("*.log\n!/a/**/b\n", "a/x/b")
	f.Add("**/**/**/x/\n[\n[[:alpha:]]\\", "q/w/e/x")
	f.Fuzz(func(_ *testing.T, text, file string) {
		rules := Parse(text)
		rules.Match(file, true)
		rules.Match(file, false)
	})
}
