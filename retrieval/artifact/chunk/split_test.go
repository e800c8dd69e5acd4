package chunk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval/artifact"
)

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// checkChunks holds chunks to the guarantees of the package.
func checkChunks(t fataler, text string, chunks []artifact.Chunk, symbols []artifact.Symbol) {
	t.Helper()
	all := linesOf(text, nil)
	if text == "" {
		if len(chunks) != 0 {
			t.Fatalf("an empty text has chunks: %+v", chunks)
		}
		return
	}
	covered, within, declared := 0, 0, 0 // lines, and bytes of the next one
	for i, c := range chunks {
		from, to := c.Lines[0]-1, c.Lines[1]
		if from < 0 || to > all.count() || from >= to {
			t.Fatalf("chunk %d has lines %v of %d", i, c.Lines, all.count())
		}
		if n := tokensIn(len(c.Text)); n != c.Tokens || n > artifact.MaxChunkTokens || !utf8.ValidString(c.Text) {
			t.Fatalf("chunk %d says %d tokens and has %d", i, c.Tokens, n)
		}
		if whole := all.cut(from, to); c.Text != whole {
			if to != from+1 || from != covered || !strings.HasPrefix(whole[within:], c.Text) || c.Text == "" {
				t.Fatalf("chunk %d of lines %v is not their text", i, c.Lines)
			}
			if within += len(c.Text); within == len(whole) {
				covered, within = to, 0
			}
			continue
		}
		if from > covered || to <= covered && i > 0 || within != 0 {
			t.Fatalf("chunk %d of lines %v follows line %d", i, c.Lines, covered)
		}
		if from < covered && tokensIn(len(all.cut(from, covered))) > artifact.OverlapTokens {
			t.Fatalf("chunk %d repeats %d tokens", i, tokensIn(len(all.cut(from, covered))))
		}
		covered = to
		declared += len(c.Symbols)
	}
	if covered != all.count() || within != 0 {
		t.Fatalf("the chunks end at line %d of %d", covered, all.count())
	}
	for i, s := range symbols {
		if s.Line < 1 || s.Line > all.count() || s.Name == "" || s.Kind == "" || i > 0 && symbols[i-1].Line > s.Line {
			t.Fatalf("symbol %d is %+v", i, s)
		}
	}
}

var languages = func() []string {
	all := []string{"go", "markdown", "text"}
	for name := range grammars() {
		all = append(all, name)
	}
	return all
}()

func TestChunksCoverAnyText(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"\n", "\n\n", "\r\n", "# Heading\n", "## Two\n", "Title\n=====\n", "---\n", "```\n", "package p\n", "import \"fmt\"\n",
		"func F() {\n", "}\n", "type T struct{}\n", "class A:\n", "    def b(self):\n", "        pass\n", "\"\"\"", "'", "`", "/*", "*/", "// c\n",
		"x := 1; y := 2", "var a = 1; var b = 2\n", "public class A {\n", "  void f(int x) {\n", "fn f() {\n", "é", "日本語", strings.Repeat("word ", 200),
		strings.Repeat("line of text\n", 120), strings.Repeat("x", 4000), strings.Repeat("{} ", 700) + "\n", strings.Repeat("é", 1500), "\t", " ", "@Override\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 25).Draw(t, "pieces"), "")
		language := rapid.SampledFrom(languages).Draw(t, "language")
		chunks, symbols := Split(language, text, new(Scratch))
		checkChunks(t, text, chunks, symbols)
	})
}

func FuzzSplit(f *testing.F) {
	f.Add(0, "package p\n\n// F does.\nfunc F() {}\n")
	f.Add(1, "---\ntitle: x\n---\n# A\n\ntext\n\n## B\n")
	f.Add(5, "class A {\n  void f() {\n  }\n}\n")
	f.Fuzz(func(t *testing.T, language int, text string) {
		if !utf8.ValidString(text) || len(text) > 1<<16 {
			return
		}
		name := languages[uint(language)%uint(len(languages))]
		chunks, symbols := Split(name, text, new(Scratch))
		checkChunks(t, text, chunks, symbols)
	})
}

// TestOutlines compares the chunks of the files under testdata with what is
// written beside each. WRIT_UPDATE=1 writes them anew.
func TestOutlines(t *testing.T) {
	files, err := filepath.Glob("testdata/outlines/*.in")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		language, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			chunks, symbols := Split(language, string(raw), new(Scratch))
			checkChunks(t, string(raw), chunks, symbols)
			var b strings.Builder
			for _, c := range chunks {
				fmt.Fprintf(&b, "%d-%d %q %v\n", c.Lines[0], c.Lines[1], c.Heading, c.Symbols)
			}
			for _, s := range symbols {
				fmt.Fprintf(&b, "%d %s %s\n", s.Line, s.Kind, s.Name)
			}
			golden := strings.TrimSuffix(file, ".in") + ".golden"
			if os.Getenv("WRIT_UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("the chunks are\n%swant\n%s", b.String(), want)
			}
		})
	}
}

// A line that opens a module or a class stands with what follows, however deep the
// nesting of what is too long for one piece.
func TestALineThatOpensStandsWithWhatFollows(t *testing.T) {
	var text strings.Builder
	text.WriteString("module Outer\n  class Middle\n    class Inner\n")
	for i := range 60 {
		fmt.Fprintf(&text, "      def method_%d\n        %s\n      end\n\n", i, strings.Repeat("answer() + ", 20))
	}
	text.WriteString("    end\n  end\nend\n")
	chunks, _ := Split("ruby", text.String(), new(Scratch))
	if first := chunks[0]; first.Lines[1] < 6 || len(first.Symbols) < 4 {
		t.Errorf("the first piece is lines %v with %v", first.Lines, first.Symbols)
	}
}

// TestAFileThatOnlyStatesFunctionsNamesThemAll holds a declaration file of a
// large library, while the constants of a header stay a table.
func TestAFileThatOnlyStatesFunctionsNamesThemAll(t *testing.T) {
	var stated, defined strings.Builder
	stated.WriteString("export interface Builder {\n")
	for i := range 300 {
		fmt.Fprintf(&stated, "  column%d(name: string): Builder;\n", i)
		fmt.Fprintf(&defined, "#define CODE_%d %d\n", i, i)
	}
	stated.WriteString("}\n")
	if _, symbols := Split("typescript", stated.String(), new(Scratch)); len(symbols) != 301 {
		t.Errorf("%d names of 301", len(symbols))
	}
	if _, symbols := Split("c", defined.String(), new(Scratch)); len(symbols) != mostMarks {
		t.Errorf("%d names of constants, want %d", len(symbols), mostMarks)
	}
}
