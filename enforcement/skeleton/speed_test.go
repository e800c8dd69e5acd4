package skeleton

import (
	"strings"
	"testing"
)

// BenchmarkHostile measures repeated fragments; the time of each must grow
// about linearly with its length.
func BenchmarkHostile(b *testing.B) {
	for _, c := range []struct{ path, unit string }{
		{"a_test.go", "("},
		{"test_a.py", "def test_a(:\n assert x\n"},
		{"test_a.py", "("},
		{"a.test.js", "test('a', () => {"},
		{"a.test.js", "`${"},
		{"a.test.js", "a < "},
		{"a.test.js", "expect(a).toBe(b).c("},
		{"a.test.js", "x = y, "},
		{"src/test/java/ATest.java", "@Test void a() {"},
		{"src/test/java/ATest.java", "void a(b"},
		{"A.Tests/A.cs", "[Fact"},
		{"tests/ATest.php", "<<<A\n"},
		{"tests/a.rs", "#[test] fn a<"},
		{"tests/a.rs", "/*"},
		{"spec/a_spec.rb", "it 'a' do "},
		{"spec/a_spec.rb", "<<A + %w["},
		{"spec/a_spec.rb", "assert_raises do\n"},
		{"spec/a_spec.rb", "if x do "},
		{"a.test.js", "test('a', () => { if (false) return; try { "},
		{"a.test.js", "test('a', () => { x = f(); x = 1; expect(x).toBe(1); })\n"},
		{"test_a.py", "def test_a():\n x = 1\n assert x\n return\n"},
		{"test_a.py", "def test_a():\n try:\n  x = f()\n except:\n  pass\n"},
		{"spec/a_spec.rb", "it 'a' do\nbegin\nreturn\n"},
		{"a_test.cc", "TEST(assert("},
		{"test_a.py", "def test_a():\n  assert a.b(c).d(e)\n"},
		{"test_a.py", "def h():\n  h()\n"},
	} {
		for _, n := range []int{1 << 14, 1 << 16} {
			src := []byte(strings.Repeat(c.unit, n/len(c.unit)))
			b.Run(strings.ReplaceAll(c.path+" "+c.unit, "/", "_")+" "+map[int]string{1 << 14: "16K", 1 << 16: "64K"}[n], func(b *testing.B) {
				for b.Loop() {
					Validate(c.path, src)
				}
			})
		}
	}
}
