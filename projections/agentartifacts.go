package projections

import (
	"strconv"
	"time"

	"github.com/writbus/writ/schemas"
)

// AgentArtifacts is what conversations of agents keep. A query helper takes a
// Reader of ViewAgentArtifacts.
//
//	a/<run>/<number>  KeptArtifact
//	b/<run>/<id>      its content
type AgentArtifacts struct{}

// KeptArtifact is an artifact without its content.
type KeptArtifact struct {
	ID   string    `json:"id"`
	Name string    `json:"name,omitempty"`
	MIME string    `json:"mime,omitempty"`
	Size int       `json:"size"`
	Time time.Time `json:"time"`
}

// Name implements Projector.
func (AgentArtifacts) Name() string { return ViewAgentArtifacts }

// Version implements Projector.
func (AgentArtifacts) Version() int { return 1 }

// Types implements Projector.
func (AgentArtifacts) Types() []schemas.Type {
	return []schemas.Type{schemas.ArtifactKept{}.EventType()}
}

// Apply implements Projector.
func (AgentArtifacts) Apply(v View, e schemas.Event) error {
	p, ok := e.Data.(schemas.ArtifactKept)
	if !ok {
		return nil
	}
	if err := v.Set(idKey('b', e.Aggregate.ID, p.ArtifactID), p.Content); err != nil {
		return err
	}
	return setDocument(v, artifactKey(e.Aggregate.ID, p.ArtifactID), KeptArtifact{p.ArtifactID, p.Name, p.MIME, p.Size, e.Time})
}

// artifactKey orders artifacts by their numbers; one that has none comes last.
func artifactKey(run, id string) []byte {
	n, err := strconv.ParseUint(id, 10, 63)
	if err != nil {
		n = 1<<64 - 1
	}
	return append(ordinal(idPrefix('a', run), n), schemas.EncodeToken(id)...)
}

// List returns the artifacts of a run, in their order.
func (AgentArtifacts) List(r Reader, run string) ([]KeptArtifact, error) {
	return collect[KeptArtifact](r, idPrefix('a', run))
}

// Artifact returns one artifact of a run with its content.
func (AgentArtifacts) Artifact(r Reader, run, id string) (a KeptArtifact, content []byte, found bool, err error) {
	if a, found, err = getDocument[KeptArtifact](r, artifactKey(run, id)); err != nil || !found {
		return a, nil, false, err
	}
	content, found, err = r.Get(idKey('b', run, id))
	return a, content, found, err
}
