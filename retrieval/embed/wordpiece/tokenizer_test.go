package wordpiece

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// reference is a line of testdata/cases.jsonl: what the Hugging Face tokenizers
// library 0.23.3 made of a text with testdata/tokenizer.json, and with the same
// file told to keep case.
type reference struct {
	Text    string  `json:"text"`
	Uncased []int32 `json:"uncased"`
	Cased   []int32 `json:"cased"`
}

func references(t testing.TB) []reference {
	t.Helper()
	file, err := os.Open("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []reference
	for in := bufio.NewReader(file); ; {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var r reference
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		if err != nil {
			return all
		}
	}
}

func testTokenizers(t testing.TB) (fromJSON, fromVocabulary, cased *Tokenizer) {
	t.Helper()
	fromJSON, err := Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/vocab.txt")
	if err != nil {
		t.Fatal(err)
	}
	if fromVocabulary, err = ParseVocabulary(raw, Uncased); err != nil {
		t.Fatal(err)
	}
	if cased, err = ParseVocabulary(raw, Normalization{CleanText: true, HandleChineseChars: true}); err != nil {
		t.Fatal(err)
	}
	return fromJSON, fromVocabulary, cased
}

func TestTokensAreTheReferences(t *testing.T) {
	fromJSON, fromVocabulary, cased := testTokenizers(t)
	all := references(t)
	if len(all) < 300 {
		t.Fatalf("only %d cases", len(all))
	}
	for _, c := range all {
		for _, tokenizer := range []*Tokenizer{fromJSON, fromVocabulary} {
			if got := tokenizer.Tokens(nil, c.Text, 1<<20); !slices.Equal(got, c.Uncased) {
				t.Errorf("%q:\n got %v\nwant %v", c.Text, spelled(tokenizer, got), spelled(tokenizer, c.Uncased))
			}
		}
		if got := cased.Tokens(nil, c.Text, 1<<20); !slices.Equal(got, c.Cased) {
			t.Errorf("cased %q:\n got %v\nwant %v", c.Text, spelled(cased, got), spelled(cased, c.Cased))
		}
	}
}

func spelled(t *Tokenizer, ids []int32) (out []string) {
	for _, id := range ids {
		out = append(out, t.Token(id))
	}
	return out
}

// Any limit gives the beginning of the whole.
func TestLimits(t *testing.T) {
	tokenizer, _, _ := testTokenizers(t)
	for _, c := range references(t) {
		for limit := range len(c.Uncased) + 2 {
			want := c.Uncased[:min(limit, len(c.Uncased))]
			if got := tokenizer.Tokens(nil, c.Text, limit); !slices.Equal(got, want) {
				t.Fatalf("%q to %d: %v, want %v", c.Text, limit, got, want)
			}
			framed := slices.Concat([]int32{2}, want, []int32{3})
			if got := tokenizer.Encode(nil, c.Text, limit+2); !slices.Equal(got, framed) {
				t.Fatalf("%q framed to %d: %v, want %v", c.Text, limit, got, framed)
			}
		}
	}
}

func TestTokensAppend(t *testing.T) {
	tokenizer, _, _ := testTokenizers(t)
	got := tokenizer.Tokens([]int32{7, 7}, "the index", 1)
	if len(got) != 3 || got[0] != 7 || tokenizer.Token(got[2]) != "the" {
		t.Errorf("%v", spelled(tokenizer, got))
	}
	if tokenizer.Size() != 900 || tokenizer.Unknown() != 1 || !tokenizer.Framed() || tokenizer.Token(-1) != "" || tokenizer.Token(1<<30) != "" {
		t.Error("size, unknown token, frame or names are wrong")
	}
}

// A vast text costs what its first tokens cost: no word or list grows with it.
func TestVastTextsAreCutEarly(t *testing.T) {
	tokenizer, _, _ := testTokenizers(t)
	for _, text := range []string{strings.Repeat("index ", 1<<18), strings.Repeat("x", 1<<19), strings.Repeat("\u0301", 1<<18), strings.Repeat(" ", 1<<19)} {
		if n := testing.AllocsPerRun(1, func() { tokenizer.Encode(nil, text, 128) }); n > 40 {
			t.Errorf("%.8q…: %v allocations", text, n)
		}
	}
}

func TestVocabularyFiles(t *testing.T) {
	const pieces = "[PAD]\n[UNK]\nun\n##want\n##ed\n##\n\nrun"
	tokenizer, err := ParseVocabulary([]byte(strings.ReplaceAll(pieces, "\n", "\r\n")), Uncased)
	if err != nil {
		t.Fatal(err)
	}
	if got := tokenizer.Tokens(nil, "UNwanted run unwantedly [PAD]", 99); !slices.Equal(got, []int32{2, 3, 4, 7, 1, 0}) {
		t.Errorf("%v", got)
	}
	if tokenizer.Framed() {
		t.Error("framed without [CLS] and [SEP]")
	}
	for name, raw := range map[string]string{"empty": "", "no unknown": "a\nb\n", "not UTF-8": "[UNK]\n\xff\n"} {
		if _, err := ParseVocabulary([]byte(raw), Uncased); !errors.Is(err, ErrVocabulary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Config{Vocabulary: map[string]int32{"[UNK]": -1}}); !errors.Is(err, ErrVocabulary) {
		t.Error(err)
	}
	if _, err := New(Config{Vocabulary: map[string]int32{"[UNK]": 0}, Special: []string{"[X]"}}); !errors.Is(err, ErrVocabulary) {
		t.Error(err)
	}
}

func TestOtherTokenizersAreRefused(t *testing.T) {
	const model = `"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"a":1}}`
	const split = `"pre_tokenizer":{"type":"BertPreTokenizer"}`
	for raw, want := range map[string]error{
		`{` + split + `,` + model + `}`:                                        nil,
		`{"normalizer":{"type":"BertNormalizer"},` + split + `,` + model + `}`: nil,
		`{"normalizer":{"type":"NFKC"},` + split + `,` + model + `}`:           ErrUnsupported,
		`{` + model + `}`: ErrUnsupported,
		`{"pre_tokenizer":{"type":"Metaspace"},` + model + `}`:                                           ErrUnsupported,
		`{` + split + `,"model":{"type":"BPE","vocab":{}}}`:                                              ErrUnsupported,
		`{` + split + `,"model":{"type":"WordPiece","max_input_chars_per_word":-1,"vocab":{"[UNK]":0}}}`: ErrUnsupported,
		`{` + split + `,"model":{"type":"WordPiece","vocab":["a"]}}`:                                     ErrVocabulary,
		`{` + split + `,"model":{"type":"WordPiece","vocab":null}}`:                                      ErrVocabulary,
		`{` + split + `,"model":{"type":"WordPiece","vocab":{"a":0}}}`:                                   ErrVocabulary,
		`{"added_tokens":[{"id":9,"content":"<x>","normalized":true}],` + split + `,` + model + `}`:      ErrUnsupported,
		`{"added_tokens":[{"id":9999999999,"content":"<x>"}],` + split + `,` + model + `}`:               ErrVocabulary,
		`{"added_tokens":[{"id":9,"content":""}],` + split + `,` + model + `}`:                           ErrVocabulary,
		`[]`: ErrUnsupported,
		``:   ErrUnsupported,
	} {
		if _, err := ParseJSON([]byte(raw)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", raw, err, want)
		}
	}
}

func TestLoadReadsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "vocab.txt") {
		t.Errorf("an empty folder: %v", err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(text string, want ...int32) {
		t.Helper()
		tokenizer, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := tokenizer.Tokens(nil, text, 9); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	write("vocab.txt", "[UNK]\né\ne\nÉ\n中\n##中\n")
	check("É 中中", 2, 4, 4)
	write("tokenizer_config.json", `{"do_lower_case":true,"strip_accents":false}`)
	check("É", 1)
	write("tokenizer_config.json", `{"do_lower_case":false,"tokenize_chinese_chars":false}`)
	check("É 中中", 3, 4, 5)
	write("tokenizer_config.json", `{`)
	if _, err := Load(dir); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "tokenizer_config.json") {
		t.Error(err)
	}
	write("tokenizer.json", `{}`)
	if _, err := Load(dir); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Error(err)
	}
}

func FuzzTokens(f *testing.F) {
	tokenizer, _, cased := testTokenizers(f)
	for _, c := range references(f)[:50] {
		f.Add(c.Text, 20)
	}
	f.Add("\xff\xfe[SEP\x80]é\xcc", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		for _, tokenizer := range []*Tokenizer{tokenizer, cased} {
			whole := tokenizer.Tokens(nil, text, 1<<30)
			if len(whole) > 4*utf8.RuneCountInString(text) {
				t.Fatalf("%d tokens of %q", len(whole), text)
			}
			for _, id := range whole {
				if tokenizer.Token(id) == "" {
					t.Fatalf("token %d of %q", id, text)
				}
			}
			limit = min(max(limit, 0), 1<<20)
			if got := tokenizer.Tokens(nil, text, limit); !slices.Equal(got, whole[:min(limit, len(whole))]) {
				t.Fatalf("%q to %d: %v, the whole is %v", text, limit, got, whole)
			}
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"added_tokens":[{"id":0,"content":"[UNK]"}],"normalizer":{"type":"BertNormalizer","lowercase":false},"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","continuing_subword_prefix":"##","vocab":{"[UNK]":0,"a":2147483647}}}`))
	f.Add([]byte(`{"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"?","vocab":{"?":0,"":1}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tokenizer, err := ParseJSON(raw)
		if err != nil {
			return
		}
		for _, id := range tokenizer.Tokens(nil, "a [UNK] ? ##x", 10) {
			if int(id) < 0 || int(id) >= tokenizer.Size() {
				t.Fatalf("token %d of %d", id, tokenizer.Size())
			}
		}
	})
}
