package dashboard

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/writbus/writ/schemas"
)

//go:embed assets
var embedded embed.FS

// visitCookie carries a visit. The port is part of the name, since cookies of
// one host are shared by its ports.
func (s *Server) visitCookie() string { return "writ-visit-" + s.port }

func (s *Server) handler() http.Handler {
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic("dashboard: " + err.Error()) // the folder is compiled in
	}
	s.page, err = newPage(assets)
	script, scriptErr := joined(assets, "main")
	if err := errors.Join(err, scriptErr); err != nil {
		panic(err.Error())
	}
	inside := http.NewServeMux()
	inside.HandleFunc("GET /api/live", s.live)
	inside.HandleFunc("GET /api/help", s.help)
	inside.HandleFunc("GET /api/{what}", s.read)
	inside.HandleFunc("POST /api/{what}", s.act)
	inside.HandleFunc("POST /leave", s.leave)
	inside.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { s.page.serve(w, "") })
	inside.HandleFunc("GET /js/all.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(script)
	})
	inside.Handle("GET /", http.FileServerFS(assets))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", s.page.policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		visit, in := s.visit(r)
		switch {
		case !s.meant(r.Host):
			// A page whose name was made to resolve to this machine sends its own name.
			http.Error(w, "Writ's dashboard is served under a loopback name alone.", http.StatusForbidden)
		case r.Method == http.MethodGet && r.URL.Path == "/" && "http://"+strings.ToLower(r.Host) != s.Origin():
			// Passkeys know the dashboard by a name, and an address is none.
			http.Redirect(w, r, s.Origin()+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		case r.URL.Path == "/" && r.URL.Query().Has("ticket"):
			s.enter(w, r, visit, in)
		case !in:
			h.Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(stranger))
		case (strings.HasPrefix(r.URL.Path, "/api/") || r.Method != http.MethodGet) && !visit.opens(cmp.Or(r.Header.Get("Writ-Key"), r.URL.Query().Get("key"))): // what follows the log has its address alone
			problem(w, http.StatusUnauthorized, "this page was not opened by a link of its own: run `writ dash`")
		case r.Method != http.MethodGet && !s.fromPage(r):
			http.Error(w, "An act has to come from the dashboard's own page.", http.StatusForbidden)
		case r.Method != http.MethodGet && r.URL.Path != "/leave" && visit.reads:
			problem(w, http.StatusForbidden, "this link lets you look and not act: writ dash, without --read-only, opens another")
		default:
			inside.ServeHTTP(w, r)
		}
	})
}

// stranger is all that somebody without a link sees.
const stranger = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Writ</title><body><h1>Writ</h1><p>This link has been used, has expired, or never was one. Run <code>writ dash</code> in a terminal for a new one.</p></body></html>
`

// enter takes a ticket and lets the browser in, which may be in already: then the tabs
// that it has go on.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, already pass, in bool) {
	visit, p, ok := s.doors.admit(r.URL.Query().Get("ticket"), already)
	switch {
	case ok:
		http.SetCookie(w, &http.Cookie{
			Name: s.visitCookie(), Value: visit, Path: "/", MaxAge: int(visitLife.Seconds()),
			HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
	case !in: // a reload of the link by a browser that is in is no stranger's
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(stranger))
		return
	}
	// The page itself, at once: a cookie that is strictly of this site is sent with
	// what the page asks for, but not with a redirect that another program's link
	// began. The page takes the ticket out of its address.
	s.page.serve(w, p.key)
}

// visit is that of the browser that asks.
func (s *Server) visit(r *http.Request) (p pass, in bool) {
	cookie, err := r.Cookie(s.visitCookie())
	if err != nil {
		return pass{}, false
	}
	return s.doors.visit(cookie.Value)
}

func (s *Server) leave(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(s.visitCookie()); err == nil {
		s.doors.leave(cookie.Value)
	}
	w.WriteHeader(http.StatusNoContent)
}

// meant says whether a Host header names this listener.
func (s *Server) meant(host string) bool {
	name, port, err := net.SplitHostPort(host)
	return err == nil && port == s.port && loopback(strings.ToLower(name))
}

// fromPage says whether a request is one that only a script of this very
// origin can send.
func (s *Server) fromPage(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Scheme == "http" && origin.Host == r.Host &&
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}

// problem answers with an error as JSON.
func problem(w http.ResponseWriter, status int, text string) {
	raw, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		raw = []byte("{}")
	}
	answer(w, status, raw)
}

func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// statusOf is how HTTP says what a service's error code says.
func statusOf(err error) int {
	var coded interface{ Code() string }
	if !errors.As(err, &coded) {
		return http.StatusBadGateway
	}
	switch coded.Code() {
	case schemas.CodeBadRequest:
		return http.StatusBadRequest
	case schemas.CodeNotFound:
		return http.StatusNotFound
	case schemas.CodeConflict:
		return http.StatusConflict
	case schemas.CodeRefused:
		return http.StatusForbidden
	case schemas.CodeNotReady:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
