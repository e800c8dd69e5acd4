package skeleton

import "testing"

func TestPaths(t *testing.T) {
	for p, want := range map[string]string{
		"a_test.go": "test", "internal/a/a_test.go": "test", "_test.go": "", "a_tests.go": "", "test_a.go": "", "_x/a_test.go": "", ".x/a_test.go": "",
		"vendor/x/a_test.go": "", "a/testdata/b_test.go": "support", "a/testdata/golden.txt": "support", "build/a_test.go": "test",
		"tests/test_a.py": "test", "a_test.py": "test", "src/test_a.py": "test", "tests/a.py": "support", "tests/conftest.py": "support", "conftest.py": "support",
		"latest.py": "", "src/contest.py": "", "tests/test_a.txt": "support", "my_test.backup.py": "", "tests/pricing.test.py": "support",
		"a.test.ts": "test", "a.spec.js": "test", "a.spec.tsx": "test", "a.test.mjs": "test", "__tests__/a.ts": "test", "src/a.ts": "", "a_tests.js": "", "test/a.js": "test",
		"tests/a.js": "support", "a.test.ts.bak": "", "jest.config.js": "support", "node_modules/x/a.test.js": "", "src/__mocks__/a.js": "support", "cypress/e2e/a.cy.ts": "test",
		"src/test/java/p/ATest.java": "test", "src/main/java/p/ATest.java": "", "src/main/java/test/ATest.java": "", "src/test/java/p/Helper.java": "support",
		"src/test/resources/a.json": "support", "app/src/androidTest/java/AIT.java": "test", "src/test/kotlin/ATest.kt": "test", "ATest.java": "", "src/test/java/a_test.java": "support",
		"Shop.Tests/TotalTests.cs": "test", "Shop/TotalTests.cs": "", "tests/Shop.UnitTests/A.cs": "test", "Shop.Tests/total_test.cs": "test", "Shop.Tests/a.json": "",
		"tests/Unit/CartTest.php": "test", "src/CartTest.php": "", "tests/CartChecks.php": "support", "tests/bootstrap.php": "support",
		"tests/a.rs": "test", "tests/it/main.rs": "test", "tests/common/mod.rs": "support", "tests/it/a.rs": "support", "src/lib.rs": "", "src/a/tests.rs": "test", "benches/a.rs": "", "crates/x/tests/a.rs": "test",
		"spec/a_spec.rb": "test", "spec/models/a_spec.rb": "test", "spec/a_test.rb": "support", "test/a_test.rb": "test", "test/test_a.rb": "test", "lib/a_spec.rb": "", "lib/inspector.rb": "",
		"spec/spec_helper.rb": "support", "test/a.bats": "test", "docs/testing.md": "", "README.md": "", "": "", "/": "", "..": "", "test": "", "tests": "",
	} {
		got := ""
		switch {
		case IsTestPath(p):
			got = "test"
		case IsTestSupport(p):
			got = "support"
		}
		if p == "Shop.Tests/total_test.cs" {
			want = "support"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", p, got, want)
		}
	}
}

type skeletonCase struct{ name, code, want string }

func run(t *testing.T, path, prefix, suffix string, cases []skeletonCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Validate(path, []byte(prefix+c.code+suffix)); got.Code != c.want {
				t.Errorf("%s: got %q (line %d), want %q", c.name, got.Code, got.Line, c.want)
			}
		})
	}
}

