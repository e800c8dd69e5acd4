package daemon

import (
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/phrase"
	"github.com/writbus/writ/observer/agent/runs"
	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/retrieval/rulebook/index"
	"github.com/writbus/writ/schemas"
)

// Names of the views whose readers the daemon asks for. Persisted: a new name
// is a new view.
const (
	viewState     = "session-state"
	viewSessions  = "sessions"
	viewRules     = "rules"
	viewRetrieval = "retrieval"
	viewActivity  = "activity"
)

// views are the projections of this daemon.
type views struct {
	state     *projections.Fold[enforcement.State]
	sessions  projections.Sessions
	rules     projections.Rules[rule.State]
	frequency *projections.Frequency
	verdicts  *projections.Verdicts
	retrieval *projections.RetrievalIndex
	activity  projections.Activity
	memory    *memory.Store
	artifacts projections.Artifacts
	trees     *audit.Projector
	agents    runs.Views
}

func newViews(rules *index.Index, drift observation.Limits, lost audit.Lost) views {
	retrieval, frequency := rules.Feeds()
	return views{
		state:     projections.NewFold(viewState, enforcement.StateVersion, schemas.TypesOf(schemas.KindSession), enforcement.Evolve),
		sessions:  projections.NewSessions(phrase.Wishes),
		rules:     projections.NewRules(rule.Evolve),
		frequency: frequency,
		verdicts:  projections.NewVerdicts(),
		retrieval: retrieval,
		activity:  projections.NewActivity(),
		memory:    memory.NewStore(rules.Embedder(), drift),
		artifacts: projections.NewArtifacts(catalog.Effect),
		trees:     audit.New(lost),
		agents:    runs.NewViews(),
	}
}

func (v views) all() []projections.Projector {
	all := []projections.Projector{v.state, v.sessions, v.rules, v.frequency, v.verdicts, v.retrieval, v.activity, v.memory.View(), v.artifacts, v.trees}
	return append(all, v.agents.All()...)
}
