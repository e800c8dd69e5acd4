package turn

import (
	"context"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// spanReply traces the making of a host's answer.
const spanReply = "reply"

// traceHook begins the trace of a hook; done ends it.
func (v *Service) traceHook(ctx context.Context, r bus.Request) (_ context.Context, done func()) {
	host, event := r.Header.Get(schemas.HookHeaderAgent), r.Header.Get(schemas.HookHeaderEvent)
	arrived := v.Now()
	ctx, end := v.Meter.HookSpan(ctx, moment(r.Header, schemas.HookHeaderBegan), "host", knownWord(host), "event", knownWord(event))
	return ctx, func() {
		end(nil)
		v.Meter.Hook(ctx, knownWord(host), knownWord(event), v.Now().Sub(arrived))
	}
}

// knownWord keeps a label to what names of hosts and events look like, so that
// a caller cannot make as many time series as it likes.
func knownWord(s string) string {
	if s == "" || len(s) > 32 {
		return "other"
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "other"
		}
	}
	return s
}
