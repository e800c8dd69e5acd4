package project

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/gitignore"
	"github.com/writbus/writ/schemas/language"
)

// languageFiles names, for each language that is a domain of rules, the files
// at a project's root that say it is written in it.
var languageFiles = map[string][]string{
	"go":         {"go.mod", "go.work"},
	"python":     {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "uv.lock"},
	"typescript": {"package.json", "tsconfig.json", "deno.json"},
	"java":       {"pom.xml", "build.gradle", "build.gradle.kts"},
	"kotlin":     {"build.gradle.kts", "settings.gradle.kts"},
	"rust":       {"Cargo.toml"},
	"csharp":     {"*.csproj", "*.sln", "*.slnx", "Directory.Build.props"},
	"ruby":       {"Gemfile", "*.gemspec"},
	"php":        {"composer.json"},
	"swift":      {"Package.swift", "*.xcodeproj", "*.xcworkspace", "Podfile"},
	"c":          {"CMakeLists.txt", "meson.build", "configure.ac"},
	"cpp":        {"CMakeLists.txt", "meson.build", "configure.ac", "conanfile.txt", "conanfile.py", "vcpkg.json"},
}

// framework is one that is a domain of rules: the languages that its users
// write, and a text in a manifest that names it.
type framework struct {
	languages []string
	name      string
}

var frameworks = map[string]framework{
	"react":   {[]string{"typescript"}, `"react"`},
	"nextjs":  {[]string{"typescript"}, `"next"`},
	"vue":     {[]string{"typescript"}, `"vue"`},
	"express": {[]string{"typescript"}, `"express"`},
	"nestjs":  {[]string{"typescript"}, `"@nestjs/core"`},
	"django":  {[]string{"python"}, "django"},
	"flask":   {[]string{"python"}, "flask"},
	"fastapi": {[]string{"python"}, "fastapi"},
	"rails":   {[]string{"ruby"}, "rails"},
	"laravel": {[]string{"php"}, "laravel/"},
	"spring":  {[]string{"java", "kotlin"}, "org.springframework"},
	"android": {[]string{"java", "kotlin"}, "com.android"},
	"aspnet":  {[]string{"csharp"}, "microsoft.net.sdk.web"},
	"ios":     {[]string{"swift"}, ".ios("},
}

// What the name of a file or folder tells: a language or a framework, that the
// file names libraries, that it has the parts of a workspace beside it.
var (
	languageMarks  = language.NewMarks(languageFiles)
	frameworkMarks = language.NewMarks(map[string][]string{
		"android": {"AndroidManifest.xml"},
		"ios":     {"*.xcodeproj", "*.xcworkspace", "Podfile"},
	})
	fileMarks = language.NewMarks(map[string][]string{isManifest: manifests, isMore: more, isWorkspace: workspaces})
)

const isManifest, isMore, isWorkspace = "manifest", "more", "workspace"

// manifests are the files at a root that name the libraries a project uses.
var manifests = []string{
	"package.json", "pyproject.toml", "requirements.txt", "Pipfile", "Gemfile", "composer.json", "pom.xml",
	"build.gradle", "build.gradle.kts", "settings.gradle.kts", "libs.versions.toml", "*.csproj", "Package.swift",
}

// more are files at a root that name technologies beside those.
var more = []string{
	"go.mod", "Cargo.toml", "requirements-*.txt", "requirements_*.txt", "setup.py", "setup.cfg", "environment.yml", "Directory.Packages.props",
	"docker-compose*.yml", "docker-compose*.yaml", "compose.yml", "compose.yaml", "mix.exs", "build.sbt", "deno.json",
}

// workspaces are files at a root whose project has its parts in folders, and
// inWorkspaces texts in a manifest of the root that say the same.
var (
	workspaces   = []string{"pnpm-workspace.yaml", "lerna.json", "nx.json", "turbo.json", "go.work", "settings.gradle", "settings.gradle.kts", "*.sln", "*.slnx"}
	inWorkspaces = []string{`"workspaces"`, "[workspace]", "[tool.uv.workspace]", "<modules>"}
)