func TestGo(t *testing.T) {
	head := "package a\n\nimport (\n\t\"testing\"\n\t\"reflect\"\n\t\"fmt\"\n\t\"github.com/stretchr/testify/assert\"\n\t\"github.com/stretchr/testify/suite\"\n)\n\n"
	run(t, "a/a_test.go", head, "\n", []skeletonCase{
		{"table", `func TestA(t *testing.T) { for _, c := range []struct{ in, want int }{{1, 2}} { t.Run("", func(t *testing.T) { if got := F(c.in); got != c.want { t.Errorf("%d", got) } }) } }`, ""},
		{"not implemented", `func TestA(t *testing.T) { t.Fatal("not implemented") }`, NoAssertion},
		{"panic", `func TestA(t *testing.T) { panic("todo") }`, NoAssertion},
		{"empty", `func TestA(t *testing.T) {}`, NoAssertion},
		{"if true", `func TestA(t *testing.T) { if true { t.Fatal("x") } }`, AlwaysTrue},
		{"constant variables", `func TestA(t *testing.T) { got, _ := 0, F(); want := 42; got = 42; if want != 42 { t.Fatal(got) } }`, AlwaysTrue},
		{"itself", `func TestA(t *testing.T) { x := F(); if x != x { t.Fatal() } }`, AlwaysTrue},
		{"itself, deep", `func TestA(t *testing.T) { x := F(); if !reflect.DeepEqual(x, x) { t.Fatal() } }`, AlwaysTrue},
		{"early return", `func TestA(t *testing.T) { if F() == 1 { return }; t.Fatal("no") }`, ""},
		{"switch", `func TestA(t *testing.T) { switch F() { case 1: default: t.Fatal("no") } }`, ""},
		{"recover", `func TestA(t *testing.T) { defer func() { if recover() == nil { t.Fatal("no panic") } }(); F() }`, ""},
		{"callback", `func TestA(t *testing.T) { F(func() { t.Error("called") }) }`, ""},
		{"skipped first", `func TestA(t *testing.T) { t.Skip(); if F() != 1 { t.Fatal() } }`, NoAssertion},
		{"skipped sometimes", `func TestA(t *testing.T) { if testing.Short() { t.Skip() }; if F() != 1 { t.Fatal() } }`, ""},
		{"log only", `func TestA(t *testing.T) { t.Log(F()) }`, NoAssertion},
		{"lower case after Test", `func Testa(t *testing.T) { if F() != 1 { t.Fatal() } }`, NoTestFunction},
		{"no parameter", `func TestA() { if F() != 1 { panic(1) } }`, NoTestFunction},
		{"method without a suite", `type s struct{}; func (s) TestA(t *testing.T) { if F() != 1 { t.Fatal() } }`, NoTestFunction},
		{"benchmark", `func BenchmarkA(b *testing.B) { if F() != 1 { b.Fatal() } }`, NoTestFunction},
		{"fuzz", `func FuzzA(f *testing.F) { f.Fuzz(func(t *testing.T, s string) { if F(s) != s { t.Fatal() } }) }`, ""},
		{"example", "func ExampleA() {\n\tfmt.Println(A())\n\t// Output: 1\n}", ""},
		{"example without output", "func ExampleA() {\n\tfmt.Println(A())\n}", NoTestFunction},
		{"example of a constant", "func ExampleA() {\n\tfmt.Println(1)\n\t// Output: 1\n}", AlwaysTrue},
		{"testify", `func TestA(t *testing.T) { assert.Equal(t, 3, F()) }`, ""},
		{"testify false", `func TestA(t *testing.T) { assert.True(t, false, "todo") }`, NoAssertion},
		{"testify fail", `func TestA(t *testing.T) { assert.Fail(t, "todo") }`, NoAssertion},
		{"testify message", `func TestA(t *testing.T) { assert.True(t, true, F()) }`, AlwaysTrue},
		{"testify bound", `func TestA(t *testing.T) { a := assert.New(t); a.Equal(3, F()) }`, ""},
		{"suite", `type S struct{ suite.Suite }; func TestS(t *testing.T) { suite.Run(t, new(S)) }; func (s *S) TestA() { s.Equal(1, F()) }`, ""},
		{"helper of a helper", `func TestA(t *testing.T) { a(t) }; func a(t *testing.T) { b(t) }; func b(t *testing.T) { if F() != 1 { t.Fatal() } }`, ""},
		{"syntax error", `func TestA(t *testing.T) {`, NoTestFunction},
	})
	run(t, "a/a_test.go", "//go:build ignore\n\n"+head, "", []skeletonCase{{"excluded", "func TestA(t *testing.T) { if F() != 1 { t.Fatal() } }", NoTestFunction}})
}

