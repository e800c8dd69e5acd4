package enforcement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Assurances say how sure it is that the user acted, each harder to come by
// without them than the one before (persisted; never change). Logs that are older
// than the ladder say "pattern" for a prompt and "tool" for a command.
const (
	AssurancePrompt    = "prompt"    // words that the host says the user typed
	AssuranceCommand   = "command"   // a command that no model can invoke, or the host's own dialog
	AssuranceDashboard = "dashboard" // a button in a browser that a person let in
	AssuranceTerminal  = "terminal"  // a terminal that a person sits at
	AssurancePasskey   = "passkey"   // a signature that an authenticator made after it saw the person
)

// Ladder are the assurances in rising order.
var Ladder = schemas.Assurances()

// assurances tell what a channel is worth.
var assurances = map[string]string{
	ChannelCommand: AssuranceCommand, ChannelDialog: AssuranceCommand,
	ChannelPrompt: AssurancePrompt, ChannelUnsourced: AssurancePrompt,
	ChannelDashboard: AssuranceDashboard, ChannelTerminal: AssuranceTerminal, ChannelPasskey: AssurancePasskey,
}

// Person is a person who acts through a channel.
func Person(channel string) schemas.Actor { return schemas.Person(channel, assurances[channel]) }

// rung is the place of an assurance on the ladder, "" the lowest. A word that is
// not on it is the highest: what nobody understands must not open more.
func rung(assurance string) int {
	if at := slices.Index(Ladder, assurance); at >= 0 {
		return at
	}
	if assurance == "" {
		return 0
	}
	return len(Ladder) - 1
}

// Stricter is the higher of two assurances.
func Stricter(a, b string) string {
	if rung(a) > rung(b) {
		return a
	}
	return b
}

// TooWeak says why an act by a channel does not open a gate where a setting asks
// for at least this assurance, and what does; "" where it does.
func TooWeak(channel, least string) string {
	if by, known := assurances[channel]; known && rung(by) >= rung(least) {
		return ""
	}
	return fmt.Sprintf("`approval: %s` is set, and this came by %s; %s", least, strings.ReplaceAll(channel, "_", " "), waysIn(least))
}

// TooWeakToLoosen says the same of an act that opens no gate and lets agents do
// more, such as leaving work mode: a terminal is enough for it, since a passkey
// signs approvals alone.
func TooWeakToLoosen(channel, least string) string {
	if rung(least) < rung(AssuranceTerminal) {
		return TooWeak(channel, least)
	}
	if by, known := assurances[channel]; known && rung(by) >= rung(AssuranceTerminal) {
		return ""
	}
	return fmt.Sprintf("`approval: %s` is set, and this came by %s; a terminal of your own is asked for", least, strings.ReplaceAll(channel, "_", " "))
}

// waysIn names what opens a gate where a setting asks for an assurance.
func waysIn(least string) string {
	switch {
	case rung(least) <= rung(AssuranceCommand):
		return "type `/writ-approve`, use the dashboard, or run `writ approve` in a terminal of your own"
	case rung(least) <= rung(AssuranceTerminal):
		return "run `writ approve` in a terminal of your own, or approve with a passkey in the dashboard (`writ dash`)"
	}
	return "approve with a passkey in the dashboard (`writ dash`); `writ approve passkey add`, in a terminal of your own, enrols one"
}

// Words of refusals that say how the user approves where nothing stricter is set.
const (
	wordsForPlan  = "with `/writ-approve plan` or by answering \"approved\""
	wordsForTests = "with `/writ-approve tests` or by answering \"approved\""

	wordsForImplementation = "with `/writ-approve implementation` or by answering \"approved\""
)

// approvable says in a refusal's next step what opens the gate under these
// settings.
func (s Settings) approvable(next string) string {
	if rung(s.Approval) <= rung(AssurancePrompt) {
		return next
	}
	how := "outside the conversation, at a terminal or with a passkey"
	if rung(s.Approval) > rung(AssuranceTerminal) {
		how = "outside the conversation, with a passkey"
	}
	return strings.NewReplacer(wordsForPlan, how, wordsForTests, how, wordsForImplementation, how,
		"with `/writ-approve "+GatePlan+"`", how, "with `/writ-approve "+GateTests+"`", how).Replace(next)
}
