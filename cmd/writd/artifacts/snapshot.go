package artifacts

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

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

	docs      map[string]*Info
	relations *relations
}

// relations are what the documents' mentions lead to, looked up when somebody
// first asks.
type relations struct {
	docs       map[string]*Info
	once       sync.Once
	references map[string][]string
	graph      *mention.Graph
	paths      *mention.Paths
	ambiguous  []Lead
	unresolved []Lead
	mentions   int
}

// Lead is a mention in a file and what it leads to.
type Lead struct {
	From string
	mention.Mention
	Outcome mention.Outcome
	Meant   []string
}

// Len is the number of documents.
func (s *Snapshot) Len() int { return len(s.docs) }

// Document returns what is known of a path.
func (s *Snapshot) Document(path string) (*Info, bool) {
	i, found := s.docs[path]
	return i, found
}

// Documents lists the documents by path.
func (s *Snapshot) Documents() []*Info {
	all := slices.Collect(maps.Values(s.docs))
	slices.SortFunc(all, func(a, b *Info) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// References are the files that a file mentions, sorted.
func (s *Snapshot) References(path string) []string {
	s.relations.resolve()
	return s.relations.references[path]
}

// Graph is which file mentions which.
func (s *Snapshot) Graph() *mention.Graph {
	s.relations.resolve()
	return s.relations.graph
}

// Paths are the documents' paths, to look mentions up in.
func (s *Snapshot) Paths() *mention.Paths {
	s.relations.resolve()
	return s.relations.paths
}

// Leads lists the mentions of a file.
func (s *Snapshot) Leads(path string) (all []Lead) {
	i, found := s.docs[path]
	if !found {
		return nil
	}
	return s.leadsOf(i)
}

// Loose are the mentions that lead nowhere, and those that could mean several
// files, by path and line; of how many in all.
func (s *Snapshot) Loose() (unresolved, ambiguous []Lead, mentions int) {
	s.relations.resolve()
	return s.relations.unresolved, s.relations.ambiguous, s.relations.mentions
}

func (s *Snapshot) leadsOf(i *Info) (all []Lead) {
	s.relations.resolve()
	for _, m := range i.Mentions {
		outcome, meant := s.relations.paths.Resolve(i.Path, m)
		if outcome != mention.Nothing {
			all = append(all, Lead{From: i.Path, Mention: m, Outcome: outcome, Meant: meant})
		}
	}
	return all
}

func (s *relations) resolve() {
	s.once.Do(func() {
		s.references = map[string][]string{}
		s.paths = mention.NewPaths(slices.Collect(maps.Keys(s.docs)))
		for path, i := range s.docs {
			for _, m := range i.Mentions {
				outcome, meant := s.paths.Resolve(path, m)
				lead := Lead{From: path, Mention: m, Outcome: outcome, Meant: meant}
				switch outcome {
				case mention.Nothing:
					continue
				case mention.ToFolder:
				case mention.Resolved:
					if meant[0] != path {
						s.references[path] = append(s.references[path], meant[0])
					}
				case mention.Ambiguous:
					s.ambiguous = append(s.ambiguous, lead)
				case mention.Unresolved:
					s.unresolved = append(s.unresolved, lead)
				}
				s.mentions++
			}
		}
		for path, all := range s.references {
			slices.Sort(all)
			s.references[path] = slices.Compact(all)
		}
		for _, leads := range [][]Lead{s.ambiguous, s.unresolved} {
			slices.SortStableFunc(leads, func(a, b Lead) int { return cmp.Or(strings.Compare(a.From, b.From), a.Line-b.Line) })
		}
		s.graph = mention.NewGraph(s.references)
	})
}
