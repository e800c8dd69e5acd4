package files

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/writbus/writ/retrieval/artifact/chunk"
	"github.com/writbus/writ/retrieval/artifact/describe"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/vector"
)

// batching is an embedder that is asked for many texts at once.
type batching interface {
	EmbedBatch(ctx context.Context, texts []string) ([][]float32, error)
}

// prepared is an embedder that has the vectors of some texts already.
type prepared struct {
	search.Embedder
	vectors map[string][]float32
}

func (p prepared) Embed(text string) ([]float32, error) {
	if v, made := p.vectors[text]; made {
		return v, nil
	}
	return p.Embedder.Embed(text)
}

// EmbedQuery is that of the embedder below.
func (p prepared) EmbedQuery(text string) ([]float32, error) { return vector.OfQuery(p.Embedder, text) }

// Lacking counts the documents whose vectors are still to be made by [Project.Embed].
func (p *Project) Lacking() int { return len(p.lacking(p.Current())) }

// lacking lists them. A document whose vectors came out as nothing, or whose
// file is no longer the one that was indexed, waits for its next version.
func (p *Project) lacking(s *Snapshot) (paths []string) {
	if s == nil || !p.options.Beside {
		return nil
	}
	p.meaning.Lock()
	defer p.meaning.Unlock()
	for _, path := range s.Index.Lacking() {
		if i := s.docs.get(path); i != nil && p.meant[path] != i.Hash {
			paths = append(paths, path)
		}
	}
	return paths
}

// Embed makes the vectors of so many documents that lack theirs, and publishes a
// snapshot that has them. It returns how many are left; the error is the
// embedder's, and then nothing was changed. Updates go on meanwhile.
func (p *Project) Embed(ctx context.Context, most int) (left int, err error) {
	p.embedding.Lock()
	defer p.embedding.Unlock()
	now := p.Current()
	all := p.lacking(now)
	if len(all) == 0 {
		return 0, nil
	}
	paths := all[:min(most, len(all))]
	docs, texts, err := p.describe(paths, now)
	if err != nil {
		return len(all), err
	}
	with := prepared{p.options.Embedder, make(map[string][]float32, len(texts))}
	if err := with.make(ctx, texts); err != nil {
		return len(all), err
	}
	analyser := search.NewAnalyser(with)
	entries := make([]*search.Entry, len(docs))
	for i := range docs {
		if entries[i], err = analyser.Analyse(&docs[i].Document); err != nil {
			return len(all), err
		}
	}
	p.adopt(paths, now, docs, entries)
	return len(p.lacking(p.Current())), nil
}

// make asks for the vectors of all texts, at once where that can be.
func (p prepared) make(ctx context.Context, texts []string) error {
	if b, many := p.Embedder.(batching); many {
		vectors, err := b.EmbedBatch(ctx, texts)
		if err != nil {
			return err
		}
		for i, text := range texts {
			p.vectors[text] = vectors[i]
		}
		return nil
	}
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := p.Embedder.Embed(text)
		if err != nil {
			return err
		}
		p.vectors[text] = v
	}
	return nil
}

// describe reads the files again that are as they were indexed.
func (p *Project) describe(paths []string, now *Snapshot) (docs []describe.Described, texts []string, err error) {
	root, err := os.OpenRoot(p.options.Root)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrProject, err)
	}
	defer func() { _ = root.Close() }()
	var chunks chunk.Scratch
	var buffer []byte
	for _, path := range paths {
		r, err := readFile(root, path, &buffer)
		if err != nil || r.left != "" || r.hash != now.docs.get(path).Hash {
			continue
		}
		d := describe.Describe(describe.File{Path: path, ModTime: r.modTime, Hash: r.hash, Bytes: r.bytes}, &chunks)
		d.ModTime = time.Time{} // as in an update
		docs = append(docs, d)
		texts = append(texts, search.Meanings(&d.Document)...)
	}
	return docs, texts, nil
}

// adopt publishes entries with vectors in place of those that are still of the
// same bytes.
func (p *Project) adopt(paths []string, asked *Snapshot, docs []describe.Described, entries []*search.Entry) {
	p.updating.Lock()
	defer p.updating.Unlock()
	p.meaning.Lock()
	for _, path := range paths {
		p.meant[path] = asked.docs.get(path).Hash
	}
	p.meaning.Unlock()
	now := p.current.Load()
	var put []*search.Entry
	for i, e := range entries {
		if is := now.docs.get(e.Path()); is != nil && is.Hash == docs[i].Hash {
			put = append(put, e)
		}
	}
	if len(put) == 0 {
		return
	}
	next := *now
	next.Revision++
	if search.Guarded(func() error {
		next.Index = p.outside(now.Index.Update(put, nil).Tidied(mostSegments))
		return nil
	}) != nil {
		return // the next search says so
	}
	p.current.Store(&next)
	p.changed.tell()
}
