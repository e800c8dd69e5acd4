package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/retrieval/embed/static/train"
	"github.com/writbus/writ/schemas/atomicfile"
)

// trainTable trains the table of the static embedder on pairs of texts.
func trainTable(ctx context.Context, args []string, out, errw io.Writer) error {
	options := train.Defaults()
	flags := flag.NewFlagSet("writ-train table", flag.ContinueOnError)
	flags.SetOutput(errw)
	flags.StringVar(&options.Dir, "data", "", "`folder` of *.jsonl.gz files of texts")
	path := flags.String("out", "", "`file` to write the table to")
	flags.Uint64Var(&options.Seed, "seed", options.Seed, "one seed, one table, to the byte")
	flags.IntVar(&options.Epochs, "epochs", options.Epochs, "passes over the pairs")
	flags.IntVar(&options.Words, "words", options.Words, "rows for words")
	flags.IntVar(&options.Buckets, "buckets", options.Buckets, "rows for parts of other words")
	flags.IntVar(&options.Dim, "dim", options.Dim, "dimensions")
	teacher := flags.String("distil", "", "`folder` of a sentence encoder to start from, such as all-MiniLM-L6-v2")
	if err := parse(flags, args, &options.Dir, path); err != nil {
		return err
	}
	if *teacher != "" {
		e, err := embed.Load(*teacher, embed.Options{Cache: -1})
		if err != nil {
			return err
		}
		options.Teacher = e
	}
	began := time.Now()
	result, err := train.Train(ctx, options, tenths(errw))
	if err != nil {
		return err
	}
	encoded := result.Table.Encode()
	if err := atomicfile.Write(*path, encoded, 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s, %d bytes, %d pairs, %d words read, loss %.4f, %s\n", *path,
		static.New(result.Table).Name(), len(encoded), result.Pairs, result.Words, result.Loss, time.Since(began).Round(time.Second))
	return err
}

// tenths writes a line when a stage begins and after each tenth of it.
func tenths(w io.Writer) func(train.Progress) {
	last := ""
	return func(p train.Progress) {
		tenth := 0
		if p.Total > 0 {
			tenth = 10 * p.Done / p.Total
		}
		if line := fmt.Sprintf("%s %d%%", p.Stage, 10*tenth); line != last {
			last = line
			_, _ = fmt.Fprintf(w, "%s  loss %.3f\n", line, p.Loss)
		}
	}
}
