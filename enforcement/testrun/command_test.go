package testrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommand(t *testing.T) {
	for name, x := range map[string]struct {
		there   string // files of the project, "name=content" where the content matters
		changed string
		want    string
	}{
		"nothing shows how":      {"a.txt", "a.go b.py", ""},
		"a package of go":        {"go.mod store/a.go", "store/a.go store/a_test.go", "go test ./store"},
		"the root's package":     {"go.mod a.go", "a.go", "go test ."},
		"a package that is gone": {"go.mod", "old/a.go", "go test ./..."},
		"two packages":           {"go.mod b/b.go a/a.go", "b/b.go a/a.go", "go test ./a ./b"},
		"an odd name":            {"go.mod it's/a.go", "it's/a.go", `go test './it'\''s'`},
		"a module below":         {"tools/go.mod tools/x/a.go", "tools/x/a.go", "(cd tools && go test ./x)"},
		"two languages":          {"go.mod a.go web/package.json={\"scripts\":{\"test\":\"jest\"}}", "a.go web/src/x.ts", "go test . && (cd web && npm test --silent)"},
		"no script":              {"package.json={}", "a.js", ""},
		"npm's own script":       {"package.json={\"scripts\":{\"test\":\"echo\u00a0no\u00a0test\u00a0specified\"}}", "a.js", ""},
		"a broken manifest":      {"package.json={", "a.js", ""},
		"pnpm":                   {"package.json={\"scripts\":{\"test\":\"x\"}} pnpm-lock.yaml", "a.ts", "pnpm test"},
		"python":                 {"pyproject.toml", "shop/cart.py", "python3 -m pytest -q"},
		"python in its own":      {"pyproject.toml .venv/bin/python", "shop/cart.py", ".venv/bin/python -m pytest -q"},
		"django":                 {"manage.py requirements.txt", "shop/cart.py", "python3 manage.py test"},
		"rust":                   {"Cargo.toml", "src/lib.rs", "cargo test --quiet"},
		"gradle with wrapper":    {"gradlew build.gradle", "src/A.java", "./gradlew test -q"},
		"maven":                  {"pom.xml", "src/A.java", "mvn -q test"},
		"ruby":                   {"Gemfile spec/a_spec.rb", "lib/a.rb", "bundle exec rspec"},
		"ruby without tests":     {"Gemfile", "lib/a.rb", ""},
		"make, as the last way":  {"Makefile=all:\n\ntest:\u00a0all\n\t./check", "a.c", "make test"},
		"a makefile without":     {"Makefile=all:\n", "a.c", ""},
		"above the project":      {"a.go", "../../x/a.go", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, file := range strings.Split(x.there, " ") {
				name, content, _ := strings.Cut(file, "=")
				at := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(strings.ReplaceAll(content, "\u00a0", " ")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := Command(root, strings.Fields(x.changed)); got != x.want {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}