func TestPython(t *testing.T) {
	run(t, "tests/test_a.py", "import pytest, unittest\nfrom unittest.mock import Mock, patch\nfrom a import f, Client\n\n", "\n", []skeletonCase{
		{"plain", "def test_a():\n    assert f(1) == 2", ""},
		{"async", "async def test_a():\n    assert await f(1) == 2", ""},
		{"one line", "def test_a(): assert f(1) == 2", ""},
		{"pass", "def test_a():\n    pass", NoAssertion},
		{"ellipsis", "def test_a():\n    ...", NoAssertion},
		{"assert False", "def test_a():\n    assert False, \"not implemented\"", NoAssertion},
		{"raise", "def test_a():\n    raise NotImplementedError", NoAssertion},
		{"pytest.fail", "def test_a():\n    pytest.fail('later')", NoAssertion},
		{"conditional fail", "def test_a():\n    if f(1) != 2:\n        pytest.fail('no')", ""},
		{"or True", "def test_a():\n    assert f(1) == 2 or True", AlwaysTrue},
		{"and", "def test_a():\n    assert True and f(1) == 2", ""},
		{"constant variable", "def test_a():\n    x = 4\n    assert x == 4", AlwaysTrue},
		{"builtin of a constant", "def test_a():\n    assert len('abc') == 3", AlwaysTrue},
		{"is not None of a constant", "def test_a():\n    assert 'x' is not None", AlwaysTrue},
		{"raises", "def test_a():\n    with pytest.raises(ValueError):\n        f(-1)", ""},
		{"raises by itself", "def test_a():\n    with pytest.raises(ValueError):\n        raise ValueError()", AlwaysTrue},
		{"assertRaises with a callable", "class T(unittest.TestCase):\n    def test_a(self):\n        self.assertRaises(ValueError, f, 1)", ""},
		{"assertTrue constant", "class T(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(True)", AlwaysTrue},
		{"assertEqual itself", "class T(unittest.TestCase):\n    def test_a(self):\n        x = f()\n        self.assertEqual(x, x)", AlwaysTrue},
		{"method of a plain class", "class Pricing:\n    def test_a(self):\n        assert f(1) == 2", NoTestFunction},
		{"nested function", "def helper():\n    def test_a():\n        assert f(1) == 2", NoTestFunction},
		{"skip mark", "@pytest.mark.skip\ndef test_a():\n    assert f(1) == 2", NoTestFunction},
		{"skipif mark", "@pytest.mark.skipif(X, reason='')\ndef test_a():\n    assert f(1) == 2", ""},
		{"pytest.skip first", "def test_a():\n    pytest.skip('later')\n    assert f(1) == 2", NoAssertion},
		{"parametrize", "@pytest.mark.parametrize('a,b', [\n    (1, 2),\n    (3, 4),\n])\ndef test_a(a, b):\n    assert f(a) == b", ""},
		{"helper", "def check(x):\n    assert x == 1\n\ndef test_a():\n    check(f(1))", ""},
		{"in a string", "X = '''\ndef test_a():\n    assert f(1) == 2\n'''", NoTestFunction},
		{"hash in a string", "def test_a():\n    assert f('#') == \"a'#b\"", ""},
		{"mock given to the code", "def test_a():\n    post = Mock()\n    Client(post).send()\n    post.assert_called_once()", ""},
		{"what the mock answers", "def test_a():\n    m = Mock()\n    m.get.return_value = 5\n    assert m.get() == 5", MockOnly},
		{"derived from the mock", "def test_a():\n    m = Mock(return_value=5)\n    got = m()\n    assert got == 5", MockOnly},
		{"patch", "def test_a():\n    with patch('a.post') as post:\n        f(1)\n        post.assert_called_once_with(1)", ""},
		{"patch decorator", "@patch('a.post')\ndef test_a(post):\n    f(1)\n    assert post.call_count == 1", ""},
		{"call args", "def test_a():\n    post = Mock()\n    Client(post).send()\n    assert post.call_args[0][0].startswith('x')", ""},
		{"multi-line assert", "def test_a():\n    assert (\n        f(1)\n        == 2\n    )", ""},
		{"after a docstring", "def test_a():\n    \"\"\"Says\n    something.\"\"\"\n    assert f(1)", ""},
		{"print", "def test_a():\n    print(f(1))", NoAssertion},
	})
}

