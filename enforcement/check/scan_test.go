package check

import (
	goscanner "go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// goroot is the folder of Go, whose sources are real code at hand.
func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("go is not at hand: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// picture writes the classes of a text below it: blank for code, s for the
// inside of a string, q for a delimiter, c for a comment.
func picture(classes []class) string {
	var b strings.Builder
	for _, c := range classes {
		b.WriteByte(" sqc"[c])
	}
	return b.String()
}

func TestClasses(t *testing.T) {
	for _, tc := range []struct{ name, language, src, want string }{
		{
			"go strings and comments", langGo,
			"a(\"b\\\"\", '\"') // c",
			"  qsssq  qsq  cccc",
		},
		{"go raw", langGo, "x := `a\\` + b", "     qssq    "},
		{"go block comment", langGo, "a /* \"b */ c", "  cccccccc  "},
		{"python prefix", langPython, `x = rb"a\"b" # c`, `    qqqssssq ccc`},
		{"python triple", langPython, `"""a"b""" + 1`, `qqqsssqqq    `},
		{"python f-string", langPython, `f"a{b!r:>{w}}c{{" + d`, `qqsq   sssssqsssq    `},
		{"python f-string with nested quotes", langPython, `f"{d["k"]}" # x`, `qqq  qsq qq ccc`},
		{"python broken f-string", langPython, "f\"{a\nb()", "qqq     "},
		{"template", langTypeScript, "`a${b(`c`)}d` + e", "qsqq  qsq qsq    "},
		{"template with a brace", langTypeScript, "`${ {a: 1}.a }` // c", "qqq          qq cccc"},
		{"regular expression", langJavaScript, `x = /["/]/g.test(y)`, `    qssssqq        `},
		{"division", langJavaScript, `x = a / b / "c"`, `            qsq`},
		{"regular expression after a condition", langJavaScript, `if (x) /'/.test(y)`, `       qsq        `},
		{"java text block", langJava, "\"\"\"\na\"b\"\"\" + 'c'", "qqqssssqqq   qsq"},
		{"rust raw", langRust, `r#"a"b"# + 'c' + 'life`, `qqqsssqq   qsq        `},
		{"rust nested comment", langRust, `a /* b /* c */ d */ e`, `  ccccccccccccccccc  `},
		{"rust byte string", langRust, `b"a\"b" 'x: loop`, `qqssssq         `},
		{"shell quotes", langShell, `echo 'a#b' "c $x" # d`, `     qsssq qssssq ccc`},
		{"shell substitution", langShell, `a="$(b "c")d" e#f`, `  qqq  qsqqsq    `},
		{"shell case in substitution", langShell, `a="$(case x in y) z;; esac)b"`, `  qqq                     qsq`},
		{"shell parameter", langShell, `"${a:-"b # c"}" # d`, `qsssssqsssssqsq ccc`},
		{"shell here-document", langShell, "cat <<'E' | x\na # b\nE\nc # d", "              ssssssq   ccc"},
		{"shell here-document with tabs", langShell, "cat <<-E\n\ta\n\tE\nb # c", "         sssqq   ccc"},
		{"shell arithmetic", langShell, "((a<<b))\nc # d", "           ccc"},
		{"sql", langSQL, `a 'b''c' "d" -- e`, `  qssssq     cccc`},
		{"yaml", langYAML, "a: \"b # c\" # d\ne: don't # f\n", "   qsssssq ccc          ccc "},
		{"yaml scalar with a hash", langYAML, "a: b#c # d", "       ccc"},
		{"yaml block", langYAML, "a: |\n  # b\n  c\nd: 1 # e", "    ssssssssss      ccc"},
		{"dockerfile", langDocker, "# a\nRUN b # c", "ccc          "},
		{"shebang", langPython, "#!/usr/bin/python\na", "ccccccccccccccccc  "},
		{"prose", langText, "eval(x)", "ccccccc"},
		{"unknown", langUnknown, "it's // a\n\"b\" http://c", "     cccc qsq         "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			classes, _ := scan(tc.language, []byte(tc.src))
			if got := picture(classes); got != tc.want {
				t.Errorf("classes differ\nsource %q\ngot    %q\nwant   %q", tc.src, got, tc.want)
			}
		})
	}
}

// TestClassesAgreeWithGo compares with the scanner of Go over Go's own sources.
func TestClassesAgreeWithGo(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goroot(t), "src", "go", "*", "*.go"))
	if err != nil || len(files) == 0 {
		t.Skipf("the sources of Go are not at hand: %v", err)
	}
	for _, name := range files[:min(len(files), 60)] {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		classes, _ := scan(langGo, content)
		var s goscanner.Scanner
		set := token.NewFileSet()
		file := set.AddFile(name, -1, len(content))
		s.Init(file, content, nil, goscanner.ScanComments)
		for {
			pos, tok, lit := s.Scan()
			if tok == token.EOF {
				break
			}
			at := file.Offset(pos)
			want := code
			switch tok {
			case token.COMMENT:
				want = comment
			case token.STRING, token.CHAR:
				want = delimiter
			default:
			}
			if tok != token.SEMICOLON && classes[at] != want {
				t.Fatalf("%s: %q is %d, want %d", set.Position(pos), lit, classes[at], want)
			}
		}
	}
}

// TestClassesAgreeWithShell compares comments with those that a parser of
// shells finds in real scripts.
func TestClassesAgreeWithShell(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goroot(t), "src", "*.bash"))
	if err != nil || len(files) == 0 {
		t.Skipf("the scripts of Go are not at hand: %v", err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(string(content)), name)
		if err != nil {
			t.Fatal(err)
		}
		classes, _ := scan(langShell, content)
		syntax.Walk(f, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Comment:
				if classes[n.Pos().Offset()] != comment {
					t.Errorf("%s:%s: comment %q is %d", name, n.Pos(), n.Text, classes[n.Pos().Offset()])
				}
			case *syntax.SglQuoted:
				if i := n.Left.Offset() + 1; n.Value != "" && !n.Dollar && classes[i] != text {
					t.Errorf("%s:%s: string %q is %d", name, n.Pos(), n.Value, classes[i])
				}
			case *syntax.CallExpr:
				if len(n.Args) > 0 && n.Args[0].Lit() != "" && classes[n.Pos().Offset()] != code {
					t.Errorf("%s:%s: command %q is %d", name, n.Pos(), n.Args[0].Lit(), classes[n.Pos().Offset()])
				}
			}
			return true
		})
	}
}

func TestLanguage(t *testing.T) {
	for _, tc := range []struct{ name, content, want string }{
		{"a/b.go", "", langGo},
		{"B.PY", "", langPython},
		{"x.d.ts", "", langTypeScript},
		{"Dockerfile", "", langDocker},
		{"Dockerfile.prod", "", langDocker},
		{"api.dockerfile", "", langDocker},
		{"run", "#!/usr/bin/env python3\n", langPython},
		{"run", "#!/bin/sh -e\n", langShell},
		{"run", "#!/usr/bin/env -S node --flag\n", langJavaScript},
		{"run", "text", langUnknown},
		{".env.local", "", "ini"},
		{"README.md", "", langText},
	} {
		if got := Language(tc.name, []byte(tc.content)); got != tc.want {
			t.Errorf("Language(%q, %q) = %q, want %q", tc.name, tc.content, got, tc.want)
		}
	}
}
