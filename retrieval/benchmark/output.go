package benchmark

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
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
	fmt.Fprintf(&b, "embedder %s, profile %s, index %.12s\n", r.Embedder, r.Profile, r.Index)
	if r.Asked > 0 {
		fmt.Fprintf(&b, "what is given was chosen by the model: %d calls, %d answers not understood\n", r.Asked, r.NotUnderstood)
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if len(r.Quality) > 0 {
		fmt.Fprintf(t, "\nQUERIES\tN\t%s\tRULES GIVEN\tA RIGHT ONE\tOR A LINE\tOF THE RULES RIGHT\tOF THE RIGHT GIVEN\tNOTHING\tTOKENS\n", strings.ToUpper(strings.Join(MeasureNames, "\t")))
		for _, q := range r.Quality {
			fmt.Fprintf(t, "%s\t%d", q.Kind, q.Queries)
			for _, name := range MeasureNames {
				if q.Measures == nil {
					fmt.Fprint(t, "\t")
				} else {
					fmt.Fprintf(t, "\t%s", q.Measures[name])
				}
			}
			fmt.Fprintf(t, "\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f\n", q.Injected, q.Found, q.Shown, share(q.Precision, 2), share(q.Reached, 2), q.Silent, q.Tokens)
		}
	}
	if len(r.Speed) > 0 {
		fmt.Fprintf(t, "\nRULES\tP50 µs\tP95 µs\tP99 µs\tANALYSE\tBM25\tVECTOR\tGRAPH\tRANK\tRENDER\tBUILD ms\tCOLD START ms\tSTORED MB\tHEAP MB\n")
		for _, s := range r.Speed {
			p := s.Stages
			fmt.Fprintf(t, "%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\n", s.Rules, s.P50, s.P95, s.P99,
				p.Analyse, p.BM25, p.Vector, p.Graph, p.Rank, p.Render, s.Build, s.ColdStart, float64(s.Stored)/1e6, float64(s.Heap)/1e6)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the mean and the ends of the interval: ".857 (.81–.90)".
func (i Interval) String() string {
	return fmt.Sprintf("%s (%s–%s)", share(i.Mean, 3), share(i.Low, 2), share(i.High, 2))
}

func share(x float64, digits int) string {
	return strings.TrimPrefix(fmt.Sprintf("%.*f", digits, x), "0")
}

// The picture's measures, in pixels.
const (
	svgWidth, svgHeight      = 720, 420
	plotLeft, plotTop        = 70, 50
	plotRight, plotBottom    = 690, 360
	svgFont                  = `font-family="system-ui, sans-serif" font-size="12"`
	svgInk, svgGrid, svgBack = "#1f2430", "#d9dde5", "#ffffff"
)

// WriteSVG draws latency over size, both logarithmic.
func (r Report) WriteSVG(w io.Writer) error {
	sizes, micros := axis(r.Speed, func(s Speed) []float64 { return []float64{float64(s.Rules)} }),
		axis(r.Speed, func(s Speed) []float64 { return []float64{s.P50, s.P95, s.P99} })
	x := func(v float64) float64 { return plotLeft + sizes.place(v)*(plotRight-plotLeft) }
	y := func(v float64) float64 { return plotBottom - micros.place(v)*(plotBottom-plotTop) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Latency of a query over the number of rules">`+"\n", svgWidth, svgHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="%s"/>`+"\n", svgWidth, svgHeight, svgBack)
	fmt.Fprintf(&b, `<text x="%d" y="24" %s font-weight="600" fill="%s">Latency of a query never asked before, µs (%s)</text>`+"\n", plotLeft, svgFont, svgInk, escape(r.Embedder))
	for _, v := range micros.ticks() {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="%s"/>`+"\n", plotLeft, plotRight, y(v), y(v), svgGrid)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" %s fill="%s" text-anchor="end">%g</text>`+"\n", plotLeft-8, y(v)+4, svgFont, svgInk, v)
	}
	for _, v := range sizes.ticks() {
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="%s"/>`+"\n", x(v), x(v), plotTop, plotBottom, svgGrid)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" %s fill="%s" text-anchor="middle">%g</text>`+"\n", x(v), plotBottom+20, svgFont, svgInk, v)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" %s fill="%s" text-anchor="middle">rules</text>`+"\n", (plotLeft+plotRight)/2, plotBottom+42, svgFont, svgInk)
	for i, line := range []struct {
		name, colour string
		of           func(Speed) float64
	}{
		{"p50", "#2f6fdb", func(s Speed) float64 { return s.P50 }},
		{"p95", "#d9822b", func(s Speed) float64 { return s.P95 }},
		{"p99", "#c23b3b", func(s Speed) float64 { return s.P99 }},
	} {
		var points []string
		for _, s := range r.Speed {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(float64(s.Rules)), y(line.of(s))))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s at %d rules: %.0f µs</title></circle>`+"\n",
				x(float64(s.Rules)), y(line.of(s)), line.colour, line.name, s.Rules, line.of(s))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), line.colour)
		fmt.Fprintf(&b, `<text x="%d" y="%d" %s fill="%s" text-anchor="end">%s</text>`+"\n", plotRight-120+i*40, 24, svgFont, line.colour, line.name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// decades is a logarithmic axis from one power of ten to another.
type decades struct{ low, high float64 }

func axis(speeds []Speed, of func(Speed) []float64) decades {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range speeds {
		for _, v := range of(s) {
			if v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if high < low {
		return decades{1, 10}
	}
	d := decades{math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))}
	if d.high <= d.low {
		d.high = 10 * d.low
	}
	return d
}

// place is where a value lies between the ends, 0 to 1.
func (d decades) place(v float64) float64 {
	if v <= 0 {
		return 0
	}
	return min(max(math.Log10(v/d.low)/math.Log10(d.high/d.low), 0), 1)
}

func (d decades) ticks() []float64 {
	var at []float64
	for v := d.low; v <= d.high*1.001; v *= 10 {
		at = append(at, math.Round(v*1e6)/1e6)
	}
	return at
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