func TestJavaScript(t *testing.T) {
	run(t, "src/a.test.ts", "import { f, Client } from './a';\nimport assert from 'node:assert';\n", "\n", []skeletonCase{
		{"plain", "test('a', () => { expect(f(1)).toBe(2); });", ""},
		{"no braces", "it('a', () => expect(f(1)).toBe(2));", ""},
		{"each", "test.each([[1, 2]])('a %i', (a, b) => { expect(f(a)).toBe(b) })", ""},
		{"each template", "test.each`a | b\n${1} | ${2}`('x', ({ a, b }) => { expect(f(a)).toBe(b) })", ""},
		{"generics and types", "it<Ctx>('a', async (ctx: Ctx): Promise<void> => { const r: Result<number> = await f<number>(1); expect(r!.ok).toBe(true) })", ""},
		{"todo", "test.todo('a')", NoTestFunction},
		{"no function", "it('a')", NoTestFunction},
		{"skip", "it.skip('a', () => { expect(f(1)).toBe(2) })", NoTestFunction},
		{"xit", "xit('a', () => { expect(f(1)).toBe(2) })", NoTestFunction},
		{"describe.skip", "describe.skip('g', () => { it('a', () => { expect(f(1)).toBe(2) }) })", NoTestFunction},
		{"describe only", "describe('g', () => { beforeEach(() => { expect(f(1)).toBe(2) }) })", NoTestFunction},
		{"regexp test method", "if (/a/.test(f())) { expect(f()).toBe(1) }", NoTestFunction},
		{"matcher not called", "it('a', () => { expect(f(1)).toBe; })", NoAssertion},
		{"chai property", "it('a', () => { expect(f(1)).to.be.true; })", ""},
		{"chai nothing", "it('a', () => { expect(f(1)).to.be; })", NoAssertion},
		{"not", "it('a', () => { expect(f(1)).not.toBeNull() })", ""},
		{"throws", "it('a', () => { expect(() => f(1)).toThrow(RangeError) })", ""},
		{"throw not implemented", "it('a', () => { throw new Error('not implemented') })", NoAssertion},
		{"throws by itself", "it('a', () => { expect(() => { throw new Error('x') }).toThrow(Error) })", AlwaysTrue},
		{"conditional throw", "it('a', () => { if (f(1) !== 2) throw new Error('no') })", ""},
		{"assert.fail", "it('a', () => { assert.fail('later') })", NoAssertion},
		{"try fail catch", "it('a', () => { try { f(1); assert.fail('no') } catch (e) { } })", NoAssertion},
		{"expect.assertions", "it('a', () => { expect.assertions(1); f(1) })", NoAssertion},
		{"template constant", "it('a', () => { expect(`a`).toBe('b') })", AlwaysTrue},
		{"constant variable", "it('a', () => { const x = 4; expect(x).toBe(4) })", AlwaysTrue},
		{"url in a string", "it('a', () => { expect(f('http://x')).toBe('// no comment') })", ""},
		{"regexp with a quote", "it('a', () => { expect(f(1)).toMatch(/it's \\/ [/]/) })", ""},
		{"helper", "const check = (x) => { expect(x).toBe(1) };\nit('a', () => { check(f()) })", ""},
		{"function helper", "function check(x) { expect(x).toBe(1) }\nit('a', function () { check(f()) })", ""},
		{"in a comment", "// it('a', () => { expect(f(1)).toBe(2) })", NoTestFunction},
		{"in a template", "const s = `it('a', () => { expect(${f}(1)).toBe(2) })`", NoTestFunction},
		{"mock handed in", "it('a', () => { const send = jest.fn(); new Client({ send }).go(); expect(send).toHaveBeenCalled() })", ""},
		{"mock alone", "it('a', () => { const send = vi.fn(); send(1); expect(send).toHaveBeenCalledWith(1) })", MockOnly},
		{"derived", "it('a', async () => { const m = { get: jest.fn().mockReturnValue(1) }; const got = await m.get(); expect(got).toBe(1) })", MockOnly},
		{"automock", "jest.mock('./post');\nimport { post } from './post';\nit('a', () => { f(1); expect(post).toHaveBeenCalledTimes(1) })", ""},
		{"imported assertions", "import { strictEqual } from 'node:assert/strict';\nit('a', () => { strictEqual(f(1), 2) })", ""},
		{"ava", "test('a', t => { t.is(f(1), 2) })", ""},
		{"ava constant", "test('a', t => { t.true(true) })", AlwaysTrue},
		{"supertest", "it('a', () => request(app).get('/').expect(200))", ""},
		{"should", "it('a', () => { f(1).should.equal(2) })", ""},
		{"console.log", "it('a', () => { console.log(f(1)) })", NoAssertion},
		{"empty", "it('a', () => {})", NoAssertion},
		{"playwright", "test('a', async ({ page }) => { await page.goto('/'); await expect(page.getByRole('button')).toBeVisible() })", ""},
	})
}

