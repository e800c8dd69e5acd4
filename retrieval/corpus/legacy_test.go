package corpus

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

// whole compares files by what they tell others.
var whole = cmpopts.IgnoreUnexported(File{})

// older is a corpus in the older formats: blocks, front matter and scripts.
func older(t testing.TB) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{"prose.md": {Data: []byte("# About\n")}}
	for prefix, folder := range map[string]string{"older/": "testdata/older", "scripts/": "cypher/testdata"} {
		files := os.DirFS(folder)
		names, err := fs.Glob(files, "*.*")
		if err != nil || len(names) == 0 {
			t.Fatalf("no samples in %s: %v", folder, err)
		}
		for _, name := range names {
			src, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			out[prefix+name] = &fstest.MapFile{Data: src}
		}
	}
	return out
}

func TestLoadAnyReadsOlderFormats(t *testing.T) {
	files, _ := LoadAny(older(t), nil)
	got := map[string]schemas.Rule{}
	for _, f := range files {
		got[f.Rule.ID] = f.Rule
		if f.Content != nil || f.Line < 1 || f.Hash != digest.Hex(Render(f.Rule)) {
			t.Errorf("%s: line %d, hash %s", f.Rule.ID, f.Line, f.Hash)
		}
	}
	want := []schemas.Rule{
		{
			ID: "QUEUE-BOUND-SIZE-001", Title: "Give every queue a bound", Domain: "concurrency", Severity: "high", Scope: "module",
			Trigger:   "When one part of a program hands work to another.",
			Statement: "The later block holds.",
			Violation: "// ### Trigger\njobs := []Job{} // grows as long as producers are faster\n", PassExample: "jobs := make(chan Job, 64)\n",
			Enforcement: "Code review.", Rationale: "Memory is the bound of a queue that has none. See QUEUE-DRAIN-STOP-001.",
			Edges: []schemas.Edge{{Type: "BELONGS_TO", Target: "CAT-QUEUE-001"}, {Type: "DEPENDS_ON", Target: "QUEUE-DRAIN-STOP-001"}},
		},
		{
			ID: "QUEUE-DRAIN-STOP-001", Domain: "concurrency", Severity: "critical", Trigger: "A program stops while jobs wait.",
			Statement: "Drain the queue, or store what is left.", Rationale: "What was accepted is done or handed back.",
			Confidence: "production-validated", LastValidated: "2026-04-01", Body: "### History\nFound after a restart lost orders, before QUEUE-BOUND-SIZE-001 was written.",
			Edges: []schemas.Edge{{Type: "RELATED_TO", Target: "QUEUE-BOUND-SIZE-001"}},
		},
		{
			Type: schemas.NodeSkill, ID: "SKL-QUEUE-SIZE-001", Domain: "concurrency", Severity: "medium", Trigger: "A queue grows\nunder load.",
			Statement: "Choose the bound by measuring.", Body: "Measure before choosing.",
			Skill: &schemas.Skill{Steps: []string{"Measure how long a job takes.", "Multiply by the rate\nthat must be borne."}},
			Edges: []schemas.Edge{{Type: "TEACHES", Target: "QUEUE-BOUND-SIZE-001"}},
		},
		{
			Type: schemas.NodeRationalization, ID: "RAT-QUEUE-BIG-001", Severity: "medium", Trigger: "Somebody drops the bound.", Statement: "A bound is never wrong.",
			Symptoms:        []string{"It will never grow that far."},
			Rationalization: &schemas.Rationalization{Excuse: "It will never grow that far.", Reality: "It has, and at night."},
			Edges:           []schemas.Edge{{Type: "ATTACHED_TO", Target: "QUEUE-BOUND-SIZE-001"}},
		},
		{
			Type: schemas.NodePlaybook, ID: "PBK-QUEUE-FIX-001", Title: "Bound the queue", Domain: "concurrency", Severity: "high", Trigger: "A queue has no bound.",
			Statement: "Find the producers first.", Rationale: "They decide what waits.", Tags: []string{"queues", "memory"},
			Confidence: "peer-reviewed", Authority: "human", LastValidated: "2026-04-21", StalenessWindow: 180, Evidence: []string{"incident-12"},
			RationalizationCounters: []string{"The queue is small. → Say how small, in the code."}, Body: "# Playbook: Bound the queue\n\nText.",
			Playbook: &schemas.Playbook{Phases: []string{"PHA-QUEUE-FIND-001"}, Roles: []string{"ROL-QUEUE-READ-001"}},
			Edges:    []schemas.Edge{{Type: "TEACHES", Target: "SKL-QUEUE-SIZE-001"}, {Type: "RELATED_TO", Target: "SKL-QUEUE-SIZE-001"}},
		},
		{
			Type: schemas.NodeCategory, ID: "CAT-QUEUE-001", Title: "Queues", Severity: "medium", Trigger: "Queues", Statement: "Queues",
			Category: &schemas.Category{},
		},
		{
			ID: "TEST-CLOCK-PASS-001", Domain: "testing", Severity: "high", Scope: "function", Trigger: "A test asks for the time of day.",
			Statement: "Pass the clock in, so that the test says what time it is.",
			Violation: "if time.Now().Hour() < 6 {\n\treturn closed\n}", PassExample: "if now.Hour() < 6 {\n\treturn closed\n}",
			Enforcement: "Review", Rationale: "A test that's right before noon and wrong after it tests the clock.", Tags: []string{"time", "determinism"},
			Confidence: "production-validated", Authority: "human", LastValidated: "2026-03-02", StalenessWindow: 365,
			Edges: []schemas.Edge{{Type: "BELONGS_TO", Target: "CAT-TEST-001"}},
		},
		{
			Type: schemas.NodeSkill, ID: "SKL-TEST-CLOCK-001", Domain: "testing", Severity: "medium", Scope: "session", Trigger: "A test fails only at some hours.",
			Statement: "Find where the clock is read.", Rationale: "The reader of the clock decides.", LastValidated: "2026-03-02",
			Body: "1. Search for the clock.\n2. Pass it in.", Skill: &schemas.Skill{Steps: []string{"Search for the clock.", "Pass it in."}},
			Edges: []schemas.Edge{{Type: "TEACHES", Target: "TEST-CLOCK-PASS-001"}},
		},
		{
			ID: "SQL-LOCK-ORDER-001", Domain: "sql", Severity: "critical", Trigger: "Two transactions lock the same rows.",
			Statement: "Lock rows in the order of their keys.", Tags: []string{"locks"}, Mandatory: true,
			Edges: []schemas.Edge{{Type: "SUPPLEMENTS", Target: "SQL-TX-BRIEF-001"}},
		},
		{
			Type: schemas.NodePhase, ID: "PHA-LOCK-FIND-001", Title: "Find the locks", Severity: "medium", Trigger: "A deadlock was logged.",
			Statement: "List the locks.", Body: "All lock statements are listed.", Phase: &schemas.Phase{Order: 1, Exit: []string{"List the locks."}},
		},
		{
			ID: "HTTP-ETAG-SEND-001", Domain: "http", Severity: "low", Trigger: "A resource changes rarely.", Statement: "Send an ETag and answer 304.",
			Rationale: "What did not change needs no bytes.", Edges: []schemas.Edge{{Type: "RELATED_TO", Target: "HTTP-CACHE-VARY-001"}},
		},
	}
	for _, w := range want {
		if diff := cmp.Diff(w, got[w.ID]); diff != "" {
			t.Errorf("%s:\n%s", w.ID, diff)
		}
	}
	if n := len(want) + 3; len(got) != n {
		t.Errorf("%d nodes, want %d", len(got), n)
	}
}

