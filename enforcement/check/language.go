package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/language"
)

// The languages that checks are written for; others are told by their names
// too but have a coarser scanner. Persisted in rule files; never change.
const (
	langGo         = "go"
	langPython     = "python"
	langTypeScript = "typescript"
	langJavaScript = "javascript"
	langJava       = "java"
	langRust       = "rust"
	langShell      = "shell"
	langSQL        = "sql"
	langYAML       = "yaml"
	langDocker     = "dockerfile"
	langText       = "text"
	langUnknown    = "unknown"
)

// known are the languages that a check may name.
var known = strings.Fields("c cpp csharp css dart dockerfile elixir go hcl html ini java javascript json kotlin lua makefile " +
	"perl php powershell protobuf python ruby rust scala shell sql swift text toml typescript yaml")

// coarser names the languages that checks take for another one.
var coarser = map[string]string{
	"markdown": langText, "restructuredtext": langText, "asciidoc": langText, "xml": "html", "vue": "html", "svelte": "html",
	"terraform": "hcl", "make": "makefile",
}

var aliases = language.Turned(map[string]string{
	langGo: "golang", langPython: "py", langTypeScript: "ts tsx", langJavaScript: "js jsx", langRust: "rs", langShell: "sh bash zsh",
	langYAML: "yml", langDocker: "docker", "csharp": "c# cs", "cpp": "c++", "hcl": "terraform", langText: "markdown md",
})

// Languages lists the names that a check may give as its language.
func Languages() []string { return slices.Clone(known) }

func languageNamed(s string) (string, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "" {
		return "", true
	}
	if l, found := aliases[s]; found {
		return l, true
	}
	return s, slices.Contains(known, s)
}

// Language tells the language of a file by its name, and where that says
// nothing by the #! of its first line; "unknown" where neither helps.
func Language(name string, content []byte) string {
	for _, l := range []string{language.Of(name), language.OfScript(content)} {
		if l = cmp.Or(coarser[l], l); slices.Contains(known, l) {
			return l
		}
	}
	return langUnknown
}

// speaks says whether a check for one language applies to a file of another:
// TypeScript is JavaScript with types.
func speaks(file, check string) bool {
	return file == check || check == langJavaScript && file == langTypeScript
}
