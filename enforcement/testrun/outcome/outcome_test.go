package outcome

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// what tells a failure in a word: its cause, and what is missing.
func what(f schemas.TestFailure) string {
	text := f.Cause
	if f.Module != "" || f.Symbol != "" {
		text += " " + f.Module + "#" + f.Symbol
	}
	if f.Whole {
		text = "whole " + text
	}
	return text
}

// TestReadTellsWhyTestsFailed reads what real runners printed: pytest 9.2, Go 1.26,
// Node 20, cargo 1.95, Surefire 3.2 with JUnit 5, Gradle 4.4, RSpec 3.12, Minitest 5.15, PHPUnit 9.6; Jest's is in the form that its
// documentation gives.
func TestReadTellsWhyTestsFailed(t *testing.T) {
	for _, c := range []struct {
		tool, file, output string
		passed, skipped    int
		failed             map[string]string // by the end of the test's name
		why                string
	}{
		{Pytest, "tests/test_a.py", "pytest-a.xml", 1, 1, map[string]string{
			"test_assert": "assertion", "test_raises": "assertion", "test_name": "fault", "test_attr": "missing src.exists#total",
			"test_attr_obj": "other", "test_kw": "missing #f", "test_notimpl": "missing src/exists.py#g", "test_code": "other",
			"test_fix": "fault", "test_imp": "missing src.exists#total", "test_imp2": "missing src.cart#",
		}, ""},
		{Pytest, "tests/test_b.py", "pytest-b.xml", 0, 0, map[string]string{"": "whole missing requests_nope#"}, ""},
		{Pytest, "tests/test_c.py", "pytest-c.xml", 0, 0, map[string]string{"": "whole fault"}, ""},
		{Pytest, "tests/test_d.py", "pytest-d.xml", 0, 1, nil, "all of its tests were skipped"},
		{Go, "cart/run_test.go", "go-run.json", 1, 1, map[string]string{"TestAssert": "assertion", "TestSub": "assertion"}, ""},
		{Go, "cart/run_test.go", "go-Stub.json", 0, 0, map[string]string{"TestStub": "missing /p/go/cart/cart.go#"}, ""},
		{Go, "cart/run_test.go", "go-Crash.json", 0, 0, map[string]string{"TestCrash": "other"}, ""},
		{Go, "cart/run_test.go", "go-missing.json", 0, 0, map[string]string{"": "whole missing #Total; whole missing #Discount; whole missing #Sum; whole missing #Have; whole missing #Have; whole missing #Name"}, ""},
		{Go, "cart/run_test.go", "go-module.json", 0, 0, map[string]string{"": "whole missing github.com/nobody/nothing#"}, ""},
		{Go, "cart/run_test.go", "go-fault.json", 0, 0, map[string]string{"": "whole fault; whole missing #Total; whole missing #gto"}, ""},
		{Go, "ext/run_test.go", "go-empty.json", 0, 0, map[string]string{"": "whole missing /p/go/ext#"}, ""},
		{Node, "test/a.test.js", "node-a.tap", 1, 1, map[string]string{
			"asserts": "assertion", "missing fn": "missing #total", "typo": "fault", "in": "assertion", "req": "missing ../cart.js#", "throws": "assertion",
		}, ""},
		{Node, "test/b.test.mjs", "node-b.tap", 0, 0, map[string]string{"b.test.mjs": "whole missing /p/node/cart.mjs#"}, ""},
		{Node, "test/c.test.mjs", "node-c.tap", 0, 0, map[string]string{"c.test.mjs": "whole missing ../have.mjs#total"}, ""},
		{Cargo, "tests/run.rs", "cargo-run.txt", 1, 1, map[string]string{"asserts": "assertion", "words": "assertion", "stubbed": "missing src/lib.rs#", "unwraps": "other"}, ""},
		{Cargo, "tests/missing.rs", "cargo-missing.err", 0, 0, map[string]string{"": "whole missing cart::total#; whole missing cart::sum#sum; whole missing #name; whole missing #price; whole missing"}, ""},
		{Cargo, "tests/fault.rs", "cargo-fault.err", 0, 0, map[string]string{"": "whole fault"}, ""},
		{Maven, "src/test/java/shop/RunTest.java", "maven-run.txt", 1, 1, map[string]string{"asserts": "assertion", "stub": "missing"}, ""},
		{Maven, "src/test/java/shop/RunTest.java", "maven-missing.txt", 0, 0, map[string]string{"": "whole missing shop.tax#; whole missing #total; whole missing #have; whole missing #Cart"}, ""},
		{Maven, "src/test/java/shop/DiscountTest.java", "gradle-missing.err", 0, 0, map[string]string{"": "whole missing #discounted; whole missing #discounted"}, ""},
		{Jest, "test/a.test.ts", "jest-a.json", 1, 1, map[string]string{"adds": "assertion", "calls": "missing #total", "typo": "fault", "imports": "missing ./cart#"}, ""},
		{Jest, "test/b.test.ts", "jest-b.json", 0, 0, map[string]string{"": "whole missing ../src/cart#"}, ""},
		{RSpec, "spec/a_spec.rb", "rspec-a.json", 1, 1, map[string]string{
			"A red": "assertion", "A missing method": "missing #g", "A missing const": "missing #B", "A typo": "missing main#expcet",
		}, ""},
		{RSpec, "spec/b_spec.rb", "rspec-b.json", 0, 0, map[string]string{"": "whole missing b#"}, ""},
		{RSpec, "spec/c_spec.rb", "rspec-c.json", 0, 0, map[string]string{"": "whole missing #Missing"}, ""},
		{RSpec, "spec/d_spec.rb", "rspec-d.json", 0, 0, map[string]string{"": "whole fault"}, ""},
		{Minitest, "test/a_test.rb", "minitest-a.txt", 1, 1, map[string]string{
			"ATest#test_red": "assertion", "ATest#test_missing": "missing #g", "ATest#test_const": "missing #B",
		}, ""},
		{Minitest, "test/b_test.rb", "minitest-b.err", 0, 0, map[string]string{"": "whole missing b#"}, ""},
		{Minitest, "test/d_test.rb", "minitest-d.err", 0, 0, map[string]string{"": "whole fault"}, ""},
		{PHPUnit, "tests/ATest.php", "phpunit-a.xml", 2, 1, map[string]string{
			"testRed": "assertion", "testMissing": "missing #g", "testClass": "missing Cart#Cart", "testMethod": "missing ArrayObject#total", "testData with data set #1": "assertion",
		}, ""},
		{PHPUnit, "tests/BTest.php", "phpunit-b.err", 0, 0, map[string]string{"": "whole missing /p/tests/../b.php#"}, ""},
		{PHPUnit, "tests/CTest.php", "phpunit-c.err", 0, 0, map[string]string{"": "whole fault"}, ""},
	} {
		t.Run(c.output, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", c.output))
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			if filepath.Ext(c.output) == ".err" {
				said = string(raw)
			}
			r, why := Read(c.tool, c.file, string(raw), said)
			if len(r.Passed) != c.passed || len(r.Skipped) != c.skipped || why != c.why {
				t.Errorf("passed %q, skipped %q, %q", r.Passed, r.Skipped, why)
			}
			got := map[string]string{}
			for _, f := range r.Failed {
				name := f.Name[strings.LastIndexAny(f.Name, "./:")+1:]
				if strings.HasSuffix(c.file, "/"+f.Name[strings.LastIndexByte(f.Name, '/')+1:]) {
					name = filepath.Base(f.Name)
				} else if f.Whole {
					name = ""
				}
				if got[name] != "" {
					got[name] += "; "
				}
				got[name] += what(f)
				if f.Line == "" {
					t.Errorf("%s failed, and no line says why", f.Name)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.failed) {
				t.Errorf("failed\n%v, want\n%v", got, c.failed)
			}
		})
	}
}