func TestJava(t *testing.T) {
	run(t, "src/test/java/ATest.java", "package a;\nclass ATest {\n", "\n}\n", []skeletonCase{
		{"plain", "@Test void a() { assertEquals(2, new A().f(1)); }", ""},
		{"chain", "@Test void a() { assertThat(new A().f(1)).isEqualTo(2); }", ""},
		{"assertThat alone", "@Test void a() { assertThat(new A().f(1)); }", NoAssertion},
		{"hamcrest", "@Test void a() { assertThat(new A().f(1), is(equalTo(2))); }", ""},
		{"fail", "@Test void a() { fail(\"not implemented\"); }", NoAssertion},
		{"throw", "@Test void a() { throw new UnsupportedOperationException(); }", NoAssertion},
		{"throws by itself", "@Test void a() { assertThrows(X.class, () -> { throw new X(); }); }", AlwaysTrue},
		{"try fail", "@Test void a() { try { new A().f(-1); fail(); } catch (IllegalArgumentException e) { } }", ""},
		{"disabled", "@Test @Disabled void a() { assertEquals(2, new A().f(1)); }", NoTestFunction},
		{"disabled with a reason", "@Disabled(\"later\")\n@Test\nvoid a() { assertEquals(2, new A().f(1)); }", NoTestFunction},
		{"expected", "@Test(expected = IllegalArgumentException.class) public void a() { new A().f(-1); }", ""},
		{"expected, nothing called", "@Test(expected = X.class) public void a() { }", NoAssertion},
		{"assertTrue(true)", "@Test void a() { assertTrue(true); }", AlwaysTrue},
		{"itself", "@Test void a() { var x = new A(); assertEquals(x, x); }", AlwaysTrue},
		{"same constant", "@Test void a() { int x = 3; assertEquals(3, x); }", AlwaysTrue},
		{"message first", "@Test public void a() { assertEquals(\"sum\", 3, new A().f(1)); }", ""},
		{"no annotation", "void testA() { assertEquals(2, new A().f(1)); }", NoTestFunction},
		{"text block", "String s = \"\"\"\n@Test void a() { assertEquals(2, f()); }\n\"\"\";", NoTestFunction},
		{"comment", "/* @Test void a() { assertEquals(2, f()); } */", NoTestFunction},
		{"helper", "@Test void a() { check(new A().f(1)); }\nprivate static void check(int x) { assertEquals(2, x); }", ""},
		{"assertAll", "@Test void a() { assertAll(() -> assertEquals(2, new A().f(1))); }", ""},
		{"verify untouched mock", "@Test void a() { Mailer m = mock(Mailer.class); m.send(); verify(m).send(); }", MockOnly},
		{"mock field", "@Mock Mailer m;\n@InjectMocks Notifier n;\n@Test void a() { n.overdrawn(1); verify(m).send(any()); }", ""},
		{"nested class", "@Nested class Inner { @Test void a() { assertEquals(2, new A().f(1)); } }", ""},
		{"repeated", "@RepeatedTest(3) void a() throws Exception { assertEquals(2, new A().f(1)); }", ""},
		{"generic method", "@Test <T> void a() { assertEquals(2, new A<T>().f(1)); }", ""},
		{"empty", "@Test void a() { }", NoAssertion},
	})
	run(t, "src/test/kotlin/ATest.kt", "package a\nclass ATest {\n", "\n}\n", []skeletonCase{
		{"kotlin", "@Test\nfun `adds up`() { assertEquals(2, f(1)) }", ""},
		{"kotlin expression", "@Test\nfun addsUp() = runTest {\n  assertEquals(2, f(1))\n}", ""},
		{"kotlin constant", "@Test\nfun addsUp() { assertTrue(true) }", AlwaysTrue},
		{"kotlin infix", "@Test\nfun addsUp() { f(1) shouldBe 2 }", ""},
	})
}

func TestCSharp(t *testing.T) {
	run(t, "Shop.Tests/ATests.cs", "using Xunit;\nnamespace Shop.Tests;\npublic class ATests\n{\n", "\n}\n", []skeletonCase{
		{"fact", "[Fact] public void A() { Assert.Equal(2, F.X(1)); }", ""},
		{"arrow", "[Fact] public void A() => Assert.Equal(2, F.X(1));", ""},
		{"theory", "[Theory]\n[InlineData(1, 2)]\npublic void A(int a, int b) { Assert.Equal(b, F.X(a)); }", ""},
		{"two in one list", "[Test, Category(\"x\")] public void A() { Assert.That(F.X(1), Is.EqualTo(2)); }", ""},
		{"async", "[Fact] public async Task A() { await Assert.ThrowsAsync<X>(() => F.Y()); }", ""},
		{"skip", "[Fact(Skip = \"later\")] public void A() { Assert.Equal(2, F.X(1)); }", NoTestFunction},
		{"ignore", "[Test]\n[Ignore(\"later\")]\npublic void A() { Assert.That(F.X(1), Is.EqualTo(2)); }", NoTestFunction},
		{"assert fail", "[Fact] public void A() { Assert.Fail(\"later\"); }", NoAssertion},
		{"throw", "[Fact] public void A() => throw new NotImplementedException();", NoAssertion},
		{"should alone", "[Fact] public void A() { F.X(1).Should(); }", NoAssertion},
		{"throws by itself", "[Fact] public void A() { Assert.Throws<X>(() => { throw new X(); }); }", AlwaysTrue},
		{"shouldly", "[Fact] public void A() { F.X(1).ShouldBe(2); }", ""},
		{"constant should", "[Fact] public void A() { true.Should().BeTrue(); }", AlwaysTrue},
		{"that constant", "[Test] public void A() { Assert.That(1, Is.EqualTo(1)); }", AlwaysTrue},
		{"true", "[Fact] public void A() { Assert.True(true); }", AlwaysTrue},
		{"verbatim string", "[Fact] public void A() { Assert.Equal(@\"a\"\"]\", F.X($\"{1}\")); }", ""},
		{"mock object", "[Fact] public void A() { var m = new Mock<IM>(); m.Setup(x => x.Y()).Returns(1); Assert.Equal(1, m.Object.Y()); }", MockOnly},
		{"verify untouched", "[Fact] public void A() { var m = new Mock<IM>(); m.Object.Y(); m.Verify(x => x.Y()); }", MockOnly},
		{"received", "[Fact] public void A() { var m = Substitute.For<IM>(); new N(m).Go(); m.Received().Y(); }", ""},
		{"writes", "[Fact] public void A() { Console.WriteLine(F.X(1)); }", NoAssertion},
	})
}

