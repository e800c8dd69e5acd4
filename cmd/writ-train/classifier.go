package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/writbus/writ/observer/classify"
	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/schemas/atomicfile"
)

// intervalSeed draws the confidence intervals.
const intervalSeed = 1

// trainClassifier trains the classifier that decides where no model is
// configured.
func trainClassifier(args []string, out, errw io.Writer) error {
	training := classify.DefaultTraining()
	flags := flag.NewFlagSet("writ-train classifier", flag.ContinueOnError)
	flags.SetOutput(errw)
	data := flags.String("data", "", "`file` of labelled texts, JSON Lines: {\"text\":\"…\",\"keep\":true}")
	heldout := flags.String("heldout", "", "`file` of labelled texts to measure on (default: those of the model in the program)")
	path := flags.String("out", "", "`file` to write the model to")
	card := flags.String("card", "", "`file` to write the model card to")
	flags.IntVar(&training.Epochs, "epochs", training.Epochs, "passes over the texts")
	if err := parse(flags, args, data, path); err != nil {
		return err
	}
	if training.Epochs < 1 {
		return fmt.Errorf("%w: --epochs is %d, must be at least 1", errUsage, training.Epochs)
	}
	train, err := memory.Labelled(*data)
	if err != nil {
		return err
	}
	rest, err := memory.Labelled(*heldout)
	if err != nil {
		return err
	}
	m, err := classify.Train(train, training)
	if err != nil {
		return fmt.Errorf("%s: %w", *data, err)
	}
	if *card != "" {
		if err := atomicfile.WriteFunc(*card, atomicfile.Options{Mode: 0o600}, func(f *atomicfile.File) error {
			return m.WriteCard(f, training, train, rest, intervalSeed)
		}); err != nil {
			return err
		}
	}
	encoded := m.Encode()
	if err := atomicfile.Write(*path, encoded, 0o600); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s: %d bytes, trained on %d texts\n", *path, len(encoded), len(train)); err != nil {
		return err
	}
	return classify.Evaluate(rest, m.Verdicts(rest), intervalSeed).WriteTable(out)
}
