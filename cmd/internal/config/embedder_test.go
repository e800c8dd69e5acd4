package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestSetEmbedder(t *testing.T) {
	for name, c := range map[string]struct{ file, embedder, want string }{
		"nothing":           {"", "none", "embedder: none\n"},
		"comments alone":    {"# mine\n", "none", "# mine\nembedder: none\n"},
		"other settings":    {"port: 4333 # fixed\n\n# why\nreplicas: 1\n", "m", "port: 4333 # fixed\n\n# why\nreplicas: 1\nembedder: m\n"},
		"no last line end":  {"port: 4333", "m", "port: 4333\nembedder: m\n"},
		"another embedder":  {"embedder: static\nport: 1\n", "m", "embedder: m\nport: 1\n"},
		"a comment behind":  {"embedder: \"a b\"   # as it was\nport: 1\n", "m", "embedder: m   # as it was\nport: 1\n"},
		"quoted with #":     {"embedder: 'a # ''b'''\n", "m", "embedder: m\n"},
		"an empty value":    {"port: 1\nembedder:\n", "m", "port: 1\nembedder: m\n"},
		"at the end":        {"embedder: static", "m", "embedder: m"},
		"Windows":           {"port: 1\r\nembedder: static\r\nreplicas: 1\r\n", "m", "port: 1\r\nembedder: m\r\nreplicas: 1\r\n"},
		"Windows, added":    {"port: 1\r\n", "m", "port: 1\r\nembedder: m\r\n"},
		"a path":            {"", "/a b/c#d: \"e\"", "embedder: \"/a b/c#d: \\\"e\\\"\"\n"},
		"a Windows path":    {"", `C:\models\m`, "embedder: \"C:\\\\models\\\\m\"\n"},
		"what YAML mistook": {"", "no", "embedder: \"no\"\n"},
		"a number":          {"", "8", "embedder: \"8\"\n"},
		"its model's name":  {"embedder_model: x\n", "m", "embedder_model: x\nembedder: m\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "config.yaml")
			if c.file != "" {
				put(t, path, c.file)
			}
			if err := SetEmbedder(dir, c.embedder); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != c.want {
				t.Errorf("%q, want %q, %v", got, c.want, err)
			}
			if s, err := Load(dir); err != nil || s.Embedder != c.embedder {
				t.Errorf("%q, want %q, %v", s.Embedder, c.embedder, err)
			}
		})
	}
}

func TestSettingsThatOnlyAPersonCanChange(t *testing.T) {
	for name, file := range map[string]string{
		"in braces":      "{port: 1, embedder: static}\n",
		"several lines":  "embedder: >-\n  static\n",
		"a plain phrase": "embedder: a b\n",
		"broken":         "port: [\n",
		"unknown key":    "colour: blue\n",
		"an anchor":      "embedder: &e static\n",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.yaml")
		put(t, path, file)
		if err := SetEmbedder(dir, "none"); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != file {
			t.Errorf("%s: the file became %q, %v", name, got, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
	}
}

func TestSetEmbedderKeepsLinksAndModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows, and files have no modes")
	}
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "writ.yaml")
	put(t, elsewhere, "port: 1\n")
	if err := errors.Join(os.Chmod(elsewhere, 0o640), os.Symlink(elsewhere, filepath.Join(dir, "config.yaml"))); err != nil {
		t.Fatal(err)
	}
	if err := SetEmbedder(dir, "none"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(dir, "config.yaml"))
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Error(info, err)
	}
	if info, err := os.Stat(elsewhere); err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info, err)
	}
}

// A pulled model is set by its name; its folder is what the daemon loads.
func TestNamesOfPulledModels(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "models", "m-1.0", "config.json"), "{}")
	put(t, filepath.Join(dir, "models", "static", "config.json"), "{}")
	put(t, filepath.Join(dir, "config.json"), "{}")
	for name, want := range map[string]string{
		"m-1.0": filepath.Join(dir, "models", "m-1.0"), "static": "static", "m-2": "m-2", "..": "..", "../models/m-1.0": "../models/m-1.0",
	} {
		put(t, filepath.Join(dir, "config.yaml"), "embedder: "+name+"\n")
		if s, err := Load(dir); err != nil || s.Embedder != want {
			t.Errorf("%s: %q, %v", name, s.Embedder, err)
		}
	}
	if dir, ok := (Layout{dir}).Model(".part"); ok {
		t.Errorf("%s is a model", dir)
	}
}
