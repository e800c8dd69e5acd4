package skeleton

import "testing"

var fuzzPaths = []string{"a/x_test.go", "tests/test_x.py", "src/x.test.ts", "src/test/java/XTest.java", "X.Tests/XTests.cs", "tests/XTest.php", "tests/x.rs", "spec/x_spec.rb", "test/x_test.rb", "x.bats", "x_test.cc"}

func FuzzValidate(f *testing.F) {
	for i, s := range []string{
		"package p\nimport \"testing\"\nfunc TestX(t *testing.T) { if f() != 1 { t.Fatal() } }",
		"def test_x():\n    assert f(\"\"\"a\n\"\"\") == (1,\n 2)\nclass TestY(:\n  def test(",
		"test(`a${`b`}`, () => { expect(/[/]x/.test(y)).toBe(1) })\n`${",
		"class X { @Test void a() { assertEquals(1, f(\"\"\"\n\")); } }",
		"[Fact] public void A() => Assert.Equal($@\"{\"\"}\", x);\n#if\n",
		"<?php it('x', fn () => expect(<<<X\n$a\n X)->toBe(1));",
		"#[test] fn x<'a>() { assert!(r#\"\"#.len() == 'a'); /* /* */ }",
		"it \"x\" do\n expect(<<~A).to eq %w[a b]\n A\n end if /x/\n=begin\n",
		"class T < Minitest::Test\n def test_x = assert_equal(1, f)\nend",
		"@test \"x\" {\n  run f\n  [ \"$status\" -eq 0 ]\n}",
		"TEST(X, Y) { EXPECT_EQ(1, f()); }",
	} {
		f.Add(uint8(i), []byte(s))
	}
	f.Fuzz(func(t *testing.T, which uint8, src []byte) {
		p := fuzzPaths[int(which)%len(fuzzPaths)]
		got := Validate(p, src)
		if got != Validate(p, src) {
			t.Fatal("two readings differ")
		}
		if (got.Code == "") != (got.Text == "") || got.Line < 0 {
			t.Fatalf("%+v", got)
		}
	})
}

func FuzzPaths(f *testing.F) {
	f.Add("a/../b_test.go")
	f.Add("/")
	f.Add("")
	f.Fuzz(func(t *testing.T, p string) {
		if IsTestPath(p) && IsTestSupport(p) {
			t.Fatalf("%q is both a test and its support", p)
		}
	})
}
