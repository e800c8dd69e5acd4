package enforcement

import (
	"strings"
	"testing"
)

// TestElsewhereIsAskedFor holds what other processes do to the user's answer: what
// may forge that answer in every mode, the rest while code may not be written.
func TestElsewhereIsAskedFor(t *testing.T) {
	const types, agent, later = "tmux send-keys approved Enter", "claude -p x", "echo x | at now"
	const container, machine, root, socket = "docker run -v $PWD:/w x", "ssh localhost id", "sudo ls", "curl --unix-socket /run/docker.sock http://x"
	for _, c := range []struct {
		mode    string
		command string
		want    Verdict
	}{
		{ModeWork, types, Ask},
		{ModeWork, agent, Ask},
		{ModeWork, later, Ask},
		{ModeWork, container, Ask},
		{ModeWork, machine, Ask},
		{ModeWork, root, Ask},
		{ModeWork, socket, Ask},
		{ModeReview, container, Ask},
		{"", machine, Ask},
		{ModeConversation, types, Ask},
		{ModeConversation, agent, Ask},
		{ModeConversation, later, Ask},
		{ModeDebug, types, Ask},
		{ModeConversation, container, Allow},
		{ModeConversation, machine, Allow},
		{ModeDebug, root, Allow},
		{ModeWork, "docker ps", Allow},
		{ModeWork, "tmux ls | head -3", Allow},
		{ModeWork, "crontab -l", Allow},
	} {
		x := newSession(t, c.mode)
		for _, confined := range []bool{true, false} {
			request := x.shellRequest(c.command)
			request.Confined = confined
			d := x.do(request)
			if d.Verdict != c.want || c.want == Ask && d.Rule != RuleElsewhere {
				t.Errorf("%s, %s, confined %v: %v %s", c.mode, c.command, confined, d.Verdict, d.Reason)
			}
			request.Unasked = true
			if d = x.do(request); c.want == Ask && d.Verdict != Deny {
				t.Errorf("%s, %s: nobody answers, and it is %v", c.mode, c.command, d.Verdict)
			}
		}
	}
	x := newSession(t, ModeWork)
	if d := x.shell(types); !strings.Contains(d.Reason, "tmux types into terminals") {
		t.Error(d.Reason)
	}
	// A worker, whom no phase binds, types as well as anybody.
	request := x.shellRequest(types)
	parent := State{Mode: ModeWork, Orchestrator: true}
	request.Actor = Actor{Agent: "worker", Parent: &parent}
	if d := x.do(request); d.Verdict != Ask {
		t.Error(d.Verdict, d.Reason)
	}
	request.Shell = x.shellRequest(container).Shell
	if d := x.do(request); d.Verdict != Allow {
		t.Error(d.Verdict, d.Reason)
	}
}
