package graph

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/writbus/writ/projections/neo4jmirror"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

func graphOf(edges ...string) []schemas.Rule {
	byID := map[string]*schemas.Rule{}
	var order []string
	node := func(id string) *schemas.Rule {
		if byID[id] == nil {
			byID[id] = &schemas.Rule{ID: id}
			order = append(order, id)
		}
		return byID[id]
	}
	for _, e := range edges {
		from, to, _ := strings.Cut(e, ">")
		source := node(from)
		if to != "" {
			source.Edges = append(source.Edges, schemas.Edge{Type: "RELATED_TO", Target: to})
		}
	}
	nodes := make([]schemas.Rule, len(order))
	for i, id := range order {
		nodes[i] = *byID[id]
	}
	return nodes
}

func TestNeighbourhood(t *testing.T) {
	nodes := graphOf("A>B", "B>C", "C>D", "D", "E>A", "E>E", "E>E", "F>E", "C>gone", "X>Y", "Y")
	for depth, want := range map[int]string{
		1: "A0 B1 E1 | A>B E>A E>E",
		2: "A0 B1 E1 C2 F2 | A>B B>C E>A E>E F>E",
		3: "A0 B1 E1 C2 F2 D3 gone3? | A>B B>C C>D C>gone E>A E>E F>E",
		9: "A0 B1 E1 C2 F2 D3 gone3? | A>B B>C C>D C>gone E>A E>E F>E",
	} {
		view, found := neighbourhood(nodes, "A", depth)
		var words []string
		for _, n := range view.Nodes {
			mark := ""
			if n.Missing {
				mark = "?"
			}
			words = append(words, fmt.Sprintf("%s%d%s", n.ID, n.Distance, mark))
		}
		words = append(words, "|")
		for _, e := range view.Edges {
			words = append(words, e.From+">"+e.To)
		}
		if got := strings.Join(words, " "); got != want || !found || view.Truncated {
			t.Errorf("depth %d: %s (truncated %v), want %s", depth, got, view.Truncated, want)
		}
	}
	if _, found := neighbourhood(nodes, "gone", 1); found {
		t.Error("a node that is only the target of an edge was found")
	}
}

func TestALargeNeighbourhoodIsCut(t *testing.T) {
	var edges []string
	for i := range shownNodes + 10 {
		edges = append(edges, fmt.Sprintf("HUB>N%04d", i), fmt.Sprintf("N%04d", i))
	}
	view, _ := neighbourhood(graphOf(edges...), "HUB", 1)
	if len(view.Nodes) != shownNodes || len(view.Edges) != shownNodes-1 || !view.Truncated {
		t.Errorf("%d nodes, %d edges, truncated %v", len(view.Nodes), len(view.Edges), view.Truncated)
	}
}

func TestEveryTroubleWithAServerHasAWayOut(t *testing.T) {
	for _, f := range faults {
		cause := errors.New("cause")
		err := faultOf(fmt.Errorf("wrapped: %w", &neo4jmirror.Error{Kind: f.kind, Where: "bolt://h:1", Detail: "why", Err: cause}))
		var told schemas.Fault
		if !errors.As(err, &told) || told.Code() != f.code || !strings.Contains(told.Error(), "(bolt://h:1): why.") || !strings.Contains(told.Error(), f.what) {
			t.Errorf("%v became %v", f.kind, err)
		}
		if strings.Contains(told.Error(), "neo4jmirror") {
			t.Errorf("a person reads the package's name: %s", told.Error())
		}
	}
	other := errors.New("other")
	if err := faultOf(other); !errors.Is(err, other) {
		t.Errorf("got %v", err)
	}
	if err := faultOf(nil); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestTheDaemonsPasswordIsForItsOwnServer(t *testing.T) {
	s := New(Options{Server: Server{URL: "bolt://mine", User: "me", Database: "db", Password: "own"}})
	for _, c := range []struct {
		ask  schemas.GraphTarget
		want neo4jmirror.Target
	}{
		{schemas.GraphTarget{}, neo4jmirror.Target{URL: "bolt://mine", User: "me", Password: "own", Database: "db"}},
		{schemas.GraphTarget{URL: "bolt://mine"}, neo4jmirror.Target{URL: "bolt://mine", User: "me", Password: "own", Database: "db"}},
		{schemas.GraphTarget{URL: "bolt://other"}, neo4jmirror.Target{URL: "bolt://other", Database: "db"}},
		{schemas.GraphTarget{URL: "bolt://other", Password: "p", Database: "x"}, neo4jmirror.Target{URL: "bolt://other", User: "me", Password: "p", Database: "x"}},
	} {
		if got := s.target(c.ask); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.ask, got, c.want)
		}
	}
}

func loadFiles(files []schemas.RuleFile) ([]corpus.File, []corpus.Problem) {
	folder := fstest.MapFS{}
	for _, f := range files {
		folder[f.Path] = &fstest.MapFile{Data: []byte(f.Content)}
	}
	return corpus.LoadAny(folder, func(string) (schemas.NodeType, bool) { return "", false })
}

// What is pulled goes through files: no id may lead to a file that the import
// passes over, and every shipped node must come out of its file as it was.
func TestNodesAsFiles(t *testing.T) {
	for _, id := range []string{"README", ".hidden", "../up", "a/b", "", "A-B-001"} {
		file := nodeFile(schemas.Rule{ID: id, Severity: "low", Trigger: "t", Statement: "s"})
		_, err := corpus.Parse(file.Path, []byte(file.Content))
		files, problems := loadFiles([]schemas.RuleFile{file})
		if len(files)+len(problems) == 0 {
			t.Errorf("%q vanished as %s: %v", id, file.Path, err)
		}
	}
	shipped, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var files []schemas.RuleFile
	for _, f := range shipped {
		files = append(files, nodeFile(f.Rule))
	}
	loaded, problems := loadFiles(files)
	if len(problems) > 0 || len(loaded) != len(shipped) {
		t.Fatalf("%d of %d, %v", len(loaded), len(shipped), problems)
	}
	for i := range loaded {
		if !reflect.DeepEqual(loaded[i].Rule, shipped[i].Rule) {
			t.Errorf("%s: %+v, want %+v", shipped[i].Rule.ID, loaded[i].Rule, shipped[i].Rule)
		}
	}
}
