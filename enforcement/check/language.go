package check

import (
	"bytes"
	"path"
	"slices"
	"strings"
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

// byExtension names the language of a file by the end of its name.
var byExtension = table(map[string]string{
	langGo: ".go", langPython: ".py .pyi .pyw", langTypeScript: ".ts .tsx .mts .cts", langJavaScript: ".js .jsx .mjs .cjs",
	langJava: ".java", langRust: ".rs", langShell: ".sh .bash .zsh .ksh .bats", langSQL: ".sql .ddl .pgsql", langYAML: ".yaml .yml",
	langDocker: ".dockerfile", langText: ".md .markdown .txt .rst .adoc .org .log .mdx",
	"kotlin": ".kt .kts", "scala": ".scala", "csharp": ".cs", "c": ".c .h", "cpp": ".cc .cpp .cxx .hh .hpp .hxx", "swift": ".swift",
	"php": ".php", "dart": ".dart", "protobuf": ".proto", "ruby": ".rb .rake .gemspec", "toml": ".toml", "ini": ".ini .cfg .conf .properties .env",
	"hcl": ".tf .hcl .tfvars", "json": ".json .jsonc .json5", "html": ".html .htm .xml .svg .vue .svelte .xhtml", "css": ".css .scss .less",
	"lua": ".lua", "perl": ".pl .pm", "elixir": ".ex .exs", "makefile": ".mk", "powershell": ".ps1 .psm1",
})

var byName = table(map[string]string{
	langDocker: "dockerfile containerfile", "makefile": "makefile gnumakefile", langShell: ".bashrc .zshrc .profile .bash_profile",
	"ruby": "gemfile rakefile", "ini": ".env .npmrc .netrc .editorconfig", langPython: "sconstruct", langText: "license readme changelog authors notice copying",
})

var aliases = table(map[string]string{
	langGo: "golang", langPython: "py", langTypeScript: "ts tsx", langJavaScript: "js jsx", langRust: "rs", langShell: "sh bash zsh",
	langYAML: "yml", langDocker: "docker", "csharp": "c# cs", "cpp": "c++", "hcl": "terraform", langText: "markdown md",
})

// table turns "name: keys" around.
func table(names map[string]string) map[string]string {
	out := map[string]string{}
	for name, keys := range names {
		for _, k := range strings.Fields(keys) {
			out[k] = name
		}
	}
	return out
}

// Languages lists the names that a check may give as its language.
func Languages() []string {
	var out []string
	for _, l := range byExtension {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

func languageNamed(s string) (string, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "" {
		return "", true
	}
	if l, found := aliases[s]; found {
		return l, true
	}
	return s, slices.Contains(Languages(), s)
}

// Language tells the language of a file by its name, and where that says
// nothing by the #! of its first line; "unknown" where neither helps.
func Language(name string, content []byte) string {
	base := strings.ToLower(path.Base(name))
	if l, found := byName[base]; found {
		return l
	}
	if l, found := byExtension[path.Ext(base)]; found {
		return l
	}
	stem, _, _ := strings.Cut(base, ".")
	switch {
	case stem == "dockerfile" || stem == "containerfile":
		return langDocker
	case strings.HasPrefix(base, ".env"):
		return "ini"
	}
	return byShebang(content)
}

func byShebang(content []byte) string {
	if !bytes.HasPrefix(content, []byte("#!")) {
		return langUnknown
	}
	first, _, _ := bytes.Cut(content[2:min(len(content), 256)], []byte("\n"))
	for _, word := range strings.Fields(string(first)) {
		program := strings.TrimRight(path.Base(word), "0123456789.")
		switch program {
		case "sh", "bash", "dash", "zsh", "ksh", "ash", "bats":
			return langShell
		case "python", "pypy":
			return langPython
		case "node", "deno", "bun", "nodejs":
			return langJavaScript
		case "ruby", "perl", "php", "lua":
			return program
		case "env", "-S":
			continue
		}
	}
	return langUnknown
}

// speaks says whether a check for one language applies to a file of another:
// TypeScript is JavaScript with types.
func speaks(file, check string) bool {
	return file == check || check == langJavaScript && file == langTypeScript
}
