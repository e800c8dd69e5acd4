package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writd/daemon"
	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/hub"
	"github.com/writbus/writ/retrieval/embed/minilm"
	"github.com/writbus/writ/retrieval/embed/static"
)

// listed is an embedder in the list. The keys of its JSON are in people's
// scripts.
type listed struct {
	Name       string `json:"name"`
	Embedder   string `json:"embedder,omitempty"` // its name in answers, with its version
	Kind       string `json:"kind,omitempty"`     // static, bert, model2vec
	Dimensions int    `json:"dimensions,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
	License    string `json:"license,omitempty"`
	Path       string `json:"path,omitempty"`
	Here       bool   `json:"here"`     // it can be used without a pull
	Verified   bool   `json:"verified"` // against a list of SHA-256 sums
	InUse      bool   `json:"in_use"`   // as the settings have it
	Problem    string `json:"problem,omitempty"`
	Note       string `json:"note,omitempty"`
}

// modelList names the embedders that are at hand, and those that can be had.
func modelList(_ context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("model list", "List the embedders that are at hand, and those that can be pulled.", "writ model list", errw)
	asJSON := flags.Bool("json", false, "print JSON, one object per line")
	if err := parse(flags, args); err != nil {
		return err
	}
	layout, settings, err := settingsHere()
	if err != nil {
		return err
	}
	all, err := embedders(layout, settings)
	if err != nil {
		return err
	}
	if *asJSON {
		encoder := json.NewEncoder(out)
		for _, l := range all {
			if err := encoder.Encode(l); err != nil {
				return err
			}
		}
		return nil
	}
	return writeList(out, all)
}

// settingsHere are those of the data directory this program works on.
func settingsHere() (config.Layout, config.Settings, error) {
	dir, err := config.DataDir()
	if err != nil {
		return config.Layout{}, config.Settings{}, err
	}
	s, err := config.Load(dir)
	return config.Layout{Root: dir}, s, err
}

// embedders are the built-in ones, the folders of the pulled, what the settings
// name besides, and the known models that are not here.
func embedders(layout config.Layout, s config.Settings) ([]listed, error) {
	table, err := static.Default()
	if err != nil {
		return nil, err
	}
	encoder, err := minilm.Default()
	if err != nil {
		return nil, err
	}
	all := []listed{
		{
			Name: minilm.Setting, Embedder: encoder.Name(), Kind: string(embed.BERT), Dimensions: encoder.Dim(), License: "Apache-2.0",
			Here: true, Verified: true, Note: "in this program, of rules; files have static",
		},
		{
			Name: "static", Embedder: table.Name(), Kind: "static", Dimensions: table.Dim(),
			Here: true, Verified: true, Note: "in this program",
		},
		{Name: "none", Here: true, Note: "words alone"},
	}
	entries, err := os.ReadDir(layout.Models())
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for _, entry := range entries {
		if dir, ok := layout.Model(entry.Name()); ok {
			all = append(all, inspect(entry.Name(), dir))
		}
	}
	all = markUsed(all, s)
	for _, m := range hub.Known() {
		if _, here := layout.Model(m.Name); !here {
			how := "writ model pull " + m.Name
			if len(m.Files) == 0 {
				how = "fetch " + m.URL + " into a folder, then writ model use FOLDER"
			}
			all = append(all, listed{Name: m.Name, Dimensions: m.Dim, Bytes: m.Size(), License: m.License, Note: m.Summary + "; " + how})
		}
	}
	return all, nil
}

// inspect loads a model, which checks it as the daemon does.
func inspect(name, dir string) listed {
	l := listed{Name: name, Path: dir, Here: true, Bytes: daemon.BytesBelow(dir)}
	if m, err := hub.Find(name); err == nil {
		l.License = m.License
	}
	_, err := os.Stat(filepath.Join(dir, "checksums.txt"))
	e, kind, failed := loadModel(dir)
	if failed != nil {
		l.Problem = failed.Error()
		return l
	}
	l.Embedder, l.Kind, l.Dimensions = e.Name(), kind, e.Dim()
	l.Verified = err == nil || kind == string(embed.Static) // tables hold their own
	return l
}

func loadModel(dir string) (e embed.Embedder, kind string, err error) {
	found, err := embed.Detect(dir)
	if err != nil {
		return nil, "", err
	}
	e, err = embed.Load(dir, embed.Options{Cache: -1})
	return e, string(found), err
}

// markUsed marks the embedder of the settings, and adds it if it is another.
func markUsed(all []listed, s config.Settings) []listed {
	for i := range all {
		if all[i].Name == s.Embedder || all[i].Path != "" && all[i].Path == s.Embedder {
			all[i].InUse = true
			return all
		}
	}
	l := listed{Name: s.Embedder, Here: true, Note: "an endpoint, model " + s.EmbedderModel}
	switch {
	case filepath.IsAbs(s.Embedder):
		l = inspect(s.Embedder, s.Embedder)
	case !strings.Contains(s.Embedder, "://"):
		l.Here, l.Note, l.Problem = false, "", "there is no such embedder; pull it, or choose one of these with: writ model use NAME"
	}
	l.InUse = true
	return append(all, l)
}

func writeList(out io.Writer, all []listed) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range all {
		mark, dim, size := " ", "", ""
		if l.InUse {
			mark = "*"
		}
		if l.Dimensions > 0 {
			dim = fmt.Sprintf("%d dimensions", l.Dimensions)
		}
		if l.Bytes > 0 {
			size = megabytes(l.Bytes)
		}
		_, _ = fmt.Fprintf(table, "%s %s\t%s\t%s\t%s\n", mark, l.Name, dim, size, strings.Join(l.remarks(), ", "))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "* as the settings have it; writ model use NAME changes it")
	return err
}

func (l listed) remarks() []string {
	if l.Problem != "" {
		return []string{"cannot be used: " + strings.ReplaceAll(l.Problem, "\n", "; ")}
	}
	var remarks []string
	for _, text := range []string{l.Kind, l.Embedder, l.License, l.Note} {
		if text != "" && text != l.Name {
			remarks = append(remarks, text)
		}
	}
	switch {
	case l.Path != "" && l.Verified:
		remarks = append(remarks, "checksums hold")
	case l.Path != "":
		remarks = append(remarks, "no checksums to hold it to")
	}
	return remarks
}

// megabytes is a size for people.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
