package testrun

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lay writes files into a new project, each "name=content" where the content
// matters. A no-break space stands for a space, and | for the end of a line.
func lay(t *testing.T, files string) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, file := range strings.Fields(files) {
		name, content, _ := strings.Cut(file, "=")
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(strings.NewReplacer("~", " ", "|", "\n").Replace(content)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// brief leaves out of commands what every run of a tool has.
var brief = regexp.MustCompile(` --(?:passWithNoTests|reporter=json|json|ci|no-fail-fast|message-format=short|no-color|format json|do-not-cache-result)\b`)

func TestSuitesAreTheProjectsOwn(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		there   string
		changed string
		want    string // "; " between suites, "?" before one that may be all tests, "!" before why one cannot run
	}{
		"nothing shows how":      {"a.txt", "a.go b.py", ""},
		"a package of go":        {"go.mod store/a.go", "store/a.go store/a_test.go", "go test -json ./store"},
		"the root's package":     {"go.mod a.go", "a.go", "go test -json ."},
		"a package that is gone": {"go.mod", "old/a.go", "go test -json ./..."},
		"two packages":           {"go.mod b/b.go a/a.go", "b/b.go a/a.go", "go test -json ./a ./b"},
		"an odd name":            {"go.mod it's/a.go", "it's/a.go", `go test -json './it'\''s'`},
		"a module below":         {"tools/go.mod tools/x/a.go", "tools/x/a.go", "(cd tools && go test -json ./x)"},
		"a script of npm":        {"go.mod a.go web/package.json={\"scripts\":{\"test\":\"mocha\"}}", "a.go web/src/x.ts", "go test -json .; ?(cd web && npm test --silent)"},
		"no script":              {"package.json={}", "a.js", ""},
		"npm's own script":       {"package.json={\"scripts\":{\"test\":\"echo~no~test~specified\"}}", "a.js", ""},
		"a broken manifest":      {"package.json={", "a.js", ""},
		"pnpm in a workspace":    {"pnpm-lock.yaml packages/a/package.json={\"scripts\":{\"test\":\"x\"}}", "packages/a/b.ts", "?(cd packages/a && pnpm test)"},
		"vitest in a workspace":  {"pnpm-lock.yaml node_modules/.bin/vitest apps/web/package.json={\"devDependencies\":{\"vitest\":\"4\"}} apps/web/a.ts", "apps/web/a.ts", "(cd apps/web && ./../../node_modules/.bin/vitest related --run a.ts)"},
		"vitest not installed":   {"pnpm-lock.yaml package.json={\"devDependencies\":{\"vitest\":\"4\"}} a.ts", "a.ts", "!vitest is not installed here; run `pnpm install`"},
		"packages that depend on it": {
			"node_modules/.bin/vitest node_modules/.bin/jest a/package.json={\"name\":\"@w/a\",\"devDependencies\":{\"vitest\":\"4\"}} a/x.ts " +
				"b/package.json={\"name\":\"b\",\"dependencies\":{\"@w/a\":\"1\"},\"scripts\":{\"test\":\"jest~--coverage\"}} b/y.ts=import~'@w/a/x' b/other.ts=import~'@w/ab' " +
				"c/package.json={\"name\":\"c\",\"scripts\":{\"test\":\"node~--test\"},\"dependencies\":{\"b\":\"1\"}} c/z.test.js=require('b');require('node:test') d/package.json={\"dependencies\":{\"e\":\"1\"}} d/w.js=import~'@w/a'",
			"a/x.ts", "(cd a && ./../node_modules/.bin/vitest related --run x.ts); (cd b && ./../node_modules/.bin/jest --findRelatedTests y.ts); (cd c && node --test --test-reporter=tap z.test.js)",
		},
		"a test named after it":    {"Gemfile lib/cart.rb test/cart_test.rb=require~'cart' test/till_test.rb", "lib/cart.rb", "bundle exec ruby -Ilib -Itest test/cart_test.rb -v"},
		"what a script sets":       {"node_modules/.bin/jest package.json={\"scripts\":{\"test\":\"NODE_OPTIONS=--experimental-vm-modules~CI=1~jest\"}} a.js", "a.js", "NODE_OPTIONS=--experimental-vm-modules CI=1 ./node_modules/.bin/jest --findRelatedTests a.js"},
		"bun's own runner":         {"bun.lock package.json={\"scripts\":{\"test\":\"bun~test\"}} a.ts b.test.ts=import~'./a';import~'bun:test'", "a.ts", "bun test ./b.test.ts"},
		"yarn's plug and play":     {"yarn.lock .pnp.cjs package.json={\"devDependencies\":{\"jest\":\"4\"}} a.ts", "a.ts", "yarn jest --findRelatedTests a.ts"},
		"node's own runner":        {"package.json={\"scripts\":{\"test\":\"node~--import~tsx~--test\"}} a.ts b.test.ts=import~'./a.js';import~'node:test' c.test.ts=import~'node:test'", "a.ts", "node --test --test-reporter=tap --import tsx b.test.ts"},
		"python":                   {"pyproject.toml shop/cart.py test_a.py=from~shop.cart~import~add test_b.py=import~os", "shop/cart.py", "python3 -m pytest -q test_a.py"},
		"python in its own":        {"pyproject.toml .venv/bin/python shop/cart.py", "shop/cart.py", "?.venv/bin/python -m pytest -q"},
		"uv before it synced":      {"pyproject.toml uv.lock tests/test_a.py", "tests/test_a.py", "uv run --frozen python -m pytest -q tests/test_a.py"},
		"a workspace of uv":        {"uv.lock .venv/bin/python libs/x/pyproject.toml libs/x/test_a.py", "libs/x/test_a.py", "(cd libs/x && ../../.venv/bin/python -m pytest -q test_a.py)"},
		"poetry":                   {"pyproject.toml poetry.lock test_a.py", "test_a.py", "poetry run python -m pytest -q test_a.py"},
		"pdm":                      {"pyproject.toml pdm.lock test_a.py", "test_a.py", "pdm run python -m pytest -q test_a.py"},
		"what stands near first":   {"pyproject.toml p/__init__.py=from~.core~import~C p/core.py tests/test_x.py=import~p tests/test_core.py=import~p", "p/core.py", "python3 -m pytest -q tests/test_core.py; python3 -m pytest -q tests/test_x.py"},
		"django":                   {"manage.py requirements.txt", "shop/cart.py", "?python3 manage.py test"},
		"django by pytest":         {"manage.py setup.cfg=DJANGO_SETTINGS_MODULE=x shop/test_a.py", "shop/test_a.py", "python3 -m pytest -q shop/test_a.py"},
		"rust":                     {"Cargo.toml=[package]|name~=~\"one\"", "src/lib.rs", "cargo test -p one"},
		"a workspace of rust":      {"Cargo.toml=[workspace] b/Cargo.toml=[package]|name=\"b\"", "b/src/lib.rs", "(cd b && cargo test -p b)"},
		"gradle with wrapper":      {"gradlew settings.gradle app/build.gradle app/src/test/A1Test.java=new~A1()", "app/src/main/A1.java", "rm -f app/build/test-results/test/TEST-*.xml || exit 126; GRADLE_OPTS=\"$GRADLE_OPTS -Djava.io.tmpdir=${TMPDIR:-/tmp}\" ./gradlew -q --no-daemon :app:test --tests '*A1Test'; s=$?; echo 'writ: reports'; cat app/build/test-results/test/TEST-*.xml 2>/dev/null; (exit $s)"},
		"a module of maven":        {"pom.xml m/pom.xml m/src/test/java/BTest.java=new~A()", "m/src/main/java/A.java", "rm -f m/target/surefire-reports/TEST-*BTest.xml || exit 126; mvn -q -B -pl m -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false -Dtest=BTest test; s=$?; echo 'writ: reports'; cat m/target/surefire-reports/TEST-*BTest.xml 2>/dev/null; (exit $s)"},
		"ruby":                     {"Gemfile spec/a_spec.rb=CartItem.new spec/b_spec.rb", "lib/cart_item.rb", "bundle exec rspec spec/a_spec.rb"},
		"ruby, and nothing named":  {"Gemfile spec/a_spec.rb", "lib/a.rb", "?bundle exec rspec"},
		"ruby without tests":       {"Gemfile", "lib/a.rb", ""},
		"composer":                 {"composer.json vendor/bin/phpunit tests/CartTest.php=new~Cart tests/UserTest.php", "src/Cart.php", `vendor/bin/phpunit --filter '\b(CartTest)::'`},
		"make, as the last way":    {"Makefile=all:|test:~all", "a.c", "?make test"},
		"a makefile without tests": {"Makefile=all:", "a.c", ""},
		"above the project":        {"a.go", "../../x/a.go", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range suites(lay(t, x.there), strings.Fields(x.changed), func(place, string) string { return "" }) {
				text := brief.ReplaceAllString(s.shown(), "")
				if s.whole {
					text = "?" + text
				}
				if s.why != "" {
					text = "!" + s.why
				}
				got = append(got, text)
			}
			if text := strings.Join(got, "; "); text != x.want {
				t.Errorf("%s\nwant %s", text, x.want)
			}
		})
	}
}

