package shell

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/test/conformance"
)

// FuzzAnalyse checks what holds for every input: no panic, equal answers to
// equal questions, and paths in the promised form.
func FuzzAnalyse(f *testing.F) {
	for _, c := range conformance.Cases[conformanceCase](f, "shell") {
		f.Add(c.Command)
	}
	for _, c := range ownCases {
		f.Add(c.command)
	}
	for _, s := range hostile() {
		if len(s) < 4096 {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, command string) {
		r := Analyse(command, repoEnv())
		again := Analyse(command, repoEnv())
		for _, run := range Runs(command) {
			if len(run.Words) == 0 || run.Words[0] == "" {
				t.Errorf("a program without a name in %q", command)
			}
		}
		if r.Effect != again.Effect || !slices.Equal(r.Paths, again.Paths) || !slices.Equal(r.Mentions, again.Mentions) || !slices.Equal(r.Reasons, again.Reasons) {
			t.Fatalf("two answers for %q:\n%v\n%v", command, r, again)
		}
		for _, paths := range [][]string{r.Paths, r.Mentions} {
			if !slices.IsSorted(paths) || len(slices.Compact(slices.Clone(paths))) != len(paths) {
				t.Fatalf("paths not sorted and unique: %q", paths)
			}
			for _, p := range paths {
				if !strings.HasPrefix(p, "/") || tidy(p) != p || !upwards(p) && path.Clean(p) != p {
					t.Fatalf("path %q is not absolute and tidy", p)
				}
			}
		}
		if r.Effect == ReadsOnly && len(r.Paths) > 0 {
			t.Fatalf("a reader with paths %q", r.Paths)
		}
		if r.GitMetadata && (r.Effect != Writes || len(r.Paths) > 0) {
			t.Fatalf("metadata with effect %v and paths %q", r.Effect, r.Paths)
		}
		if r.Effect == Writes && len(r.Paths) == 0 && !r.GitMetadata {
			t.Fatalf("a writer of nothing")
		}
		if r.Effect == CannotTell && len(r.Reasons) == 0 {
			t.Fatalf("no reason for %q", command)
		}
	})
}

// hostile are inputs made to cost time, memory or stack.
func hostile() []string {
	return []string{
		strings.Repeat("(", 5000),
		strings.Repeat("$(", 5000),
		strings.Repeat("((", 3000),
		strings.Repeat("{ ", 5000),
		strings.Repeat("if ", 20000),
		strings.Repeat("! ", 20000) + "true",
		strings.Repeat("\"$(", 400),
		strings.Repeat("`", 5000),
		strings.Repeat("\\`", 300),
		"echo " + strings.Repeat("{a,b}", 40),
		"echo {1..100000000}",
		"echo {1..1000}{1..1000}{1..1000}",
		"x=a; " + strings.Repeat("x=$x$x; ", 60) + "echo > $x",
		"f() { f; f; }; f",
		"f() { f & f | f; }; f",
		strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "echo > $i" + strings.Repeat("; done", 12),
		"eval 'eval \"$(echo eval)\"'; x='eval \"$x\"'; eval \"$x\"",
		"alias a='a b'; a",
		strings.Repeat("a=1 ", 20000) + "true",
		strings.Repeat("cd x; ", 10000),
		strings.Repeat("while ", 5000),
		strings.Repeat("case x in x) ", 3000),
		"echo " + strings.Repeat("[", 5000),
		"(( " + strings.Repeat("-", 50000) + "1 ))",
		"[[ " + strings.Repeat("! ", 50000) + "x ]]",
		strings.Repeat("a | ", 20000) + "b",
		strings.Repeat("a && ", 20000) + "b",
		strings.Repeat("time ", 20000),
		strings.Repeat("sudo ", 20000) + "ls",
		strings.Repeat("bash -c '", 2000),
		"sed '" + strings.Repeat("s/a/b/;", 20000) + "'",
		"awk '" + strings.Repeat("print > \"f\";", 10000) + "'",
		"awk '" + strings.Repeat("(", 10000) + "'",
		"perl -pe '" + strings.Repeat("s(a)(b)", 20000) + "'",
		"echo ~root ~nobody ~x/y > ~root/f",
		"echo ${x//" + strings.Repeat("*a", 200) + "/b}",
		"python3 -c '" + strings.Repeat("a/b.c ", 30000) + "'",
		"echo \x00 > \xff\xfe",
		"echo \ue000 > \ue001",
	}
}
