package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/writbus/writ/schemas/atomicfile"
)

// Models is the folder of the models that were pulled, each in one of its name.
func (l Layout) Models() string { return filepath.Join(l.Root, "models") }

// modelName is what a model's folder can be called.
var modelName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
})

// Model finds a pulled model by its name. ok is false if there is none.
func (l Layout) Model(name string) (dir string, ok bool) {
	if !modelName().MatchString(name) {
		return "", false
	}
	dir = filepath.Join(l.Models(), name)
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// SetEmbedder writes the embedder into the settings of a data directory and
// leaves everything else in the file as it is, comments included. It returns
// ErrSettings, and changes nothing, where the file is not one that can be read,
// or spells the setting in a way that only a person can change.
func SetEmbedder(dataDir, embedder string) error {
	path := Layout{dataDir}.Settings()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("config: %w", err)
	}
	want := DefaultSettings()
	if err := decodeYAML(path, raw, &want); err != nil {
		return err
	}
	want.Embedder = embedder
	edited := editEmbedder(raw, embedder)
	got := DefaultSettings()
	if err := decodeYAML(path, edited, &got); err != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%w: %s cannot be changed line by line; write \"embedder: %s\" into it yourself", ErrSettings, path, scalar(embedder))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if err := atomicfile.WriteWith(path, edited, atomicfile.Options{Mode: 0o600, Keep: true}); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

// embedderLine is the setting on one line: what is before its value, the value,
// and a comment behind it.
var embedderLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(embedder[ \t]*:)[ \t]*("(?:[^"\\\r\n]|\\.)*"|'(?:[^'\r\n]|'')*'|[^\s"'#][^\s#]*|)([ \t]+#[^\r\n]*)?[ \t]*(\r?)$`)
})

// editEmbedder replaces the setting's line, or adds one.
func editEmbedder(raw []byte, embedder string) []byte {
	line := "embedder: " + scalar(embedder)
	if at := embedderLine().FindSubmatchIndex(raw); at != nil {
		comment := ""
		if at[6] >= 0 {
			comment = string(raw[at[6]:at[7]])
		}
		return bytes.Join([][]byte{raw[:at[0]], []byte(line + comment), raw[at[8]:]}, nil)
	}
	end := "\n"
	if bytes.Contains(raw, []byte("\r\n")) {
		end = "\r\n"
	}
	edited := bytes.Clone(raw)
	if len(edited) > 0 && edited[len(edited)-1] != '\n' {
		edited = append(edited, end...)
	}
	return append(edited, line+end...)
}

// plain is text that YAML takes as it stands, wherever it begins.
var plain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9._/-]*$`)
})

func scalar(text string) string {
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
	default:
		if plain().MatchString(text) {
			return text
		}
	}
	quoted, err := json.Marshal(text) // YAML's double quotes take JSON's escapes
	if err != nil {
		return `""`
	}
	return string(quoted)
}
