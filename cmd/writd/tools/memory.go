package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/writbus/writ/observer/classify"
	"github.com/writbus/writ/observer/observation"
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
	turns, err := labelledIn(*data)
	if err != nil {
		return err
	}
	r := benchmarked{By: "embedded"}
	verdicts := judged(m, turns)
	if *ask {
		client, err := configuredModel()
		if err != nil {
			return err
		}
		if r, verdicts, err = askedAbout(ctx, client, turns); err != nil {
			return err
		}
	}
	r.Report = classify.Evaluate(turns, verdicts, *seed)
	if *asJSON {
		return json.NewEncoder(out).Encode(r)
	}
	if err := r.writeCalls(out); err != nil {
		return err
	}
	return r.WriteTable(out)
}

// judged is what the gate says of each turn: the annotation where there is one,
// else the classifier.
func judged(m *classify.Model, turns []classify.Labelled) []string {
	verdicts := make([]string, len(turns))
	for i, turn := range turns {
		g := observation.Gate([]byte(turn.Text))
		if verdicts[i] = g.Verdict; g.Fallback && g.Reason == observation.MissingAnnotation {
			verdicts[i] = m.Classify(g.Text).Verdict
		}
	}
	return verdicts
}

// labelledIn reads a file of labelled texts, or those that were held out.
func labelledIn(path string) ([]classify.Labelled, error) {
	if path == "" {
		return classify.ReadLabelled(strings.NewReader(classify.Heldout))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	all, err := classify.ReadLabelled(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}
