package describe

import (
	"path"
	"strings"
)

// Language names the language of a file by its path: "text" where none is
// known.
func Language(file string) string {
	name := strings.ToLower(path.Base(file))
	if language := languageOfName[name]; language != "" {
		return language
	}
	if language := languageOfExtension[path.Ext(name)]; language != "" {
		return language
	}
	return "text"
}

var languageOfName = map[string]string{
	"dockerfile": "dockerfile", "makefile": "make", "gnumakefile": "make", "rakefile": "ruby", "gemfile": "ruby",
	"jenkinsfile": "groovy", "cmakelists.txt": "cmake", "build.bazel": "starlark", "go.mod": "gomod", "go.work": "gomod",
	"readme": "markdown",
}

var languageOfExtension = func() map[string]string {
	all := map[string]string{}
	for language, extensions := range map[string]string{
		"go": "go", "markdown": "md markdown mdx mdc", "python": "py pyi pyw", "javascript": "js jsx mjs cjs", "typescript": "ts tsx mts cts",
		"java": "java", "kotlin": "kt kts", "csharp": "cs", "rust": "rs", "c": "c h", "cpp": "cc cpp cxx hpp hh hxx", "swift": "swift",
		"scala": "scala sc", "php": "php", "ruby": "rb", "shell": "sh bash zsh", "protobuf": "proto", "sql": "sql", "assembly": "s asm",
		"json": "json jsonl json5", "yaml": "yaml yml", "toml": "toml", "xml": "xml xsd xsl", "html": "html htm", "css": "css scss less",
		"restructuredtext": "rst", "asciidoc": "adoc asciidoc", "graphql": "graphql gql", "terraform": "tf", "lua": "lua", "elixir": "ex exs",
		"erlang": "erl", "haskell": "hs", "clojure": "clj", "dart": "dart", "zig": "zig", "groovy": "groovy gradle", "vue": "vue",
		"svelte": "svelte", "gherkin": "feature", "make": "mk", "perl": "pl pm", "r": "r", "julia": "jl", "powershell": "ps1",
		"csv": "csv tsv", "ini": "ini cfg conf properties", "cmake": "cmake", "starlark": "bzl",
	} {
		for _, extension := range strings.Fields(extensions) {
			all["."+extension] = language
		}
	}
	return all
}()

// prose are the languages that people read rather than machines.
var prose = map[string]bool{"markdown": true, "text": true, "restructuredtext": true, "asciidoc": true}

// data are the languages of files that hold data or settings.
var data = map[string]bool{"json": true, "yaml": true, "toml": true, "xml": true, "csv": true, "ini": true, "html": true, "gomod": true}

// Programming says whether a language is one that programs are written in.
func Programming(language string) bool { return !prose[language] && !data[language] }
