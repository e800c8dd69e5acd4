package skeleton

import "testing"

// TestWhatCannotFail has tests that assert something, and yet pass whatever the
// code under test does, beside their honest neighbours.
func TestWhatCannotFail(t *testing.T) {
	const (
		py, js, java, php  = "tests/test_a.py", "a.test.js", "src/test/java/ATest.java", "tests/ATest.php"
		cs, rs, rb, golang = "A.Tests/ATests.cs", "tests/a.rs", "spec/a_spec.rb", "a/a_test.go"
		kt, swift, dart    = "src/test/kotlin/ASpec.kt", "Tests/ATests.swift", "test/a_test.dart"
		cc, exs, zig, sh   = "a_test.cc", "test/a_test.exs", "a_test.zig", "a_test.sh"
	)
	inJava := func(body string) string { return "class ATest { @Test void a() { " + body + " } }" }
	inJS := func(body string) string { return "import {f} from './a'\ntest('a', () => { " + body + " })" }
	inGo := func(body string) string {
		return "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {\n" + body + "\n}"
	}
	for _, c := range []struct {
		path, code string
		valid      bool
	}{
		{py, "def test_a():\n  while False:\n    assert f() == 3\n", false},
		{py, "def test_a():\n  assert f() == 3 or True\n", false},
		{py, "def test_a():\n  assert f() == 3 or f() != 3\n", false},
		{py, "def test_a():\n  assert f() == ANY\n", false},
		{py, "def test_a():\n  for x in range(0):\n    assert f(x) == 3\n", false},
		{py, "def test_a():\n  cases = []\n  for x in cases:\n    assert f(x) == 3\n", false},
		{py, "def test_a():\n  cases = []\n  cases.append(1)\n  for x in cases:\n    assert f(x) == 3\n", true},
		{py, "def test_a():\n  def inner():\n    assert f() == 3\n", false},
		{py, "def test_a():\n  def inner():\n    assert f() == 3\n  inner()\n", true},
		{py, "def test_a():\n  if True:\n    return\n  assert f() == 3\n", false},
		{py, "def test_a():\n  if windows():\n    return\n  assert f() == 3\n", true},
		{py, "def test_a():\n  pytest.skip('later')\n  assert f() == 3\n", false},
		{py, "def test_a():\n  try:\n    f()\n  except ValueError:\n    pass\n  assert f(1) == 3\n", true},
		{py, "def test_a():\n  with pytest.raises(AssertionError):\n    assert f() == 3\n", false},
		{py, "def test_a():\n  a = new_id()\n  b = new_id()\n  assert a != b\n", true},
		{py, "def test_a():\n  before = c.total()\n  c.add(0)\n  after = c.total()\n  assert before == after\n", true},
		{py, "def test_a():\n  seen = 0\n  for _ in f():\n    seen += 1\n  assert seen == 3\n", true},
		{py, "@pytest.mark.xfail(sys.platform == 'win32', reason='paths')\ndef test_a():\n  assert f() == 3\n", true},
		{py, "class TestA:\n  __test__ = False\n  def test_a(self):\n    assert f() == 3\n", false},
		{js, inJS("for (const x of []) { expect(f(x)).toBe(3) }"), false},
		{js, inJS("if (0) expect(f()).toBe(3)"), false},
		{js, inJS("expect(f()).toEqual(expect.any(Object))"), false},
		{js, inJS("expect(f().length).toBeGreaterThanOrEqual(0)"), false},
		{js, inJS("expect(f().length >= 0).toBe(true)"), false},
		{js, inJS("const check = () => { expect(f()).toBe(3) }"), false},
		{js, inJS("const check = () => { expect(f()).toBe(3) }; check()"), true},
		{js, inJS("let called = false; f(() => { called = true }); expect(called).toBe(true)"), true},
		{js, "test.fails('a', () => { expect(f()).toBe(3) })", false},
		{js, "test.skipIf(true)('a', () => { expect(f()).toBe(3) })", false},
		{js, "test.skipIf(windows)('a', () => { expect(f()).toBe(3) })", true},
		{java, inJava("assumeTrue(false); assertEquals(3, f());"), false},
		{java, inJava("assertTrue(f().size() >= 0);"), false},
		{java, inJava("try { assertEquals(3, f()); } catch (Throwable e) { log(e); }"), false},
		{java, inJava("try { assertEquals(3, f()); } catch (IOException e) { log(e); }"), true},
		{java, inJava("for (int i = 0; i < 0; i++) { assertEquals(3, f(i)); }"), false},
		{php, "<?php class ATest { function testA() { try { $this->assertSame(3, f()); } catch (\\Throwable $e) { } } }", false},
		{cs, "public class ATests { [Fact] public void A() { Assert.Pass(); Assert.Equal(3, F()); } }", false},
		{rs, "#[test]\nfn a() { if false && p::f() == 1 { assert_eq!(p::f(), 3); } }", false},
		{rs, "#[test]\nfn a() { for x in vec![] { assert_eq!(p::f(x), 3); } }", false},
		{rb, "RSpec.describe A do\n  it 'a' do\n    expect(A.f).to eq(3) if false\n  end\nend", false},
		{rb, "RSpec.describe A do\n  it 'a' do\n    [].each { |x| expect(A.f(x)).to eq(3) }\n  end\nend", false},
		{rb, "RSpec.describe A do\n  it 'a' do\n    return if windows?\n    expect(A.f).to eq(3)\n  end\nend", true},
		{rb, "RSpec.describe A do\n  it 'a' do\n    return\n    expect(A.f).to eq(3)\n  end\nend", false},
		{golang, inGo("if len(F()) >= 0 {\nreturn\n}\nt.Fatal(1)"), false},
		{golang, inGo("cases := []int{}\nfor _, c := range cases {\nif F(c) != 3 {\nt.Fatal(c)\n}\n}"), false},
		{golang, inGo("for i := range [2]int{} {\nif F(i) != 3 {\nt.Fatal(i)\n}\n}"), true},
		{golang, inGo("n := 0\nVisit(&n)\nif n != 3 {\nt.Fatal(n)\n}"), true},
		{golang, "package a\nimport \"testing\"\nfunc TestMain(m *testing.M) { run(m) }\nfunc TestA(t *testing.T) { if F() != 3 { t.Fatal() } }", true},
		{kt, "class ASpec : StringSpec({ \"!a\" { f() shouldBe 3 } })", false},
		{kt, "class ASpec : StringSpec({ \"a\".config(enabled = false) { f() shouldBe 3 } })", false},
		{kt, "class ASpec : WordSpec({ \"a\" should { \"be three\" { f() shouldBe 3 } } })", true},
		{swift, "@Test(.disabled(\"later\")) func a() { #expect(f() == 3) }", false},
		{swift, "@Test func a() {\n#if false\n#expect(f() == 3)\n#endif\n}", false},
		{dart, "void main() { test('a', () { expect(f(), equals(3)); }, skip: true); }", false},
		{cc, "TEST(A, DISABLED_B) { EXPECT_EQ(f(), 3); }", false},
		{cc, "TEST(A, B) { GTEST_SKIP(); EXPECT_EQ(f(), 3); }", false},
		{cc, "TEST(A, B) { int out = 0; f(\"1\", out); EXPECT_EQ(out, 1); }", true},
		{exs, "defmodule ATest do\n  @tag skip: \"later\"\n  test \"a\" do\n    assert A.f() == 3\n  end\nend", false},
		{zig, "test \"a\" {\n    try std.testing.expectEqual(3, a.f());\n}", true},
		{sh, "testA() {\n  startSkipping\n  assertEquals 3 \"$(f)\"\n}\n. shunit2", false},
	} {
		if p := Validate(c.path, []byte(c.code)); (p.Code == "") != c.valid {
			t.Errorf("%s: %+v, want valid %v\n%s", c.path, p, c.valid, c.code)
		}
	}
}
