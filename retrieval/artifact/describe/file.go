package describe

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"path"
	"regexp"
	"slices"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/chunk"
	"github.com/writbus/writ/retrieval/artifact/mention"
	"github.com/writbus/writ/schemas/language"
)

// File is a file as it was read.
type File struct {
	Path    string // relative to the project, with slashes
	ModTime time.Time
	Hash    string // SHA-256, lower-case hexadecimal
	Bytes   []byte
}

// Described is a document and what was found on the way to it.
type Described struct {
	artifact.Document // without References: those take the paths of the project
	Mentions          []mention.Mention
	Replaced          int // bytes that are not UTF-8
}

// Describe makes a document of a file that is not [Binary]. It keeps none of the
// file's bytes.
func Describe(f File, scratch *chunk.Scratch) Described {
	size := int64(len(f.Bytes))
	f.Bytes = UTF8(f.Bytes)
	text, replaced := validText(f.Bytes)
	d := Described{Replaced: replaced}
	d.Path, d.ModTime, d.Size, d.Hash = f.Path, f.ModTime.UTC(), size, f.Hash
	if d.Language = Language(f.Path); d.Language == language.Text {
		d.Language = cmp.Or(language.OfScript([]byte(text[:min(len(text), 256)])), language.Text)
		if d.Language == language.Text && path.Ext(f.Path) == "" && sourced.MatchString(text) {
			d.Language = "shell"
		}
	}
	d.Generated = Generated(f.Path, f.Bytes)
	front, body := frontMatter(text)
	d.Chunks, d.Symbols = chunk.Split(d.Language, text, scratch)
	d.Mentions = mention.Find(text, Programming(d.Language))
	d.Title = title(f.Path, d.Language, front, d.Symbols)
	d.Summary = summary(d.Language, front, body)
	d.Type = typeOf(f.Path, d.Language, front, d.Title, body)
	d.Phase = phaseOf(f.Path, d.Type, front)
	d.Tags = tagsOf(f.Path, d.Title, front, d.Symbols)
	return d
}

// sourced is in files of shell functions that other scripts read: they are seldom
// executable, and so have neither an ending nor a first line that says what they are.
var sourced = regexp.MustCompile(`(?m)^(\w+ ?\(\) ?\{|fi|esac)[ \t]*\r?$`)

// validText is the text of a file's bytes, and how many of them had to be
// replaced.
func validText(raw []byte) (text string, replaced int) {
	if utf8.Valid(raw) {
		return string(raw), 0
	}
	out := make([]byte, 0, len(raw)+len(raw)/8)
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 {
			replaced++
		}
		out = utf8.AppendRune(out, r)
		raw = raw[size:]
	}
	return string(out), replaced
}

// UTF8 is a file's text as UTF-8, without the mark of its encoding that it begins
// with.
func UTF8(raw []byte) []byte {
	if order, marked := wide(raw); order != nil {
		return fromUTF16(raw[marked:], order)
	}
	return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
}

// wide tells in which order the bytes of a UTF-16 text come, and how long the mark
// is that says so; the order is nil for other files.
func wide(raw []byte) (order binary.ByteOrder, marked int) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		return binary.LittleEndian, 2
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return binary.BigEndian, 2
	}
	head := raw[:min(len(raw), sniffed)]
	zero := bytes.IndexByte(head, 0)
	switch {
	case zero < 0 || len(raw)%2 != 0:
		return nil, 0
	case zero%2 == 0:
		order = binary.BigEndian
	default:
		order = binary.LittleEndian
	}
	if !isWide(head, order) {
		return nil, 0
	}
	return order, 0
}

// isWide says whether bytes without a mark are UTF-16 all the same: no character is
// a zero or a control character but those that texts have, none is half of one, and
// one in sixteen is of ASCII, as blanks and line ends are in any language.
func isWide(head []byte, order binary.ByteOrder) bool {
	text := []rune(string(fromUTF16(head, order)))
	ascii := 0
	for i, r := range text {
		if r == utf8.RuneError && i < len(text)-1 || r < ' ' && !inText(r) {
			return false
		}
		if r < utf8.RuneSelf {
			ascii++
		}
	}
	return ascii*16 >= len(text)
}

func fromUTF16(raw []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(raw)/2)
	for ; len(raw) >= 2; raw = raw[2:] {
		units = append(units, order.Uint16(raw))
	}
	return []byte(string(utf16.Decode(units)))
}

// sniffed is how much of a file tells what it is, as git does it.
const sniffed = 8000

