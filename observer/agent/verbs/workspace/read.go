package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
)

const (
	maxImage = 8 << 20   // bytes of an image part
	maxHash  = 256 << 20 // bytes of a binary file that is hashed
	sniffed  = 8 << 10   // bytes by which text and binary are told apart
	dumped   = 256       // bytes shown of a binary file
)

// read is /read PATH[:FROM-TO] and /read #ID[:FROM-TO].
func (w *handlers) read(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	name, lines := dialect.CutLines(strings.TrimSpace(c.Args))
	if lines.To > 0 && lines.To < lines.From {
		return verbs.Err(fmt.Sprintf("the lines %d-%d end before they begin", lines.From, lines.To), "write :FROM-TO"), nil
	}
	if id, ok := strings.CutPrefix(name, "#"); ok {
		return w.readArtifact(ctx, c, id, lines)
	}
	f, err := openFolder(c)
	if err != nil {
		return told(err)
	}
	defer f.close()
	if name, err = f.name(name); err != nil {
		return told(err)
	}
	real, err := w.follow(c, f, name)
	if err != nil {
		return told(err)
	}
	file, size, err := openRegular(f.root, real)
	if err != nil {
		return told(err)
	}
	defer func() { _ = file.Close() }() // only read
	return present(source{name: name, size: size, from: file}, lines, limits(c).Body)
}

// openRegular opens a file and does not wait for the other end of what is none.
func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	before, err := root.Stat(name)
	if err != nil {
		return nil, 0, problem{shown(name) + " cannot be read: " + reason(err), "use another path"}
	}
	if before.IsDir() {
		return nil, 0, problem{shown(name) + " is a folder", "/map " + name + " shows what is in it"}
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, problem{name + " cannot be read: " + reason(err), "use another path"}
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = file.Close() // nothing was read
		return nil, 0, problem{name + " is no plain file", "use another path"}
	}
	return file, info.Size(), nil
}

func (w *handlers) readArtifact(ctx context.Context, c verbs.Call, id string, lines dialect.Lines) (verbs.Result, error) {
	if w.Artifacts == nil {
		return verbs.Err("this conversation keeps no artifacts", "read a file"), nil
	}
	a, ok, err := w.Artifacts.Artifact(ctx, c.Run, id)
	if err != nil {
		return verbs.Result{}, err
	}
	if !ok {
		return verbs.Err("there is no artifact #"+id, "/list shows those there are"), nil
	}
	name := "#" + id
	if a.Name != "" {
		name += " " + a.Name
	}
	return present(source{name: name, again: "#" + id, size: int64(len(a.Data)), from: bytes.NewReader(a.Data)}, lines, limits(c).Body)
}

// source is something to be read.
type source struct {
	name  string
	again string // how /read names it, where that is not name
	size  int64
	from  io.Reader
}

func (s source) reads() string {
	if s.again != "" {
		return s.again
	}
	return s.name
}

// present makes a result of what a source holds: an image part, the facts about
// something binary, or lines of text, as many as fit into limit bytes.
func present(s source, lines dialect.Lines, limit int) (verbs.Result, error) {
	head := make([]byte, sniffed)
	n, err := io.ReadFull(s.from, head)
	if err != nil && n == 0 && err != io.EOF {
		return verbs.Err(s.name+" cannot be read: "+reason(err), "use another path"), nil
	}
	head = head[:n]
	rest := io.MultiReader(bytes.NewReader(head), s.from)
	media := http.DetectContentType(head)
	switch {
	case slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, media):
		return image(s, media, rest)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		rest = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(rest)
	case binary(head):
		return facts(s, media, head, rest)
	}
	return text(s, rest, lines, limit)
}

// binary reports what no text holds.
func binary(head []byte) bool {
	return bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f\b\x1b", r) })
}

func image(s source, media string, from io.Reader) (verbs.Result, error) {
	if s.size > maxImage {
		return verbs.Err(fmt.Sprintf("the image %s has %d bytes; the limit is %d", s.name, s.size, maxImage), "make a smaller copy with /exec"), nil
	}
	data, err := io.ReadAll(io.LimitReader(from, maxImage))
	if err != nil {
		return verbs.Err(s.name+" cannot be read: "+reason(err), "try again"), nil
	}
	r := verbs.Content(verbs.TrustFile, s.name+"\n")
	r.Images = []verbs.Image{{MIME: media, Data: data, Name: s.name}}
	return r.With("bytes", fmt.Sprint(len(data))), nil
}

