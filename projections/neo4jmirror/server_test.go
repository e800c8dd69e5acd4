package neo4jmirror

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/writbus/writ/schemas"
)

// A Neo4j for these tests: test/ci/neo4j.sh starts one and sets the variables.
// What is in its database is deleted.
const (
	serverURL      = "WRIT_TEST_NEO4J"
	serverUser     = "WRIT_TEST_NEO4J_USER" // neo4j where unset
	serverPassword = "WRIT_TEST_NEO4J_PASSWORD"
)

func serverTarget() (Target, bool) {
	url := os.Getenv(serverURL)
	t := Target{URL: url, User: cmp.Or(os.Getenv(serverUser), "neo4j"), Password: os.Getenv(serverPassword)}
	if t.Password == "" {
		t.User = ""
	}
	return t, url != ""
}

// server connects to the real server and empties its database.
func server(t testing.TB) *Mirror {
	t.Helper()
	target, set := serverTarget()
	if !set {
		t.Skip(serverURL + " is not set: it names the Bolt address of a Neo4j whose data may be deleted. test/ci/neo4j.sh starts one.")
	}
	m := open(t, target)
	for {
		n := one(t, m, "MATCH (n) WITH n LIMIT 10000 DETACH DELETE n RETURN count(n)")
		if n == int64(0) {
			return m
		}
	}
}

func open(t testing.TB, target Target) *Mirror {
	t.Helper()
	m, err := Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// one runs a query outside the mirror's ways and returns its first value.
func one(t testing.TB, m *Mirror, query string) any {
	t.Helper()
	s := m.session(t.Context(), neo4j.AccessModeWrite)
	defer func() { _ = s.Close(t.Context()) }()
	result, err := s.Run(t.Context(), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	records, err := result.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(records) == 0 || len(records[0].Values) == 0 {
		return nil
	}
	return records[0].Values[0]
}

// lines describes everything in the database, or in a graph, one line a thing.
type lines []string

func (l lines) sorted() lines { slices.Sort(l); return l }

func held(t testing.TB, m *Mirror) lines {
	t.Helper()
	var all lines
	records, err := m.read(t.Context(), "MATCH (n) WHERE NOT n:"+checkpointLabel+" RETURN n", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		n := r.Values[0].(neo4j.Node)
		slices.Sort(n.Labels)
		all = append(all, nodeLine(n.Labels, n.Props))
	}
	records, err = m.read(t.Context(), "MATCH (a)-[r]->(b) RETURN a.id, type(r), b.id, r."+markKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		all = append(all, fmt.Sprintf("(%v)-[%v]->(%v) %v", r.Values...))
	}
	return all.sorted()
}

func nodeLine(labels []string, props map[string]any) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(props)) {
		if !strings.HasPrefix(key, "writ_") && props[key] != nil {
			parts = append(parts, fmt.Sprintf("%s=%v", key, props[key]))
		}
	}
	return fmt.Sprintf("%v %s", labels, strings.Join(parts, " "))
}

func expected(t testing.TB, nodes []schemas.Rule) lines {
	t.Helper()
	var all lines
	there := map[string]bool{}
	for _, n := range nodes {
		there[n.ID] = true
	}
	for _, n := range nodes {
		props, err := propertiesOf(n)
		if err != nil {
			t.Fatal(err)
		}
		labels := []string{nodeLabel, string(n.NodeType())}
		slices.Sort(labels)
		all = append(all, nodeLine(labels, props))
		for _, e := range edgesOf(n) {
			if there[e.to] {
				all = append(all, fmt.Sprintf("(%v)-[%v]->(%v) true", e.from, e.kind, e.to))
			}
		}
	}
	return all.sorted()
}

// mirrors requires that the database holds this graph, all of it, nothing
// twice, and nothing else.
func mirrors(t testing.TB, m *Mirror, nodes []schemas.Rule) {
	t.Helper()
	got, want := held(t, m), expected(t, nodes)
	if slices.Equal(got, want) {
		return
	}
	count := map[string]int{}
	for _, l := range want {
		count[l]++
	}
	for _, l := range got {
		count[l]--
	}
	shown := 0
	for _, l := range slices.Sorted(maps.Keys(count)) {
		if count[l] != 0 && shown < 10 {
			t.Errorf("%+d: %.300s", -count[l], l)
			shown++
		}
	}
	t.Fatalf("the database holds %d things, the graph has %d", len(got), len(want))
}