// Binary says whether a file is no text: there is a zero byte among its first
// 8,000, or a third of them are no text.
func Binary(raw []byte) bool {
	if order, marked := wide(raw); order != nil {
		raw = fromUTF16(raw[marked:min(len(raw), 2*sniffed)], order)
	}
	head := raw[:min(len(raw), sniffed)]
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	odd := 0
	for rest := head; len(rest) > 0; {
		if len(rest) >= 8 && plainBytes(binary.LittleEndian.Uint64(rest)) {
			rest = rest[8:]
			continue
		}
		if ' ' <= rest[0] && rest[0] < utf8.RuneSelf {
			rest = rest[1:]
			continue
		}
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 || r < ' ' && !inText(r) {
			odd++
		}
		rest = rest[size:]
	}
	return odd*3 > len(head)
}

// inText says whether texts have a control character: ends of lines and pages,
// tabulators, and what colours a terminal.
func inText(r rune) bool {
	return r == '\n' || r == '\r' || r == '\t' || r == '\f' || r == 0x1b
}

// plainBytes says whether eight bytes are all of ASCII and no control characters.
func plainBytes(bytes uint64) bool {
	const each, top = 0x0101010101010101, 0x8080808080808080
	return (bytes|(bytes-' '*each))&top == 0
}

var (
	// goGenerated is the mark of https://go.dev/s/generatedcode.
	goGenerated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)
	// generatedMarks are those other generators leave in the first lines, in
	// lower case.
	generatedMarks = [][]byte{
		[]byte("@generated"), []byte("do not edit"), []byte("do not modify"), []byte("autogenerated"), []byte("auto-generated by"),
		[]byte("generated by the protocol buffer compiler"), []byte("this file is automatically generated"), []byte("this file was automatically generated"),
	}
	generatedNames = regexp.MustCompile(`(?i)(^|/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|go\.sum|cargo\.lock|poetry\.lock|uv\.lock|composer\.lock|gemfile\.lock|bun\.lock|npm-shrinkwrap\.json)$|\.(min|bundle)\.(js|css|mjs)$|\.(js|css)\.map$|\.pb\.(go|cc|h)$|_pb2(_grpc)?\.pyi?$|\.designer\.cs$|\.g\.dart$`)
)

// generatedLines is how far into a file the mark of a generator may stand.
const generatedLines = 20

// Generated says whether a program wrote a file: lock files, bundles, and what
// bears the mark of a generator in its first lines.
func Generated(path string, raw []byte) bool {
	raw = UTF8(raw)
	if mayBeGenerated(path) && generatedNames.MatchString(path) {
		return true
	}
	head := raw[:min(len(raw), 4096)]
	for at, n := 0, 0; at < len(head); n++ {
		if n == generatedLines {
			head = head[:at]
			break
		}
		next := bytes.IndexByte(head[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	if Language(path) == "go" {
		return bytes.Contains(head, []byte("// Code generated ")) && goGenerated.Match(head)
	}
	if prose[Language(path)] {
		return false // it may well speak of such marks
	}
	lower := bytes.ToLower(head)
	for _, mark := range generatedMarks {
		at := bytes.Index(lower, mark)
		if at >= 0 && inCommentLine(lower, at) {
			return true
		}
	}
	return longLines(path, raw)
}

// mayBeGenerated says whether a name holds anything that [generatedNames] asks
// for.
func mayBeGenerated(path string) bool {
	var buffer [256]byte
	lower, plain := asciiLower(path, buffer[:0])
	if !plain || bytes.Contains(lower, []byte(".pb.")) || bytes.Contains(lower, []byte("_pb2")) || bytes.Contains(lower, []byte(".designer.")) {
		return true
	}
	return slices.ContainsFunc(generatedEnds, func(end []byte) bool { return bytes.HasSuffix(lower, end) })
}

// generatedEnds are what the other names end with.
var generatedEnds = [][]byte{
	[]byte(".json"), []byte(".yaml"), []byte("lock"), []byte(".sum"), []byte(".js"), []byte(".css"), []byte(".mjs"), []byte(".map"), []byte(".dart"),
}

// inCommentLine says whether a line begins as comments do.
func inCommentLine(text []byte, at int) bool {
	line := bytes.TrimSpace(text[bytes.LastIndexByte(text[:at], '\n')+1 : at])
	for _, mark := range []string{"//", "#", "/*", "*", "<!--", "--", ";", "%", "\"\"\"", "rem"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return false
}

// longLines says whether a script or style sheet was made small for machines:
// linguist takes an average of more than 110 bytes a line for it.
func longLines(path string, raw []byte) bool {
	switch Language(path) {
	case "javascript", "css":
		return len(raw) > 5000 && len(raw)/(bytes.Count(raw, []byte("\n"))+1) > 110
	}
	return false
}
