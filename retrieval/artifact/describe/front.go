package describe

import (
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas/excerpt"

	"github.com/goccy/go-yaml"
)

// matter is the front matter of a file. Only what is understood is kept.
type matter struct {
	kind, title, summary, phase string
	tags                        []string
}

// longestMatter bounds front matter, bytes: what is longer is text.
const longestMatter = 16 << 10

// frontMatter splits a text into its front matter and the rest.
func frontMatter(text string) (matter, string) {
	if !strings.HasPrefix(text, "---\n") && !strings.HasPrefix(text, "---\r\n") {
		return matter{}, text
	}
	start := strings.IndexByte(text, '\n') + 1
	for at := start; at < len(text) && at < longestMatter; {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		if trimmed := strings.TrimRight(line, "\r"); trimmed == "---" || trimmed == "..." {
			m, ok := readMatter(text[start:at])
			if !ok {
				return matter{}, text
			}
			return m, text[next:]
		}
		at = next
	}
	return matter{}, text
}

func readMatter(text string) (m matter, ok bool) {
	// Aliases can make a small text large.
	if strings.ContainsAny(text, "&*") && strings.Contains(text, "*") {
		return readPlain(text), true
	}
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		return matter{}, false
	}
	for name, value := range fields {
		m.set(strings.ToLower(name), value)
	}
	return m, true
}

// readPlain takes the lines "name: value" alone.
func readPlain(text string) (m matter) {
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(line, ":"); found && !strings.ContainsAny(name, " \t") {
			m.set(strings.ToLower(name), strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return m
}

func (m *matter) set(name string, value any) {
	text, _ := value.(string)
	text = excerpt.Line(text)
	switch name {
	case "type", "kind", "artifact_type", "artifact-type", "artifact":
		m.kind = strings.ToLower(text)
	case "title":
		m.title = text
	case "summary", "description", "abstract":
		m.summary = text
	case "phase":
		m.phase = strings.ToLower(text)
	case "tags", "keywords", "labels":
		m.tags = append(m.tags, listOf(value)...)
	}
}

// listOf reads a list, or a text with commas.
func listOf(value any) (all []string) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			if text, isText := one.(string); isText {
				all = append(all, tag(text))
			}
		}
	case string:
		for one := range strings.FieldsFuncSeq(strings.Trim(v, "[]"), func(r rune) bool { return r == ',' || r == ';' }) {
			all = append(all, tag(one))
		}
	}
	return all
}

// tag is a tag as it is compared: lower case, blanks and underscores as
// hyphens.
func tag(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return unicode.IsSpace(r) || r == '_' || r == '#' || r == '"' || r == '\''
	}), "-")
}
