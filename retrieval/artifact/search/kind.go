package search

import (
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

// kind says what a file is that a query seldom asks for unless it says so.
type kind uint16

const (
	kindTest kind = 1 << iota
	kindExample
	kindGenerated
	kindCompat
	kindChanges
	kindDocs    // prose beside the code
	kindSurface // declares what others implement
)

// Words that ask for a kind of file in the forms that name it: who writes that a
// document changed, or that a header is generated, asks for no file of that kind. And
// the parts of a path that show it.
var kindWords = map[string]kind{
	"test": kindTest, "tests": kindTest, "testing": kindTest, "tested": kindTest, "fuzz": kindTest, "fuzzing": kindTest, "benchmark": kindTest, "benchmarks": kindTest,
	"bench": kindTest, "mock": kindTest, "mocks": kindTest, "fixture": kindTest, "fixtures": kindTest, "spec": kindTest, "specs": kindTest,
	"example": kindExample, "examples": kindExample, "demo": kindExample, "demos": kindExample, "sample": kindExample, "samples": kindExample, "generated": kindGenerated,
	"doc": kindDocs, "docs": kindDocs, "documentation": kindDocs, "documented": kindDocs, "readme": kindDocs, "guide": kindDocs, "guides": kindDocs, "manual": kindDocs,
	"overview": kindDocs, "architecture": kindDocs | kindSurface, "faq": kindDocs, "license": kindDocs, "licence": kindDocs,
	"interface": kindSurface, "interfaces": kindSurface, "headers": kindSurface,
	"changelog": kindChanges, "changes": kindChanges, "release": kindChanges, "releases": kindChanges, "history": kindChanges, "news": kindChanges,
	"compat": kindCompat, "compatibility": kindCompat, "legacy": kindCompat, "deprecated": kindCompat, "vendor": kindCompat, "vendored": kindCompat, "backward": kindCompat,
}

var pathKinds = map[string]kind{
	"test": kindTest, "tests": kindTest, "testdata": kindTest, "fixtures": kindTest, "mocks": kindTest, "mock": kindTest,
	"spec": kindTest, "__tests__": kindTest, "e2e": kindTest, "fake": kindTest, "fakes": kindTest, "benchmark": kindTest, "benchmarks": kindTest, "_benchmark": kindTest, "bench": kindTest,
	"examples": kindExample, "example": kindExample, "_examples": kindExample, "samples": kindExample, "sample": kindExample, "demo": kindExample, "demos": kindExample,
	"generated": kindGenerated, "gen": kindGenerated, "dist": kindGenerated, "min": kindGenerated, "bundle": kindGenerated, "autoloads": kindGenerated,
	"changelog": kindChanges, "changes": kindChanges, "history": kindChanges, "news": kindChanges,
	"compat": kindCompat, "legacy": kindCompat, "deprecated": kindCompat, "vendor": kindCompat, "third_party": kindCompat, "vendored": kindCompat,
	"_legacy": kindCompat, "old": kindCompat, "obsolete": kindCompat, "v1compat": kindCompat,
}

// Files that are prose, and files that tell what others do.
var (
	proseEndings = map[string]bool{
		".html": true, ".htm": true, ".txt": true, ".po": true, ".pod": true, ".rst": true, ".adoc": true, ".1": true, ".5": true, ".7": true, ".8": true,
	}
	surfaceEndings = map[string]bool{".h": true, ".hh": true, ".hpp": true, ".hxx": true, ".h++": true, ".pyi": true, ".mli": true, ".fsi": true, ".hrl": true}
	surfaceNames   = map[string]bool{"__init__.py": true, "package-info.java": true, "mod.rs": true}
)

// folderNames are the names of files that are what their folder is called.
var folderNames = map[string]bool{"index": true, "mod": true, "init": true, "__init__": true}

// kindsOf is what a document is, by its path, type and content.
func kindsOf(d *artifact.Document) (k kind) {
	if d.Type == artifact.Test {
		k |= kindTest
	}
	if d.Generated {
		k |= kindGenerated
	}
	dir, name := path.Split(strings.ToLower(d.Path))
	long := len(d.Chunks) > 0 && d.Chunks[len(d.Chunks)-1].Lines[1] > shortSurface
	switch {
	case d.Type == artifact.Documentation, proseEndings[path.Ext(name)]:
		k |= kindDocs
	case surfaceEndings[path.Ext(name)], surfaceNames[name] && !long, strings.HasSuffix(name, ".d.ts"):
		k |= kindSurface
	}
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		k |= pathKinds[part]
	}
	k |= pathKinds[strings.TrimPrefix(path.Ext(name), ".")] & kindExample // as in server.conf.example
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, part := range strings.FieldsFunc(stem, func(r rune) bool { return strings.ContainsRune("_-.", r) }) {
		k |= pathKinds[part]
	}
	return k
}

// shortSurface is how many lines a file has at the most that only names what others
// of its folder hold.
const shortSurface = 60

// asksFor is what a query asks for by its words, and by the parts of its identifiers.
func asksFor(written []string) (k kind) {
	var buffer [8][2]int
	for _, word := range written {
		for _, p := range partsOf(word, buffer[:0]) {
			k |= kindWords[strings.ToLower(word[p[0]:p[1]])]
		}
	}
	return k
}

// keptOf copies what an index keeps of a document.
func keptOf(d *artifact.Document) document {
	out := document{Document: *d, kinds: kindsOf(d)}
	out.Chunks, out.Symbols = nil, nil
	for _, s := range []*string{&out.Path, &out.Title, &out.Summary, &out.Phase, &out.Language, &out.Hash} {
		*s = strings.Clone(*s)
	}
	out.Type = artifact.Type(strings.Clone(string(d.Type)))
	out.Tags, out.References = cloned(d.Tags), cloned(d.References)
	dir, name := path.Split(d.Path)
	stem := strings.TrimSuffix(name, path.Ext(name))
	if folder := path.Base(dir); folderNames[stem] && folder != "." && folder != "/" {
		stem = folder // it is what the folder is
	}
	out.stem = joined(Words(stem))
	out.dirs = joined(Words(dir))
	return out
}

func cloned(in []string) []string {
	out := slices.Clone(in)
	for i, s := range out {
		out[i] = strings.Clone(s)
	}
	return out
}

func joined(terms []string) string {
	if len(terms) == 0 {
		return ""
	}
	return strings.Join(terms, " ") + " "
}
