package tools

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/retrieval/embed/hub"
	"github.com/writbus/writ/retrieval/embed/minilm"
	"github.com/writbus/writ/retrieval/embed/static"
)

// modelUse chooses the embedder, if it works.
func modelUse(_ context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("model use", "Choose the embedder: the name of a pulled model, minilm or static (both in the program), none (words alone), the folder of a model, or the file of a trained table.",
		"writ model use all-MiniLM-L6-v2", errw)
	name, err := parseOne(flags, args, "the name of a model, minilm, static, none, a folder or a file")
	if err != nil {
		return err
	}
	layout, before, err := settingsHere()
	if err != nil {
		return err
	}
	value, e, err := choose(layout, name)
	if err != nil {
		return err
	}
	if err := probe(name, e); err != nil {
		return err
	}
	if err := config.SetEmbedder(layout.Root, value); err != nil {
		return err
	}
	what := "words alone"
	if e != nil {
		what = fmt.Sprintf("%s, %d dimensions", e.Name(), e.Dim())
	}
	if _, err := fmt.Fprintf(out, "%s (%s) is the embedder in %s\n", value, what, layout.Settings()); err != nil {
		return err
	}
	after, err := config.Load(layout.Root)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, consequence(layout, before.Embedder == after.Embedder))
	return err
}

// sized is an embedder that knows how long its vectors are.
type sized interface {
	Name() string
	Dim() int
	Embed(text string) ([]float32, error)
}

// choose opens an embedder and says what the settings call it.
func choose(layout config.Layout, name string) (value string, e sized, err error) {
	switch name {
	case "none":
		return name, nil, nil
	case "static":
		table, err := static.Default()
		return name, table, err
	case minilm.Setting:
		e, err := minilm.Default()
		return name, e, err
	}
	dir, pulled := layout.Model(name)
	if !pulled {
		known, unknown := hub.Find(name)
		if dir, pulled = layout.Model(known.Name); pulled {
			name = known.Name
		} else if unknown == nil {
			return "", nil, fmt.Errorf("%s is not here yet. Pull it first: writ model pull %s", known.Name, known.Name)
		}
	}
	if pulled {
		e, _, err := loadModel(dir)
		if err != nil {
			return "", nil, fmt.Errorf("%w\nThe embedder stays as it was. Pull the model again: writ model pull %s", err, name)
		}
		return name, e, nil
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return "", nil, err
	}
	if _, err := os.Stat(full); err != nil {
		return "", nil, fmt.Errorf("there is no embedder %q. `writ model list` shows them; a folder with a model or the file of a table will do, an endpoint is set in %s", name, layout.Settings())
	}
	model, _, err := loadModel(full)
	if err != nil {
		return "", nil, fmt.Errorf("%w\nThe embedder stays as it was", err)
	}
	return full, model, nil
}

// probeText has words that every English vocabulary has.
const probeText = "retry the request when the connection to the database is lost"

// probe embeds a text: a model may load and still give nothing of use.
func probe(name string, e sized) error {
	if e == nil {
		return nil
	}
	v, err := e.Embed(probeText)
	if err != nil {
		return fmt.Errorf("%s embeds no text: %w", name, err)
	}
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if len(v) != e.Dim() || !(square > 0.9 && square < 1.1) {
		return fmt.Errorf("%s embeds no text: a vector of %d values and length² %.3g came, wanted %d and 1", name, len(v), square, e.Dim())
	}
	return nil
}

// consequence says when the choice takes effect.
func consequence(layout config.Layout, same bool) string {
	pid, running := daemonRuns(layout.Root)
	switch {
	case same:
		return "It was before; nothing changes."
	case running:
		return fmt.Sprintf("The daemon that runs (process %d) goes on with the old one. Restart it: writ down, then writ up. It then indexes the rules anew.", pid)
	}
	return "The daemon uses it from its next start, and then indexes the rules anew."
}

// daemonRuns tells whether the announced daemon listens.
func daemonRuns(dataDir string) (pid int, running bool) {
	at, err := config.ReadEndpoint(dataDir)
	if err != nil {
		return 0, false
	}
	where, err := url.Parse(at.URL)
	if err != nil {
		return 0, false
	}
	conn, err := net.DialTimeout("tcp", where.Host, time.Second)
	if err != nil {
		return 0, false
	}
	_ = conn.Close()
	return at.PID, true
}
