package schemas

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Why a field is stored as it is, whatever it holds.
const (
	keepID      = "names something by which it is found and compared"
	keepPath    = "a path that is compared with those of the disk"
	keepDigest  = "a digest or fingerprint that is compared"
	keepPattern = "decides: it is matched or granted as it is written"
	keepCipher  = "ciphertext"
	keepRule    = "a file of rules that a person wrote, which is told by its hash"
	keepData    = "an agent reads it again as it was fetched"
	keepProof   = "signed: with one byte changed nobody can verify it"
	keepRecord  = "the record that nobody understood, as it was found"
)

// keptFields are the fields that no redaction changes, by reason: of a struct,
// or of all structs that have such a field. All other values are redacted.
var keptFields = map[string][]string{
	keepID: {
		"Run", "Agent", "AgentID", "Session", "ToolUseID", "PromptID", "ActID", "ScheduleID", "ObservationID", "ProposalID", "ReflectionID",
		"RuleID", "EntryID", "TodoID", "LessonID", "CommandID", "ArtifactID", "Scope", "Verb", "Tool", "Host",
		"SessionStarted.Parent", "AgentStarted.Parent", "AgentStarted.Chain", "AgentStarted.Command", "AgentStarted.Schedule", "AgentStarted.Daemon",
		"ScheduleAdded.Chain", "ObservationMerged.Into", "ReflectionMade.Read", "ProposalMade.Observations", "EntriesLinked.From", "EntriesLinked.To",
		"Rule.ID", "Edge.Target", "Neighbour.ID", "ShownRule.ID", "Violation.Rule", "UnapprovedChange.Rule", "ToolDecided.Rule", "GateInvalidated.Rule",
		"SessionEnded.Shown", "SessionEnded.Denied", "SessionAudited.Shown", "SessionAudited.Followed", "SessionAudited.Broken", "SessionAudited.Denied",
		"ContentChecked.Followed", "ContentChecked.Broken", "RecordsLost.Stream", "RecordsArchived.Stream", "SessionsClosed.Stream", "SessionsClosed.Sessions", "LostLeaf.ID", "StreamRestore.Stream",
		"LogMoved.Move", "Release.Name", "Release.Layer", "ReleaseFollowed.Name", "ReleaseFollowed.Layer", "ReleaseLeft.Name", "ToolDecided.Releases", "ToolDecided.Policy",
		"ReleasePolicy.Name", "ReleaseTerms.Until", "ObservationShared.With",
	},
	keepPath: {
		"Path", "Rel", "Project", "Dir", "Transcript", "Workspace", "ModeChanged.Repro", "GateApproved.PlannedFiles", "PlanExtended.Files", "ToolFinished.Tests",
		"TestsFinished.Files", "SessionAudited.Written", "SessionAudited.Untested", "AgentStarted.File", "ScheduleAdded.File", "ArtifactIndexed.From", "SettingsAccepted.Repository",
		"Repository.Remote", "Repository.Below", "ReleaseFollowed.Place", "ReleasePolicy.Repository", "ReleasePolicy.Folder",
	},
	keepDigest:  {"SHA256", "LostLeaf.Now", "Digest", "Fingerprint", "Target.Result", "ToolDecided.Queued", "LogRestored.Manifest", "FileChange.Was", "FileChange.Is", "TestsSeen.Support", "RuleImported.Hash", "Repository.First", "Repository.Head"},
	keepPattern: {"Capabilities", "Globs", "ReleasePolicy.Write", "Check.Pattern", "Check.Query", "Check.Unless", "Check.Paths", "Check.Except", "Check.Contexts", "Check.Language"},
	keepCipher:  {"Sealed"},
	keepRule:    {"RuleImported.Rule", "RuleImported.Content", "RuleImported.Source", "RuleEdited.Rule", "RuleEdited.Content"},
	keepData:    {"ArtifactKept.Content"},
	keepProof: {
		"CredentialID", "PublicKey", "AuthenticatorData", "ClientData", "PasskeyUsed.Signature", "Preimage", "Nonce", "RPID", "PasskeyEnrolled.Origin",
		"PasskeyUsed.Origin", "PasskeyUsed.Enrolment", "PasskeyUsed.Gate", "ReleaseFollowed.Key", "Signed.Key", "Signed.Act", "Signed.Signature", "ReleaseTerms.Persons", "ObservationShared.Person",
	},
	keepRecord: {"MessageQuarantined.Stream", "MessageQuarantined.Subject", "MessageQuarantined.Header", "MessageQuarantined.Body"},
}

