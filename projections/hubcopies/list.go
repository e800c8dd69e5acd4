// Package hubcopies says what of the log may leave this machine, and in which form:
// copies of events that hold the fields of a list and nothing else.
//
// It guarantees that a kind of event, or a field, that the list does not name never
// leaves; that no text of a copy holds what the redactor takes for a secret, or a
// path outside of a project; and that copies are drawn from the log alone, so that
// the same log gives the same copies, under the same tree: they need no store of
// their own, and no backup or crash sets the two apart.
//
// It reads no log and sends nothing; both are its callers'.
package hubcopies

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

// Kind is a kind of event that may leave, with the fields of it that go along: names
// in JSON, a dot before those within.
type Kind struct {
	Type   schemas.Type `json:"type"`
	Fields []string     `json:"fields"`
}

// signed are the fields of a person's signature.
var signed = []string{"signed.key", "signed.act", "signed.revision", "signed.time", "signed.signature"}

// of are the fields of other persons' signatures.
func of(list string) (all []string) {
	for _, f := range signed {
		all = append(all, list+strings.TrimPrefix(f, "signed."))
	}
	return all
}

// Kinds are all that may leave: what a statement on a commit is drawn from, and what
// was decided about rules. No prompt, no code, no command, no reason, no words of an
// agent or a person.
func Kinds() []Kind {
	return []Kind{
		{"session.started", []string{"host", "source", "parent", "mode", "subagents", "repository.remote", "repository.first_commit", "repository.below"}},
		{"session.ended", []string{"written", "refusals"}},
		{"mode.changed", []string{"from", "to", "orchestrator", "restored"}},
		{"tool.decided", []string{"tool", "tool_use_id", "targets.rel", "targets.class", "targets.result", "effect", "verdict", "rule", "gate", "mode", "phase"}},
		{"tool.finished", []string{"tool", "tool_use_id", "failed", "files.path", "files.sha256", "files.bytes", "millis"}},
		{"write.unapproved", []string{"tool_use_id", "changes.path", "changes.change", "changes.rule", "changes.put_back"}},
		{"gate.approved", append([]string{"gate", "fingerprint", "files.path", "files.sha256", "files.bytes", "channel", "assurance", "act_id", "next_phase", "planned_files"}, append(of("with."), signed...)...)},
		{"approval.given", append([]string{"gate", "fingerprint", "channel", "act_id"}, signed...)},
		{"gate.declined", []string{"gate", "fingerprint", "channel", "act_id"}},
		{"gate.invalidated", []string{"gate", "rule"}},
		{"gate.drifted", []string{"gate", "changes.path", "changes.was", "changes.is"}},
		{"gates.closed", []string{"mode", "phase"}},
		{"approval.refused", []string{"gate", "channel", "act_id"}},
		{"plan.reopened", []string{}},
		{"plan.resumed", []string{"channel", "act_id"}},
		{"plan.extended", []string{"files", "channel", "act_id", "tool_use_id"}},
		{"tests.seen", []string{"path", "sha256", "verdict"}},
		{"tests.finished", []string{"trigger", "kind", "outcome", "exit", "millis", "tool_use_id", "passed", "known", "late"}},
		{"rule.promoted", signed},
		{"rule.rejected", signed},
		{"rule.downweighted", append([]string{"confidence"}, signed...)},
	}
}

// Streams are those that kinds of the list are in.
func Streams() []schemas.Stream {
	var all []schemas.Stream
	for _, k := range Kinds() {
		if s := k.Type.Kind().Stream(); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// ListDigest names the list: copies under another one are others.
func ListDigest() string {
	raw, _ := json.Marshal(Kinds()) // texts alone
	return digest.Hex(raw)
}

// pick keeps of a value in JSON what some fields name, and changes each text by
// clean. A value that none names is left out.
func pick(value any, fields []string, clean func(field, text string) string) (kept any, some bool) {
	return picked(value, "", fields, clean)
}

func picked(value any, at string, fields []string, clean func(field, text string) string) (kept any, some bool) {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			field := strings.TrimPrefix(at+"."+name, ".")
			if !slices.ContainsFunc(fields, func(f string) bool { return f == field || strings.HasPrefix(f, field+".") }) {
				continue
			}
			if kept, some := picked(inner, field, fields, clean); some {
				out[name] = kept
			}
		}
		return out, len(out) > 0 || at == ""
	case []any:
		out := make([]any, 0, len(v))
		for _, inner := range v {
			if kept, some := picked(inner, at, fields, clean); some {
				out = append(out, kept)
			}
		}
		return out, true
	case string:
		return clean(at, v), slices.Contains(fields, at)
	default:
		return v, slices.Contains(fields, at)
	}
}
