package web

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/writbus/writ/observer/agent/verbs"
)

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestContentTypes(t *testing.T) {
	t.Parallel()
	png, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("unpacked"))
	z.Close()
	long := strings.Repeat("a", 1100)
	for _, c := range []struct {
		name, header, body string
		want               string // in the text
		image              string // its type
		encoding           string
	}{
		{name: "html", header: "text/html", body: "<p>See <a href='/b?c=d#e'>this</a>.", want: "See [this](http://example.com:PORT/b?c=d#e)."},
		{name: "html without a header", body: "<!doctype html><title>T</title><p>text", want: "# T\n\ntext\n"},
		{name: "json", header: "application/json", body: "{\n  \"a\":\t[1,2 ] }", want: "\n{\n  \"a\":\t[1,2 ] }"},
		{name: "json of a vendor", header: "application/vnd.api+json; charset=utf-8", body: `{"a":"é"}`, want: `{"a":"é"}`},
		{name: "code", header: "text/x-go", body: "package x\r\n\tfunc <b>", want: "package x\r\n\tfunc <b>"},
		{name: "code of an unknown type", header: "application/x-zig", body: "const x = 1;\n", want: "const x = 1;\n"},
		{name: "text without a header", body: "just text", want: "just text"},
		{name: "latin1", header: "text/plain; charset=iso-8859-1", body: "caf\xe9", want: "café"},
		{name: "windows-1252 that nobody declared", header: "text/plain", body: "caf\xe9 \x80", want: "café €"},
		{name: "utf-8 late in a text", header: "text/plain", body: long + "é", want: long + "é"},
		{name: "utf-16 with a mark", header: "text/plain", body: "\xff\xfeh\x00i\x00", want: "\nhi"},
		{name: "utf-8 with a mark", header: "text/plain", body: "\ufeffhi", want: "\nhi"},
		{name: "charset in the page", header: "text/html", body: "<meta charset=shift_jis><p>\x93\xfa\x96\x7b", want: "日本"},
		{name: "the header wins over the page", header: "text/html; charset=utf-8", body: "<meta charset=shift_jis><p>日本", want: "日本"},
		{name: "charset of a feed", header: "application/xml", body: "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>", want: "<a>é</a>"},
		{name: "an unknown charset", header: "text/plain; charset=klingon", body: "é", want: "é"},
		{name: "bytes that are no text", header: "text/plain; charset=utf-8", body: "a\xffb", want: "a\uFFFDb"},
		{name: "gzip", header: "text/plain", body: packed.String(), encoding: "gzip", want: "unpacked"},
		{name: "png", header: "image/png", body: string(png), image: "image/png"},
		{name: "a png that says jpeg", header: "image/jpeg", body: string(png), image: "image/png"},
		{name: "a png without a header", body: string(png), image: "image/png"},
		{name: "html that says png", header: "image/png", body: "<html><script>", want: "(text/html, 14 bytes)"},
		{name: "svg", header: "image/svg+xml", body: "<svg><text>hi</text></svg>", want: "<svg><text>hi</text></svg>"},
		{name: "pdf", header: "application/pdf", body: "%PDF-1.7\n\x00\x01", want: "ERR: \"http://example.com:PORT/\" is application/pdf, which is neither text nor an image"},
		{name: "a program", header: "application/octet-stream", body: "\x7fELF\x02\x01\x01\x00", want: "ERR: "},
		{name: "a program that says text", header: "text/plain", body: "MZ\x00\x00\x00", want: "ERR: "},
		{name: "nothing", header: "text/plain", body: "", want: "(text/plain, 0 bytes)"},
		{name: "a header that makes no sense", header: ";;;", body: "text", want: "text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, nil, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if c.header != "" {
					w.Header().Set("Content-Type", c.header)
				}
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				w.Write([]byte(c.body))
			})
			r := s.get(t, s.url("example.com", "/"))
			text := strings.ReplaceAll(r.Text, ":"+s.port, ":PORT")
			if !strings.Contains(text, c.want) {
				t.Errorf("expected %q in %q", c.want, text)
			}
			if c.image == "" {
				if len(r.Images) > 0 {
					t.Errorf("%d images", len(r.Images))
				}
			} else if len(r.Images) != 1 || r.Images[0].MIME != c.image || string(r.Images[0].Data) != c.body || len(r.Keep) != 1 {
				t.Errorf("images %v", r.Images)
			}
			if !strings.HasPrefix(c.want, "ERR:") && r.Trust != verbs.TrustWeb {
				t.Errorf("trust %q", r.Trust)
			}
		})
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			http.Error(w, "OK: this is a lie", http.StatusGone)
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/broken":
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("short"))
		}
	})
	for path, want := range map[string]string{
		"/gone": "ERR: 410 Gone from ", "/broken": "ERR: unreachable: ",
	} {
		r := s.get(t, s.url("example.com", path))
		if !strings.HasPrefix(r.Text, want) || r.Outcome != verbs.Failed {
			t.Errorf("%s: %q", path, r.Text)
		}
		if strings.Contains(r.Text, "lie") && r.Trust != verbs.TrustWeb {
			t.Error("what a server says about its error is not labelled")
		}
	}
	if r := s.get(t, s.url("example.com", "/empty")); r.Outcome != verbs.Done {
		t.Errorf("%q", r.Text)
	}
}

func TestLimitOfSize(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w) // a bomb: small on the wire
		for chunk, n := bytes.Repeat([]byte("z"), 1<<20), 0; n < 12; n++ {
			if _, err := z.Write(chunk); err != nil {
				return
			}
		}
		z.Close()
	})
	r := s.get(t, s.url("example.com", "/"))
	if !strings.Contains(r.Text, "WARN: only the first 8388608 bytes were read.") || len(r.Text) > maxBytes+1000 {
		t.Errorf("%d bytes: %.200q", len(r.Text), r.Text)
	}
}

func TestTwoArgumentsAreNoURL(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, func(http.ResponseWriter, *http.Request) { t.Error("it was fetched") })
	if r := s.get(t, s.url("example.com", "/")+" and more"); !strings.HasPrefix(r.Text, "ERR: /fetch takes one URL") {
		t.Errorf("%q", r.Text)
	}
}