var keptByField = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for reason, fields := range keptFields {
		for _, f := range fields {
			all[f] = reason
		}
	}
	return all
})

// Kept returns why a field of a struct of this package is stored as it is, ""
// for one that is redacted.
func Kept(of reflect.Type, field string) string {
	if reason := keptByField()[of.Name()+"."+field]; reason != "" {
		return reason
	}
	return keptByField()[field]
}

// A Cleaner changes a text. The name is what the text is found under: the option
// before it in a list of arguments, or the key of a map; else it is "".
type Cleaner func(name, text string) string

// Redact returns a payload in which clean has changed every text: strings,
// bytes, raw JSON and the keys and values of maps, at any depth, but for the
// fields that Kept names. The payload given stays as it is, and is what is
// returned where clean changes nothing.
func Redact(p Payload, clean Cleaner) Payload {
	v := reflect.ValueOf(p)
	plan := textsOf(v.Type())
	if !plan.in(v, "", clean) {
		return p
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	plan.redact(out, "", clean)
	return out.Interface().(Payload)
}

// texts says where the texts of a type are.
type texts struct {
	kind   textKind
	fields []fieldTexts // of a struct
	of     *texts       // of a list, a map or a pointer
}

type fieldTexts struct {
	index int
	*texts
}

type textKind int

const (
	noText textKind = iota
	aString
	someBytes
	rawJSON
	aStruct
	aList
	aMap
	aPointer
	anything
)

var textPlans sync.Map // reflect.Type → *texts

// textsOf is kept for the type: a payload is redacted on the way of every event.
func textsOf(t reflect.Type) *texts {
	if known, ok := textPlans.Load(t); ok {
		return known.(*texts)
	}
	made, _ := textPlans.LoadOrStore(t, planTexts(t, func(of reflect.Type, field string) bool { return Kept(of, field) != "" }))
	return made.(*texts)
}

// planTexts leaves out the fields that stay as they are.
func planTexts(t reflect.Type, stays func(of reflect.Type, field string) bool) *texts {
	within := func(kind textKind) *texts {
		if of := planTexts(t.Elem(), stays); of.kind != noText || kind == aMap && t.Key().Kind() == reflect.String {
			return &texts{kind: kind, of: of}
		}
		return &texts{}
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return &texts{kind: rawJSON}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return &texts{kind: someBytes}
	}
	switch t.Kind() {
	case reflect.String:
		return &texts{kind: aString}
	case reflect.Interface:
		return &texts{kind: anything}
	case reflect.Slice:
		return within(aList)
	case reflect.Map:
		return within(aMap)
	case reflect.Pointer:
		return within(aPointer)
	case reflect.Struct:
		s := &texts{}
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() || stays(t, f.Name) {
				continue
			}
			if of := planTexts(f.Type, stays); of.kind != noText {
				s.kind, s.fields = aStruct, append(s.fields, fieldTexts{i, of})
			}
		}
		return s
	default:
		return &texts{}
	}
}

// in says whether clean changes anything in a value that is found under a name.
func (t *texts) in(v reflect.Value, name string, clean Cleaner) bool {
	switch t.kind {
	case aString:
		s := v.String()
		return s != "" && clean(name, s) != s
	case someBytes:
		s := string(v.Bytes())
		return s != "" && clean(name, s) != s
	case rawJSON:
		raw := v.Bytes()
		return len(raw) > 0 && !bytes.Equal(cleanJSON(raw, clean), raw)
	case aStruct:
		for _, f := range t.fields {
			if f.in(v.Field(f.index), "", clean) {
				return true
			}
		}
	case aList:
		for i := range v.Len() {
			if t.of.in(v.Index(i), cmp.Or(option(v, i), name), clean) {
				return true
			}
		}
	case aMap:
		for entry := v.MapRange(); entry.Next(); {
			key := entry.Key().String()
			if clean("", key) != key || t.of.in(entry.Value(), nameIn(v, key), clean) {
				return true
			}
		}
	case aPointer:
		return !v.IsNil() && t.of.in(v.Elem(), name, clean)
	case anything:
		return !v.IsNil() && textsOf(v.Elem().Type()).in(v.Elem(), name, clean)
	case noText:
	}
	return false
}

