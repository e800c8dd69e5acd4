package eventlog

import (
	"context"
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// maxActivityHours bounds what one answer looks back.
const maxActivityHours = 24 * 90

// activity counts what happened, for people who watch.
func (l *Log) activity(ctx context.Context, r schemas.ActivityRequest) (schemas.Activity, error) {
	if r.Hours <= 0 {
		r.Hours = 24
	}
	if r.Hours > maxActivityHours {
		return schemas.Activity{}, schemas.Faultf(schemas.CodeBadRequest, "%d hours are too many, at most %d are counted at once", r.Hours, maxActivityHours)
	}
	reply := schemas.Activity{Hours: []schemas.ActivityHour{}, Rules: []schemas.ActivityRule{}}
	for _, stream := range []schemas.Stream{schemas.StreamSessions, schemas.StreamRules} {
		if err := l.views.Await(ctx, stream, l.counts.Name()); err != nil {
			return reply, err
		}
	}
	err := l.views.Read(l.counts.Name(), func(reader projections.Reader) error {
		for h, err := range l.counts.Hours(reader, l.now().Add(-time.Duration(r.Hours)*time.Hour)) {
			if err != nil {
				return err
			}
			reply.Hours = append(reply.Hours, hourOf(h))
		}
		for a, err := range l.counts.Rules(reader) {
			if err != nil {
				return err
			}
			reply.Rules = append(reply.Rules, schemas.ActivityRule{
				ID: a.Rule, Shown: a.Shown, Denied: a.Denied, Violated: a.Violated, Followed: a.Followed, Ignored: a.Ignored, Last: a.Last,
			})
		}
		return nil
	})
	return reply, err
}

func hourOf(h projections.Hour) schemas.ActivityHour {
	out := schemas.ActivityHour{
		Start: h.Start, Prompts: h.Prompts, Answered: h.Answered, Shown: h.Shown, Tokens: h.Tokens, Memory: h.Memory, Files: h.Files,
		Allowed: h.Allowed, Asked: h.Asked, Denied: h.Denied, Followed: h.Followed, Ignored: h.Ignored,
	}
	if h.Answered > 0 {
		out.Best = h.Best / float64(h.Answered)
	}
	return out
}