func TestReadTakesAnything(t *testing.T) {
	for tool := range readers {
		for _, text := range []string{"", "{", "<testsuites><testcase", "not ok 1 - \n  ---", "test a ... FAILED", "[ERROR] a.java:[1,2] x", strings.Repeat("(", 10_000)} {
			if r, why := Read(tool, "x", text, text); len(r.Passed) > 0 || len(r.Failed) == 0 && why == "" {
				t.Errorf("%s reads %.20q as %+v, %q", tool, text, r, why)
			}
		}
	}
	if _, why := Read("abacus", "x", "", ""); why == "" {
		t.Error("an unknown tool is read")
	}
}

func TestMergeTellsWhatDiffers(t *testing.T) {
	fails := func(name string) schemas.TestFailure {
		return schemas.TestFailure{Name: name, Cause: schemas.FailAssertion}
	}
	got := Merge([]Run{
		{Passed: []string{"a", "b"}, Failed: []schemas.TestFailure{fails("c"), fails("d")}},
		{Passed: []string{"a", "c"}, Failed: []schemas.TestFailure{fails("b"), fails("d")}, Skipped: []string{"e"}},
	})
	if got.Passed != 1 || got.Skipped != 1 || !slices.Equal(got.Differs, []string{"b", "c"}) || len(got.Failed) != 1 || got.Failed[0].Name != "d" {
		t.Errorf("%+v", got)
	}
	if got := Merge([]Run{{Passed: []string{"a"}}, {}}); !slices.Equal(got.Differs, []string{"a"}) {
		t.Errorf("one that ran once only: %+v", got)
	}
}

// TestWhatKeptGradleFromRunningIsTold, and not the advice behind it.
func TestWhatKeptGradleFromRunningIsTold(t *testing.T) {
	const said = "\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not create service of type FileHasher.\n> java.io.FileNotFoundException: fileHashes.lock (Permission denied)\n\n" +
		"* Try:\nRun with --stacktrace option to get the stack trace.\n\n* Get more help at https://help.gradle.org\n\nBUILD FAILED in 8s\n"
	if _, why := Read(Maven, "ATest.java", Reports+"\n", said); !strings.HasSuffix(why, "came to an end: > java.io.FileNotFoundException: fileHashes.lock (Permission denied)") {
		t.Error(why)
	}
}

// TestTheReasonIsToldAndNoLineOfAStack: Rust's programs print where they were
// behind why they ended.
func TestTheReasonIsToldAndNoLineOfAStack(t *testing.T) {
	for _, said := range []string{
		"error: no default is configured.\nhelp: run 'rustup default stable'\n\nStack backtrace:\n   0: anyhow::error\n  13: <unknown>\n",
		"help: run 'rustup default stable'\nstack backtrace:\n   0: main\nnote: Some details are omitted.\n",
	} {
		if got := LastLine(said); got != "help: run 'rustup default stable'" {
			t.Errorf("%q: %q", said, got)
		}
	}
}
