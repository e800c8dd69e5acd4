package files

import (
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/describe"
	"github.com/writbus/writ/retrieval/artifact/mention"
	"github.com/writbus/writ/retrieval/artifact/search"
)

// Info is what a snapshot knows of a file besides what is searched. It never
// changes and shares no memory with the file's text.
type Info struct {
	artifact.Document // without Chunks, Symbols and References
	ChunkCount        int
	SymbolCount       int
	Mentions          []mention.Mention
	Replaced          int // bytes that are not UTF-8
}

// slim keeps of a document what is asked for later.
func slim(d describe.Described) *Info {
	i := &Info{Document: d.Document, ChunkCount: len(d.Chunks), SymbolCount: len(d.Symbols), Replaced: d.Replaced}
	i.Chunks, i.Symbols = nil, nil
	i.Title, i.Summary, i.Phase = strings.Clone(i.Title), strings.Clone(i.Summary), strings.Clone(i.Phase)
	i.Tags = slices.Clone(i.Tags)
	for n, tag := range i.Tags {
		i.Tags[n] = strings.Clone(tag)
	}
	i.Mentions = slices.Clone(d.Mentions)
	for n := range i.Mentions {
		m := &i.Mentions[n]
		m.Text, m.Path, m.Section = strings.Clone(m.Text), strings.Clone(m.Path), strings.Clone(m.Section)
	}
	return i
}

// Snapshot is the index of a project at one moment. It never changes.
type Snapshot struct {
	Revision uint64 // grows with every change
	Globs    []string
	Index    *search.Index
	Left     map[Reason]int
	Problems []Problem

	docs      documents
	relations *relations
}

// Lead is a mention in a file and what it leads to.
type Lead struct {
	From string
	mention.Mention
	Outcome mention.Outcome
	Meant   []string
}

// Bytes is about the memory that the snapshot takes.
func (s *Snapshot) Bytes() int64 { return int64(s.Index.Bytes()) + int64(s.Len())*bytesOfDocument }

// bytesOfDocument is about what is remembered of a file beside what is searched.
const bytesOfDocument = 1 << 10

// Len is the number of documents.
func (s *Snapshot) Len() int { return s.docs.tally.Documents }

// Tally counts what the snapshot holds. Its maps must not be changed.
func (s *Snapshot) Tally() Tally { return s.docs.tally }

// Document returns what is known of a path.
func (s *Snapshot) Document(path string) (*Info, bool) {
	i := s.docs.get(path)
	return i, i != nil
}

// References are the files that a file mentions, sorted.
func (s *Snapshot) References(path string) []string { return s.relations.resolve().of[path].references }

// Graph is which file mentions which.
func (s *Snapshot) Graph() *mention.Graph { return s.relations.resolve().graph() }

// Paths are the documents' paths, to look mentions up in.
func (s *Snapshot) Paths() *mention.Paths { return s.relations.resolve().paths }

// Leads lists the mentions of a file.
func (s *Snapshot) Leads(path string) []Lead { return s.relations.resolve().of[path].all }

// Loose are the mentions that lead nowhere, and those that could mean several
// files, by path and line; of how many in all.
func (s *Snapshot) Loose() (unresolved, ambiguous []Lead, mentions int) {
	r := s.relations.resolve()
	return r.unresolved, r.ambiguous, r.mentions
}
