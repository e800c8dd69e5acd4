package artifact

import "time"

// Bounds of what is indexed, from the specification.
const (
	// MaxChunkTokens is the most tokens of a chunk, as package chunk tells them
	// from its bytes. A single line that is longer is cut.
	MaxChunkTokens = 512
	// OverlapTokens is the most tokens that the second and later chunks of one
	// section or declaration repeat from the end of the one before. Whole lines
	// are repeated.
	OverlapTokens = 50
	// MaxFileBytes is the size of the largest file that is indexed.
	MaxFileBytes = 1 << 20
)

// Type says what a file is for. Persisted; never change.
type Type string

// The types of artifacts.
const (
	Requirement   Type = "requirement"
	Architecture  Type = "architecture"
	Test          Type = "test"
	Code          Type = "code"
	Documentation Type = "documentation"
	Research      Type = "research"
)

// Types lists the types, in the order of the specification.
func Types() []Type {
	return []Type{Requirement, Architecture, Test, Code, Documentation, Research}
}

// Known says whether t is one of [Types].
func (t Type) Known() bool {
	switch t {
	case Requirement, Architecture, Test, Code, Documentation, Research:
		return true
	}
	return false
}

// The phases that directories and front matter are mapped to, those of the
// unified process. Front matter may name others, in lower case.
const (
	Inception    = "inception"
	Elaboration  = "elaboration"
	Construction = "construction"
	Transition   = "transition"
)

// Document is one file of a project as it is indexed. It never changes after it
// was made; a changed file is a new Document with the same path. Its strings
// may share the memory of the file's text: who keeps one chunk of it keeps all
// of it.
type Document struct {
	Path  string
	Type  Type
	Title string // of the front matter, the first heading, else the file's name
	// Summary is one paragraph: of the front matter, of the comment above the
	// code, or the first of the text; at most 400 bytes.
	Summary  string
	Tags     []string // lower case, sorted, each once
	Phase    string   // lower case; "" for none
	Language string   // "go", "markdown", "python", …; "text" for the rest
	// References are the paths that the text mentions and the project has,
	// sorted, each once, never its own.
	References []string
	ModTime    time.Time // UTC
	Size       int64     // bytes on disk
	Hash       string    // SHA-256 of the bytes on disk, lower-case hexadecimal
	// Generated says that a program wrote the file. Such files are left out
	// unless the project asks for them.
	Generated bool
	Chunks    []Chunk  // in the order of their lines; empty for an empty file
	Symbols   []Symbol // in the order of their lines
}

// Chunk is a run of whole lines of a document: a section, a declaration, or a
// part of one. Together the chunks cover every line.
type Chunk struct {
	// Lines are the first and last line, counted from 1, both included.
	Lines [2]int
	// Heading leads to the chunk: the headings above it, joined with " > ", or
	// the name of the declaration; "" for what stands before any.
	Heading string
	// Text is the text of the lines, with their line ends. Bytes that are not
	// UTF-8 are U+FFFD. Of a line too long for one chunk it is a part, and
	// several chunks have the same line.
	Text    string
	Tokens  int      // of Text, about
	Symbols []string // names that the chunk declares, in their order
}

// Symbol is a name that a document declares.
type Symbol struct {
	Name string // as it is written: "Index", "Index.Search" for a method
	// Kind is "func", "method", "type", "const", "var", "class", "interface",
	// "module", "macro" or "heading".
	Kind string
	Line int // where its declaration begins, counted from 1
}
