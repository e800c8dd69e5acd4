package search

import (
	"fmt"
	"maps"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/bm25"
	"github.com/writbus/writ/test/integration"
)

// textbook computes the documented formula term by term, from the texts.
func textbook(docs []*artifact.Document, query string) map[string]float64 {
	fields := make([][NumFields][]string, len(docs))
	for i, d := range docs {
		fields[i] = [NumFields][]string{
			Title: Words(d.Title), Tags: Words(strings.Join(d.Tags, " ")), Summary: Words(d.Summary), Path: Words(d.Path),
		}
		for _, c := range d.Chunks {
			fields[i][Content] = append(fields[i][Content], Words(c.Text)...)
		}
	}
	average := func(f Field) float64 {
		sum, having := 0.0, 0.0
		for i := range fields {
			if n := len(fields[i][f]); n > 0 {
				sum, having = sum+float64(n), having+1
			}
		}
		return max(sum/max(having, 1), 1)
	}
	count := func(words []string, term string) (n float64) {
		for _, w := range words {
			if w == term {
				n++
			}
		}
		return n
	}
	scores := map[string]float64{}
	terms := Words(query)
	slices.Sort(terms)
	for _, term := range slices.Compact(terms) {
		holding := 0.0
		for i := range fields {
			if slices.ContainsFunc(fields[i][:], func(words []string) bool { return slices.Contains(words, term) }) {
				holding++
			}
		}
		for i, d := range docs {
			var frequency float64
			for f, words := range fields[i] {
				if n := count(words, term); n > 0 {
					frequency += Boosts[f] * n / (1 - bm25.B + bm25.B*float64(len(words))/average(Field(f)))
				}
			}
			if frequency > 0 {
				weight := math.Log(1 + (float64(len(docs))-holding+0.5)/(holding+0.5))
				scores[d.Path] += weight * frequency * (bm25.K1 + 1) / (frequency + bm25.K1)
			}
		}
	}
	return scores
}

func TestScoresAreTextbookBM25(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	docs := randomDocuments(r, 80)
	ix := New(analysed(t, nil, docs...), nil)
	for range 40 {
		query := sentence(r, 8) + " unseen"
		want := textbook(docs, query)
		a := found(t, ix, Query{Text: query, Method: BM25, Limit: 1000, Pool: 1000, PerFile: 1, Explain: true})
		for _, h := range a.Hits {
			if got := h.Why["bm25"]; math.Abs(got-want[h.Document.Path]) > 1e-4 {
				t.Fatalf("%q, %s: %.6f, textbook %.6f", query, h.Document.Path, got, want[h.Document.Path])
			}
			delete(want, h.Document.Path)
		}
		for path := range want {
			if d := docs[slices.IndexFunc(docs, func(d *artifact.Document) bool { return d.Path == path })]; len(d.Chunks) > 0 {
				t.Fatalf("%q did not find %s", query, path)
			}
		}
	}
}

// An index that was changed again and again answers as one that is made at once,
// and is the same when it is compacted.
func TestUpdatesDoNotShow(t *testing.T) {
	integration.Checks(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(rt, "seed")))
		var e Embedder
		if rapid.Bool().Draw(rt, "vectors") {
			e = letterVectors{}
		}
		ix := New(nil, e)
		now := map[string]*Entry{}
		for range rapid.IntRange(1, 8).Draw(rt, "updates") {
			var put []*Entry
			for range r.Intn(12) {
				d := randomDocument(r, r.Intn(20))
				put = append(put, analysed(t, e, d)...)
				now[d.Path] = put[len(put)-1]
			}
			var removed []string
			for _, path := range slices.Sorted(maps.Keys(now)) {
				if r.Intn(5) == 0 && !slices.ContainsFunc(put, func(e *Entry) bool { return e.Path() == path }) {
					removed = append(removed, path)
					delete(now, path)
				}
			}
			ix = ix.Update(put, append(removed, "never/was.go"))
		}
		var entries []*Entry
		for _, entry := range now {
			entries = append(entries, entry)
		}
		fresh := New(entries, e)
		if compact := ix.Compact(); !reflect.DeepEqual(segments(compact), segments(fresh)) {
			rt.Fatalf("compacted: %d documents in %d segments, fresh: %d in %d", compact.Len(), len(compact.views), fresh.Len(), len(fresh.views))
		}
		if joined := New(nil, e).Put(inParts(rt, entries), nil); !reflect.DeepEqual(segments(joined), segments(fresh)) {
			rt.Fatalf("in parts: %d documents in %d segments, fresh: %d in %d", joined.Len(), len(joined.views), fresh.Len(), len(fresh.views))
		}
		if parts := inParts(rt, entries); len(parts) > 2 { // of which some were joined before
			joined := New(nil, e).Put(append([]*Part{Join(parts[1:])}, parts[0]), nil)
			if !reflect.DeepEqual(segments(joined.Compact()), segments(fresh)) {
				rt.Fatalf("joined twice: %d documents in %d segments, fresh: %d in %d", joined.Len(), len(joined.views), fresh.Len(), len(fresh.views))
			}
		}
		ix = ix.Tidied(rapid.IntRange(0, 2).Draw(rt, "segments"))
		for range 4 {
			for _, m := range Methods() {
				if m == Semantic && e == nil {
					continue
				}
				q := Query{Text: sentence(r, 6), Method: m, Limit: 30, Pool: 5, Explain: true, Filter: randomFilter(r)}
				got, want := found(rt, ix, q), found(rt, fresh, q)
				if !reflect.DeepEqual(got, want) {
					rt.Fatalf("%q by %s:\n got %v\nwant %v", q.Text, m, paths(got), paths(want))
				}
			}
		}
	})
}

