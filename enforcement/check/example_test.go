package check_test

import (
	"fmt"

	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/schemas"
)

func Example() {
	set, problems := check.Compile([]schemas.Rule{{
		ID: "GO-DEFER-LOOP-001",
		Check: &schemas.Check{
			Language: "go",
			Query:    "defer $f($...)\ninside for",
			Message:  "move the body of the loop into a function of its own",
		},
	}})
	for _, p := range problems {
		fmt.Println(p)
	}
	before := "package a\n\nfunc f() {\n\tfor {\n\t\tg()\n\t}\n}\n"
	after := "package a\n\nfunc f() {\n\tfor {\n\t\tdefer g()\n\t}\n}\n"
	for _, f := range set.Run("a.go", []byte(after), check.Changed([]byte(before), []byte(after))) {
		fmt.Println(f)
	}
	// Output: a.go:5:3: GO-DEFER-LOOP-001: move the body of the loop into a function of its own
}

func ExampleSecrets() {
	content := "[remote]\nurl = https://bot:q8Zr" + "T2vLx0pW4nYd@git.acme.io/shop.git\n"
	for _, s := range check.Secrets("config.ini", []byte(content), nil) {
		fmt.Println(s.Line, s.Kind, s.Preview)
	}
	// Output: 2 url-password q8Zr… (16 characters)
}

func ExampleParseDiff() {
	files, err := check.ParseDiff("--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,3 @@\n package x\n+\n var y int\n")
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range files {
		fmt.Println(f.New, f.Added)
	}
	// Output: x.go [{2 2}]
}
