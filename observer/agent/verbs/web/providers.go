package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// SearXNG searches with an instance of SearXNG, or what speaks its JSON format.
// URL is its address, such as http://127.0.0.1:8888; the instance must allow the
// format "json" in its settings.
type SearXNG struct{ URL string }

// Name is "searxng".
func (SearXNG) Name() string { return "searxng" }

// Search asks the instance.
func (s SearXNG) Search(ctx context.Context, query string, top int) ([]Hit, error) {
	at, err := endpoint(s.URL, "search", url.Values{"q": {query}, "format": {"json"}})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Results *[]struct {
			Title   string `json:"title"`
			URL     string `json:"url"`
			Content string `json:"content"`
			Date    string `json:"publishedDate"`
		} `json:"results"`
	}
	if err := ask(ctx, s.Name(), at, nil, map[int]string{http.StatusForbidden: "it does not allow the format json; add it to search.formats in its settings"}, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, fmt.Errorf("%w: searxng: the answer has no results field", ErrSetup)
	}
	var hits []Hit
	for _, r := range *answer.Results {
		hits = append(hits, Hit{Title: r.Title, URL: r.URL, Text: r.Content, Date: r.Date})
	}
	return useful(hits, top), nil
}

// Brave searches with the Brave Search API.
type Brave struct {
	Key string
	// URL is the API's address; "" is the public one.
	URL string
}

// braveURL is the public address of the Brave Search API.
const braveURL = "https://api.search.brave.com/res/v1/"

// Name is "brave".
func (Brave) Name() string { return "brave" }

// Search asks the API.
func (b Brave) Search(ctx context.Context, query string, top int) ([]Hit, error) {
	if b.Key == "" {
		return nil, fmt.Errorf("%w: brave: there is no key", ErrSetup)
	}
	at, err := endpoint(cmp.Or(b.URL, braveURL), "web/search", url.Values{"q": {query}, "count": {strconv.Itoa(top)}})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Type string `json:"type"`
		Web  struct {
			Results []struct {
				Title       string `json:"title"`
				URL         string `json:"url"`
				Description string `json:"description"`
				Age         string `json:"age"`
			} `json:"results"`
		} `json:"web"`
	}
	refusals := map[int]string{
		http.StatusUnauthorized: "the key is refused", http.StatusForbidden: "the key is refused",
		http.StatusUnprocessableEntity: "the key or the query is refused", http.StatusPaymentRequired: "the plan's quota is used up",
	}
	if err := ask(ctx, b.Name(), at, http.Header{"X-Subscription-Token": {b.Key}}, refusals, &answer); err != nil {
		return nil, err
	}
	if answer.Type != "search" {
		return nil, fmt.Errorf("%w: brave: the answer is of type %q, expected search", ErrSetup, answer.Type)
	}
	var hits []Hit
	for _, r := range answer.Web.Results {
		hits = append(hits, Hit{Title: r.Title, URL: r.URL, Text: r.Description, Date: r.Age})
	}
	return useful(hits, top), nil
}

func endpoint(base, path string, query url.Values) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%w: %q is no http or https address", ErrSetup, base)
	}
	u = u.JoinPath(path)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// ask gets a provider's JSON answer. setup are the statuses that only the user
// can help with.
func ask(ctx context.Context, name, at string, header http.Header, setup map[int]string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSetup, name, err)
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Accept", "application/json")
	response, err := client().Do(request)
	if err != nil {
		return fmt.Errorf("%s: cannot be reached: %w", name, withoutQuery(err))
	}
	defer func() { _ = response.Body.Close() }() // read as far as it is wanted
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: the answer broke off: %w", name, err)
	case response.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%s: too many searches for now", name)
	case setup[response.StatusCode] != "":
		return fmt.Errorf("%w: %s: %s", ErrSetup, name, setup[response.StatusCode])
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: answered %s", name, response.Status)
	case len(body) > maxAnswer:
		return fmt.Errorf("%s: the answer is larger than %d bytes", name, maxAnswer)
	}
	if err := json.Unmarshal(body, into); err != nil {
		if strings.HasPrefix(strings.TrimSpace(string(body)), "<") {
			return fmt.Errorf("%w: %s: it answered a page, not JSON", ErrSetup, name)
		}
		return fmt.Errorf("%s: the answer cannot be read: %w", name, err)
	}
	return nil
}

// withoutQuery takes the address out of an error of net/http: it is long, and
// the agent knows what it asked.
func withoutQuery(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		return inner.Err
	}
	return err
}