// inParts indexes entries in parts, mostly of paths that follow one another.
func inParts(rt *rapid.T, entries []*Entry) (parts []*Part) {
	if rapid.IntRange(0, 4).Draw(rt, "in order") > 0 {
		slices.SortFunc(entries, func(a, b *Entry) int { return strings.Compare(a.Path(), b.Path()) })
	}
	for len(entries) > 0 {
		n := rapid.IntRange(1, len(entries)).Draw(rt, "part")
		parts = append(parts, NewPart(entries[:n]))
		entries = entries[n:]
	}
	return parts
}

func segments(ix *Index) (out []*segment) {
	for _, v := range ix.views {
		out = append(out, v.segment)
	}
	return out
}

func randomFilter(r *rand.Rand) (f Filter) {
	if r.Intn(3) == 0 {
		f.Types = artifact.Types()[:1+r.Intn(3)]
	}
	if r.Intn(4) == 0 {
		f.Tags = []string{"Security"}
	}
	if r.Intn(4) == 0 {
		f.Phases = []string{artifact.Elaboration}
	}
	if r.Intn(4) == 0 {
		f.Paths = []string{"docs", "internal/**/*.go"}
	}
	return f
}

func TestFiltersNeverStarveTheCandidates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(rt, "seed")))
		docs := randomDocuments(r, 40)
		ix := New(analysed(t, nil, docs...), nil)
		q := Query{Text: sentence(r, 5), Method: BM25, Filter: randomFilter(r), Pool: 3, Limit: 3, PerFile: 1}
		all := q
		all.Filter, all.Pool, all.Limit = Filter{}, 1000, 1000
		keep, err := q.Filter.compile()
		if err != nil {
			rt.Fatal(err)
		}
		var want []string
		for _, h := range found(rt, ix, all).Hits {
			d := document{Document: *h.Document}
			if len(want) < 3 && (keep == nil || keep(&d)) {
				want = append(want, h.Document.Path)
			}
		}
		if got := paths(found(rt, ix, q)); !slices.Equal(got, want) {
			rt.Fatalf("%q with %+v: got %v, the filter leaves %v", q.Text, q.Filter, got, want)
		}
	})
}

// Adding a word that a document holds never lowers what it is ordered by; its
// chance falls only if another document gained more.
func TestALongerQueryNeverLowersAHit(t *testing.T) {
	integration.Checks(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(rt, "seed")))
		ix := New(analysed(t, nil, randomDocuments(r, 20)...), nil)
		short := vocabulary[r.Intn(len(vocabulary))] + " " + sentence(r, 5)
		for _, m := range []Method{BM25, TwoStage} {
			q := Query{Text: short, Method: m, Limit: 1000, Pool: 1000, PerFile: 1, Explain: true}
			before := found(rt, ix, q)
			for _, h := range before.Hits {
				holds := Words(strings.Join([]string{h.Document.Path, h.Document.Title, h.Document.Summary}, " "))
				if len(holds) == 0 {
					continue
				}
				q.Text = short + " " + holds[r.Intn(len(holds))]
				after := found(rt, ix, q)
				i := slices.IndexFunc(after.Hits, func(o Hit) bool { return o.Document.Path == h.Document.Path })
				if i < 0 {
					rt.Fatalf("%s found %s, %q did not", short, h.Document.Path, q.Text)
				}
				o := after.Hits[i]
				share := func(x Hit, a Answer) float64 { return x.Why["order"] / a.Hits[0].Why["order"] }
				if o.Why["order"] < h.Why["order"]-1e-9 || o.Score < h.Score-1e-9 && share(o, after) >= share(h, before) {
					rt.Fatalf("%s: %q gives %.6f (%.6f), %q gives %.6f (%.6f)", h.Document.Path, short, h.Score, h.Why["order"], q.Text, o.Score, o.Why["order"])
				}
			}
		}
	})
}

