package vocabulary

import (
	"fmt"
	"strings"

	"github.com/writbus/writ/enforcement/dialect"
)

// reference is the documentation of all verbs, in Markdown.
func reference() string {
	var out strings.Builder
	out.WriteString("# The verbs of the command language\n\n" +
		"A line that begins with `/` and a verb, at column 0 and outside fences, is a command of an agent.\n\n" +
		"This page is made from the table of verbs (`enforcement/dialect`); `go test ./observer/agent/vocabulary -update` writes it.\n")
	axis := ""
	verbs := dialect.Verbs()
	for i := range verbs {
		v := &verbs[i]
		if v.Axis != axis {
			axis = v.Axis
			fmt.Fprintf(&out, "\n## %s%s\n", strings.ToUpper(axis[:1]), axis[1:])
		}
		describe(&out, v)
	}
	limits := dialect.DefaultLimits()
	fmt.Fprintf(&out, "\n## Limits\n\nFor each response, unless said otherwise: %d commands, %d fetches and browses, %d searches, %d questions to the advisor, "+
		"%d parallel children; %d KiB per result and %d KiB for all of them; %d KiB of output and %s for one `/exec`; %d model calls per message.\n",
		limits.Commands, limits.Fetches, limits.Searches, limits.Advises, limits.Children,
		limits.Body>>10, limits.Batch>>10, limits.Output>>10, limits.Exec, limits.ModelCalls)
	return out.String()
}

func describe(out *strings.Builder, v *dialect.Verb) {
	fmt.Fprintf(out, "\n### /%s\n\n%s\n\n", v.Name, v.Help)
	changes := "changes nothing"
	if v.Mutating {
		changes = "may change something"
	}
	fmt.Fprintf(out, "Capability `%s`", v.Capability())
	for _, key := range v.Scopes {
		fmt.Fprintf(out, ", scope `%s=`", key)
	}
	fmt.Fprintf(out, "; %s; time limit %s.\n", changes, v.Timeout)
	if b := v.Block; b != nil {
		opener := strings.TrimRight("/"+v.Name+" "+strings.Join(b.Words, " "), " ")
		word := "takes"
		if b.Optional {
			word = "may take"
		}
		fmt.Fprintf(out, "`%s` %s the lines up to `/%s`.\n", opener, word, strings.Join(b.Terminators, "` or `/"))
	}
	out.WriteByte('\n')
	if v.Usage != "" || len(v.Subs) == 0 {
		fmt.Fprintf(out, "- `%s`\n", strings.TrimRight("/"+v.Name+" "+v.Usage, " "))
	}
	for _, sub := range v.Subs {
		fmt.Fprintf(out, "- `%s` – %s\n", strings.TrimRight("/"+v.Name+" "+sub.Name+" "+sub.Usage, " "), sub.Help)
	}
}
