package daemon

import (
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/transparency"
	"github.com/writbus/writ/schemas"
)

// Names of the views whose readers the daemon asks for. Persisted: a new name
// is a new view.
const (
	viewState     = "session-state"
	viewSessions  = "sessions"
	viewRules     = "rules"
	viewFrequency = "frequency"
	viewRetrieval = "retrieval"
	viewActivity  = "activity"
)

// views are the projections of this daemon.
type views struct {
	state     *projections.Fold[enforcement.State]
	sessions  projections.Sessions
	rules     projections.Rules
	frequency *projections.Frequency
	verdicts  *projections.Verdicts
	retrieval *projections.RetrievalIndex
	activity  projections.Activity
	memory    *memoryStore
	artifacts *artifactStore
	trees     *transparency.Projector
	agents    agentViews
}

func newViews(index *corpusIndex, drift config.Drift) views {
	return views{
		state:     projections.NewFold(viewState, enforcement.StateVersion, schemas.TypesOf(schemas.KindSession), enforcement.Evolve),
		sessions:  projections.NewSessions(),
		rules:     projections.NewRules(),
		frequency: projections.NewFrequency(index.graduate),
		verdicts:  projections.NewVerdicts(),
		retrieval: projections.NewRetrievalIndex(index.analyse, index.embedder.version(), index.change),
		activity:  projections.NewActivity(),
		memory:    newMemoryStore(index.embedder, drift),
		artifacts: newArtifactStore(),
		trees:     transparency.New(),
		agents:    newAgentViews(),
	}
}

func (v views) all() []projections.Projector {
	all := []projections.Projector{v.state, v.sessions, v.rules, v.frequency, v.verdicts, v.retrieval, v.activity, v.memory.view, v.artifacts.view, v.trees}
	return append(all, v.agents.all()...)
}