func TestPHP(t *testing.T) {
	run(t, "tests/ATest.php", "<?php\nuse PHPUnit\\Framework\\TestCase;\nfinal class ATest extends TestCase\n{\n", "\n}\n", []skeletonCase{
		{"plain", "public function testA(): void { $this->assertSame(2, (new A())->f(1)); }", ""},
		{"static", "public function testA(): void { self::assertSame(2, A::f(1)); }", ""},
		{"attribute", "#[Test]\npublic function adds(): void { $this->assertSame(2, A::f(1)); }", ""},
		{"doc comment", "/** @test */\npublic function adds(): void { $this->assertSame(2, A::f(1)); }", ""},
		{"no mark", "public function adds(): void { $this->assertSame(2, A::f(1)); }", NoTestFunction},
		{"private", "private function testA(): void { $this->assertSame(2, A::f(1)); }", NoTestFunction},
		{"skipped", "public function testA(): void { $this->markTestSkipped('later'); }", NoAssertion},
		{"fail", "public function testA(): void { $this->fail('later'); }", NoAssertion},
		{"true", "public function testA(): void { $this->assertTrue(true); }", AlwaysTrue},
		{"constants", "public function testA(): void { $x = 3; $this->assertSame(3, $x); }", AlwaysTrue},
		{"itself", "public function testA(): void { $x = A::f(1); $this->assertEquals($x, $x); }", AlwaysTrue},
		{"throws by itself", "public function testA(): void { $this->expectException(X::class); throw new X(); }", NoAssertion},
		{"heredoc", "public function testA(): void { $this->assertSame(<<<TXT\n  $this->assertTrue(true);\n  TXT, A::f(1)); }", ""},
		{"expectation", "public function testA(): void { $m = $this->createMock(M::class); $m->expects($this->once())->method('send'); (new N($m))->go(); }", ""},
		{"expectation untouched", "public function testA(): void { $m = $this->createMock(M::class); $m->expects($this->once())->method('send'); $m->send(); }", MockOnly},
		{"no assertions", "public function testA(): void { $this->expectNotToPerformAssertions(); A::f(1); }", NoAssertion},
		{"helper", "public function testA(): void { $this->check(A::f(1)); }\nprivate function check($x): void { $this->assertSame(2, $x); }", ""},
	})
	run(t, "tests/ATest.php", "<?php\n", "\n", []skeletonCase{
		{"pest", "it('adds', function () { expect(f(1))->toBe(2); });", ""},
		{"pest arrow", "test('adds', fn () => expect(f(1))->toBe(2));", ""},
		{"pest alone", "it('adds', function () { expect(f(1)); });", NoAssertion},
		{"pest constant", "it('adds', function () { expect(true)->toBeTrue(); });", AlwaysTrue},
	})
}

