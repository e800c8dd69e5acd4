package search

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/writbus/writ/retrieval/artifact"
)

// lent are kept bytes that are of no use once they are let go of.
type lent struct {
	bytes []byte
	freed chan<- struct{}
}

func (l *lent) Bytes() []byte { return l.bytes }
func (l *lent) Drop()         {}
func (l *lent) Free() {
	clear(l.bytes)
	close(l.freed)
}

// wordy are entries with lists that are worth a place outside the heap.
func wordy(t *testing.T) []*Entry {
	t.Helper()
	analyser := NewAnalyser(nil)
	var entries []*Entry
	for i := range 1500 {
		text := ""
		for j := range 60 {
			text += fmt.Sprintf("word%d only%dof%d ", j*i%97, j, i)
		}
		e, err := analyser.Analyse(&artifact.Document{Path: fmt.Sprintf("f%04d.go", i), Chunks: []artifact.Chunk{{Lines: [2]int{1, 1}, Text: text}}})
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

func TestAnIndexOutsideTheHeapAnswersAlike(t *testing.T) {
	inside := New(wordy(t), nil)
	if same := inside.Kept(func(...[]byte) (Kept, error) { return nil, errors.New("no room") }); same != inside {
		t.Error("a keeper that keeps nothing gave another index")
	}
	freed := make(chan struct{})
	outside := inside.Kept(func(pieces ...[]byte) (Kept, error) {
		return &lent{bytes.Join(pieces, nil), freed}, nil
	})
	if outside == inside {
		t.Fatal("nothing was kept")
	}
	if again := outside.Kept(func(...[]byte) (Kept, error) { t.Error("kept twice"); return nil, errors.New("twice") }); again != outside {
		t.Error("an index that is kept changed")
	}
	for _, text := range []string{"word7 word30", "only5of900", "nothing"} {
		q := Query{Text: text, Method: BM25}
		a, errA := inside.Search(q)
		b, errB := outside.Search(q)
		if errA != nil || errB != nil || !reflect.DeepEqual(a.Hits, b.Hits) {
			t.Errorf("%q: %v, %v; %v, %v", text, a.Hits, errA, b.Hits, errB)
		}
	}
	var one, other bytes.Buffer
	if err := errors.Join(inside.Save(&one), outside.Save(&other)); err != nil || !bytes.Equal(one.Bytes(), other.Bytes()) {
		t.Errorf("saved %d bytes and %d, %v", one.Len(), other.Len(), err)
	}
	merged := outside.Update(nil, []string{"f0003.go"}).Compact()
	outside = nil
	for done := false; !done; {
		runtime.GC()
		select {
		case <-freed:
			done = true
		default:
			runtime.Gosched()
		}
	}
	if a, err := merged.Search(Query{Text: "only5of900", Method: BM25}); err != nil || len(a.Hits) == 0 || a.Hits[0].Document.Path != "f0900.go" {
		t.Errorf("what was made of a kept index gives %v, %v", a.Hits, err)
	}
}
