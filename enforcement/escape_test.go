package enforcement

import (
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// escapeLayout is a project with links in it and around it.
func escapeLayout() (Layout, func(string) (string, bool)) {
	links := map[string]string{
		"/p/out": "/tmp/d/e", "/tmp/in": "/p/src", "/tmp/file": "/p/main.go", "/tmp/tree/l": "/p/main.go",
		"/home/dev/data": "/home/dev/.local/state", "/p/sys": "/usr/share/x", "/p/sub/key": "/home/dev/key",
	}
	layout := Layout{Project: "/p", Home: "/home/dev", DataDir: "/home/dev/.local/state/writ", Temp: []string{"/tmp"}}
	return layout, func(p string) (string, bool) { l, ok := links[p]; return l, ok }
}

// TestDescriptorsAreTheCommands: the streams of a command are its own, and not those
// of the process that looks where their names lead.
func TestDescriptorsAreTheCommands(t *testing.T) {
	layout, _ := escapeLayout()
	readlink := func(p string) (string, bool) {
		l, ok := map[string]string{
			"/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2", "/dev/fd": "/proc/self/fd", "/proc/self": "/proc/7",
			"/proc/7/fd/1": layout.DataDir + "/writd.log", "/proc/7/fd/2": layout.DataDir + "/writd.log",
		}[p]
		return l, ok
	}
	for _, command := range []string{
		"echo x | tee /dev/stderr", "cp README.md /dev/stdout", "cat README.md > /dev/stderr", "tee /dev/fd/2 < README.md", "cat README.md | tee -a /dev/stdout | wc",
		"dd if=README.md of=/dev/stdout", "sort README.md -o /dev/stdout", "install README.md /dev/stderr", "sed -n 'w /dev/stdout' README.md", "cat /proc/self/fd/2",
	} {
		if c := Inspect(layout, "/p", command, nil, readlink); len(c.Private) > 0 || len(c.Targets) > 0 {
			t.Errorf("%s: %v %v", command, c.Private, c.Targets)
		}
	}
	if c := Inspect(layout, "/p", "tee /dev/stderr "+layout.DataDir+"/x", nil, readlink); len(c.Private) == 0 {
		t.Error("what stands beside a descriptor passes")
	}
}

// TestInspectFollowsTheSystem checks that what a command line writes is found
// where the system would write it, by whatever name it is reached.
func TestInspectFollowsTheSystem(t *testing.T) {
	layout, readlink := escapeLayout()
	layout.Absent = func(dir string) bool { return strings.HasPrefix(dir, "/p/nosuch") }
	for _, c := range []struct{ command, reaches string }{
		{"echo x > out/../a.go", "/tmp/d/a.go"},
		{"echo x > /tmp/in/../main.go", "/p/main.go"},
		{"cp a /tmp/in/..", "/p/a"},
		{"cp -t /tmp/in/.. main.go", "/p/main.go"},
		{"git -C /tmp/in/.. config a b", "/p/.git/config"},
		{"env -C /tmp/in/.. touch main.go", "/p/main.go"},
		{"cd -P /tmp/in/.. && touch main.go", "/p/main.go"},
		{"set -o physical; cd /tmp/in/.. && touch main.go", "/p/main.go"},
		{"cd /tmp/in/.. && touch main.go", "/tmp/main.go"},
		{"cd /tmp/in && touch ../main.go", "/p/main.go"},
		{"ln -s $PWD /tmp/l && echo x > /tmp/l/main.go", "/p/main.go"},
		{"ln -s /p/main.go /tmp/l; echo x > /tmp/l", "/p/main.go"},
		{"cd /tmp && ln -s ../p l && touch l/main.go", "/p/main.go"},
		{"ln -s /p/main.go /tmp/d/ && echo x > /tmp/d/main.go", "/p/main.go"},
		{"ln -s /p /tmp/a && ln -s /tmp/a /tmp/b && touch /tmp/b/main.go", "/p/main.go"},
		{"(sleep 1; touch /tmp/l/main.go) & ln -s /p /tmp/l", "/p/main.go"},
		{"mv /tmp/in /tmp/l && touch /tmp/l/a.go", "/p/src/a.go"},
		{"cp -a /tmp/tree /tmp/t2; echo x > /tmp/t2/l", "/p/main.go"},
		{"cp -P /tmp/file /tmp/f2; echo x > /tmp/f2", "/p/main.go"},
		{"ln main.go /tmp/h && echo x > /tmp/h", "/p/main.go"},
		{"cp -l main.go /tmp/h", "/p/main.go"},
		{"link main.go /tmp/h", "/p/main.go"},
		{"cd nosuch && true; touch main.go", "/p/main.go"},
		{"cd nosuch/.. || cd nosuch; touch main.go", "/p/main.go"},
		{"cd testdata/nosuch; touch main.go", "/p/main.go"},
		{"cd /tmp/nosuch; touch main.go", "/p/main.go"},
		{"rm -rf .", "/p/.writ"},
		{"rm -rf .w*", "/p/.writ"},
		{"mv ../p /tmp/x", "/p/.writ"},
		{"chmod -R a-r $PWD", "/p/.writ"},
		{"find . -delete", "/p/.writ"},
		{"find . -name '*.yaml' -delete", "/p/.writ"},
		{"git clean -fdx", "/p/.writ"},
		{"git stash -u", "/p/.writ"},
	} {
		got := Inspect(layout, "/p", c.command, nil, readlink)
		if !slices.ContainsFunc(got.Targets, func(t schemas.Target) bool { return t.Path == c.reaches }) {
			t.Errorf("%s: does not reach %s: %v %v", c.command, c.reaches, got.Effect, got.Targets)
		}
	}
}

// TestInspectLeavesScratchAlone checks that ordinary work beside the project is
// not taken for a write in it.
func TestInspectLeavesScratchAlone(t *testing.T) {
	layout, readlink := escapeLayout()
	for _, command := range []string{
		"cp -r src /tmp/copy && echo x > /tmp/copy/main.go",
		"ln -s $PWD/main.go /tmp/link",
		"ln -s $PWD/main.go /tmp/link && rm /tmp/link",
		"mkdir -p /tmp/d && cd /tmp/d; echo x > a.go",
		"rm -f /tmp/d/*.go",
		"echo x > /tmp/log-$$.txt",
		"tmp=$(mktemp -d) && cd \"$tmp\" && touch a.go",
	} {
		got := Inspect(layout, "/p", command, nil, readlink)
		if got.Effect != EffectWrites || slices.ContainsFunc(got.Targets, func(t schemas.Target) bool { return t.Class != ClassScratch }) {
			t.Errorf("%s: %v %v %s", command, got.Effect, got.Targets, got.Why)
		}
	}
}

// TestBuildsAreLeftToTheHold checks that a build is no write of the project by its
// line alone: most leave nothing but caches, and a hold keeps the others from it.
func TestBuildsAreLeftToTheHold(t *testing.T) {
	layout, readlink := escapeLayout()
	for _, command := range []string{
		"go build ./...", "go build", "cd src && go build -v . 2>&1 | head", "cargo build", "cargo check --tests", "npm run build", "make", "tsc -p . --noEmit", "mvn -q compile", "gradle build",
	} {
		if got := Inspect(layout, "/p", command, nil, readlink); got.Effect != EffectCannotTell || len(got.Targets) > 0 {
			t.Errorf("%s: %v %v", command, got.Effect, got.Targets)
		}
	}
}

// TestInspectDoubtsForeseenNames checks that a name in a scratch folder that
// somebody can have laid a link at is not taken for scratch.
func TestInspectDoubtsForeseenNames(t *testing.T) {
	layout, readlink := escapeLayout()
	for _, command := range []string{
		"echo x > /tmp/fil[e]", "echo x > /tmp/$?", "echo x > /tmp/$(date +%F)", "echo x > /tmp/$(whoami)", "cat a | tee /tmp/f*",
		"ln -s \"$X\" /tmp/l; echo x > /tmp/l",
	} {
		if got := Inspect(layout, "/p", command, nil, readlink); got.Effect != EffectCannotTell {
			t.Errorf("%s: %v %v", command, got.Effect, got.Targets)
		}
	}
}

func TestInspectSeesReadingOfWritsData(t *testing.T) {
	layout, readlink := escapeLayout()
	for _, command := range []string{
		"cat ~/.local/state/writ/credentials/admin.json", "cat $WRIT_HOME/credentials/admin.json", "cat ${WRIT_HOME}/x",
		"cat ~/.local/state/w*/credentials/admin.json", "cat ~/.local/*/*/credentials/*", "cat ~/.l?cal/state/writ/x",
		"cat ~/.local/*/../state/writ/x", "cat ~/data/writ/x", "cat ~/data/w[r]it/x",
		"cd ~/.local/state; cat writ/x", "cd ~/.local && cat state/*/credentials/admin.json",
		"grep -r . ~/.local", "rg secret ~/.local/state", "cd ~ && grep -r secret", "tar cf - ~/.local/state", "tar -C ~/.local -cf /tmp/x .",
		"cp -r ~/.local/state /tmp/x", "rsync -a ~/.local/state/ /tmp/x", "zip -r /tmp/x ~/.local", "diff -r ~/.local /tmp/x",
		"find ~ -name admin.json -exec cat {} +", "find ~ -name admin.json | xargs cat", "cat $(find ~ -name admin.json)",
		"for f in $(find ~ -name admin.json); do cat $f; done", "ln -s ~/.local/state/writ /tmp/l",
		"cat /proc/self/root" + layout.DataDir + "/x", "cat /proc/thread-self/root" + layout.DataDir + "/x", "cat /proc/self/task/1/root" + layout.DataDir + "/x",
		"cat /proc/1/root" + layout.DataDir + "/x", "cat /proc/self/cwd/.." + layout.DataDir + "/x", "cd /proc; cat self/root" + layout.DataDir + "/x",
		"cat /proc/self/root/proc/self/root" + layout.DataDir + "/x", "grep -r . /proc/self/root" + layout.Home,
	} {
		if got := Inspect(layout, "/p", command, nil, readlink); len(got.Private) == 0 {
			t.Errorf("%s: reads nothing of Writ's: %v", command, got.Effect)
		}
	}
	for _, command := range []string{
		"ls ~", "cat ~/notes.txt", "cat ~/.config/app/*.json", "grep -r foo .", "rg foo", "grep foo ~/*.txt", "find ~ -maxdepth 2 -name '*.md'",
		"find / -name 'libpq*' 2>/dev/null | head", "find ~ -name x | xargs ls -la", "tar cf /tmp/x.tar .", "cp -r . /tmp/x", "cat *.json", "cat $FILE",
	} {
		if got := Inspect(layout, "/p", command, nil, readlink); len(got.Private) > 0 {
			t.Errorf("%s: reads %v", command, got.Private)
		}
	}
}

// TestPlainLinesReadWhereNoLinkIsLaid: what a plain line names is read as it was judged
// in the project and in the system's own folders alone; elsewhere a link may be laid
// meanwhile, so that such a line is held, if it reads what is in files.
func TestPlainLinesReadWhereNoLinkIsLaid(t *testing.T) {
	layout, readlink := escapeLayout()
	for command, plain := range map[string]bool{
		"cat main.go": true, "cat /p/src/main.go | head -3": true, "cd src && cat main.go": true, "grep -rn x src /etc/hosts": true, "cat /proc/cpuinfo": true, "cat /usr/include/a.h": true,
		"ls /tmp": true, "cd /tmp && ls": true, "test -f /tmp/x": true, "echo /tmp/x": true, "git show HEAD:src/main.go": true, "git diff --no-index /dev/null main.go": true,
		"docker compose ps | grep x": true, "jq '.paths[\"/x\"]' a.json": true, "git log origin/main --since='2 days ago'": true, "cut -d/ -f1 notes.txt": true,
		"cat /tmp/x": false, "cat " + layout.Home + "/notes.txt": false, "head -3 /var/tmp/x": false, "cd /tmp && cat x": false, "cd /tmp; cd x; wc -l y": false, "cat ../other/x": false,
		"cat /proc/self/fd/3": false, "cat /proc/7/environ": false, "cat out/a": false, "docker ps; cat /tmp/x": false, "git diff --no-index main.go /tmp/x": false, "diff --from-file=/tmp/x a": false, "grep -f /tmp/x a": false,
		"cd sys/../sub && cat key": false, "cd sys/../sub && cat main.go": true, "cd /tmp/x && docker compose ps": false, "cd /tmp/x; docker-compose logs": false, "cd /tmp/x && docker ps": true,
	} {
		if got := Inspect(layout, "/p", command, nil, readlink); got.Plain != plain {
			t.Errorf("%s: plain is %v (%s)", command, got.Plain, got.Effect)
		}
	}
}

// TestFoldersForTests checks that a folder may be made while tests are written.
func TestFoldersForTests(t *testing.T) {
	layout, readlink := escapeLayout()
	for command, class := range map[string]string{
		"mkdir -p store && touch store/a_test.go": ClassTest,
		"rm -rf store && mkdir store":             ClassCode,
		"mkdir store && rm -rf store":             ClassCode,
		"mkdir .git/hooks":                        ClassProtected,
	} {
		got := Inspect(layout, "/p", command, nil, readlink)
		if !slices.ContainsFunc(got.Targets, func(t schemas.Target) bool { return t.Class == class }) ||
			class == ClassTest && slices.ContainsFunc(got.Targets, func(t schemas.Target) bool { return t.Class != class }) {
			t.Errorf("%s: %v, want %s", command, got.Targets, class)
		}
	}
}

// TestWritCallsByAnyReading checks calls of writ whose command stands behind an
// option's value, and changes of mode that are not the agent's.
func TestWritCallsByAnyReading(t *testing.T) {
	working := State{Host: "claude", Project: "/p", Mode: ModeWork, Work: Work{Phase: PhasePlanning}}
	layout, readlink := escapeLayout()
	for command, want := range map[string]string{
		"writ approve plan":                     RuleProtected,
		"writ --session s approve plan":         RuleProtected,
		"writ --json --session s approve":       RuleProtected,
		"writ --session=s emit x":               RuleProtected,
		"writ mode set conversation":            RuleMode,
		"writ mode set work --orchestrator":     RuleMode,
		"writ mode --session s set debug":       RuleMode,
		"script -qc 'writ mode set review' x.l": RuleMode,
		"writ mode set work":                    "",
		"writ --json status":                    "",
		"writ mode --session s":                 "",
		"writ status --session approve":         "",
	} {
		request := RequestTool{Tool: "Bash", Shell: Inspect(layout, "/tmp", command, nil, readlink)}
		d, err := Decide(working, request)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && d.Verdict != Allow || want != "" && (d.Verdict != Deny || d.Rule != want) {
			t.Errorf("%s: %v %s %s, want %q", command, d.Verdict, d.Rule, d.Reason, want)
		}
	}
}

func TestReproductionIsTheUsersToWiden(t *testing.T) {
	state := State{Host: "claude", Project: "/p", Mode: ModeDebug, Repro: []string{"src/main.go"}}
	for repro, allowed := range map[string]bool{"src/main.go": true, "/p/src/main.go": false, "/p": false, "/": false, "src": false, "src/other.go": false} {
		for _, byUser := range []bool{false, true} {
			d, err := Decide(state, SetMode{Mode: ModeDebug, Repro: []string{repro}, ByUser: byUser})
			if err != nil || (d.Verdict == Allow) != (allowed || byUser) {
				t.Errorf("%s, by the user %v: %v %v %s", repro, byUser, d.Verdict, err, strings.TrimSpace(d.Reason))
			}
		}
	}
}

// The agent does not free itself: of all ways to a laxer mode none is open to its
// tools, and no refusal offers one as its own.
func TestNoAgentFreesItself(t *testing.T) {
	for _, from := range []string{"", ModeWork} {
		for _, command := range []string{
			"writ mode set conversation", "writ mode set debug", "writ mode set debug --repro src", "env writ mode set conversation",
			"bash -c 'writ mode set conversation'", "writ mode --session s set conversation", "writ mode set conversation --session s",
			"cd /tmp; /usr/local/bin/writ mode set conversation", "writ 'mode' \"set\" conversation",
		} {
			x := newSession(t, from)
			for range 3 { // a yes to the command would not be the user's word for a mode
				x.do(RequestTool{Tool: "Bash", Shell: Inspect(caseLayout, "/p", command, nil, nil), Settings: Settings{DenyToAsk: true}})
				x.want(Deny, RuleMode)
			}
			if d := x.last; !strings.Contains(d.Reason, "user") || strings.Contains(d.Reason, "mode set conversation") {
				t.Errorf("%q: %s", command, d.Reason)
			}
		}
		x := newSession(t, from)
		x.request(codeFile, "x")
		if strings.Contains(x.last.Reason, "set conversation") || strings.Contains(x.last.Reason, "set work|") {
			t.Errorf("the refusal offers the way around it: %s", x.last.Reason)
		}
		x.shell("writ mode set work")
		x.want(Allow, "")
		y := newSession(t, ModeDebug)
		for _, command := range []string{"writ mode set debug --repro src", "writ mode set debug --repro=src/a.py"} {
			y.shell(command)
			y.want(Deny, RuleMode)
		}
		x.do(SetMode{Mode: ModeConversation})
		x.want(Deny, RuleMode)
	}
}

func TestPowerShellIsFollowedOnlyWherePlain(t *testing.T) {
	layout, readlink := escapeLayout()
	for command, effect := range map[string]string{
		"git status":                     EffectReads,
		"cat main.go":                    EffectReads,
		`echo "\"; del main.go; #"`:      EffectCannotTell,
		"echo 'a' ; Remove-Item main.go": EffectCannotTell,
		"ls | % { ni $_ }":               EffectCannotTell,
		"rm main.go":                     EffectWrites,
		"Set-Content main.go x":          EffectCannotTell,
	} {
		if got := InspectPowerShell(layout, "/p", command, readlink); got.Effect != effect {
			t.Errorf("%s: %s, want %s", command, got.Effect, effect)
		}
	}
}

// TestSubAgentsPromptsApproveNothing checks prompts and dialogs that stand in a
// sub-agent's conversation.
func TestSubAgentsPromptsApproveNothing(t *testing.T) {
	state := State{Host: "claude", Project: "/p", Mode: ModeWork, Work: Work{Phase: PhasePlanning}}
	plan := []byte(goodPlan)
	ws := Workspace{Plan: plan, Files: map[string]schemas.FileState{PlanFile: fileState(PlanFile, plan)}}
	for name, c := range map[string]struct {
		own, theirs Command
	}{
		"prompt": {
			SubmitPrompt{Prompt: "approved", Origin: OriginUser, ActID: "a", Workspace: ws},
			SubmitPrompt{Prompt: "approved", Origin: OriginUser, ActID: "a", Workspace: ws, Agent: "x"},
		},
		"command": {
			SubmitPrompt{Command: CommandApprove, ActID: "a", Workspace: ws},
			SubmitPrompt{Command: CommandApprove, ActID: "a", Workspace: ws, Agent: "x"},
		},
		"mode": {
			SubmitPrompt{Prompt: "/writ-mode conversation", Origin: OriginUser, ActID: "a", Workspace: ws},
			SubmitPrompt{Prompt: "/writ-mode conversation", Origin: OriginUser, ActID: "a", Workspace: ws, Agent: "x"},
		},
		"dialog": {
			ApproveGate{Gate: GatePlan, Channel: ChannelDialog, ActID: "a", Presented: plan, Workspace: ws},
			ApproveGate{Gate: GatePlan, Channel: ChannelDialog, ActID: "a", Presented: plan, Workspace: ws, Agent: "x"},
		},
	} {
		if !opens(t, state, c.own) {
			t.Errorf("%s: the user's own act opens nothing", name)
		}
		if opens(t, state, c.theirs) {
			t.Errorf("%s: a sub-agent's act opens something", name)
		}
	}
}

// opens reports whether a command approves a gate or changes the mode.
func opens(t *testing.T, s State, c Command) bool {
	t.Helper()
	d, err := Decide(s, c)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(d.Record, func(p schemas.Payload) bool {
		switch p.(type) {
		case schemas.GateApproved, schemas.ModeChanged:
			return true
		}
		return false
	})
}
