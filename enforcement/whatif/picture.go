package whatif

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	pictureWidth = 760
	barHeight    = 22
	labelWidth   = 260
	barWidth     = 400
)

// bar is one line of the picture: two amounts to either side of nothing.
type bar struct {
	label     string
	good, bad int    // right in one colour, in another
	text      string // behind the bar
}

// WritePicture draws the report as SVG, in colours that can be told apart in
// light and dark and without seeing red and green.
func (r Report) WritePicture(w io.Writer) error {
	groups := r.bars()
	height := 70
	for _, g := range groups {
		height += 40 + barHeight*max(len(g.bars), 1)
	}
	out := bufio.NewWriter(w)
	put := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // Flush tells
	put(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="system-ui, sans-serif" font-size="13">`+"\n", pictureWidth, height, pictureWidth, height)
	put("<title>%s</title>\n", escaped("What if: "+strings.Join(r.Change, "; ")))
	put("<style>.p{fill:#fff}.t{fill:#222}.d{fill:#666}.a{fill:#0072b2}.b{fill:#d55e00}@media(prefers-color-scheme:dark){.p{fill:#16181c}.t{fill:#eee}.d{fill:#aaa}.a{fill:#56b4e9}.b{fill:#e69f00}}</style>\n")
	put(`<rect class="p" width="100%%" height="100%%"/><text class="t" x="16" y="30" font-size="16" font-weight="600">%s</text>`+"\n", escaped(cut("What if: "+strings.Join(r.Change, "; "), 90)))
	y := 58
	for _, g := range groups {
		put(`<text class="t" x="16" y="%d" font-weight="600">%s</text>`+"\n", y, escaped(g.title))
		y += 12
		most := 1
		for _, b := range g.bars {
			most = max(most, b.good+b.bad)
		}
		for _, b := range g.bars {
			y += barHeight
			put(`<text class="t" x="%d" y="%d" text-anchor="end">%s</text>`, labelWidth, y-5, escaped(cut(b.label, 38)))
			good, bad := barWidth*b.good/most, barWidth*b.bad/most
			put(`<rect class="a" x="%d" y="%d" width="%d" height="%d"/><rect class="b" x="%d" y="%d" width="%d" height="%d"/>`,
				labelWidth+10, y-barHeight+4, good, barHeight-6, labelWidth+10+good, y-barHeight+4, bad, barHeight-6)
			put(`<text class="d" x="%d" y="%d">%s</text>`+"\n", labelWidth+16+good+bad, y-5, escaped(b.text))
		}
		if len(g.bars) == 0 {
			y += barHeight
			put(`<text class="d" x="32" y="%d">nothing</text>`+"\n", y-5)
		}
		y += 28
	}
	put("</svg>\n")
	return out.Flush()
}

type barGroup struct {
	title string
	bars  []bar
}

func (r Report) bars() (groups []barGroup) {
	if r.Decisions.Total > 0 {
		g := barGroup{title: fmt.Sprintf("%d of %d decisions would have come out otherwise", r.Decisions.Flipped, r.Decisions.Again)}
		for _, kind := range slices.Sorted(maps.Keys(r.Decisions.Kinds)) {
			n := r.Decisions.Kinds[kind]
			one := bar{label: kind, text: fmt.Sprint(n)}
			if strings.HasSuffix(kind, "deny") {
				one.bad = n
			} else {
				one.good = n
			}
			g.bars = append(g.bars, one)
		}
		groups = append(groups, g)
	}
	if p := r.Prompts; p.Total > 0 {
		g := barGroup{title: fmt.Sprintf("%d of %d prompts would have brought other rules: gained (left) and lost (right), by rule", p.Changed, p.Total)}
		for i, rule := range r.Rules {
			if i == topRules {
				break
			}
			g.bars = append(g.bars, bar{label: rule.ID, good: rule.Gained, bad: rule.Lost, text: fmt.Sprintf("+%d −%d", rule.Gained, rule.Lost)})
		}
		groups = append(groups, g,
			barGroup{title: "Tokens", bars: []bar{{label: "now", good: p.TokensNow, text: fmt.Sprint(p.TokensNow)}, {label: "then", good: p.TokensThen, text: fmt.Sprint(p.TokensThen)}}},
			barGroup{title: "Search, p95", bars: []bar{
				{label: "now", good: int(p.Now.P95), text: fmt.Sprintf("%.0f µs", p.Now.P95)}, {label: "then", good: int(p.Then.P95), text: fmt.Sprintf("%.0f µs", p.Then.P95)},
			}})
	}
	return groups
}

// escaped is text within XML.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
