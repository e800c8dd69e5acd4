package finder

import (
	"bytes"
	"math"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/chunk"
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
	moved    map[string]bool // files that cannot be read or changed since they were indexed
	changed  int             // how many
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

// of are the texts of hits, "" for what is not there any more. Each file is read
// once.
func (t *texts) of(hits []search.Hit) []string {
	out, done := make([]string, len(hits)), make([]bool, len(hits))
	for i, h := range hits {
		if done[i] {
			continue
		}
		file := t.file(h.Document)
		for j := i; j < len(hits); j++ {
			if !done[j] && hits[j].Document.Path == h.Document.Path {
				out[j], done[j] = textOf(file, hits[j]), true
			}
		}
	}
	return out
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

// file is a file as it is now, without the mark of its encoding; nothing if it
// cannot be read. It is there until the next one is read.
func (t *texts) file(d *artifact.Document) []byte {
	raw, same, err := t.contents.Read(t.root, d.Path, d.Hash, t.buffer)
	if !same && !t.moved[d.Path] {
		t.moved[d.Path] = true
		t.changed++
	}
	if err != nil {
		return nil
	}
	return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
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
			References: snapshot.References(d.Path), LastModified: modified, Tokens: h.Tokens, Generated: d.Generated,
		},
	}
}
