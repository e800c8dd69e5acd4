package enforcement

import (
	"fmt"
	"slices"

	"github.com/writbus/writ/enforcement/shell"
	"github.com/writbus/writ/schemas"
)

// How each class of acts gets around what is held, for people.
var actsBy = map[shell.Class]string{
	shell.Types:     "types into terminals or windows, yours among them",
	shell.Agent:     "starts an agent that this session's gates do not bind",
	shell.Schedule:  "has programs started later, or by a service",
	shell.Service:   "starts and stops services",
	shell.Container: "has a daemon or a cluster do it",
	shell.Machine:   "acts on another machine",
	shell.Desktop:   "has a program do it that runs already",
	shell.Setuid:    "takes another user's rights",
	shell.Socket:    "is the socket of a program that does what it is told",
}

// alwaysAsked are the classes that can forge what the user says, now or later.
// They are asked for in every mode, and of every agent.
var alwaysAsked = []shell.Class{shell.Types, shell.Agent, shell.Schedule}

// elsewhere judges what other processes would do, which no kernel holds by holding
// the command: while code may not be written, the user is asked for all of it.
// Where nobody answers, it is refused.
func (st stance) elsewhere(acts []shell.Elsewhere, unasked bool) ruling {
	closed := !st.exempt && st.write(schemas.Target{Class: ClassCode}).verdict == Deny
	for _, a := range acts {
		if !closed && !slices.Contains(alwaysAsked, a.Class) {
			continue
		}
		r := ruling{verdict: Ask, rule: RuleElsewhere, text: wording{
			fmt.Sprintf("it acts outside of what the kernel can hold: %s %s.", shortPath(a.Program), actsBy[a.Class]),
			"A yes lets it run as it is. Without one, tell the user what you want to do and why.",
		}}
		if unasked {
			r.verdict = Deny
			r.text.next = nobodyAsked
		}
		return r
	}
	return allowed
}

const nobodyAsked = "Nobody is asked in this permission mode. Tell the user what you want to do; they can do it at a terminal of their own, or take another permission mode."
