package files

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// indexBar shows how far a build is, at a terminal only; nil takes it away.
func (a *app) indexBar() func(*schemas.ArtifactProgress) {
	if a.JSON || !client.IsTerminal(a.Err) {
		return func(*schemas.ArtifactProgress) {}
	}
	return func(p *schemas.ArtifactProgress) {
		text := ""
		switch {
		case p == nil:
		case p.Total > 0:
			text = fmt.Sprintf("%s %d of %d (%d %%)", p.Stage, p.Done, p.Total, 100*p.Done/p.Total)
		default:
			text = p.Stage + " …"
		}
		fmt.Fprintf(a.Err, "\r\x1b[K%s", text)
	}
}

// showBuilt says what a build did.
func (a *app) showBuilt(s schemas.ArtifactStatus) error {
	return a.Print(s, func() {
		b := cmp.Or(s.Last, &schemas.ArtifactBuilt{})
		var did []string
		for _, one := range []struct {
			n    int
			what string
		}{
			{b.Added, "added"}, {b.Changed, "changed"}, {b.Renamed, "renamed"}, {b.Removed, "removed"}, {b.Touched, "touched"},
		} {
			if one.n > 0 {
				did = append(did, fmt.Sprintf("%d %s", one.n, one.what))
			}
		}
		if len(did) == 0 {
			did = []string{"nothing changed"}
		}
		a.Printf("%s, %s: %s (%.2f s).\n", client.Plural(s.Documents, "document", "documents"), client.Plural(s.Chunks, "chunk", "chunks"), strings.Join(did, ", "), b.Seconds)
		a.showLeft(s)
	})
}

// leftWhy says more of a reason for which files are left out than its name does.
var leftWhy = map[string]string{
	"too-large": " (over 1 MiB)", "data": " (settings over 64 KiB, text over 256 KiB)", "unselected": " (by the paths of the index)", "hidden": " (by a dot)",
}

func (a *app) showLeft(s schemas.ArtifactStatus) {
	st := a.Env.Style(a.Out)
	var left []string
	for _, reason := range byCount(s.Left) {
		left = append(left, fmt.Sprintf("%d %s%s", s.Left[reason], reason, leftWhy[reason]))
	}
	if len(left) > 0 {
		a.Printf("%s\n", st.Dim("left out: "+strings.Join(left, ", ")+" (writ index build --explain PATH says why)"))
	}
	for _, p := range firstOf(s.Problems) {
		a.Printf("%s %s: %s\n", st.Yellow("problem"), client.OneLine(p.Path), p.Why)
	}
	a.showMore("", len(s.Problems))
}

const (
	// mostShown is how many lines of one kind people are shown.
	mostShown = 10
	// mostTold is how many of a kind the daemon names.
	mostTold = 100
)

func firstOf[T any](all []T) []T { return all[:min(len(all), mostShown)] }