// Scores are chances, and a better place never has a lesser one.
func TestScoresFollowTheOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(rt, "seed")))
		ix := New(analysed(t, letterVectors{}, randomDocuments(r, 20)...), letterVectors{})
		for _, m := range Methods() {
			a := found(rt, ix, Query{Text: sentence(r, 6), Method: m, Limit: 50})
			for i, h := range a.Hits {
				if !(h.Score >= 0 && h.Score <= 1) || i > 0 && h.Score > a.Hits[i-1].Score+1e-12 {
					rt.Fatalf("%s: %v of %s comes after %v", m, h.Score, h.Document.Path, a.Hits[max(i-1, 0)].Score)
				}
			}
		}
	})
}

func TestIdentifiersMatchTheirPartsAndOneAnother(t *testing.T) {
	ix := New(analysed(t, nil, file("a.go", "func getUserName() {}"), file("b.py", "def get_user_name(): pass"), file("c.txt", "username")), nil)
	for query, want := range map[string]string{
		"user name":     "a.go b.py",
		"getUserName":   "a.go b.py",
		"get_user_name": "a.go b.py",
		"username":      "c.txt",
		"user":          "a.go b.py",
		"nam":           "",
		"etUserNam":     "a.go b.py", // its middle part is a word of theirs
	} {
		if got := strings.Join(paths(found(t, ix, Query{Text: query, Method: BM25})), " "); got != want {
			t.Errorf("%q found %q, want %q", query, got, want)
		}
	}
}

// What a query asks for by its name is first, however often others speak of it.
func TestAnIdentifierIsFirst(t *testing.T) {
	of := func(path, text string, symbols ...string) *artifact.Document {
		d := file(path, text)
		d.Chunks[0].Symbols = symbols
		return d
	}
	docs := []*artifact.Document{
		of("store/buffers.go", "type RingBuffer struct", "RingBuffer"),
		of("smtp-connection/index.js", "module.exports = make()"),
		of("src/t.go", "type T struct", "T"),
		of("src/save.el", "(defun save-all ())", "save-all"),
		of("h2/ping.rs", "keeps a connection alive with a ping at times, as http2 has it", "Ponger"),
		of("client/http2.rs", "handshake"),
		of("rt/mod.rs", "pub trait Executor", "Executor"),
		of("rt/tasks.rs", "an executor, an executor trait, and what the trait of an executor executes"),
		of("path/ScenePathExtension.swift", "extension ScenePath: of a ScenePath, a ScenePath", "ScenePath"),
		of("path/ScenePath.swift", "struct ScenePath", "ScenePath"),
		of("lib/status.rb", "process_set process_set.each, the processes of a set, a process set", "process_set"),
		of("lib/api.rb", "class ProcessSet", "ProcessSet"),
		of("lib/create-logger.js", "module.exports = make()"),
		of("lib/use.js", "createLogger createLogger createLogger, a logger that is created, create a logger"),
		of("sql/namespace.hxx", "namespace Sqlite", "Sqlite"),
		of("sticker/values.cxx", "attach values to songs in SQLite: attach a value to a song, of values that songs have"),
		of("http/Method.java", "enum HTTP", "HTTP"),
		of("http/Interface.java", "turn the method of an interface into a request, as an interface has methods: HTTP requests"),
	}
	for i := range 9 {
		docs = append(docs, file(fmt.Sprintf("ring/buffer_%d.go", i), "the ring buffer RingBuffer RingBuffer of a ring buffer, saves all, save-all smtp connection SMTPConnection"))
	}
	ix := New(analysed(t, letterVectors{}, docs...), letterVectors{})
	for query, want := range map[string]string{
		"RingBuffer":                        "store/buffers.go",
		"ring_buffer":                       "store/buffers.go",
		"why is RingBuffer so slow to grow": "store/buffers.go",
		"SMTPConnection":                    "smtp-connection/index.js",
		"T":                                 "src/t.go",
		"save-all":                          "src/save.el",
		"keep alive ping of http2":          "h2/ping.rs",
		"trait Executor":                    "rt/mod.rs",
		"ScenePath":                         "path/ScenePath.swift",
		"ProcessSet":                        "lib/api.rb",
		"process_set":                       "lib/status.rb",
		"createLogger":                      "lib/create-logger.js",
		"attach values to songs in SQLite":  "sticker/values.cxx",
		"an interface method into an HTTP request": "http/Interface.java",
	} {
		if got := paths(found(t, ix, Query{Text: query, PerFile: 1})); len(got) == 0 || got[0] != want {
			t.Errorf("%q found %v, want %s first", query, got, want)
		}
	}
}

