package runs

import (
	"context"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/schemas"
)

// scheduleList lists schedules.
func (v *Service) scheduleList(ctx context.Context, q schemas.ScheduleQuery) (schemas.ScheduleList, error) {
	all, err := v.schedules.List(ctx, q)
	if all == nil {
		all = []schemas.ScheduleView{}
	}
	return schemas.ScheduleList{Schedules: all}, err
}

// scheduleAct changes a schedule, as a person decided.
func (v *Service) scheduleAct(ctx context.Context, r schemas.ScheduleActRequest) (bus.None, error) {
	err := v.schedules.Act(ctx, schedule.Act{ID: r.ID, Name: r.Act, By: "user"}, enforcement.Person(enforcement.ChannelTerminal))
	if text, refused := agent.Refusal(err); refused {
		// What an agent is told to do next is in its own language.
		what, _, _ := strings.Cut(strings.TrimPrefix(text, "ERR: "), " Adapt: ")
		return bus.None{}, schemas.Faultf(schemas.CodeRefused, "%s `writ agent schedule list` shows them.", what)
	}
	return bus.None{}, err
}
