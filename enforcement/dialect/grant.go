package dialect

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is an answer. The zero value denies.
type Verdict int

const (
	// Deny means that nothing happens.
	Deny Verdict = iota
	// Allow means that the command may run.
	Allow
	// Ask means that a person has to confirm it first.
	Ask
)

// String returns "deny", "allow" or "ask".
func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	default:
		return "deny"
	}
}

// Decision is a verdict with its reason; Reason is "" for Allow and otherwise
// the text of a result.
type Decision struct {
	Verdict Verdict
	Reason  string
}

// Request is a command that wants to run.
type Request struct {
	Verb string // without its slash
	Args string
	// Workspace is the absolute folder that paths are relative to.
	Workspace string
}

// Grant is what an agent may run. The zero value is /help alone.
type Grant struct {
	sets [][]Capability // every set must allow
}

// NewGrant makes a grant of the entries that can be understood; the others grant
// nothing.
func NewGrant(list []string) Grant {
	set := []Capability{}
	for _, text := range list {
		if c, err := ParseCapability(text); err == nil {
			set = append(set, c)
		}
	}
	return Grant{sets: [][]Capability{set}}
}

// ParseGrant makes a grant of entries that must all be understood. The error
// wraps ErrCapability.
func ParseGrant(list []string) (Grant, error) {
	for i, text := range list {
		if _, err := ParseCapability(text); err != nil {
			return Grant{}, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return NewGrant(list), nil
}

// And returns what both grants allow.
func (g Grant) And(other Grant) Grant {
	if len(g.sets) == 0 || len(other.sets) == 0 {
		return Grant{}
	}
	return Grant{sets: slices.Concat(g.sets, other.sets)}
}

// Lists returns the lists of a grant as they are written, all of which must
// allow, so that it can be handed to a process elsewhere.
func (g Grant) Lists() [][]string {
	lists := make([][]string, len(g.sets))
	for i, set := range g.sets {
		lists[i] = []string{}
		for _, c := range set {
			lists[i] = append(lists[i], c.text)
		}
	}
	return lists
}

// GrantOfLists reverses Lists. What cannot be understood grants nothing.
func GrantOfLists(lists [][]string) Grant {
	var g Grant
	for _, list := range lists {
		g.sets = append(g.sets, NewGrant(list).sets...)
	}
	return g
}

// Check decides whether a command may run. It is to be asked before budgets,
// caches and side effects. Children of parallel are asked for one by one, as the
// /agent commands they are.
func (g Grant) Check(r Request) Decision {
	v := Lookup(r.Verb)
	if v == nil {
		return denied("no verb /"+r.Verb, "/help lists the verbs")
	}
	if v.Name == "help" {
		return Decision{Verdict: Allow}
	}
	if len(g.sets) == 0 {
		return notGranted(v, "")
	}
	for _, set := range g.sets {
		if d := check(set, v, r); d.Verdict != Allow {
			return d
		}
	}
	return Decision{Verdict: Allow}
}

// check asks one list. Each target has to be covered by some entry.
func check(set []Capability, v *Verb, r Request) Decision {
	var scoped []Capability
	for _, c := range set {
		if !c.names(v, r.Args) {
			continue
		}
		if len(c.scopes) == 0 {
			return Decision{Verdict: Allow}
		}
		scoped = append(scoped, c)
	}
	if len(scoped) == 0 {
		return notGranted(v, "")
	}
	list := targets(v, r.Args, r.Workspace)
	if len(list) == 0 {
		return notGranted(v, "what it reaches for cannot be told from its text")
	}
	for _, t := range list {
		if !slices.ContainsFunc(scoped, func(c Capability) bool { return c.covers(t, r.Workspace) }) {
			return notGranted(v, t.String()+" is outside "+join(scoped))
		}
	}
	return Decision{Verdict: Allow}
}

// Programs decides about a command line that Check allows, by what a reading of it
// finds besides the programs that it names: beyond says how it runs more than those
// that are allowed, or writes a file that is not writable by /write, "" where it
// does neither.
func (g Grant) Programs(workspace string, beyond func(allowed, writable func(name string) bool) (why string)) Decision {
	exec, write := Lookup("exec"), Lookup("write")
	for _, set := range g.sets {
		names := func(c Capability) bool { return c.names(exec, "") }
		if slices.ContainsFunc(set, func(c Capability) bool { return names(c) && len(c.scopes) == 0 }) {
			continue
		}
		why := beyond(func(program string) bool {
			t := target{values: map[string]string{"cmd": program}}
			return slices.ContainsFunc(set, func(c Capability) bool { return names(c) && c.covers(t, workspace) })
		}, func(file string) bool {
			return check(set, write, Request{Verb: "write", Args: file, Workspace: workspace}).Verdict == Allow
		})
		if why != "" {
			return notGranted(exec, why)
		}
	}
	return Decision{Verdict: Allow}
}

func notGranted(v *Verb, why string) Decision {
	what := "capability not granted: " + v.Capability()
	if why != "" {
		what += " (" + why + ")"
	}
	return denied(what, "do without it, or ask the user to grant it")
}

func denied(what, adapt string) Decision {
	return Decision{Reason: "ERR: " + what + ". Adapt: " + adapt + "."}
}

func join(list []Capability) string {
	var texts []string
	for _, c := range list {
		texts = append(texts, c.text)
	}
	return strings.Join(texts, " and ")
}

// String names what a target is, for a denial.
func (t target) String() string {
	for _, key := range []string{"host", "path", "cmd", "id", "tool", "server", "name"} {
		if value := t.values[key]; value != "" {
			return key + " " + value
		}
	}
	return "all"
}

// Tool reports whether a tool of an MCP server may be called, and so listed.
func (g Grant) Tool(server, tool string) bool {
	return g.Check(Request{Verb: "mcp", Args: "call " + server + " " + tool}).Verdict == Allow
}

// scopesOf describes the conditions under which anything of a verb is allowed;
// ok is false where nothing is.
func (g Grant) scopesOf(v *Verb) (text string, ok bool) {
	if v.Name == "help" {
		return "", true
	}
	var all []string
	for _, set := range g.sets {
		var some []string
		for _, c := range set {
			switch {
			case c.all, c.verb == v.Name && len(c.scopes) == 0 && len(c.sub) == 0:
				some = []string{""}
			case c.verb == v.Name && !slices.Equal(some, []string{""}):
				some = append(some, c.text)
			}
			if slices.Equal(some, []string{""}) {
				break
			}
		}
		if len(some) == 0 {
			return "", false
		}
		if text := strings.Join(some, " or "); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", and "), len(g.sets) > 0
}
