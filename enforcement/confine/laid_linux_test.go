package confine

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestALaidLinkWidensNothing: what an earlier command left where it may write does
// not choose what the next one may write.
func TestALaidLinkWidensNothing(t *testing.T) {
	needLandlock(t)
	for user, uid := range users() {
		for name, c := range map[string]struct{ env, lay string }{
			"cache by its variable":      {"GOCACHE=$T/d/c", "ln -s $O $T/d/c"},
			"cache below its variable":   {"CARGO_HOME=$T/d/c", "mkdir $T/d/c; ln -s $O $T/d/c/registry"},
			"cache in a cache":           {"GOCACHE=$HOME/.cache/c", "ln -s $O $HOME/.cache/c"},
			"cache behind two links":     {"npm_config_cache=$T/d/c", "ln -s $O $T/d/b; ln -s b $T/d/c"},
			"caches of all":              {"XDG_CACHE_HOME=$T/d/c", "ln -s $O $T/d/c"},
			"cache by settings in reach": {"XDG_CONFIG_HOME=$T/d/c", "mkdir -p $T/d/c/go; echo GOCACHE=$O > $T/d/c/go/env"},
			"cache by the project":       {"GOCACHE=$P/c", "ln -s $O $P/c"},
			"temp folder":                {"TMPDIR=$T/d/c", "ln -s $O $T/d/c"},
		} {
			t.Run(user+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, uid)
				w.write(filepath.Join(w.home, ".cache", "x"), "")
				w.own()
				vars := map[string]string{"T": w.temp, "O": w.outside, "HOME": w.home, "P": w.project}
				env := os.Expand(c.env, func(v string) string { return vars[v] })
				first := w.confined(w.options(Implementation, "/bin/sh", "-c", "mkdir $T/d; "+c.lay))
				if out, exit := w.result(first); exit != 0 {
					t.Fatalf("nothing is laid: %s", out)
				}
				for _, profile := range []Profile{ReadOnly, Implementation} {
					next := w.confined(w.options(profile, "/bin/sh", "-c", "echo pwned > $O/file; echo pwned > $O/new"))
					next.Env = append(next.Env, env)
					out, _ := w.result(next)
					for _, h := range w.harm(out) {
						t.Errorf("%s: %s\n%s", profile, h, out)
					}
				}
			})
		}
	}
}

// TestALinkLaidMeanwhileGetsNoRule: what stands at a path when the rule is made has
// to be what was judged.
func TestALinkLaidMeanwhileGetsNoRule(t *testing.T) {
	needLandlock(t)
	w := newWorld(t, os.Geteuid())
	abi, _ := Supported()
	rules, err := newRuleset(abi, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(rules.fd) }()
	if err := os.Symlink(w.outside, filepath.Join(w.temp, "l")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{filepath.Join(w.temp, "l"): false, filepath.Join(w.temp, "l", "file"): false, w.outside: true} {
		judged := false
		if err := rules.allowAt(path, rightRead, func(fd int) bool { judged = liesAt(fd, path); return false }); err != nil || judged != want {
			t.Errorf("%s is judged as standing there: %v (%v)", path, judged, err)
		}
	}
}

// TestKeysAreReachedInATempFolder: an agent of ssh keeps its socket where commands
// may put another one.
func TestKeysAreReachedInATempFolder(t *testing.T) {
	needLandlock(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	for _, c := range []struct {
		name, agent, lay string
		reached          bool
	}{
		{"agent", "ssh-agent", "", true},
		{"another program", "tmux", "", false},
		{"link to another program", "tmux", "ln -s $T/s $T/d/a", false},
		{"another name of another program's", "tmux", "ln $T/s $T/d/a", false},
		{"link to an agent", "ssh-agent", "ln -s $T/s $T/d/a", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, os.Geteuid())
			server := w.plain("python3", "-c", `
import socket, os, sys
open('/proc/self/comm', 'w').write(sys.argv[1])
s = socket.socket(socket.AF_UNIX); s.bind(os.environ['T'] + '/s'); s.listen(); print('listens', flush=True)
while True:
    c = s.accept()[0]
    try: c.send(b'reached')
    except OSError: pass
`, c.agent)
			said, err := server.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
			if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(w.temp, "s")
			if c.lay != "" {
				at = filepath.Join(w.temp, "d", "a")
				if out, exit := w.run(ReadOnly, "mkdir $T/d; "+c.lay); exit != 0 {
					t.Fatal(out)
				}
			}
			asks := w.confined(w.options(ReadOnly, "python3", "-c", "import socket, os\nc = socket.socket(socket.AF_UNIX); c.connect(os.environ['SSH_AUTH_SOCK']); print(c.recv(9))"))
			asks.Env = append(asks.Env, "SSH_AUTH_SOCK="+at)
			if out, _ := w.result(asks); strings.Contains(out, "reached") != c.reached {
				t.Errorf("reached is not %v:\n%s", c.reached, out)
			}
		})
	}
}