// otherLanguages have no rules of their own: a project that is written in one of
// them, and in none that has, wants no rules of another language.
var otherLanguages = []string{
	"sql", "terraform", "lua", "elixir", "erlang", "haskell", "clojure", "dart", "zig", "scala", "perl", "r", "julia", "powershell",
}

// asides are folders of a project whose contents are not its own, or are made up.
var asides = []string{
	"node_modules", "vendor", "third_party", "dist", "build", "target", "out", "bin", "obj", "venv", "Pods",
	"testdata", "fixtures", "examples", "docs",
}

// How much of a project is looked at: folders below its root, as deep as two, and
// names in each.
const (
	mostFolders = 40
	mostNames   = 250
)

// LanguagesOf are the languages and frameworks that a project's files tell.
func LanguagesOf(root string) []string {
	languages, _ := Uses(root)
	return languages
}

// Uses are the languages and frameworks, and the other technologies, that the
// files at a project's root tell, and the technologies that those of its folders
// do. The folders tell languages, too, where the root tells none or is that of a
// workspace, and elsewhere those that sources in them are written in; where no
// manifest does, what the files are written in counts. What a project with a
// manifest at its root keeps out of git is not its own.
func Uses(root string) (languages, subjects []string) {
	top := read(root)
	languages, subjects, written := top.languages, top.subjects, top.written
	var below []string
	level, ignored := top.folders, ignoredIn(root, len(languages) > 0)
	for depth, left := 0, mostFolders; depth < 2; depth++ {
		var next []string
		level = slices.DeleteFunc(level, ignored)
		for _, dir := range level[:min(left, len(level))] {
			left--
			part := read(dir)
			subjects, next = append(subjects, part.subjects...), append(next, part.folders...)
			written, below = append(written, part.written...), append(below, part.languages...)
		}
		level = next
	}
	if len(languages) > 0 && !top.workspace {
		below = slices.DeleteFunc(below, func(l string) bool { return !slices.Contains(written, l) && !frameworks[l].writtenIn(written) })
	}
	languages = append(languages, below...)
	if len(languages) == 0 {
		languages = written
	}
	// One build file serves both: sources in C alone have nothing of C++.
	if slices.Contains(written, "c") && !slices.Contains(written, "cpp") {
		languages = slices.DeleteFunc(languages, func(l string) bool { return l == "cpp" })
	}
	slices.Sort(languages)
	slices.Sort(subjects)
	return slices.Compact(languages), slices.Compact(subjects)
}

// ignoredIn tells the folders that a root's .gitignore leaves out, if it counts.
func ignoredIn(root string, counts bool) func(dir string) bool {
	text, err := ReadFile(filepath.Join(root, ".gitignore"))
	rules := gitignore.Parse(string(text))
	return func(dir string) bool {
		name, _ := filepath.Rel(root, dir) // one is made of the other
		rule, found := rules.Match(filepath.ToSlash(name), true)
		return counts && err == nil && found && !rule.Include
	}
}

// part is what a folder's files tell.
type part struct {
	languages, subjects []string // by marks and manifests
	written             []string // languages by the files' names
	folders             []string // in it that are the project's own
	workspace           bool
}

func read(dir string) (p part) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return p
	}
	for _, entry := range entries[:min(mostNames, len(entries))] {
		name := entry.Name()
		p.subjects = append(p.subjects, language.SubjectsOfFile(name)...)
		p.languages = append(append(p.languages, languageMarks.Of(name)...), frameworkMarks.Of(name)...)
		if entry.IsDir() {
			if !strings.HasPrefix(name, ".") && !slices.Contains(asides, name) {
				p.folders = append(p.folders, filepath.Join(dir, name))
			}
			continue
		}
		if own := languagesOfFile(name); own != nil {
			if filepath.Ext(name) != header {
				p.written = append(p.written, own...)
			}
		} else if other := language.Of(name); slices.Contains(otherLanguages, other) {
			p.written = append(p.written, other)
		}
		is := fileMarks.Of(name)
		p.workspace = p.workspace || slices.Contains(is, isWorkspace)
		manifest := slices.Contains(is, isManifest)
		if !manifest && !slices.Contains(is, isMore) {
			continue
		}
		content, err := ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		content = bytes.ToLower(content)
		if manifest {
			p.languages = append(p.languages, frameworksIn(content)...)
		}
		p.subjects = append(p.subjects, language.SubjectsInManifest(string(content))...)
		p.workspace = p.workspace || slices.ContainsFunc(inWorkspaces, func(text string) bool { return bytes.Contains(content, []byte(text)) })
	}
	return p
}

