package describe

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/schemas/excerpt"
)

// summaryBytes bounds a summary.
const summaryBytes = 400

// title is what a file is called.
func title(file, language string, front matter, symbols []artifact.Symbol) string {
	if front.title != "" {
		return front.title
	}
	if language == "markdown" {
		for _, s := range symbols {
			if s.Kind == "heading" {
				return s.Name
			}
		}
	}
	return path.Base(file)
}

// summary is the first paragraph that says something.
func summary(language string, front matter, body string) string {
	if front.summary != "" {
		return clip(front.summary)
	}
	if Programming(language) {
		return clip(leadingComment(body))
	}
	if data[language] {
		return ""
	}
	return clip(firstParagraph(body))
}

func clip(text string) string {
	if len(text) <= summaryBytes {
		return text
	}
	const mark = "…"
	short := excerpt.BytesWith(text, summaryBytes-len(mark), "")
	if space := strings.LastIndexByte(short, ' '); space > len(short)/2 {
		short = short[:space]
	}
	return short + mark
}

// firstParagraph is the first paragraph of prose that is no heading, badge,
// table or fence.
func firstParagraph(text string) string {
	var lines []string
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
			line = ""
		}
		ends := line == "" || fenced || skipped(line)
		if strings.Trim(line, "=-") == "" && line != "" {
			lines = nil // the line above is a heading
			continue
		}
		if !ends {
			lines = append(lines, strings.TrimLeft(line, "> "))
			continue
		}
		if len(lines) > 0 {
			break
		}
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

func skipped(line string) bool {
	for _, mark := range []string{"#", "|", "![", "[![", "<", "---", "===", ".. ", ":"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// leadingComment is the first paragraph of the last comment before the code
// begins, past licences and directives.
func leadingComment(text string) string {
	var paragraph, best []string
	open := "" // the mark that ends the comment over lines that we are in
	read := 0
	another := true // what follows is a comment of its own, nearer to the code
	take := func() {
		if said := strings.Join(paragraph, " "); said != "" && !licence(said) && another {
			best, another = paragraph, false
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if read += len(line); read > 8<<10 {
			break
		}
		if line == "" {
			take()
			another = another || open == ""
			continue
		}
		inside := open != ""
		if !inside {
			for _, mark := range [][2]string{{"/*", "*/"}, {`"""`, `"""`}, {"'''", "'''"}} {
				if strings.HasPrefix(line, mark[0]) && !strings.Contains(line[len(mark[0]):], mark[1]) {
					open = mark[1]
				}
			}
		} else if strings.Contains(line, open) {
			open = ""
		}
		said := strings.TrimSpace(withoutMarks(withoutMarks(line)))
		if !inside && said == line {
			take()
			break // code
		}
		if strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "//nolint") || strings.HasPrefix(line, "#!") || strings.HasPrefix(line, "#include") {
			continue
		}
		if said == "" {
			take()
			continue
		}
		paragraph = append(paragraph, said)
	}
	take()
	return strings.Join(strings.Fields(strings.Join(best, " ")), " ")
}

func licence(text string) bool {
	lower := strings.ToLower(text)
	return strings.Contains(lower, "copyright") || strings.Contains(lower, "spdx-") || strings.Contains(lower, "license")
}

// topics are tags that a project's words imply: what a strategy filters by has
// to be found in projects that nobody tagged.
var topics = map[string]string{
	"security": "security", "secure": "security", "vulnerability": "security", "vulnerabilities": "security", "crypto": "security", "tls": "security",
	"secrets": "security", "sandbox": "security", "threat": "security", "threats": "security", "csrf": "security", "xss": "security", "encryption": "security",
	"auth": "authentication", "authn": "authentication", "authentication": "authentication", "login": "authentication", "oauth": "authentication", "oauth2": "authentication",
	"oidc": "authentication", "saml": "authentication", "password": "authentication", "passwords": "authentication", "jwt": "authentication", "credentials": "authentication", "credential": "authentication", "authenticate": "authentication", "authenticator": "authentication",
	"authz": "authorization", "authorization": "authorization", "permissions": "authorization", "permission": "authorization", "rbac": "authorization", "acl": "authorization", "authorize": "authorization", "authorizer": "authorization",
	"database": "database", "sql": "database", "migrations": "database", "schema": "database",
	"api": "api", "rest": "api", "graphql": "api", "grpc": "api", "openapi": "api",
	"performance": "performance", "benchmark": "performance", "benchmarks": "performance", "latency": "performance",
	"deployment": "deployment", "deploy": "deployment", "kubernetes": "deployment", "docker": "deployment", "helm": "deployment",
	"config": "configuration", "configuration": "configuration", "settings": "configuration",
	"metrics": "observability", "tracing": "observability", "logging": "observability", "telemetry": "observability",
}

// symbolTopics is how many names have to speak of a topic: one method called
// Login is not what a file is about.
const symbolTopics = 3

// tagsOf are the tags of the front matter, and the topics of path, title and
// names.
func tagsOf(file, title string, front matter, symbols []artifact.Symbol) []string {
	tags := slices.Clone(front.tags)
	var buffer [64]byte
	for _, name := range []string{file, title} {
		for word, at := nextWord(name, 0, buffer[:0]); len(word) > 0; word, at = nextWord(name, at, buffer[:0]) {
			if topic := topics[string(word)]; topic != "" {
				tags = append(tags, topic)
			}
		}
	}
	said := map[string]int{}
	for _, s := range symbols {
		seen := ""
		for word, at := nextWord(s.Name, 0, buffer[:0]); len(word) > 0; word, at = nextWord(s.Name, at, buffer[:0]) {
			if topic := topics[string(word)]; topic != "" && topic != seen {
				said[topic]++
				seen = topic
			}
		}
	}
	for topic, n := range said {
		if n >= symbolTopics {
			tags = append(tags, topic)
		}
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	return slices.DeleteFunc(tags, func(t string) bool { return t == "" })
}

// nextWord appends the first word of a name at or after a place, in lower case,
// and returns where it ends. Words end at humps, too. There is none at the end of
// the name.
func nextWord(name string, at int, word []byte) (lower []byte, end int) {
	afterLower := false
	for at < len(name) {
		r, size := utf8.DecodeRuneInString(name[at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if len(word) > 0 {
				break
			}
			at += size
			continue
		}
		if afterLower && unicode.IsUpper(r) {
			break
		}
		word = utf8.AppendRune(word, unicode.ToLower(r))
		afterLower = unicode.IsLower(r)
		at += size
	}
	return word, at
}
