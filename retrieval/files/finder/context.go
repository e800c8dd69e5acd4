package finder

import (
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/artifact/inject"
	"github.com/writbus/writ/retrieval/artifact/mention"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

// Context finds what an agent should read for a task, and renders it: what the
// task mentions, then what a search finds. Chunks for which shown is true are
// left out; it may be nil. Errors are those of [Finder.Search].
func (f *Finder) Context(r schemas.ArtifactContextRequest, strategies strategy.Set, shown func(schemas.ArtifactHit) bool) (schemas.ArtifactContextReply, error) {
	var reply schemas.ArtifactContextReply
	format, err := inject.ParseFormat(r.Format)
	if err != nil {
		return reply, bad("%v", err)
	}
	if r.MaxContextTokens < 0 {
		return reply, bad("max_context_tokens is %d, must be at least 1", r.MaxContextTokens)
	}
	found, snapshot, err := f.search(r.ArtifactSearchRequest, strategies)
	if err != nil {
		return reply, err
	}
	reply.ArtifactSearchReply = found
	asked, changed, unresolved := f.mentioned(r.Query, snapshot)
	reply.Unresolved = unresolved
	if changed > 0 {
		reply.Index.Stale, reply.Index.Changed = true, max(reply.Index.Changed, changed)
	}
	all := append(asked, slices.DeleteFunc(found.Artifacts, func(a schemas.ArtifactFound) bool {
		return slices.ContainsFunc(asked, func(m schemas.ArtifactFound) bool { return m.Path == a.Path && m.Lines == a.Lines })
	})...)
	mentioned := len(asked)
	if shown != nil {
		kept := all[:0]
		for i, a := range all {
			if shown(Shown(a, snapshot)) {
				mentioned -= boolInt(i < len(asked))
				continue
			}
			kept = append(kept, a)
		}
		all = kept
	}
	rendered := inject.Render(inject.Request{
		Task: r.Query, Agent: found.AgentType, Pieces: pieces(all, mentioned), Budget: r.MaxContextTokens, Format: format, Count: retrieval.CountTokens,
	})
	reply.Context, reply.Tokens, reply.Dropped = rendered.Text, rendered.Tokens, rendered.Dropped
	tell(&reply, rendered, all)
	return reply, nil
}

// tell makes the reply's hits those of the text, in its order.
func tell(reply *schemas.ArtifactContextReply, rendered inject.Context, all []schemas.ArtifactFound) {
	reply.Artifacts, reply.References = []schemas.ArtifactFound{}, rendered.References
	if reply.References == nil {
		reply.References = []string{}
	}
	reply.Confidence = schemas.ArtifactConfidence{PerArtifact: []float64{}}
	for _, i := range rendered.Used {
		reply.Artifacts = append(reply.Artifacts, all[i])
		reply.Confidence.PerArtifact = append(reply.Confidence.PerArtifact, all[i].Score)
		reply.Confidence.Overall = max(reply.Confidence.Overall, all[i].Score)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Shown names a hit as a session remembers it.
func Shown(a schemas.ArtifactFound, snapshot *files.Snapshot) schemas.ArtifactHit {
	h := schemas.ArtifactHit{Path: a.Path, First: a.Lines[0], Last: a.Lines[1], Score: a.Score}
	if info, ok := snapshot.Document(a.Path); ok {
		h.SHA256 = info.Hash
	}
	return h
}

// pieces are what is rendered; the first ones are mentioned.
func pieces(all []schemas.ArtifactFound, mentioned int) []inject.Piece {
	out := make([]inject.Piece, len(all))
	for i, a := range all {
		out[i] = inject.Piece{
			Path: a.Path, Lines: a.Lines, Type: a.Type, Score: a.Score, Mentioned: i < mentioned, Title: a.Metadata.Title, Heading: a.Metadata.Heading,
			Tags: a.Metadata.Tags, Phase: a.Metadata.Phase, Language: a.Metadata.Language, LastModified: a.Metadata.LastModified.UTC().Format(time.DateOnly),
			References: a.Metadata.References, Content: a.Content,
		}
	}
	return out
}

// mentioned lists the chunks that a task names, in its order, how many of their
// files changed, and the mentions that name no file of the index.
func (f *Finder) mentioned(task string, snapshot *files.Snapshot) (asked []schemas.ArtifactFound, changed int, unresolved []schemas.ArtifactMention) {
	mentions := mention.Find(task, false)
	if len(mentions) == 0 {
		return nil, 0, nil
	}
	texts, err := f.open()
	if err != nil {
		return nil, 0, nil
	}
	defer texts.close()
	for _, m := range mentions {
		outcome, meant := snapshot.Paths().Resolve("", m)
		if outcome != mention.Resolved {
			if outcome != mention.Nothing {
				unresolved = append(unresolved, schemas.ArtifactMention{Mention: m.Text, Section: m.Section, AtLine: m.At, Meant: meant})
			}
			continue
		}
		hits := named(snapshot.Index.File(meant[0]), m)
		if len(hits) == 0 {
			unresolved = append(unresolved, schemas.ArtifactMention{Mention: m.Text, Section: m.Section, AtLine: m.At, Meant: meant, Resolved: meant[0]})
		}
		for _, p := range texts.of(hits) {
			h, text := p.hit, p.text
			if text == "" || slices.ContainsFunc(asked, func(a schemas.ArtifactFound) bool { return a.Path == h.Document.Path && a.Lines == h.Lines }) {
				continue
			}
			asked = append(asked, artifactOf(h, text, snapshot))
		}
	}
	return asked, len(texts.moved), unresolved
}

// named are the chunks of a file that a mention means: all, those that hold its
// line, or those under its heading.
func named(hits []search.Hit, m mention.Mention) []search.Hit {
	return slices.DeleteFunc(hits, func(h search.Hit) bool {
		switch {
		case m.At > 0:
			return m.At < h.Lines[0] || m.At > h.Lines[1]
		case m.Section != "":
			return !slices.ContainsFunc(strings.Split(h.Heading, " > "), func(part string) bool { return slug(part) == slug(m.Section) }) &&
				!slices.ContainsFunc(h.Symbols, func(name string) bool { return slug(name) == slug(m.Section) })
		}
		return false
	})
}

// slug is a heading as links write it, without marks and letter case.
func slug(text string) string {
	return strings.Join(search.Words(strings.ReplaceAll(text, "-", " ")), "-")
}
