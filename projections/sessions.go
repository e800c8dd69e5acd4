package projections

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// Sessions lists sessions, the one with the latest event first, without
// loading their folded states. A query helper takes a Reader of the view
// "sessions".
//
//	o/<8 bytes>  SessionSummary, under the complement of its last sequence
//	s/<id>       those eight bytes
//	g/<id>       schemas.TokensGiven beside those of rules: another stream's
//	t/<project>/<tool>  a tool of a server that the user let run there
//	p/<project>         placed: the repository that a project was in last
type Sessions struct {
	wishes func(prompt string) bool

	listed *drafts[listed]
	given  *drafts[schemas.TokensGiven]
}

// NewSessions returns the view. Wishes tells whether a prompt wishes for
// something, nil that none does.
func NewSessions(wishes func(prompt string) bool) Sessions {
	return Sessions{wishes: wishes, listed: newDrafts[listed](), given: newDrafts[schemas.TokensGiven]()}
}

// listed is a session as the view works on it.
type listed struct {
	SessionSummary
	stored uint64 // the sequence that it is stored under, 0 for nowhere
}

// SessionSummary is a session in a list.
type SessionSummary struct {
	ID      string `json:"id"`
	Host    string `json:"host,omitempty"`
	Project string `json:"project,omitempty"`
	Parent  string `json:"parent,omitempty"` // session of the parent, for a sub-agent
	Model   string `json:"model,omitempty"`
	// Mode and Phase are the last that events named, "" where none did.
	Mode  string `json:"mode,omitempty"`
	Phase string `json:"phase,omitempty"`
	Ended bool   `json:"ended,omitempty"`

	Started time.Time `json:"started"` // of the first event
	Last    time.Time `json:"last"`    // of the last event of somebody in it
	Seq     uint64    `json:"seq"`     // of the last event

	Events  int `json:"events"`
	Prompts int `json:"prompts"`
	Denied  int `json:"denied"` // tool requests refused

	// Title is the first prompt that wished for something, else the first; Wish
	// is the latest that did. Both are one line.
	Title  string `json:"title,omitempty"`
	Wish   string `json:"wish,omitempty"`
	Wished bool   `json:"wished,omitempty"` // the title is a wish
	// Tokens are those of the rules that were given, all and since the last
	// prompt.
	Tokens int `json:"tokens,omitempty"`
	Since  int `json:"since,omitempty"`
}

// Standing is where a session stands now: schemas.StandsLive, StandsIdle or StandsEnded.
func (s SessionSummary) Standing(now time.Time) string {
	switch {
	case s.Ended:
		return schemas.StandsEnded
	case now.Sub(s.Last) > schemas.SessionLiveFor:
		return schemas.StandsIdle
	}
	return schemas.StandsLive
}

// maxTitle bounds a title, in characters.
const maxTitle = 160

// Name implements Projector.
func (Sessions) Name() string { return "sessions" }

// Version implements Projector.
func (Sessions) Version() int { return 5 }

// Types implements Projector.
func (Sessions) Types() []schemas.Type {
	return append(schemas.TypesOf(schemas.KindSession), schemas.MemoryShown{}.EventType(), schemas.ArtifactShown{}.EventType())
}

// Begin implements Batcher.
func (w Sessions) Begin() {
	w.listed.begin()
	w.given.begin()
}

// Continue implements Continuer.
func (w Sessions) Continue() {
	w.listed.goOn()
	w.given.goOn()
}

// Apply implements Projector.
func (w Sessions) Apply(v View, e schemas.Event) error {
	switch p := e.Data.(type) {
	case schemas.MemoryShown:
		return w.gave(v, p.Session, func(g *schemas.TokensGiven) { g.Memory += max(p.Tokens, 0) })
	case schemas.ArtifactShown:
		return w.gave(v, p.Session, func(g *schemas.TokensGiven) { g.Files += max(p.Tokens, 0) })
	}
	key := idKey('s', e.Aggregate.ID)
	one, err := w.listed.from(key, func() (listed, error) {
		s, _, err := sessionSummary(v, key)
		return listed{s, s.Seq}, err
	})
	if err != nil {
		return err
	}
	one.ID = e.Aggregate.ID
	one.SessionSummary = w.Summarise(one.SessionSummary, e)
	switch p := e.Data.(type) {
	case schemas.ToolAccepted:
		if one.Project != "" {
			return v.Set(acceptedKey(one.Project, p.Tool), nil)
		}
	case schemas.SessionStarted:
		if p.Repository != nil {
			return setDocument(v, idKey('p', p.Project), placed{p.Project, *p.Repository})
		}
	}
	return nil
}

// placed is a project with its repository.
type placed struct {
	Project    string             `json:"project"`
	Repository schemas.Repository `json:"repository"`
}