func TestImportersOfAPackageComeLater(t *testing.T) {
	t.Parallel()
	root := lay(t, "go.mod a/a.go b/b.go c/c.go d/d_test.go e/e.go")
	listed := "m/a|" + root + "/a||\nm/b|" + root + "/b|m/a |\nm/c|" + root + "/c|m/b fmt |testing \nm/d|" + root + "/d||m/a \nm/e|" + root + "/e|fmt |\n"
	all := suites(root, []string{"a/a.go"}, func(_ place, command string) string { return listed })
	if len(all) != 2 || all[0].command != "go test -json ./a" || all[1].command != "go test -json m/b m/c m/d" || !all[1].later {
		t.Errorf("%+v", all)
	}
	again := all[1].alone([]string{"m/b.TestOne", "m/c.TestTwo"}, all[1].at)
	if unbuilt := all[1].alone([]string{"m/b"}, all[1].at); unbuilt != "go test -json -run '^$' m/b" {
		t.Errorf("what cannot be built: %s", unbuilt)
	}
	if again != "go test -json -run '^(TestOne|TestTwo)$' m/b m/c" {
		t.Errorf("alone: %s", again)
	}
}

func TestCratesThatDependComeLater(t *testing.T) {
	t.Parallel()
	metadata := `{"packages":[{"name":"a","dependencies":[]},{"name":"b","dependencies":[{"name":"a","path":"/x/a"}]},{"name":"c","dependencies":[{"name":"b","path":"/x/b"},{"name":"serde"}]},{"name":"d","dependencies":[{"name":"a"}]}]}`
	if got := cargoDependents(metadata, "a"); strings.Join(got, " ") != "b c" {
		t.Errorf("%v", got)
	}
}
