package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/cmd/writ/cli/files"
	"github.com/writbus/writ/cmd/writ/cli/history"
	"github.com/writbus/writ/cmd/writ/cli/memory"
	"github.com/writbus/writ/cmd/writ/cli/rules"
	"github.com/writbus/writ/schemas/spelling"
)

// place is where find looks: a command that answers for it, in a fresh copy.
type place struct {
	name, title string
	command     func(*client.Client) *cobra.Command
}

// places are where find looks, in the order in which it shows what it found.
var places = []place{
	{"rules", "Rules", rules.Find},
	{"files", "Files", files.Find},
	{"memory", "Memory", memory.Find},
	{"log", "The log", history.Find},
}

// wordKind is the flag that asks for the words of rules instead of what matters.
const wordKind = "kind"

// unasked is a place that is searched only where it is named: the log is the
// user's own, and long.
const unasked = "log"

func (a *app) findCommand() *cobra.Command {
	var in []string
	c := &cobra.Command{
		Use:   "find TEXT",
		Short: "Find rules, files, observations and events that a text asks for",
		Long: `Finds what matters for a text: rules, files of the project around this folder, and
what was observed; with --in in one of them, or in the log. Rules, files and memory
are found by words and meaning, events by the text in them.

A flag that only some places know asks only them. With --kind rules are found by
their words: words, phrase, prefix, fuzzy or query-string.`,
		Example: `  writ find "retry a payment request"
  writ find --in rules --domain go --explain "close the response body"
  writ find --in files --path 'docs/**' "where are retries configured"
  writ find --in memory "how are the tests run"
  writ find --in log --since 24h "force-push"
  writ find --in rules --kind fuzzy gorotine
  writ find --json --in rules "parse user input" | jq -r '.rules[].id'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, " ")) == "" {
				return client.Usage("find: the text is empty", "Say what to look for: `writ find \"retry a payment request\"`.")
			}
			return a.find(cmd, in, args)
		},
	}
	c.Flags().StringSliceVar(&in, "in", nil, "rules, files, memory or log (default: all but the log)")
	for _, command := range a.finders() {
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if c.Flags().Lookup(f.Name) == nil {
				c.Flags().AddFlag(f)
			}
		})
	}
	for _, name := range rarelyAsked {
		c.Flags().Lookup(name).Hidden = true
	}
	c.Flags().Lookup("tag").Usage, c.Flags().Lookup("session").Usage = "only what has this tag", "only this session's events; ask for rules as this session"
	c.Flags().Lookup("limit").Usage = "at most so many of each"
	c.Flags().Lookup("limit").DefValue = "0"
	return c
}

// rarelyAsked are flags that work and that the help does not list: those of the
// older commands alone.
var rarelyAsked = []string{"budget", "exclude", "facet", "field", "from", "max-pause", "method", "profile", "speed", "stage1-topk", "stage2-topk", "to"}

// finders are the commands that answer, and that for the words of rules.
func (a *app) finders() []*cobra.Command {
	all := []*cobra.Command{rules.FindWords(a.Client)}
	for _, p := range places {
		all = append(all, p.command(a.Client))
	}
	return all
}

// find asks the places that are meant, each by its own command.
func (a *app) find(cmd *cobra.Command, in, args []string) error {
	for _, name := range in {
		if !slices.ContainsFunc(places, func(p place) bool { return p.name == name }) {
			return client.Usage("find: there is no place \""+name+"\""+spelling.Meant(name, placeNames()), "The places are "+strings.Join(placeNames(), ", ")+".")
		}
	}
	asked, unknown := a.askedPlaces(cmd, in)
	switch {
	case unknown != "":
		return client.Usage("find: "+unknown, "`writ find --help` shows the flags.")
	case len(asked) == 1:
		return asked[0].as("find", asked[0].command.RunE(asked[0].command, args))
	}
	return a.findIn(asked, args, len(in) > 0)
}

// as names a fault that is named after a place's command, after what was typed.
func (f finding) as(what string, err error) error {
	if fault, ok := errors.AsType[*client.Fault](err); ok && strings.HasSuffix(fault.What, f.command.Name()) {
		fault.What = what
	}
	return err
}

func placeNames() []string {
	var names []string
	for _, p := range places {
		names = append(names, p.name)
	}
	return names
}

// finding is a place and its command, with the flags that were given.
type finding struct {
	place
	command *cobra.Command
}

// askedPlaces are the places that are named, or know every flag that was given.
// Unknown says which flag a named place does not know.
func (a *app) askedPlaces(cmd *cobra.Command, in []string) (asked []finding, unknown string) {
	missing := ""
	for _, p := range places {
		if len(in) > 0 && !slices.Contains(in, p.name) || len(in) == 0 && p.name == unasked {
			continue
		}
		command := p.command(a.Client)
		if p.name == "rules" && cmd.Flags().Changed(wordKind) {
			command = rules.FindWords(a.Client)
		}
		command.SetContext(cmd.Context())
		switch lacks := handFlags(cmd, command); {
		case lacks == "":
			asked = append(asked, finding{p, command})
		case len(in) > 0:
			return nil, lacks + " says nothing of " + p.name
		default:
			missing = lacks
		}
	}
	if len(asked) == 0 {
		return nil, "no place knows " + missing + " with the other flags, or only the log, which --in names"
	}
	return asked, ""
}

// handFlags gives a command the flags that were given to another one; lacks is
// the first that it does not have.
func handFlags(from, to *cobra.Command) (lacks string) {
	from.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "in" || f.Name == "json" || lacks != "" {
			return
		}
		value := f.Value.String()
		if several, is := f.Value.(pflag.SliceValue); is {
			value = strings.Join(several.GetSlice(), ",")
		}
		if to.Flags().Lookup(f.Name) == nil || to.Flags().Set(f.Name, value) != nil {
			lacks = "--" + f.Name
		}
	})
	return lacks
}

// foundIn is what one place answers, as JSON shows several.
type foundIn struct {
	In    string            `json:"in"`
	Found []json.RawMessage `json:"found"`
}

// findIn asks several places. One that was not named, and cannot answer, says why
// beside what the others found.
func (a *app) findIn(asked []finding, args []string, named bool) error {
	var first error
	answered := 0
	for _, f := range asked {
		var answer bytes.Buffer
		out := a.Out
		if a.JSON {
			a.Out = &answer
		} else {
			a.Printf("%s\n", a.Env.Style(a.Out).Bold(f.title))
		}
		err := f.command.RunE(f.command, args)
		a.Out = out
		switch {
		case err != nil && named:
			return f.as("find", err)
		case err != nil:
			if first == nil {
				first = err
			}
			a.Note("%s", client.OneLine(f.as(f.name, err).Error()))
		default:
			answered++
		}
		if !a.JSON {
			a.Printf("\n")
			continue
		}
		found := foundIn{In: f.name, Found: []json.RawMessage{}}
		for line := range bytes.Lines(answer.Bytes()) {
			found.Found = append(found.Found, json.RawMessage(bytes.TrimSpace(line)))
		}
		if err := a.PrintJSON(found); err != nil {
			return err
		}
	}
	if answered == 0 {
		return first
	}
	return nil
}