func facts(s source, media string, head []byte, from io.Reader) (verbs.Result, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(from, maxHash))
	if err != nil {
		return verbs.Err(s.name+" cannot be read: "+reason(err), "try again"), nil
	}
	digest := "not hashed, it is larger than " + fmt.Sprint(maxHash) + " bytes"
	if n == s.size {
		digest = "sha256 " + hex.EncodeToString(sum.Sum(nil))
	}
	shown := head[:min(len(head), dumped)]
	return verbs.Content(verbs.TrustFile, fmt.Sprintf("%s is binary: %s, %d bytes, %s. Its first %d bytes:\n%s",
		s.name, media, s.size, digest, len(shown), hex.Dump(shown))), nil
}

// text shows the lines that were asked for and fit, and says how to go on.
func text(s source, from io.Reader, lines dialect.Lines, limit int) (verbs.Result, error) {
	const notes = 300 // bytes of what is said about a file
	part, err := takeLines(from, lines, max(limit-notes-2*len(s.name), 0))
	if err != nil {
		return verbs.Err(s.name+" cannot be read: "+reason(err), "try again"), nil
	}
	first := max(lines.From, 1)
	if lines.From > part.total && lines.From > 1 {
		return verbs.Err(fmt.Sprintf("%s has %d lines", s.name, part.total), "ask for lines that there are"), nil
	}
	last := first + part.taken - 1
	var out strings.Builder
	fmt.Fprintf(&out, "%s: ", s.name)
	switch {
	case part.total == 0:
		out.WriteString("an empty file\n")
	case first == 1 && last == part.total:
		fmt.Fprintf(&out, "%d lines, %d bytes\n\n", part.total, s.size)
	default:
		fmt.Fprintf(&out, "lines %d to %d of %d, %d bytes in all\n\n", first, last, part.total, s.size)
	}
	out.Write(part.body)
	if part.cut > 0 {
		fmt.Fprintf(&out, "\n[line %d goes on: it has %d bytes]\n", last, part.cut)
	}
	want := part.total
	if lines.To > 0 {
		want = min(want, lines.To)
	}
	if last < want {
		if !strings.HasSuffix(out.String(), "\n") {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "[cut; go on with /read %s:%d-%d]\n", s.reads(), last+1, want)
	}
	return verbs.Content(verbs.TrustFile, out.String()).With("lines", fmt.Sprint(part.total)), nil
}

// taker keeps lines of a text that passes by, up to limit bytes; of a first
// line that does not fit it keeps the begin.
type taker struct {
	lines dialect.Lines
	limit int
	body  []byte
	taken int // lines in body
	total int // lines that ended
	cut   int // bytes of the line in body, where it is not whole

	start   int // of the line at hand in body
	length  int // of the line at hand
	stopped bool
}

// takeLines reads a text to its end.
func takeLines(from io.Reader, lines dialect.Lines, limit int) (*taker, error) {
	t := &taker{lines: lines, limit: limit}
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		for chunk := buffer[:n]; len(chunk) > 0; {
			end := bytes.IndexByte(chunk, '\n') + 1
			if end == 0 {
				t.piece(chunk)
				break
			}
			t.piece(chunk[:end])
			t.end()
			chunk = chunk[end:]
		}
		if err == io.EOF {
			if t.length > 0 {
				t.end()
			}
			return t, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// piece takes a part of the line at hand.
func (t *taker) piece(b []byte) {
	t.length += len(b)
	line := t.total + 1
	if !t.stopped && line >= t.lines.From && (t.lines.To == 0 || line <= t.lines.To) {
		t.body = append(t.body, b[:min(len(b), t.limit+utf8.UTFMax-min(len(t.body), t.limit+utf8.UTFMax))]...)
	}
}

// end closes the line at hand.
func (t *taker) end() {
	t.total++
	switch {
	case t.stopped || len(t.body) == t.start:
	case len(t.body) <= t.limit:
		t.taken++
	case t.taken > 0:
		t.body, t.stopped = t.body[:t.start], true
	default:
		end := t.limit
		for end > 0 && !utf8.RuneStart(t.body[end]) {
			end--
		}
		t.body, t.taken, t.cut, t.stopped = t.body[:end], 1, t.length, true
	}
	t.start, t.length = len(t.body), 0
}
