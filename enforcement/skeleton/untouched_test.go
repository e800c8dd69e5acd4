package skeleton

import "testing"

// TestWhatTheCodeMayHaveSet: a variable is known only as long as nothing but literals
// was put into it, and a name that the language has only where nothing else bears it.
func TestWhatTheCodeMayHaveSet(t *testing.T) {
	const py, js, golang, rb, kt = "tests/test_a.py", "a.test.js", "a_test.go", "test/a_test.rb", "src/test/kotlin/ATest.kt"
	inGo := func(imports, body string) string {
		return "package a_test\n\nimport (\n" + imports + "\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {\n" + body + "\n}\n"
	}
	inRuby := func(body string) string {
		return "class ATest < ActiveSupport::TestCase\n  test \"a\" do\n    " + body + "\n  end\nend\n"
	}
	const ginkgo = "package a\n\nimport (\n\t. \"github.com/onsi/ginkgo/v2\"\n\t\"github.com/stretchr/testify/assert\"\n)\n\n"
	for name, c := range map[string]struct{ path, code, problem string }{
		"collected":                   {golang, inGo("\t\"reflect\"", "\tgot := []string{}\n\tfor x := range All() {\n\t\tgot = append(got, x)\n\t}\n\tif !reflect.DeepEqual(got, []string{\"a\"}) {\n\t\tt.Fatalf(\"%v\", got)\n\t}"), ""},
		"collected, compared":         {golang, inGo("\t\"reflect\"", "\tgot, want := []string{}, []string{\"a\"}\n\tfor _, x := range All() {\n\t\tgot = append(got, x)\n\t}\n\tif !reflect.DeepEqual(got, want) {\n\t\tt.Fatalf(\"%v\", got)\n\t}"), ""},
		"collected into a made slice": {golang, inGo("\t\"reflect\"", "\tgot := make([]string, 0)\n\tfor x := range All() {\n\t\tgot = append(got, x)\n\t}\n\tif !reflect.DeepEqual(got, []string{\"a\"}) {\n\t\tt.Fatalf(\"%v\", got)\n\t}"), ""},
		"untouched":                   {golang, inGo("\t\"reflect\"", "\tgot := []string{\"a\"}\n\tif !reflect.DeepEqual(got, []string{\"a\"}) {\n\t\tt.Fatalf(\"%v\", got)\n\t}\n\tA()"), AlwaysTrue},
		"added to":                    {py, "from a import run\ndef test_a():\n    out = []\n    out += run()\n    assert out == [1]\n", ""},
		"a word that is alone":        {py, "from a import f\ndef test_a():\n    assert f() == 1\nasync\n", ""},
		"set together with another":   {golang, inGo("\t\"reflect\"", "\tgot := []string{}\n\tvar err error\n\tgot, err = load()\n\tif !reflect.DeepEqual(got, []string{\"a\"}) {\n\t\tt.Fatal(err)\n\t}"), ""},
		"set as a pair":               {py, "from a import run\ndef test_a():\n    out = []\n    out, n = run()\n    assert out == [1]\n", ""},
		"set by a loop":               {py, "from a import run\ndef test_a():\n    out = []\n    for out in run():\n        pass\n    assert out == [1]\n", ""},
		"set by with":                 {py, "from a import run\ndef test_a():\n    out = []\n    with run() as out:\n        pass\n    assert out == [1]\n", ""},
		"set as part of an array":     {js, "import {load} from './a'\ntest('a', () => { let r = {}; let n = 0; [n, r] = load(); expect(r).toEqual({ a: 1 }) })", ""},
		"set as part of an object":    {js, "import {load} from './a'\ntest('a', () => { let r = {}; ({ r } = load()); expect(r).toEqual({ a: 1 }) })", ""},
		"set where it was nothing":    {js, "import {load} from './a'\ntest('a', () => { let r = {}; r ??= load(); expect(r).toEqual({ a: 1 }) })", ""},
		"beside a named argument":     {py, "import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        got = [1]\n        want = [1]\n        self.assertEqual(got, want, msg='x')\n        f()\n", AlwaysTrue},
		"set anew":                    {js, "import {load} from './a'\ntest('a', () => { let r = {}; r = load(); expect(r).toEqual({ a: 1 }) })", ""},
		"a helper's name":             {py, "from a import load\ndef helper():\n    cart = {\"a\": 1}\n    return cart\ndef test_a():\n    cart = load()\n    assert cart == {\"a\": 1}\n", ""},

		"a difference":                     {rb, inRuby("assert_difference \"Order.count\" do\n      post orders_url\n    end"), ""},
		"a difference, in brackets":        {rb, inRuby("assert_difference(\"Order.count\", 1) { post orders_url }"), ""},
		"nothing raised":                   {rb, inRuby("assert_nothing_raised do\n      Cart.new.total\n    end"), ""},
		"raised":                           {rb, inRuby("assert_raises do\n      Cart.new.total\n    end"), ""},
		"an output":                        {rb, inRuby("assert_output(\"x\") { Cart.new.show }"), ""},
		"raised by the test":               {rb, inRuby("assert_raises(ZeroDivisionError) { 1 / 0 }"), AlwaysTrue},
		"raised by nothing":                {rb, inRuby("assert_raises(Cart::Error)"), AlwaysTrue},
		"raised, and nothing else":         {rb, inRuby("assert_raises Cart::Error do\n    end"), AlwaysTrue},
		"quick without a function":         {golang, inGo("\t\"testing/quick\"", "\tif err := quick.Check(); err != nil {\n\t\tt.Fatal(err)\n\t}"), ""},
		"ginkgo":                           {golang, ginkgo + "var _ = It(\"x\", func() { assert.Equal(GinkgoT(), F(), 1) })\n", ""},
		"a function by ginkgo's name":      {golang, "package a\n\nimport \"github.com/stretchr/testify/assert\"\n\nfunc It(string, func()) {}\n\nfunc init() { It(\"x\", func() { assert.Equal(nil, F(), 1) }) }\n", NoTestFunction},
		"cases that nothing fills":         {golang, "package a\n\nimport \"testing\"\n\nvar cases []struct{ in, want int }\n\nfunc TestA(t *testing.T) {\n\tfor _, c := range cases {\n\t\tif F(c.in) != c.want {\n\t\t\tt.Fatal()\n\t\t}\n\t}\n}\n", NoAssertion},
		"cases that init fills":            {golang, "package a\n\nimport \"testing\"\n\nvar cases []struct{ in, want int }\n\nfunc init() { cases = load() }\n\nfunc TestA(t *testing.T) {\n\tfor _, c := range cases {\n\t\tif F(c.in) != c.want {\n\t\t\tt.Fatal()\n\t\t}\n\t}\n}\n", ""},
		"cases that init adds to":          {golang, "package a\n\nimport \"testing\"\n\nvar cases []struct{ in, want int }\n\nfunc init() { json.Unmarshal(data, &cases) }\n\nfunc TestA(t *testing.T) {\n\tfor _, c := range cases {\n\t\tif F(c.in) != c.want {\n\t\t\tt.Fatal()\n\t\t}\n\t}\n}\n", ""},
		"cases that one of two init fills": {golang, "package a\n\nimport \"testing\"\n\nvar cases []struct{ in, want int }\n\nfunc init() { cases = load() }\n\nfunc init() { other() }\n\nfunc TestA(t *testing.T) {\n\tfor _, c := range cases {\n\t\tif F(c.in) != c.want {\n\t\t\tt.Fatal()\n\t\t}\n\t}\n}\n", ""},
		"what a function records":          {golang, "package a\n\nimport (\n\t\"reflect\"\n\t\"testing\"\n)\n\nvar seen = []string{}\n\nfunc record(s string) { seen = append(seen, s) }\n\nfunc TestA(t *testing.T) {\n\tWalk(record)\n\tif !reflect.DeepEqual(seen, []string{\"a\"}) {\n\t\tt.Fatal(seen)\n\t}\n}\n", ""},
		"what a function counts":           {golang, "package a\n\nimport \"testing\"\n\nvar calls = 0\n\nfunc record() { calls++ }\n\nfunc TestA(t *testing.T) {\n\tWalk(record)\n\tif calls != 2 {\n\t\tt.Fatal(calls)\n\t}\n}\n", ""},
		"what a helper counts":             {js, "import {run} from './a'\nlet calls = 0\nfunction hook() { calls++ }\ntest('a', () => { run(hook); expect(calls).toBe(2) })", ""},
		"what a helper records":            {py, "from a import load\nCART = {}\ndef keep(x):\n    CART['a'] = x\ndef test_a():\n    load(keep)\n    assert CART == {'a': 1}\n", ""},
		"what the set-up loads":            {"src/test/java/ATest.java", "class ATest { List<String> log = List.of(); @BeforeEach void setUp() { log = Cart.load(); } @Test void a() { assertEquals(List.of(1), log); } }", ""},
		"the same whatever happens":        {py, "from a import pay\ndef test_a():\n    if pay(1):\n        ok = True\n    else:\n        ok = True\n    assert ok\n", AlwaysTrue},
		"what happened":                    {py, "from a import pay\ndef test_a():\n    ok = False\n    if pay(1):\n        ok = True\n    assert ok\n", ""},
		"a package of one's own":           {golang, inGo("\t\"acme/strings\"", "\tif strings.Reverse(\"ab\") != \"ba\" {\n\t\tt.Fatal()\n\t}"), ""},
		"the standard library's":           {golang, inGo("\t\"strings\"", "\tif strings.ToUpper(\"ab\") != \"AB\" {\n\t\tt.Fatal()\n\t}\n\tA()"), AlwaysTrue},
		"an added member":                  {js, "import './array'\ntest('a', () => { const xs = [1, 2]; expect(xs.last()).toBe(2) })", ""},
		"an added member, contains":        {js, "import './array'\ntest('a', () => { const xs = [1, 2]; expect(xs.contains(2)).toBe(true) })", ""},
		"the language's member":            {js, "import {f} from './a'\ntest('a', () => { const xs = [1, 2]; f(); expect(xs.includes(2)).toBe(true) })", AlwaysTrue},
		"an extension":                     {kt, "class ATest { @Test fun a() { val xs = listOf(1, 2)\n assertEquals(1, xs.at(0)) } }", ""},
		"a file of one's own, called":      {js, "import { writeFileSync, readFileSync } from 'fs'\nimport { f } from './a'\ntest('a', () => {\n  const v = f()\n  writeFileSync('x', v)\n  const r = readFileSync('x')\n  expect(r).toBe(v)\n})\n", AlwaysTrue},
		"a file of one's own, first":       {"tests/ATest.php", "<?php\nclass ATest extends TestCase {\n  public function testA() {\n    $v = f();\n    file_put_contents('x', $v);\n    $this->assertEquals(file_get_contents('x'), $v);\n  }\n}\n", AlwaysTrue},
		"a body that begins with a write":  {"spec/a_spec.rb", "it(\"a\") { write('x', v); v = f(); expect(read('x')).to eq(v) }\n", AlwaysTrue},
	} {
		if p := Validate(c.path, []byte(c.code)); p.Code != c.problem {
			t.Errorf("%s: %+v, want %q", name, p, c.problem)
		}
	}
}
