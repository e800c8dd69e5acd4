package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// gradle shows that Gradle is there, with the JUnit of a distribution's packages. Its
// builds take a minute, so they run where test/ci/gradle.sh asks for them.
var gradle = []string{"sh", "-ec", "[ -n \"$WRIT_TEST_GRADLE\" ] || { echo WRIT_TEST_GRADLE is not set, test/ci/gradle.sh does; exit 1; }; gradle --version; ls /usr/share/java/junit4.jar /usr/share/java/hamcrest-core.jar"}

const gradleBuild = "apply plugin: 'java'\ndependencies { testImplementation files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }\n"

// TestRealRunnersAreReadFileByFile runs test files by the runners themselves. In
// the place of `writ confine` stands a script that runs the command unheld.
func TestRealRunnersAreReadFileByFile(t *testing.T) {
	for name, c := range map[string]struct {
		needs []string // a command that shows the runner is there
		files map[string]string
		test  string
	}{
		"pytest": {[]string{"python3", "-m", "pytest", "--version"}, map[string]string{"old.py": "def f(x):\n    return x\n"}, "tests/test_cart.py|" +
			"from old import f\n\n\ndef test_red():\n    assert f(1) == 2\n\n\ndef test_passes():\n    assert f(1) == 1\n"},
		"go": {[]string{"go", "version"}, map[string]string{"go.mod": "module m\n\ngo 1.22\n", "cart/old.go": "package cart\n\nfunc F(x int) int { return x }\n"}, "cart/cart_test.go|" +
			"package cart\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) {\n\tif F(1) != 2 {\n\t\tt.Error(\"no\")\n\t}\n}\n\nfunc TestPasses(t *testing.T) {\n\tif F(1) != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n"},
		"node": {[]string{"node", "--test", "--help"}, map[string]string{"package.json": "{}", "old.js": "exports.f = (x) => x;\n"}, "test/cart.test.js|" +
			"const test = require('node:test');\nconst assert = require('node:assert');\nconst { f } = require('../old.js');\ntest('red', () => assert.strictEqual(f(1), 2));\ntest('passes', () => assert.strictEqual(f(1), 1));\n"},
		"rspec": {[]string{"rspec", "--version"}, map[string]string{"lib/old.rb": "module Old\n  def self.f(x) = x\nend\n"}, "spec/cart_spec.rb|" +
			"require 'old'\nRSpec.describe Old do\n  it('red') { expect(Old.f(1)).to eq(2) }\n  it('passes') { expect(Old.f(1)).to eq(1) }\nend\n"},
		"minitest": {[]string{"ruby", "-e", "require 'minitest'"}, map[string]string{"lib/old.rb": "module Old\n  def self.f(x) = x\nend\n"}, "test/cart_test.rb|" +
			"require 'minitest/autorun'\nrequire 'old'\nclass CartTest < Minitest::Test\n  def test_red = assert_equal(2, Old.f(1))\n  def test_passes = assert_equal(1, Old.f(1))\nend\n"},
		"phpunit": {[]string{"phpunit", "--version"}, map[string]string{"old.php": "<?php function f($x) { return $x; }\n"}, "tests/CartTest.php|" +
			"<?php\nrequire_once __DIR__ . '/../old.php';\nfinal class CartTest extends PHPUnit\\Framework\\TestCase {\n  public function testRed(): void { $this->assertSame(2, f(1)); }\n  public function testPasses(): void { $this->assertSame(1, f(1)); }\n}\n"},
		"gradle": {gradle, map[string]string{
			"settings.gradle": "include 'app'\n", "app/build.gradle": gradleBuild,
			"app/src/main/java/Old.java": "class Old {\n  static int f(int x) { return x; }\n}\n",
		}, "app/src/test/java/CartTest.java|" +
			"import static org.junit.Assert.*;\nimport org.junit.Test;\npublic class CartTest {\n  @Test public void red() { assertEquals(2, Old.f(1)); }\n  @Test public void passes() { assertEquals(1, Old.f(1)); }\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := exec.Command(c.needs[0], c.needs[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s is not to be had here: %v %s", name, err, out)
			}
			root := t.TempDir()
			put := func(file, content string) {
				path := filepath.Join(root, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			test, content, _ := strings.Cut(c.test, "|")
			for file, text := range c.files {
				put(file, text)
			}
			put(test, content)
			put(".stand/writ", "#!/bin/sh\nfor w in \"$@\"; do command=$w; done\nexec /bin/sh -c \"$command\"\n")
			one, why := File(root, test)
			if why != "" {
				t.Fatal(why)
			}
			run := schemas.TestRun{Project: root, Confine: []string{"--quiet"}, Files: []schemas.TestFile{one}, Times: 2, FilesMillis: 300_000}
			world := World{Writ: filepath.Join(root, ".stand", "writ"), Vars: os.Environ()}
			got := Run(t.Context(), run, world).Files
			if len(got) != 1 || got[0].NotRun != "" || got[0].Passed != 1 || len(got[0].Failed) != 1 || got[0].Failed[0].Cause != schemas.FailAssertion || got[0].SHA256 == "" {
				t.Errorf("%+v", got)
			}
			run.Confine = nil
			if got := Run(t.Context(), run, world).Files; got[0].NotRun == "" {
				t.Errorf("it ran, and nothing held it: %+v", got)
			}
		})
	}
}

func TestFileSaysWhyOneIsNotRun(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"a_test.go", "test/a.test.js", "test/a_test.exs", "src/test/java/ATest.java"} {
		if one, why := File(root, file); why == "" {
			t.Errorf("%s: %+v", file, one)
		}
	}
}