// A verb asks for no kind of file, though a kind is named after it.
func TestAWordAsksForAKindInTheFormThatNamesIt(t *testing.T) {
	for query, want := range map[string]kind{
		"tests of the parser": kindTest, "TestParse": kindTest, "the changelog": kindChanges, "the vendored copy": kindCompat,
		"what has not changed": 0, "generate the header of a new document": 0, "delete old entries": 0, "the content type": 0,
	} {
		if got := asksFor((&Index{}).resolve(query).written); got != want {
			t.Errorf("%q asks for %b, want %b", query, got, want)
		}
	}
	for path, want := range map[string]kind{
		"src/Queue.hxx": kindSurface, "lib/parser.mli": kindSurface, "app/vendored/units/registry.py": kindCompat,
		"etc/server.conf.example": kindExample, "pkg/rust.spec": 0, "src/Queue.cxx": 0,
	} {
		if got := kindsOf(file(path, "of songs")); got != want {
			t.Errorf("%s is %b, want %b", path, got, want)
		}
	}
}

// A file that names what its folder holds is short.
func TestALongFileIsNoSurface(t *testing.T) {
	for last, want := range map[int]kind{shortSurface: kindSurface, shortSurface + 1: 0} {
		d := file("settings/__init__.py", "class Settings")
		d.Chunks[0].Lines[1] = last
		if got := kindsOf(d) & kindSurface; got != want {
			t.Errorf("of %d lines: %b, want %b", last, got, want)
		}
	}
}

// A share is of the best file's sum; where nothing answers there is nothing.
func TestAShareIsOfTheBest(t *testing.T) {
	docs := []*artifact.Document{file("retry.go", "retry the payment after a timeout"), file("pay.go", "a payment"), file("other.go", "timeout of a mutex")}
	for i := range 20 {
		docs = append(docs, file(fmt.Sprintf("x%d.go", i), "token error context"))
	}
	ix := New(analysed(t, nil, docs...), nil)
	all := found(t, ix, Query{Text: "retry payment timeout", Explain: true, PerFile: 1})
	if len(all.Hits) != 3 || all.Sure < LeastSure {
		t.Fatalf("%v, sure %.2f", paths(all), all.Sure)
	}
	for _, share := range []float64{0.01, 0.3, 0.9, 1} {
		want := 0
		for _, h := range all.Hits {
			if h.Why["order"] >= share*all.Hits[0].Why["order"] {
				want++
			}
		}
		if got := found(t, ix, Query{Text: "retry payment timeout", MinShare: share, PerFile: 1}); len(got.Hits) != want {
			t.Errorf("share %v: %v, want %d", share, paths(got), want)
		}
	}
	nothing := Query{Text: "kubernetes ingress annotations for the error page of nginx certificates", MinShare: 0.01}
	if a := found(t, ix, nothing); len(a.Hits) != 0 {
		t.Errorf("found %v, sure %.2f", paths(a), a.Sure)
	}
}

