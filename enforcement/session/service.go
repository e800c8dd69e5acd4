// Package session keeps the sessions of agents: it folds each from its events,
// takes decisions on it one after another, appends what they record, and answers
// what users and agents ask about sessions and do to them.
//
// It guarantees that a decision is appended at the very place of the log that it
// was made for, or made anew; that a state in memory is one that the log has; and
// that an act counts only once the log acknowledged it. It holds no policy: what a
// decision says is the business of [enforcement.Decide].
package session

import (
	"context"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// Passkeys takes a passkey's signature over an approval into the log. unproven says
// why it does not count, "" where it does; warning is what the person should hear.
type Passkeys interface {
	Redeem(ctx context.Context, session, gate, fingerprint string, a schemas.PasskeyAnswer) (unproven, warning string, err error)
}

// Service answers requests about sessions.
type Service struct {
	sessions *Sessions
	passkeys Passkeys
}

// NewService returns the service of sessions.
func NewService(s *Sessions, p Passkeys) *Service { return &Service{s, p} }

// Endpoints are what it answers.
func (v *Service) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("session_list", schemas.SvcSessions, v.sessionList),
		bus.Answer("session_waits", schemas.SvcWaits, v.waits),
		bus.Answer("session_show", schemas.SvcSession, v.sessionShow),
		bus.Answer("session_changes", schemas.SvcChanges, v.changes),
		bus.Answer("session_mode", schemas.SvcMode, v.modeByAgent),
		bus.Answer("session_advance", schemas.SvcAdvance, v.advance),
		bus.Answer("mode", schemas.SvcModeByUser, v.modeByUser),
		bus.Answer("phase", schemas.SvcPhase, v.phase),
		bus.Answer("approve", schemas.SvcApprove, v.approve),
		bus.Answer("approve_offer", schemas.SvcOffer, v.offer),
		bus.Answer("approve_decline", schemas.SvcDecline, v.decline),
	}
}
