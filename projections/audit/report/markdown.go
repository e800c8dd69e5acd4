package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// WriteMarkdown writes the report as Markdown (CommonMark with tables).
func (r Report) WriteMarkdown(w io.Writer) error {
	out := bufio.NewWriter(w)
	put := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // Flush tells
	put("# Audit of the log\n\nMade %s; covers %s.\n\n", clock(r.Made), r.period())
	put("%s\n\n", r.Evidence.verdict())
	for _, f := range r.Evidence.Findings {
		put("- %s\n", markdownText(f))
	}
	if len(r.Evidence.Findings) > 0 {
		put("\n")
	}
	put("| stream | records signed | root |\n|---|---:|---|\n")
	for _, c := range r.Evidence.Checkpoints {
		put("| %s | %d | `%s` |\n", c.Stream, c.Records, c.Root)
	}
	put("\nPublic key: `%s`. `writ audit prove EVENT` makes a proof of any line below; `writ audit verify PROOF --key KEY` checks it without this log.\n\n", r.Evidence.Key)
	c := r.Counts
	put("%s\n\n", c.sentence())
	if len(c.DeniedBy) > 0 {
		put("| denied by | times |\n|---|---:|\n")
		for _, rule := range slices.Sorted(maps.Keys(c.DeniedBy)) {
			put("| %s | %d |\n", markdownText(orNone(rule)), c.DeniedBy[rule])
		}
		put("\n")
	}
	for _, s := range r.sections() {
		markdownSection(put, s)
	}
	return out.Flush()
}

func markdownSection(put func(string, ...any), s section) {
	put("## %s\n\n", s.Title)
	if len(s.Acts) == 0 {
		put("None.\n\n")
		return
	}
	if s.Lead != "" {
		put("%s\n\n", s.Lead)
	}
	put("| when | who | what | by | why | session | event |\n|---|---|---|---|---|---|---|\n")
	for i, a := range s.Acts {
		if i == maxListed {
			break
		}
		put("| %s | %s | %s | %s | %s | %s | `%s` |\n", clock(a.Time), markdownText(a.Who), markdownText(a.What),
			markdownText(joined(a.Channel, a.Assurance)), markdownText(a.Reason), markdownText(joined(a.Host, a.Session)), markdownCode(a.Event))
		if !s.Files {
			continue
		}
		if a.Fingerprint != "" {
			put("| | | fingerprint | `%s` | | | |\n", markdownCode(a.Fingerprint))
		}
		for _, f := range a.Files {
			sum := cmp.Or(f.SHA256, "gone")
			put("| | | %s | `%s` | | | |\n", markdownText(f.Path), markdownCode(sum))
		}
	}
	if more := len(s.Acts) - maxListed; more > 0 {
		put("\n%d more; the CSV and JSON Lines forms hold all.\n", more)
	}
	put("\n")
}

// markdownText shows text of the log as text: no markup, no links, one line.
func markdownText(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case hidden(r) || r == unicode.ReplacementChar:
			b.WriteRune('·')
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_{}[]#+!|~@", r),
			r == ':' && i+1 < len(runes) && runes[i+1] == '/',
			r == '.' && i >= 3 && strings.EqualFold(string(runes[i-3:i]), "www"):
			// The last two would make links of bare addresses.
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// markdownCode is text between backticks in a table.
func markdownCode(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '`' || r == '|' || unicode.IsControl(r) || unicode.IsSpace(r) {
			return '·'
		}
		return r
	}, text)
}
