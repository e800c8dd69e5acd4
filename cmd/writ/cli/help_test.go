package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/topics"
	"github.com/writbus/writ/cmd/writ/cli/client"
)

func TestHelpShowsTopicsAndCommands(t *testing.T) {
	for _, c := range []struct {
		args []string
		out  []string // in what is printed
		err  string
		code int
	}{
		{[]string{"help"}, []string{"Set up:", "Topics to read", "getting-started"}, "", client.ExitOK},
		{[]string{"help", "topics"}, []string{"To begin:", "  gates", "troubleshooting"}, "", client.ExitOK},
		{[]string{"help", "gates"}, []string{"Modes, phases and approvals", "ENF-GATE-DRIFT"}, "", client.ExitOK},
		{[]string{"help", "Getting", "Started"}, []string{"Getting started"}, "", client.ExitOK},
		{[]string{"help", "memory"}, []string{"Record what was observed, and look after it", "More to read: writ help observations"}, "", client.ExitOK},
		{[]string{"help", "rule", "import"}, []string{"--prune", "writ help corpus"}, "", client.ExitOK},
		{[]string{"help", "help"}, []string{"writ help topics"}, "", client.ExitOK},
		{[]string{"mode", "set", "--help"}, []string{"--orchestrator", "More to read: writ help gates"}, "", client.ExitOK},
		{[]string{"help", "gate"}, nil, "Did you mean: gates", client.ExitUsage},
		{[]string{"help", "qery"}, nil, "Did you mean: query", client.ExitUsage},
		{[]string{"help", "fingerprint"}, nil, "Did you mean: gates", client.ExitUsage}, // it is mentioned there
		{[]string{"help", "rule", "impotr"}, nil, "no command and no topic", client.ExitUsage},
		{[]string{"help", "zzzzz"}, nil, "`writ help topics`", client.ExitUsage},
	} {
		got := (&services{}).run(t, "", c.args...)
		if got.code != c.code || !strings.Contains(got.err, c.err) {
			t.Errorf("%v: %d %s", c.args, got.code, got.err)
		}
		for _, want := range c.out {
			if !strings.Contains(got.out, want) {
				t.Errorf("%v does not say %q:\n%s", c.args, want, got.out)
			}
		}
		if strings.Contains(got.out, "\x1b") {
			t.Errorf("%v is coloured, and nobody is at a terminal", c.args)
		}
	}
}

func TestTopicsAsJSON(t *testing.T) {
	got := (&services{}).run(t, "", "help", "topics", "--json")
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if len(lines) != len(topics.All()) {
		t.Fatalf("%d lines for %d topics", len(lines), len(topics.All()))
	}
	for _, line := range lines {
		var one topicReply
		if err := json.Unmarshal([]byte(line), &one); err != nil || one.Name == "" || one.Title == "" || one.Summary == "" || one.Markdown != "" {
			t.Errorf("%s: %v", line, err)
		}
	}
	var gates topicReply
	got = (&services{}).run(t, "", "help", "gates", "--json")
	if err := json.Unmarshal([]byte(got.out), &gates); err != nil || !strings.HasPrefix(gates.Markdown, "# Modes") {
		t.Errorf("%s: %v", got.out, err)
	}
}

func TestCompletionOfHelp(t *testing.T) {
	root := (&app{&client.Client{}}).tree()
	if got := completeHelp(root, nil, "ga"); !slices.Equal(got, []string{"gates"}) {
		t.Errorf("ga: %v", got)
	}
	if got := completeHelp(root, []string{"rule"}, "imp"); !slices.Equal(got, []string{"import"}) {
		t.Errorf("rule imp: %v", got)
	}
}
