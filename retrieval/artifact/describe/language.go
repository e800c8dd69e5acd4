package describe

import (
	"cmp"

	"github.com/writbus/writ/schemas/language"
)

// Language names the language of a file by its path: "text" where none is
// known.
func Language(file string) string { return cmp.Or(language.Of(file), language.Text) }

// prose are the languages that people read rather than machines.
var prose = map[string]bool{"markdown": true, "text": true, "restructuredtext": true, "asciidoc": true}

// data are the languages of files that hold data or settings.
var data = map[string]bool{"json": true, "yaml": true, "toml": true, "xml": true, "csv": true, "ini": true, "html": true, "gomod": true}

// Data says whether a language is one that data or settings are kept in.
func Data(language string) bool { return data[language] }

// Programming says whether a language is one that programs are written in.
func Programming(language string) bool { return !prose[language] && !data[language] }