// frameworksIn are those that a manifest, in lower case, names.
func frameworksIn(content []byte) []string {
	var found []string
	for name, f := range frameworks {
		if bytes.Contains(content, []byte(f.name)) {
			found = append(found, name)
		}
	}
	return found
}

// LanguagesFor are the languages that count for a file of the project: its own
// and the project's frameworks in it, or the project's where its name tells
// none that is a domain of rules.
func (p Project) LanguagesFor(file string) []string {
	own := languagesOfFile(file)
	if own == nil {
		return p.Languages
	}
	for _, name := range p.Languages {
		if f, found := frameworks[name]; found && f.writtenIn(own) {
			own = append(own, name)
		}
	}
	return own
}

// SubjectsFor are the technologies that count for a file of the project: the
// project's, and those that its name and its folders' names tell.
func (p Project) SubjectsFor(file string) []string {
	subjects := slices.Clone(p.Subjects)
	for _, name := range strings.Split(filepath.ToSlash(file), "/") {
		subjects = append(subjects, language.SubjectsOfFile(name)...)
	}
	slices.Sort(subjects)
	return slices.Compact(subjects)
}

// header ends the name of what sources of C and C++ include.
const header = ".h"

// languagesOfFile are the domains of rules that a file's name tells. What is
// said of Java holds for much of Kotlin, and a header may be of C or C++.
func languagesOfFile(file string) []string {
	switch found := language.Of(file); found {
	case "javascript", "svelte":
		return []string{"typescript"}
	case "vue":
		return []string{"typescript", "vue"}
	case "kotlin":
		return []string{"kotlin", "java"}
	case "cpp":
		return []string{"cpp", "c"}
	case "c":
		if filepath.Ext(file) == header {
			return []string{"c", "cpp"}
		}
		return []string{"c"}
	default:
		if _, domain := languageFiles[found]; domain {
			return []string{found}
		}
	}
	return nil
}

// Domains are those of all domains that a search for a text covers in this
// project: every one but the languages that it is not written in and that the text
// does not name, or what its settings name. Where nothing is known about its
// languages, all of them count.
func (p Project) Domains(all, languages []string, text string) []string {
	if len(p.Settings.Domains) > 0 {
		return p.Settings.Domains
	}
	if len(languages) == 0 {
		return nil
	}
	spoken := language.NamedIn(text)
	for _, name := range spoken {
		spoken = append(spoken, frameworks[name].languages...)
	}
	var active []string
	for _, domain := range all {
		_, own := languageFiles[domain]
		f, framework := frameworks[domain]
		if !own && !framework || slices.Contains(spoken, domain) || own && slices.Contains(languages, domain) || framework && f.counts(domain, languages) {
			active = append(active, domain)
		}
	}
	return active
}

// counts says whether the rules of a framework apply to a project of some
// languages and frameworks: it is named, or could be used – its language is
// there, and no other framework of that language is named.
func (f framework) counts(domain string, languages []string) bool {
	if slices.Contains(languages, domain) {
		return true
	}
	return f.writtenIn(languages) && !slices.ContainsFunc(languages, func(name string) bool {
		other, found := frameworks[name]
		return found && other.writtenIn(f.languages)
	})
}

func (f framework) writtenIn(languages []string) bool {
	return slices.ContainsFunc(f.languages, func(l string) bool { return slices.Contains(languages, l) })
}
