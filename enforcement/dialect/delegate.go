package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/glob"
)

// Run is an agent at work: its constitution, who called it, and what is left of
// its capabilities by that.
type Run struct {
	Constitution Constitution
	Grant        Grant
	// Chain are the names of its callers, the outermost first.
	Chain []string
	// MaxDepth is how long the chain of any of its callees may be.
	MaxDepth int
}

// Start is the run of an agent that a person calls.
func Start(c Constitution) Run {
	return Run{Constitution: c, Grant: c.Grant, MaxDepth: c.Delegation.MaxDepth}
}

// Delegate is the run of an agent that another one calls. The child may do what
// both may, and go no deeper than both allow. Nobody calls itself, nor who
// called it. The run is the zero value unless the decision allows it. Whether the
// caller has /agent for this callee is Grant.Check's to say.
func (r Run) Delegate(callee Constitution) (Run, Decision) {
	id := callee.Name
	rules := r.Constitution.Delegation
	switch {
	case id == "" || id == r.Constitution.Name || slices.Contains(r.Chain, id):
		return Run{}, denied(fmt.Sprintf("agent %s is already at work on this", id), "do it yourself or ask another agent")
	case len(r.Chain) >= r.MaxDepth:
		return Run{}, denied(fmt.Sprintf("delegation is %d deep at most", r.MaxDepth), "do it yourself")
	case slices.ContainsFunc(rules.DeniedCallees, func(p string) bool { return glob.Text(p, id) }):
		return Run{}, denied(fmt.Sprintf("agent %s is among the denied callees", id), "ask another agent")
	case rules.AllowedCallees != nil && !slices.ContainsFunc(rules.AllowedCallees, func(p string) bool { return glob.Text(p, id) }):
		return Run{}, denied(fmt.Sprintf("agent %s is not among the allowed callees", id), "ask another agent")
	}
	chain := append(slices.Clone(r.Chain), r.Constitution.Name)
	return Run{
		Constitution: callee,
		Grant:        r.Grant.And(callee.Grant),
		Chain:        chain,
		MaxDepth:     min(r.MaxDepth, len(chain)+callee.Delegation.MaxDepth),
	}, Decision{Verdict: Allow}
}

// Child is one line of a parallel block.
type Child struct {
	ID, Message string
	// Problem says why the line is no child; "" for a child.
	Problem string
	Line    int // in the body, from 1
}

// Children reads the body of a parallel block: /agent lines at column 0. Blank
// lines are skipped, every other line is a child with a problem, so that nothing
// is dropped silently.
func Children(body string) []Child {
	var all []Child
	number := 0
	for text := range strings.Lines(body) {
		number++
		text = strings.TrimRight(text, " \t\r\n")
		if text == "" {
			continue
		}
		child := Child{Line: number}
		rest, ok := strings.CutPrefix(text, "/agent")
		switch {
		case !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t':
			child.Problem = "only /agent lines are run in parallel"
		default:
			child.ID, child.Message = cutWord(rest)
			if child.ID == "" || child.Message == "" {
				child.Problem = "/agent needs an id and a message"
			}
		}
		all = append(all, child)
	}
	return all
}
