package project

import (
	"os"
	"path"
	"path/filepath"
	"slices"
)

// languageMarks names, for each language that is a domain of rules, the files
// at a project's root that say it is written in it.
var languageMarks = map[string][]string{
	"go":         {"go.mod", "go.work"},
	"python":     {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "uv.lock"},
	"typescript": {"package.json", "tsconfig.json", "deno.json"},
	"java":       {"pom.xml", "build.gradle", "build.gradle.kts"},
	"rust":       {"Cargo.toml"},
}

// languageOfSuffix names the language of a file.
var languageOfSuffix = map[string]string{
	".go": "go", ".py": "python", ".pyi": "python", ".ts": "typescript", ".tsx": "typescript", ".js": "typescript",
	".jsx": "typescript", ".mjs": "typescript", ".java": "java", ".kt": "java", ".rs": "rust",
}

// LanguagesOf are the languages that the files at a project's root tell.
func LanguagesOf(root string) []string {
	var found []string
	for language, marks := range languageMarks {
		for _, mark := range marks {
			if _, err := os.Stat(filepath.Join(root, mark)); err == nil {
				found = append(found, language)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// LanguageOfFile is the language of a file by its name, "" for none that is a
// domain of rules.
func LanguageOfFile(name string) string { return languageOfSuffix[path.Ext(name)] }

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
		if _, language := languageMarks[domain]; !language || slices.Contains(languages, domain) {
			active = append(active, domain)
		}
	}
	return active
}
