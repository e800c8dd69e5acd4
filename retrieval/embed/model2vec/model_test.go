package model2vec

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/embed/safetensors"
)

// The directories in testdata were made by model2vec 0.10.0 from random tables:
// one of float16, one of int8 with weights and shared rows. Their cases.jsonl is
// what that library made of the texts.
func TestVectorsAreTheLibrarys(t *testing.T) {
	for _, name := range []string{"plain", "quantized"} {
		dir := filepath.Join("testdata", name)
		m, err := Load(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if m.Name() != name || m.Dim() != 8 {
			t.Errorf("name %q, %d dimensions", m.Name(), m.Dim())
		}
		raw, err := os.ReadFile(filepath.Join(dir, "cases.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
			var c struct {
				Text   string
				Vector []float32
			}
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, c.Text)
			got, err := m.Embed(c.Text)
			if err != nil || len(got) != len(c.Vector) {
				t.Fatalf("%q: %v, %v", c.Text, got, err)
			}
			for i := range got {
				// The library sums float16 tables in float16.
				if d := math.Abs(float64(got[i] - c.Vector[i])); d > 2e-3 {
					t.Fatalf("%s, %.60q:\n got %v\nwant %v", name, c.Text, got, c.Vector)
				}
			}
		}
		if len(texts) < 50 {
			t.Fatalf("only %d cases", len(texts))
		}
		batch, err := m.EmbedBatch(context.Background(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			alone, _ := m.Embed(text)
			for j := range alone {
				if alone[j] != batch[i][j] {
					t.Fatalf("%q differs in a batch", text)
				}
			}
		}
	}
}

func TestCancelledBatches(t *testing.T) {
	m, err := Load("testdata/plain", Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.EmbedBatch(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	for asked, want := range map[int]int{0: 20, 3: 3, 999: 999} {
		m, err := Load("testdata/plain", Options{MaxTokens: asked, Name: "m@1"})
		if err != nil || m.MaxTokens() != want || m.Name() != "m@1" {
			t.Errorf("%d: %v", asked, err)
		}
	}
	if _, err := Load("testdata/plain", Options{MaxTokens: -1}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	for text, want := range map[string]string{"": "", "a": "a", "éé": "éé", "ééx": "éé", "\xff\xffx": "\xff\xff"} {
		if got := cut(text, 2); got != want {
			t.Errorf("%q cut is %q", text, got)
		}
	}
	if cut("a", 0) != "" {
		t.Error("cut to nothing")
	}
}

// tensors writes a safetensors file of F32 and I64 tensors.
func tensors(floats map[string][][]float32, mapping []int64) []byte {
	header, data := map[string]any{}, []byte(nil)
	put := func(name, kind string, shape []int, at int) {
		header[name] = map[string]any{"dtype": kind, "shape": shape, "data_offsets": []int{at, len(data)}}
	}
	for name, rows := range floats {
		at := len(data)
		for _, row := range rows {
			for _, v := range row {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
			}
		}
		if name == "weights" {
			put(name, "F32", []int{len(rows[0])}, at)
		} else {
			put(name, "F32", []int{len(rows), len(rows[0])}, at)
		}
	}
	if mapping != nil {
		at := len(data)
		for _, v := range mapping {
			data = binary.LittleEndian.AppendUint64(data, uint64(v))
		}
		put("mapping", "I64", []int{len(mapping)}, at)
	}
	raw, _ := json.Marshal(header)
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...), data...)
}

func TestUnusableDirectories(t *testing.T) {
	const tokenizer = `{"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"a":1}}}`
	good := tensors(map[string][][]float32{"embeddings": {{0, 0}, {3, 4}}}, nil)
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		config, tokenizer string
		table             []byte
		want              error
		word              string
	}{
		"good":           {`{}`, tokenizer, good, nil, ""},
		"st layout":      {`{}`, tokenizer, tensors(map[string][][]float32{"embedding.weight": {{0, 0}, {3, 4}}}, nil), nil, ""},
		"mapped":         {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{3, 4}}}, []int64{0, 0}), nil, ""},
		"no config":      {"", tokenizer, good, fs.ErrNotExist, "config.json"},
		"bad config":     {"{", tokenizer, good, ErrUnsupported, "config.json"},
		"bad limit":      {`{"max_length":-3}`, tokenizer, good, ErrUnsupported, "config.json"},
		"no tokenizer":   {`{}`, "", good, fs.ErrNotExist, "tokenizer.json"},
		"no table":       {`{}`, tokenizer, nil, fs.ErrNotExist, "model.safetensors"},
		"cut table":      {`{}`, tokenizer, good[:len(good)-1], safetensors.ErrFormat, "model.safetensors"},
		"no tensor":      {`{}`, tokenizer, tensors(map[string][][]float32{"x": {{1}}}, nil), safetensors.ErrMissing, "embedding"},
		"few rows":       {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{1, 2}}}, nil), ErrUnsupported, "1 tokens"},
		"few weights":    {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{0}, {1}}, "weights": {{1}}}, nil), ErrUnsupported, "1 tokens"},
		"row beyond":     {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{0}, {1}}}, []int64{0, 2}), ErrUnsupported, "row 2"},
		"negative row":   {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{0}, {1}}}, []int64{0, -1}), ErrUnsupported, "row -1"},
		"short mapping":  {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{0}, {1}}}, []int64{0}), ErrUnsupported, "1 tokens"},
		"no dimensions":  {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{}, {}}}, nil), ErrUnsupported, "embeddings"},
		"NaN":            {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{0}, {nan}}}, nil), ErrUnsupported, "NaN"},
		"NaN in weights": {`{}`, tokenizer, tensors(map[string][][]float32{"embeddings": {{0}, {1}}, "weights": {{1, nan}}}, nil), ErrUnsupported, "weights"},
	} {
		dir := t.TempDir()
		for file, content := range map[string]string{"config.json": c.config, "tokenizer.json": c.tokenizer, "model.safetensors": string(c.table)} {
			if content != "" {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		m, err := Load(dir, Options{})
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.word)
		}
		if err == nil {
			for text, want := range map[string][2]float32{"a A?": {0.6, 0.8}, "?": {}, "": {}} {
				if v, err := m.Embed(text); err != nil || [2]float32(v) != want {
					t.Errorf("%s: %q is %v, %v", name, text, v, err)
				}
			}
		}
	}
}
