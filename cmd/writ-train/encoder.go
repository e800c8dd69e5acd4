package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/bert"
	"github.com/writbus/writ/retrieval/embed/minilm"
	"github.com/writbus/writ/schemas/atomicfile"
)

// packEncoder writes the encoder in a model directory in whole numbers.
func packEncoder(args []string, out, errw io.Writer) error {
	flags := flag.NewFlagSet("writ-train encoder", flag.ContinueOnError)
	flags.SetOutput(errw)
	dir := flags.String("data", "", "`folder` of a BERT encoder, such as all-MiniLM-L6-v2")
	path := flags.String("out", "", "`file` to write the packed model to")
	if err := parse(flags, args, dir, path); err != nil {
		return err
	}
	packed, err := bert.Pack(*dir)
	if err != nil {
		return err
	}
	name, err := bert.PackedName(packed, "packed")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(*path, packed, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s, %d bytes\n", *path, name, len(packed))
	return err
}

// embedShipped writes the vectors of the texts that come with the program.
func embedShipped(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := flag.NewFlagSet("writ-train vectors", flag.ContinueOnError)
	flags.SetOutput(errw)
	path := flags.String("out", "", "`file` to write the vectors to")
	everything := "the shipped rules"
	if err := parse(flags, args, &everything, path); err != nil {
		return err
	}
	began := time.Now()
	texts, err := shippedTexts()
	if err != nil {
		return err
	}
	encoded, err := minilm.Encode(ctx, texts)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(*path, encoded, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d texts, %d bytes, %s\n", *path, len(texts), len(encoded), time.Since(began).Round(time.Second))
	return err
}

// shippedTexts are those that a daemon with the shipped rules embeds.
func shippedTexts() ([]string, error) {
	files, err := corpus.Embedded()
	if err != nil {
		return nil, err
	}
	texts := retrieval.BackgroundTexts()
	for _, f := range files {
		if doc := retrieval.Analyse(f.Rule); doc.AlwaysOn() || f.Rule.Type.Findable() {
			texts = append(texts, doc.Texts()...)
		}
	}
	return texts, nil
}
