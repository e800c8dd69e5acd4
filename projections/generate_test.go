package projections_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/writbus/writ/observer/agent/book"
	"github.com/writbus/writ/observer/agent/schedule"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/schemas"
)

// folded is a state as enforcement would fold one.
type folded struct {
	Prompts int               `json:"prompts,omitempty"`
	Modes   []string          `json:"modes,omitempty"`
	Last    map[string]string `json:"last,omitempty"`
}

func foldSession(s folded, e schemas.Event) folded {
	if s.Last == nil {
		s.Last = map[string]string{}
	}
	s.Last[string(e.Type())] = e.ID
	switch p := e.Data.(type) {
	case schemas.PromptSubmitted:
		s.Prompts++
	case schemas.ModeChanged:
		s.Modes = append(s.Modes, p.To)
	}
	return s
}

func sessionFold() *projections.Fold[folded] {
	return projections.NewFold("session_state", 1, schemas.TypesOf(schemas.KindSession), foldSession)
}

func analyse(r schemas.Rule) ([]byte, error) {
	return []byte(r.ID + "\x00" + strings.ToLower(r.Trigger+" "+r.Statement)), nil
}

// bumped is a projector with a raised version.
type bumped struct {
	projections.Projector
	by int
}

func (b bumped) Version() int { return b.Projector.Version() + b.by }

// bumpedBatcher keeps the projector's batching.
type bumpedBatcher struct {
	bumped
	projections.Batcher
}

// bumpedContinuer keeps its going on too.
type bumpedContinuer struct {
	bumped
	projections.Continuer
}

// raised raises a projector's version, and keeps that it goes on from batch to batch.
func raised(p projections.Projector, by int) projections.Projector {
	switch is := p.(type) {
	case projections.Continuer:
		return bumpedContinuer{bumped{p, by}, is}
	case projections.Batcher:
		return bumpedBatcher{bumped{p, by}, is}
	}
	return bumped{p, by}
}

// allViews returns every projector, its version raised.
func allViews(by int) []projections.Projector {
	notes, todos, lessons := projections.NewAgentBooks(book.Touches, book.Evolve)
	return []projections.Projector{
		bumped{tally{}, by},
		raised(sessionFold(), by),
		raised(projections.NewSessions(nil), by),
		bumped{projections.NewRules(evolveRule), by},
		bumped{projections.NewFrequency(nil), by},
		raised(projections.NewActivity(), by),
		bumped{projections.NewObservations(observation.Evolve, observation.EvolveProposal, nil), by},
		raised(projections.NewVerdicts(), by),
		bumped{projections.NewRetrievalIndex(evolveRule, analyse, 1, nil), by},
		bumped{projections.NewArtifacts(catalog.Effect), by},
		bumped{notes, by},
		bumped{todos, by},
		bumped{lessons, by},
		bumped{projections.NewAgentSchedules(schedule.Evolve, nil), by},
		bumped{projections.AgentArtifacts{}, by},
		bumped{projections.AgentRuns{}, by},
	}
}

var (
	ids      = []string{"A-ONE-001", "A-TWO-001", "B-ONE-001", "we ird/*.>", "ünï"}
	verdicts = []string{"", "allow", "hold", "discard", "perhaps"}
)

