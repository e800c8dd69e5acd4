package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/classify"
	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/observer/model"
)

// intervalSeed draws the confidence intervals where no seed is given.
const intervalSeed = 1

// benchmarkMemory measures how well the gate and its classifier judge labelled
// turns.
func benchmarkMemory(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("benchmark memory", "Measure how well observations are judged, against storing everything and against chance.",
		"writ model benchmark memory --data turns.jsonl", errw)
	data := flags.String("data", "", "`file` of labelled turns, JSON Lines: {\"text\":\"…\",\"keep\":true} (default: those held out from the training)")
	path := flags.String("model", "", "`file` of a trained classifier (default: the one in the program)")
	seed := flags.Uint64("seed", intervalSeed, "of the intervals")
	ask := flags.Bool("ask", false, "ask the configured language model (WRIT_MODEL_API, WRIT_MODEL_NAME or config.yaml) instead of the classifier in the program")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *ask && *path != "" {
		return fmt.Errorf("%w: --ask and --model are two ways to judge. Give one of them", errUsage)
	}
	m := classify.Default()
	if *path != "" {
		raw, err := os.ReadFile(*path)
		if err != nil {
			return err
		}
		if m, err = classify.Decode(raw); err != nil {
			return fmt.Errorf("%s: %w", *path, err)
		}
	}
	turns, err := memory.Labelled(*data)
	if err != nil {
		return err
	}
	var client *model.Client
	if *ask {
		if client, err = configuredModel(); err != nil {
			return err
		}
	}
	r, err := memory.Measure(ctx, client, m, turns, *seed)
	if err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(out).Encode(r)
	}
	return r.WriteTable(out)
}

// configuredModel is the client that the daemon would have.
func configuredModel() (*model.Client, error) {
	dir, err := config.DataDir()
	if err != nil {
		return nil, err
	}
	settings, err := config.Load(dir)
	if err != nil {
		return nil, err
	}
	s := settings.Model
	if s.API == "" {
		return nil, errors.New("no language model is set up: set model.api and model.name in config.yaml of the data directory, or WRIT_MODEL_API and WRIT_MODEL_NAME")
	}
	return model.New(model.Config{API: s.API, BaseURL: s.URL, Model: s.Name, Key: os.Getenv(config.ModelKey), Timeout: s.Timeout})
}
