package corpus

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

//go:embed rules
var embedded embed.FS

// File is a node and the file it came from.
type File struct {
	Path string // within the folder that was loaded, slashes
	Line int    // where the node begins, from 1; files of older formats hold several
	// Hash is the SHA-256, hex, of the file's bytes; of a node in an older
	// format that of its canonical file, which tells it apart from its
	// neighbours.
	Hash string
	Rule schemas.Rule
	// Content is the file's bytes, to be kept with [Keep] and written back by
	// an export. It is nil for a node in an older format.
	Content []byte
	// Outcomes are those that an older corpus had counted.
	Outcomes Outcomes

	doc *document
}

// Outcomes are how often a rule was followed and how often it was not.
type Outcomes struct{ Positive, Negative int }

// Embedded returns the corpus that ships with the program, sorted by id. An
// error wraps [ErrInvalid] and means that the build is broken.
func Embedded() ([]File, error) {
	sub, err := fs.Sub(embedded, "rules")
	if err != nil {
		return nil, fmt.Errorf("corpus: open the embedded rules: %w", err)
	}
	files, problems := Load(sub)
	if len(problems) > 0 {
		return nil, &Error{Problems: problems}
	}
	return files, nil
}

// EmbeddedHashes are those of the files that [Embedded] returns, in no order. It
// parses none of them, which takes a hundred times as long.
func EmbeddedHashes() ([]string, error) {
	var hashes []string
	err := fs.WalkDir(embedded, "rules", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isNode(name) {
			return err
		}
		src, err := embedded.ReadFile(name)
		hashes = append(hashes, digest.Hex(src))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("corpus: read the embedded rules: %w", err)
	}
	return hashes, nil
}

// isNode tells by the name whether a Markdown file holds a node.
func isNode(name string) bool {
	base := path.Base(name)
	return strings.ToLower(path.Ext(base)) == ".md" && !strings.EqualFold(base, "README.md")
}

// Load reads every node of a folder: the *.md files in it and below it, except
// README.md and what lies under a name that begins with a dot. It returns the
// sound ones sorted by id and every problem sorted by path and line. Of two
// files with one id the first by path is kept. A claim of battle-tested, which
// only outcomes can grant, is lowered to production-validated.
func Load(fsys fs.FS) ([]File, []Problem) {
	l := loader{fsys: fsys, first: map[string]string{}}
	return l.load()
}

// Lookup tells the type of a node that is stored already.
type Lookup func(id string) (t schemas.NodeType, found bool)

// LoadAny is [Load] for older formats, too: files with blocks between RULE or
// NODE markers, front matter with node_type or rule_id and its like, and
// Cypher scripts (*.cypher, *.cql). Which one a file is shows its content. Of
// an older format everything that has no place here is reported as KindSkipped
// and left out, edges that lead nowhere included, and what it lacks is filled
// in and reported as KindFilled; a Markdown file without a node is skipped.
// Several descriptions of one node in older formats are merged: the later one
// holds, by path and line, with the edges of all. An edge that today's graph
// does not have between two nodes becomes RELATED_TO. The ids of other nodes in
// the text of a block become RELATED_TO edges.
//
// Edges may point to nodes that known finds; nil finds none.
func LoadAny(fsys fs.FS, known Lookup) ([]File, []Problem) {
	l := loader{fsys: fsys, first: map[string]string{}, known: known, any: true}
	return l.load()
}

type loadedFile struct {
	file File
	doc  *document
}

type loader struct {
	fsys     fs.FS
	known    Lookup
	any      bool // older formats are read
	older    []*legacyNode
	loaded   []loadedFile
	first    map[string]string // id to the place that brought it
	problems []Problem
}

func (l *loader) load() ([]File, []Problem) {
	if err := fs.WalkDir(l.fsys, ".", l.visit); err != nil {
		l.problem(".", 0, "cannot walk the folder: %v", err)
	}
	l.convertOlder()
	l.checkEdges()
	l.checkCircles()
	files := make([]File, len(l.loaded))
	for i, f := range l.loaded {
		f.file.Rule, f.file.Outcomes, f.file.doc = f.doc.rule, f.doc.outcomes, f.doc
		if f.doc.legacy {
			f.file.Hash = digest.Hex(Render(f.doc.rule))
		}
		files[i] = f.file
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return files, l.problems
}

func (l *loader) problem(path string, line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{Path: path, Line: line, Kind: KindInvalid, Reason: fmt.Sprintf(format, args...)})
}

func (l *loader) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		l.problem(name, 0, "cannot read: %v", err)
		return nil
	}
	base, ext := path.Base(name), strings.ToLower(path.Ext(name))
	switch {
	case name != "." && strings.HasPrefix(base, "."):
		if entry.IsDir() {
			return fs.SkipDir
		}
	case entry.IsDir():
	case isNode(name):
		l.readMarkdown(name)
	case l.any && (ext == ".cypher" || ext == ".cql"):
		l.readCypher(name)
	}
	return nil
}

func (l *loader) readMarkdown(name string) {
	src, err := readBounded(l.fsys, name, MaxSize)
	if err != nil {
		l.problem(name, 0, "cannot read: %v", err)
		return
	}
	if !l.any {
		l.add(parseFile(name, src), src)
		return
	}
	found, notes, current := parseAny(name, src)
	l.problems = append(l.problems, notes...)
	if !current {
		l.addOlder(found)
		return
	}
	for _, d := range found {
		l.add(d, src)
	}
}

