package tools

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/retrieval/embed/static/train"
	"github.com/writbus/writ/schemas/atomicfile"
)

func dirOf(path string) string { return filepath.Dir(path) }

// modelTrain trains a table of word vectors.
func modelTrain(ctx context.Context, args []string, out, errw io.Writer) error {
	if slices.Contains(args, "--classifier") || slices.Contains(args, "-classifier") {
		return trainClassifier(args, out, errw)
	}
	options := train.Defaults()
	flags := newFlags("model train", "Train the table of the static embedder on pairs of texts.",
		"writ model train --data corpus/ --out table.bin", errw)
	flags.StringVar(&options.Dir, "data", "", "`folder` of *.jsonl.gz files of texts")
	path := flags.String("out", "", "`file` to write the table to")
	flags.Uint64Var(&options.Seed, "seed", options.Seed, "one seed, one table, to the byte")
	flags.IntVar(&options.Epochs, "epochs", options.Epochs, "passes over the pairs")
	flags.IntVar(&options.Words, "words", options.Words, "rows for words")
	flags.IntVar(&options.Buckets, "buckets", options.Buckets, "rows for parts of other words")
	flags.IntVar(&options.Dim, "dim", options.Dim, "dimensions")
	flags.Bool("classifier", false, "train the classifier of memory instead; its flags: writ model train --classifier --help")
	teacher := flags.String("distil", "", "`folder` of a sentence encoder to start from, such as all-MiniLM-L6-v2")
	if err := parse(flags, args); err != nil {
		return err
	}
	if options.Dir == "" || *path == "" {
		return fmt.Errorf("%w: --data and --out are needed. Example: writ model train --data corpus/ --out table.bin", errUsage)
	}
	if *teacher != "" {
		e, err := embed.Load(*teacher, embed.Options{Cache: -1})
		if err != nil {
			return err
		}
		options.Teacher = e
	}
	began, bar := time.Now(), newBar(errw)
	result, err := train.Train(ctx, options, func(p train.Progress) {
		share := 0
		if p.Total > 0 {
			share = 100 * p.Done / p.Total
		}
		bar.show(fmt.Sprintf("%s %d%%", p.Stage, share), fmt.Sprintf("  loss %.3f", p.Loss))
	})
	bar.end()
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
