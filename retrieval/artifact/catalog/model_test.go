package catalog

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

// The model test lets random things happen to the files of a project, has some
// or all of them looked at, and checks every decision against a notebook that
// knows nothing of State: it has each file as it was when it was looked at last.
func TestModel(t *testing.T) {
	driven := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{t: rt, driven: driven, disk: map[string]schemas.ArtifactIndexed{}, seen: map[string]schemas.ArtifactIndexed{}}
		for range 40 {
			m.step()
		}
		m.replay()
	})
	t.Logf("%v", driven)
	for _, did := range []string{"added", "changed", "touched", "renamed", "removed", "unchanged", "built", "nothing"} {
		if driven["looks"] >= 2_000 && driven[did] < driven["looks"]/100 {
			t.Errorf("only %d of %s: the model explores too little", driven[did], did)
		}
	}
}

var modelPaths = []string{"a.md", "b.go", "x/a.md", "x/b.md", "x/y/c.md", "z.txt"}

type model struct {
	t      *rapid.T
	driven map[string]int
	clock  int

	disk  map[string]schemas.ArtifactIndexed
	globs []string

	seen  map[string]schemas.ArtifactIndexed // the notebook
	begun bool                               // by looks at some files since the last at all

	state State
	log   []schemas.Message
}

func (m *model) intn(n int) int { return rapid.IntRange(0, n-1).Draw(m.t, "n") }

func (m *model) path() string { return modelPaths[m.intn(len(modelPaths))] }

func (m *model) now() time.Time {
	m.clock++
	return time.Unix(int64(m.clock), 0).UTC()
}

func (m *model) step() {
	switch path := m.path(); m.intn(8) {
	case 0, 1:
		text := m.intn(3)
		m.disk[path] = schemas.ArtifactIndexed{
			File: schemas.FileState{Path: path, SHA256: fmt.Sprint("hash of ", text), Bytes: int64(text)}, Kind: "code", Modified: m.now(),
		}
	case 2:
		delete(m.disk, path)
	case 3:
		if f, there := m.disk[path]; there {
			delete(m.disk, path)
			f.File.Path = m.path()
			m.disk[f.File.Path] = f
		}
	case 4:
		if f, there := m.disk[path]; there {
			if m.intn(3) > 0 {
				f.Modified = m.now()
			} else {
				f.Kind = []string{"code", "test"}[m.intn(2)]
			}
			m.disk[path] = f
		}
	case 5:
		m.globs = [][]string{nil, {"**"}, {"**/*.md"}}[m.intn(3)]
	case 6:
		m.look(rapid.SliceOfNDistinct(rapid.SampledFrom(modelPaths), 0, 3, rapid.ID).Draw(m.t, "looked at"), nil)
	default:
		m.look(modelPaths, &schemas.IndexBuilt{Globs: m.globs, Left: map[string]int{"hidden": 1}})
	}
}

func (m *model) look(at []string, whole *schemas.IndexBuilt) {
	l := Look{Whole: whole, Begun: m.begun}
	for _, path := range rapid.Permutation(at).Draw(m.t, "order") {
		if f, there := m.disk[path]; there {
			l.Found = append(l.Found, f)
			m.seen[path] = f
		} else {
			l.Gone = append(l.Gone, path)
			delete(m.seen, path)
		}
	}
	before := State{Files: maps.Clone(m.state.Files), Bytes: m.state.Bytes, Globs: m.state.Globs, Built: m.state.Built}
	d := Decide(m.state, l)
	m.counted(l, d)
	m.events(before, d, whole)
	for _, p := range d.Record {
		m.fold(p)
	}
	m.begun = whole == nil && (m.begun || len(d.Record) > 0)
	m.same("found", m.seen, m.state.Files)              // invariants 1 and 4
	if want := bytesOf(m.seen); m.state.Bytes != want { // invariant 2
		m.t.Fatalf("%d bytes, want %d", m.state.Bytes, want)
	}
	if whole != nil && (!m.state.Built || !slices.Equal(m.state.Globs, m.globs)) {
		m.t.Fatalf("a build has ended and the state says %t, %q", m.state.Built, m.state.Globs)
	}
	l.Begun = m.begun
	if again := Decide(m.state, l); len(again.Record) > 0 { // invariant 5
		m.t.Fatalf("looked at again: %+v", again.Record)
	}
	shuffled := before
	last := len(d.Record)
	if whole != nil && last > 0 {
		last--
	}
	for _, p := range append(rapid.Permutation(d.Record[:last:last]).Draw(m.t, "events"), d.Record[last:]...) {
		shuffled = Evolve(shuffled, p)
	}
	m.same("in another order", m.state, shuffled) // invariant 6
}

