package index

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/fulltext"
	"github.com/writbus/writ/schemas"
)

// fullText is the persistent full-text index of the rules. It is opened with
// the first search and brought up to the log's state before each: agents' hooks
// do not need it and never wait for it.
type fullText struct {
	dir string

	mu      sync.Mutex
	index   *fulltext.Index
	rules   map[string]*schemas.Rule // as the log has them; shared with the documents
	seq     uint64                   // of the rules' stream, which rules holds
	changed map[string]bool          // since the index was last brought up
	anew    bool                     // everything may have changed
}

// follow takes over a change of the rules: those of the ids, and what came into force or
// went out of it with them.
func (f *fullText) follow(docs map[string]retrieval.Document, rebuilt bool, ids []string, seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq = seq
	if rebuilt || f.rules == nil {
		f.rules, f.anew = make(map[string]*schemas.Rule, len(docs)), true
		for id, doc := range docs {
			f.rules[id] = doc.Rule
		}
		return
	}
	came := slices.DeleteFunc(slices.Collect(maps.Keys(docs)), func(id string) bool { return f.rules[id] != nil })
	went := slices.DeleteFunc(slices.Collect(maps.Keys(f.rules)), func(id string) bool { return docs[id].Rule != nil })
	for _, id := range slices.Concat(ids, came, went) {
		f.changed[id] = true
		if doc, found := docs[id]; found {
			f.rules[id] = doc.Rule
		} else {
			delete(f.rules, id)
		}
	}
}

// share takes the same rules from other memory.
func (f *fullText) share(docs map[string]retrieval.Document) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.rules {
		if doc, found := docs[id]; found {
			f.rules[id] = doc.Rule
		}
	}
}

// search answers a request from the rules as the log has them.
func (f *fullText) search(ctx context.Context, r fulltext.Request) (fulltext.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.bringUp(); err != nil {
		return fulltext.Result{}, err
	}
	return f.index.Search(ctx, r)
}

func (f *fullText) bringUp() error {
	if f.index != nil && !f.anew && len(f.changed) == 0 {
		return nil
	}
	if f.index != nil && !f.anew {
		var put []fulltext.Document
		var removed []string
		for id := range f.changed {
			if rule, found := f.rules[id]; found {
				put = append(put, fulltext.Document{Type: retrieval.TypeRule, Rule: *rule})
			} else {
				removed = append(removed, id)
			}
		}
		if err := f.index.Update(put, removed, f.seq); err == nil {
			clear(f.changed)
			return nil
		}
		// What cannot be updated is built again below.
	}
	if err := f.close(); err != nil {
		return err
	}
	index, _, err := fulltext.Open(f.dir, fulltext.State{Version: "rules-1", Sequence: f.seq}, func() ([]fulltext.Document, error) {
		var docs []fulltext.Document
		for _, id := range slices.Sorted(maps.Keys(f.rules)) {
			docs = append(docs, fulltext.Document{Type: retrieval.TypeRule, Rule: *f.rules[id]})
		}
		return docs, nil
	})
	if err != nil {
		return err
	}
	f.index, f.anew = index, false
	clear(f.changed)
	return nil
}

func (f *fullText) close() error {
	if f.index == nil {
		return nil
	}
	err := f.index.Close()
	f.index = nil
	return err
}

// shut releases the index at the end.
func (f *fullText) shut() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.close()
}

func newFullText(folder string) *fullText {
	return &fullText{dir: filepath.Join(folder, "fulltext"), changed: map[string]bool{}}
}
