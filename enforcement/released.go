package enforcement

import (
	"path"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/glob"
)

// RulePolicy refuses what the released policy does not name (persisted; never change).
const RulePolicy = "ENF-POLICY"

// Nobody is the assurance where agents work under a released policy: no act of
// anybody's approves there.
const Nobody = "policy"

// Released is the policy of a release under which agents work where nobody approves,
// as in CI. It decides alone, whatever mode a session is in, and nobody is asked.
type Released struct {
	Text  string   // as acme@3/deps
	Write []string // patterns of files, from the project's root
	Why   string   // it lets nothing be written; "" where it holds
}

// UnderPolicy are the settings under a policy of a release, or where it does not
// hold, why.
func (s Settings) UnderPolicy(text string, write []string, why error) Settings {
	r := Released{Text: text, Write: write}
	if why != nil {
		r.Why = why.Error()
	}
	s.Under, s.Approval = &r, Nobody
	return s
}

// covers tells whether a file may be written. A target whose content nobody can tell
// may be a folder, so that what is in it has to be covered, too.
func (r Released) covers(t schemas.Target) bool {
	globs, err := glob.ParseAll(r.Write)
	if err != nil || r.Why != "" || t.Rel == "" || t.Rel == "." || strings.HasPrefix(t.Rel, "..") {
		return false
	}
	return glob.Any(globs, t.Rel) && (t.Result != "" || glob.Any(globs, t.Rel+"/x"))
}

// Plain are the files and folders that the policy names without wildcards.
func (r Released) Plain() (names []string) {
	for _, pattern := range r.Write {
		name := strings.TrimSuffix(strings.TrimSuffix(pattern, "/**"), "/")
		if r.Why == "" && !strings.ContainsAny(name, "*?[]{}") {
			names = append(names, path.Clean(name))
		}
	}
	return names
}

func (r Released) judge(t schemas.Target) ruling {
	if r.covers(t) {
		return allowed
	}
	return ruling{rule: RulePolicy, gate: Nobody, text: r.refusal(), firm: true}
}

func (r Released) refusal() wording {
	if r.Why != "" {
		return wording{"agents of this machine work under a released policy, and none holds here: " + strings.TrimSuffix(r.Why, ".") + ".", "Nothing can be written; say so and stop."}
	}
	return wording{"the policy " + r.Text + " allows writing " + strings.Join(r.Write, ", ") + ".", "Leave the rest and say what it would take; nobody is asked and nothing approves here."}
}

// unasked turns a question into a refusal: nobody is there to answer.
func (r Released) unasked(asked ruling) ruling {
	asked.verdict, asked.firm, asked.beyond = Deny, true, false
	asked.text.next = "Nobody is asked where agents work under a released policy: do without it."
	return asked
}

// Guidance tells an agent what it may write.
func (r Released) Guidance() string {
	w := r.refusal()
	return "Writ: " + strings.ToUpper(w.why[:1]) + w.why[1:] + " " + w.next
}
