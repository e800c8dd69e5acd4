package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"

	"github.com/writbus/writ/observer/agent/verbs"
)

// Hit is one result of a search.
type Hit struct {
	Title, URL, Text string
	Date             string // as the provider writes it; "" where it gives none
}

// Provider searches the web.
type Provider interface {
	// Name is what results call it.
	Name() string
	// Search returns at most top hits, the best first. Errors wrap ErrSetup where
	// only the user can help.
	Search(ctx context.Context, query string, top int) ([]Hit, error)
}

// ErrSetup is wrapped by a provider's error that asking again does not help
// with: a missing key, a refused one, an address that is no search engine.
var ErrSetup = errors.New("web: search is not set up")

// Bounds of a search.
const (
	defaultTop = 5
	maxTop     = 20
	maxQuery   = 400     // characters; what Brave takes
	maxAnswer  = 2 << 20 // bytes of a provider's answer
)

// Search is the handler of /search. A nil Provider means that none is set up.
type Search struct{ Provider Provider }

// Handle searches.
func (s Search) Handle(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	query, top, problem := parseQuery(c.Args)
	if problem != "" {
		return verbs.Err(problem, "write /search QUERY [top=N]"), nil
	}
	if s.Provider == nil {
		return verbs.Err("no search engine is set up", "fetch a page you know, or ask the user to set one up"), nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	hits, err := s.Provider.Search(ctx, query, top)
	switch {
	case errors.Is(err, ErrSetup):
		return verbs.Err(strings.TrimPrefix(err.Error(), "web: "), "do without, or ask the user to mend it"), nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return verbs.Err("no answer from "+s.Provider.Name()+" in time", "try again later"), nil
	case err != nil:
		return verbs.Err(err.Error(), "try again later, or fetch a page you know"), nil
	case len(hits) == 0:
		return verbs.OK("nothing found for %q", query).With("hits", "0"), nil
	}
	hits = hits[:min(len(hits), top)]
	return verbs.Content(verbs.TrustWeb, render(hits)).With("hits", strconv.Itoa(len(hits))).With("provider", s.Provider.Name()), nil
}

// parseQuery takes top=N off either end of a query.
func parseQuery(args string) (query string, top int, problem string) {
	words := strings.Fields(args)
	top = defaultTop
	for _, at := range []int{len(words) - 1, 0} {
		if len(words) == 0 {
			break
		}
		value, ok := strings.CutPrefix(words[at], "top=")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxTop {
			return "", 0, fmt.Sprintf("top=%s is no number from 1 to %d", value, maxTop)
		}
		top = n
		words = append(words[:at:at], words[at+1:]...)
		break
	}
	query = strings.Join(words, " ")
	switch {
	case query == "":
		return "", 0, "there is nothing to search for"
	case len([]rune(query)) > maxQuery:
		return "", 0, fmt.Sprintf("a query of %d characters; the limit is %d", len([]rune(query)), maxQuery)
	}
	return query, top, ""
}

func render(hits []Hit) string {
	var out strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&out, "%d. %s\n   %s\n", i+1, cmp.Or(h.Title, h.URL), h.URL)
		if h.Date != "" {
			fmt.Fprintf(&out, "   %s\n", h.Date)
		}
		if h.Text != "" {
			fmt.Fprintf(&out, "   %s\n", h.Text)
		}
	}
	return out.String()
}

// clean makes one line of a provider's text, whose tags mark what matched.
func clean(s string) string {
	var out strings.Builder
	for s != "" {
		before, rest, found := strings.Cut(s, "<")
		out.WriteString(before)
		if !found {
			break
		}
		_, after, closed := strings.Cut(rest, ">")
		if !closed || rest[0] != '/' && (rest[0]|0x20 < 'a' || rest[0]|0x20 > 'z') {
			out.WriteByte('<')
			after = rest
		}
		s = after
	}
	return strings.Join(strings.Fields(html.UnescapeString(out.String())), " ")
}

// useful drops hits that cannot be fetched and cleans the others.
func useful(hits []Hit, top int) []Hit {
	var out []Hit
	for _, h := range hits {
		if !strings.HasPrefix(h.URL, "http://") && !strings.HasPrefix(h.URL, "https://") || strings.ContainsAny(h.URL, " \t\r\n") {
			continue
		}
		h.Title, h.Text, h.Date = clean(h.Title), clean(h.Text), clean(h.Date)
		if out = append(out, h); len(out) == top {
			break
		}
	}
	return out
}

// client is for what the user configured: a proxy of the environment may be
// needed to get there. It follows no redirect, which would take the key along.
func client() *http.Client {
	return &http.Client{Timeout: fetchTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
