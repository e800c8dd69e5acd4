package daemon

import (
	"context"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
)

// advance answers an agent that wants to go on. It approves nothing: without
// the user's act it is refused, and the refusal is recorded.
func (d *Daemon) advance(ctx context.Context, r schemas.AdvanceRequest) (schemas.ActReply, error) {
	state, err := d.known(ctx, r.Session)
	if err != nil {
		return schemas.ActReply{}, err
	}
	switch r.Gate {
	case "", enforcement.GatePlan, enforcement.GateTests, enforcement.GateImplementation:
	default:
		return schemas.ActReply{}, schemas.Faultf(schemas.CodeBadRequest, "there is no gate %q; the gates are plan, tests and implementation", clipText(r.Gate, 40))
	}
	p := d.sessionProject(state)
	decision, state, err := d.sessions.act(ctx, r.Session, meta{actor: schemas.Agent(state.Host, "", "")}, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.AdvancePhase{Gate: r.Gate, Workspace: d.approvable(ctx, p, r.Session, s)})
	})
	if err != nil {
		return schemas.ActReply{}, err
	}
	reply := acted(r.Session, state, decision, orPosition(decision.Context, state))
	reply.Gate = decision.Gate
	return reply, nil
}
