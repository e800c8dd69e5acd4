package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/writbus/writ/schemas"
)

// listed bounds the observations that a page shows at once.
const listed = 50

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
	"changes": func(q url.Values) (string, any, error) {
		return schemas.SvcChanges, schemas.ChangesRequest{Session: q.Get("id"), Diffs: q.Has("diffs")}, nil
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
	"review": func(url.Values) (string, any, error) { return schemas.SvcRuleReview, schemas.RuleQuery{}, nil },
	"recall": func(q url.Values) (string, any, error) {
		return schemas.SvcRecall, schemas.RecallRequest{Text: q.Get("text"), IncludeHold: true, IncludeDiscard: true, Limit: listed}, nil
	},
	"observations": func(q url.Values) (string, any, error) {
		after, err := number(q, "after")
		return schemas.SvcMemoryReview, schemas.MemoryReviewRequest{Verdict: q.Get("verdict"), After: after, Limit: listed}, err
	},
	"proposals": func(url.Values) (string, any, error) {
		return schemas.SvcMemoryProposals, schemas.MemoryProposalsRequest{}, nil
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
