package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// indexBar shows how far a build is, at a terminal only.
type indexBar struct {
	app   *app
	on    bool
	shown bool
}

func (a *app) newIndexBar() *indexBar {
	return &indexBar{app: a, on: isTerminal(a.err) && !a.json}
}

func (b *indexBar) show(p *schemas.ArtifactProgress) {
	if !b.on || p == nil {
		return
	}
	b.shown = true
	text := p.Stage + " …"
	if p.Total > 0 {
		text = fmt.Sprintf("%s %d of %d (%d %%)", p.Stage, p.Done, p.Total, 100*p.Done/p.Total)
	}
	fmt.Fprintf(b.app.err, "\r\x1b[K%s", text)
}

func (b *indexBar) end() {
	if b.shown {
		fmt.Fprint(b.app.err, "\r\x1b[K")
	}
}

// showBuilt says what a build did.
func (a *app) showBuilt(s schemas.ArtifactStatus) error {
	if a.json {
		return a.printJSON(s)
	}
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
	a.printf("%s, %s: %s (%.2f s).\n", plural(s.Documents, "document", "documents"), plural(s.Chunks, "chunk", "chunks"), strings.Join(did, ", "), b.Seconds)
	a.showLeft(s)
	return nil
}

func (a *app) showLeft(s schemas.ArtifactStatus) {
	st := a.env.style(a.out)
	var left []string
	for _, reason := range byCount(s.Left) {
		left = append(left, fmt.Sprintf("%d %s", s.Left[reason], reason))
	}
	if len(left) > 0 {
		a.printf("%s\n", st.dim("left out: "+strings.Join(left, ", ")+" (writ index build --explain PATH says why)"))
	}
	for _, p := range firstOf(s.Problems) {
		a.printf("%s %s: %s\n", st.yellow("problem"), oneLine(p.Path), p.Why)
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
		a.printf("%s%s\n", indent, a.env.style(a.out).dim("… "+told(n)+" in all (writ index status --json names them)"))
	}
}

// byCount lists the keys, most frequent first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(x, y string) int { return cmp.Or(counts[y]-counts[x], strings.Compare(x, y)) })
}

// showIndex shows a status.
func (a *app) showIndex(s schemas.ArtifactStatus) {
	st := a.env.style(a.out)
	if !s.Exists && s.State != "building" {
		a.printf("There is no index of %s yet. `writ index build` makes one.\n", s.Project)
		return
	}
	a.printf("%s  %s%s\n", st.bold(s.Project), s.State, map[bool]string{true: ", watched"}[s.Watching])
	if s.Error != "" {
		a.printf("%s %s\n", st.red("failed:"), s.Error)
	}
	if p := s.Progress; p != nil {
		a.printf("%s %d of %d\n", p.Stage, p.Done, p.Total)
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
	a.printf("%s of %s, %s, %s; the index takes %s\n", plural(s.Documents, "document", "documents"), size(uint64(s.Bytes)),
		plural(s.Chunks, "chunk", "chunks"), plural(s.Symbols, "symbol", "symbols"), size(uint64(s.IndexSize)))
	a.printf("types: %s\nlanguages: %s\nlooked at: %s\n", counted(s.Types), counted(s.Languages), strings.Join(s.Globs, ", "))
	a.showLeft(s)
	a.printf("mentions: %d, %s unresolved, %s ambiguous\n", s.Mentions, told(len(s.Unresolved)), told(len(s.Ambiguous)))
	for _, m := range firstOf(s.Unresolved) {
		a.printf("  %s:%d %s %s\n", m.Path, m.Line, m.Mention, st.yellow("leads nowhere"))
	}
	a.showMore("  ", len(s.Unresolved))
	for _, m := range firstOf(s.Ambiguous) {
		a.printf("  %s:%d %s %s %s\n", m.Path, m.Line, m.Mention, st.yellow("may be"), strings.Join(m.Meant, ", "))
	}
	a.showMore("  ", len(s.Ambiguous))
	switch {
	case s.Lacking > 0:
		a.printf("vectors: %s has still to make those of %s\n", s.Embedder, plural(s.Lacking, "document", "documents"))
	case s.Embedder != "":
		a.printf("vectors: %s\n", s.Embedder)
	}
	if s.EmbedderProblem != "" {
		a.printf("%s %s\n", st.yellow("embedder:"), oneLine(s.EmbedderProblem))
	}
	switch {
	case s.Index.Stale:
		a.printf("%s %s differ from the index; `writ index build` brings it up.\n", st.yellow("stale:"), plural(s.Index.Changed, "file", "files"))
	default:
		a.printf("compared with the files %s ago\n", age(time.Duration(s.Index.AgeSeconds*float64(time.Second))))
	}
}

// showDeps shows a file's part of the graph of mentions.
func (a *app) showDeps(d schemas.ArtifactDeps) {
	st := a.env.style(a.out)
	a.printf("%s\n", st.bold(d.Path))
	side := func(title string, edges []schemas.ArtifactEdge, far func(schemas.ArtifactEdge) (string, string)) {
		if len(edges) == 0 {
			return
		}
		a.printf("%s\n", title)
		for _, e := range edges {
			name, by := far(e)
			a.printf("%s%s %s\n", strings.Repeat("  ", e.Depth), name, st.dim(by))
		}
	}
	side("mentions", d.Outgoing, func(e schemas.ArtifactEdge) (string, string) {
		if e.Depth == 1 {
			return e.To, ""
		}
		return e.To, "by " + e.From
	})
	side("is mentioned by", d.Incoming, func(e schemas.ArtifactEdge) (string, string) {
		if e.Depth == 1 {
			return e.From, ""
		}
		return e.From, "of " + e.To
	})
	if len(d.Outgoing)+len(d.Incoming) == 0 {
		a.printf("mentions nothing and is mentioned nowhere\n")
	}
	for _, m := range d.Mentions {
		switch {
		case m.Resolved != "":
		case len(m.Meant) > 0:
			a.printf("%s line %d: %s may be %s\n", st.yellow("ambiguous"), m.Line, m.Mention, strings.Join(m.Meant, ", "))
		default:
			a.printf("%s line %d: %s\n", st.yellow("unresolved"), m.Line, m.Mention)
		}
	}
}
