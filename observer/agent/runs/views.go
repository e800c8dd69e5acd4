package runs

import (
	"context"

	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// Views are the projections of what agents do and keep.
type Views struct {
	schedules projections.AgentSchedules[schedule.State]
	artifacts projections.AgentArtifacts
	runs      projections.AgentRuns
	// changed is told when a schedule changed.
	changed chan struct{}
}

// NewViews returns them, to be run by a runtime.
func NewViews() Views {
	changed := make(chan struct{}, 1)
	return Views{changed: changed, schedules: projections.NewAgentSchedules(schedule.Evolve, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})}
}

// All lists them.
func (v Views) All() []projections.Projector {
	return append(agent.BookViews(), v.schedules, v.artifacts, v.runs)
}

// Kept is the views as the agents see them, with all that was appended so far. It
// is safe for concurrent use.
type Kept struct {
	Runtime *projections.Runtime
	Views   Views
}

// Read implements agent.Views.
func (k Kept) Read(ctx context.Context, view string, fn func(projections.Reader) error) error {
	if err := k.Runtime.AwaitToDecide(ctx, schemas.StreamAgents, view); err != nil {
		return err
	}
	return k.Runtime.Read(view, fn)
}

// Artifacts lists what a conversation keeps, without the data.
func (k Kept) Artifacts(ctx context.Context, run string) (all []verbs.Artifact, err error) {
	err = k.Read(ctx, projections.ViewAgentArtifacts, func(r projections.Reader) error {
		list, err := k.Views.artifacts.List(r, run)
		for _, a := range list {
			all = append(all, verbs.Artifact{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size})
		}
		return err
	})
	return all, err
}

// Artifact returns one whole; ok is false where there is none of this id.
func (k Kept) Artifact(ctx context.Context, run, id string) (a verbs.Artifact, ok bool, err error) {
	err = k.Read(ctx, projections.ViewAgentArtifacts, func(r projections.Reader) error {
		kept, content, found, err := k.Views.artifacts.Artifact(r, run, id)
		a = verbs.Artifact{ID: kept.ID, Name: kept.Name, MIME: kept.MIME, Size: kept.Size, Data: append([]byte(nil), content...)}
		ok = found
		return err
	})
	return a, ok, err
}
