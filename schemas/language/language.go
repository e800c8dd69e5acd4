// Package language names the language that a file is written in: by its name, or
// by the program that its first line asks for.
//
// It knows nothing of what a language looks like, nor what anybody does with one;
// whoever treats several alike joins their names.
package language

import (
	"bytes"
	"path"
	"strings"
)

// Text is the language of a file that is written for people, without markup.
const Text = "text"

var byExtension = Turned(map[string]string{
	"go": "go", "markdown": "md markdown mdx mdc", "python": "py pyi pyw", "javascript": "js jsx mjs cjs", "typescript": "ts tsx mts cts",
	"java": "java", "kotlin": "kt kts", "csharp": "cs", "rust": "rs", "c": "c h", "cpp": "cc cpp cxx hpp hh hxx", "swift": "swift",
	"scala": "scala sc", "php": "php", "ruby": "rb rake gemspec", "shell": "sh bash zsh ksh bats", "protobuf": "proto", "sql": "sql ddl pgsql",
	"assembly": "s asm", "json": "json jsonc json5 jsonl", "yaml": "yaml yml", "toml": "toml", "xml": "xml xsd xsl svg", "html": "html htm xhtml",
	"css": "css scss less", "restructuredtext": "rst", "asciidoc": "adoc asciidoc", "graphql": "graphql gql", "terraform": "tf tfvars hcl",
	"lua": "lua", "elixir": "ex exs", "erlang": "erl", "haskell": "hs", "clojure": "clj", "dart": "dart", "zig": "zig", "groovy": "groovy gradle",
	"vue": "vue", "svelte": "svelte", "gherkin": "feature", "make": "mk", "perl": "pl pm", "r": "r", "julia": "jl", "powershell": "ps1 psm1",
	"csv": "csv tsv", "ini": "ini cfg conf properties env", "cmake": "cmake", "starlark": "bzl", "dockerfile": "dockerfile", Text: "txt org log",
})

var byName = Turned(map[string]string{
	"dockerfile": "dockerfile containerfile", "make": "makefile gnumakefile", "shell": ".bashrc .zshrc .profile .bash_profile",
	"ruby": "gemfile rakefile", "ini": ".npmrc .netrc .editorconfig", "python": "sconstruct", "groovy": "jenkinsfile", "cmake": "cmakelists.txt",
	"starlark": "build.bazel", "gomod": "go.mod go.work", "markdown": "readme", Text: "license changelog authors notice copying",
})

// Turned makes "language: names" a map from name to language.
func Turned(names map[string]string) map[string]string {
	out := map[string]string{}
	for language, all := range names {
		for _, name := range strings.Fields(all) {
			out[name] = language
		}
	}
	return out
}

// Of is the language of a file by its path, "" where the name does not tell.
func Of(file string) string {
	name := strings.ToLower(path.Base(file))
	if language := byName[name]; language != "" {
		return language
	}
	if language := byExtension[strings.TrimPrefix(path.Ext(name), ".")]; language != "" {
		return language
	}
	stem, _, _ := strings.Cut(name, ".")
	switch {
	case stem == "dockerfile" || stem == "containerfile":
		return "dockerfile"
	case strings.HasPrefix(name, ".env"):
		return "ini"
	}
	return ""
}

// OfScript is the language of a script by the #! of its first line, "" where
// there is none or it asks for a program of no known language.
func OfScript(content []byte) string {
	if !bytes.HasPrefix(content, []byte("#!")) {
		return ""
	}
	first, _, _ := bytes.Cut(content[2:min(len(content), 256)], []byte("\n"))
	for _, word := range strings.Fields(string(first)) {
		program := strings.TrimRight(path.Base(word), "0123456789.")
		switch program {
		case "sh", "bash", "dash", "zsh", "ksh", "ash", "bats":
			return "shell"
		case "python", "pypy":
			return "python"
		case "node", "deno", "bun", "nodejs":
			return "javascript"
		case "ruby", "perl", "php", "lua":
			return program
		case "env", "-S":
			continue
		}
	}
	return ""
}