func drawRule(t *rapid.T, id string) schemas.Rule {
	r := schemas.Rule{
		ID: id, Severity: "high",
		Trigger:   rapid.SampledFrom([]string{"when a", "when b"}).Draw(t, "trigger"),
		Statement: rapid.SampledFrom([]string{"do a", "do b"}).Draw(t, "statement"),
		Mandatory: rapid.IntRange(0, 3).Draw(t, "mandatory") == 0,
		Authority: rapid.SampledFrom([]string{"", "human", "ai-provisional"}).Draw(t, "authority"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "edges") {
		r.Edges = append(r.Edges, schemas.Edge{
			Type:   rapid.SampledFrom([]string{"SUPERSEDES", "RELATED_TO"}).Draw(t, "edge"),
			Target: rapid.SampledFrom(ids).Draw(t, "target"),
		})
	}
	return r
}

func drawPayload(t *rapid.T, a schemas.Aggregate) schemas.Payload {
	yes := func(label string) bool { return rapid.Bool().Draw(t, label) }
	switch a.Kind {
	case schemas.KindSession:
		return rapid.SampledFrom([]schemas.Payload{
			schemas.SessionStarted{Host: "claude", Project: "/p"},
			schemas.SessionEnded{},
			schemas.PromptSubmitted{Prompt: "do it"},
			schemas.ModeChanged{To: "debug"},
			schemas.PhaseChanged{To: "planning"},
			schemas.ToolDecided{Tool: "Edit", Verdict: "deny"},
		}).Draw(t, "session")
	case schemas.KindRule:
		switch rapid.IntRange(0, 6).Draw(t, "rule") {
		case 0:
			return schemas.RuleImported{Rule: drawRule(t, a.ID), Source: "embedded", Hash: "h"}
		case 1:
			return schemas.RuleEdited{Rule: drawRule(t, a.ID), Reason: "better"}
		case 2:
			return schemas.RuleRetired{Reason: "old"}
		case 3:
			return schemas.RuleProposed{Rule: drawRule(t, a.ID), Admitted: yes("admitted"), Reasons: []string{"vague"}}
		case 4:
			return schemas.RulePromoted{}
		case 5:
			return schemas.RuleRejected{Reason: "no"}
		default:
			session := rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "of")
			return schemas.OutcomeRecorded{Session: session, Positive: yes("positive"), Evidence: "feedback"}
		}
	case schemas.KindArtifact:
		return drawArtifact(t)
	case schemas.KindAgent:
		return drawAgentPayload(t)
	default:
		id := fmt.Sprintf("o%d", rapid.IntRange(0, 9).Draw(t, "observation"))
		if yes("changed") {
			return rapid.SampledFrom([]schemas.Payload{
				schemas.ObservationRegated{ObservationID: id, Verdict: rapid.SampledFrom(verdicts[1:]).Draw(t, "verdict"), Reason: "why"},
				schemas.ObservationForgotten{ObservationID: id, Reason: "why"},
				schemas.ObservationMerged{ObservationID: id, Into: "o"},
				schemas.MemoryShown{Session: "s 1", Shown: []schemas.MemoryHit{{Scope: a.ID, ObservationID: id}, {Scope: a.ID, ObservationID: "o1"}}},
				schemas.ReflectionMade{ReflectionID: "r", By: "embedded", Read: []string{id, "o2"}},
				schemas.ProposalMade{ProposalID: id, Text: "note", Observations: []string{"o1"}},
				schemas.ProposalTriaged{ProposalID: id, Decision: schemas.ProposalRejected},
			}).Draw(t, "change")
		}
		return schemas.ObservationRecorded{
			ObservationID: id, Text: "x", Verdict: rapid.SampledFrom(verdicts).Draw(t, "verdict"),
			Fallback: yes("fallback"), Reason: rapid.SampledFrom([]string{"missing_annotation", "a/b c"}).Draw(t, "reason"),
		}
	}
}

func drawArtifact(t *rapid.T) schemas.Payload {
	paths := rapid.SampledFrom([]string{"a.md", "x/b.go", "x/ c#.md"})
	path := paths.Draw(t, "path")
	switch rapid.IntRange(0, 4).Draw(t, "artifact") {
	case 0:
		return schemas.ArtifactRemoved{Path: path}
	case 1:
		return schemas.ArtifactIndexed{File: schemas.FileState{Path: path, SHA256: "h"}, Kind: "code", From: paths.Draw(t, "from")}
	case 2:
		return schemas.IndexBuilt{Globs: []string{"**"}, Documents: 2, Left: map[string]int{"binary": 1}}
	case 3:
		return schemas.ArtifactShown{Session: "s 1", Shown: []schemas.ArtifactHit{{Path: path, First: 1, Last: 9, SHA256: "h"}}}
	default:
		return schemas.ArtifactIndexed{File: schemas.FileState{Path: path, SHA256: "h2", Bytes: 3}, Kind: "test", Modified: epoch}
	}
}

