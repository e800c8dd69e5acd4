package neo4jmirror

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/writbus/writ/schemas"
)

func TestOlderLayouts(t *testing.T) {
	day := neo4j.DateOf(time.Date(2025, 3, 4, 0, 0, 0, 0, time.UTC))
	for name, c := range map[string]struct {
		kind  schemas.NodeType
		props map[string]any
		want  schemas.Rule
		says  []string // parts of what is unknown, unfit and assumed
	}{
		"rule_id and other spellings": {
			kind: schemas.NodeRule,
			props: map[string]any{
				"rule_id": "GO-ERR-001", "severity": "HIGH", "passExample": "x", "statement": "wrap", "trigger": "err",
				"mandatory": "yes", "last_validated": day, "staleness_window": "90", "tags": "a, b", "evidence": `["e1","e2"]`,
				"authority": "AI_PROVISIONAL", "embedding": []any{0.1, 0.2},
			},
			want: schemas.Rule{
				ID: "GO-ERR-001", Severity: "high", PassExample: "x", Statement: "wrap", Trigger: "err", Mandatory: true,
				LastValidated: "2025-03-04", StalenessWindow: 90, Tags: []string{"a", "b"}, Evidence: []string{"e1", "e2"},
				Authority: "ai-provisional",
			},
			says: []string{"embedding"},
		},
		"skill_id, steps as text, its name as title": {
			kind:  schemas.NodeSkill,
			props: map[string]any{"skill_id": "SKL-TDD-001", "name": "TDD", "trigger": "w", "description": "d", "steps": "- one\n- two\n", "severity": "low"},
			want: schemas.Rule{
				Type: schemas.NodeSkill, ID: "SKL-TDD-001", Title: "TDD", Trigger: "w", Statement: "d", Severity: "low",
				Skill: &schemas.Skill{Steps: []string{"one", "two"}},
			},
		},
		"the own name counts before another": {
			kind:  schemas.NodeRule,
			props: map[string]any{"id": "A-B-001", "description": "no", "statement": "yes", "severity": "low"},
			want:  schemas.Rule{ID: "A-B-001", Statement: "yes", Severity: "low"},
			says:  []string{"description"},
		},
		"an id without a usual name": {
			kind:  schemas.NodePhase,
			props: map[string]any{"ref_id": "PHA-PLAN-001", "order": 2.0, "exit": []any{"done"}, "severity": "low"},
			want:  schemas.Rule{Type: schemas.NodePhase, ID: "PHA-PLAN-001", Severity: "low", Phase: &schemas.Phase{Order: 2, Exit: []string{"done"}}},
		},
		"what is missing is said": {
			kind:  schemas.NodeAbstraction,
			props: map[string]any{"abstraction_id": "ABS-GO-001", "summary": "all", "compression_ratio": 0.5},
			want: schemas.Rule{
				Type: schemas.NodeAbstraction, ID: "ABS-GO-001", Statement: "all", Severity: "medium",
				Abstraction: &schemas.Abstraction{Summary: "all", Ratio: 0.5},
			},
			says: []string{"no severity", "no statement"},
		},
		"a value that does not fit": {
			kind:  schemas.NodeRule,
			props: map[string]any{"id": "A-B-001", "severity": "low", "staleness_window": "long", "mandatory": 3.5, "tags": []any{[]byte("x")}},
			want:  schemas.Rule{ID: "A-B-001", Severity: "low"},
			says:  []string{`staleness_window holds "long", which is no number`, "mandatory", "tags"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(c.kind, c.props)
			if got := r.node(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("\ngot  %+v\nwant %+v", got, c.want)
			}
			said := append(append(r.unknown, r.unfit...), r.assumed...)
			if len(said) != len(c.says) {
				t.Errorf("said %q, want %q", said, c.says)
			}
			for _, part := range c.says {
				if !strings.Contains(strings.Join(said, "\n"), part) {
					t.Errorf("%q is not said: %q", part, said)
				}
			}
		})
	}
}

func TestNoIDIsNoGuess(t *testing.T) {
	for _, props := range []map[string]any{
		{},
		{"id": ""},
		{"id": int64(3)},
		{"name": "some words"},
		{"a_id": "A-B-001", "b_id": "A-B-002"},
	} {
		if key := findID(schemas.NodeRule, props); key != "" {
			t.Errorf("%v: took %s", props, key)
		}
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{
		"passExample": "pass_example", "AntiPattern": "anti_pattern", "DEPENDS_ON": "depends_on", "dependsOn": "depends_on",
		"rule-id": "rule_id", "ID": "id", "ruleID": "rule_id", "HTTPCode": "http_code", "": "",
	} {
		if got := snake(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("rule_id", "A-B-001", "tags", `["a"`)
	f.Add("id", "x", "staleness_window", "9e99")
	f.Add("ID", "x", "id", "y")
	f.Fuzz(func(t *testing.T, key1, value1, key2, value2 string) {
		for _, kind := range schemas.NodeTypes() {
			r := newReader(kind, map[string]any{key1: value1, key2: value2, "severity": "low"})
			if n := r.node(); n.ID != r.id || n.NodeType() != kind {
				t.Errorf("%+v", n)
			}
		}
	})
}
