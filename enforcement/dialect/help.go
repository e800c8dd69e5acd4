package dialect

import (
	"fmt"
	"strings"
)

// Help is the text of /help: all verbs by axis, or all about the one named, with
// or without its slash. ok is false where there is no such verb; the text then
// says so.
func Help(name string) (text string, ok bool) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "/")
	if name == "" {
		return overview(), true
	}
	v := Lookup(name)
	if v == nil {
		return fmt.Sprintf("ERR: no verb /%s. Adapt: /help lists the verbs.\n", name), false
	}
	return describe(v), true
}

func overview() string {
	var out strings.Builder
	out.WriteString("A line that begins with / and a verb is a command. /help VERB shows more.\n")
	axis := ""
	for i := range table {
		v := &table[i]
		if v.Axis != axis {
			axis = v.Axis
			fmt.Fprintf(&out, "\n%s\n", axis)
		}
		fmt.Fprintf(&out, "  /%-10s %s\n", v.Name, v.Help)
	}
	return out.String()
}

func describe(v *Verb) string {
	var out strings.Builder
	if v.Usage != "" || len(v.Subs) == 0 {
		fmt.Fprintf(&out, "%s\n", line(v.Name, v.Usage))
	}
	for _, sub := range v.Subs {
		fmt.Fprintf(&out, "%-36s %s\n", line(v.Name, sub.Name, sub.Usage), sub.Help)
	}
	fmt.Fprintf(&out, "\n%s\n", v.Help)
	if b := v.Block; b != nil {
		opener := line(append([]string{v.Name}, b.Words...)...)
		word := "needs"
		if b.Optional {
			word = "may have"
		}
		fmt.Fprintf(&out, "%s %s a body: the lines after it up to /%s at column 0.\n", opener, word, strings.Join(b.Terminators, " or /"))
	}
	fmt.Fprintf(&out, "Capability: %s", v.Capability())
	for _, key := range v.Scopes {
		fmt.Fprintf(&out, " [%s=…]", key)
	}
	fmt.Fprintf(&out, "\nTime limit: %s\n", v.Timeout)
	return out.String()
}

func line(words ...string) string {
	return "/" + strings.TrimRight(strings.Join(words, " "), " ")
}

// Prompt tells an agent which commands it has: one line per verb of which its
// grant allows anything.
func Prompt(g Grant) string {
	var out strings.Builder
	out.WriteString("You act by writing commands. A command is a line that begins with / and a verb, at column 0, outside code fences. " +
		"Its result comes with the next message. You have these:\n\n")
	for i := range table {
		v := &table[i]
		scopes, ok := g.scopesOf(v)
		if !ok {
			continue
		}
		out.WriteString(v.Prompt)
		if scopes != "" {
			fmt.Fprintf(&out, " Only: %s.", scopes)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
