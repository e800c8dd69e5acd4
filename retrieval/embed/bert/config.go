package bert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnsupported is returned by [Load] for a model this package cannot run
// exactly as it was trained.
var ErrUnsupported = errors.New("bert: unsupported model")

// config is what config.json and the sentence-transformers files beside it say
// about the model.
type config struct {
	Type         string  `json:"model_type"`
	Hidden       int     `json:"hidden_size"`
	Intermediate int     `json:"intermediate_size"`
	Layers       int     `json:"num_hidden_layers"`
	Heads        int     `json:"num_attention_heads"`
	Positions    int     `json:"max_position_embeddings"`
	Types        int     `json:"type_vocab_size"`
	Vocabulary   int     `json:"vocab_size"`
	Epsilon      float64 `json:"layer_norm_eps"`
	Activation   string  `json:"hidden_act"`
	PositionType string  `json:"position_embedding_type"`

	// limit is the longest text, in tokens, the model was made for.
	limit int
	// first pools by the first token instead of the mean of all.
	first bool
	// behind are the folders of the dense layers behind the pooling, in order.
	behind []string
	// query and document stand before what is asked for and what is found.
	query, document string
}

// The files beside the weights. All but config.json may be missing.
const (
	configFile   = "config.json"
	sentenceFile = "sentence_bert_config.json"
	modulesFile  = "modules.json"
	promptsFile  = "config_sentence_transformers.json"
)

func readConfig(dir string) (config, error) {
	c := config{Epsilon: 1e-12, Activation: "gelu", PositionType: "absolute", Types: 2}
	found, err := readJSON(dir, configFile, &c)
	switch {
	case err != nil:
		return c, err
	case !found:
		return c, fmt.Errorf("bert: %s has no %s: %w", dir, configFile, fs.ErrNotExist)
	}
	if problem := c.problem(); problem != "" {
		return c, fmt.Errorf("%w: %s: %s", ErrUnsupported, filepath.Join(dir, configFile), problem)
	}
	var sentence struct {
		Limit int `json:"max_seq_length"`
	}
	if _, err := readJSON(dir, sentenceFile, &sentence); err != nil {
		return c, err
	}
	c.limit = c.Positions
	if sentence.Limit > 0 {
		c.limit = min(c.limit, sentence.Limit)
	}
	if err := c.readModules(dir); err != nil {
		return c, err
	}
	return c, c.readPrompts(dir)
}

// problem says for people why the model cannot be run, "" if it can.
func (c *config) problem() string {
	for _, field := range []struct {
		name        string
		value, most int
	}{
		{"hidden_size", c.Hidden, 1 << 14},
		{"intermediate_size", c.Intermediate, 1 << 16},
		{"num_hidden_layers", c.Layers, 1 << 8},
		{"num_attention_heads", c.Heads, c.Hidden},
		{"max_position_embeddings", c.Positions, 1 << 16},
		{"vocab_size", c.Vocabulary, 1 << 24},
		{"type_vocab_size", c.Types, 1 << 16},
	} {
		if field.value < 1 || field.value > field.most {
			return fmt.Sprintf("%s is %d, wanted 1 to %d", field.name, field.value, field.most)
		}
	}
	switch {
	case c.Type != "bert":
		return fmt.Sprintf("model_type is %q, wanted bert", c.Type)
	case c.Activation != "gelu":
		return fmt.Sprintf("hidden_act is %q, wanted gelu", c.Activation)
	case c.PositionType != "absolute":
		return fmt.Sprintf("position_embedding_type is %q, wanted absolute", c.PositionType)
	case c.Hidden%c.Heads != 0:
		return fmt.Sprintf("%d heads do not divide hidden_size %d", c.Heads, c.Hidden)
	case c.Positions < 2:
		return "no room for a text between its two marks"
	case !(c.Epsilon > 0 && c.Epsilon < 1):
		return fmt.Sprintf("layer_norm_eps is %v", c.Epsilon)
	}
	return ""
}

// readModules reads what sentence-transformers does with the encoder's output.
// Without its files the mean of all tokens is taken.
func (c *config) readModules(dir string) error {
	var modules []struct {
		Path string `json:"path"`
		Type string `json:"type"`
	}
	if _, err := readJSON(dir, modulesFile, &modules); err != nil {
		return err
	}
	for _, module := range modules {
		switch kind := module.Type[strings.LastIndex(module.Type, ".")+1:]; kind {
		case "Transformer", "Normalize":
		case "Pooling":
			if err := c.readPooling(filepath.Join(dir, filepath.FromSlash(module.Path))); err != nil {
				return err
			}
		case "Dense":
			c.behind = append(c.behind, filepath.Join(dir, filepath.FromSlash(module.Path)))
		default:
			return fmt.Errorf("%w: %s: module %q", ErrUnsupported, filepath.Join(dir, modulesFile), module.Type)
		}
	}
	return nil
}

func (c *config) readPooling(dir string) error {
	var modes map[string]any
	if _, err := readJSON(dir, configFile, &modes); err != nil {
		return err
	}
	if modes["include_prompt"] == false {
		return fmt.Errorf("%w: %s: its pooling leaves the prompt out", ErrUnsupported, filepath.Join(dir, configFile))
	}
	first, _ := modes["pooling_mode_cls_token"].(bool)
	mean, told := modes["pooling_mode_mean_tokens"].(bool)
	if mode, ok := modes["pooling_mode"].(string); ok {
		first, mean, told = mode == "cls", mode == "mean", true
	}
	others := false
	for mode, on := range modes {
		if mode != "pooling_mode_cls_token" && mode != "pooling_mode_mean_tokens" && strings.HasPrefix(mode, "pooling_mode_") {
			others = others || on == true
		}
	}
	if others || first == mean && (first || told) {
		return fmt.Errorf("%w: %s: its pooling is neither the mean nor the first token", ErrUnsupported, filepath.Join(dir, configFile))
	}
	c.first = first
	return nil
}

// readPrompts reads what stands before texts of either kind: of several names the
// first that sentence-transformers would take, else its default.
func (c *config) readPrompts(dir string) error {
	var file struct {
		Prompts map[string]string `json:"prompts"`
		Default string            `json:"default_prompt_name"`
	}
	if _, err := readJSON(dir, promptsFile, &file); err != nil {
		return err
	}
	pick := func(names ...string) string {
		for _, name := range append(names, file.Default) {
			if prompt, found := file.Prompts[name]; found {
				return prompt
			}
		}
		return ""
	}
	c.query, c.document = pick("query"), pick("document", "passage", "corpus")
	return nil
}

// readJSON fills in v from a file; found is false if it does not exist.
func readJSON(dir, name string, v any) (found bool, err error) {
	path := filepath.Join(dir, name)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("bert: %w", err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("%w: %s: %w", ErrUnsupported, path, err)
	}
	return true, nil
}
