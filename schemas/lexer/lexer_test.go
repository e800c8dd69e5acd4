package lexer

import (
	goscanner "go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goroot is the folder of Go, whose sources are real code at hand.
func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("go is not at hand: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// picture writes the classes of a text below it: blank for code, s for the
// inside of a string, q for a delimiter, c for a comment.
func picture(classes []Class) string {
	var b strings.Builder
	for _, c := range classes {
		b.WriteByte(" sqc"[c])
	}
	return b.String()
}

func TestClasses(t *testing.T) {
	for _, tc := range []struct{ name, language, src, want string }{
		{
			"go strings and comments", "go",
			"a(\"b\\\"\", '\"') // c",
			"  qsssq  qsq  cccc",
		},
		{"go raw", "go", "x := `a\\` + b", "     qssq    "},
		{"go block comment", "go", "a /* \"b */ c", "  cccccccc  "},
		{"python prefix", "python", `x = rb"a\"b" # c`, `    qqqssssq ccc`},
		{"python triple", "python", `"""a"b""" + 1`, `qqqsssqqq    `},
		{"python f-string", "python", `f"a{b!r:>{w}}c{{" + d`, `qqsq   sssssqsssq    `},
		{"python f-string with nested quotes", "python", `f"{d["k"]}" # x`, `qqq  qsq qq ccc`},
		{"python broken f-string", "python", "f\"{a\nb()", "qqq     "},
		{"template", "typescript", "`a${b(`c`)}d` + e", "qsqq  qsq qsq    "},
		{"template with a brace", "typescript", "`${ {a: 1}.a }` // c", "qqq          qq cccc"},
		{"regular expression", "javascript", `x = /["/]/g.test(y)`, `    qssssqq        `},
		{"division", "javascript", `x = a / b / "c"`, `            qsq`},
		{"regular expression after a condition", "javascript", `if (x) /'/.test(y)`, `       qsq        `},
		{"java text block", "java", "\"\"\"\na\"b\"\"\" + 'c'", "qqqssssqqq   qsq"},
		{"rust raw", "rust", `r#"a"b"# + 'c' + 'life`, `qqqsssqq   qsq        `},
		{"rust nested comment", "rust", `a /* b /* c */ d */ e`, `  ccccccccccccccccc  `},
		{"rust byte string", "rust", `b"a\"b" 'x: loop`, `qqssssq         `},
		{"ruby here-document", "ruby", "a <<~X, b\n  # c\n  X\nd # e", "  ssss    ssssssqqqq  ccc"},
		{"ruby lists and symbols", "ruby", "x = %w[a b] + :c / 2", "    sssssss   ss    "},
		{"ruby regular expression", "ruby", "if /a\"b/ =~ c", "   qsssq     "},
		{"ruby division", "ruby", "a / b # /", "      ccc"},
		{"ruby block comment", "ruby", "=begin\nx\n=end\ny", "ccccccccccccc  "},
		{"php here-document", "php", "a(<<<X\n# b\n  X, 'c'); # d", "  qqqqsssssqqq  qsq   ccc"},
		{"kotlin name in backticks", "kotlin", "fun `a b`()", "    qsssq  "},
		{"shell quotes", "shell", `echo 'a#b' "c $x" # d`, `     qsssq qssssq ccc`},
		{"shell substitution", "shell", `a="$(b "c")d" e#f`, `  qqq  qsqqsq    `},
		{"shell case in substitution", "shell", `a="$(case x in y) z;; esac)b"`, `  qqq                     qsq`},
		{"shell parameter", "shell", `"${a:-"b # c"}" # d`, `qsssssqsssssqsq ccc`},
		{"shell here-document", "shell", "cat <<'E' | x\na # b\nE\nc # d", "              ssssssq   ccc"},
		{"shell here-document with tabs", "shell", "cat <<-E\n\ta\n\tE\nb # c", "         sssqq   ccc"},
		{"shell arithmetic", "shell", "((a<<b))\nc # d", "           ccc"},
		{"sql", "sql", `a 'b''c' "d" -- e`, `  qssssq     cccc`},
		{"yaml", "yaml", "a: \"b # c\" # d\ne: don't # f\n", "   qsssssq ccc          ccc "},
		{"yaml scalar with a hash", "yaml", "a: b#c # d", "       ccc"},
		{"yaml block", "yaml", "a: |\n  # b\n  c\nd: 1 # e", "    ssssssssss      ccc"},
		{"dockerfile", "dockerfile", "# a\nRUN b # c", "ccc          "},
		{"shebang", "python", "#!/usr/bin/python\na", "ccccccccccccccccc  "},
		{"prose", "text", "eval(x)", "ccccccc"},
		{"unknown", "unknown", "it's // a\n\"b\" http://c", "     cccc qsq         "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			classes, _ := Scan(tc.language, []byte(tc.src))
			if got := picture(classes); got != tc.want {
				t.Errorf("classes differ\nsource %q\ngot    %q\nwant   %q", tc.src, got, tc.want)
			}
		})
	}
}

// TestClassesAgreeWithGo compares with the scanner of Go over Go's own sources.
func TestClassesAgreeWithGo(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goroot(t), "src", "go", "*", "*.go"))
	if err != nil || len(files) == 0 {
		t.Skipf("the sources of Go are not at hand: %v", err)
	}
	for _, name := range files[:min(len(files), 60)] {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		classes, _ := Scan("go", content)
		var s goscanner.Scanner
		set := token.NewFileSet()
		file := set.AddFile(name, -1, len(content))
		s.Init(file, content, nil, goscanner.ScanComments)
		for {
			pos, tok, lit := s.Scan()
			if tok == token.EOF {
				break
			}
			at := file.Offset(pos)
			want := Code
			switch tok {
			case token.COMMENT:
				want = Comment
			case token.STRING, token.CHAR:
				want = Delimiter
			default:
			}
			if tok != token.SEMICOLON && classes[at] != want {
				t.Fatalf("%s: %q is %d, want %d", set.Position(pos), lit, classes[at], want)
			}
		}
	}
}

