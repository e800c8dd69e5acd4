package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
	"github.com/writbus/writ/schemas/pause"
)

const (
	// vectorsAtOnce is how many changed rules get their vectors before the
	// change is done, so that the next query finds them by meaning, too.
	vectorsAtOnce = 4
	// vectorsRetry is how long to wait after an embedder failed.
	vectorsRetry = 20 * time.Second
)

// vectors makes the vectors of an embedder that takes its time or may fail: a
// large model, an endpoint. They are made beside the log's projection, which
// must depend on the log alone and which nobody should wait for, and kept in
// files, one per version of a rule.
type vectors struct {
	embedder  retrieval.Embedder
	meanwhile string // how rules are found without them
	dir       string

	mu   sync.Mutex
	made map[string]retrieval.Document // by vectorKey
}

func newVectors(e choice.Embedder, folder string) *vectors {
	v := &vectors{embedder: e.Embedder, meanwhile: "their words alone", dir: filepath.Join(folder, digest.Hex(e.Name())[:16]), made: map[string]retrieval.Document{}}
	if e.Meanwhile != nil {
		v.meanwhile = "words and " + e.Meanwhile.Name()
	}
	return v
}

func vectorKey(d retrieval.Document) string {
	sum := d.Sum()
	return hex.EncodeToString(sum[:])
}

// fill gives documents the vectors that are there and counts those that lack
// theirs.
func (v *vectors) fill(docs []retrieval.Document) (missing []int) {
	for i := range docs {
		if doc, found := v.lookup(docs[i]); found {
			docs[i] = doc
		} else {
			missing = append(missing, i)
		}
	}
	return missing
}

func (v *vectors) lookup(doc retrieval.Document) (retrieval.Document, bool) {
	if !doc.AlwaysOn() && !doc.Rule.Type.Findable() {
		return doc, true // never searched
	}
	if doc.EmbeddedBy() == v.embedder.Name() {
		return doc, true
	}
	key := vectorKey(doc)
	v.mu.Lock()
	made, found := v.made[key]
	v.mu.Unlock()
	if found {
		return made, true
	}
	raw, err := os.ReadFile(filepath.Join(v.dir, key))
	if err != nil {
		return doc, false
	}
	content, whole := unsealed(raw)
	if !whole {
		return doc, false // damaged, or of an earlier form: it is made again
	}
	made, err = retrieval.UnmarshalDocument(content)
	if err != nil || made.Sum() != doc.Sum() || made.EmbeddedBy() != v.embedder.Name() {
		return doc, false
	}
	v.remember(key, made)
	return made, true
}

// sealed is a content with its digest before it.
func sealed(content []byte) []byte {
	sum := sha256.Sum256(content)
	return append(sum[:], content...)
}

// unsealed is the content of what sealed returned, if it is whole.
func unsealed(raw []byte) (content []byte, whole bool) {
	if len(raw) < sha256.Size {
		return nil, false
	}
	content = raw[sha256.Size:]
	return content, sha256.Sum256(content) == [sha256.Size]byte(raw)
}

func (v *vectors) remember(key string, doc retrieval.Document) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.made[key] = doc
}

// make embeds one document and keeps the result. That it cannot be kept only
// costs time later.
func (v *vectors) make(doc retrieval.Document) (retrieval.Document, error) {
	embedded, err := retrieval.Embed(doc, v.embedder)
	if err != nil {
		return doc, err
	}
	key := vectorKey(doc)
	v.remember(key, embedded)
	raw, err := embedded.MarshalBinary()
	if err == nil && os.MkdirAll(v.dir, 0o700) == nil {
		_ = atomicfile.WriteWith(filepath.Join(v.dir, key), sealed(raw), atomicfile.Options{Mode: 0o600, Volatile: true})
	}
	return embedded, nil
}

// complete returns the embedder to search with, or nil and why it cannot be
// used yet. Few missing vectors are made at once, many are left to a worker.
func (v *vectors) complete(docs []retrieval.Document) (with retrieval.Embedder, problem string, wait bool) {
	missing := v.fill(docs)
	if len(missing) > vectorsAtOnce {
		return nil, fmt.Sprintf("%s makes the vectors of %d of %d rules; until then they are found by %s", v.embedder.Name(), len(missing), len(docs), v.meanwhile), true
	}
	for _, i := range missing {
		doc, err := v.make(docs[i])
		if err != nil {
			return nil, err.Error(), true
		}
		docs[i] = doc
	}
	return v.embedder, "", false
}

// work makes what is missing of the documents that latest returns, and calls
// done when they are whole, which says whether that was the latest. After a
// failure it tells, waits, and tries again.
func (v *vectors) work(ctx context.Context, latest func() []retrieval.Document, done func([]retrieval.Document) bool, failed func(error)) {
	for {
		docs := latest()
		err := v.makeAll(ctx, docs)
		if errors.Is(err, context.Canceled) {
			return
		}
		if err == nil {
			if done(docs) {
				return
			}
			continue
		}
		failed(err)
		if !pause.For(ctx, vectorsRetry) {
			return
		}
	}
}

func (v *vectors) makeAll(ctx context.Context, docs []retrieval.Document) error {
	for _, i := range v.fill(docs) {
		if ctx.Err() != nil {
			return context.Canceled
		}
		doc, err := v.make(docs[i])
		if err != nil {
			return err
		}
		docs[i] = doc
	}
	return nil
}
