package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// Add brings in a rule that a person wrote. Content is its file.
type Add struct {
	Rule    schemas.Rule
	Content string
}

func (c Add) decide(s State) (Decision, error) {
	id := s.Rule.ID
	if err := s.foreign(); err != nil {
		return Decision{}, err
	}
	if s.Status != "" && s.Status != Refused {
		return refuse(schemas.CodeRefused, "there is already a rule %s (%s, %s). writ rule edit %s changes it", id, s.Status, s.Rule.Authority, id)
	}
	return recorded(schemas.RuleImported{Rule: c.Rule, Source: SourceTerminal, Hash: Hash(c.Content), Content: c.Content}, "added "+id)
}

// Edit replaces what a rule says by what a person wrote.
type Edit struct {
	Rule            schemas.Rule
	Content, Reason string
}

func (c Edit) decide(s State) (Decision, error) {
	g := s.Given()
	switch {
	case !g.Exists():
		return Decision{}, NoSuch(s.Rule.ID)
	case g.From != nil && g.Rule.Mandatory:
		return Decision{}, s.foreign()
	case g.From != nil && !s.InForce():
		return recorded(schemas.RuleImported{Rule: c.Rule, Source: SourceTerminal, Hash: Hash(c.Content), Content: c.Content},
			fmt.Sprintf("%s is yours now, in the place of the one of %s. writ rule retire %s gives theirs again", s.Rule.ID, g.From.Name, s.Rule.ID))
	}
	if s.Proposal() { // and stays one: editing it is not promoting it
		c.Rule.Authority, c.Rule.Confidence = s.Rule.Authority, s.Rule.Confidence
	}
	return recorded(schemas.RuleEdited{Rule: c.Rule, Reason: c.Reason, Content: c.Content}, "edited "+s.Rule.ID)
}

// Describe adds symptoms that a person accepted.
type Describe struct {
	Symptoms []string
	Reason   string
}

func (c Describe) decide(s State) (Decision, error) {
	id := s.Rule.ID
	if err := s.foreign(); err != nil {
		return Decision{}, err
	}
	if !s.InForce() {
		return Decision{}, NoSuch(id)
	}
	described := s.Rule
	described.Symptoms = slices.Clone(described.Symptoms)
	for _, text := range c.Symptoms {
		if text = excerpt.Line(text); text != "" && !slices.Contains(described.Symptoms, text) {
			described.Symptoms = append(described.Symptoms, text)
		}
	}
	more := len(described.Symptoms) - len(s.Rule.Symptoms)
	if more == 0 {
		return Decision{Message: id + " has these symptoms already"}, nil
	}
	return recorded(schemas.RuleEdited{Rule: described, Reason: cmp.Or(c.Reason, "symptoms were accepted")}, fmt.Sprintf("added %d symptoms to %s", more, id))
}

// Retire is a person's decision to take a rule out.
type Retire struct{ Reason string }

func (c Retire) decide(s State) (Decision, error) {
	id := s.Rule.ID
	if err := s.foreign(); err != nil {
		return Decision{}, err
	}
	switch {
	case !s.Exists():
		return Decision{}, NoSuch(id)
	case s.Status != Active:
		return refuse(schemas.CodeRefused, "rule %s is %s already", id, s.Status)
	case strings.TrimSpace(c.Reason) == "":
		return refuse(schemas.CodeBadRequest, "retiring %s needs a reason", id)
	}
	return recorded(schemas.RuleRetired{Reason: c.Reason}, "retired "+id+". writ rule revert brings it back")
}

// Revert brings back what a rule was at a revision, which brings a retired rule
// back, too.
type Revert struct {
	To     int
	Then   State // at that revision; not read where there is none
	Reason string
	// Unfit says why what it was does not fit the band of rules that every prompt
	// carries, "" if it does.
	Unfit string
}

