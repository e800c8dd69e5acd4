package observation_test

import (
	"fmt"

	"github.com/writbus/writ/observer/observation"
)

func ExampleGate() {
	for _, observed := range []string{
		`- 🟡 [gate=hold confidence=80% reason="seen once"] Prefers short flags`,
		"[TODO] replace the poller with a stream",
	} {
		g := observation.Gate([]byte(observed))
		fmt.Printf("%s %.2f %s: %s\n", g.Verdict, g.Confidence, g.Reason, g.Text)
	}
	// Output:
	// hold 0.80 seen once: Prefers short flags
	// allow 0.35 missing_annotation: [TODO] replace the poller with a stream
}
