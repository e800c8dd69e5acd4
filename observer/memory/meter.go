package memory

import (
	"context"

	"github.com/writbus/writ/schemas"
)

// Names of spans. Persisted in dashboards; never change.
const (
	spanStore    = "observe.store"
	spanClassify = "observe.classify"
	spanRecall   = "recall.search"
)

// Observe stores observations with their verdicts, counted and traced.
func (d *Service) Observe(ctx context.Context, r schemas.ObserveRequest) (schemas.ObserveReply, error) {
	ctx, end := d.Meter.Span(ctx, spanStore)
	began := d.Now()
	reply, err := d.observe(ctx, r)
	end(err)
	if err != nil {
		return reply, err
	}
	d.Meter.Stored(ctx, d.Now().Sub(began))
	for _, o := range reply.Observed {
		if o.Repeated {
			continue
		}
		fallback := ""
		if o.Fallback {
			fallback = o.Reason
		}
		d.Meter.Observed(ctx, o.Verdict, fallback)
	}
	return reply, nil
}

// Recall finds what was observed, counted and traced.
func (d *Service) Recall(ctx context.Context, r schemas.RecallRequest) (schemas.RecallReply, error) {
	ctx, end := d.Meter.Span(ctx, spanRecall)
	began := d.Now()
	reply, err := d.recall(ctx, r)
	end(err)
	d.Meter.Recalled(ctx, d.Now().Sub(began))
	return reply, err
}