var fuzzLanguages = []string{
	"go", "python", "typescript", "javascript", "java", "rust", "shell", "sql", "yaml", "dockerfile", "php", "csharp", "ini", "html", "powershell", "unknown", "ruby", "any",
}

// FuzzScan holds the scanners to what they promise for any text: each byte is
// classified, tokens stand in order and inside the text, and brackets pair.
func FuzzScan(f *testing.F) {
	for i, src := range []string{
		"a := `x` // y", "f\"{a!r:>{w}}\" '''b''' # c", "`${`${a}`}` /[/]/ // d", "\"$(a \"${b:-`c`}\")\" <<E\nx\nE\n",
		"r#\"a\"# 'b' 'c /* /* */ */", "a: |\n  b\nc: 'd''e' # f", "'a''b' E'c\\'d' $$ e $$", "((((((((((", "\"", "`${", "f'{", "<<A <<B\n", "\\",
		"a <<~A, %w[b (c]\n d\n A\n:e /f/ =begin\n", "<<<A\nb\n A;",
	} {
		f.Add(uint8(i), []byte(src))
	}
	f.Fuzz(func(t *testing.T, language uint8, src []byte) {
		l := fuzzLanguages[int(language)%len(fuzzLanguages)]
		classes, streams := Scan(l, src)
		if len(classes) != len(src) {
			t.Fatalf("%d classes for %d bytes", len(classes), len(src))
		}
		for _, s := range streams {
			last := int32(0)
			for i, tok := range s {
				if tok.From < last || tok.To < tok.From || int(tok.To) > len(src) {
					t.Fatalf("token %d is %+v behind %d in %d bytes", i, tok, last, len(src))
				}
				last = tok.From
				if tok.Match >= 0 && s[tok.Match].Match != int32(i) {
					t.Fatalf("token %d pairs with %d, which pairs with %d", i, tok.Match, s[tok.Match].Match)
				}
				if int(tok.Parent) >= i {
					t.Fatalf("token %d stands in %d", i, tok.Parent)
				}
			}
		}
	})
}