// told is how many of a kind there are, as far as the daemon named them.
func told(n int) string {
	if n >= mostTold {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

// showMore says how many lines of a kind are not shown, and where they are.
func (a *app) showMore(indent string, n int) {
	if n > mostShown {
		a.Printf("%s%s\n", indent, a.Env.Style(a.Out).Dim("… "+told(n)+" in all (writ index status --json names them)"))
	}
}

// byCount lists the keys, most frequent first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(x, y string) int { return cmp.Or(counts[y]-counts[x], strings.Compare(x, y)) })
}

// showIndex shows a status.
func (a *app) showIndex(s schemas.ArtifactStatus) {
	st := a.Env.Style(a.Out)
	if !s.Exists && s.State != "building" {
		why := ""
		if s.Error != "" {
			why = ", and " + client.OneLine(s.Error)
		}
		a.Printf("There is no index of %s yet%s. `writ index build` makes one.\n", s.Project, why)
		return
	}
	a.Printf("%s  %s%s\n", st.Bold(s.Project), s.State, map[bool]string{true: ", watched"}[s.Watching])
	if s.Unwatched != "" {
		a.Printf("%s %s; the files are looked at before each search\n", st.Yellow("not watched:"), client.OneLine(s.Unwatched))
	}
	if s.Error != "" {
		a.Printf("%s %s\n", st.Red("failed:"), s.Error)
	}
	if p := s.Progress; p != nil {
		a.Printf("%s %d of %d\n", p.Stage, p.Done, p.Total)
	}
	if s.Revision == 0 {
		return
	}
	counted := func(counts map[string]int) string {
		var all []string
		for _, name := range byCount(counts) {
			all = append(all, fmt.Sprintf("%d %s", counts[name], name))
		}
		return strings.Join(all, ", ")
	}
	a.Printf("%s of %s, %s, %s; the index takes %s\n", client.Plural(s.Documents, "document", "documents"), client.Size(uint64(s.Bytes)),
		client.Plural(s.Chunks, "chunk", "chunks"), client.Plural(s.Symbols, "symbol", "symbols"), client.Size(uint64(s.IndexSize)))
	a.Printf("types: %s\nlanguages: %s\nlooked at: %s\n", counted(s.Types), counted(s.Languages), strings.Join(s.Globs, ", "))
	a.showLeft(s)
	a.Printf("mentions: %d, %s unresolved, %s ambiguous\n", s.Mentions, told(len(s.Unresolved)), told(len(s.Ambiguous)))
	for _, m := range firstOf(s.Unresolved) {
		a.Printf("  %s:%d %s %s\n", m.Path, m.Line, m.Mention, st.Yellow("leads nowhere"))
	}
	a.showMore("  ", len(s.Unresolved))
	for _, m := range firstOf(s.Ambiguous) {
		a.Printf("  %s:%d %s %s %s\n", m.Path, m.Line, m.Mention, st.Yellow("may be"), strings.Join(m.Meant, ", "))
	}
	a.showMore("  ", len(s.Ambiguous))
	switch {
	case s.Lacking > 0:
		a.Printf("vectors: %s has still to make those of %s\n", s.Embedder, client.Plural(s.Lacking, "document", "documents"))
	case s.Embedder != "":
		a.Printf("vectors: %s\n", s.Embedder)
	}
	if s.EmbedderProblem != "" {
		a.Printf("%s %s\n", st.Yellow("embedder:"), client.OneLine(s.EmbedderProblem))
	}
	if _, err := config.LoadProject(s.Project); err != nil {
		a.Printf("%s %s\n", st.Yellow("settings:"), client.OneLine(err.Error()))
	}
	switch {
	case s.Index.Stale:
		a.Printf("%s %s differ from the index; `writ index build` brings it up.\n", st.Yellow("stale:"), client.Plural(s.Index.Changed, "file", "files"))
	default:
		a.Printf("compared with the files %s ago\n", client.Age(time.Duration(s.Index.AgeSeconds*float64(time.Second))))
	}
}

// showDeps shows a file's part of the graph of mentions.
func (a *app) showDeps(d schemas.ArtifactDeps) {
	st := a.Env.Style(a.Out)
	a.Printf("%s\n", st.Bold(d.Path))
	side := func(title, word string, edges []schemas.ArtifactEdge, ends func(schemas.ArtifactEdge) (far, near string)) {
		for i, e := range edges {
			if i == 0 {
				a.Printf("%s\n", title)
			}
			far, near := ends(e)
			by := word + near
			if e.Depth == 1 {
				by = ""
			}
			a.Printf("%s%s %s\n", strings.Repeat("  ", e.Depth), far, st.Dim(by))
		}
	}
	side("mentions", "by ", d.Outgoing, func(e schemas.ArtifactEdge) (far, near string) { return e.To, e.From })
	side("is mentioned by", "of ", d.Incoming, func(e schemas.ArtifactEdge) (far, near string) { return e.From, e.To })
	if len(d.Outgoing)+len(d.Incoming) == 0 {
		a.Printf("mentions nothing and is mentioned nowhere\n")
	}
	for _, m := range d.Mentions {
		switch {
		case m.Resolved != "":
		case len(m.Meant) > 0:
			a.Printf("%s line %d: %s may be %s\n", st.Yellow("ambiguous"), m.Line, m.Mention, strings.Join(m.Meant, ", "))
		default:
			a.Printf("%s line %d: %s\n", st.Yellow("unresolved"), m.Line, m.Mention)
		}
	}
}