func (c Revert) decide(s State) (Decision, error) {
	id := s.Rule.ID
	switch {
	case !s.Exists():
		return Decision{}, NoSuch(id)
	case c.To < 1 || c.To > s.Revisions:
		return refuse(schemas.CodeBadRequest, "rule %s has the revisions 1 to %d, not %d. `writ rule log %s` shows them.", id, s.Revisions, c.To, id)
	case !c.Then.Exists():
		return refuse(schemas.CodeRefused, "revision %d of %s has no content to go back to", c.To, id)
	case c.Unfit != "":
		return refuse(schemas.CodeRefused, "%s", c.Unfit)
	}
	if c.Reason == "" {
		c.Reason = fmt.Sprintf("back to revision %d", c.To)
	}
	return recorded(schemas.RuleEdited{Rule: c.Then.Rule, Reason: c.Reason, Content: c.Then.Content, Restores: c.To},
		fmt.Sprintf("%s is what it was at revision %d", id, c.To))
}

// Promote makes a rule of a proposal. Signed is the person's signature, which was
// checked; nil for none, here and below.
type Promote struct {
	Reason string
	Signed *schemas.Signed
	// Unfit says why the rule does not fit the band of rules that every prompt
	// carries, "" if it does.
	Unfit string
}

func (c Promote) decide(s State) (Decision, error) {
	id := s.Rule.ID
	if err := s.open(); err != nil {
		return Decision{}, err
	}
	if missing := curation.Incomplete(s.Rule); len(missing) > 0 {
		return refuse(schemas.CodeRefused, "%s cannot be promoted before it is complete; it lacks %s. writ rule edit %s fills it in", id, strings.Join(missing, ", "), id)
	}
	if c.Unfit != "" {
		return refuse(schemas.CodeRefused, "%s", c.Unfit)
	}
	message := "promoted " + id
	for _, e := range s.Rule.Edges {
		if e.Type == edgeSupersedes {
			message += "; it takes " + e.Target + " out of retrieval"
		}
	}
	return recorded(schemas.RulePromoted{Reason: c.Reason, Signed: c.Signed}, message)
}

// Reject turns a proposal down.
type Reject struct {
	Reason string
	Signed *schemas.Signed
}

func (c Reject) decide(s State) (Decision, error) {
	if err := s.open(); err != nil {
		return Decision{}, err
	}
	if strings.TrimSpace(c.Reason) == "" {
		return refuse(schemas.CodeBadRequest, "rejecting %s needs a reason: whoever proposed it learns from it", s.Rule.ID)
	}
	return recorded(schemas.RuleRejected{Reason: c.Reason, Signed: c.Signed}, "rejected "+s.Rule.ID)
}

// open refuses what is no proposal that waits for a person.
func (s State) open() error {
	id := s.Rule.ID
	switch {
	case !s.Exists():
		return NoSuch(id)
	case !s.Proposal():
		return schemas.Faultf(schemas.CodeRefused, "%s is no proposal, its authority is %s", id, s.Rule.Authority)
	case s.Status != Active:
		return schemas.Faultf(schemas.CodeRefused, "the proposal %s is %s", id, s.Status)
	}
	return nil
}

// Downweight lowers the confidence of a rule by one rung.
type Downweight struct {
	Reason string
	Signed *schemas.Signed
}

func (c Downweight) decide(s State) (Decision, error) {
	id := s.Rule.ID
	if err := s.foreign(); err != nil {
		return Decision{}, err
	}
	switch {
	case !s.InForce():
		return Decision{}, NoSuch(id)
	case strings.TrimSpace(c.Reason) == "":
		return refuse(schemas.CodeBadRequest, "downweighting %s needs a reason", id)
	}
	rung := slices.Index(confidences, s.Rule.Confidence)
	if rung < 0 || rung == len(confidences)-1 {
		return refuse(schemas.CodeRefused, "%s is speculative already, there is nothing below. writ rule retire %s takes it out", id, id)
	}
	lower := confidences[rung+1]
	return recorded(schemas.RuleDownweighted{Confidence: lower, Reason: c.Reason, Signed: c.Signed}, fmt.Sprintf("%s is %s now", id, lower))
}
