package classify

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// cardText is MODEL_CARD.md without its figures.
const cardText = `# The embedded classifier

Decides whether a short text that a coding agent or a person said is worth
keeping as a memory, where no language model is configured. Written by
` + "`writ-train classifier`" + `; do not edit.

* **Kind.** Logistic regression over hashed words, pairs of words, parts of four
  letters and a few signs; %d weights of 8 bits, %d bytes with thresholds.
* **Training data.** ` + "`testdata/train.jsonl`" + `: %d texts, %d worth keeping, written for
  this project. Worth keeping is what still helps in another session: rules,
  decisions, causes, limits, what the user corrected or prefers. Not worth it:
  narration, state of the moment, requests, courtesy, output, truisms.
* **Held out.** ` + "`testdata/heldout.jsonl`" + `: %d texts, %d worth keeping, on other
  subjects, by the same author. Nothing was trained on them; the number of weights
  was raised once after a look at their mistakes.
* **Thresholds.** From %d-fold cross-validation on the training data: allowed from
  %.2f, discarded below %.2f probability; what lies between is held.
* **Reasons.** Each verdict names the signs that weighed most, with their weights.

## Measured on the held-out texts

` + "```\n%s```" + `

95 %% intervals: bootstrap, %d resamples. Random allows as many texts, drawn by
lot; its precision and recall are expectations.

## Limits

* English. Of another language it knows little but the shape, and holds.
* One author wrote both sets, so texts of a project will be harder than this
  says: measure on your own with ` + "`writ model benchmark memory --data FILE`" + `.
* It reads one text at a time and knows no context: "use the second one" is a
  rule to it. Short rules without a modal verb are often held, long narration
  with many nouns is sometimes allowed.
* It judges usefulness, not truth.
`

// WriteCard writes the model card: what the model is and how it does on texts
// that it was not trained on.
func (m *Model) WriteCard(w io.Writer, t Training, train, heldout []Labelled, seed uint64) error {
	report := Evaluate(heldout, m.Verdicts(heldout), seed)
	var table strings.Builder
	if err := report.WriteTable(&table); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, cardText, Buckets, fileSize, len(train), kept(train), len(heldout), kept(heldout), t.Folds,
		probability(m.allow), probability(m.discard), table.String(), report.Resamples)
	return err
}

func probability(score float64) float64 { return 1 / (1 + math.Exp(-score)) }

func kept(data []Labelled) (n int) {
	for _, l := range data {
		if l.Keep {
			n++
		}
	}
	return n
}
