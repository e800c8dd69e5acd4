package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

var (
	exampleRule = regexp.MustCompile(`\b[A-Z]{2,}(?:-[A-Z]+)+-\d{3}\b`)
	exampleFlag = regexp.MustCompile(`(^|\s)(--[a-z][a-z-]*)`)
)

// ownRules are rules of an example's user, which no corpus ships.
var ownRules = map[string]bool{"GO-CTX-FIRST-001": true, "GO-LOOP-DEFER-001": true, "GO-OLD-001": true}

// TestExamplesHold: what an example names is there, so that it can be run as it
// is printed: the command, its flags and the rules.
func TestExamplesHold(t *testing.T) {
	shipped := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", "..", "..", "retrieval", "corpus"), func(path string, _ os.DirEntry, err error) error {
		shipped[strings.TrimSuffix(filepath.Base(path), ".md")] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	root := (&app{&client.Client{}}).tree()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			for _, id := range exampleRule.FindAllString(line, -1) {
				if !shipped[id] && !ownRules[id] && !strings.HasPrefix(id, "ENF-") {
					t.Errorf("%s: no rule %s is shipped: %s", c.CommandPath(), id, line)
				}
			}
			for part := range strings.SplitSeq(line, "|") {
				words := strings.Fields(part)
				if len(words) < 2 || words[0] != "writ" {
					continue
				}
				named, _, err := root.Find(words[1:])
				if err != nil {
					t.Errorf("%s: %v: %s", c.CommandPath(), err, line)
					continue
				}
				if named.DisableFlagParsing {
					continue // another program reads its flags
				}
				for _, flag := range exampleFlag.FindAllStringSubmatch(part, -1) {
					name := strings.TrimPrefix(flag[2], "--")
					if named.Flags().Lookup(name) == nil && named.InheritedFlags().Lookup(name) == nil {
						t.Errorf("%s: %s has no flag --%s: %s", c.CommandPath(), named.CommandPath(), name, line)
					}
				}
			}
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(root)
}

// TestSessionsByTheBeginningOfTheirID: an id may be shortened as long as only one
// session begins with it, and carry the dots with which it was cut.
func TestSessionsByTheBeginningOfTheirID(t *testing.T) {
	list := schemas.SessionList{Sessions: []schemas.SessionSummary{
		{Session: "5e2c0000-1111-4222-8333-444455556666"}, {Session: "5e2d0000-1111-4222-8333-444455556666"}, {Session: "5e2dd"},
	}}
	for given, want := range map[string]string{
		"5e2c":                                 "5e2c0000-1111-4222-8333-444455556666",
		"5e2c…":                                "5e2c0000-1111-4222-8333-444455556666",
		"5e2d0…":                               "5e2d0000-1111-4222-8333-444455556666",
		"5e2dd":                                "5e2dd",
		"5e2":                                  "5e2",
		"nobody":                               "nobody",
		"5e2c0000-1111-4222-8333-444455556666": "5e2c0000-1111-4222-8333-444455556666",
	} {
		s := &services{replies: map[string]any{schemas.SvcSessions: list, schemas.SvcReplay: schemas.ReplayPage{End: true}}}
		r := s.run(t, "", "session", "replay", given)
		if asked := strings.Join(s.asked[schemas.SvcReplay], ""); !strings.Contains(asked, `"`+want+`"`) {
			t.Errorf("%s: asked %s: %+v", given, asked, r)
		}
	}
	s := &services{replies: map[string]any{schemas.SvcSessions: list}}
	if r := s.run(t, "", "session", "replay", "5e2d"); r.code != 1 || !strings.Contains(r.err, "several sessions begin with 5e2d") {
		t.Errorf("%+v", r)
	}
}

// TestWrongWordsAreNamed: an error says what was wrong, and what may be meant.
func TestWrongWordsAreNamed(t *testing.T) {
	s := &services{}
	for line, want := range map[string]string{
		"statsu":                          `there is no command "statsu", perhaps status is meant`,
		"rule shwo X":                     `there is no command "shwo", perhaps show is meant`,
		"qqqq":                            "there is no command \"qqqq\". `writ --help`",
		"phase invalidate foo --reason x": `"foo" is none of plan, tests`,
		"approve plans":                   `"plans" is none of plan, tests, implementation`,
		"replay --speed abc":              `invalid argument "abc" for "--speed" flag. `,
		"observe -":                       "there is nothing to observe",
		"mode work":                       "there is no command \"work\", perhaps `writ mode set work` is meant",
		"session show":                    "no session is named. Name one (`writ session list` shows them)",
	} {
		r := s.run(t, " \n", strings.Fields(line)...)
		if r.code != client.ExitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", line, r)
		}
	}
}
