package skeleton

import "testing"

// TestNothingOfItRuns: what the runner does not collect or build says nothing, and
// neither does a function that the test put there itself.
func TestNothingOfItRuns(t *testing.T) {
	for name, c := range map[string]struct {
		path, content string
		valid         bool
	}{
		"pytest, a class with __init__":     {"tests/test_a.py", "from a import f\nclass TestA:\n    def __init__(self):\n        self.x = 1\n    def test_f(self):\n        assert f() == 1\n", false},
		"pytest, a helper with __init__":    {"tests/test_a.py", "from a import f\nclass Fake:\n    def __init__(self):\n        self.x = 1\ndef test_f():\n    assert f(Fake()) == 1\n", true},
		"unittest, a class with __init__":   {"tests/test_a.py", "import unittest\nfrom a import f\nclass A(unittest.TestCase):\n    def __init__(self, *a):\n        super().__init__(*a)\n    def test_f(self):\n        self.assertEqual(f(), 1)\n", true},
		"pytest, replaced by its path":      {"tests/test_a.py", "import a\ndef test_f(monkeypatch):\n    monkeypatch.setattr('a.f', lambda: 1)\n    assert a.f() == 1\n", false},
		"pytest, another replaced":          {"tests/test_a.py", "import a\ndef test_f(monkeypatch):\n    monkeypatch.setattr('a.now', lambda: 1)\n    assert a.f() == 1\n", true},
		"Rust, a module never built":        {"tests/a.rs", "#[cfg(any())]\nmod tests {\n    #[test]\n    fn f() { assert_eq!(a::f(), 1); }\n}\n", false},
		"Rust, a module of tests":           {"tests/a.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn f() { assert_eq!(a::f(), 1); }\n}\n", true},
		"Rust, one behind a dead module":    {"tests/a.rs", "#[cfg(any())]\nmod x { }\n#[test]\nfn f() { assert_eq!(a::f(), 1); }\n", true},
		"Go, never built":                   {"a_test.go", "//go:build never\n\npackage a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Fatal()\n\t}\n}\n", false},
		"Go, built with a tag":              {"a_test.go", "//go:build integration\n\npackage a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Fatal()\n\t}\n}\n", true},
		"pytest, replaced in a package":     {"tests/test_a.py", "import shop.a\ndef test_f(monkeypatch):\n    monkeypatch.setattr('shop.a.f', lambda: 1)\n    assert shop.a.f() == 1\n", false},
		"pytest, another in a package":      {"tests/test_a.py", "import shop.a\ndef test_f(monkeypatch):\n    monkeypatch.setattr('shop.a.now', lambda: 1)\n    assert shop.a.f() == 1\n", true},
		"RSpec, any instance":               {"spec/a_spec.rb", "RSpec.describe A do\n  it 'is' do\n    allow_any_instance_of(A).to receive(:f).and_return(1)\n    expect(A.new.f).to eq(1)\n  end\nend\n", false},
		"RSpec, any instance of another":    {"spec/a_spec.rb", "RSpec.describe A do\n  it 'is' do\n    allow_any_instance_of(B).to receive(:f).and_return(1)\n    expect(A.new.f).to eq(2)\n  end\nend\n", true},
		"Rust, any panic of an assertion":   {"tests/a.rs", "#[test]\n#[should_panic]\nfn f() { assert_eq!(a::f(), 1); }\n", false},
		"Rust, the panic of an assertion":   {"tests/a.rs", "#[test]\n#[should_panic(expected = \"assertion\")]\nfn f() { assert_eq!(a::f(), 1); }\n", false},
		"Rust, a panic of the code":         {"tests/a.rs", "#[test]\n#[should_panic(expected = \"empty\")]\nfn f() { assert_eq!(a::f(), 1); }\n", true},
		"pytest, a function called eq":      {"tests/test_a.py", "from a import eq\ndef test_f():\n    assert 3 == eq(3)\n", true},
		"JUnit, a function called same":     {"src/test/java/ATest.java", "import org.junit.Test;\npublic class ATest {\n  @Test public void f() { assertEquals(true, same(1, 1)); }\n}\n", true},
		"Rust, a panic behind an assertion": {"tests/a.rs", "#[test]\n#[should_panic]\nfn f() {\n    let a = a::A::new();\n    assert!(a.is_empty());\n    a.pop();\n}\n", true},
		"Dart, a matcher of itself":         {"test/a_test.dart", "void main() { test('a', () { final t = f(); expect(t, equals(t)); }); }", false},
		"NUnit, a matcher of itself":        {"tests/ATests.cs", "using NUnit.Framework;\npublic class ATests {\n  [Test] public void F() {\n    var t = new A().F();\n    Assert.That(t, Is.EqualTo(t));\n  }\n}\n", false},
		"Hamcrest, a matcher of itself":     {"src/test/java/ATest.java", "import org.junit.Test;\npublic class ATest {\n  @Test public void f() { int t = new A().f(); assertThat(t, is(t)); }\n}\n", false},
		"Hamcrest, a matcher of a matcher":  {"src/test/java/ATest.java", "import org.junit.Test;\npublic class ATest {\n  @Test public void f() { assertThat(new A().f(), is(equalTo(1))); }\n}\n", true},
		"Deno":                              {"cart_test.ts", "import { assertEquals } from 'jsr:@std/assert';\nimport { f } from './a.ts';\nDeno.test('f', () => { assertEquals(f(), 1); });\n", true},
		"Jasmine":                           {"spec/cart_spec.js", "const { f } = require('../a');\ndescribe('f', () => { it('is', () => { expect(f()).toBe(1); }); });\n", true},
	} {
		if p := Validate(c.path, []byte(c.content)); (p.Code == "") != c.valid {
			t.Errorf("%s: %+v, want valid %v", name, p, c.valid)
		}
	}
}