// parseAny reads a Markdown file in whichever format it is. current tells that
// it is one node in that of today.
func parseAny(name string, src []byte) (found []*document, notes []Problem, current bool) {
	d := &document{path: name, lines: map[string]int{}, first: 1}
	text, ok := d.decode(src)
	if !ok {
		return []*document{d}, nil, true
	}
	if line, _, _ := strings.Cut(text, "\n"); strings.TrimRight(line, " \t") == fence {
		if front, body, ok := d.split(text); ok && isLegacyFront(front) {
			return []*document{parseLegacyFront(name, front, body)}, nil, false
		}
		return []*document{parseFile(name, src)}, nil, true
	}
	if hasBlocks(text) {
		found, notes = parseBlocks(name, text)
		return found, notes, false
	}
	return nil, []Problem{{Path: name, Line: 1, Kind: KindSkipped, Reason: "this file holds no node: a node's file begins with a line \"" + fence + "\""}}, false
}

// add takes a node in, unless it is not sound or its id is taken.
func (l *loader) add(d *document, src []byte) {
	l.problems = append(l.problems, d.notes...)
	if len(d.problems) > 0 {
		l.problems = append(l.problems, d.problems...)
		return
	}
	if d.left {
		return
	}
	place := d.path
	if d.legacy {
		place = fmt.Sprintf("%s:%d", d.path, d.first)
	}
	if first, taken := l.first[d.rule.ID]; taken {
		l.problems = append(l.problems, Problem{
			Path: d.path, Line: d.line("id"), Kind: KindDuplicate, ID: d.rule.ID,
			Reason: fmt.Sprintf("id %s is taken by %s: give one of them another id", d.rule.ID, first),
		})
		return
	}
	l.first[d.rule.ID] = place
	if d.rule.Confidence == "battle-tested" {
		d.rule.Confidence = "production-validated"
		l.problems = append(l.problems, Problem{
			Path: d.path, Line: d.line("confidence"), Kind: KindDowngraded, ID: d.rule.ID,
			Reason: "battle-tested is granted by recorded outcomes only: taken as production-validated",
		})
	}
	l.loaded = append(l.loaded, loadedFile{File{Path: d.path, Line: d.first, Hash: digest.Hex(src), Content: src}, d})
}

// readBounded reads one byte past the limit at most, so that the reader can
// say that the file is too large without all of it being read.
func readBounded(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	return src, cmp.Or(err, f.Close())
}

// checkEdges reports targets that no node has, and known ones of a type that
// the edge does not join. An older format's edges to nothing are left out, and
// the others become RELATED_TO.
func (l *loader) checkEdges() {
	types, phases := map[string]schemas.NodeType{}, map[string]int{}
	for _, f := range l.loaded {
		types[f.doc.rule.ID] = f.doc.rule.NodeType()
		if p := f.doc.rule.Phase; p != nil {
			phases[f.doc.rule.ID] = p.Order
		}
	}
	for _, f := range l.loaded {
		if f.doc.prose {
			f.doc.mentions(func(id string) bool { _, known := types[id]; return known })
		}
		var kept []schemas.Edge
		var lines []int
		for i, e := range f.doc.rule.Edges {
			p := Problem{Path: f.file.Path, Line: f.doc.edgeLine(i), ID: f.doc.rule.ID, Target: e.Target}
			to, known := types[e.Target]
			if !known && l.known != nil {
				to, known = l.known(e.Target)
			}
			keep := true
			if !known {
				keep = l.unknownTarget(f.doc, e, p)
			} else if wrong := CheckEdge(e, f.doc.rule.Type, to); wrong != "" && f.doc.legacy {
				p.Kind, p.Reason = KindNoted, fmt.Sprintf("edge %s joins no %s to a %s here: kept as %s", e.Type, f.doc.rule.NodeType(), to, edgeRelated)
				l.problems = append(l.problems, p)
				e.Type = edgeRelated
			} else if wrong != "" {
				p.Kind, p.Reason = KindWrongEndpoint, wrong
				l.problems = append(l.problems, p)
			}
			if keep && (!f.doc.legacy || !slices.Contains(kept, e)) {
				kept, lines = append(kept, e), append(lines, p.Line)
			}
		}
		f.doc.rule.Edges, f.doc.edges = kept, lines
		settleMembers(f.doc, phases)
	}
}

// unknownTarget reports an edge to a node that is nowhere, and says whether it
// stays: an older format's does not. A category that nothing describes stays as
// a tag.
func (l *loader) unknownTarget(d *document, e schemas.Edge, p Problem) (keep bool) {
	p.Kind = KindUnknownTarget
	p.Reason = fmt.Sprintf("edge %s points to %s, which no file here defines: correct the id, or add that rule", e.Type, e.Target)
	if d.legacy {
		p.Kind, p.Reason = KindSkipped, fmt.Sprintf("edge %s points to %s, which no file here defines: the edge is left out", e.Type, e.Target)
	}
	if tag := strings.ToLower(e.Target); d.legacy && e.Type == edgeBelongs {
		p.Kind, p.Reason = KindNoted, fmt.Sprintf("category %s is described nowhere here: kept as the tag %s", e.Target, tag)
		if !slices.Contains(d.rule.Tags, tag) {
			d.rule.Tags = append(d.rule.Tags, tag)
		}
	}
	l.problems = append(l.problems, p)
	return !d.legacy
}

// checkCircles tells of edges that lead around in a circle where they make no
// sense. The nodes come in all the same.
func (l *loader) checkCircles() {
	if !l.any {
		return
	}
	nodes := make([]Node, len(l.loaded))
	for i, f := range l.loaded {
		nodes[i] = Node{Rule: f.doc.rule, Path: f.file.Path, doc: f.doc}
	}
	for _, found := range circles(nodes) {
		l.problems = append(l.problems, Problem{Path: found.Path, Line: found.Line, Kind: KindNoted, ID: found.IDs[0], Reason: found.Reason})
	}
}
