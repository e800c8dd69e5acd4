package retrieval

import (
	"testing"

	"github.com/writbus/writ/schemas"
)

// corpusRules is a small hand-made corpus whose edges and authorities exercise
// every stage.
func corpusRules() []schemas.Rule {
	return []schemas.Rule{
		{
			ID: "GO-ERR-001", Title: "Wrap an error once per layer", Domain: "go", Severity: "high", Confidence: "battle-tested",
			Trigger:   "An error is returned from a function to its caller.",
			Statement: "Add the operation and the ids with fmt.Errorf and %w; do not log and return.",
			Symptoms: []string{
				"the log shows the same failure five times", "cannot tell which call failed",
				"errors.Is does not find the sentinel",
			},
			Violation: "if err != nil {\n\tlog.Println(err)\n\treturn err\n}", PassExample: "if err != nil {\n\treturn fmt.Errorf(\"load %s: %w\", id, err)\n}",
			Rationale: "A wrapped chain tells the story once, where it is handled.", Tags: []string{"errors", "wrapping"},
			Edges: []schemas.Edge{{Type: "RELATED_TO", Target: "GO-ERR-002"}},
		},
		{
			ID: "GO-ERR-002", Title: "Compare errors with errors.Is", Domain: "go", Severity: "medium", Confidence: "peer-reviewed",
			Trigger:   "Code checks which error it was given.",
			Statement: "Use errors.Is or errors.As instead of == or matching the text.",
			Symptoms:  []string{"the comparison stopped working after wrapping", "string match on the message"},
			Violation: "if err == io.EOF {", PassExample: "if errors.Is(err, io.EOF) {", Rationale: "Wrapping changes identity.",
			Tags: []string{"errors"}, Edges: []schemas.Edge{{Type: "DEPENDS_ON", Target: "GO-LOG-001"}},
		},
		{
			ID: "GO-LOG-001", Title: "Log with levels and keys", Domain: "go", Severity: "low", Confidence: "production-validated",
			Trigger: "A message is written for operators.", Statement: "Use structured logging with stable keys.",
			Symptoms: []string{"grep cannot find anything in our output"}, Tags: []string{"logging"},
			Rationale: "Machines read logs first.",
		},
		{
			ID: "PY-MUT-001", Title: "No mutable default argument", Domain: "python", Severity: "high", Confidence: "battle-tested",
			Trigger: "A parameter's default is a list, dict or set.", Statement: "Default to None and create the value in the body.",
			Symptoms:  []string{"the list keeps items from the last call", "state leaks between calls"},
			Violation: "def f(x=[]):", PassExample: "def f(x=None):\n    x = [] if x is None else x", Tags: []string{"defaults"},
			Rationale: "Defaults are evaluated once.",
		},
		{
			ID: "SQL-INJ-001", Title: "Bind parameters", Domain: "", Severity: "critical", Confidence: "battle-tested",
			Trigger: "A query is built from user input.", Statement: "Pass values as parameters; never concatenate SQL.",
			Symptoms:  []string{"a quote in the name breaks the search", "someone dropped our table through the form"},
			Violation: `db.Query("SELECT * FROM t WHERE id = " + id)`, PassExample: `db.Query("SELECT * FROM t WHERE id = ?", id)`,
			Tags: []string{"injection", "security"}, Rationale: "Text and code must not mix.",
		},
		{
			ID: "SQL-INJ-OLD", Title: "Escape quotes in queries", Severity: "high", Confidence: "battle-tested",
			Trigger: "A query is built from user input.", Statement: "Escape quotes before concatenating SQL.", Tags: []string{"injection"},
		},
		{
			ID: "SQL-INJ-NEW", Title: "Prepared statements", Severity: "high", Confidence: "peer-reviewed",
			Trigger: "A query is built from user input in a loop.", Statement: "Prepare once, bind parameters many times.",
			Edges: []schemas.Edge{{Type: "SUPERSEDES", Target: "SQL-INJ-OLD"}}, Tags: []string{"injection"},
		},
		{
			ID: "GO-CTX-001", Title: "Pass the context first", Domain: "go", Severity: "medium", Confidence: "peer-reviewed", Authority: "human",
			Trigger: "A function blocks, calls the network or starts work.", Statement: "Take a context.Context as the first parameter.",
			Symptoms: []string{"the request hangs after the client went away"}, Tags: []string{"context", "cancellation"},
			Edges: []schemas.Edge{{Type: "CONFLICTS_WITH", Target: "GO-CTX-AI"}},
		},
		{
			ID: "GO-CTX-AI", Title: "Keep the context in a struct", Domain: "go", Severity: "critical", Confidence: "speculative",
			Authority: "ai-provisional", Trigger: "A function blocks, calls the network or starts work.",
			Statement: "Store the context.Context in the receiver so the first parameter stays free.", Tags: []string{"context", "cancellation"},
			Symptoms: []string{"the request hangs after the client went away"},
		},
		{
			ID: "ALW-SEC-001", Title: "No secrets in code", Severity: "critical", Mandatory: true, Confidence: "battle-tested",
			Trigger: "A credential, key or token is needed.", Statement: "Read it from the environment or a secret store.",
			Tags: []string{"security"},
		},
	}
}

func analyseAll(rules []schemas.Rule) []Document {
	docs := make([]Document, len(rules))
	for i, r := range rules {
		docs[i] = Analyse(r)
	}
	return docs
}

func newTestIndex(t testing.TB, rules []schemas.Rule, opt Options) *Index {
	t.Helper()
	ix, err := NewIndex(analyseAll(rules), opt)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func idsOf(hits []Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids
}
