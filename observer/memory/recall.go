package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/retrieval/vector"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// recall searches what was observed, as of everything appended so far.
func (d *Service) recall(ctx context.Context, r schemas.RecallRequest) (schemas.RecallReply, error) {
	reply := schemas.RecallReply{Hits: []schemas.Recalled{}}
	switch {
	case strings.TrimSpace(r.Text) == "":
		return reply, schemas.Faultf(schemas.CodeBadRequest, "recall needs a text to look for")
	case r.Limit < 0 || r.Limit > recallMost:
		return reply, schemas.Faultf(schemas.CodeBadRequest, "the limit is 1 to %d, not %d", recallMost, r.Limit)
	}
	search, err := d.upToDate(ctx)
	if err != nil {
		return reply, err
	}
	q := d.kept.query(r.Text)
	q.includeHold, q.includeDiscard, q.category = r.IncludeHold, r.IncludeDiscard, r.Category
	for _, scope := range r.Scopes {
		if q.scopes = append(q.scopes, scope); scope != schemas.MemoryGlobal {
			q.scopes = append(q.scopes, d.Relatives(scope)...)
		}
	}
	q.now, q.limit = d.Now(), cmp.Or(r.Limit, recallLimit)
	if r.MinScore != nil {
		q.minScore = *r.MinScore
	}
	if err := search.knowsCategory(q); err != nil {
		return reply, err
	}
	for _, h := range search.search(q) {
		reply.Hits = append(reply.Hits, h.recalled(r.Explain))
	}
	if r.Explain {
		reply.Dropped = search.dropped(q)
	}
	if q.vector != nil {
		reply.Embedder = d.kept.index.embedder.Name()
	}
	reply.MinScore = q.minScore
	for verdict, n := range search.verdicts {
		if observation.MayRecall(&verdict, q.includeHold, q.includeDiscard) {
			reply.Searched += n
		}
	}
	return reply, nil
}

// knowsCategory refuses a category that no observation has which the query may
// see.
func (s *snapshot) knowsCategory(q query) error {
	if q.category == "" {
		return nil
	}
	known := s.categories(q)
	if slices.ContainsFunc(known, func(c string) bool { return strings.EqualFold(c, q.category) }) {
		return nil
	}
	list := "there are none yet"
	if len(known) > 0 {
		list = "known are " + strings.Join(known, ", ")
	}
	return schemas.Faultf(schemas.CodeBadRequest, "there is no category %q among the observations that may be recalled; %s", q.category, list)
}

// query is a query for a text, at a time that is to be set. Where it cannot be embedded, words alone are
// searched.
func (m *Store) query(text string) query {
	q := query{text: text, limit: recallLimit, minScore: defaultMinScore}
	if e := m.index.embedder; e != nil {
		if v, err := vector.OfQuery(e, excerpt.Runes(text, embeddedRunes)); err == nil {
			q.vector = v
		}
	}
	return q
}