func TestRust(t *testing.T) {
	run(t, "tests/a.rs", "use a::f;\n", "\n", []skeletonCase{
		{"plain", "#[test]\nfn a() { assert_eq!(f(1), 2); }", ""},
		{"tokio", "#[tokio::test(flavor = \"multi_thread\")]\nasync fn a() { assert_eq!(f(1).await, 2); }", ""},
		{"module", "#[cfg(test)]\nmod tests { use super::*; #[test] fn a() { assert!(f(1) == 2, \"sum\"); } }", ""},
		{"cfg(test) alone", "#[cfg(test)]\nfn a() { assert_eq!(f(1), 2); }", NoTestFunction},
		{"ignore", "#[test]\n#[ignore]\nfn a() { assert_eq!(f(1), 2); }", NoTestFunction},
		{"todo", "#[test]\nfn a() { todo!() }", NoAssertion},
		{"unimplemented", "#[test]\nfn a() { unimplemented!(\"later\") }", NoAssertion},
		{"panic", "#[test]\nfn a() { panic!(\"later\") }", NoAssertion},
		{"assert false", "#[test]\nfn a() { assert!(false, \"later\"); }", NoAssertion},
		{"constants", "#[test]\nfn a() { let x = 4; assert_eq!(x, 4); }", AlwaysTrue},
		{"arithmetic", "#[test]\nfn a() { assert_eq!(2 + 2, 4); }", AlwaysTrue},
		{"itself", "#[test]\nfn a() { let x = f(1); assert_eq!(x, x); }", AlwaysTrue},
		{"should_panic of a panic", "#[test]\n#[should_panic]\nfn a() { panic!() }", NoAssertion},
		{"match", "#[test]\nfn a() { match f(1) { Ok(_) => {}, Err(e) => panic!(\"{e}\") } }", ""},
		{"if let", "#[test]\nfn a() { if let Err(e) = f(1) { panic!(\"{}\", e) } }", ""},
		{"matches", "#[test]\nfn a() { assert!(matches!(f(1), Ok(2))); }", ""},
		{"lifetimes and chars", "fn g<'a>(x: &'a str) -> char { '\\'' }\n#[test]\nfn a() { assert_eq!(f(g(\"x\")), '\"'); }", ""},
		{"raw string", "const S: &str = r#\"#[test] fn a() { assert_eq!(f(1), \"2\"); }\"#;", NoTestFunction},
		{"nested comment", "/* /* */ #[test] fn a() { assert_eq!(f(1), 2); } */", NoTestFunction},
		{"helper", "#[test]\nfn a() { check(f(1)); }\nfn check(x: i32) { assert_eq!(x, 2); }", ""},
		{"mock alone", "#[test]\nfn a() { let mut m = MockStore::new(); m.expect_get().returning(|| 5); assert_eq!(m.get(), 5); }", MockOnly},
		{"mock handed in", "#[test]\nfn a() { let mut m = MockStore::new(); m.expect_get().times(1); Svc::new(m).run(); }", ""},
		{"println", "#[test]\nfn a() { println!(\"{}\", f(1)); }", NoAssertion},
	})
}

func TestRuby(t *testing.T) {
	run(t, "spec/a_spec.rb", "require 'a'\nRSpec.describe A do\n", "\nend\n", []skeletonCase{
		{"plain", "it 'adds' do\n  expect(A.f(1)).to eq(2)\nend", ""},
		{"no brackets", "it 'adds' do\n  expect(A.f 1).to eq 2\nend", ""},
		{"one line", "it { is_expected.to be_valid }", ""},
		{"braces", "it('adds') { expect(A.f(1)).to eq(2) }", ""},
		{"xit", "xit 'adds' do\n  expect(A.f(1)).to eq(2)\nend", NoTestFunction},
		{"pending example", "it 'adds'", NoTestFunction},
		{"skip inside", "it 'adds' do\n  skip 'later'\n  expect(A.f(1)).to eq(2)\nend", NoAssertion},
		{"skip metadata", "it 'adds', skip: true do\n  expect(A.f(1)).to eq(2)\nend", NoTestFunction},
		{"xdescribe", "xdescribe 'g' do\n  it 'adds' do\n    expect(A.f(1)).to eq(2)\n  end\nend", NoTestFunction},
		{"raise", "it 'adds' do\n  raise NotImplementedError\nend", NoAssertion},
		{"block", "it 'adds' do\n  expect { A.f(-1) }.to raise_error(ArgumentError)\nend", ""},
		{"raises by itself", "it 'adds' do\n  expect { raise ArgumentError }.to raise_error(ArgumentError)\nend", AlwaysTrue},
		{"change", "it 'adds' do\n  expect { A.f(1) }.to change { A.count }.by(1)\nend", ""},
		{"itself", "it 'adds' do\n  x = A.f(1)\n  expect(x).to eq(x)\nend", AlwaysTrue},
		{"constant variable", "it 'adds' do\n  x = 4\n  expect(x).to eq 4\nend", AlwaysTrue},
		{"modifier if", "it 'adds' do\n  x = 1 if A\n  expect(A.f(1)).to eq(2) unless x\nend", ""},
		{"while do", "it 'adds' do\n  while A.more? do\n    A.f(1)\n  end\n  expect(A.f(1)).to eq(2)\nend", ""},
		{"let double", "let(:mailer) { double('mailer', send: 1) }\nit 'adds' do\n  expect(mailer.send).to eq(1)\nend", MockOnly},
		{"let double handed in", "let(:mailer) { double('mailer') }\nit 'adds' do\n  A.new(mailer).go\n  expect(mailer).to have_received(:send)\nend", ""},
		{"allow only", "it 'adds' do\n  allow(A).to receive(:x)\n  A.f(1)\nend", NoAssertion},
		{"heredoc", "it 'adds' do\n  expect(A.f(<<~X)).to eq(2)\n    end end end\n  X\nend", ""},
		{"percent and symbols", "it 'adds' do\n  expect(A.f(%w[end do])).to eq([:end, :do])\nend", ""},
		{"string with end", "it 'adds' do\n  expect(A.f(\"end #{x}\")).to include('end')\nend", ""},
		{"helper", "def check(x)\n  expect(x).to eq(2)\nend\nit 'adds' do\n  check A.f(1)\nend", ""},
	})
	run(t, "test/a_test.rb", "require 'a'\n", "\n", []skeletonCase{
		{"minitest", "class ATest < Minitest::Test\n  def test_adds\n    assert_equal 2, A.f(1)\n  end\nend", ""},
		{"minitest constants", "class ATest < Minitest::Test\n  def test_adds\n    assert true\n    assert_equal 1, 1\n  end\nend", AlwaysTrue},
		{"rails", "class ATest < ActiveSupport::TestCase\n  test \"adds\" do\n    assert_equal 2, A.f(1)\n  end\nend", ""},
		{"endless", "class ATest < Minitest::Test\n  def test_adds = assert_equal(2, A.f(1))\nend", ""},
		{"raises", "class ATest < Minitest::Test\n  def test_adds\n    assert_raises(X) { A.f(-1) }\n  end\nend", ""},
		{"raises do", "class ATest < Minitest::Test\n  def test_adds\n    assert_raises X do\n      A.f(-1)\n    end\n  end\nend", ""},
		{"flunk", "class ATest < Minitest::Test\n  def test_adds\n    flunk 'later'\n  end\nend", NoAssertion},
		{"outside a test class", "def test_adds\n  assert_equal 2, A.f(1)\nend", NoTestFunction},
		{"spec style", "describe A do\n  it 'adds' do\n    _(A.f(1)).must_equal 2\n  end\nend", ""},
		{"commented", "=begin\nclass ATest < Minitest::Test\n def test_a\n assert_equal 1, f\n end\nend\n=end", NoTestFunction},
	})
}

