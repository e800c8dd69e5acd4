package language

import "testing"

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