func drawAgentPayload(t *rapid.T) schemas.Payload {
	id := rapid.SampledFrom([]string{"e1", "e2", "t1", "l1", "7"}).Draw(t, "thing")
	return rapid.SampledFrom([]schemas.Payload{
		schemas.NoteWritten{Text: "a note"},
		schemas.NotesCleared{},
		schemas.EntryAdded{EntryID: id, Kind: "fact", Title: "a title"},
		schemas.EntriesLinked{From: id, To: "e1", Kind: "related"},
		schemas.EntryInvalidated{EntryID: id},
		schemas.TodoAdded{TodoID: id, Subject: "a task"},
		schemas.TodoChanged{TodoID: id, Status: "done"},
		schemas.TodoDeleted{TodoID: id},
		schemas.LessonRecorded{LessonID: id, Signature: "sig", Text: "a lesson"},
		schemas.LessonDeleted{LessonID: id},
		schemas.ScheduleAdded{ScheduleID: id, Line: "hourly: x", Zone: "UTC", Agent: "a", File: "/a.json", Workspace: "/w"},
		schemas.ScheduleFired{At: epoch, Run: "r"},
		schemas.SchedulePaused{},
		schemas.ScheduleResumed{},
		schemas.ScheduleCancelled{},
		schemas.ArtifactKept{ArtifactID: id, Name: "page", Content: []byte{0, 1}},
		schemas.AgentStarted{Agent: "a", Trigger: "run", Message: strings.Repeat("é", 300)},
		schemas.AgentMessaged{Message: "more"},
		schemas.AgentReplied{Turn: 1, Text: "text", OutputTokens: 3},
		schemas.AgentFinished{Outcome: "answered"},
		schemas.CommandDispatched{CommandID: id, Verb: "read"},
		schemas.CommandDenied{CommandID: id, Verb: "exec", Reason: "no"},
	}).Draw(t, "agent")
}

// grow appends random records, some of them with several events and some that
// cannot be decoded.
func grow(t *rapid.T, l *memoryLog, most int) {
	kinds := []schemas.Kind{schemas.KindSession, schemas.KindRule, schemas.KindMemory, schemas.KindArtifact, schemas.KindAgent}
	for range rapid.IntRange(0, most).Draw(t, "records") {
		a := schemas.Aggregate{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), ID: rapid.SampledFrom(ids).Draw(t, "id")}
		s := a.Kind.Stream()
		e := schemas.Event{
			ID:        fmt.Sprintf("e%d", rapid.Uint64().Draw(t, "id")),
			Time:      epoch.Add(time.Duration(rapid.IntRange(-200, 200).Draw(t, "minute")) * time.Minute),
			Aggregate: a,
			Data:      drawPayload(t, a),
		}
		var also []schemas.Payload
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "more") {
			also = append(also, drawPayload(t, a))
		}
		m, err := schemas.Encode(e, also...)
		if err != nil {
			t.Fatal(err)
		}
		switch rapid.IntRange(0, 15).Draw(t, "damage") {
		case 0:
			m.Body = append([]byte("{"), m.Body...)
		case 1:
			m.Subject = a.Prefix() + ".thing.happened"
			m.Header[schemas.HeaderType] = []string{"thing.happened"}
		case 2:
			m.Header[schemas.HeaderWritVersion] = []string{"99"}
		}
		l.append(s, m)
	}
}

// dump is everything a view holds.
func dump(t testing.TB, r projections.Reader) string {
	t.Helper()
	defer r.Close()
	var all []string
	for e, err := range r.Scan(nil) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%q=%q", e.Key, e.Value))
	}
	return strings.Join(all, "\n")
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
