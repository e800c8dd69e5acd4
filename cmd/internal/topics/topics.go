// Package topics collects the documents that lie beside what they describe, so
// that writ help and the dashboard show the same.
//
// Every topic is one Markdown file of a package named help, embedded there and
// read when somebody asks for it. Its name is the file's, its title the first
// heading and its summary the first paragraph. A topic
// that has the name of a command is about it (tested in cmd/writ/cli).
//
// It renders nothing: the terminal and the page have renderers of their own.
package topics

import (
	"embed"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/spelling"

	bus "github.com/writbus/writ/bus/help"
	config "github.com/writbus/writ/cmd/internal/config/help"
	client "github.com/writbus/writ/cmd/writ/help"
	enforcement "github.com/writbus/writ/enforcement/help"
	hosts "github.com/writbus/writ/enforcement/host/help"
	language "github.com/writbus/writ/observer/agent/vocabulary/help"
	observer "github.com/writbus/writ/observer/help"
	projections "github.com/writbus/writ/projections/help"
	retrieval "github.com/writbus/writ/retrieval/help"
)

// Topic is one document.
type Topic struct {
	Name    string
	Group   string // the heading it is listed under
	Title   string
	Summary string // one sentence
	Text    string // all of it, Markdown
	// Commands are the top-level commands of writ that it is about.
	Commands []string
}

type entry struct {
	name     string
	files    embed.FS
	commands string
}

// groups are the topics in the order in which they are listed.
func groups() []struct {
	title   string
	entries []entry
} {
	return []struct {
		title   string
		entries []entry
	}{
		{"To begin", []entry{
			{"getting-started", client.Files, "up down status doctor init uninstall"},
			{"first-hour", client.Files, "init doctor top session"},
			{"troubleshooting", client.Files, "doctor status"},
		}},
		{"The guard", []entry{
			{"gates", enforcement.Files, "approve session mode phase hook statusline"},
			{"shell-commands", enforcement.Files, "confine"},
			{"hosts", hosts.Files, "init hook"},
		}},
		{"Rules and files", []entry{
			{"rules", retrieval.Files, "find rule query benchmark tune model check"},
			{"writing-rules", retrieval.Files, "rule check"},
			{"corpus", retrieval.Files, "rule graph"},
			{"project-files", retrieval.Files, "find index search context"},
		}},
		{"Memory and agents", []entry{
			{"observations", observer.Files, "find memory observe recall"},
			{"agents", language.Files, "agent run dispatch schedule lint-stream mcp"},
			{"verbs", language.Files, "agent run dispatch lint-stream"},
		}},
		{"The log", []entry{
			{"log", bus.Files, "log emit replay watch"},
			{"reading-the-log", bus.Files, "log session"},
			{"bus", bus.Files, "log emit"},
			{"reference", bus.Files, ""},
			{"history", projections.Files, "log session replay diff whatif"},
			{"evidence", projections.Files, "audit attest"},
			{"team", projections.Files, "team"},
			{"watching", observer.Files, "top dash log watch status"},
		}},
		{"Setting up", []entry{
			{"commands", client.Files, ""},
			{"settings", config.Files, "init"},
			{"environment", config.Files, ""},
			{"files", config.Files, "up uninstall backup"},
		}},
	}
}

// All reads every topic, in the order in which they are listed.
func All() []Topic {
	var all []Topic
	for _, g := range groups() {
		for _, e := range g.entries {
			raw, err := e.files.ReadFile(e.name + ".md")
			if err != nil {
				panic("topics: " + err.Error()) // it is compiled in; a test reads each
			}
			t := Topic{Name: e.name, Group: g.title, Text: string(raw), Commands: strings.Fields(e.commands)}
			t.Title, t.Summary = headline(t.Text)
			all = append(all, t)
		}
	}
	return all
}

// headline takes the title and the first sentence from a document.
func headline(text string) (title, summary string) {
	head, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	title = strings.TrimSpace(strings.TrimPrefix(head, "#"))
	paragraph, _, _ := strings.Cut(strings.TrimSpace(rest), "\n\n")
	paragraph = excerpt.Line(paragraph)
	if sentence, _, more := strings.Cut(paragraph, ". "); more {
		paragraph = sentence + "."
	}
	return title, strings.ReplaceAll(paragraph, "`", "")
}

// Find returns the topic of a name, in any case.
func Find(name string) (Topic, bool) {
	for _, t := range All() {
		if strings.EqualFold(t.Name, name) {
			return t, true
		}
	}
	return Topic{}, false
}

// About lists the topics that are about a top-level command.
func About(command string) []Topic {
	var about []Topic
	for _, t := range All() {
		for _, c := range t.Commands {
			if c == command {
				about = append(about, t)
			}
		}
	}
	return about
}

// Near lists the names that a misspelt one may mean, the nearest first, and
// then topics that mention the word, at most five together.
func Near(word string, commands []string) []string {
	word = strings.ToLower(word)
	all := All()
	for _, t := range all {
		commands = append(commands[:len(commands):len(commands)], t.Name)
	}
	near := spelling.Near(word, commands, maxNear)
	for _, t := range all {
		if len(near) < maxNear && len(word) > 2 && strings.Contains(strings.ToLower(t.Text), word) && !slices.Contains(near, t.Name) {
			near = append(near, t.Name)
		}
	}
	return near
}

const maxNear = 5
