package dialect

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fullConstitution = `{"name": "reviewer", "role": "r", "goal": "g", "model": "m", "rules": ["be kind"],
	"capabilities": ["/exec cmd=git", "/mem read"],
	"advisor": {"model": "a", "mode": "gate", "max_redirects": 1, "malformed_halts": false},
	"delegation": {"max_depth": 1, "allowed_callees": ["x"], "denied_callees": ["y"], "max_tokens": 100}}`

func TestConstitution(t *testing.T) {
	c, err := ParseConstitution("a.json", []byte(fullConstitution))
	if err != nil {
		t.Fatal(err)
	}
	if c.Grant.Check(request("/exec git log")).Verdict != Allow || c.Grant.Check(request("/exec rm x")).Verdict != Deny {
		t.Error("the grant is another one")
	}
	c.Grant = Grant{}
	want := Constitution{
		Name: "reviewer", Role: "r", Goal: "g", Model: "m", Rules: []string{"be kind"}, Capabilities: []string{"/exec cmd=git", "/mem read"},
		Advisor:    Advisor{Model: "a", Mode: AdvisorGate, MaxRedirects: 1},
		Delegation: Delegation{MaxDepth: 1, AllowedCallees: []string{"x"}, DeniedCallees: []string{"y"}, MaxTokens: 100},
	}
	if d := cmp.Diff(want, c, cmp.AllowUnexported(Grant{})); d != "" {
		t.Error(d)
	}
	least, err := ParseConstitution("a.json", []byte(`{"name":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	if least.Advisor.Mode != AdvisorOff || !least.Advisor.MalformedHalts || least.Delegation.MaxDepth != DefaultDepth || least.Capabilities != nil {
		t.Errorf("the defaults are %+v", least)
	}
	if least.Grant.Check(request("/list")).Verdict != Deny || least.Grant.Check(request("/help")).Verdict != Allow {
		t.Error("absent capabilities are not none but help")
	}
}

func TestConstitutionErrors(t *testing.T) {
	for text, reason := range map[string]string{
		``: "an object", `[]`: "an object", `{"name":"a"} x`: "something follows", `{"name":"a"`: "no JSON", `{"name":"a",}`: "no JSON",
		`{}`: "name: ", `{"name":"a b"}`: "name: ", `{"name":1}`: "name: a string is needed, not a number", `{"name":null}`: "name: a string is needed, not null",
		`{"name":"a","nam":1}`: "nam: unknown key", `{"name":"a","Name":"b"}`: "Name: unknown key", `{"name":"a","name":"b"}`: "name: stands twice",
		`{"name":"a","rules":"x"}`: "rules: an array", `{"name":"a","rules":[1]}`: "rules[0]: a string", `{"name":"a","capabilities":null}`: "capabilities: an array",
		`{"name":"a","capabilities":["/list","/frob"]}`: "capabilities[1]: ", `{"name":"a","capabilities":["/exec host=x"]}`: "capabilities[0]: ",
		`{"name":"a","advisor":{"mode":"x"}}`: "advisor.mode: ", `{"name":"a","advisor":{"x":1}}`: "advisor.x: unknown key", `{"name":"a","advisor":[]}`: "advisor: an object",
		`{"name":"a","advisor":{"max_redirects":1.5}}`: "advisor.max_redirects: a whole", `{"name":"a","advisor":{"malformed_halts":"no"}}`: "advisor.malformed_halts: a boolean",
		`{"name":"a","delegation":{"max_depth":-1}}`: "delegation.max_depth: a whole", `{"name":"a","delegation":{"max_depth":"1"}}`: "delegation.max_depth: a whole",
		`{"name":"a","delegation":{"max_tokens":1e99}}`: "delegation.max_tokens: a whole", `{"name":"a","delegation":{"allowed_callees":[null]}}`: "delegation.allowed_callees[0]: a string",
		"{\"name\":\"a\xff\"}": "no UTF-8", `{"name":"a","delegation":{"denied_callees":{}}}`: "delegation.denied_callees: an array",
	} {
		_, err := ParseConstitution("agents/a.json", []byte(text))
		if !errors.Is(err, ErrConstitution) || !strings.Contains(err.Error(), "agents/a.json: ") || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, expected %q", text, err, reason)
		}
	}
}

func FuzzConstitution(f *testing.F) {
	f.Add([]byte(fullConstitution))
	f.Add([]byte(`{"name":"a","capabilities":["*"],"x":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConstitution("f", data)
		if err != nil {
			if !errors.Is(err, ErrConstitution) || !strings.Contains(err.Error(), "f: ") {
				t.Fatal(err)
			}
			return
		}
		if c.Name == "" {
			t.Fatal("no name")
		}
		if len(c.Capabilities) == 0 && c.Grant.Check(Request{Verb: "list"}).Verdict == Allow {
			t.Fatal("no capabilities, and list is allowed")
		}
	})
}
