package finder

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/chunk"
	"github.com/writbus/writ/retrieval/artifact/describe"
	"github.com/writbus/writ/retrieval/artifact/inject"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

// texts reads files as they are now.
type texts struct {
	root     *os.Root
	contents *files.Contents
	buffer   *[]byte
	moved    []string // files that cannot be read or changed since they were indexed
}

// piece is a hit as its file has it now, and its text; "" for what is not there
// any more.
type piece struct {
	hit  search.Hit
	text string
}

// buffers hold the file that is being read.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func (t *texts) close() {
	_ = t.root.Close()
	buffers.Put(t.buffer)
}

// longLine is the length, in bytes, of a line that may have been cut into
// several chunks.
const longLine = 1024

// of are hits as they are now. Each file is read once.
func (t *texts) of(hits []search.Hit) []piece {
	out, done := make([]piece, len(hits)), make([]bool, len(hits))
	for i, h := range hits {
		if done[i] {
			continue
		}
		file, same := t.file(h.Document)
		for j := i; j < len(hits); j++ {
			if done[j] || hits[j].Document.Path != h.Document.Path {
				continue
			}
			if done[j] = true; same {
				out[j] = piece{hits[j], textOf(file, hits[j])}
			} else if p := cutAnew(file, hits[j]); !slices.ContainsFunc(out, p.is) {
				out[j] = p
			}
		}
	}
	return out
}

// is says whether two pieces are the same.
func (p piece) is(o piece) bool {
	return p.text != "" && o.text != "" && p.hit.Document.Path == o.hit.Document.Path && p.hit.Lines == o.hit.Lines
}

// cutAnew is a hit in a file that changed since it was indexed: the piece of
// the file, as it is now, that has the hit's heading or declares a name of its;
// nothing where there is none. Among several the nearest is taken.
func cutAnew(file []byte, h search.Hit) piece {
	if len(file) == 0 {
		return piece{}
	}
	chunks, _ := chunk.Split(h.Document.Language, validText(file), new(chunk.Scratch))
	best, far := -1, 0
	for i, c := range chunks {
		alike := h.Heading != "" && c.Heading == h.Heading || slices.ContainsFunc(c.Symbols, func(name string) bool { return slices.Contains(h.Symbols, name) })
		if h.Heading == "" && len(h.Symbols) == 0 { // text that nothing names
			alike = c.Heading == "" && len(c.Symbols) == 0
		}
		if d := max(c.Lines[0]-h.Lines[0], h.Lines[0]-c.Lines[0]); alike && (best < 0 || d < far) {
			best, far = i, d
		}
	}
	if best < 0 {
		return piece{}
	}
	c := chunks[best]
	h.Chunk, h.Lines, h.Heading, h.Symbols, h.Tokens = best, c.Lines, c.Heading, c.Symbols, c.Tokens
	return piece{h, strings.Clone(c.Text)}
}

// textOf is the text of a hit in its file.
func textOf(file []byte, h search.Hit) string {
	text := lines(file, h.Lines[0]-1, h.Lines[1])
	if h.Lines[0] == h.Lines[1] && len(text) > longLine {
		chunks, _ := chunk.Split(h.Document.Language, validText(file), new(chunk.Scratch))
		if h.Chunk >= len(chunks) || chunks[h.Chunk].Lines != h.Lines {
			return ""
		}
		return strings.Clone(chunks[h.Chunk].Text) // the rest of the file is not kept
	}
	return validText(text)
}

// file is a file as it is now, as UTF-8 without the mark of its encoding, and
// whether it is as it was indexed; nothing if it cannot be read. It is there
// until the next one is read.
func (t *texts) file(d *artifact.Document) (text []byte, same bool) {
	raw, same, err := t.contents.Read(t.root, d.Path, d.Hash, t.buffer)
	if !same && !slices.Contains(t.moved, d.Path) {
		t.moved = append(t.moved, d.Path)
	}
	if err != nil {
		return nil, false
	}
	return describe.UTF8(raw), same
}

// countedAtOnce is how many bytes are searched for line ends together.
const countedAtOnce = 1 << 10

// lines are some lines with their ends, counted from 0, the end not included;
// nothing where there are none such.
func lines(text []byte, from, to int) []byte {
	if from < 0 || from >= to {
		return nil
	}
	first, ok := behindLines(text, from)
	if !ok {
		return nil
	}
	text = text[first:]
	end, ok := behindLines(text, to-from)
	if !ok {
		return nil
	}
	return text[:end]
}

// behindLines is where so many lines end, if there are as many. The last one may
// lack its end.
func behindLines(text []byte, n int) (at int, ok bool) {
	for n > 0 && at < len(text) {
		block := text[at:min(at+countedAtOnce, len(text))]
		if ends := bytes.Count(block, []byte{'\n'}); ends < n {
			n -= ends
			if at += len(block); at == len(text) && text[at-1] != '\n' {
				n--
			}
			continue
		}
		for ; n > 0; n-- {
			at += bytes.IndexByte(text[at:], '\n') + 1
		}
	}
	return at, n == 0
}

// validText replaces each byte that is not UTF-8.
func validText(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	return string([]rune(string(raw)))
}

func reference(path string) string { return inject.Reference(path) }

// round keeps four digits, which is more than a chance is known to.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// artifactOf is a hit as it is told.
func artifactOf(h search.Hit, text string, snapshot *files.Snapshot) schemas.ArtifactFound {
	d, modified := h.Document, h.Document.ModTime
	if info, found := snapshot.Document(d.Path); found {
		modified = info.ModTime // an index of texts does not change with it
	}
	return schemas.ArtifactFound{
		Path: d.Path, Lines: h.Lines, Type: string(d.Type), Score: round(h.Score), Content: text, Why: h.Why,
		Metadata: schemas.ArtifactMetadata{
			Title: d.Title, Summary: d.Summary, Heading: h.Heading, Symbols: h.Symbols, Tags: d.Tags, Phase: d.Phase, Language: d.Language,
			References: snapshot.References(d.Path), LastModified: modified, Tokens: h.Tokens, Generated: d.Generated, Copies: h.Copies,
		},
	}
}
