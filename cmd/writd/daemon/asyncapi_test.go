package daemon

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/micro"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/schemas"
)

var updateAsyncAPI = flag.Bool("update-asyncapi", false, "write bus/asyncapi.json anew")

const (
	asyncAPIFile  = "../../../bus/asyncapi.json"
	referenceFile = "../../../bus/help/reference.md"
)

// The document of the bus says what a running daemon tells of itself in discovery,
// and what the schemas of events are. After a change:
//
//	go test ./cmd/writd/daemon -run AsyncAPI -update-asyncapi
func TestAsyncAPIIsCurrent(t *testing.T) {
	w := newWorld(t)
	answer, err := w.admin.Request(t.Context(), bus.Request{Subject: "$SRV.INFO." + serviceName})
	if err != nil {
		t.Fatal(err)
	}
	var info micro.Info
	if err := json.Unmarshal(answer.Body, &info); err != nil {
		t.Fatal(err)
	}
	if len(answer.Body) > 512<<10 {
		t.Errorf("what discovery answers has %d bytes", len(answer.Body))
	}
	want, err := json.MarshalIndent(asyncAPI(t, info.Endpoints), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	for file, want := range map[string][]byte{asyncAPIFile: want, referenceFile: reference(t, want)} {
		if *updateAsyncAPI {
			if err := os.WriteFile(filepath.FromSlash(file), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		is, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(is, want) {
			t.Errorf("%s is not what the daemon serves: write it anew with -update-asyncapi, and read the difference", file)
		}
	}
}

const referenceHead = `# Services and events

Every service of the daemon with its fields, and every event of the log: what ` + "`bus/asyncapi.json`" + ` says in full, for people.

A field with a question mark may be left out. [` + "`writ help bus`" + `](bus.md) says how to connect and who may ask what; an unknown field of a request is an error. This page is written by ` + "`go test ./cmd/writd/daemon -run AsyncAPI -update-asyncapi`" + `.
`

// reference is the document as two tables.
func reference(t *testing.T, document []byte) []byte {
	t.Helper()
	type payload struct {
		Properties map[string]any
		Required   []string
	}
	var read struct {
		Channels map[string]struct {
			Address  string
			Messages map[string]struct{ Payload payload }
			Roles    []string `json:"x-writ-roles"`
		}
	}
	if err := json.Unmarshal(document, &read); err != nil {
		t.Fatal(err)
	}
	fields := func(p payload) string {
		names := slices.Sorted(maps.Keys(p.Properties))
		for i, name := range names {
			if !slices.Contains(p.Required, name) {
				names[i] += "?"
			}
		}
		return cmp.Or(strings.Join(names, ", "), "–")
	}
	var services, events []string
	for name, c := range read.Channels {
		if request, service := c.Messages["request"]; service {
			services = append(services, fmt.Sprintf("| `%s` | %s | %s | %s |\n", c.Address, fields(request.Payload), fields(c.Messages["reply"].Payload), strings.Join(c.Roles, ", ")))
			continue
		}
		latest := fmt.Sprintf("v%d", len(c.Messages))
		if _, known := c.Messages[latest]; !known {
			t.Errorf("%s: no message %s among %v", name, latest, slices.Sorted(maps.Keys(c.Messages)))
		}
		_, kind, _ := strings.Cut(c.Address, "{id}.")
		events = append(events, fmt.Sprintf("| `%s` | %s |\n", kind, fields(c.Messages[latest].Payload)))
	}
	slices.Sort(services)
	slices.Sort(events)
	return []byte(referenceHead + "\n## Services\n\n| subject | request | reply | who may ask |\n|---|---|---|---|\n" + strings.Join(services, "") +
		"\n## Events\n\n| type | fields of its data |\n|---|---|\n" + strings.Join(events, ""))
}

type object = map[string]any

func ref(path ...string) object {
	for i := range path {
		path[i] = strings.ReplaceAll(path[i], "/", "~1")
	}
	return object{"$ref": "#/" + strings.Join(path, "/")}
}

// asyncAPI describes the daemon as AsyncAPI 3.0 sees an application: it receives
// requests and replies, and sends events.
func asyncAPI(t *testing.T, endpoints []micro.EndpointInfo) object {
	t.Helper()
	channels, operations := object{}, object{}
	slices.SortFunc(endpoints, func(a, b micro.EndpointInfo) int { return cmp.Compare(a.Subject, b.Subject) })
	for _, e := range endpoints {
		channels[e.Name], operations[e.Name] = service(t, e)
	}
	for _, kind := range schemas.Types() {
		name := strings.ReplaceAll(string(kind), ".", "_")
		channels[name] = event(t, kind)
		operations[name] = object{"action": "send", "channel": ref("channels", name)}
	}
	return object{
		"asyncapi": "3.0.0",
		"info": object{
			"title": "Writ", "version": "1", "license": object{"name": "Apache-2.0"},
			"description": "The daemon's services and the log, over NATS. `writ help bus` explains it.",
		},
		"defaultContentType": "application/json",
		"servers": object{"daemon": object{
			"host": "127.0.0.1:4222", "protocol": "nats", "security": []object{ref("components", "securitySchemes", "role")},
			"description": "The port is another at every start: `writ status --json` says it.",
		}},
		"channels": channels, "operations": operations,
		"components": object{
			"securitySchemes": object{"role": object{"type": "userPassword", "description": "One of the files in the folder credentials of the data folder."}},
			"schemas":         object{"eventHeaders": eventHeaders()},
		},
	}
}

func service(t *testing.T, e micro.EndpointInfo) (channel, operation object) {
	t.Helper()
	var roles []string
	for _, role := range embedded.Roles() {
		asks, _, all, _ := rights.Of(role, "x")
		if !all && slices.ContainsFunc(asks, func(pattern string) bool { return server.SubjectMatchesFilter(e.Subject, pattern) }) {
			roles = append(roles, string(role))
		}
	}
	messages := object{}
	for name, key := range map[string]string{"request": bus.MetadataRequest, "reply": bus.MetadataReply} {
		payload := json.RawMessage(e.Metadata[key])
		if len(payload) == 0 {
			t.Errorf("%s does not say its %s", e.Subject, name)
			payload = json.RawMessage(`{}`)
		}
		messages[name] = object{"payload": payload}
	}
	at := ref("channels", e.Name)
	return object{"address": e.Subject, "messages": messages, "x-writ-roles": roles}, object{
		"action": "receive", "channel": at, "messages": []object{ref("channels", e.Name, "messages", "request")},
		"reply": object{"channel": at, "messages": []object{ref("channels", e.Name, "messages", "reply")}},
	}
}

func event(t *testing.T, kind schemas.Type) object {
	t.Helper()
	messages := object{}
	for version := 1; version <= kind.Version(); version++ {
		raw, err := schemas.JSONSchema(kind, version)
		if err != nil {
			t.Fatal(err)
		}
		var payload object
		if err := json.Unmarshal(raw, &payload); err != nil {
			t.Fatal(err)
		}
		delete(payload, "$schema")
		delete(payload, "$id")
		messages["v"+string(rune('0'+version))] = object{"headers": ref("components", "schemas", "eventHeaders"), "payload": payload}
	}
	return object{
		"address":    "writ." + string(kind.Kind()) + ".{id}." + string(kind),
		"parameters": object{"id": object{"description": "The aggregate's id; a byte other than a letter, a digit, - and _ is = and two hexadecimal digits."}},
		"messages":   messages, "x-writ-stream": kind.Kind().Stream(),
	}
}

func eventHeaders() object {
	properties := object{}
	for _, name := range []string{
		schemas.HeaderID, schemas.HeaderType, schemas.HeaderSource, schemas.HeaderTime, schemas.HeaderSubject, schemas.HeaderSpecVersion, schemas.HeaderWritVersion,
		schemas.HeaderCausationID, schemas.HeaderCorrelationID, schemas.HeaderActor, schemas.HeaderContentType, schemas.HeaderMsgID,
	} {
		properties[name] = object{"type": "string"}
	}
	return object{"type": "object", "properties": properties, "required": []string{
		schemas.HeaderID, schemas.HeaderType, schemas.HeaderTime, schemas.HeaderSubject, schemas.HeaderSpecVersion, schemas.HeaderWritVersion,
	}}
}
