package programnames

import (
	"path"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func TestNames(t *testing.T) {
	for line, want := range map[string]string{
		"git status": "git", "/usr/bin/git log": "git", "FOO=1 BAR='a b' git log": "git", `g'i't x`: "git", `\git x`: "git", `"git" x`: "git",
		"git a && rm b || ls; cat c | tee d & wait": "git rm ls cat tee wait", "go run `cat x`": "cat go", "go run $(cat x) \"$(ls `id`)\"": "cat id ls go",
		"(cd a; git b)": "cd git", "{ git a; rm b; }": "git rm", "if test a; then git b; else rm c; fi": "test git rm", "for f in a $(ls); do git add $f; done": "ls git",
		"while ! git a; do sleep 1; done": "git sleep", "git log > out.txt 2>&1": "git", ">out git log": "git", "git <(ls) >(tee x)": "ls tee git",
		"git log # rm x": "git", "git a\nrm b": "git rm", "git a \\\n b": "git", "X=$(rm a) git": "rm git", "git > $(rm a)": "rm git", "[ -f a ] && git b": "[ git",
		"echo ${HOME} ${A:-b} $1 $? a$": "echo", "time git a": "time git", "git 'a;rm b'": "git", "git commit -m \"a; rm b\"": "git", "git log|rm": "git rm",
		"~/bin/git a": "git", "git log 2>/dev/null": "git", "git *.go {a,b}": "git", "env A=b git": "env",
	} {
		names, ok := Names(line)
		slices.Sort(names)
		sorted := strings.Fields(want)
		slices.Sort(sorted)
		if !ok || !slices.Equal(names, sorted) {
			t.Errorf("%q: %v, %v; expected %v", line, names, ok, sorted)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	for _, line := range []string{
		"", " ", "# git", "A=b", "> file", "$CMD x", "$(echo git) x", "g$X status", "git; ${X} y", "g?t x", "{git,rm} x", "$'git' x", "git $'a\\'; rm b; '",
		"git <<EOF\n$(rm a)\nEOF", "git <<<a", "git() { rm; }; git", "function git { rm; }", "case a in b) rm;; esac", "[[ -v a ]]", "((a=1))", "echo $((a))", "echo $[a]",
		"a=(git)", "git 'a", "git \"a", "git `a", "git $(a", "git )", "git &> a rm", "echo ${!a}", "echo ${a@P}", "echo ${a:b}", "echo ${a[b]}", "a[b]=c git",
		"for f do rm; done", "select a in b; do rm; done", "coproc rm", "git \x00 a", "git\r", "echo ${a:-$(rm)}", "git a >", "git a\\", "/usr/bin/", "=git a",
		strings.Repeat("$(", 100), strings.Repeat("(", 3000), "git " + strings.Repeat("a", maxLine), "git ;; rm", "echo @(a|b)", "*", "echo $a[1]", "<(a)", "g<(a)", "X=1 <(a)", "$0<0 git", "()git&ls", "( ) git", "(ls) git", "{ ls; } git", "A=1 if git; then ls; fi", ">x if git; then ls; fi", "A=1 (ls)",
	} {
		if names, ok := Names(line); ok {
			t.Errorf("%q: %v", line, names)
		}
	}
}

// full returns the names that a complete parser finds; known is false where one
// is put together at run time.
func full(t *testing.T, line string) (names []string, known, parsed bool) {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false, false
	}
	known = true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			text, ok := plain(n.Args[0].Parts, false)
			known = known && ok
			names = append(names, path.Base(text))
		case *syntax.FuncDecl, *syntax.CoprocClause:
			known = false
		case *syntax.DeclClause:
			names = append(names, n.Variant.Value)
		case *syntax.LetClause:
			names = append(names, "let")
		case *syntax.TimeClause:
			names = append(names, "time")
		}
		return true
	})
	return names, known, true
}

func plain(parts []syntax.WordPart, quoted bool) (string, bool) {
	var out strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			for i := 0; i < len(p.Value); i++ {
				if p.Value[i] == '\\' && i+1 < len(p.Value) && (!quoted || strings.IndexByte("$`\"\\\n", p.Value[i+1]) >= 0) {
					if i++; p.Value[i] == '\n' {
						continue
					}
				}
				out.WriteByte(p.Value[i])
			}
		case *syntax.SglQuoted:
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, ok := plain(p.Parts, true)
			if !ok {
				return "", false
			}
			out.WriteString(inner)
		default:
			return "", false
		}
	}
	return out.String(), true
}

func FuzzNames(f *testing.F) {
	for _, line := range []string{
		"git a && rm `b` | \"c\" $(d)", "if a; then b; fi", "for a in b; do c; done", "(a; b) > c", "a=b c 2>&1", "{ a; }", "! a", "a <(b)", "time a", "\\a", "a #b\nc",
		"$'a' b", "a <<b\nc\nb", "[ a ]", "[[ a ]]", "a${b:-c}", "a \"${b}\" 'c'", "a & b", "export a=$(b)",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		names, ok := Names(line)
		if !ok {
			return
		}
		want, known, parsed := full(t, line)
		if !parsed {
			return
		}
		if !known {
			t.Fatalf("%q: %v, and a name is put together at run time (%v)", line, names, want)
		}
		for _, name := range want {
			if !slices.Contains(names, name) {
				t.Fatalf("%q: %v, and it runs %q", line, names, name)
			}
		}
	})
}
