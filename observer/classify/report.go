package classify

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable writes the report for a person.
func (r Report) WriteTable(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%d texts, %d worth keeping: %d allowed, %d held, %d discarded (%d of them worth keeping)\n\n",
		r.Texts, r.Keep, r.Allow, r.Hold, r.Discard, r.Lost); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "\tprecision\trecall\tF1\t95 % interval")
	for _, row := range []struct {
		name string
		Quality
	}{
		{"allowed", r.Verdict}, {"allowed, and held after review", r.Reviewed}, {"store everything", r.Everything}, {"random, as many", r.Random},
	} {
		_, _ = fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.3f\t%.3f to %.3f\n", row.name, row.Precision, row.Recall, row.F1, row.F1CI.Low, row.F1CI.High)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nF1 over storing everything %+.3f (%+.3f to %+.3f), over random %+.3f (%+.3f to %+.3f)\n",
		r.OverEverything, r.OverEverythingCI.Low, r.OverEverythingCI.High, r.OverRandom, r.OverRandomCI.Low, r.OverRandomCI.High)
	return err
}

// Verdicts classifies the texts, in their order.
func (m *Model) Verdicts(data []Labelled) []string {
	verdicts := make([]string, len(data))
	for i, l := range data {
		verdicts[i] = m.Classify(l.Text).Verdict
	}
	return verdicts
}