// Flush implements Batcher: sessions move to the place of their last event.
func (w Sessions) Flush(v View) error {
	err := w.listed.flushWith(func(key string, one *listed, value []byte) error {
		if one.stored > 0 {
			if err := v.Delete(latestFirst(one.stored)); err != nil {
				return err
			}
		}
		one.stored = one.Seq
		return errors.Join(v.Set([]byte(key), latestFirst(one.stored)), v.Set(latestFirst(one.stored), value))
	})
	return errors.Join(err, w.given.flush(v))
}

func sessionSummary(from getter, key []byte) (s SessionSummary, found bool, err error) {
	at, found, err := from.Get(key)
	if err != nil || !found {
		return s, false, err
	}
	s, found, err = getDocument[SessionSummary](from, at)
	if err == nil && !found {
		err = fmt.Errorf("projections: session %q is listed nowhere: %w", key, errDangling)
	}
	return s, found, err
}

// errDangling says that a key of a view names one that is not there.
var errDangling = errors.New("projections: view contradicts itself")

func latestFirst(seq uint64) []byte { return ordinal([]byte("o/"), ^seq) }

// gave adds to what a session was given beside rules.
func (w Sessions) gave(v View, session string, add func(*schemas.TokensGiven)) error {
	g, err := w.given.of(v, idKey('g', session))
	if err == nil {
		add(g)
	}
	return err
}

// Given are the tokens of all that a session was given.
func (Sessions) Given(r Reader, s SessionSummary) (schemas.TokensGiven, error) {
	g, _, err := getDocument[schemas.TokensGiven](r, idKey('g', s.ID))
	g.Rules = s.Tokens
	return g, err
}

// prompted takes a prompt into the summary. Commands and what hosts put in are no
// titles.
func (w Sessions) prompted(s SessionSummary, p schemas.PromptSubmitted) SessionSummary {
	s.Prompts++
	s.Since = 0
	text := excerpt.Runes(excerpt.Line(p.Prompt), maxTitle)
	if text == "" || p.Command != "" || strings.ContainsAny(text[:1], "/[<") {
		return s
	}
	wishes := w.wishes != nil && w.wishes(p.Prompt)
	if wishes {
		s.Wish = text
	}
	if s.Title == "" || wishes && !s.Wished {
		s.Title, s.Wished = text, wishes
	}
	return s
}

// Summarise takes an event of a session into its summary.
func (w Sessions) Summarise(s SessionSummary, e schemas.Event) SessionSummary {
	if s.Events == 0 {
		s.Started = e.Time
	}
	s.Events++
	s.Seq = e.Position.Seq
	if _, damaged := e.Data.(schemas.GatesClosed); !damaged { // nobody was there
		s.Last = e.Time
	}
	switch p := e.Data.(type) {
	case schemas.SessionStarted:
		s.Host, s.Project = p.Host, p.Project
		s.Parent, s.Model = cmp.Or(p.Parent, s.Parent), cmp.Or(p.Model, s.Model)
		s.Mode, s.Ended = cmp.Or(s.Mode, p.Mode), false
	case schemas.SessionEnded:
		s.Ended = true
	case schemas.PromptSubmitted:
		s = w.prompted(s, p)
	case schemas.RulesShown:
		s.Tokens += max(p.Tokens, 0)
		s.Since += max(p.Tokens, 0)
	case schemas.ToolDecided:
		if p.Verdict == "deny" {
			s.Denied++
		}
	case schemas.ModeChanged:
		s.Mode = p.To
	case schemas.PhaseChanged:
		s.Phase = p.To
	case schemas.GatesClosed:
		s.Mode, s.Phase = p.Mode, p.Phase
	case schemas.GateApproved:
		s.Phase = cmp.Or(p.NextPhase, s.Phase)
	}
	return s
}

// Session returns the summary of one session.
func (Sessions) Session(r Reader, id string) (SessionSummary, bool, error) {
	s, found, err := sessionSummary(r, idKey('s', id))
	return s, found, err
}

// Accepted reports whether the user let a tool of a server run in a session of a
// project, named by its root.
func (Sessions) Accepted(r Reader, project, tool string) (bool, error) {
	_, found, err := r.Get(acceptedKey(project, tool))
	return found, err
}

// Relatives are the roots under which sessions worked on a project: its own, and
// those of its other work trees and clones, also of such as are gone. Sorted.
func (Sessions) Relatives(r Reader, project string) ([]string, error) {
	own, found, err := getDocument[placed](r, idKey('p', project))
	all := []string{project}
	if err != nil || !found {
		return all, err
	}
	for other, err := range documents[placed](r, []byte("p/")) {
		if err != nil {
			return nil, err
		}
		if other.Project != project && own.Repository.Same(other.Repository) {
			all = append(all, other.Project)
		}
	}
	slices.Sort(all)
	return all, nil
}

func acceptedKey(project, tool string) []byte { return idKey('t', project, tool) }

// List returns the sessions, the one with the latest event first. It reads no
// more of them than are taken.
func (Sessions) List(r Reader) iter.Seq2[SessionSummary, error] {
	return documents[SessionSummary](r, []byte("o/"))
}
