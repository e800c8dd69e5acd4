package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas/lexer"
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
		classes, _ := lexer.Scan("shell", content)
		syntax.Walk(f, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Comment:
				if classes[n.Pos().Offset()] != lexer.Comment {
					t.Errorf("%s:%s: comment %q is %d", name, n.Pos(), n.Text, classes[n.Pos().Offset()])
				}
			case *syntax.SglQuoted:
				if i := n.Left.Offset() + 1; n.Value != "" && !n.Dollar && classes[i] != lexer.Text {
					t.Errorf("%s:%s: string %q is %d", name, n.Pos(), n.Value, classes[i])
				}
			case *syntax.CallExpr:
				if len(n.Args) > 0 && n.Args[0].Lit() != "" && classes[n.Pos().Offset()] != lexer.Code {
					t.Errorf("%s:%s: command %q is %d", name, n.Pos(), n.Args[0].Lit(), classes[n.Pos().Offset()])
				}
			}
			return true
		})
	}
}

func TestLanguage(t *testing.T) {
	for _, tc := range []struct{ name, content, want string }{
		{"a/b.go", "", "go"},
		{"B.PY", "", "python"},
		{"x.d.ts", "", "typescript"},
		{"Dockerfile", "", "dockerfile"},
		{"Dockerfile.prod", "", "dockerfile"},
		{"api.dockerfile", "", "dockerfile"},
		{"run", "#!/usr/bin/env python3\n", "python"},
		{"run", "#!/bin/sh -e\n", "shell"},
		{"run", "#!/usr/bin/env -S node --flag\n", "javascript"},
		{"run", "text", "unknown"},
		{".env.local", "", "ini"},
		{"README.md", "", "text"},
	} {
		if got := Language(tc.name, []byte(tc.content)); got != tc.want {
			t.Errorf("Language(%q, %q) = %q, want %q", tc.name, tc.content, got, tc.want)
		}
	}
}
