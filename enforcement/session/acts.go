package session

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/passkey"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// modeByAgent sets a mode with the credential that an agent's processes reach.
func (v *Service) modeByAgent(ctx context.Context, r schemas.ModeRequest) (schemas.ActReply, error) {
	return v.mode(ctx, r, false)
}

// modeByUser sets a mode with the admin credential.
func (v *Service) modeByUser(ctx context.Context, r schemas.ModeRequest) (schemas.ActReply, error) {
	return v.mode(ctx, r, true)
}

func (v *Service) mode(ctx context.Context, r schemas.ModeRequest, byUser bool) (schemas.ActReply, error) {
	state, err := v.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	if r.Mode == "" {
		return acted(r.Session, state, enforcement.Decision{Verdict: enforcement.Allow}, state.Position()), nil
	}
	p := v.projectOf(state)
	actor := schemas.Agent(state.Host, "", "")
	if byUser {
		actor = enforcement.Person(enforcement.ChannelTerminal)
	}
	return v.act(ctx, r.Session, actor, func(enforcement.State) enforcement.Command {
		return enforcement.SetMode{Mode: r.Mode, Orchestrator: r.Orchestrator, Repro: r.Repro, ByUser: byUser, Settings: p.Settings.Policy}
	})
}

// phase shows where work stands, takes an approval back or reopens the
// implementation. Only the admin credential reaches it.
func (v *Service) phase(ctx context.Context, r schemas.PhaseRequest) (schemas.ActReply, error) {
	state, err := v.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	var command enforcement.Command
	switch r.Act {
	case "", "show":
		return acted(r.Session, state, enforcement.Decision{Verdict: enforcement.Allow}, state.Position()), nil
	case "invalidate":
		if r.Gate == "" || r.Reason == "" {
			return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "to invalidate a gate name it and say why: writ session phase invalidate plan --reason \"…\"")
		}
		command = enforcement.InvalidateGate{Gate: r.Gate, Reason: r.Reason, Rule: r.Rule}
	case "reopen":
		command = enforcement.ReopenPhase{Reason: r.Reason}
	default:
		return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "a phase can be shown, invalidated or reopened, not %q", r.Act)
	}
	return v.act(ctx, r.Session, enforcement.Person(enforcement.ChannelTerminal), func(enforcement.State) enforcement.Command { return command })
}

// approve shows what waits for approval, or approves exactly that. Only the
// admin credential reaches it.
func (v *Service) approve(ctx context.Context, r schemas.ApproveRequest) (schemas.ActReply, error) {
	state, err := v.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	if !slices.Contains([]string{enforcement.ChannelTerminal, enforcement.ChannelDashboard, enforcement.ChannelPasskey}, r.Channel) {
		return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "an approval comes from the terminal or the dashboard, not from %q", r.Channel)
	}
	act, unproven, warning := r.Channel+":"+cmp.Or(r.ActID, bus.NewID()), "", ""
	if r.Channel == enforcement.ChannelPasskey {
		if r.Passkey == nil || r.Fingerprint == "" || r.Gate == "" {
			return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "an approval by a passkey names the gate and the fingerprint that were signed, and has the signature")
		}
		if unproven, warning, err = v.passkeys.Redeem(ctx, r.Session, r.Gate, r.Fingerprint, *r.Passkey); err != nil {
			return schemas.ActReply{}, err
		}
		if act = passkey.ActID(r.Passkey.Nonce); unproven != "" {
			act = r.Channel + ":refused:" + bus.NewID() // another's act stays as it is
		}
	}
	p := v.projectOf(state)
	if err := v.signed(r, p.Settings.Policy); err != nil {
		return schemas.ActReply{}, err
	}
	persons := v.sessions.Persons(ctx)
	reply, err := v.act(ctx, r.Session, enforcement.Person(r.Channel), func(s enforcement.State) enforcement.Command {
		return enforcement.ApproveGate{
			Gate: r.Gate, Fingerprint: r.Fingerprint, Channel: r.Channel, ActID: act, Unproven: unproven, Signed: r.Signed, Persons: persons,
			Workspace: v.sessions.Approvable(ctx, p, r.Session, s), Settings: p.Settings.Policy,
		}
	})
	reply.Message = strings.TrimSpace(reply.Message + "\n\n" + warning)
	return reply, err
}

// signed checks the person's signature of an approval, where it has one.
// Where two are needed, it may come from another machine.
func (v *Service) signed(r schemas.ApproveRequest, set enforcement.Settings) error {
	if r.Signed == nil {
		return nil
	}
	if r.Channel != enforcement.ChannelTerminal || r.Signed.Act != r.ActID {
		return schemas.Faultf(schemas.CodeBadRequest, "a signed approval comes from the terminal, and its signature is over its own act")
	}
	act, most := schemas.GateApproved{Gate: r.Gate, Fingerprint: r.Fingerprint, Signed: r.Signed}, evidence.ActAge
	if set.Approval == enforcement.TwoPersons {
		most = evidence.SecondAge
	}
	if err := evidence.FreshPerson(schemas.Session(r.Session), act, v.sessions.Now(), most); err != nil {
		return schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	return nil
}

// advance answers an agent that wants to go on. It approves nothing: without
// the user's act it is refused, and the refusal is recorded.
func (v *Service) advance(ctx context.Context, r schemas.AdvanceRequest) (schemas.ActReply, error) {
	state, err := v.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	switch r.Gate {
	case "", enforcement.GatePlan, enforcement.GateTests, enforcement.GateImplementation:
	default:
		return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "there is no gate %.40q; the gates are plan, tests and implementation", r.Gate)
	}
	p := v.projectOf(state)
	decision, state, err := v.sessions.Act(ctx, r.Session, schemas.Agent(state.Host, "", ""), "", func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.AdvancePhase{Gate: r.Gate, Workspace: v.sessions.Approvable(ctx, p, r.Session, s), Settings: p.Settings.Policy})
	})
	if err != nil {
		return schemas.ActReply{}, err
	}
	reply := acted(r.Session, state, decision, cmp.Or(decision.Context, state.Position()))
	reply.Gate = decision.Gate
	return reply, nil
}

