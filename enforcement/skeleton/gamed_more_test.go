package skeleton

import "testing"

// TestNothingOfItRuns: what the runner does not collect or build says nothing, and
// neither does a function that the test put there itself.
func TestNothingOfItRuns(t *testing.T) {
	for name, c := range map[string]struct {
		path, content string
		valid         bool
	}{
		"pytest, a class with __init__":   {"tests/test_a.py", "from a import f\nclass TestA:\n    def __init__(self):\n        self.x = 1\n    def test_f(self):\n        assert f() == 1\n", false},
		"pytest, a helper with __init__":  {"tests/test_a.py", "from a import f\nclass Fake:\n    def __init__(self):\n        self.x = 1\ndef test_f():\n    assert f(Fake()) == 1\n", true},
		"unittest, a class with __init__": {"tests/test_a.py", "import unittest\nfrom a import f\nclass A(unittest.TestCase):\n    def __init__(self, *a):\n        super().__init__(*a)\n    def test_f(self):\n        self.assertEqual(f(), 1)\n", true},
		"pytest, replaced by its path":    {"tests/test_a.py", "import a\ndef test_f(monkeypatch):\n    monkeypatch.setattr('a.f', lambda: 1)\n    assert a.f() == 1\n", false},
		"pytest, another replaced":        {"tests/test_a.py", "import a\ndef test_f(monkeypatch):\n    monkeypatch.setattr('a.now', lambda: 1)\n    assert a.f() == 1\n", true},
		"Rust, a module never built":      {"tests/a.rs", "#[cfg(any())]\nmod tests {\n    #[test]\n    fn f() { assert_eq!(a::f(), 1); }\n}\n", false},
		"Rust, a module of tests":         {"tests/a.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn f() { assert_eq!(a::f(), 1); }\n}\n", true},
		"Rust, one behind a dead module":  {"tests/a.rs", "#[cfg(any())]\nmod x { }\n#[test]\nfn f() { assert_eq!(a::f(), 1); }\n", true},
		"Go, never built":                 {"a_test.go", "//go:build never\n\npackage a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Fatal()\n\t}\n}\n", false},
		"Go, built with a tag":            {"a_test.go", "//go:build integration\n\npackage a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Fatal()\n\t}\n}\n", true},
		"Deno":                            {"cart_test.ts", "import { assertEquals } from 'jsr:@std/assert';\nimport { f } from './a.ts';\nDeno.test('f', () => { assertEquals(f(), 1); });\n", true},
		"Jasmine":                         {"spec/cart_spec.js", "const { f } = require('../a');\ndescribe('f', () => { it('is', () => { expect(f()).toBe(1); }); });\n", true},
	} {
		if p := Validate(c.path, []byte(c.content)); (p.Code == "") != c.valid {
			t.Errorf("%s: %+v, want valid %v", name, p, c.valid)
		}
	}
}
