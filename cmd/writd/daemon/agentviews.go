package daemon

import "github.com/writbus/writ/projections"

// agentViews are the projections of what agents do and keep.
type agentViews struct {
	notes     projections.AgentNotes
	todos     projections.AgentTodos
	lessons   projections.AgentLessons
	schedules projections.AgentSchedules
	artifacts projections.AgentArtifacts
	runs      projections.AgentRuns
	// changed is told when a schedule changed.
	changed chan struct{}
}

func newAgentViews() agentViews {
	changed := make(chan struct{}, 1)
	return agentViews{changed: changed, schedules: projections.NewAgentSchedules(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})}
}

func (v agentViews) all() []projections.Projector {
	return []projections.Projector{v.notes, v.todos, v.lessons, v.schedules, v.artifacts, v.runs}
}