func TestBats(t *testing.T) {
	run(t, "test/a.bats", "#!/usr/bin/env bats\n", "\n", []skeletonCase{
		{"status", "@test \"adds\" {\n  run add 1 1\n  [ \"$status\" -eq 0 ]\n  [ \"$output\" = 2 ]\n}", ""},
		{"assert", "@test \"adds\" {\n  run add 1 1\n  assert_output 2\n}", ""},
		{"constant", "@test \"adds\" {\n  [ 1 -eq 1 ]\n}", AlwaysTrue},
		{"itself", "@test \"adds\" {\n  [ \"$x\" = \"$x\" ]\n}", AlwaysTrue},
		{"runs", "@test \"adds\" {\n  run add 1 1\n}", NoAssertion},
		{"skip", "@test \"adds\" {\n  skip\n  [ \"$x\" = 1 ]\n}", NoAssertion},
		{"set-up", "setup() {\n  [ -d \"$x\" ]\n}", NoTestFunction},
		{"helper", "check() {\n  [ \"$1\" = 2 ]\n}\n@test \"adds\" {\n  check \"$(add 1 1)\"\n}", ""},
	})
}

func TestOtherLanguages(t *testing.T) {
	run(t, "src/a_test.cc", "", "\n", []skeletonCase{
		{"gtest", "TEST(A, Adds) { EXPECT_EQ(2, f(1)); }", ""},
		{"gtest constant", "TEST(A, Adds) { EXPECT_EQ(1, 1); }", AlwaysTrue},
		{"gtest empty", "TEST(A, Adds) { f(1); }", NoAssertion},
		{"comment", "// TEST(A, Adds) { EXPECT_EQ(2, f(1)); }", NoTestFunction},
	})
	run(t, "test/a_test.dart", "", "\n", []skeletonCase{{"dart", "void main() { test('a', () { expect(f(1), equals(2)); }); }", ""}})
	run(t, "test/a_test.exs", "", "\n", []skeletonCase{{"elixir", "test \"a\" do\n  assert f(1) == 2\nend", ""}})
	run(t, "Tests/ATests/ATests.swift", "", "\n", []skeletonCase{{"swift", "func testA() { XCTAssertEqual(f(1), 2) }", ""}})
}
