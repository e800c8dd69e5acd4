package daemon

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// scheduleList lists schedules.
func (d *Daemon) scheduleList(ctx context.Context, q schemas.ScheduleQuery) (schemas.ScheduleList, error) {
	all, err := d.agents.schedules.List(ctx, q)
	if all == nil {
		all = []schemas.ScheduleView{}
	}
	return schemas.ScheduleList{Schedules: all}, err
}

// scheduleAct changes a schedule, as a person decided.
func (d *Daemon) scheduleAct(ctx context.Context, r schemas.ScheduleActRequest) (bus.None, error) {
	_, err := d.agents.schedules.Act(ctx, r.ID, r.Act, "user", atTerminal, func(projections.ScheduleState) bool { return true })
	if text, refused := agent.Refusal(err); refused {
		// What an agent is told to do next is in its own language.
		what, _, _ := strings.Cut(strings.TrimPrefix(text, "ERR: "), " Adapt: ")
		return bus.None{}, schemas.Faultf(schemas.CodeRefused, "%s `writ schedule list` shows them.", what)
	}
	return bus.None{}, err
}

// withoutContent leaves the content out of an artifact that is only shown.
func withoutContent(data json.RawMessage) json.RawMessage {
	var kept schemas.ArtifactKept
	if json.Unmarshal(data, &kept) != nil {
		return data
	}
	kept.Content = nil
	short, err := json.Marshal(kept)
	if err != nil {
		return data
	}
	return short
}
