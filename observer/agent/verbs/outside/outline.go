package outside

import (
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact/chunk"
	"github.com/writbus/writ/retrieval/artifact/describe"
)

// outline names what a source file declares, as /map shows it. Texts without
// declarations, documents too, have none.
func outline(name string, text []byte) []string {
	language := describe.Language(name)
	if !describe.Programming(language) || !utf8.Valid(text) {
		return nil
	}
	_, symbols := chunk.Split(language, string(text), new(chunk.Scratch))
	var names []string
	for _, s := range symbols {
		switch s.Kind {
		case "heading", "const", "var", "module":
			continue
		}
		names = append(names, s.Kind+" "+s.Name)
	}
	return names
}
