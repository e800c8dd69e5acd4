package files

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/retrieval/artifact/search"
)

// letters is an embedder that counts letters, many texts at once.
type letters struct {
	asked []string
	fail  error
}

func (*letters) Name() string { return "letters" }

func (l *letters) Embed(text string) ([]float32, error) {
	v := make([]float32, 26)
	for _, b := range []byte(strings.ToLower(text)) {
		if 'a' <= b && b <= 'z' {
			v[b-'a']++
		}
	}
	return v, l.fail
}

func (l *letters) EmbedBatch(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	l.asked = append(l.asked, texts...)
	for _, text := range texts {
		v, failed := l.Embed(text)
		vectors, err = append(vectors, v), errors.Join(err, failed, ctx.Err())
	}
	return vectors, err
}

// single is an embedder that takes one text at a time.
type single struct{ search.Embedder }

func (tr *savedTree) embedding(t *testing.T, e search.Embedder, beside bool) *Project {
	t.Helper()
	p, err := Open(Options{
		Root: tr.root, Record: tr.journal.record, Now: time.Now, Workers: 2, Catalog: tr.journal.fold("**"),
		Saved: tr.file, Embedder: e, Beside: beside, Warn: func(text string) { tr.said = append(tr.said, text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	update(t, p, Update{})
	return p
}

func TestVectorsMadeBesideAreTheSame(t *testing.T) {
	ctx := context.Background()
	for _, e := range []search.Embedder{&letters{}, single{&letters{}}} {
		tr := newSavedTree(t)
		p := tr.embedding(t, e, true)
		if p.Lacking() != 3 || p.Current().Index.Embedder() != "letters" {
			t.Fatalf("%d files lack vectors", p.Lacking())
		}
		before := p.Current().Revision
		if left, err := p.Embed(ctx, 2); err != nil || left != 1 || p.Current().Revision == before {
			t.Fatalf("%d left: %v", left, err)
		}
		if left, err := p.Embed(ctx, 2); err != nil || left != 0 {
			t.Fatalf("%d left: %v", left, err)
		}
		tr.file = filepath.Join(t.TempDir(), "other.index")
		at := tr.embedding(t, e, false)
		if got, want := p.Current().Index.Compact(), at.Current().Index.Compact(); !cmp.Equal(want, got, sameIndex) {
			t.Fatal(cmp.Diff(want, got, sameIndex))
		}
	}
}

func TestVectorsSurviveTheProcess(t *testing.T) {
	tr, e := newSavedTree(t), &letters{}
	p := tr.embedding(t, e, true)
	if left, err := p.Embed(context.Background(), 9); err != nil || left != 0 {
		t.Fatal(left, err)
	}
	if err := p.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	tr.write("a.go", "package a\n\nfunc Wait() {}\n")
	e.asked = nil
	p = tr.embedding(t, e, true)
	if left, err := p.Embed(context.Background(), 9); err != nil || left != 0 || len(tr.said) > 0 {
		t.Fatal(left, err, tr.said)
	}
	if len(e.asked) == 0 || slices.ContainsFunc(e.asked, func(text string) bool { return !strings.HasPrefix(text, "a.go\n") }) {
		t.Fatalf("asked for %q", e.asked)
	}
	other := single{&letters{}}
	p = tr.embedding(t, renamed{other}, true)
	if p.Lacking() != 3 || len(tr.said) != 1 || !strings.Contains(tr.said[0], "embedder") {
		t.Fatalf("with another embedder %d lack vectors; said %q", p.Lacking(), tr.said)
	}
}

type renamed struct{ search.Embedder }

func (renamed) Name() string { return "other" }

func TestAnEmbedderBesideThatFailsChangesNothing(t *testing.T) {
	tr, e := newSavedTree(t), &letters{fail: errors.New("it is away")}
	p := tr.embedding(t, e, true)
	now := p.Current()
	if left, err := p.Embed(context.Background(), 2); left != 3 || !errors.Is(err, e.fail) || p.Current() != now {
		t.Fatal(left, err)
	}
	e.fail = nil
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if left, err := p.Embed(ctx, 2); left != 3 || !errors.Is(err, context.Canceled) {
		t.Fatal(left, err)
	}
}

func TestAFileThatChangedWaitsForItsNextVersion(t *testing.T) {
	tr, e := newSavedTree(t), &letters{}
	p := tr.embedding(t, e, true)
	tr.write("a.go", "package a\n\nfunc Wait() {}\n")
	tr.remove("c.txt")
	if left, err := p.Embed(context.Background(), 9); left != 0 || err != nil {
		t.Fatal(left, err)
	}
	if lack := p.Current().Index.Lacking(); !slices.Equal(lack, []string{"a.go", "c.txt"}) {
		t.Fatalf("%q lack vectors", lack)
	}
	update(t, p, Update{})
	if p.Lacking() != 1 {
		t.Fatalf("%d lack vectors after an update", p.Lacking())
	}
	if left, err := p.Embed(context.Background(), 9); left != 0 || err != nil || len(p.Current().Index.Lacking()) > 0 {
		t.Fatal(left, err)
	}
}
