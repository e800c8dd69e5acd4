package project

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/language"
)

// languageMarks names, for each language that is a domain of rules, the files
// at a project's root that say it is written in it.
var languageMarks = map[string][]string{
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
// write, and a text in a manifest of the root that names it, "" for none.
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
	"ios":     {[]string{"swift"}, ""},
}

// manifests are the files at a root that name the libraries a project uses.
var manifests = []string{
	"package.json", "pyproject.toml", "requirements.txt", "Pipfile", "Gemfile", "composer.json", "pom.xml",
	"build.gradle", "build.gradle.kts", "settings.gradle.kts", "*.csproj",
}

// more are files at a root that name technologies beside those.
var more = []string{
	"go.mod", "Cargo.toml", "requirements-*.txt", "requirements_*.txt", "setup.py", "setup.cfg", "environment.yml", "Directory.Packages.props",
	"docker-compose*.yml", "docker-compose*.yaml", "compose.yml", "compose.yaml", "mix.exs", "build.sbt", "deno.json", "libs.versions.toml",
}

// LanguagesOf are the languages and frameworks that the files at a project's
// root tell.
func LanguagesOf(root string) []string {
	languages, _ := Uses(root)
	return languages
}

// Uses are the languages and frameworks, and the other technologies, that the
// files at a project's root tell.
func Uses(root string) (languages, subjects []string) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, nil
	}
	var found []string
	for _, entry := range entries {
		subjects = append(subjects, language.SubjectsOfFile(entry.Name())...)
		for language, marks := range languageMarks {
			if named(entry.Name(), marks) {
				found = append(found, language)
			}
		}
		manifest := named(entry.Name(), manifests)
		if !manifest && !named(entry.Name(), more) {
			continue
		}
		content, err := ReadFile(filepath.Join(root, entry.Name()))
		if err != nil {
			continue
		}
		content = bytes.ToLower(content)
		if manifest {
			found = append(found, frameworksIn(content)...)
		}
		subjects = append(subjects, language.SubjectsInManifest(string(content))...)
	}
	slices.Sort(found)
	slices.Sort(subjects)
	return slices.Compact(found), slices.Compact(subjects)
}

func named(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, name)
		return err == nil && matches
	})
}

// frameworksIn are those that a manifest, in lower case, names.
func frameworksIn(content []byte) []string {
	var found []string
	for name, f := range frameworks {
		if f.name != "" && bytes.Contains(content, []byte(f.name)) {
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
	case "c", "cpp":
		return []string{"c", "cpp"}
	default:
		if _, domain := languageMarks[found]; domain {
			return []string{found}
		}
	}
	return nil
}

// Domains are those of all domains that a search for this project covers: every
// one but the languages it is not written in, or what its settings name. Where
// nothing is known about its languages, all of them count.
func (p Project) Domains(all, languages []string) []string {
	if len(p.Settings.Domains) > 0 {
		return p.Settings.Domains
	}
	if len(languages) == 0 {
		return nil
	}
	var active []string
	for _, domain := range all {
		if _, language := languageMarks[domain]; language && !slices.Contains(languages, domain) {
			continue
		}
		if f, framework := frameworks[domain]; framework && !f.counts(domain, languages) {
			continue
		}
		active = append(active, domain)
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
