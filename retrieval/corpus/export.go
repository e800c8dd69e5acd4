package corpus

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

// Node is a stored node with what is known of its file.
type Node struct {
	Rule schemas.Rule
	// Path is the file it came from, within the imported folder; "" where it
	// is not known, or the node came from elsewhere.
	Path string
	// Content is what [Keep] returned.
	Content string

	doc *document // where it was just read
}

// Node is the node of a file just loaded, to be validated or exported.
func (f File) Node() Node {
	return Node{Rule: f.Rule, Path: f.Path, Content: Keep(f.Rule, f.Content), doc: f.doc}
}

// Written is a file of an export.
type Written struct {
	Path    string // within the folder, slashes
	ID      string
	Content []byte
}

// Authored is a node as the store takes it from a person's file: what the file
// leaves open is a person's word, reviewed; battle-tested is not for a file to
// claim.
func Authored(r schemas.Rule) schemas.Rule {
	r.Authority = cmp.Or(r.Authority, "human")
	switch r.Confidence {
	case "":
		r.Confidence = "peer-reviewed"
	case "battle-tested":
		r.Confidence = "production-validated"
	}
	return r
}

// Keep returns what has to be stored of a file for its bytes to come back from
// [Bytes]: nothing where the stored node's canonical form is the file.
func Keep(stored schemas.Rule, file []byte) string {
	if bytes.Equal(Render(stored), file) {
		return ""
	}
	return string(file)
}

// Bytes is the file of a node: the one that was kept, where it still says what
// the node is, else the canonical form.
func Bytes(n Node) []byte {
	if n.Content != "" {
		read, err := Parse("", []byte(n.Content))
		if err == nil && bytes.Equal(Render(Authored(read)), Render(Authored(n.Rule))) {
			return []byte(n.Content)
		}
	}
	return Render(n.Rule)
}

// Export lays nodes out as files, sorted by path: each where it came from, if
// that is a place a folder may have and no other node claims it, else as
// domain/id.md. No two paths differ in case only. Importing the files gives
// back the nodes, and an export of those the same bytes.
func Export(list []Node) []Written {
	list = slices.SortedFunc(slices.Values(list), func(a, b Node) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	claims := map[string]int{}
	for _, n := range list {
		claims[fold(n.Path)]++
	}
	taken := map[string]bool{}
	out := make([]Written, len(list))
	for i, n := range list {
		out[i] = Written{ID: n.Rule.ID, Content: Bytes(n)}
		if claims[fold(n.Path)] == 1 && isFilePath(n.Path) {
			out[i].Path = n.Path
			taken[fold(n.Path)] = true
		}
	}
	for i, n := range list {
		if out[i].Path == "" {
			out[i].Path = free(taken, path.Join(folderName(n.Rule.Domain), fileName(n.Rule.ID)))
			taken[fold(out[i].Path)] = true
		}
	}
	slices.SortFunc(out, func(a, b Written) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// fold makes paths comparable as file systems without case see them.
func fold(p string) string { return strings.ToLower(p) }

// free numbers a path until nothing has it.
func free(taken map[string]bool, p string) string {
	base := strings.TrimSuffix(p, ".md")
	for n := 2; taken[fold(p)]; n++ {
		p = fmt.Sprintf("%s-%d.md", base, n)
	}
	return p
}

// isFilePath says whether Load would read a file there on any system.
func isFilePath(p string) bool {
	if !fs.ValidPath(p) || path.Ext(p) != ".md" || strings.EqualFold(path.Base(p), "README.md") || len(p) > 240 {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(p, ".md"), "/") {
		if safeName(part) != part || strings.EqualFold(path.Ext(part), ".md") {
			return false
		}
	}
	return true
}

func fileName(id string) string { return safeName(id) + ".md" }

// folderName is the folder of a domain, that of nodes of every domain for "".
func folderName(domain string) string {
	name := safeName(cmp.Or(strings.ToLower(strings.TrimSpace(domain)), "general"))
	if path.Ext(name) == ".md" {
		name += "-" // a file may be called so
	}
	return name
}

// reservedNames are those that some systems keep for devices, and the one
// that Load passes over.
var reservedNames = []string{
	"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "readme",
}

// safeName makes a part of a path, without its extension, that every file
// system takes: letters, digits, and of the rest only - _ . and inner blanks,
// at most 100 bytes.
func safeName(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !strings.ContainsRune(" -_.", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = '-'
		}
		if b.Len()+utf8.RuneLen(r) > 100 {
			break
		}
		b.WriteRune(r)
	}
	s = strings.TrimRight(strings.TrimLeft(b.String(), ". "), ". ")
	if stem, rest, dotted := strings.Cut(s, "."); slices.Contains(reservedNames, strings.ToLower(stem)) {
		if s = stem + "-"; dotted {
			s += "." + rest
		}
	}
	return cmp.Or(s, "-")
}
