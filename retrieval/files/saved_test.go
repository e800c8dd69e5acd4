package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// savedTree is a project with some files and a place for its saved index.
type savedTree struct {
	tree
	journal *journal
	file    string
	said    []string
	lean    int // how often less garbage was let gather, and ten times how often that ended
}

func newSavedTree(t *testing.T) *savedTree {
	tr := &savedTree{tree: newTree(t), journal: &journal{}, file: filepath.Join(t.TempDir(), "of", "project.index")}
	tr.write("a.go", "package a\n\n// Retry waits.\nfunc Retry() {}\n")
	tr.write("docs/b.md", "# Backoff\n\nSee @a.go.\n")
	tr.write("c.txt", "some text\xff\n")
	tr.write("d.bin", "\x00\x01")
	old := time.Now().Add(-time.Hour)
	for _, path := range []string{"a.go", "docs/b.md", "c.txt", "d.bin"} {
		if err := os.Chtimes(tr.at(path), old, old); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

// process opens the project as the next process does.
func (tr *savedTree) process() *Project {
	p, err := Open(Options{
		Root: tr.root, Record: tr.journal.record, Now: time.Now, Workers: 2, Catalog: tr.journal.fold("**"),
		Saved: tr.file, Warn: func(text string) { tr.said = append(tr.said, text) },
		Lean: func() func() { tr.lean++; return func() { tr.lean += 10 } },
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	return p
}

func (tr *savedTree) save(t *testing.T) {
	t.Helper()
	p := tr.process()
	update(t, p, Update{})
	if err := p.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// next updates in the next process and compares with a build without the file.
func (tr *savedTree) next(t *testing.T) Built {
	t.Helper()
	p := tr.process()
	built := update(t, p, Update{})
	checkFresh(t, p, tr.journal)
	return built
}

func TestASavedIndexSparesReadingTheFiles(t *testing.T) {
	tr := newSavedTree(t)
	if built := tr.next(t); built.Read != 4 || built.Added != 3 {
		t.Fatalf("without a saved index: %+v", built)
	}
	tr.save(t)
	if built := tr.next(t); built.Read != 0 || built.Unchanged != 3 || len(tr.said) > 0 {
		t.Fatalf("nothing changed: %+v, said %q", built, tr.said)
	}
	if tr.lean != 11 {
		t.Errorf("a saved index was read with as much garbage as there is: %d", tr.lean)
	}
	tr.write("a.go", "package a\n\nfunc Wait() {}\n")
	tr.remove("docs/b.md")
	tr.write("e.md", "# New\n")
	if built := tr.next(t); built.Read != 2 || built.Changed != 1 || built.Removed != 1 || built.Added != 1 {
		t.Fatalf("three files changed: %+v", built)
	}
}

func TestASavedFileIsReadAgainUnlessTheLogHasIt(t *testing.T) {
	tr := newSavedTree(t)
	tr.save(t)
	all := tr.journal.events
	tr.journal.events = nil
	for _, event := range all {
		if !strings.Contains(fmt.Sprint(event), "a.go") {
			tr.journal.events = append(tr.journal.events, event)
		}
	}
	if built := tr.next(t); built.Read != 1 || built.Added != 1 || len(tr.said) > 0 {
		t.Fatalf("the log does not know one file: %+v, said %q", built, tr.said)
	}
	tr.journal.events = nil
	if built := tr.next(t); built.Read != 3 || built.Added != 3 {
		t.Fatalf("the log is empty: %+v", built)
	}
}

func TestAnUpdateThatFailsKeepsWhatWasSaved(t *testing.T) {
	tr := newSavedTree(t)
	tr.save(t)
	tr.write("e.md", "# New\n")
	p := tr.process()
	tr.journal.fail = errors.New("the log is away")
	if _, err := p.Update(context.Background(), Update{}); err == nil {
		t.Fatal("the log is away, and nothing is said")
	}
	tr.journal.fail = nil
	if built := update(t, p, Update{}); built.Read != 1 || p.Current().Len() != 4 || !p.Current().Index.Has("a.go") {
		t.Fatalf("%+v, %d documents", built, p.Current().Len())
	}
}

func TestASavedIndexThatCannotBeUsedIsMadeAnew(t *testing.T) {
	tr := newSavedTree(t)
	tr.save(t)
	good, err := os.ReadFile(tr.file)
	if err != nil {
		t.Fatal(err)
	}
	other := newSavedTree(t)
	other.save(t)
	foreign, err := os.ReadFile(other.file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)/2] ^= 1
	for why, bytes := range map[string][]byte{
		"begin": []byte("no index at all, but some text that is longer than a checksum has to be to be one"), "damaged": flipped,
		"of " + other.root: foreign, "does not begin": nil, "was damaged": good[:len(good)-1],
	} {
		if err := os.WriteFile(tr.file, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		tr.said = nil
		built := tr.next(t)
		if built.Read != 4 || len(tr.said) != 1 || !strings.Contains(tr.said[0], why) || !strings.Contains(tr.said[0], tr.root) {
			t.Errorf("%s: %+v, said %q", why, built, tr.said)
		}
	}
	tr.save(t)
	if built := tr.next(t); built.Read != 0 {
		t.Errorf("it was not saved again: %+v", built)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(tr.file), ".writ-*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestWhatIsGivenUpIsDoneByTheNext: saving, reading what was saved, and building
// end with their context, leave nothing half done, and are done when they are
// asked for again.
func TestWhatIsGivenUpIsDoneByTheNext(t *testing.T) {
	tr := newSavedTree(t)
	over, end := context.WithCancel(context.Background())
	end()
	p := tr.process()
	if _, err := p.Update(over, Update{}); !errors.Is(err, context.Canceled) || p.Current() != nil {
		t.Fatalf("a build after its end: %v", err)
	}
	update(t, p, Update{})
	if err := p.Save(over); !errors.Is(err, context.Canceled) {
		t.Fatalf("a save after its end: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(tr.file)); err != nil || len(left) > 0 {
		t.Fatalf("left behind: %v %v", left, err)
	}
	if err := p.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	p = tr.process()
	if _, err := p.Update(over, Update{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("reading what was saved after its end: %v", err)
	}
	if built := update(t, p, Update{}); built.Read != 0 || len(tr.said) > 0 {
		t.Fatalf("what was saved is read no more: %+v, said %q", built, tr.said)
	}
}

func TestASaveThatFailsSaysSo(t *testing.T) {
	tr := newSavedTree(t)
	tr.file = filepath.Join(tr.at("a.go"), "below", "a.file")
	p := tr.process()
	update(t, p, Update{})
	if err := p.Save(context.Background()); err == nil || !strings.Contains(err.Error(), tr.root) {
		t.Fatal(err)
	}
}

// TestAnalysisVersion fails where what is made of the same bytes changes. Then
// count up analysisVersion and state the new sum here, so that no index that was
// saved before is taken for one of now.
func TestAnalysisVersion(t *testing.T) {
	const version, sum = 11, "6baafdf47d88c062"
	tr := newTree(t)
	samples, err := filepath.Glob("../artifact/chunk/testdata/*/*.in")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../artifact/chunk/testdata/*.in")
	if err != nil || len(samples)+len(more) < 8 {
		t.Fatal(err, "no samples")
	}
	extensions := map[string]string{
		"go": ".go", "markdown": ".md", "python": ".py", "text": ".txt", "rust": ".rs", "typescript": ".ts", "java": ".java", "cpp": ".cc", "csharp": ".cs", "ruby": ".rb", "shell": ".sh",
		"javascript": ".js", "kotlin": ".kt", "vue": ".vue", "elixir": ".ex", "haskell": ".hs", "lua": ".lua", "zig": ".zig", "dart": ".dart", "erlang": ".erl",
		"julia": ".jl", "perl": ".pl", "powershell": ".ps1", "clojure": ".clj", "groovy": ".groovy", "terraform": ".tf",
	}
	for _, sample := range append(samples, more...) {
		raw, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		language, _, _ := strings.Cut(filepath.Base(sample), ".")
		tr.write("docs/"+filepath.Base(sample)+extensions[language], string(raw))
	}
	tr.write("docs/functions", "copy_exec() {\n\tcp \"$1\" \"$2\"\n}\n")
	p := tr.open(&journal{}, "**")
	update(t, p, Update{})
	hash := sha256.New()
	if err := p.Current().Index.Save(hash); err != nil {
		t.Fatal(err)
	}
	for _, i := range p.Current().Documents() {
		own := *i
		own.ModTime = time.Time{}
		fmt.Fprintf(hash, "%+v\n", own)
	}
	if got := fmt.Sprintf("%x", hash.Sum(nil))[:16]; got != sum || version != analysisVersion {
		t.Errorf("the sum is %q at version %d, want %q at %d", got, analysisVersion, sum, version)
	}
}
