package projections

import (
	"fmt"
	"iter"
	"time"

	"github.com/writbus/writ/schemas"
)

// Artifacts is what the index of each project holds, as it stands: which files,
// in which state, and what sessions were shown of them. It holds no text; the
// index that is searched follows the files that it names. A query helper takes
// a Reader of the view "artifacts".
//
//	p/<project>                           ArtifactProject
//	f/<project>/<path>                    schemas.ArtifactIndexed
//	u/<session>/<project>/<path>/<lines>  the hash of the file whose chunk the session was shown
type Artifacts struct{ effect ArtifactEffect }

// ArtifactEffect is what an event does to the files of an index: the path that
// leaves it, "" for none, and the file that it holds from then on, nil for none.
type ArtifactEffect func(schemas.Payload) (leaves string, holds *schemas.ArtifactIndexed)

// NewArtifacts returns the view of a fold. effect depends on its argument alone.
func NewArtifacts(effect ArtifactEffect) Artifacts { return Artifacts{effect} }

// ArtifactProject is one project's index.
type ArtifactProject struct {
	Project string             `json:"project"` // its folder, absolute
	Built   schemas.IndexBuilt `json:"built"`   // the last build that changed anything
	Time    time.Time          `json:"time"`    // of that build
}

// Name implements Projector.
func (Artifacts) Name() string { return "artifacts" }

// Version implements Projector.
func (Artifacts) Version() int { return 1 }

// Types implements Projector.
func (Artifacts) Types() []schemas.Type {
	return []schemas.Type{
		schemas.ArtifactIndexed{}.EventType(), schemas.ArtifactRemoved{}.EventType(),
		schemas.IndexBuilt{}.EventType(), schemas.ArtifactShown{}.EventType(),
	}
}

// Apply implements Projector.
func (a Artifacts) Apply(v View, e schemas.Event) error {
	project := e.Aggregate.ID
	leaves, holds := a.effect(e.Data)
	if leaves != "" {
		if err := v.Delete(idKey('f', project, leaves)); err != nil {
			return err
		}
	}
	if holds != nil {
		return setDocument(v, idKey('f', project, holds.File.Path), holds)
	}
	switch p := e.Data.(type) {
	case schemas.IndexBuilt:
		return setDocument(v, idKey('p', project), ArtifactProject{Project: project, Built: p, Time: e.Time})
	case schemas.ArtifactShown:
		for _, hit := range p.Shown {
			if err := v.Set(shownKey(p.Session, project, hit), []byte(hit.SHA256)); err != nil {
				return err
			}
		}
	}
	return nil
}

func shownKey(session, project string, hit schemas.ArtifactHit) []byte {
	return idKey('u', session, project, hit.Path, linesOf(hit))
}

func linesOf(hit schemas.ArtifactHit) string { return fmt.Sprintf("%d-%d", hit.First, hit.Last) }

// Project returns one project's index.
func (Artifacts) Project(r Reader, project string) (ArtifactProject, bool, error) {
	return getDocument[ArtifactProject](r, idKey('p', project))
}

// Files lists the files of a project's index, each as it was indexed.
func (Artifacts) Files(r Reader, project string) iter.Seq2[schemas.ArtifactIndexed, error] {
	return documents[schemas.ArtifactIndexed](r, idPrefix('f', project))
}

// ShownAny says whether a session was shown anything.
func (Artifacts) ShownAny(r Reader, session string) (bool, error) {
	for _, err := range r.Scan(idPrefix('u', session)) {
		return err == nil, err
	}
	return false, nil
}

// Shown says whether a session was shown these lines of a file as it is.
func (Artifacts) Shown(r Reader, session, project string, hit schemas.ArtifactHit) (bool, error) {
	hash, found, err := r.Get(shownKey(session, project, hit))
	return found && string(hash) == hit.SHA256, err
}
