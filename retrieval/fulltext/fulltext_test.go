package fulltext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func documents() []Document {
	rule := func(id, title, trigger, domain, severity string, tags ...string) Document {
		return Document{Type: "Rule", Rule: schemas.Rule{
			ID: id, Title: title, Trigger: trigger, Statement: "Do as the title says.", Domain: domain, Severity: severity, Tags: tags,
		}}
	}
	return []Document{
		rule("GO-ERR-001", "Wrap an error once", "An error is returned to a caller.", "go", "high", "errors", "Wrapping"),
		rule("GO-CTX-001", "Pass the context first", "A function blocks or calls the network.", "go", "medium", "context"),
		rule("SQL-INJ-001", "Bind parameters", "A query is built from user input; see maxConns.", "sql", "critical", "security"),
		rule("PY-MUT-001", "No mutable default argument", "The default of a parameter is a list.", "python", "high"),
	}
}

func all() ([]Document, error) { return documents(), nil }

func opened(t testing.TB, dir string, want State) (*Index, Opened) {
	t.Helper()
	ix, how, err := Open(dir, want, all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix, how
}

func found(t testing.TB, ix *Index, r Request) []string {
	t.Helper()
	result, err := ix.Search(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, h := range result.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func TestRequests(t *testing.T) {
	ix, _ := opened(t, filepath.Join(t.TempDir(), "index"), State{Version: "a", Sequence: 7})
	for name, c := range map[string]struct {
		request Request
		want    []string
	}{
		"a word, stemmed":       {Request{Text: "errors"}, []string{"GO-ERR-001"}},
		"must and must not":     {Request{Text: "+title:error -domain:sql"}, []string{"GO-ERR-001"}},
		"a quoted phrase":       {Request{Text: `"mutable default"`}, []string{"PY-MUT-001"}},
		"a field":               {Request{Text: "trigger:network"}, []string{"GO-CTX-001"}},
		"an id":                 {Request{Text: "go-err-001", Kind: Words}, []string{"GO-ERR-001"}},
		"part of an identifier": {Request{Text: "conns"}, []string{"SQL-INJ-001"}},
		"an identifier":         {Request{Text: "maxConns"}, []string{"SQL-INJ-001"}},
		"all words":             {Request{Text: "query input", Kind: Words}, []string{"SQL-INJ-001"}},
		"some words":            {Request{Text: "query network", Kind: Words}, []string{"GO-CTX-001", "SQL-INJ-001"}},
		"no word":               {Request{Text: "zebra giraffe", Kind: Words}, []string{}},
		"a phrase":              {Request{Text: "the context first", Kind: Phrase}, []string{"GO-CTX-001"}},
		"no phrase":             {Request{Text: "first the context", Kind: Phrase}, []string{}},
		"typing errors":         {Request{Text: "contxet netwrk", Kind: Fuzzy}, []string{"GO-CTX-001"}},
		"a prefix":              {Request{Text: "Param", Kind: Prefix}, []string{"PY-MUT-001", "SQL-INJ-001"}},
		"a prefix in a field":   {Request{Text: "param", Kind: Prefix, Field: "title"}, []string{"SQL-INJ-001"}},
		"a filter":              {Request{Filter: map[string]string{"domain": "Go"}}, []string{"GO-CTX-001", "GO-ERR-001"}},
		"two filters":           {Request{Filter: map[string]string{"domain": "go", "tag": "wrapping"}}, []string{"GO-ERR-001"}},
		"nothing asked":         {Request{}, []string{"GO-CTX-001", "GO-ERR-001", "PY-MUT-001", "SQL-INJ-001"}},
		"the second page":       {Request{Size: 3, From: 3}, []string{"SQL-INJ-001"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := found(t, ix, c.request)
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
}

func TestRulesWithAllWordsComeFirst(t *testing.T) {
	ix, _ := opened(t, filepath.Join(t.TempDir(), "index"), State{})
	for text, first := range map[string]string{"network error context": "GO-CTX-001", "mutable default query": "PY-MUT-001"} {
		got := found(t, ix, Request{Text: text, Kind: Words})
		if len(got) < 2 || got[0] != first {
			t.Errorf("%q finds %v, want %s first and others after it", text, got, first)
		}
	}
}

func TestFacetsAndMarks(t *testing.T) {
	ix, _ := opened(t, filepath.Join(t.TempDir(), "index"), State{})
	result, err := ix.Search(context.Background(), Request{Text: "error", Facets: []string{"domain", "severity"}, Mark: MarkHTML, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	if h := result.Hits[0]; !strings.Contains(strings.Join(h.Fragments["title"], ""), "<mark>error</mark>") || h.Why == "" || h.Title == "" {
		t.Errorf("%+v", h)
	}
	result, err = ix.Search(context.Background(), Request{Facets: []string{"domain"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(result.Facets["domain"]); got != "[{go 2} {python 1} {sql 1}]" || result.Total != 4 {
		t.Errorf("%s of %d", got, result.Total)
	}
	result, err = ix.Search(context.Background(), Request{Text: "error", Mark: MarkANSI})
	if err != nil || !strings.Contains(fmt.Sprint(result.Hits[0].Fragments), "\x1b[") {
		t.Errorf("%v, %v", result, err)
	}
}

func TestRequestsThatCannotBeRead(t *testing.T) {
	ix, _ := opened(t, filepath.Join(t.TempDir(), "index"), State{})
	for _, r := range []Request{
		{Text: "x", Kind: "guess"},
		{Text: "x", Field: "nowhere", Kind: Words},
		{Facets: []string{"body"}},
		{Filter: map[string]string{"body": "x"}},
		{Text: "x", Mark: "bold"},
		{Text: `"open`},
		{Text: "/[/"},
	} {
		if _, err := ix.Search(context.Background(), r); !errors.Is(err, ErrQuery) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestAnIndexThatHoldsWhatIsWantedIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	ix, how := opened(t, dir, State{"v1", 4})
	if !how.Rebuilt || how.Rules != 4 {
		t.Fatalf("%+v", how)
	}
	if err := ix.Update([]Document{{Type: "Rule", Rule: schemas.Rule{ID: "NEW-1", Title: "Rotate keys"}}}, []string{"PY-MUT-001"}, 5); err != nil {
		t.Fatal(err)
	}
	if got := found(t, ix, Request{Text: "rotate"}); !slices.Equal(got, []string{"NEW-1"}) {
		t.Errorf("a rule put is not found: %v", got)
	}
	if got := found(t, ix, Request{Text: "mutable"}); len(got) != 0 {
		t.Errorf("a rule removed is found: %v", got)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	ix, how = opened(t, dir, State{"v1", 5})
	if how.Rebuilt || how.Rules != 4 || len(found(t, ix, Request{Text: "rotate"})) != 1 {
		t.Errorf("%+v", how)
	}
}

func TestAnIndexOfAnotherStateIsRebuilt(t *testing.T) {
	for name, want := range map[string]State{"behind": {"v1", 5}, "ahead": {"v1", 3}, "version": {"v2", 4}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			ix, _ := opened(t, dir, State{"v1", 4})
			if err := ix.Close(); err != nil {
				t.Fatal(err)
			}
			ix, how := opened(t, dir, want)
			if !how.Rebuilt || !strings.Contains(how.Reason, "v1@4") || len(found(t, ix, Request{Text: "error"})) != 1 {
				t.Errorf("%+v", how)
			}
		})
	}
}

// Whatever byte of whatever file is damaged: the index is rebuilt; it never
// answers wrongly, fails or panics.
func TestDamageIsFoundAndRepaired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	ix, _ := opened(t, dir, State{"v1", 4})
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	var files []string
	if err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, damage := range []func([]byte) []byte{
			func(b []byte) []byte { return b[:len(b)/2] },
			func(b []byte) []byte { return nil },
			func(b []byte) []byte { b[len(b)/3] ^= 0x40; return b },
		} {
			name := filepath.Base(file)
			copied := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(dir, file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(copied, rel), damage(slices.Clone(good)), 0o600); err != nil {
				t.Fatal(err)
			}
			ix, how, err := Open(copied, State{"v1", 4}, all)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !how.Rebuilt {
				t.Errorf("%s is damaged and was taken as it is", name)
			}
			if got := found(t, ix, Request{Text: "error"}); !slices.Equal(got, []string{"GO-ERR-001"}) {
				t.Errorf("%s: found %v", name, got)
			}
			if err := ix.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if len(files) < 3 {
		t.Errorf("an index has only the files %v", files)
	}
}

// A process that died while it had the index open may have left anything.
func TestAnIndexThatWasNotClosedIsRebuilt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	opened(t, dir, State{"v1", 4})
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if _, how := opened(t, copied, State{"v1", 4}); !how.Rebuilt || !strings.Contains(how.Reason, "not closed") {
		t.Errorf("%+v", how)
	}
}

func TestAnOpenIndexIsBusy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	opened(t, dir, State{})
	if _, _, err := Open(dir, State{}, all); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
}

func TestAClosedIndexSaysSo(t *testing.T) {
	ix, _ := opened(t, filepath.Join(t.TempDir(), "index"), State{})
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Search(context.Background(), Request{Text: "error"}); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

func TestAFailedReadOfTheRulesIsReported(t *testing.T) {
	broken := errors.New("log unreachable")
	_, _, err := Open(filepath.Join(t.TempDir(), "index"), State{}, func() ([]Document, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func FuzzSearch(f *testing.F) {
	for _, text := range []string{"", "error", `"a b"`, "title:x", "+a -b", "x~2", "a*", "/a.*/", "^", "\xff", "a:b:c", "id:>5", `\`, "(", "*"} {
		for _, kind := range Kinds() {
			f.Add(text, string(kind))
		}
	}
	ix, _ := opened(f, filepath.Join(f.TempDir(), "index"), State{})
	f.Fuzz(func(t *testing.T, text, kind string) {
		if _, err := ix.Search(context.Background(), Request{Text: text, Kind: Kind(kind)}); err != nil && !errors.Is(err, ErrQuery) {
			t.Fatal(err)
		}
	})
}
