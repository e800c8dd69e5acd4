package enforcement

import (
	"errors"
	"fmt"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// ErrMisuse is returned by Decide for a command that no adapter should build:
// nil, of an unknown type, or without a field that identifies it. It is never a
// refusal.
var ErrMisuse = errors.New("enforcement: misuse")

// Verdict is the answer to a command. The zero verdict denies.
type Verdict int

// The verdicts.
const (
	Deny  Verdict = iota // it must not happen
	Allow                // it may happen
	Ask                  // the user decides, in the host
)

// String returns "deny", "allow" or "ask", as events record it.
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

// Ids of the rules a refusal carries (persisted; never change).
const (
	RuleMode      = "ENF-GATE-MODE"   // the mode does not allow it, or none was chosen
	RuleReview    = "ENF-GATE-REVIEW" // review does not change the project
	RuleSmall     = "ENF-GATE-SMALL"  // small mode shows each change of code, and takes small ones
	RulePlan      = "ENF-GATE-PLAN"   // the plan is not approved
	RuleTests     = "ENF-GATE-TEST"   // the tests are not approved
	RuleLock      = "ENF-GATE-LOCK"   // the approved plan.md stays as it is
	RuleDrift     = "ENF-GATE-DRIFT"  // approved files were changed from outside
	RuleVerify    = "ENF-GATE-VERIFY" // verification does not change code
	RuleOutside   = "ENF-OUTSIDE"     // outside the project
	RuleElsewhere = "ENF-ELSEWHERE"   // what no kernel can hold, as another process does it
	RuleBranch    = "ENF-BRANCH"      // branches, history and uncommitted work
	RuleProtected = "ENF-PROTECTED"   // never by an agent
)

// MaxReason bounds Decision.Reason, in characters: what reaches a model with
// every denial should stay short.
const MaxReason = 600

// Decision is what Decide answers.
type Decision struct {
	Verdict Verdict
	Rule    string // ENF-… id, of a refusal or a question
	Gate    string // the gate behind it: mode, review, plan, tests, implementation, or ""
	Reason  string // at most MaxReason characters: what, which path, why, the next step, how the user approves
	// Demanded says of an allowed tool that the gates asked for exactly this, so
	// that the host need not ask its user.
	Demanded bool
	// Record is to be appended as one message, the first being the main event.
	// Empty: there is nothing to record.
	Record  []schemas.Payload
	Context string // for the model, "" for nothing
	Notice  string // for the user, "" for nothing
	// Problems are all reasons why an approval or an advance did not count.
	Problems []string
	// Offer is what stands, or stood, for approval; nil for other commands.
	Offer *Offer
}

// Decide answers a command on a session as it is. The error is ErrMisuse,
// nothing else.
func Decide(s State, c Command) (Decision, error) {
	if c == nil {
		return Decision{}, fmt.Errorf("%w: no command", ErrMisuse)
	}
	if err := c.check(); err != nil {
		return Decision{}, err
	}
	d := c.decide(s)
	d.Reason = excerpt.Runes(d.Reason, MaxReason)
	return d, nil
}
