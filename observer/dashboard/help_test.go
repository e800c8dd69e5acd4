package dashboard

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

var helpTopics = []Topic{
	{Name: "gates", Group: "The guard", Title: "Gates", Summary: "What holds.", Text: "# Gates\n\nText <b onclick=\"x()\">with</b> `a <b>` and *more* **still**.\n\n## Drift & more\n\nSee [`writ help log`](../../bus/help/log.md), [the site](https://example.org/a), [the design](../DESIGN.md), [bad](javascript:alert(1)).\n\n<script>alert(1)</script>\n\n- one\n  goes on\n- two \\| three\n\n| a | `b` |\n|---|---|\n| c | d |\n\n```sh\nwrit phase\n```\n"},
	{Name: "log", Group: "The log", Title: "The log", Summary: "All.", Text: "# The log\n"},
}

func TestHelpIsSentAsElements(t *testing.T) {
	x := open(t).enter()
	status, body, _ := x.send(http.MethodGet, "/api/help", "", nil)
	var list struct{ Topics []Topic }
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK || len(list.Topics) != 2 || list.Topics[0].Title != "Gates" {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	_, body, _ = x.send(http.MethodGet, "/api/help?topic=gates", "", nil)
	var page struct {
		Title string
		Body  []any
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatal(err)
	}
	got := outline(page.Body)
	for _, want := range []string{
		`h1#gates(Gates)`, `h2#drift--more(Drift & more)`, `code(a <b>)`, `em(more)`, `strong(still)`,
		`a@#/help/log(code(writ help log))`, `a@https://example.org/a(the site)`, `the design`,
		`ul(li(one goes on)li(two | three))`, `table(tr(th(a)th(code(b)))tr(td(c)td(d)))`, `pre(code(writ phase))`,
		`Text <b onclick="x()">with</b>`, `p(<script>alert(1)</script>)`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not show %s:\n%s", want, got)
		}
	}
	for _, bad := range []string{"javascript:", "DESIGN.md", "script("} {
		if strings.Contains(got, bad) {
			t.Errorf("it holds %s:\n%s", bad, got)
		}
	}
	if status, _, _ := x.send(http.MethodGet, "/api/help?topic=nothing", "", nil); status != http.StatusNotFound {
		t.Errorf("an unknown topic: %d", status)
	}
	x.cookie = nil
	if status, _, _ := x.send(http.MethodGet, "/api/help", "", nil); status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", status)
	}
}

// outline shows elements in one line.
func outline(body []any) string {
	var out strings.Builder
	for _, e := range body {
		m, ok := e.(map[string]any)
		if !ok {
			out.WriteString(e.(string))
			continue
		}
		out.WriteString(m["t"].(string))
		if a, ok := m["a"].(map[string]any); ok {
			if id, ok := a["id"].(string); ok {
				out.WriteString("#" + id)
			}
			if href, ok := a["href"].(string); ok {
				out.WriteString("@" + href)
			}
		}
		children, _ := m["c"].([]any)
		out.WriteString("(" + outline(children) + ")")
	}
	return out.String()
}
