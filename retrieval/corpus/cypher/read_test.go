package cypher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// describeGraph writes a graph so that a test can compare it.
func describeGraph(g Graph) []string {
	var out []string
	name := map[*Node]string{}
	for i, n := range g.Nodes {
		name[n] = fmt.Sprintf("#%d", i)
		out = append(out, fmt.Sprintf("%d: node %s %v", n.Line, strings.Join(n.Labels, "+"), n.Properties))
	}
	for _, r := range g.Relationships {
		to := name[r.To]
		if r.To == nil {
			to = fmt.Sprint(r.Target)
		}
		out = append(out, fmt.Sprintf("%d: %s %s %s", r.Line, name[r.From], r.Type, to))
	}
	for _, s := range g.Skipped {
		out = append(out, fmt.Sprintf("%d: skipped %s", s.Line, s.Reason))
	}
	return out
}

func TestRead(t *testing.T) {
	cases := []struct {
		name, src string
		want      []string
	}{
		{"empty", " \n;; // nothing\n/* at\nall */", nil},
		{"values", "CREATE (:Rule {rule_id: 'A', n: -3, f: 1.5e-2, h: 0x1f, yes: TRUE, no: false, none: null,\n list: ['a', \"b\"], map: {k: 1}, `odd name`: date('2026-01-31')});", []string{
			"1: node Rule map[f:0.015 h:31 list:[a b] map:map[k:1] n:-3 no:false odd name:2026-01-31 rule_id:A yes:true]",
		}},
		{"escapes", `CREATE (:R {id: "a\"b\\c\n\t\u00e9\uD83D\uDE00\U0001F600", x: 'it\'s'})`, []string{"1: node R map[id:a\"b\\c\n\té😀😀 x:it's]"}},
		{"a string over lines", "CREATE (:R {id: 'a\n;b'});\nCREATE (:S {id: 'c'})", []string{"1: node R map[id:a\n;b]", "3: node S map[id:c]"}},
		{"chains", "CREATE (a:R {id: 1})-[:X]->(b:R {id: 2})<-[r:Y {w: 1}]-(c:S), (a)-[:Z]->(c)", []string{
			"1: node R map[id:1]", "1: node R map[id:2]", "1: node S map[]", "1: #0 X #1", "1: #2 Y #1", "1: #0 Z #2",
		}},
		{"merge finds", "MERGE (n:R {rule_id: 'A'}) SET n.domain = 'go', n:Extra;\nMERGE (m:R {rule_id: 'A'}) ON CREATE SET m.x = 1 ON MATCH SET m += {y: 2};\nMERGE (o:R {rule_id: 'A'}) SET o = {z: 3}", []string{
			"1: node R+Extra map[z:3]",
		}},
		{"match", "CREATE (:R {rule_id: 'A'}); CREATE (:R {rule_id: 'B'});\nMATCH (a {rule_id: 'A'}), (b:R {rule_id: 'B'}) CREATE (a)-[:DEPENDS_ON]->(b);\nMATCH (a {rule_id: 'A'})\nMATCH (b {rule_id: 'C'}) MERGE (b)<-[r:T]-(a) SET r.w = 2;", []string{
			"1: node R map[rule_id:A]", "1: node R map[rule_id:B]", "2: #0 DEPENDS_ON #1", "4: #0 T map[rule_id:C]",
		}},
		{"rows", ":begin\nUNWIND [{_id: 0, properties: {rule_id: 'A', t: 'x'}}, {_id: 1, properties: {rule_id: 'B'}}] AS row\nCREATE (n:Rule:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row._id}) SET n += row.properties;\n:commit\n" +
			"UNWIND [{start: {_id: 0}, end: {_id: 1}, properties: {}}] AS row\nMATCH (start:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row.start._id})\nMATCH (end:`UNIQUE IMPORT LABEL`{`UNIQUE IMPORT ID`: row.end['_id']})\nCREATE (start)-[r:PRECEDES]->(end) SET r += row.properties;", []string{
			"3: node Rule map[rule_id:A t:x]", "3: node Rule map[rule_id:B]", "8: #0 PRECEDES #1",
		}},
		{"besides", "CREATE CONSTRAINT FOR (n:R) REQUIRE n.id IS UNIQUE;\nDROP INDEX x;\nCALL db.awaitIndexes(300);", []string{
			"1: skipped CREATE CONSTRAINT FOR is not needed: passed over", "2: skipped DROP INDEX X is not needed: passed over", "3: skipped CALL DB is not needed: passed over",
		}},
		{"not understood", "MATCH (n) WHERE n.id = 1\nDELETE n;\nCREATE (:R {id: 1} ;\nCREATE (:R {id: f(1)});\nCREATE (:R {id: $p});\nCREATE (:S {id: 2});", []string{
			"6: node S map[id:2]",
			"1: skipped statement not understood: \"WHERE\" is not read from a dump",
			"3: skipped statement not understood: a node ends with ), found nothing",
			"4: skipped statement not understood: the function f is unknown here",
			"5: skipped statement not understood: a value is missing",
		}},
		{"not carried out", "MATCH (a {name: 'x'}) SET a.y = 1;\nMATCH (a {id: 1}), (b {id: 2}) CREATE (a)-[:X]->(b);\nCREATE (:R {id: row.id});\nSET q.x = 1;\nUNWIND 3 AS r CREATE (:R);", []string{
			"1: skipped statement not carried out: a node is found by a property whose name ends in id",
			"2: skipped statement not carried out: relationship X starts from a node that is not in the script",
			"3: skipped statement not carried out: row.id has no literal value here",
			"4: skipped statement not carried out: SET of q, which no pattern names",
			"5: skipped UNWIND takes a list of literal rows",
		}},
		{"no end", "CREATE (:R {id: 1});\nCREATE (:R {id: 'open});\n", []string{
			"1: node R map[id:1]", "2: skipped this string has no end: the rest of the script is not read",
		}},
		{"deep", "CREATE (:R {id: " + strings.Repeat("[", 100_000) + "})", []string{"1: skipped statement not understood: values nest deeper than 64 levels"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, describeGraph(Read(c.src))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadTellsOfALostRest: what an import refuses as a whole.
func TestReadTellsOfALostRest(t *testing.T) {
	for src, want := range map[string]bool{"CREATE (:R {id: \"a": true, "/* a": true, "CREATE (`a": true, `CREATE (:R {id: "\q"})`: true, "WITH 1": false} {
		if s := Read(src).Skipped; len(s) != 1 || s[0].Broken != want {
			t.Errorf("%s: %v", src, s)
		}
	}
}

// TestReadBoundsRepetition: alike nodes and long work per row take no time.
func TestReadBoundsRepetition(t *testing.T) {
	var alike strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&alike, "MERGE (:R {id: 1, x: %d});\n", i)
	}
	if g := Read(alike.String()); len(g.Nodes) != maxAlike+1 {
		t.Errorf("%d nodes with one id", len(g.Nodes))
	}
	rows := "UNWIND [" + strings.Repeat("1,", 20_000) + "1] AS r CREATE (:R)" + strings.Repeat(",(:R)", 20_000)
	if g := Read(rows); len(g.Nodes) != 0 || len(g.Skipped) != 1 {
		t.Errorf("%d nodes, skipped %v", len(g.Nodes), g.Skipped)
	}
}

func FuzzRead(f *testing.F) {
	samples, err := filepath.Glob("testdata/*.cypher")
	if err != nil || len(samples) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, name := range samples {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	for _, s := range []string{
		"", "CREATE (:R {id: 0x, n: 1e+, m: 1..2, k: --1})", "UNWIND [{a: 1}] AS r CREATE (n:R {id: r.a}) SET n += r;",
		"MATCH (a {id: 1})-[:X]->(b)", "CREATE (a)-->(b)", ":param x => 1\nCREATE (:R)", "CREATE (:`a``b` {`c`: \"\\uD83D\\u0041\"})",
		"MERGE (a:R {id: [1]}) SET a:B:C, a.x = {y: [null]}", "/* */ // \n;",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		g := Read(src)
		lines := strings.Count(src, "\n") + 1
		known := map[*Node]bool{}
		for _, n := range g.Nodes {
			known[n] = true
			if n.Line < 1 || n.Line > lines {
				t.Fatalf("node at line %d of %d", n.Line, lines)
			}
		}
		for _, r := range g.Relationships {
			if !known[r.From] || r.To != nil && !known[r.To] || r.Type == "" || r.Line < 1 || r.Line > lines {
				t.Fatalf("relationship %+v", r)
			}
		}
		for _, s := range g.Skipped {
			if s.Line < 1 || s.Line > lines || s.Reason == "" {
				t.Fatalf("skip %+v of %d lines", s, lines)
			}
		}
		if diff := cmp.Diff(describeGraph(g), describeGraph(Read(src))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestReadDecodesAnyText: what an exporter writes is what comes back.
func TestReadDecodesAnyText(t *testing.T) {
	writers := []func(string) string{
		func(s string) string { return quoteWith(s, '\'') },
		func(s string) string { return quoteWith(s, '"') },
		func(s string) string {
			var b strings.Builder
			for _, unit := range utf16.Encode([]rune(s)) {
				fmt.Fprintf(&b, `\u%04X`, unit)
			}
			return `"` + b.String() + `"`
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		var src strings.Builder
		var want []string
		for i, s := range rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "texts") {
			key := rapid.StringMatching("[a-z\\x60 ;]{1,5}").Draw(t, "key")
			fmt.Fprintf(&src, "CREATE (:R {`%s`: %s, n: [%d]});", strings.ReplaceAll(key, "`", "``"), rapid.SampledFrom(writers).Draw(t, "writer")(s), i)
			want = append(want, key, s)
		}
		g := Read(src.String())
		if len(g.Skipped) > 0 || len(g.Nodes) != len(want)/2 {
			t.Fatalf("%d nodes, skipped %v", len(g.Nodes), g.Skipped)
		}
		for i, n := range g.Nodes {
			if got := n.Properties[want[2*i]]; got != want[2*i+1] && want[2*i] != "n" {
				t.Fatalf("got %q, want %q", got, want[2*i+1])
			}
		}
	})
}

func quoteWith(s string, quote rune) string {
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch r {
		case quote, '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteRune(quote)
	return b.String()
}
