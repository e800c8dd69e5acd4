package daemon

import (
	"context"

	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// agentLog is the views as the agents see them.
type agentLog struct{ d *Daemon }

// Read implements agents.Views.
func (l agentLog) Read(ctx context.Context, view string, fn func(projections.Reader) error) error {
	if err := l.d.runtime.Await(ctx, schemas.StreamAgents, view); err != nil {
		return err
	}
	return l.d.runtime.Read(view, fn)
}

// Artifacts lists what a conversation keeps, without the data.
func (l agentLog) Artifacts(ctx context.Context, run string) (all []verbs.Artifact, err error) {
	err = l.Read(ctx, projections.ViewAgentArtifacts, func(r projections.Reader) error {
		list, err := l.d.views.agents.artifacts.List(r, run)
		for _, a := range list {
			all = append(all, verbs.Artifact{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size})
		}
		return err
	})
	return all, err
}

// Artifact returns one whole; ok is false where there is none of this id.
func (l agentLog) Artifact(ctx context.Context, run, id string) (a verbs.Artifact, ok bool, err error) {
	err = l.Read(ctx, projections.ViewAgentArtifacts, func(r projections.Reader) error {
		kept, content, found, err := l.d.views.agents.artifacts.Artifact(r, run, id)
		a = verbs.Artifact{ID: kept.ID, Name: kept.Name, MIME: kept.MIME, Size: kept.Size, Data: append([]byte(nil), content...)}
		ok = found
		return err
	})
	return a, ok, err
}