// offer shows what waits in a session, with its differences from what was
// approved before.
func (v *Service) offer(ctx context.Context, r schemas.OfferRequest) (schemas.GateOffer, error) {
	state, err := v.known(ctx, r.Session)
	if err != nil {
		return schemas.GateOffer{}, err
	}
	p := v.projectOf(state)
	ws := v.sessions.Approvable(ctx, p, r.Session, state)
	gate := r.Gate
	if gate == "" {
		gate = state.Waiting(ws)
	}
	reply := schemas.GateOffer{Session: r.Session, Project: p.Root, Gate: gate, Files: []schemas.OfferFile{}}
	if gate == "" || state.Parent != "" {
		reply.Gate = ""
		return reply, nil
	}
	o := state.Offer(gate, ws)
	reply.Second = enforcement.Second(state, o, p.Settings.Policy, v.sessions.Persons(ctx))
	if r.Channel != "" {
		reply.TooWeak = enforcement.TooWeak(r.Channel, p.Settings.Policy.Approval)
	}
	reply.Wish, err = v.wish(ctx, r.Session)
	if err != nil {
		return reply, err
	}
	show(&reply, ws)
	reply.Fingerprint, reply.Problems, reply.Declined = o.Fingerprint, o.Problems, state.Work.Declined[gate]
	for _, one := range o.Seen {
		reply.Seen = append(reply.Seen, schemas.SeenFile(one))
	}
	for _, f := range o.Files {
		reply.Files = append(reply.Files, v.sessions.approved.offered(r.Session, p.Root, f))
	}
	return reply, nil
}

// decline records that the user wants what waits changed. Only the admin
// credential reaches it.
func (v *Service) decline(ctx context.Context, r schemas.DeclineRequest) (schemas.ActReply, error) {
	state, err := v.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	if strings.TrimSpace(r.Reason) == "" {
		return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "a decline needs words: say what the agent has to change")
	}
	if r.ActID == "" {
		r.ActID = bus.NewID()
	}
	p := v.projectOf(state)
	return v.act(ctx, r.Session, enforcement.Person(r.Channel), func(s enforcement.State) enforcement.Command {
		return enforcement.DeclineGate{
			Gate: r.Gate, Fingerprint: r.Fingerprint, Reason: r.Reason, Channel: r.Channel, ActID: r.Channel + ":" + r.ActID,
			Workspace: v.sessions.Approvable(ctx, p, r.Session, s),
		}
	})
}

// act decides on a session and answers with what came of it.
func (v *Service) act(ctx context.Context, id string, actor schemas.Actor, command func(enforcement.State) enforcement.Command) (schemas.ActReply, error) {
	decision, state, err := v.sessions.Act(ctx, id, actor, "", func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, command(s))
	})
	if err != nil {
		return schemas.ActReply{}, err
	}
	return acted(id, state, decision, state.Position()), nil
}

// known returns a session that exists.
func (v *Service) known(ctx context.Context, id string) (enforcement.State, error) {
	if id == "" {
		return enforcement.State{}, schemas.Faultf(schemas.CodeBadRequest, "no session is named. Give --session ID; `writ session list` shows them.")
	}
	state, seq, err := v.sessions.State(ctx, id)
	if err != nil {
		if errors.Is(err, schemas.ErrIDTooLong) {
			return state, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
		}
		return state, err
	}
	if seq == 0 {
		return state, schemas.Faultf(schemas.CodeNotFound, "there is no session %q. `writ session list` shows them.", id)
	}
	return state, nil
}

// projectOf is the project a session works in.
func (v *Service) projectOf(s enforcement.State) project.Project {
	home, _ := os.UserHomeDir()
	return v.sessions.Projects.At(s.Project, home)
}

func acted(id string, state enforcement.State, decision enforcement.Decision, where string) schemas.ActReply {
	r := schemas.ActReply{
		// Asked without a fingerprint, an approval is an offer: a question.
		OK: decision.Verdict != enforcement.Deny, Session: id,
		Mode: state.Mode, Phase: state.Phase(),
		Problems: decision.Problems, Message: strings.TrimSpace(decision.Reason),
	}
	if r.OK { // a refusal's notice says the same to a host
		r.Message = strings.TrimSpace(r.Message + "\n\n" + strings.TrimSpace(decision.Notice))
	}
	r.Message = cmp.Or(r.Message, where)
	if len(r.Problems) == 1 && strings.Contains(r.Message, r.Problems[0]) {
		r.Problems = nil
	}
	if decision.Offer != nil {
		r.Gate, r.Fingerprint, r.Files = decision.Offer.Gate, decision.Offer.Fingerprint, decision.Offer.Files
	}
	return r
}
