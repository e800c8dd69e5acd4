package memory

import (
	"context"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/schemas"
)

// Shared is the memory for who shares observations, and takes what others shared: into
// scopes of their own ([schemas.MemoryShared]), into which nobody else records.
type Shared struct{ *Service }

// sharing is Writ, which carries out what others decided of what they shared.
var sharing = schemas.Writ("sharing")

// fromOthers says whether a scope holds what others shared.
func fromOthers(scope string) bool { return strings.HasPrefix(scope, schemas.MemoryShared) }

// Accepted is an observation that was allowed, as it can be read.
func (d Shared) Accepted(ctx context.Context, id, in string) (item schemas.MemoryItem, err error) {
	if _, err := d.upToDate(ctx); err != nil {
		return item, err
	}
	key := schemas.ObservationKey{Scope: in, ID: id}
	if scopes := d.kept.index.scopesOf(id); in == "" && len(scopes) == 1 {
		key.Scope = scopes[0]
	} else if in == "" && len(scopes) > 1 {
		return item, schemas.Faultf(schemas.CodeBadRequest, "the scopes %s each have an observation %q: say which with --from", strings.Join(scopes, ", "), id)
	}
	states, err := d.kept.standing(key)
	if err != nil {
		return item, err
	}
	state := states[key]
	if item, err = d.kept.item(state); err != nil {
		return item, err
	}
	verdict := state.Verdict()
	switch {
	case !state.Known():
		err = schemas.Faultf(schemas.CodeNotFound, "there is no observation %q. writ find --in memory finds them", id)
	case fromOthers(key.Scope):
		err = schemas.Faultf(schemas.CodeRefused, "%s was shared by %s: it is theirs to share", id, item.Source)
	case state.Forgotten != nil || item.Lost || strings.TrimSpace(item.Text) == "":
		err = schemas.Faultf(schemas.CodeRefused, "%s says nothing that could be read", id)
	case !observation.MayRecall(&verdict, false, false):
		err = schemas.Faultf(schemas.CodeRefused, "%s is on %s, and only what is allowed is shared: writ memory review %s --allow --reason TEXT", id, verdict, id)
	}
	return item, err
}

// Clean takes secrets out of a text.
func (Shared) Clean(text string) string { return redactText(text) }

// Take records what somebody shared, as they accepted it, once: what was forgotten here
// is not taken in again.
func (d Shared) Take(ctx context.Context, o schemas.MemoryItem) error {
	text, redacted := redact.Replace([]byte(o.Text), redact.Find)
	at := d.Now()
	if o.Time.Before(at) {
		at = o.Time.UTC()
	}
	return d.store(ctx, []taken{{
		key: schemas.ObservationKey{Scope: o.Scope, ID: o.ObservationID}, named: true, event: bus.NewID(), actor: sharing, at: at,
		recorded: schemas.ObservationRecorded{
			ObservationID: o.ObservationID, Original: text, Text: string(text), Category: redactText(o.Category), Origin: o.Source,
			Verdict: observation.Allow, Confidence: 1, Reason: "accepted by who shared it", GateVersion: observation.GateVersion, Redacted: redacted,
		},
	}}, true)
}

// Forget erases what was shared, as its author wants; of what is not here nothing is.
func (d Shared) Forget(ctx context.Context, o schemas.ObservationKey, reason string) error {
	d.kept.judging.Lock()
	defer d.kept.judging.Unlock()
	if _, err := d.upToDate(ctx); err != nil {
		return err
	}
	states, err := d.kept.standing(o)
	if state := states[o]; err != nil || !state.Known() || state.Forgotten != nil {
		return err
	}
	decision, err := observation.Decide(states[o], observation.Forget{Reason: reason})
	if err == nil {
		_, err = d.carryOut(ctx, sharing, states[o], decision)
	}
	return err
}

// Forgotten are those of some observations that were forgotten.
func (d Shared) Forgotten(ctx context.Context, of []schemas.ObservationKey) (gone []schemas.ObservationKey, err error) {
	if len(of) == 0 {
		return nil, nil
	}
	if err := d.await(ctx); err != nil {
		return nil, err
	}
	states, err := d.kept.standing(of...)
	for _, k := range of {
		if states[k].Forgotten != nil {
			gone = append(gone, k)
		}
	}
	return gone, err
}

// Changes grows whenever something becomes of an observation.
func (d Shared) Changes() uint64 { return d.kept.index.changes.Load() }
