package corpus

import "testing"

// BenchmarkEmbedded is what every start of the program pays for.
func BenchmarkEmbedded(b *testing.B) {
	for b.Loop() {
		if _, err := Embedded(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkValidate checks the shipped corpus.
func BenchmarkValidate(b *testing.B) {
	files, err := Embedded()
	if err != nil {
		b.Fatal(err)
	}
	var list []Node
	for _, f := range files {
		list = append(list, f.Node())
	}
	for b.Loop() {
		Validate(list, Checks{Today: "2026-11-21"})
	}
}
