package language

import (
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for file, want := range map[string]string{
		"a/b.go": "go", "A.PY": "python", "x.d.ts": "typescript", "x": "", "x.unknown": "", ".go": "go", "go.mod": "gomod", "README": "markdown",
		"README.md": "markdown", "a.txt": "text", "LICENSE": "text", "Dockerfile": "dockerfile", "Dockerfile.dev": "dockerfile", "dev.dockerfile": "dockerfile",
		".env": "ini", ".env.local": "ini", "prod.env": "ini", "CMakeLists.txt": "cmake", "c.tfvars": "terraform", "makefile": "make", ".bashrc": "shell", "": "", "a.b/c": "",
	} {
		if got := Of(file); got != want {
			t.Errorf("%q is %q, want %q", file, got, want)
		}
	}
}

func TestOfScript(t *testing.T) {
	for content, want := range map[string]string{
		"": "", "#!": "", "echo": "", "#!/bin/sh\n": "shell", "#!/usr/bin/env python3\nx": "python", "#!/usr/bin/env -S deno run\n": "javascript",
		"#!/usr/bin/lua5.4": "lua", "#!/bin/awk -f\n": "", "#! /usr/bin/perl -w\n": "perl", "#!\n/bin/sh": "",
	} {
		if got := OfScript([]byte(content)); got != want {
			t.Errorf("%q is %q, want %q", content, got, want)
		}
	}
}

func TestNamedIn(t *testing.T) {
	for text, want := range map[string]string{
		"ok go on":                       "",
		"the next one":                   "",
		"let the form react to changes":  "",
		"write it in Go, please":         "go",
		"a worker using spring":          "spring",
		"port this golang service":       "go",
		"a Next.js page (TypeScript)":    "nextjs typescript",
		"one for C# and one for c++":     "cpp csharp",
		"go":                             "",
		"crash in SyncRepository.kt:12":  "kotlin",
		"look at cache.go and deploy.sh": "go shell",
		"what says README.md":            "",
		"":                               "",
	} {
		if got := strings.Join(NamedIn(text), " "); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

func TestTechnologies(t *testing.T) {
	if got := Technologies("rename the kafka consumers of our react app for s3"); got != "kafka consumers react s3" {
		t.Errorf("%q", got)
	}
}

// TestSubjectsAreWhole: a misspelt word of subjects.txt would take a list away, and a
// name that two have would be of one alone.
func TestSubjectsAreWhole(t *testing.T) {
	for line := range strings.Lines(subjectsText) {
		key, list, found := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		if found && !strings.HasPrefix(key, "#") && !strings.HasPrefix(key, " ") && (!slices.Contains([]string{"words", "libraries", "files"}, key) || list == "") {
			t.Errorf("no list is called %q", key)
		}
	}
	names := 0
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(subjectsText, "\r", ""), "\n\n") {
		if first, _, _ := strings.Cut(paragraph, "\n"); !strings.HasPrefix(first, "#") {
			names += strings.Count(first, ",") + 1
		}
	}
	if all := subjects(); len(all.called) != names || len(all.byName) == 0 {
		t.Errorf("%d names for %d subjects, %d of them different", names, len(all.byName), len(all.called))
	}
	for name, s := range subjects().byName {
		if len(s.Words) == 0 || len(s.Libraries)+len(s.Files) == 0 {
			t.Errorf("%s cannot be told", name)
		}
		for _, one := range slices.Concat([]string{name}, s.Words, s.Libraries, s.Files) {
			if one == "" || one != strings.TrimSpace(one) || strings.ContainsAny(one, ",:#") || strings.Contains(one, "  ") {
				t.Errorf("%s has %q", name, one)
			}
		}
	}
}
