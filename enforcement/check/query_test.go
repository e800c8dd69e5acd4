package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/schemas"
)

func TestQueries(t *testing.T) {
	for _, tc := range []struct {
		name, file, query, src string
		want                   []int
	}{
		{"go expression", "a.go", `$x == nil`, "package a\nvar b = c.d == nil\nvar e = nil == f\n// g == nil\n", []int{2}},
		{"go equal holes", "a.go", `$x == $x`, "package a\nvar b = c.d == c.d\nvar e = f == g\n", []int{2}},
		{"go any arguments", "a.go", `f($..., 1, $...)`, "package a\nvar a = f(1)\nvar b = f(2, 1)\nvar c = f(1, 2, 3)\nvar d = f(2)\nvar e = f()\n", []int{2, 3, 4}},
		{"go method is no function", "a.go", `eval($_)`, "package a\nvar a = m.eval(x)\nvar b = eval(x)\n", []int{3}},
		{"go text of a hole", "a.go", `os.$(f ~ ^Get)($_)`, "package a\nvar a = os.Getenv(x)\nvar b = os.Open(x)\n", []int{2}},
		{"go string value", "a.go", "f(\"a\\n\")", "package a\nvar a = f(`a\n`)\nvar b = f(\"b\")\n", []int{2}},
		{"go parentheses", "a.go", `$a + 1`, "package a\nvar b = (c) + (1)\n", []int{2}},
		{
			"go inside", "a.go", "defer $_($...)\ninside for",
			"package a\nfunc f() {\n\tdefer a()\n\tfor range b {\n\t\tdefer c()\n\t\tfunc() {\n\t\t\tdefer d()\n\t\t}()\n\t}\n}\n",
			[]int{5},
		},
		{
			"go within", "a.go", "defer $_($...)\nwithin for",
			"package a\nfunc f() {\n\tdefer a()\n\tfor range b {\n\t\tdefer c()\n\t\tfunc() {\n\t\t\tdefer d()\n\t\t}()\n\t}\n}\n",
			[]int{5, 7},
		},
		{
			"go without", "a.go", "$f := open($_)\nwithout $f.Close()",
			"package a\nfunc a() {\n\tx := open(1)\n\tdefer x.Close()\n}\nfunc b() {\n\tx := open(1)\n\ty.Close()\n}\n",
			[]int{7},
		},
		{"go file condition", "a.go", "f()\nfile having import \"x\"", "package a\nimport \"x\"\nvar a = f()\n", []int{3}},
		{"go file condition unmet", "a.go", "f()\nfile without import \"x\"", "package a\nimport \"x\"\nvar a = f()\n", []int{}},
		{"go statements", "a.go", `$a := $b; $...; return $a`, "package a\nfunc f() int {\n\tx := 1\n\tg()\n\treturn x\n}\nfunc h() int {\n\tx := 1\n\treturn y\n}\n", []int{3}},
		{"go loops of any kind", "a.go", `for $... { f() }`, "package a\nfunc a() {\n\tfor {\n\t\tf()\n\t}\n\tfor range b {\n\t\tf()\n\t}\n\tfor {\n\t\tg()\n\t}\n}\n", []int{3, 6}},
		{"go declaration", "a.go", `func init() { $... }`, "package a\nfunc init() { b() }\nfunc c() {}\n", []int{2}},
		{"go spread argument", "a.go", `f($x)`, "package a\nvar a = f(b...)\nvar c = f(d)\n", []int{3}},
		{"go broken file", "a.go", `f()`, "package a\nvar a = f()\nfunc {{{\n", []int{2}},

		{"python call", "a.py", `eval($...)`, "eval(x)\nm.eval(x)\ndef eval(x): pass\nreturn eval(x)\n# eval(x)\n'eval(x)'\nf'{eval(x)}'\n", []int{1, 4, 7}},
		{"python nesting", "a.py", `f($a, $b)`, "f(g(1, 2), [3, 4])\nf(g(1, 2))\nf(1, 2, 3)\n", []int{1}},
		{"python keyword argument", "a.py", `run($..., shell=True, $...)`, "run(shell=True)\nrun(a, shell=True)\nrun(a, shell=True, b=1)\nrun(a, shell=False)\nrun(g(shell=True))\n", []int{1, 2, 3}},
		{"python end of line", "a.py", `except: pass`, "try:\n  a\nexcept:\n  pass\ntry:\n  b\nexcept:\n  c\n  pass\n", []int{3}},
		{"python line is a statement", "a.py", `$x = open($...);`, "a = open(b)\nc = open(d).read()\n", []int{1}},
		{
			"python inside", "a.py", "sleep($_)\ninside async def",
			"async def f():\n  if a:\n    sleep(1)\n  def g():\n    sleep(2)\ndef h():\n  sleep(3)\n",
			[]int{3},
		},
		{"python bound hole in a condition", "a.py", "$s.remove($_)\ninside for $...v in $s:", "for a in b:\n  b.remove(a)\nfor a in b.copy():\n  b.remove(a)\nfor a in c:\n  if d:\n    c.remove(a)\n", []int{2, 7}},
		{"python without", "a.py", "$(f ~ ^\\w+$) = open($...);\nwithout $f.close()", "def a():\n  x = open(1)\n  x.close()\ndef b():\n  x = open(1)\n", []int{5}},
		{"python before", "a.py", "f($...)\nnot before ; return", "def a():\n  f(1)\n  return\ndef b():\n  f(1)\n  g()\n", []int{5}},
		{"python comparison chain", "a.py", `$x.digest() == $_`, "h.new(k).digest() == s\nhmac.compare(h.digest(), s)\n", []int{1}},

		{"script template", "a.ts", `eval($_)`, "const a = `${eval(x)}`;\nconst b = `eval(x)`;\n", []int{1}},
		{"script method declaration", "a.ts", `load($...)`, "class A {\n  load(x) {\n    return load(x);\n  }\n}\n", []int{3}},
		{"script arrow function ends inside", "a.ts", "await $_\ninside for", "for (const a of b) {\n  await a;\n  c.map(async (d) => await d);\n}\nawait e;\n", []int{2}},
		{"script equal holes", "a.js", `$a.filter(($x) => !$b.includes($x))`, "a.filter((i) => !b.includes(i));\na.filter((i) => !b.includes(j));\n", []int{1}},
		{"java catch", "A.java", `catch ($... $(e ~ ^\w+$)) { throw new $X($(m ~ ^".*"$)); }`, "try {} catch (final IOException e) {\n throw new X(\"a\"); }\ntry {} catch (IOException e) { throw new X(\"a\", e); }\n", []int{1}},
		{"java file condition sees declarations", "A.java", "boolean equals(Object $_)\nfile without hashCode()", "class A {\n public boolean equals(Object o) { return true; }\n public int hashCode() { return 1; }\n}\n", []int{}},
		{"rust not within tests", "a.rs", "$_.unwrap()\nnot within #[cfg(test)]", "fn a() { b.c().unwrap(); }\n#[cfg(test)]\nmod tests {\n  fn d() { e.unwrap(); }\n}\n", []int{1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := compileOne(t, schemas.Check{Language: Language(tc.file, nil), Query: tc.query})
			if diff := cmp.Diff(tc.want, lines(set.Run(tc.file, []byte(tc.src), nil))); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
