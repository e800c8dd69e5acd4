package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/topics"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// maxCommands is how many commands the help of writ lists.
const maxCommands = 25

func TestHelpListsFewCommands(t *testing.T) {
	n := 0
	for _, c := range (&app{&client.Client{}}).tree().Commands() {
		if c.Hidden {
			continue
		}
		if n++; c.GroupID == "" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
	if n > maxCommands {
		t.Errorf("%d commands, at most %d", n, maxCommands)
	}
}

// oldCommands are the names that shipped before commands were grouped by job, with
// a call that each still takes.
var oldCommands = []string{
	"query --explain --domain go --limit 3 x", "rule search --kind phrase x", "search --type code --stage2-topk 3 x", "recall --category build x",
	"replay --from 1h --to 5m", "watch --type tool.decided", "diff s --between 1h", "session replay s --from 3", "emit t --data {}",
	"view verify rules", "whatif", "phase show", "phase invalidate plan --reason x", "accept", "passkey list", "observe x", "graph show X",
	"run --agent f x", "dispatch --agent f", "schedule list", "lint-stream f", "restore d", "benchmark", "tune", "version", "mcp",
	"hook claude", "statusline", "confine x",
}

func TestOlderNamesStillWork(t *testing.T) {
	for _, line := range oldCommands {
		words := strings.Fields(line)
		if err := known(words, false); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		found, _, err := (&app{&client.Client{}}).tree().Find(words)
		if err != nil || !found.HasParent() {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if now := client.Now(found); now != "" && !strings.HasPrefix(now, "--") {
			if err := known(strings.Fields(now), false); err != nil {
				t.Errorf("%s is said to be `writ %s` now: %v", line, now, err)
			}
		}
	}
}

// TestFlagsMeanTheSame: a flag of the dialect has one type wherever it is.
func TestFlagsMeanTheSame(t *testing.T) {
	types := map[string]string{"limit": "int", "since": "string", "until": "string", "project": "string", "session": "string", "json": "bool"}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for name, kind := range types {
			if f := c.Flags().Lookup(name); f != nil && f.Value.Type() != kind {
				t.Errorf("writ %s: --%s is %s, elsewhere %s", c.CommandPath(), name, f.Value.Type(), kind)
			}
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk((&app{&client.Client{}}).tree())
}

// findable answers all places where find looks.
func findable() *services {
	return &services{replies: map[string]any{
		schemas.SvcRetrieve:   json.RawMessage(`{"rules":[{"id":"GO-A-001","score":0.9,"tier":"inject","severity":"high","title":"A title that is rather long, so that it has to be broken","statement":"Do this and that, and then something else that makes the statement long."}],"mode":"standard","tier":"inject","embedder":"none","profile":"lexical"}`),
		schemas.SvcRuleSearch: schemas.RuleSearchReply{Total: 3},
		schemas.SvcArtifact:   schemas.ArtifactSearchReply{Method: "bm25", Artifacts: []schemas.ArtifactFound{{Path: "docs/retries.md", Lines: [2]int{1, 9}, Type: "documentation", Content: "# Retries\nPayments are retried three times with growing pauses between, and never for a refusal.\n"}}},
		schemas.SvcRecall:     schemas.RecallReply{Searched: 4, Hits: []schemas.Recalled{{ObservationID: "o1", Text: "the staging database is read-only on Sundays, and nobody knows why it is so", Score: 0.8}}},
		schemas.SvcStatus:     wideStatus(),
		schemas.SvcReplay: func(body string) any {
			if !strings.Contains(body, "WRIT_SESSIONS") {
				return schemas.ReplayPage{End: true}
			}
			var events []schemas.ReplayEvent
			for i, text := range []string{"add the retry", "approved", "Now force-push it"} {
				events = append(events, schemas.ReplayEvent{
					Position: schemas.Position{Stream: schemas.StreamSessions, Seq: uint64(i + 1)}, Type: "prompt.submitted", Time: time.Unix(1_800_000_000, 0),
					Aggregate: schemas.Aggregate{Kind: schemas.KindSession, ID: "s"}, Data: json.RawMessage(fmt.Sprintf(`{"prompt":%q}`, text)),
				})
			}
			return schemas.ReplayPage{Events: events, End: true}
		},
	}}
}

func TestFindAsksThePlacesThatAreMeant(t *testing.T) {
	for line, want := range map[string]string{
		"find retry":                              "writ.svc.retrieve writ.svc.artifact writ.svc.recall",
		"find --in rules retry":                   "writ.svc.retrieve",
		"find --in rules,memory retry":            "writ.svc.retrieve writ.svc.recall",
		"find --path docs retry":                  "writ.svc.artifact",
		"find --category build retry":             "writ.svc.recall",
		"find --kind phrase retry":                "writ.svc.rule.search",
		"find --in log force-push":                "writ.svc.replay",
		"find --in memory --in rules --limit 3 x": "writ.svc.retrieve writ.svc.recall",
	} {
		s := findable()
		r := s.run(t, "", strings.Fields(line)...)
		if r.code != 0 || len(s.asked) != len(strings.Fields(want)) {
			t.Errorf("%s: %+v, asked %v", line, r, s.asked)
		}
		for _, subject := range strings.Fields(want) {
			if s.asked[subject] == nil {
				t.Errorf("%s did not ask %s: %v", line, subject, s.asked)
			}
		}
	}
	s := findable()
	if s.run(t, "", "find", "--in", "files", "--limit", "3", "--type", "code,test", "x"); !strings.Contains(s.asked[schemas.SvcArtifact][0], `"stage2_topk":3`) || !strings.Contains(s.asked[schemas.SvcArtifact][0], `"types":["code","test"]`) {
		t.Errorf("%v", s.asked)
	}
	for line, want := range map[string]string{
		"find --in rulse x":                 "perhaps rules is meant",
		"find --in memory --path docs x":    "--path says nothing of memory",
		"find --category build --path docs": "find: TEXT is missing",
		"find --category build --path a x":  "no place knows",
	} {
		if r := findable().run(t, "", strings.Fields(line)...); r.code != client.ExitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// TestFindGoesOnWithoutAPlace: what cannot answer is said, and keeps nobody from
// what the others found.
func TestFindGoesOnWithoutAPlace(t *testing.T) {
	s := findable()
	delete(s.replies, schemas.SvcArtifact)
	if r := s.run(t, "", "find", "retry"); r.code != 0 || !strings.Contains(r.out, "GO-A-001") || !strings.Contains(r.err, "files: ") || strings.Contains(r.err, "search: ") {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "", "find", "--in", "files,rules", "retry"); r.code == 0 {
		t.Errorf("%+v", r)
	}
	r := s.run(t, "", "find", "retry", "--json")
	if strings.Count(r.out, "\n") != 3 || !strings.Contains(r.out, `{"in":"files","found":[]}`) {
		t.Errorf("%+v", r)
	}
}

func TestTheLogIsTheUsersToSearch(t *testing.T) {
	r := findable().run(t, "", "find", "--in", "log", "FORCE-push")
	if r.code != 0 || strings.Count(r.out, "\n") != 1 || !strings.Contains(r.out, "Now force-push it") {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"find", "--in", "log", "x"}, {"log"}} {
		r := findable().runIn(t, client.Env{Vars: []string{"CLAUDECODE=1"}}, "", args...)
		if r.code == 0 || !strings.Contains(r.err, "CLAUDECODE") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestLogShowsTheLatest(t *testing.T) {
	for line, want := range map[string]int{"log": 3, "log --limit 2": 2, "log --since 1h": 3, "log --session sess": 3, "replay --limit 2": 2} {
		s := findable()
		s.replies[schemas.SvcSessions] = schemas.SessionList{Sessions: []schemas.SessionSummary{{Session: "session-1"}}}
		if r := s.run(t, "", strings.Fields(line)...); r.code != 0 || strings.Count(r.out, "\n") != want {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if r := findable().run(t, "", "log", "--limit", "1"); !strings.Contains(r.out, "force-push") {
		t.Errorf("not the latest: %+v", r)
	}
}

// TestATextIsFoundAsItWasSaid: events come with some letters escaped.
func TestATextIsFoundAsItWasSaid(t *testing.T) {
	const said = `cd x && make > "O<ut>" \ end`
	data, err := json.Marshal(map[string]string{"prompt": said + "\nthen"})
	if err != nil {
		t.Fatal(err)
	}
	s := &services{replies: map[string]any{schemas.SvcReplay: pages(map[schemas.Stream][]schemas.ReplayEvent{schemas.StreamSessions: {
		{Position: schemas.Position{Stream: schemas.StreamSessions, Seq: 1}, Type: "prompt.submitted", Data: data},
	}})}}
	for _, text := range []string{said, "x && m", `"o<UT>" \`, "end\nthen"} {
		if r := s.run(t, "", "find", "--in", "log", text); r.code != 0 || strings.Count(r.out, "\n") != 1 || strings.Contains(r.out, "No event") {
			t.Errorf("%q: %+v", text, r)
		}
	}
}

func TestANegativeNumberOfEventsIsRefused(t *testing.T) {
	for _, line := range []string{"log --limit -1", "find --in log --limit -1 x", "replay --limit -2"} {
		if r := findable().run(t, "", strings.Fields(line)...); r.code != 2 || !strings.Contains(r.err, "is no number of events") {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// TestNoPrefixIsSaidTwice: the program's name stands once before a message.
func TestNoPrefixIsSaidTwice(t *testing.T) {
	for _, line := range []string{"statsu", "rule shwo X", "approve plans", "rule --nope", "log --diff", "find", "mode set wrok", "help nope", "session show"} {
		r := (&services{}).run(t, "", strings.Fields(line)...)
		if !strings.HasPrefix(r.err, "writ: ") || strings.HasPrefix(r.err, "writ: writ") {
			t.Errorf("%s: %s", line, r.err)
		}
	}
}

func TestWhatMayBeMeantIsNamed(t *testing.T) {
	notFound := func(text string) error { return &bus.ServiceError{Code: schemas.CodeNotFound, Text: text} }
	s := &services{replies: map[string]any{
		schemas.SvcRule:     notFound("there is no rule \"GO-ERR-WRAP-01\". `writ rule list` shows them."),
		schemas.SvcRules:    schemas.RuleList{Rules: []schemas.RuleSummary{{ID: "GO-ERR-WRAP-001"}, {ID: "PY-X-001"}}},
		schemas.SvcSession:  notFound("there is no session \"nightly-2\". `writ session list` shows them."),
		schemas.SvcSessions: schemas.SessionList{Sessions: []schemas.SessionSummary{{Session: "nightly-1"}}},
	}}
	for line, want := range map[string]string{
		"rule show GO-ERR-WRAP-01":  "Did you mean GO-ERR-WRAP-001?",
		"session show nightly-2":    "Did you mean nightly-1?",
		"session list --porject .":  "there is no flag --porject, perhaps --project is meant",
		"sesion list":               "perhaps session is meant",
		"session lst":               "perhaps list is meant",
		"mode set wrok":             "perhaps work is meant",
		"approve tets":              "perhaps tests is meant",
		"help gatse":                "Did you mean: gates",
		"agent schedule cancle s1":  "perhaps cancel is meant",
		"log --type tool.decidd":    "perhaps tool.decided is meant",
		"log -f --type tool.decidd": "perhaps tool.decided is meant",
		"lgo":                       "perhaps log is meant",
		"replya":                    "perhaps replay is meant",
		"memory halth":              "perhaps health is meant",
		"session phase invalidte x": "perhaps invalidate is meant",
	} {
		if r := s.run(t, "", strings.Fields(line)...); r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// TestEverythingFits renders what people look at in narrow and wide terminals. A
// word that is wider than the line stays whole, so that it can be copied.
func TestEverythingFits(t *testing.T) {
	lines := []string{"--help", "help topics", "status", "session list", "session show 5e2c0000-1111-4222-8333-444455556666", "session audit x", "log", "log --data", "find retry", "find --in log retry", "rule list", "statsu", "approve plans"}
	for _, topic := range topics.All() {
		lines = append(lines, "help "+topic.Name)
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if _, path, below := strings.Cut(c.CommandPath(), " "); below {
			lines = append(lines, path+" --help")
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk((&app{&client.Client{}}).tree())
	for _, width := range []int{40, 80, 120}[:integration.Rounds(1, 3)] { // the narrowest first
		for _, line := range lines {
			s := findable()
			s.replies[schemas.SvcSessions], s.replies[schemas.SvcSession], s.replies[schemas.SvcRules] = wideSessions(), wideSession(), wideRules()
			r := s.runIn(t, client.Env{Columns: width}, "", strings.Fields(line)...)
			for shown := range strings.Lines(r.out + r.err) {
				shown = strings.TrimSuffix(shown, "\n")
				if client.Columns(shown) > width && len(strings.Fields(shown)) > 1 {
					t.Errorf("writ %s in %d columns has %d:\n%s", line, width, client.Columns(shown), shown)
				}
			}
		}
	}
}

func wideStatus() schemas.Status {
	return schemas.Status{
		Version: "1.2.3", PID: 12345, DataDir: "/home/somebody/.local/state/writ", Format: 3, URL: "nats://127.0.0.1:45678", Durability: "every write is synced before it is acknowledged",
		Streams: []schemas.StreamStatus{{Name: schemas.StreamSessions, Messages: 1234567, Last: 1234567, Bytes: 1 << 30}}, Confine: "commands that nobody can judge run confined by the kernel",
		Views: []schemas.ViewStatus{{Name: "sessions", State: "live", Quarantined: 2, Error: "the disk that the view is on is full, and nothing more can be written to it"}}, Warnings: []string{"the log is on a disk that has almost no room left: 12 MiB of 500 GiB"},
	}
}

func wideSessions() schemas.SessionList {
	var list schemas.SessionList
	for i := range 3 {
		list.Sessions = append(list.Sessions, schemas.SessionSummary{
			Session: fmt.Sprintf("5e2c000%d-1111-4222-8333-444455556666", i), Host: "claude", Project: "/home/somebody/src/a-project-with-a-long-name/and/a/folder", Mode: "conversation", Phase: "implementation",
			LastSeen: time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC), Refusals: 12, Events: 34567, Ended: i == 2,
		})
	}
	return list
}

func wideSession() schemas.SessionView {
	v := schemas.SessionView{SessionSummary: wideSessions().Sessions[0], Model: "a-model-with-a-name-20260101", Tokens: 12345, Next: "The plan waits for the user: approve it with `writ approve`, or in the dashboard, or by answering approved in the conversation."}
	v.Gates = []schemas.SessionGate{{Gate: "plan", State: "approved", Channel: "terminal"}, {Gate: "tests", State: "none"}}
	v.Shown, v.Written = []string{"GO-ERR-WRAP-001"}, []string{"a/path/of/a/file/that/was/written.go"}
	v.Audit = &schemas.SessionAudited{Shown: []string{"A", "B"}, Denied: map[string]int{"ENF-GATE-PLAN": 3, "ENF-GATE-TESTS": 4}, Untested: []string{"a/b.go", "a/path/of/a/file/that/was/written.go"}}
	return v
}

func wideRules() schemas.RuleList {
	return schemas.RuleList{Rules: []schemas.RuleSummary{
		{ID: "GO-ERR-WRAP-001", Severity: "medium", Domain: "go", Title: "Wrap errors once per layer with what was attempted, and let callers ask for the cause"},
		{ID: "ENTERPRISE-DOMAIN-LONG-001", Severity: "critical", Title: "x"},
	}}
}

// TestFaultsNameTheCommand: whatever a command is called in its own room, what is
// wrong with it begins with the words that were typed, once.
func TestFaultsNameTheCommand(t *testing.T) {
	for line, want := range map[string]string{
		"memory add":                   "writ: memory add: there is nothing",
		"observe":                      "writ: observe: there is nothing",
		"agent lint /nowhere/at/all":   "writ: agent lint: ",
		"log emit":                     "writ: log emit: TYPE is missing",
		"rule show A B":                `writ: rule show: "B" is one argument too many`,
		"team join nats://127.0.0.1:1": "writ: team join: --creds is missing",
		"log view rebuild":             "writ: log view rebuild: NAME is missing",
		"log --since yesterday":        "such as 15m or 2d",
		"agent run --agent a.json":     "writ: agent run: MESSAGE is missing",
		"log export --format xml":      "writ: log export: there is no format",
	} {
		if r := (&services{}).run(t, "", strings.Fields(line)...); r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", line, r)
		}
	}
}