func TestLoadAnyReportsWhatItLeavesOut(t *testing.T) {
	_, problems := LoadAny(older(t), nil)
	var got []string
	for _, p := range problems {
		if !strings.HasPrefix(p.Path, "scripts/rows") {
			got = append(got, string(p.Kind)+" "+p.String())
		}
	}
	want := []string{
		"skipped older/blocks.md:3: text outside of the blocks is not read",
		"downgraded older/blocks.md:67: battle-tested is granted by recorded outcomes only: taken as production-validated",
		"invalid older/broken.md:1: the block of BROKEN-NESTED-001 is not ended before the next one begins in line 4",
		"invalid older/broken.md:7: this marker ends BROKEN-WRONG-001, but the block that began in line 4 is BROKEN-OTHER-001",
		"skipped older/broken.md:8: this end marker ends no block",
		"noted older/broken.md:9: id QUEUE-BOUND-SIZE-001 stands at older/blocks.md:7, too: this one holds, with the edges of both",
		"skipped older/broken.md:9: edge PRECEDES points to QUEUE-NOWHERE-AT-001, which no file here defines: the edge is left out",
		"skipped older/broken.md:13: text outside of the blocks is not read",
		"filled older/broken.md:17: severity was missing: taken as medium, for there was none",
		"filled older/broken.md:17: trigger was missing: taken as statement",
		"invalid older/broken.md:17: id \"bad\" is malformed: capital letters, digits and hyphens, three parts or more, like GO-CTX-FIRST-001",
		"invalid older/broken.md:21: the block of BROKEN-OPEN-001 has no end: close it with <!-- RULE END: BROKEN-OPEN-001 -->",
		"skipped older/front.md:16: scope is a YAML Tag: left out",
		"noted older/front.md:25: edge BELONGS_TO joins no Playbook to a Skill here: kept as RELATED_TO",
		"filled older/nodes.md:21: severity was missing: taken as medium, for there was none",
		"filled older/nodes.md:31: severity was missing: taken as medium, for there was none",
		"filled older/nodes.md:31: statement was missing: taken as title",
		"filled older/nodes.md:31: trigger was missing: taken as title",
		"skipped prose.md:1: this file holds no node: a node's file begins with a line \"---\"",
	}
	// What the scripts leave out follows.
	if len(got) < len(want) {
		t.Fatalf("%d problems, want at least %d", len(got), len(want))
	}
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Error(diff)
	}
}

