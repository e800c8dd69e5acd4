package redact

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

// planted are secrets as they turn up, with the part that must not be stored.
// They are put together here, so that this file holds none.
var planted = []struct{ text, secret string }{
	{"the key " + secret + " is", secret},
	{"push with " + githubToken + " now", githubToken},
	{"jwt " + jwt, jwt},
	{"Authorization: Bearer 7f3kQz81mWv0Tb5x", "7f3kQz81mWv0Tb5x"},
	{`password = "kx9-Trombone"`, "kx9-Trombone"},
	{"api_key: 7f3kQz81mWv0Tb5x", "7f3kQz81mWv0Tb5x"},
	{"-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nq7Zk2pXw4LmR8tYv1NcE6hGdB3sJ9oFi\n-----END " + "PRIVATE KEY-----", "q7Zk2pXw4LmR8tYv1NcE6hGdB3sJ9oFi"},
}

var (
	githubToken = "ghp_" + "a8Fk2LmQ9xRt5Vw1Yz3Bc6De0Gh4Jn" + "2xkgXN"
	jwt         = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiI0MiIsIm4iOjd9." + "q3Jv0Xw9zTnL5rQbD8sKf2Yh"
)

// Into every key and value of every payload that is not kept by name and reason
// a secret is put, and none is in what would be stored.
func TestNoSecretIsStored(t *testing.T) {
	forms := slices.Clone(planted)
	for _, c := range inContext {
		forms = append(forms, struct{ text, secret string }{strings.ReplaceAll(c.text, "§", c.secret), c.secret})
	}
	for n, typ := range schemas.Types() {
		for i, p := range forms {
			if i >= len(planted) && i%8 != n%8 {
				continue // each of them in an eighth of the types
			}
			empty, err := schemas.DecodePayload(typ, typ.Version(), json.RawMessage("{}"))
			if err != nil {
				t.Fatal(err)
			}
			v := reflect.New(reflect.TypeOf(empty)).Elem()
			plant(v, p.text)
			stored, err := json.Marshal(Payload(v.Interface().(schemas.Payload)))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(stored), p.secret) {
				t.Errorf("%s stores %q: %s", typ, p.secret, stored)
			}
			if twice, err := json.Marshal(Payload(Payload(v.Interface().(schemas.Payload)))); err != nil || string(twice) != string(stored) {
				t.Errorf("%s: redacted twice it is %s, %v", typ, twice, err)
			}
		}
	}
}

// plant puts a text into every value of a payload but those that are kept.
func plant(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"list": []any{text}, text: true}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(v.Elem(), text)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			// Bytes stand in base64 in a body: they are read back as they are.
			v.SetBytes([]byte(text))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(v.Index(0), text)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		plant(value, text)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if schemas.Kept(v.Type(), v.Type().Field(i).Name) == "" {
				plant(v.Field(i), text)
			}
		}
	default:
	}
}

// What a value is may be told by the name alone under which it is found.
func TestSecretsAreToldByTheirKey(t *testing.T) {
	const secret = "kx9-Trombone-471"
	for _, c := range []struct {
		fields map[string]any
		taken  bool
	}{
		{map[string]any{"password": secret}, true},
		{map[string]any{"env": map[string]any{"DB_PASSWORD": secret}}, true},
		{map[string]any{"env": map[string]string{"DB_PASSWORD": secret}}, true},
		{map[string]any{"env": []any{map[string]any{"name": "DB_PASSWORD", "value": secret}}}, true},
		{map[string]any{"argv": []any{"login", "--password", secret}}, true},
		{map[string]any{"argv": []string{"login", "--password", secret}}, true},
		{map[string]any{"headers": map[string]any{"Authorization": "Basic " + secret}}, true},
		{map[string]any{"headers": map[string][]string{"X-Api-Key": {"n", secret}}}, true},
		{map[string]any{"raw": json.RawMessage(`{"args":["--password","` + secret + `"],"n":1}`)}, true},
		{map[string]any{"raw": json.RawMessage(`{"pass\u0077ord":"` + secret + `"}`)}, true},
		{map[string]any{"instrument": secret, "argv": []any{"--name", secret}}, false},
	} {
		stored, err := json.Marshal(Payload(schemas.HookObserved{Fields: c.fields}))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(stored), secret) == c.taken {
			t.Errorf("%s", stored)
		}
	}
	// Two secrets of one kind are two entries.
	details := Payload(schemas.CommandFinished{Details: map[string]string{githubToken: "a", githubToken[:39] + "O": "b", "password": "kx9-Trombone"}}).(schemas.CommandFinished).Details
	if len(details) != 3 || details["[redacted:github-token]"] == "" || details["[redacted:github-token]+"] == "" || details["password"] != "[redacted:password]" {
		t.Errorf("%v", details)
	}
}

func TestNoSecretInBytes(t *testing.T) {
	for _, p := range planted {
		o := Payload(schemas.ObservationRecorded{Original: []byte(p.text)}).(schemas.ObservationRecorded)
		if strings.Contains(string(o.Original), p.secret) {
			t.Errorf("%q stays", o.Original)
		}
	}
}

// What is no secret stays as it is.
func TestTextStays(t *testing.T) {
	for _, text := range []string{
		`password = os.environ["X"]`, `password = "changeme"`, `api_key: ${API_KEY}`, "Bearer <token>", "token: 0198c0de-0000-7000-8000-0000000a1f7b",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "commit 4a416244a41624dbe6e5ceea1e616538ec9144f5",
		"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
		"AKIAIOSFODNN7EXAMPLE", "[redacted:password]", "", "short", "The password field is required and has 12 characters.",
	} {
		if got := Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func BenchmarkPayload(b *testing.B) {
	decided := schemas.ToolDecided{
		Tool: "Bash", ToolUseID: "toolu_01", Command: "go test ./enforcement/... -run TestDecide -count=1", Verdict: "deny", Rule: "ENF-GATE-PLAN",
		Reason: strings.Repeat("The plan is not approved yet: write plan.md first. ", 8), Mode: "work", Phase: "planning",
	}
	prompt := schemas.PromptSubmitted{Prompt: strings.Repeat("Please read the token handling in auth.go: it says secret = x, and mend the tests. ", 120)}
	for name, p := range map[string]schemas.Payload{"decision": decided, "prompt of 10 KB": prompt} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Payload(p)
			}
		})
	}
}
