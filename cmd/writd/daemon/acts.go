package daemon

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
)

// modeByAgent sets a mode with the credential that an agent's processes reach.
func (d *Daemon) modeByAgent(ctx context.Context, r schemas.ModeRequest) (schemas.ActReply, error) {
	return d.mode(ctx, r, false)
}

// modeByUser sets a mode with the admin credential.
func (d *Daemon) modeByUser(ctx context.Context, r schemas.ModeRequest) (schemas.ActReply, error) {
	return d.mode(ctx, r, true)
}

func (d *Daemon) mode(ctx context.Context, r schemas.ModeRequest, byUser bool) (schemas.ActReply, error) {
	state, err := d.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	if r.Mode == "" {
		return acted(r.Session, state, enforcement.Decision{Verdict: enforcement.Allow}, position(state)), nil
	}
	p := d.sessionProject(state)
	actor := schemas.Agent(state.Host, "", "")
	if byUser {
		actor = atTerminal
	}
	decision, state, err := d.sessions.act(ctx, r.Session, meta{actor: actor}, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.SetMode{
			Mode: r.Mode, Orchestrator: r.Orchestrator, Repro: r.Repro, ByUser: byUser, Settings: p.policy(),
		})
	})
	if err != nil {
		return schemas.ActReply{}, err
	}
	return acted(r.Session, state, decision, position(state)), nil
}

// phase shows where work stands, takes an approval back or reopens the
// implementation. Only the admin credential reaches it.
func (d *Daemon) phase(ctx context.Context, r schemas.PhaseRequest) (schemas.ActReply, error) {
	state, err := d.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	var command enforcement.Command
	switch r.Act {
	case "", "show":
		return acted(r.Session, state, enforcement.Decision{Verdict: enforcement.Allow}, position(state)), nil
	case "invalidate":
		if r.Gate == "" || r.Reason == "" {
			return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "to invalidate a gate name it and say why: writ phase invalidate plan --reason \"…\"")
		}
		command = enforcement.InvalidateGate{Gate: r.Gate, Reason: r.Reason, Rule: r.Rule}
	case "reopen":
		command = enforcement.ReopenPhase{Reason: r.Reason}
	default:
		return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "a phase can be shown, invalidated or reopened, not %q", r.Act)
	}
	decision, state, err := d.sessions.act(ctx, r.Session, meta{actor: atTerminal}, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, command)
	})
	if err != nil {
		return schemas.ActReply{}, err
	}
	return acted(r.Session, state, decision, position(state)), nil
}

// approve shows what waits for approval, or approves exactly that. Only the
// admin credential reaches it.
func (d *Daemon) approve(ctx context.Context, r schemas.ApproveRequest) (schemas.ActReply, error) {
	state, err := d.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	if r.Channel != "terminal" && r.Channel != "dashboard" {
		return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "an approval comes from the terminal or the dashboard, not from %q", r.Channel)
	}
	if r.ActID == "" {
		r.ActID = bus.NewID()
	}
	p := d.sessionProject(state)
	decision, state, err := d.sessions.act(ctx, r.Session, meta{actor: enforcement.Person(r.Channel)}, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.ApproveGate{
			Gate: r.Gate, Fingerprint: r.Fingerprint, Channel: r.Channel, ActID: r.Channel + ":" + r.ActID,
			Workspace: d.approvable(ctx, p, r.Session, s), Settings: p.policy(),
		})
	})
	if err != nil {
		return schemas.ActReply{}, err
	}
	return acted(r.Session, state, decision, position(state)), nil
}

// known returns a session that exists.
func (d *Daemon) known(ctx context.Context, id string) (enforcement.State, error) {
	if id == "" {
		return enforcement.State{}, schemas.Faultf(schemas.CodeBadRequest, "no session is named. Give --session ID; writ session list shows them")
	}
	state, seq, err := d.sessions.state(ctx, id)
	if err != nil {
		if errors.Is(err, schemas.ErrIDTooLong) {
			return state, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
		}
		return state, err
	}
	if seq == 0 {
		return state, schemas.Faultf(schemas.CodeNotFound, "there is no session %q. writ session list shows them", id)
	}
	return state, nil
}

// sessionProject is the project a session works in.
func (d *Daemon) sessionProject(s enforcement.State) project {
	home, _ := os.UserHomeDir()
	return d.projectAt(s.Project, home)
}

func acted(id string, state enforcement.State, decision enforcement.Decision, where string) schemas.ActReply {
	r := schemas.ActReply{
		// Asked without a fingerprint, an approval is an offer: a question.
		OK: decision.Verdict != enforcement.Deny, Session: id,
		Mode: state.Mode, Phase: state.Phase(),
		Problems: decision.Problems, Message: join(decision.Reason, decision.Notice),
	}
	if r.Message == "" {
		r.Message = where
	}
	if len(r.Problems) == 1 && strings.Contains(r.Message, r.Problems[0]) {
		r.Problems = nil
	}
	if decision.Offer != nil {
		r.Gate, r.Fingerprint, r.Files = decision.Offer.Gate, decision.Offer.Fingerprint, decision.Offer.Files
	}
	return r
}