// TestLoadAnyTwice: a second import of anything, be it the older files or
// their export, finds the same nodes with the same hashes.
func TestLoadAnyTwice(t *testing.T) {
	folder := older(t)
	first, problems := LoadAny(folder, nil)
	second, again := LoadAny(folder, nil)
	if diff := cmp.Diff(first, second, whole) + cmp.Diff(problems, again); diff != "" {
		t.Fatal(diff)
	}
	exported := fstest.MapFS{}
	for _, f := range first {
		exported[f.Rule.ID+".md"] = &fstest.MapFile{Data: Render(f.Rule)}
	}
	third, problems := LoadAny(exported, nil)
	if len(problems) > 0 || len(third) != len(first) {
		t.Fatalf("%d of %d nodes, problems %v", len(third), len(first), problems)
	}
	for i, f := range third {
		if f.Hash != first[i].Hash {
			t.Errorf("%s: another hash from its own export", f.Rule.ID)
		}
	}
}

func TestLoadAnyKnowsTheStore(t *testing.T) {
	folder := fstest.MapFS{
		"a.md": ruleFile("A-A-A", "B-B-B", "C-C-C"),
		"b.md": {Data: []byte("<!-- RULE START: D-D-D -->\n**Statement**: x\n### Edges\n- DEPENDS_ON: B-B-B\n- DEPENDS_ON: C-C-C\n<!-- RULE END: D-D-D -->\n")},
	}
	files, problems := LoadAny(folder, func(id string) (schemas.NodeType, bool) { return schemas.NodeSkill, id == "B-B-B" })
	var kinds []string
	for _, p := range problems {
		kinds = append(kinds, string(p.Kind)+" "+p.Target)
	}
	if diff := cmp.Diff([]string{"unknown_target C-C-C", "filled ", "filled ", "skipped C-C-C"}, kinds); diff != "" {
		t.Error(diff)
	}
	if len(files) != 2 || len(files[0].Rule.Edges) != 2 || len(files[1].Rule.Edges) != 1 {
		t.Errorf("%+v", files)
	}
}

// TestLegacyIsWhole: a misspelt word of legacy.txt would put what a node has nowhere.
func TestLegacyIsWhole(t *testing.T) {
	is := func(path string) bool {
		key, rest, nested := strings.Cut(path, ".")
		f, found := fieldOf(fields, key)
		if _, has := fieldOf(f.sub, rest); nested {
			return found && has
		}
		return found || path == bodyKey
	}
	lines := 0
	for line := range strings.Lines(legacyText) {
		if strings.Contains(line, ": ") && !strings.HasPrefix(line, "#") {
			lines += len(strings.Fields(line[strings.Index(line, ": "):])) - 1
		}
	}
	for own, of := range legacyOf() {
		if own != ofAll && !slices.Contains(schemas.NodeTypes(), own) {
			t.Errorf("no nodes are of the type %q", own)
		}
		for name, place := range of.places {
			lines--
			if kind := strings.TrimLeft(place, "<-> "); !is(place) && (kind == place || !slices.Contains(EdgeTypes(), kind)) {
				t.Errorf("%s: %s belongs at %q", own, name, place)
			}
		}
		for _, f := range of.fills {
			for _, path := range append([]string{f.path}, f.from...) {
				if !is(path) || len(f.from) == 0 {
					t.Errorf("%s: %s is filled in from %q", own, f.path, f.from)
				}
			}
		}
	}
	if lines != 0 || len(legacyOf()) < 2 {
		t.Errorf("%d names are there twice, in %d paragraphs", lines, len(legacyOf()))
	}
}
