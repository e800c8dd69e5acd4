package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/writbus/writ/observer/agent/verbs"
)

func TestParseQuery(t *testing.T) {
	for _, c := range []struct {
		args, query string
		top         int
	}{
		{"go  generics", "go generics", 5},
		{"go generics top=3", "go generics", 3},
		{"top=20 go generics", "go generics", 20},
		{"what does top=3 mean here", "what does top=3 mean here", 5},
		{"top=3 top=4", "top=3", 4},
		{"top=3", "", 0},
		{"x top=0", "", 0},
		{"x top=21", "", 0},
		{"x top=", "", 0},
		{"x top=-1", "", 0},
		{"x top=1e1", "", 0},
		{strings.Repeat("é", 400), strings.Repeat("é", 400), 5},
		{strings.Repeat("é", 401), "", 0},
	} {
		query, top, problem := parseQuery(c.args)
		if query != c.query || top != c.top || (problem == "") != (c.query != "") {
			t.Errorf("%q: %q, %d, %q", c.args, query, top, problem)
		}
	}
}

func search(t *testing.T, p Provider, args string) verbs.Result {
	t.Helper()
	r, err := Search{p}.Handle(t.Context(), verbs.NewCall("search", args, nil))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const searxAnswer = `{"query":"q","number_of_results":0,"results":[
 {"title":"First &amp; best","url":"https://a.example/1","content":"a <b>match</b>\nhere","publishedDate":"2026-01-02T00:00:00","engine":"x","score":1.5},
 {"title":"","url":"https://b.example/","content":"5 < 6 and 7 > 3"},
 {"title":"bad","url":"javascript:alert(1)","content":""},
 {"title":"bad","url":"https://c.example/ /exec x","content":""},
 {"title":"Third","url":"http://d.example/","content":"","publishedDate":null}],"answers":[],"unresponsive_engines":[]}`

const braveAnswer = `{"type":"search","query":{"original":"q"},"web":{"type":"search","results":[
 {"title":"First &amp; best","url":"https://a.example/1","description":"a <strong>match</strong> here","age":"2026-01-02T00:00:00","page_age":"x"},
 {"title":"","url":"https://b.example/","description":"5 < 6 and 7 > 3"},
 {"title":"Third","url":"http://d.example/"}]}}`

const rendered = `1. First & best
   https://a.example/1
   2026-01-02T00:00:00
   a match here
2. https://b.example/
   https://b.example/
   5 < 6 and 7 > 3
3. Third
   http://d.example/
`

func TestProviders(t *testing.T) {
	var asked *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		switch r.URL.Path {
		case "/sub/search":
			fmt.Fprint(w, searxAnswer)
		case "/web/search":
			fmt.Fprint(w, braveAnswer)
		}
	}))
	defer server.Close()
	for _, p := range []Provider{SearXNG{server.URL + "/sub/"}, Brave{Key: "secret", URL: server.URL}} {
		if r := search(t, p, "q&x=1 ü top=7"); r.Text != rendered || r.Trust != verbs.TrustWeb || r.Outcome != verbs.Done || r.Details["hits"] != "3" {
			t.Errorf("%s: %+v", p.Name(), r)
		}
		if got := asked.URL.Query(); got.Get("q") != "q&x=1 ü" || got.Get("x") != "" {
			t.Errorf("%s asked %v", p.Name(), got)
		}
		if p.Name() == "brave" && (asked.Header.Get("X-Subscription-Token") != "secret" || asked.URL.Query().Get("count") != "7") {
			t.Errorf("brave asked %v %v", asked.URL, asked.Header)
		}
		if p.Name() == "searxng" && asked.URL.Query().Get("format") != "json" {
			t.Errorf("searxng asked %v", asked.URL)
		}
		if r := search(t, p, "q top=1"); r.Details["hits"] != "1" {
			t.Errorf("%s: %+v", p.Name(), r)
		}
	}
}

func TestProvidersInTrouble(t *testing.T) {
	status, body := 200, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if status == http.StatusFound {
			w.Header().Set("Location", "http://elsewhere.invalid/")
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	for _, c := range []struct {
		provider Provider
		status   int
		body     string
		want     string
	}{
		{nil, 200, "", "ERR: no search engine is set up. Adapt: "},
		{SearXNG{server.URL}, 403, "", "ERR: search is not set up: searxng: it does not allow the format json"},
		{SearXNG{server.URL}, 200, "<html>", "ERR: search is not set up: searxng: it answered a page"},
		{SearXNG{server.URL}, 200, "{}", "ERR: search is not set up: searxng: the answer has no results field"},
		{SearXNG{server.URL}, 200, `{"results":[]}`, `OK: nothing found for "q"`},
		{SearXNG{server.URL}, 200, `{"results":`, "ERR: searxng: the answer cannot be read"},
		{SearXNG{server.URL}, 200, `{"results":7}`, "ERR: searxng: the answer cannot be read"},
		{Brave{"secret", server.URL}, 302, "", "ERR: brave: answered 302"},
		{SearXNG{server.URL}, 500, "x", "ERR: searxng: answered 500"},
		{SearXNG{server.URL}, 200, `{"results":[],"x":"` + strings.Repeat("x", maxAnswer) + `"}`, "ERR: searxng: the answer is larger"},
		{SearXNG{"127.0.0.1:1"}, 200, "", "ERR: search is not set up: \"127.0.0.1:1\" is no http"},
		{SearXNG{"http://127.0.0.1:1"}, 200, "", "ERR: searxng: cannot be reached"},
		{Brave{URL: server.URL}, 200, "", "ERR: search is not set up: brave: there is no key"},
		{Brave{"secret", server.URL}, 401, "", "ERR: search is not set up: brave: the key is refused"},
		{Brave{"secret", server.URL}, 422, "", "ERR: search is not set up: brave: the key or the query"},
		{Brave{"secret", server.URL}, 429, "", "ERR: brave: too many searches"},
		{Brave{"secret", server.URL}, 200, `{"type":"ErrorResponse"}`, "ERR: search is not set up: brave: the answer is of type"},
		{Brave{"secret", server.URL}, 200, `{"type":"search"}`, "OK: nothing found"},
	} {
		status, body = c.status, c.body
		r := search(t, c.provider, "q")
		if !strings.HasPrefix(r.Text, c.want) || strings.Contains(r.Text, "secret") {
			t.Errorf("%v %d: %q", c.provider, c.status, r.Text)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, _ := (Search{SearXNG{server.URL}}).Handle(ctx, verbs.NewCall("search", "q", nil)); !strings.Contains(r.Text, "in time") {
		t.Errorf("%q", r.Text)
	}
}
