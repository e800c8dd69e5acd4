package curation_test

import (
	"fmt"

	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
)

func ExampleGate_Judge() {
	nodes := []schemas.Rule{{ID: "GO-CHAN-CLOSE-001", Severity: "high", Trigger: "Go code closes a channel.", Statement: "Close it once."}}
	proposal := curation.Parse([]byte(`{
		"id": "GO-TIMER-STOP-001", "severity": "urgent",
		"trigger": "A function creates a time.Ticker.", "statement": "Consider stopping it."
	}`))
	finding := curation.Gate{Thresholds: curation.Reference}.Judge(proposal, curation.Corpus{Nodes: nodes, Cosines: []float64{0.41}})
	fmt.Println("admitted:", finding.Admitted)
	for _, reason := range finding.Texts() {
		fmt.Println(reason)
	}
	fmt.Println("to fill before promotion:", finding.Incomplete)
	// Output:
	// admitted: false
	// schema: severity "urgent" is unknown: use one of critical, high, medium, low
	// specificity: statement says "consider": say exactly when it applies and what to do
	// to fill before promotion: [rationale violation pass_example symptoms]
}

func ExampleDiff() {
	old := schemas.Rule{ID: "GO-TIMER-STOP-001", Severity: "low", Statement: "Stop it."}
	current := old
	current.Severity, current.Symptoms = "high", []string{"memory grows"}
	fmt.Print(curation.Diff(old, current))
	// Output:
	// @@ severity @@
	// -low
	// +high
	// @@ symptoms @@
	// +memory grows
}