// events checks each event of a decision by itself: invariants 6 and 7.
func (m *model) events(before State, d Decision, whole *schemas.IndexBuilt) {
	met := map[string]bool{}
	meet := func(path string) {
		if path == "" || met[path] {
			m.t.Fatalf("%q is in two events of %+v", path, d.Record)
		}
		met[path] = true
	}
	for i, p := range d.Record {
		switch p := p.(type) {
		case schemas.ArtifactIndexed:
			meet(p.File.Path)
			if p.From == "" {
				continue
			}
			meet(p.From)
			if was := before.Files[p.From]; was.File.SHA256 != p.File.SHA256 || m.disk[p.From].File.Path != "" {
				m.t.Fatalf("%+v was renamed from %+v", p, was)
			}
		case schemas.ArtifactRemoved:
			meet(p.Path)
		case schemas.IndexBuilt:
			m.driven["built"]++
			if i != len(d.Record)-1 || whole == nil || p.Documents != len(m.seen) || p.Bytes != bytesOf(m.seen) || p.Left["hidden"] != 1 {
				m.t.Fatalf("event %d of %+v ends a build of %d files", i, d.Record, len(m.seen))
			}
		}
	}
	if ends := len(d.Record) > 0 && d.Record[len(d.Record)-1].EventType() == (schemas.IndexBuilt{}).EventType(); whole != nil && (len(d.Record) > 0 || m.begun) && !ends {
		m.t.Fatalf("a build does not end with what it covers: %+v", d.Record)
	}
}

func bytesOf(files map[string]schemas.ArtifactIndexed) (n int64) {
	for _, f := range files {
		n += f.File.Bytes
	}
	return n
}

func (m *model) counted(l Look, d Decision) {
	c := d.Counts
	m.driven["looks"]++
	for did, n := range map[string]int{"added": c.Added, "changed": c.Changed, "touched": c.Touched, "renamed": c.Renamed, "removed": c.Removed, "unchanged": c.Unchanged} {
		m.driven[did] += n
	}
	if len(d.Record) == 0 {
		m.driven["nothing"]++
	}
	changes := c.Added + c.Changed + c.Touched + c.Renamed
	files := len(d.Record)
	if files > 0 && d.Record[files-1].EventType() == (schemas.IndexBuilt{}).EventType() {
		files--
	}
	if changes+c.Unchanged != len(l.Found) || changes+c.Removed != files {
		m.t.Fatalf("%+v of %d files, %d events", c, len(l.Found), files)
	}
}

// fold folds an event as the log gives it back.
func (m *model) fold(p schemas.Payload) {
	message, err := schemas.Encode(schemas.Event{ID: fmt.Sprint("event-", len(m.log)), Source: "/writ/test", Aggregate: schemas.Artifact("/p"), Time: time.Unix(1, 0), Data: p})
	if err != nil {
		m.t.Fatal(err)
	}
	m.log = append(m.log, message)
	m.state = m.evolved(m.state, message)
}

func (m *model) evolved(s State, message schemas.Message) State {
	events, err := schemas.Decode(message)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range events {
		s = Evolve(s, e.Data)
	}
	return s
}

func (m *model) replay() {
	var s State
	for _, message := range m.log {
		s = m.evolved(s, message)
	}
	m.same("replayed", m.state, s)
}

func (m *model) same(what string, want, got any) {
	if w, g := fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got); w != g && !cmp.Equal(want, got) {
		m.t.Fatalf("%s: %s", what, cmp.Diff(want, got))
	}
}

func TestEvolve(t *testing.T) {
	at := func(path, hash string, bytes int64) schemas.ArtifactIndexed {
		return schemas.ArtifactIndexed{File: schemas.FileState{Path: path, SHA256: hash, Bytes: bytes}}
	}
	from := func(f schemas.ArtifactIndexed, path string) schemas.ArtifactIndexed {
		f.From = path
		return f
	}
	var s State
	for _, p := range []schemas.Payload{
		at("a", "1", 10), at("b", "2", 20), at("a", "3", 30),
		schemas.IndexBuilt{Globs: []string{"**"}, Documents: 2},
		from(at("c", "2", 20), "b"), from(at("a", "3", 30), "a"), from(at("d", "4", 5), "none"),
		schemas.ArtifactRemoved{Path: "d"},
		schemas.ArtifactRemoved{Path: "none"},
		schemas.ArtifactShown{Session: "s", Shown: []schemas.ArtifactHit{{Path: "a"}}},
	} {
		s = Evolve(s, p)
	}
	want := State{Files: map[string]schemas.ArtifactIndexed{"a": at("a", "3", 30), "c": at("c", "2", 20)}, Bytes: 50, Globs: []string{"**"}, Built: true}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}
