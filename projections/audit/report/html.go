package report

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"
)

// htmlHead begins one file without anything from elsewhere, so that it can be
// kept and read anywhere, on a phone and in the dark too. It holds no script,
// and its policy forbids any. The page is put together by hand: a template
// engine calls methods by name, which keeps the linker from leaving out what
// the client does not use (5 MB).
const htmlHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Audit of the log</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root{color-scheme:light dark;--line:#8884;--dim:#6b6b6b;--good:#177a35;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--dim:#a0a0a0;--good:#57c97a;--bad:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}
h1{margin-bottom:0}h2{margin-top:2.5rem}
.dim{color:var(--dim)}.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--line)}
td{overflow-wrap:anywhere;min-width:5rem}td.when{white-space:nowrap}td.n{text-align:right;font-variant-numeric:tabular-nums}
code{font:12px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
</style></head><body>
<h1>Audit of the log</h1>
`

// WriteHTML writes the report as one HTML file.
func (r Report) WriteHTML(w io.Writer) error {
	out := bufio.NewWriter(w)
	// Every argument is text of the log or of this program: all are escaped.
	put := func(format string, args ...any) {
		for i, arg := range args {
			args[i] = htmlText(fmt.Sprint(arg))
		}
		_, _ = fmt.Fprintf(out, format, args...) // Flush tells
	}
	_, _ = out.WriteString(htmlHead)
	put("<p class=\"dim\">Made %s; covers %s.</p>\n", clock(r.Made), r.period())
	class := "bad"
	if r.Evidence.OK {
		class = "good"
	}
	put("<p class=\"%s\">%s</p>\n", class, r.Evidence.verdict())
	if len(r.Evidence.Findings) > 0 {
		put("<ul>\n")
		for _, f := range r.Evidence.Findings {
			put("<li>%s</li>\n", f)
		}
		put("</ul>\n")
	}
	put("<div class=\"wide\"><table><thead><tr><th>stream</th><th>records signed</th><th>root</th></tr></thead><tbody>\n")
	for _, c := range r.Evidence.Checkpoints {
		put("<tr><td>%s</td><td class=\"n\">%s</td><td><code>%s</code></td></tr>\n", c.Stream, fmt.Sprint(c.Records), c.Root)
	}
	put("</tbody></table></div>\n<p>Public key: <code>%s</code></p>\n", r.Evidence.Key)
	put("<p class=\"dim\"><code>writ audit prove EVENT</code> makes a proof of any line below; <code>writ audit verify PROOF --key KEY</code> checks it without this log.</p>\n")
	c := r.Counts
	put("<p>%s</p>\n", c.sentence())
	if len(c.DeniedBy) > 0 {
		put("<table><thead><tr><th>denied by</th><th>times</th></tr></thead><tbody>\n")
		for _, rule := range slices.Sorted(maps.Keys(c.DeniedBy)) {
			put("<tr><td>%s</td><td class=\"n\">%s</td></tr>\n", orNone(rule), fmt.Sprint(c.DeniedBy[rule]))
		}
		put("</tbody></table>\n")
	}
	for _, s := range r.sections() {
		htmlSection(put, s)
	}
	put("</body></html>\n")
	return out.Flush()
}

func htmlSection(put func(string, ...any), s section) {
	put("<h2>%s</h2>\n", s.Title)
	if len(s.Acts) == 0 {
		put("<p class=\"dim\">None.</p>\n")
		return
	}
	if s.Lead != "" {
		put("<p class=\"dim\">%s</p>\n", s.Lead)
	}
	put("<div class=\"wide\"><table><thead><tr><th>when</th><th>who</th><th>what</th><th>by</th><th>why</th><th>session</th></tr></thead><tbody>\n")
	for i, a := range s.Acts {
		if i == maxListed {
			break
		}
		put("<tr><td class=\"when\">%s</td><td>%s</td><td>%s", clock(a.Time), a.Who, a.What)
		if s.Files {
			htmlFiles(put, a)
		}
		put("</td><td>%s</td><td>%s</td><td>%s<br><span class=\"dim\">%s</span><br><code class=\"dim\">%s</code></td></tr>\n",
			joined(a.Channel, a.Assurance), a.Reason, joined(a.Host, a.Session), a.Project, a.Event)
	}
	put("</tbody></table></div>\n")
	if more := len(s.Acts) - maxListed; more > 0 {
		put("<p class=\"dim\">%s more; the CSV and JSON Lines forms hold all.</p>\n", fmt.Sprint(more))
	}
}

func htmlFiles(put func(string, ...any), a Act) {
	if a.Fingerprint != "" {
		put("<br><span class=\"dim\">fingerprint</span> <code>%s</code>", a.Fingerprint)
	}
	for _, f := range a.Files {
		sum := cmp.Or(f.SHA256, "gone")
		put("<br>%s <code class=\"dim\">%s</code>", f.Path, sum)
	}
}

// htmlText shows text of the log as text.
func htmlText(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if hidden(r) && r != '\n' && r != '\t' {
			return '·'
		}
		return r
	}, text))
}
