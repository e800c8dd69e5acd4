package dashboard

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/writbus/writ/schemas"
)

// request makes a service's request of what a page asks.
type request func(url.Values) (subject string, body any, err error)

// reads is everything a page may ask to see.
var reads = map[string]request{
	"status": func(url.Values) (string, any, error) { return schemas.SvcStatus, struct{}{}, nil },
	"sessions": func(q url.Values) (string, any, error) {
		limit, err := number(q, "limit")
		return schemas.SvcSessions, schemas.SessionQuery{Limit: int(limit)}, err
	},
	"session": func(q url.Values) (string, any, error) {
		at, err := number(q, "at")
		return schemas.SvcSession, schemas.SessionQuery{Session: q.Get("id"), At: at}, err
	},
	"waits": func(url.Values) (string, any, error) { return schemas.SvcWaits, struct{}{}, nil },
	"offer": func(q url.Values) (string, any, error) {
		return schemas.SvcOffer, schemas.OfferRequest{Session: q.Get("session"), Gate: q.Get("gate"), Channel: channel}, nil
	},
	"passkeys": func(url.Values) (string, any, error) { return schemas.SvcPasskeys, struct{}{}, nil },
	"settings": func(q url.Values) (string, any, error) {
		return schemas.SvcSettings, schemas.SettingsRequest{Project: q.Get("project")}, nil
	},
	"log": func(q url.Values) (string, any, error) {
		after, err := number(q, "after")
		limit, limitErr := number(q, "limit")
		return schemas.SvcReplay, schemas.ReplayRequest{
			Stream: schemas.Stream(q.Get("stream")), Session: q.Get("session"), Type: q.Get("type"), After: after, Limit: int(min(limit, 5000)),
		}, errors.Join(err, limitErr)
	},
	"rules": func(url.Values) (string, any, error) { return schemas.SvcRules, schemas.RuleQuery{}, nil },
	"rule": func(q url.Values) (string, any, error) {
		return schemas.SvcRule, schemas.RuleQuery{ID: q.Get("id")}, nil
	},
	"graduation": func(url.Values) (string, any, error) { return schemas.SvcRuleStats, schemas.RuleQuery{}, nil },
	"graph": func(q url.Values) (string, any, error) {
		depth, err := number(q, "depth")
		return schemas.SvcGraph, schemas.GraphQuery{ID: q.Get("id"), Depth: int(min(depth, 3))}, err
	},
	"memory": func(q url.Values) (string, any, error) {
		minutes, err := number(q, "minutes")
		return schemas.SvcMemoryHealth, schemas.MemoryHealthRequest{Minutes: int(minutes), Week: q.Has("week")}, err
	},
	"activity": func(q url.Values) (string, any, error) {
		hours, err := number(q, "hours")
		return schemas.SvcActivity, schemas.ActivityRequest{Hours: int(hours)}, err
	},
}

func number(q url.Values, name string) (uint64, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, errors.New(name + " is not a number")
	}
	return n, nil
}

// read answers what a page asks to see.
func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	ask, known := reads[r.PathValue("what")]
	if !known {
		problem(w, http.StatusNotFound, "there is nothing of this name to see")
		return
	}
	subject, body, err := ask(r.URL.Query())
	if err != nil {
		problem(w, http.StatusBadRequest, err.Error())
		return
	}
	if subject == schemas.SvcOffer {
		s.offer(w, r, body)
		return
	}
	s.pass(w, r, subject, body)
}

// offer answers with what waits, and with its plan as elements, so that the page
// shows it as it is meant to be read.
func (s *Server) offer(w http.ResponseWriter, r *http.Request, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		problem(w, http.StatusInternalServerError, err.Error())
		return
	}
	reply, err := s.options.Ask(r.Context(), schemas.SvcOffer, raw)
	if err != nil {
		problem(w, statusOf(err), err.Error())
		return
	}
	var shown map[string]json.RawMessage
	var offer schemas.GateOffer
	if json.Unmarshal(reply, &shown) != nil || json.Unmarshal(reply, &offer) != nil || offer.Plan == "" {
		answer(w, http.StatusOK, reply)
		return
	}
	if shown["plan_body"], err = json.Marshal(elements(offer.Plan, nil)); err == nil {
		reply, err = json.Marshal(shown)
	}
	if err != nil {
		problem(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, http.StatusOK, reply)
}

// How the log names an act done here. Persisted; never change.
const (
	channel       = "dashboard"
	channelSigned = "passkey"
)

// done is what a person does on a page.
type done struct {
	Session     string                       `json:"session"`
	Gate        string                       `json:"gate"`
	Fingerprint string                       `json:"fingerprint"`
	Reason      string                       `json:"reason"`
	ActID       string                       `json:"act_id"`
	Signed      *schemas.PasskeyAnswer       `json:"signed"`
	Enrol       *schemas.PasskeyEnrolRequest `json:"enrol"`
	Project     string                       `json:"project"`
	Digest      string                       `json:"digest"`
}

// acts is everything a person may do, and of which what was shown has to be named.
var acts = map[string]struct {
	shown bool
	does  func(done) (subject string, body any)
}{
	"approve": {true, func(d done) (string, any) {
		r := schemas.ApproveRequest{Session: d.Session, Gate: d.Gate, Fingerprint: d.Fingerprint, Channel: channel, ActID: d.ActID}
		if d.Signed != nil {
			r.Channel, r.Passkey = channelSigned, d.Signed
		}
		return schemas.SvcApprove, r
	}},
	"decline": {true, func(d done) (string, any) {
		return schemas.SvcDecline, schemas.DeclineRequest{
			Session: d.Session, Gate: d.Gate, Fingerprint: d.Fingerprint, Reason: d.Reason, Channel: channel, ActID: d.ActID,
		}
	}},
	"challenge": {true, func(d done) (string, any) {
		return schemas.SvcPasskeyChallenge, schemas.PasskeyChallengeRequest{Session: d.Session, Gate: d.Gate, Fingerprint: d.Fingerprint}
	}},
	"enrol": {false, func(d done) (string, any) { return schemas.SvcPasskeyEnrol, d.Enrol }},
	"accept": {false, func(d done) (string, any) {
		return schemas.SvcSettings, schemas.SettingsRequest{Project: d.Project, Digest: d.Digest, Channel: channel}
	}},
}

// act takes what a person does on a page.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	var d done
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil || json.Unmarshal(raw, &d) != nil {
		problem(w, http.StatusBadRequest, "the act is not the JSON that the page sends, or is too large")
		return
	}
	act, known := acts[r.PathValue("what")]
	switch {
	case !known:
		problem(w, http.StatusNotFound, "there is no act of this name")
		return
	case act.shown && (d.Fingerprint == "" || d.Gate == "" || d.ActID == ""):
		problem(w, http.StatusBadRequest, "an act names the gate and the fingerprint of what was shown")
		return
	}
	subject, body := act.does(d)
	s.pass(w, r, subject, body)
}

// pass puts a request to a service and its answer to the page.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, subject string, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		problem(w, http.StatusInternalServerError, err.Error())
		return
	}
	reply, err := s.options.Ask(r.Context(), subject, raw)
	if err != nil {
		problem(w, statusOf(err), err.Error())
		return
	}
	answer(w, http.StatusOK, reply)
}
