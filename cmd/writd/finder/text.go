package finder

import (
	"bytes"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/cmd/writd/artifacts"
	"github.com/writbus/writ/retrieval/artifact/chunk"
	"github.com/writbus/writ/retrieval/artifact/inject"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/schemas"
)

// texts reads files as they are now, each once.
type texts struct {
	root    *os.Root
	files   map[string]*text
	changed int
}

// text is a file's, by lines; without starts for one that cannot be read.
type text struct {
	whole  string
	starts []int // of each line, and the end of the last
}

// lines is the text of some lines with their ends, counted from 0, the end not
// included; "" where there are none such.
func (t *text) lines(from, to int) string {
	if from < 0 || from >= to || to >= len(t.starts) {
		return ""
	}
	return t.whole[t.starts[from]:t.starts[to]]
}

func (t *texts) close() { _ = t.root.Close() }

// longLine is the length, in bytes, of a line that may have been cut into
// several chunks.
const longLine = 1024

// of is the text of a hit.
func (t *texts) of(h search.Hit) (string, bool) {
	file := t.file(h)
	text := file.lines(h.Lines[0]-1, h.Lines[1])
	if h.Lines[0] == h.Lines[1] && len(text) > longLine {
		chunks, _ := chunk.Split(h.Document.Language, file.whole, chunk.NewCounter())
		if h.Chunk >= len(chunks) || chunks[h.Chunk].Lines != h.Lines {
			return "", false
		}
		text = chunks[h.Chunk].Text
	}
	return strings.Clone(text), text != "" // the rest of the file is not kept
}

func (t *texts) file(h search.Hit) *text {
	path := h.Document.Path
	if known, ok := t.files[path]; ok {
		return known
	}
	out := &text{}
	t.files[path] = out
	raw, hash, err := artifacts.Content(t.root, path)
	if err != nil || hash != h.Document.Hash {
		t.changed++
	}
	if err != nil {
		return out
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	out.whole = validText(raw)
	out.starts = append(out.starts, 0)
	for at := 0; at < len(out.whole); {
		next := strings.IndexByte(out.whole[at:], '\n')
		if next < 0 {
			next = len(out.whole) - at - 1
		}
		at += next + 1
		out.starts = append(out.starts, at)
	}
	return out
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
func artifactOf(h search.Hit, text string, snapshot *artifacts.Snapshot) schemas.ArtifactFound {
	d, modified := h.Document, h.Document.ModTime
	if info, found := snapshot.Document(d.Path); found {
		modified = info.ModTime // an index of texts does not change with it
	}
	return schemas.ArtifactFound{
		Path: d.Path, Lines: h.Lines, Type: string(d.Type), Score: round(h.Score), Content: text, Why: h.Why,
		Metadata: schemas.ArtifactMetadata{
			Title: d.Title, Summary: d.Summary, Heading: h.Heading, Symbols: h.Symbols, Tags: d.Tags, Phase: d.Phase, Language: d.Language,
			References: snapshot.References(d.Path), LastModified: modified, Tokens: h.Tokens, Generated: d.Generated,
		},
	}
}
