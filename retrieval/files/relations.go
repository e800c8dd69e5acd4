package files

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/writbus/writ/retrieval/artifact/mention"
)

// relations are what the documents' mentions lead to, looked up when somebody
// first asks: of what changed since they were looked up last.
type relations struct {
	docs    documents
	from    *resolved       // nil for none
	changed map[string]bool // documents that are others than in from

	once sync.Once
	done atomic.Pointer[resolved]
}

// resolved are mentions that were looked up.
type resolved struct {
	docs       documents
	paths      *mention.Paths
	of         map[string]leads // of the documents that mention something
	ambiguous  []Lead
	unresolved []Lead
	mentions   int
	graph      func() *mention.Graph
}

// leads are what one document mentions.
type leads struct {
	all        []Lead
	references []string
	names      []string // that say when to look again
	always     bool     // look again at any change
}

// after are the relations of other documents, that differ in some.
func (r *relations) after(docs documents, changes map[string]*Info) *relations {
	next := &relations{docs: docs, from: r.from, changed: map[string]bool{}}
	if done := r.done.Load(); done != nil {
		next.from = done
	} else {
		maps.Copy(next.changed, r.changed)
	}
	for path := range changes {
		next.changed[path] = true
	}
	if 4*len(next.changed) > docs.tally.Documents {
		next.from = nil // then looking at all is as fast
	}
	if next.from == nil {
		next.changed = nil
	}
	return next
}

func (r *relations) resolve() *resolved {
	r.once.Do(func() {
		next := &resolved{docs: r.docs}
		if r.from == nil {
			next.lookAtAll()
		} else {
			next.look(r.from, r.changed)
		}
		next.gather()
		r.done.Store(next)
	})
	return r.done.Load()
}

func (r *resolved) lookAtAll() {
	paths := make([]string, 0, r.docs.tally.Documents)
	r.docs.each(func(path string, _ *Info) { paths = append(paths, path) })
	r.paths, r.of = mention.NewPaths(paths), map[string]leads{}
	r.docs.each(func(path string, i *Info) { r.lookAt(path, i) })
}

// look looks at the documents that changed, and at those for whose mentions it
// matters which files came and left.
func (r *resolved) look(from *resolved, changed map[string]bool) {
	r.paths, r.of = from.paths, maps.Clone(from.of)
	var came, left []string
	for path := range changed {
		switch was, is := from.docs.get(path) != nil, r.docs.get(path) != nil; {
		case is && !was:
			came = append(came, path)
		case was && !is:
			left = append(left, path)
		}
	}
	names := map[string]bool{}
	if len(came)+len(left) > 0 {
		r.paths, names = from.paths.With(came, left)
	}
	for path, l := range from.of {
		if len(names) > 0 && (l.always || slices.ContainsFunc(l.names, func(name string) bool { return names[name] })) {
			r.lookAt(path, r.docs.get(path))
		}
	}
	for path := range changed {
		r.lookAt(path, r.docs.get(path))
	}
}

// lookAt looks up the mentions of a document; nil is one that left.
func (r *resolved) lookAt(path string, i *Info) {
	if i == nil || len(i.Mentions) == 0 {
		delete(r.of, path)
		return
	}
	var l leads
	names := map[string]bool{}
	for _, m := range i.Mentions {
		asked, always := m.Names()
		l.always = l.always || always
		for _, name := range asked {
			names[name] = true
		}
		outcome, meant := r.paths.Resolve(path, m)
		if outcome == mention.Nothing {
			continue
		}
		l.all = append(l.all, Lead{From: path, Mention: m, Outcome: outcome, Meant: meant})
		if outcome == mention.Resolved && meant[0] != path {
			l.references = append(l.references, meant[0])
		}
	}
	slices.Sort(l.references)
	l.references = slices.Compact(l.references)
	l.names = slices.Collect(maps.Keys(names))
	r.of[path] = l
}

// gather lists what is asked for of all documents together.
func (r *resolved) gather() {
	for _, l := range r.of {
		r.mentions += len(l.all)
		for _, lead := range l.all {
			switch lead.Outcome {
			case mention.Ambiguous:
				r.ambiguous = append(r.ambiguous, lead)
			case mention.Unresolved:
				r.unresolved = append(r.unresolved, lead)
			case mention.Nothing, mention.Resolved, mention.ToFolder:
			}
		}
	}
	for _, all := range [][]Lead{r.ambiguous, r.unresolved} {
		slices.SortStableFunc(all, func(a, b Lead) int { return cmp.Or(strings.Compare(a.From, b.From), a.Line-b.Line) })
	}
	r.graph = sync.OnceValue(func() *mention.Graph {
		references := map[string][]string{}
		for path, l := range r.of {
			if len(l.references) > 0 {
				references[path] = l.references
			}
		}
		return mention.NewGraph(references)
	})
}