// option is the element before one of a list that is an option of a command.
func option(list reflect.Value, i int) string {
	if i == 0 {
		return ""
	}
	before := list.Index(i - 1)
	if before.Kind() == reflect.Interface {
		before = before.Elem()
	}
	if before.Kind() == reflect.String && strings.HasPrefix(before.String(), "-") {
		return before.String()
	}
	return ""
}

// nameIn is the name of what stands under a key of a map: the key, or for a
// value that stands beside its name, that one.
func nameIn(m reflect.Value, key string) string {
	if !strings.EqualFold(key, "value") {
		return key
	}
	for _, k := range []string{"name", "Name", "key", "Key"} {
		name := m.MapIndex(reflect.ValueOf(k).Convert(m.Type().Key()))
		if name.IsValid() && name.Kind() == reflect.Interface {
			name = name.Elem()
		}
		if name.IsValid() && name.Kind() == reflect.String {
			return name.String()
		}
	}
	return key
}

// redact changes a value in place; what it shares with others is copied first.
func (t *texts) redact(v reflect.Value, name string, clean Cleaner) {
	switch t.kind {
	case aString:
		v.SetString(clean(name, v.String()))
	case someBytes:
		if v.Len() > 0 {
			v.SetBytes([]byte(clean(name, string(v.Bytes()))))
		}
	case rawJSON:
		if v.Len() > 0 {
			v.SetBytes(cleanJSON(v.Bytes(), clean))
		}
	case aStruct:
		for _, f := range t.fields {
			f.redact(v.Field(f.index), "", clean)
		}
	case aList:
		if v.IsNil() {
			return
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range list.Len() {
			list.Index(i).Set(t.of.changed(v.Index(i), cmp.Or(option(v, i), name), clean))
		}
		v.Set(list)
	case aMap:
		if v.IsNil() {
			return
		}
		all := reflect.MakeMapWithSize(v.Type(), v.Len())
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			cleaned := reflect.ValueOf(clean("", key.String())).Convert(key.Type())
			for all.MapIndex(cleaned).IsValid() { // two secrets of one kind
				cleaned = reflect.ValueOf(cleaned.String() + "+").Convert(key.Type())
			}
			all.SetMapIndex(cleaned, t.of.changed(v.MapIndex(key), nameIn(v, key.String()), clean))
		}
		v.Set(all)
	case aPointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(t.of.changed(v.Elem(), name, clean))
			v.Set(to)
		}
	case anything:
		if !v.IsNil() {
			v.Set(textsOf(v.Elem().Type()).changed(v.Elem(), name, clean))
		}
	case noText:
	}
}

// changed is a redacted copy of a value.
func (t *texts) changed(v reflect.Value, name string, clean Cleaner) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	t.redact(to, name, clean)
	return to
}

// cleanJSON redacts the keys and the strings of a JSON text. What is no JSON is
// redacted as a text.
func cleanJSON(raw []byte, clean Cleaner) []byte {
	whole := clean("", string(raw))
	same := whole == string(raw)
	if same && bytes.IndexByte(raw, '\\') < 0 && !bytes.Contains(raw, []byte(`"-`)) {
		return raw
	}
	var value any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&value) != nil || dec.More() {
		return []byte(whole)
	}
	v := reflect.ValueOf(&value).Elem()
	if all := textsOf(v.Type()); all.in(v, "", clean) {
		all.redact(v, "", clean)
		if out, err := json.Marshal(value); err == nil {
			return out
		}
	}
	if !same && json.Valid([]byte(whole)) {
		return []byte(whole)
	}
	return raw
}
