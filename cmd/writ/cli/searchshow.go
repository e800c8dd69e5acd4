package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// excerptLines is how much of a hit is shown on a terminal.
const excerptLines = 6

func (a *app) showSearched(reply schemas.ArtifactSearchReply) {
	st := a.env.style(a.out)
	if len(reply.Artifacts) == 0 {
		a.printf("Nothing in this project answers that%s.\n", asAgent(reply))
	}
	for _, h := range reply.Artifacts {
		a.printf("%s %s\n", st.bold(st.cyan(h.Path)), st.dim(fmt.Sprintf("%d–%d", h.Lines[0], h.Lines[1])))
		a.printf("  %s %s\n", st.bold(fmt.Sprintf("%.2f", h.Score)), st.dim(joinNonEmpty(" · ", h.Type, oneLine(h.Metadata.Heading), h.Metadata.Phase, strings.Join(h.Metadata.Tags, ", "))))
		a.showExcerpt(st, h)
		if len(h.Why) > 0 {
			a.printf("  %s\n", st.dim(scoreParts(h.Why)))
		}
	}
	a.printf("%s\n", st.dim(searchSummary(reply)))
	a.warnProblem(reply.Problem)
	a.warnStale(reply.Index)
}

// showExcerpt prints the first lines of a hit that say something, with their
// numbers.
func (a *app) showExcerpt(st style, h schemas.ArtifactFound) {
	shown := 0
	for i, line := range strings.Split(strings.TrimRight(h.Content, "\n"), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if shown++; shown > excerptLines {
			a.printf("  %s\n", st.dim("     …"))
			return
		}
		a.printf("  %s %s\n", st.dim(fmt.Sprintf("%4d", h.Lines[0]+i)), clip(strings.ReplaceAll(printable(line), "\t", "    "), textWidth))
	}
}

// clip shortens a line to so many runes.
func clip(line string, width int) string {
	if runes := []rune(line); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return line
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
	for _, name := range sortedKeys(why) {
		parts = append(parts, fmt.Sprintf("%s %.3g", name, why[name]))
	}
	return strings.Join(parts, ", ")
}

func searchSummary(reply schemas.ArtifactSearchReply) string {
	var steps []string
	for _, s := range reply.Stages {
		steps = append(steps, fmt.Sprintf("%s %.2f ms", s.Name, s.LatencyMs))
	}
	embedder := reply.Embedder
	if embedder == "" {
		embedder = "none"
	}
	text := fmt.Sprintf("%s in %.1f ms (%s); %s, embedder %s, confidence %.2f", plural(len(reply.Artifacts), "hit", "hits"), reply.LatencyMs,
		strings.Join(steps, ", "), reply.Method, embedder, reply.Confidence.Overall)
	if reply.AgentType != "" {
		text += ", agent " + reply.AgentType
	}
	return text
}

// warnProblem says why files were not compared by meaning.
func (a *app) warnProblem(problem string) {
	if problem != "" {
		a.note("%s %s.", a.env.style(a.err).yellow("warning:"), oneLine(problem))
	}
}

// warnStale says that files changed since they were indexed.
func (a *app) warnStale(index schemas.ArtifactIndexAge) {
	if !index.Stale {
		return
	}
	st := a.env.style(a.err)
	changed := "files changed"
	if index.Changed > 0 {
		changed = plural(index.Changed, "file", "files") + " changed"
	}
	age := time.Duration(index.AgeSeconds * float64(time.Second)).Round(time.Second)
	a.note("%s the index is stale: %s since it was made, %s ago. `writ index build` brings it up to date.", st.yellow("warning:"), changed, age)
}
