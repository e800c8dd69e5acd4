package benchmark

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	rules "github.com/writbus/writ/retrieval/benchmark"
)

// WriteJSON writes the report as indented JSON.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteTable writes the report for people.
func (r Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	embedder := cmp.Or(r.Embedder, "none")
	fmt.Fprintf(&b, "%d queries, embedder %s, intervals of 95 %%, seed %d\n\n", r.Queries, embedder, r.Seed)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	head := strings.ToUpper(strings.Join(MeasureNames, "\t"))
	fmt.Fprintf(t, "METHOD\t%s\tCALIBRATION ERROR\n", head)
	for _, m := range r.Methods {
		fmt.Fprintf(t, "%s\t%s\t%.3f\n", m.Method, row(m.Measures), m.Calibration)
	}
	for _, d := range r.Differences {
		fmt.Fprintf(t, "%s − %s\t%s\n", d.Method, d.Over, row(d.Measures))
	}
	if c := r.Context; c != nil {
		fmt.Fprintf(t, "\nCONTEXT\tTOKENS\tQUERIES\tRIGHT FILE\tANYTHING\tFILES\tTOKENS USED\n")
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%.1f\t%.0f\n", c.Agent, c.Budget, c.Queries, c.Right, c.Given, c.Files, c.Tokens)
		if c.Nothing != nil {
			fmt.Fprintf(t, "nothing answers\t\t%d\t\t%s\n", c.Nothing.Queries, c.Nothing.Given)
		}
	}
	fmt.Fprintf(t, "\nLATENCY\tSTAGE\tP50 µs\tP95 µs\tP99 µs\n")
	for _, m := range r.Methods {
		for _, l := range m.Latency {
			fmt.Fprintf(t, "%s\t%s\t%.0f\t%.0f\t%.0f\n", m.Method, l.Stage, l.P50, l.P95, l.P99)
		}
	}
	fmt.Fprintf(t, "\nPROJECT\tQUERIES\tFILES\tCHUNKS\tTEXT MB\tWORDS ms\tALL ms\tINDEX MB\tHEAP MB\tNDCG@10 OF EACH\n")
	for _, p := range r.Projects {
		var each []string
		for _, v := range p.NDCG10 {
			each = append(each, strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0"))
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%.0f\t%.0f\t%.1f\t%.1f\t%s\n", title(p.Name), p.Queries, p.Documents, p.Chunks, float64(p.Text)/1e6,
			p.Lexical, p.Build, float64(p.Index)/1e6, float64(p.Heap)/1e6, strings.Join(each, " "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Resident > 0 {
		fmt.Fprintf(&b, "\nResident memory of the process: %.0f MB\n", float64(r.Resident)/1e6)
	}
	if len(r.Missing) > 0 {
		fmt.Fprintf(&b, "\nRelevant, but not indexed, and so missed by every method:\n")
		for _, m := range r.Missing {
			fmt.Fprintf(&b, "  %s  %s\n", m.ID, m.Path)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// row is the measures in their order.
func row(measures map[string]rules.Interval) string {
	cells := make([]string, len(MeasureNames))
	for i, name := range MeasureNames {
		cells[i] = measures[name].String()
	}
	return strings.Join(cells, "\t")
}
