package web

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// errBinary says that a content is no text.
var errBinary = errors.New("web: not text")

// contentKind is what a body is.
type contentKind struct {
	media string // such as text/html, never empty
	full  string // the header as it was sent, with its charset; "" where the body was looked at instead
}

// shownImages are the images that models take.
var shownImages = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func (k contentKind) image() bool { return slices.Contains(shownImages, k.media) }

func (k contentKind) html() bool {
	return k.media == "text/html" || k.media == "application/xhtml+xml"
}

// kind reads the header, and looks at the body where the header says nothing, or
// says that it is an image: what it then is decides how a model reads it.
func (p *page) kind() contentKind {
	full := p.header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(full)
	if media == "" {
		err = errBinary
	}
	if media == "image/jpg" || media == "image/pjpeg" {
		media = "image/jpeg"
	}
	sniffed, _, _ := mime.ParseMediaType(http.DetectContentType(p.body))
	switch {
	case err != nil, media == "application/octet-stream", media == "binary/octet-stream", media == "application/unknown",
		slices.Contains(shownImages, media), strings.HasPrefix(media, "image/") && slices.Contains(shownImages, sniffed):
		return contentKind{media: sniffed}
	}
	return contentKind{media: media, full: full}
}

// textual are the media types that are text though their name does not say so.
var textual = []string{
	"application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript", "application/typescript",
	"application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/graphql", "application/x-sh", "application/x-httpd-php",
	"application/x-ndjson", "application/jsonl", "application/json-seq", "application/x-tex", "application/rtf", "application/x-www-form-urlencoded",
	"application/xml-dtd", "application/x-python-code", "application/x-perl", "application/x-ruby", "application/pem-certificate-chain", "message/rfc822", "image/svg+xml",
}

// text is the body as readable text in UTF-8. The error is errBinary.
func (p *page) text(k contentKind) (string, error) {
	named := strings.HasPrefix(k.media, "text/") || slices.Contains(textual, k.media) ||
		strings.HasSuffix(k.media, "+json") || strings.HasSuffix(k.media, "+xml") || strings.HasSuffix(k.media, "+yaml")
	if !named && !k.html() && !looksLikeText(p.body) {
		return "", errBinary
	}
	body := decode(p.body, k)
	if k.html() {
		return Readable(body, p.url), nil
	}
	if bytes.IndexByte(body, 0) >= 0 {
		return "", errBinary
	}
	return string(body), nil
}

// looksLikeText is for types that nobody knows: code is served under many.
func looksLikeText(body []byte) bool {
	if !utf8.Valid(body) {
		return false
	}
	return !bytes.ContainsFunc(body, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f\x1b", r) })
}

// decode turns a text into UTF-8. Order: a byte order mark, the header's charset,
// what the document says of itself, UTF-8 where it is valid, windows-1252.
func decode(body []byte, k contentKind) []byte {
	preview := body[:min(len(body), 1024)]
	found, name, certain := charset.DetermineEncoding(preview, k.full)
	if declared := declaredInXML(preview); !certain && declared != nil {
		found, certain = declared, true
	}
	if name == "utf-8" || !certain && utf8.Valid(body) {
		found = encoding.Nop
	}
	decoded, err := found.NewDecoder().Bytes(body)
	if err != nil {
		decoded = body
	}
	return bytes.ToValidUTF8(bytes.TrimPrefix(decoded, []byte("\uFEFF")), []byte("\uFFFD"))
}

// declaredInXML reads <?xml … encoding="…"?>.
func declaredInXML(preview []byte) encoding.Encoding {
	if !bytes.HasPrefix(preview, []byte("<?xml")) {
		return nil
	}
	declaration, _, _ := bytes.Cut(preview, []byte("?>"))
	_, rest, ok := bytes.Cut(declaration, []byte("encoding="))
	if !ok || len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return nil
	}
	name, _, _ := bytes.Cut(rest[1:], rest[:1])
	found, err := htmlindex.Get(string(name))
	if err != nil {
		return nil
	}
	return found
}
