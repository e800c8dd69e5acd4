package wordpiece

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// The files of a tokenizer in a model directory.
const (
	jsonFile   = "tokenizer.json"
	vocabFile  = "vocab.txt"
	configFile = "tokenizer_config.json"
)

// Load reads the tokenizer of a model directory: tokenizer.json, or vocab.txt
// with what tokenizer_config.json says about it, if it is there.
func Load(dir string) (*Tokenizer, error) {
	path := filepath.Join(dir, jsonFile)
	raw, err := os.ReadFile(path)
	switch {
	case err == nil:
		t, err := ParseJSON(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return t, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("wordpiece: %w", err)
	}
	path = filepath.Join(dir, vocabFile)
	raw, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("wordpiece: %s has neither %s nor %s: %w", dir, jsonFile, vocabFile, err)
	}
	if err != nil {
		return nil, fmt.Errorf("wordpiece: %w", err)
	}
	norm, err := readNormalization(filepath.Join(dir, configFile))
	if err != nil {
		return nil, err
	}
	t, err := ParseVocabulary(raw, norm)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// readNormalization reads tokenizer_config.json, whose defaults are those of an
// uncased model.
func readNormalization(path string) (Normalization, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Uncased, nil
	}
	if err != nil {
		return Normalization{}, fmt.Errorf("wordpiece: %w", err)
	}
	config := struct {
		Lowercase *bool `json:"do_lower_case"`
		Strip     *bool `json:"strip_accents"`
		Chinese   *bool `json:"tokenize_chinese_chars"`
	}{}
	if err := json.Unmarshal(raw, &config); err != nil {
		return Normalization{}, fmt.Errorf("%w: %s: %w", ErrUnsupported, path, err)
	}
	return normalization(nil, config.Chinese, config.Strip, config.Lowercase), nil
}

// normalization fills in BERT's defaults: everything, and accents follow case.
func normalization(clean, chinese, strip, lower *bool) Normalization {
	n := Uncased
	if clean != nil {
		n.CleanText = *clean
	}
	if chinese != nil {
		n.HandleChineseChars = *chinese
	}
	if lower != nil {
		n.Lowercase = *lower
	}
	n.StripAccents = n.Lowercase
	if strip != nil {
		n.StripAccents = *strip
	}
	return n
}

// ParseVocabulary reads vocab.txt: a token per line, numbered from 0. Those of
// [PAD], [UNK], [CLS], [SEP] and [MASK] that it has are special.
func ParseVocabulary(raw []byte, norm Normalization) (*Tokenizer, error) {
	c := Config{Vocabulary: map[string]int32{}, Normalization: norm}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, len(raw)+1)
	for n := int32(0); lines.Scan(); n++ {
		token := strings.TrimRight(lines.Text(), "\r\n")
		if !utf8.ValidString(token) {
			return nil, fmt.Errorf("%w: line %d is not UTF-8", ErrVocabulary, n+1)
		}
		// A repeated token keeps its last number, as in BERT's own reader.
		c.Vocabulary[token] = n
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrVocabulary, err)
	}
	for _, token := range []string{"[PAD]", unknownToken, startToken, endToken, "[MASK]"} {
		if _, ok := c.Vocabulary[token]; ok {
			c.Special = append(c.Special, token)
		}
	}
	return New(c)
}

// document is what tokenizer.json holds that matters here.
type document struct {
	Added []struct {
		ID         int64  `json:"id"`
		Content    string `json:"content"`
		SingleWord bool   `json:"single_word"`
		Normalized bool   `json:"normalized"`
	} `json:"added_tokens"`
	Normalizer   *normalizer `json:"normalizer"`
	PreTokenizer *struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type       string          `json:"type"`
		Unknown    string          `json:"unk_token"`
		Prefix     string          `json:"continuing_subword_prefix"`
		MaxWord    int             `json:"max_input_chars_per_word"`
		Vocabulary json.RawMessage `json:"vocab"`
	} `json:"model"`
}

type normalizer struct {
	Type    string `json:"type"`
	Clean   *bool  `json:"clean_text"`
	Chinese *bool  `json:"handle_chinese_chars"`
	Strip   *bool  `json:"strip_accents"`
	Lower   *bool  `json:"lowercase"`
}

// ParseJSON reads tokenizer.json of the Hugging Face tokenizers library.
// Truncation, padding and templates in it are ignored: limits and framing are
// the caller's.
func ParseJSON(raw []byte) (*Tokenizer, error) {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("%w: no tokenizer.json: %w", ErrUnsupported, err)
	}
	if d.Model.Type != "WordPiece" && (d.Model.Type != "" || d.Model.Prefix == "") {
		return nil, fmt.Errorf("%w: its model is %q, wanted WordPiece", ErrUnsupported, d.Model.Type)
	}
	if d.PreTokenizer == nil || d.PreTokenizer.Type != "BertPreTokenizer" {
		kind := "none"
		if d.PreTokenizer != nil {
			kind = d.PreTokenizer.Type
		}
		return nil, fmt.Errorf("%w: its pre-tokenizer is %q, wanted BertPreTokenizer", ErrUnsupported, kind)
	}
	if d.Model.MaxWord < 0 {
		return nil, fmt.Errorf("%w: words of at most %d characters", ErrUnsupported, d.Model.MaxWord)
	}
	c := Config{Unknown: d.Model.Unknown, Prefix: d.Model.Prefix, MaxWord: d.Model.MaxWord}
	if d.Normalizer != nil {
		if d.Normalizer.Type != "BertNormalizer" {
			return nil, fmt.Errorf("%w: its normalizer is %q, wanted BertNormalizer", ErrUnsupported, d.Normalizer.Type)
		}
		n := d.Normalizer
		c.Normalization = normalization(n.Clean, n.Chinese, n.Strip, n.Lower)
	}
	if err := json.Unmarshal(d.Model.Vocabulary, &c.Vocabulary); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrVocabulary, err)
	}
	if c.Vocabulary == nil {
		return nil, fmt.Errorf("%w: it is empty", ErrVocabulary)
	}
	for _, a := range d.Added {
		if a.SingleWord || a.Normalized {
			return nil, fmt.Errorf("%w: added token %q is matched by word or normalised", ErrUnsupported, a.Content)
		}
		if a.ID < 0 || a.ID > math.MaxInt32 {
			return nil, fmt.Errorf("%w: added token %q has number %d", ErrVocabulary, a.Content, a.ID)
		}
		c.Vocabulary[a.Content] = int32(a.ID)
		c.Special = append(c.Special, a.Content)
	}
	return New(c)
}
