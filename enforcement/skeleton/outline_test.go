package skeleton

import (
	"fmt"
	"strings"
	"testing"
)

func TestOutlineNamesTestsAndWhatTheyAssert(t *testing.T) {
	for _, c := range []struct{ path, content, want string }{
		{
			"tests/test_cart.py", "import pytest\n\ndef helper(c):\n    assert c.ok\n\ndef test_total():\n    with pytest.raises(ValueError):\n        total(None)\n    assert total([1, 2]) == 3\n\ndef test_empty():\n    pass\n",
			"test_total:6 [with pytest.raises(ValueError):; assert total([1, 2]) == 3] test_empty:11 []",
		},
		{"cart/cart_test.go", "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n", "TestTotal:5"},
		{"src/cart.test.js", "test('total', () => {\n  expect(total([1, 2])).toBe(3);\n});\n", "total:1 [expect(total([1, 2])).toBe(3);]"},
		{"src/cart.py", "def test_total():\n    assert total(1) == 1\n", ""},
	} {
		var parts []string
		for _, one := range Outline(c.path, []byte(c.content)) {
			parts = append(parts, fmt.Sprintf("%s:%d [%s]", one.Name, one.Line, strings.Join(one.Asserts, "; ")))
		}
		if got := strings.Join(parts, " "); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}
