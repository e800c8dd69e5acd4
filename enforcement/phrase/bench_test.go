package phrase

import (
	"strings"
	"testing"
)

func BenchmarkJudge(b *testing.B) {
	for name, s := range map[string]string{
		"short": "approved, go ahead", "none": "Run the linter.",
		"long":     strings.Repeat("I read the plan twice and have nothing to add. ", 200) + "Plan approved.",
		"repeated": strings.Repeat("approved, ", 800),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Judge(s, Plan, Phrases{})
			}
		})
	}
}
