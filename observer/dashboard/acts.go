package dashboard

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/writbus/writ/schemas"
)

// How the log names an act done here. Persisted; never change.
const (
	channel       = "dashboard"
	channelSigned = "passkey"
)

// done is what a person does about a gate.
type done struct {
	Session     string                 `json:"session"`
	Gate        string                 `json:"gate"`
	Fingerprint string                 `json:"fingerprint"`
	Reason      string                 `json:"reason"`
	ActID       string                 `json:"act_id"`
	Signed      *schemas.PasskeyAnswer `json:"signed"`
}

// enrolled is a passkey that a person enrols.
type enrolled struct {
	Enrol *schemas.PasskeyEnrolRequest `json:"enrol"`
}

// accepted is what a person accepts of a project's settings.
type accepted struct {
	Project string `json:"project"`
	Digest  string `json:"digest"`
}

// act makes a service's request of what a person did on a page, or says what it
// lacks.
type act func(raw []byte) (subject string, body any, err error)

// acts is everything a person may do. Each names what was shown, so that nothing
// is approved, promoted or forgotten that the person did not see.
var acts = map[string]act{
	"approve": of(gated, func(d done) (string, any) {
		r := schemas.ApproveRequest{Session: d.Session, Gate: d.Gate, Fingerprint: d.Fingerprint, Channel: channel, ActID: d.ActID}
		if d.Signed != nil {
			r.Channel, r.Passkey = channelSigned, d.Signed
		}
		return schemas.SvcApprove, r
	}),
	"decline": of(gated, func(d done) (string, any) {
		return schemas.SvcDecline, schemas.DeclineRequest{
			Session: d.Session, Gate: d.Gate, Fingerprint: d.Fingerprint, Reason: d.Reason, Channel: channel, ActID: d.ActID,
		}
	}),
	"challenge": of(gated, func(d done) (string, any) {
		return schemas.SvcPasskeyChallenge, schemas.PasskeyChallengeRequest{Session: d.Session, Gate: d.Gate, Fingerprint: d.Fingerprint}
	}),
	"enrol": of(nil, func(e enrolled) (string, any) { return schemas.SvcPasskeyEnrol, e.Enrol }),
	"accept": of(nil, func(a accepted) (string, any) {
		return schemas.SvcSettings, schemas.SettingsRequest{Project: a.Project, Digest: a.Digest, Channel: channel}
	}),
	"rule": of(judged, func(r schemas.RuleChangeRequest) (string, any) { return schemas.SvcRuleChange, r }),
	"regate": of(func(r schemas.MemoryRegateRequest) error { return named(r.ID, r.Scope, r.Verdict) },
		func(r schemas.MemoryRegateRequest) (string, any) { return schemas.SvcMemoryRegate, r }),
	"forget": of(func(r schemas.MemoryForgetRequest) error { return named(r.ID, r.Scope) },
		func(r schemas.MemoryForgetRequest) (string, any) { return schemas.SvcMemoryForget, r }),
	"triage": of(func(r schemas.MemoryTriageRequest) error { return named(r.ID, r.Decision) },
		func(r schemas.MemoryTriageRequest) (string, any) { return schemas.SvcMemoryTriage, r }),
}

// of reads a T, has it checked, and makes the request of it.
func of[T any](check func(T) error, request func(T) (string, any)) act {
	return func(raw []byte) (string, any, error) {
		var t T
		if json.Unmarshal(raw, &t) != nil {
			return "", nil, errors.New("the act is not the JSON that the page sends")
		}
		if check != nil {
			if err := check(t); err != nil {
				return "", nil, err
			}
		}
		subject, body := request(t)
		return subject, body, nil
	}
}

func gated(d done) error {
	if named(d.Fingerprint, d.Gate, d.ActID) != nil {
		return errors.New("an act names the gate and the fingerprint of what was shown")
	}
	return nil
}

// judged is what a person may say here about a rule that an agent proposed or
// that outcomes speak against. Adding and editing need a file, and have their
// commands.
func judged(r schemas.RuleChangeRequest) error {
	switch r.Act {
	case schemas.RulePromote, schemas.RuleReject, schemas.RuleDownweight:
	default:
		return errors.New("a rule is promoted, rejected or downweighted here; `writ rule` does the rest")
	}
	if r.ID == "" || r.Seen == 0 {
		return errors.New("an act on a rule names the rule and the revision that was shown")
	}
	return nil
}

func named(all ...string) error {
	for _, one := range all {
		if one == "" {
			return errors.New("the act does not name what was shown")
		}
	}
	return nil
}

// act takes what a person does on a page.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	does, known := acts[r.PathValue("what")]
	if !known {
		problem(w, http.StatusNotFound, "there is no act of this name")
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		problem(w, http.StatusBadRequest, "the act is cut short or too large")
		return
	}
	subject, body, err := does(raw)
	if err != nil {
		problem(w, http.StatusBadRequest, err.Error())
		return
	}
	s.pass(w, r, subject, body)
}
