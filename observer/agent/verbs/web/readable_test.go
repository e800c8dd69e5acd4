package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

var from = &url.URL{Scheme: "https", Host: "example.com", Path: "/docs/page.html"}

func TestReadable(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"title, headings, lists", "<title> A\n title </title><h2>One</h2><ul><li>a<li>b</ul>", "# A title\n\n## One\n\n- a\n- b\n"},
		{"a title that is the heading", "<title>Same</title><h1>Same</h1>x", "# Same\n\nx\n"},
		{"the main part first", "<nav><a href=/n>nav</a></nav><main><p>text</p></main><footer>foot</footer>", "text\n\n[nav](https://example.com/n)\n\nfoot\n"},
		{"an article first", "<div>side</div><div><article>text</article></div>", "text\n\nside\n"},
		{
			"links", "<a href='other.html'>o</a> <a href='//cdn.example.org/x y'>c</a> <a href='?q=1'>q</a> <a href='#top'>t</a>",
			"[o](https://example.com/docs/other.html) [c](https://cdn.example.org/x%20y)",
		},
		{"a base", "<base href='https://other.example/deep/'><a href=x>x</a>", "[x](https://other.example/deep/x)\n"},
		{"addresses nobody can fetch", "<a href='javascript:alert(1)'>j</a> <img src='data:image/png;base64,AAAA' alt=pic> <a href='file:///etc/passwd'>f</a>", "j"},
		{"code", "<pre><code class=language-go>func main() {\n\tx := \"`\"\n}</code></pre>", "```go\nfunc main() {\n\tx := \"`\"\n}\n```\n"},
		{"a table", "<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n|---|---|\n| 1 | 2 |\n"},
		{"a table of a billion columns", "<table><tr><th colspan=1000000000>a<tr><td rowspan=1000000000>1</table>", "| a |"},
		{"unseen", "<p>seen</p><script>s()</script><style>x{}</style><div hidden>no1</div><div style='Display : none'>no2</div><p aria-hidden=true>no3</p><!-- no4 --><noscript>no5</noscript>", "seen\n"},
		{"signs that need no escape", "<p>a_b*c [x] 1. #d /exec ls</p>", "a_b*c [x] 1. #d /exec ls\n"},
		{"nothing", "", "\n"},
	} {
		got := Readable([]byte(c.page), from)
		if c.want != got && (strings.HasSuffix(c.want, "\n") || !strings.Contains(got, c.want)) {
			t.Errorf("%s:\n%q, expected\n%q", c.name, got, c.want)
		}
		for _, never := range []string{"javascript:", "data:", "file:", "no1", "no2", "no3", "no4"} {
			if strings.Contains(got, never) {
				t.Errorf("%s: %q in %q", c.name, never, got)
			}
		}
	}
}

// TestReadableIsBounded has pages that make naive converters slow or deep.
func TestReadableIsBounded(t *testing.T) {
	for name, page := range nasty(4000) {
		got := Readable([]byte(page), from)
		if len(got) > 20*len(page)+100 {
			t.Errorf("%s: %d bytes became %d", name, len(page), len(got))
		}
	}
}

func nasty(n int) map[string]string {
	cells := "<table>" + strings.Repeat("<tr>"+strings.Repeat("<td colspan=20 rowspan=20>x", 20), n/100) + "</table>"
	return map[string]string{
		"deep":    strings.Repeat("<div>", n) + "x",
		"bold":    strings.Repeat("<b><i>", n) + "x",
		"quotes":  strings.Repeat("<blockquote>", n) + "x",
		"lists":   strings.Repeat("<ul><li>", n) + "x",
		"links":   strings.Repeat("<a href=x>", n) + "x",
		"tables":  strings.Repeat("<table><tr><td>", n) + "x",
		"cells":   cells,
		"flat":    strings.Repeat("<p>x", n),
		"breaks":  strings.Repeat("<br>", n),
		"stars":   strings.Repeat("*_`[", n),
		"pre":     "<pre>" + strings.Repeat("```\n", n),
		"blanks":  "<p>" + strings.Repeat(" \n", n) + "x",
		"unended": strings.Repeat("<a href='", n),
	}
}

func FuzzReadable(f *testing.F) {
	for _, page := range nasty(3) {
		f.Add([]byte(page))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		if got := Readable(page, from); strings.Contains(got, "](javascript:") {
			t.Fatal(got)
		}
	})
}

func BenchmarkReadable(b *testing.B) {
	page := []byte(strings.Repeat("<h2>Title</h2><p>Some <b>text</b> with a <a href=/x>link</a> and <code>code</code>.</p>\n", 2000))
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		Readable(page, from)
	}
}

func BenchmarkNasty(b *testing.B) {
	for name, page := range nasty(1_000_000) {
		page = page[:min(len(page), 4<<20)]
		b.Run(fmt.Sprintf("%s-%dK", name, len(page)>>10), func(b *testing.B) {
			for b.Loop() {
				Readable([]byte(page), from)
			}
		})
	}
}
