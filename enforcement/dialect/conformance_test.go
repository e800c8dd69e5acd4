package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writbus/writ/test/conformance"
)

type conformanceCase struct {
	ID           string    `json:"id"`
	Capabilities *[]string `json:"capabilities"`
	Caller       *[]string `json:"caller"`
	Callee       *[]string `json:"callee"`
	Command      string    `json:"command"`
	Verdict      string    `json:"verdict"`
	Note         string    `json:"note"`
	Delegation   bool      `json:"-"`
}

func (c *conformanceCase) UnmarshalJSON(data []byte) error {
	type plain conformanceCase
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	_, c.Delegation = keys["callee"]
	return json.Unmarshal(data, (*plain)(c))
}

const workspace = "/home/ada/project"

// request splits a command line as the scanner does.
func request(command string) Request {
	verb, args := cutWord(strings.TrimPrefix(command, "/"))
	return Request{Verb: verb, Args: args, Workspace: workspace}
}

// grantOf is the grant of a list that may be absent or be refused at loading.
func grantOf(list *[]string) Grant {
	if list == nil {
		return Grant{}
	}
	g, err := ParseGrant(*list)
	if err != nil {
		return Grant{}
	}
	return g
}

func TestConformanceCapabilities(t *testing.T) {
	conformance.Run(t, "capabilities", func(t *testing.T, c conformanceCase) {
		grant := grantOf(c.Capabilities)
		if c.Delegation {
			grant = grantOf(c.Caller).And(grantOf(c.Callee))
		}
		d := grant.Check(request(c.Command))
		if d.Verdict.String() != c.Verdict {
			t.Errorf("%s: %s %q, expected %s (%s)", c.Command, d.Verdict, d.Reason, c.Verdict, c.Note)
		}
	})
}
