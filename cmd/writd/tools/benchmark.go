package tools

import (
	"context"
	"io"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/benchmark"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// benchmarkRules measures how well and how fast rules are found.
func benchmarkRules(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("benchmark rules", "Measure how well and how fast rules are found.",
		"writ model benchmark rules --truth queries.jsonl --scale 1000,10000 --svg latency.svg", errw)
	truthFile := flags.String("truth", "", "`file` of queries with the rules that answer them, JSON Lines")
	dir := flags.String("corpus", "", "`folder` or file of rules, in any format that an import reads; \"daemon\" is the running daemon's corpus (default: the rules shipped)")
	embedder := flags.String("embedder", "minilm", "minilm, static, none, or the file of a trained table")
	profile := flags.String("profile", "", "ranking profile (default: the embedder's)")
	scale := flags.String("scale", "", "also measure speed on corpora grown to these `sizes`, such as 1000,10000")
	queries := flags.Int("queries", 0, "queries asked for each size (default 2000)")
	seed := flags.Uint64("seed", 1, "of grown corpora and intervals")
	asJSON := flags.Bool("json", false, "print JSON")
	ask := flags.Bool("ask", false, "let the configured language model choose what is given: one call a query")
	svg := flags.String("svg", "", "write a picture of latency over size to this `file`")
	if err := parse(flags, args); err != nil {
		return err
	}
	measured := benchmark.Config{Profile: *profile, Queries: *queries, Seed: *seed, Clock: since(time.Now()), Heap: heap}
	var err error
	if measured.Scale, err = numbers(*scale); err != nil {
		return err
	}
	if measured.Rules, err = corpusOf(ctx, *dir); err != nil {
		return err
	}
	e, err := embedderOf(*embedder)
	if err != nil {
		return err
	}
	measured.Options = retrieval.Options{Embedder: e}
	if *truthFile != "" {
		if measured.Truth, err = truthOf(*truthFile); err != nil {
			return err
		}
		asHooksAsk(measured.Truth, measured.Rules)
	}
	if *ask {
		client, err := configuredModel()
		if err != nil {
			return err
		}
		measured.Ask = func(system, question string) (string, error) {
			reply, err := client.Chat(ctx, model.Request{System: system, Messages: []model.Message{model.Said(model.User, redact.Text(question))}}, nil)
			return reply.Text, err
		}
	}
	report, err := benchmark.Run(measured)
	if err != nil {
		return err
	}
	if *svg != "" {
		if err := writeReport(*svg, report.WriteSVG); err != nil {
			return err
		}
	}
	if *asJSON {
		return report.WriteJSON(out)
	}
	return report.WriteTable(out)
}

// corpusOf reads the rules that a flag names.
func corpusOf(ctx context.Context, name string) ([]schemas.Rule, error) {
	if name != "daemon" {
		return rulesOf(name)
	}
	dataDir, err := config.DataDir()
	if err != nil {
		return nil, err
	}
	return rulesToday(ctx, dataDir)
}

// writeReport writes a file whole, or leaves the old one.
func writeReport(path string, write func(io.Writer) error) error {
	return atomicfile.WriteFunc(path, atomicfile.Options{Mode: 0o600}, func(f *atomicfile.File) error { return write(f) })
}
