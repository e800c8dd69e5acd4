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

// TwoPersons is the setting that asks for the signatures of two persons.
const TwoPersons = "two-person"

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
	switch assurance {
	case "":
		return 0
	case TwoPersons:
		return len(Ladder)
	case Nobody:
		return len(Ladder) + 1
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
	if by, known := assurances[channel]; known && rung(by) >= rung(least) || least == TwoPersons && channel == ChannelTerminal {
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
	case least == TwoPersons:
		return "two persons sign it, each with `writ approve` in a terminal"
	case least == Nobody:
		return "agents work here under a released policy, and nobody approves"
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
	switch {
	case s.Approval == TwoPersons:
		how = "outside the conversation, at a terminal, together with a second person"
	case rung(s.Approval) > rung(AssuranceTerminal):
		how = "outside the conversation, with a passkey"
	}
	return strings.NewReplacer(wordsForPlan, how, wordsForTests, how, wordsForImplementation, how,
		"with `/writ-approve "+GatePlan+"`", how, "with `/writ-approve "+GateTests+"`", how).Replace(next)
}

// Given is the approval of one of two persons, who are both needed.
type Given struct {
	Gate        string         `json:"gate"`
	Fingerprint string         `json:"fingerprint"`
	Signed      schemas.Signed `json:"signed"`
}

// given takes an approval in; a person's newer one takes the place of the older.
func given(s State, p schemas.ApprovalGiven) State {
	s = s.used(p.ActID, "given")
	if p.Signed == nil || s.Mode != ModeWork {
		return s
	}
	kept := slices.DeleteFunc(slices.Clone(s.Given), func(g Given) bool { return g.Gate == p.Gate && g.Signed.Key == p.Signed.Key })
	s.Given = append(kept, Given{p.Gate, p.Fingerprint, *p.Signed})
	return s
}

// gaveUp says whether an event leaves nothing of what single persons approved.
func gaveUp(p schemas.Payload) bool {
	switch p.(type) {
	case schemas.GateApproved, schemas.GateInvalidated, schemas.GatesClosed, schemas.GateDeclined, schemas.ModeChanged, schemas.PlanReopened, schemas.PlanResumed:
		return true
	}
	return false
}

// signatures are those that count for exactly this, of persons who may approve now.
func signatures(s State, gate, fingerprint string, persons []string) (all []schemas.Signed) {
	for _, g := range s.Given {
		if g.Gate == gate && g.Fingerprint == fingerprint && slices.Contains(persons, g.Signed.Key) {
			all = append(all, g.Signed)
		}
	}
	return all
}

// Second says whose approvals a gate waits for where two persons are needed, "" where
// one is enough.
func Second(s State, o Offer, set Settings, persons []string) string {
	if set.Approval != TwoPersons {
		return ""
	}
	var gave []string
	rest := slices.Clone(persons)
	for _, one := range signatures(s, o.Gate, o.Fingerprint, persons) {
		gave = append(gave, personName(one.Key))
		rest = slices.DeleteFunc(rest, func(key string) bool { return key == one.Key })
	}
	var names []string
	for _, key := range rest {
		names = append(names, personName(key))
	}
	switch {
	case len(persons) < 2:
		return "two persons have to approve, and no release that is followed names two: writ help team"
	case len(gave) == 0:
		return "waits for two of " + strings.Join(names, ", ")
	}
	return strings.Join(gave, ", ") + " approved; waits for one of " + strings.Join(names, ", ")
}

// Counts is the mode that counts of one that a session is in: where two persons
// approve, one that lets code be written without them is none, however it was chosen.
func (s Settings) Counts(mode string) string {
	if s.Approval == TwoPersons && mode != ModeWork && mode != ModeReview {
		return ""
	}
	return mode
}

// personName is the name in a public key.
func personName(key string) string {
	name, _, _ := strings.Cut(key, "+")
	return name
}

// alone records a person's approval where another one's is missing; done is false
// where the gate may open, with the signatures of the others.
func (a userAct) alone(s State, d Decision, o Offer) (_ Decision, with []schemas.Signed, done bool) {
	refused := func(why string) (Decision, []schemas.Signed, bool) {
		d.Problems = []string{why}
		return s.refuse(d, a), nil, true
	}
	switch {
	case a.signed == nil:
		return refused("two persons sign it, and you have no key here: writ approve key --new NAME draws one, whose public part a release names")
	case !slices.Contains(a.persons, a.signed.Key):
		return refused("the key of " + personName(a.signed.Key) + " is not, or no more, among those whose approvals count: the maintainers of a release that is followed name them")
	}
	for _, one := range signatures(s, a.gate, o.Fingerprint, a.persons) {
		if one.Key == a.signed.Key {
			return refused(personName(one.Key) + " approved this already; the second approval is another person's")
		}
		with = append(with, one)
	}
	if len(with) > 0 {
		return d, with, false
	}
	one := schemas.ApprovalGiven{Gate: a.gate, Fingerprint: o.Fingerprint, Channel: a.channel, ActID: a.id, Signed: a.signed}
	d.Verdict, d.Gate, d.Record = Allow, "", []schemas.Payload{one}
	d.Notice = "One of two approvals: the " + a.gate + " (" + shortHash(o.Fingerprint) + "): " +
		Second(Evolve(s, schemas.Event{Data: one}), o, Settings{Approval: TwoPersons}, a.persons) + "."
	return d, nil, true
}