// A Rust file has its tests at its end, which say more often what it does than the code.
func TestCodeIsShownRatherThanTheTestsBesideIt(t *testing.T) {
	d := &artifact.Document{Path: "src/partial.rs", Type: artifact.Code, Chunks: []artifact.Chunk{
		{Lines: [2]int{1, 9}, Text: "expand the partial with its block and indent what follows, line by line", Symbols: []string{"expand"}},
		{Lines: [2]int{10, 19}, Text: "partial block indent partial", Symbols: []string{"test_partial_indent"}},
	}}
	ix := New(analysed(t, nil, d, file("other.rs", "something else")), nil)
	for query, want := range map[string]int{"partial block indent": 0, "test of partial block indent": 1} {
		if got := found(t, ix, Query{Text: query}); len(got.Hits) == 0 || got.Hits[0].Chunk != want {
			t.Errorf("%q shows %+v, want chunk %d first", query, got.Hits, want)
		}
	}
}

// What tests read is in a folder of tests and tests nothing.
func TestWhatTestsReadStandsForNoTest(t *testing.T) {
	data, test := file("tests/data/orders.xml", "retry payment orders"), file("tests/orders_test.py", "retry orders")
	data.Type, test.Type, data.Language = artifact.Test, artifact.Test, "xml"
	docs := []*artifact.Document{file("orders/retry.py", "retry payment of orders after a timeout"), data, test}
	for i := range 20 {
		docs = append(docs, file(fmt.Sprintf("x%d.py", i), "token error context"))
	}
	ix := New(analysed(t, nil, docs...), nil)
	q := Query{Text: "retry payment orders timeout", MinShare: 0.7, Filter: Filter{Types: []artifact.Type{artifact.Code, artifact.Test}}}
	if got := paths(found(t, ix, q)); !slices.Equal(got, []string{"orders/retry.py", "tests/orders_test.py"}) {
		t.Errorf("found %v", got)
	}
}

// Of files with the same bytes the best placed one stands for all, whichever method.
func TestCopiesAreFoundOnce(t *testing.T) {
	source, built, other := file("src/retry.js", "retry the payment"), file("dist/retry.js", "retry the payment"), file("src/pay.js", "a payment")
	source.Hash, built.Hash = "aa", "aa"
	ix := New(analysed(t, letterVectors{}, source, built, other), letterVectors{})
	for _, m := range Methods() {
		a := found(t, ix, Query{Text: "retry the payment", Method: m})
		if len(a.Hits) != 2 || len(a.Hits[0].Copies)+len(a.Hits[1].Copies) != 1 {
			t.Errorf("%s found %v, want two files of which one has a copy", m, paths(a))
		}
	}
	if first := found(t, ix, Query{Text: "retry the payment"}).Hits[0]; first.Document.Path != "src/retry.js" || first.Copies[0] != "dist/retry.js" {
		t.Errorf("%s stands for %v, want the source for what was built of it", first.Document.Path, first.Copies)
	}
}

// A document without tags passes where the filter says so.
func TestUntaggedDocumentsPassWhereTheyMay(t *testing.T) {
	tagged, other := file("a.go", "retry"), file("b.go", "retry")
	tagged.Tags, other.Tags = []string{"security"}, []string{"billing"}
	ix := New(analysed(t, nil, tagged, other, file("c.go", "retry")), nil)
	for untagged, want := range map[bool]string{false: "a.go", true: "a.go c.go"} {
		got := paths(found(t, ix, Query{Text: "retry", Filter: Filter{Tags: []string{"security"}, Untagged: untagged}}))
		if strings.Join(got, " ") != want {
			t.Errorf("untagged %v: %v", untagged, got)
		}
	}
}

func TestEmptyIndexAndEmptyQuery(t *testing.T) {
	for _, ix := range []*Index{New(nil, nil), New(analysed(t, nil, &artifact.Document{Path: "empty.go"}), nil)} {
		for _, q := range []string{"", "anything", "?! \xff"} {
			if a := found(t, ix, Query{Text: q}); len(a.Hits) != 0 {
				t.Errorf("%q found %v", q, paths(a))
			}
		}
	}
}

func FuzzSearch(f *testing.F) {
	ix := New(analysed(f, letterVectors{}, randomDocuments(rand.New(rand.NewSource(1)), 30)...), letterVectors{})
	for _, seed := range []string{"retry timeout", "compaction picker", "\xff\x00 ok", strings.Repeat("lock cache ", 60), "索引", "\x01mutex", "\x02mutex"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		for _, m := range Methods() {
			a, err := ix.Search(Query{Text: text, Method: m, Limit: limit % 50})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range a.Hits {
				if !(h.Score >= 0 && h.Score <= 1) {
					t.Fatalf("%q: %s scores %v", text, h.Document.Path, h.Score)
				}
			}
		}
	})
}
