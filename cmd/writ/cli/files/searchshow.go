package files

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// excerptLines is how much of a hit is shown on a terminal.
const excerptLines = 6

func (a *app) showSearched(reply schemas.ArtifactSearchReply) {
	st := a.Env.Style(a.Out)
	if len(reply.Artifacts) == 0 {
		a.Printf("Nothing in this project answers that%s.\n", asAgent(reply))
	}
	for _, h := range reply.Artifacts {
		a.Printf("%s %s\n", st.Bold(st.Cyan(h.Path)), st.Dim(fmt.Sprintf("%d–%d", h.Lines[0], h.Lines[1])))
		a.Printf("  %s %s\n", st.Bold(fmt.Sprintf("%.2f", h.Score)), st.Dim(client.JoinNonEmpty(" · ", h.Type, client.OneLine(h.Metadata.Heading), h.Metadata.Phase, strings.Join(h.Metadata.Tags, ", "))))
		a.showExcerpt(st, h)
		if len(h.Why) > 0 {
			a.Printf("  %s\n", st.Dim(scoreParts(h.Why)))
		}
	}
	a.Printf("%s\n", st.Dim(searchSummary(reply)))
	a.warnProblem(reply.Problem)
	a.warnStale(reply.Index)
}

// showExcerpt prints the first lines of a hit that say something, with their
// numbers.
func (a *app) showExcerpt(st client.Style, h schemas.ArtifactFound) {
	shown := 0
	for i, line := range strings.Split(strings.TrimRight(h.Content, "\n"), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if shown++; shown > excerptLines {
			a.Printf("  %s\n", st.Dim("     …"))
			return
		}
		a.Printf("  %s %s\n", st.Dim(fmt.Sprintf("%4d", h.Lines[0]+i)), client.Clip(strings.ReplaceAll(client.Printable(line), "\t", "    "), client.TextWidth))
	}
}

func asAgent(reply schemas.ArtifactSearchReply) string {
	if reply.AgentType == "" {
		return ""
	}
	return " for " + reply.AgentType + ", whose strategy says which files count and how sure a hit must be"
}

// scoreParts lists the parts of a score by name.
func scoreParts(why map[string]float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(why)) {
		parts = append(parts, fmt.Sprintf("%s %.3g", name, why[name]))
	}
	return strings.Join(parts, ", ")
}

func searchSummary(reply schemas.ArtifactSearchReply) string {
	var steps []string
	for _, s := range reply.Stages {
		steps = append(steps, fmt.Sprintf("%s %.2f ms", s.Name, s.LatencyMs))
	}
	text := fmt.Sprintf("%s in %.1f ms (%s); %s, embedder %s, confidence %.2f", client.Plural(len(reply.Artifacts), "hit", "hits"), reply.LatencyMs,
		strings.Join(steps, ", "), reply.Method, cmp.Or(reply.Embedder, "none"), reply.Confidence.Overall)
	if reply.AgentType != "" {
		text += ", agent " + reply.AgentType
	}
	return text
}

// warnProblem says why files were not compared by meaning.
func (a *app) warnProblem(problem string) {
	if problem != "" {
		a.Note("%s %s.", a.Env.Style(a.Err).Yellow("warning:"), client.OneLine(problem))
	}
}

// warnStale says that files changed since they were indexed.
func (a *app) warnStale(index schemas.ArtifactIndexAge) {
	if !index.Stale {
		return
	}
	st := a.Env.Style(a.Err)
	changed := "files changed"
	if index.Changed > 0 {
		changed = client.Plural(index.Changed, "file", "files") + " changed"
	}
	age := time.Duration(index.AgeSeconds * float64(time.Second)).Round(time.Second)
	a.Note("%s the index is stale: %s since it was made, %s ago. `writ index build` brings it up to date.", st.Yellow("warning:"), changed, age)
}
