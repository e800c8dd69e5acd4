package dashboard

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
)

// page is what the browser gets first, whole: it paints from this one answer,
// and fetches the scripts afterwards.
type page struct {
	html   []byte
	policy string
}

const (
	styleLink = `<link rel="stylesheet" href="style.css">`
	styleOpen = "<style>\n"
	noKey     = `<meta name="key" content="">`
)

// newPage puts the style into the page, and allows exactly that style and the
// page's own script by their hashes.
func newPage(assets fs.FS) (page, error) {
	html, err := fs.ReadFile(assets, "index.html")
	if err != nil {
		return page{}, err
	}
	style, err := fs.ReadFile(assets, "style.css")
	if err != nil {
		return page{}, err
	}
	html = bytes.Replace(html, []byte(styleLink), append(append([]byte(styleOpen), style...), "</style>"...), 1)
	return page{html: html, policy: policy(hashOf(html, "style"), hashOf(html, "script"))}, nil
}

// policy keeps a page to what it came with: no script, style, font, frame or
// connection from elsewhere, and no inline script or style but its own.
func policy(style, script string) string {
	return "default-src 'none'; script-src 'self' " + script + "; style-src 'self' " + style +
		"; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// hashOf is the source expression for what the first element of a name without
// attributes holds (CSP 3, section 2.3.1).
func hashOf(html []byte, element string) string {
	_, rest, _ := bytes.Cut(html, []byte("<"+element+">"))
	inner, _, _ := bytes.Cut(rest, []byte("</"+element+">"))
	sum := sha256.Sum256(inner)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// serve answers with the page, and hands it a key; "" for none that it has not.
func (p page) serve(w http.ResponseWriter, key string) {
	html := bytes.Replace(p.html, []byte(noKey), []byte(strings.Replace(noKey, `""`, strconv.Quote(key), 1)), 1)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(html)))
	_, _ = w.Write(html)
}
