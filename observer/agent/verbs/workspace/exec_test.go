//go:build unix

package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
)

func init() { grace = time.Minute }

func TestExec(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.txt": "one\n"})
	b.gate.more = "mind the rule"
	for command, want := range map[string]string{
		"cat a.txt":                      "one\nmind the rule\n[exit 0]\n",
		"printf x; printf y >&2; exit 3": "xy\nmind the rule\n[exit 3]\n",
		"pwd":                            b.dir + "\nmind the rule\n[exit 0]\n",
		"kill -9 $$":                     "mind the rule\n[exit 137]\n",
		"cat; echo $?":                   "0\nmind the rule\n[exit 0]\n", // nothing is on its standard input
		"no-such-program-here 2>&- ":     "mind the rule\n[exit 127]\n",
		"printf 'a\\377b'":               "a\uFFFDb\nmind the rule\n[exit 0]\n",
	} {
		r := b.call("exec", command, nil)
		if r.Text != want || r.Outcome != verbs.Done || r.Trust != verbs.TrustShell {
			t.Errorf("/exec %s: %q", command, r.Text)
		}
	}
	if len(b.gate.reports) != 7 || b.gate.asked[0].Path != "" {
		t.Errorf("the gate was told %+v", b.gate.reports)
	}
	b.gate.decision = func(verbs.Call, Act) Decision {
		return Decision{Verdict: dialect.Allow, Ticket: "t", Argv: []string{"/no/such/program"}}
	}
	if r := b.call("exec", "true", nil); !strings.HasPrefix(r.Text, "ERR: the command cannot be started") {
		t.Errorf("%q", r.Text)
	}
}

// supervised makes the gate run commands as the daemon does.
func (b *bench) supervised() {
	if abi, why := confine.Supported(); abi == 0 {
		b.t.Skip("no confinement here: " + why)
	}
	b.gate.decision = func(c verbs.Call, a Act) Decision {
		o, err := json.Marshal(confine.Options{
			Profile: confine.Implementation, Project: b.dir, Home: b.outside, Dir: b.dir, Args: []string{"/bin/sh", "-c", a.Command}, Quiet: true, Whole: true,
		})
		if err != nil {
			b.t.Error(err)
		}
		return Decision{Verdict: dialect.Allow, Ticket: "t", Argv: []string{os.Args[0], helperArg, string(o)}, Supervised: true}
	}
}

func TestNothingOutlivesACommand(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.supervised()
	b.limits.Exec = time.Hour
	const away = `setsid sh -c 'trap "" TERM HUP INT; echo $$ > pids.new; mv pids.new pids; while :; do sleep 300; done' >/dev/null 2>&1 &` + "\n"
	const begun = `while [ ! -e pids ]; do sleep 0.02; done` + "\n"
	for name, c := range map[string]struct {
		command, want string
		stopped       bool
	}{
		"that ends":      {away + begun + "echo well; exit 4", "well\nwrit confine: what the command left running in the background was ended\n[exit 4]\n", false},
		"that does not":  {away + begun + "touch go; sleep 300", "ERR: stopped with its conversation, with everything it had started.", true},
		"that is deaf":   {away + begun + "trap '' TERM INT HUP; touch go; while :; do sleep 300; done", "ERR: stopped with its conversation, with everything it had started.", true},
		"that holds out": {away + begun + "(sleep 300; echo late) & touch go; wait", "ERR: stopped with its conversation, with everything it had started.", true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if c.stopped {
			go func() {
				for ctx.Err() == nil {
					if _, err := os.Stat(filepath.Join(b.dir, "go")); err == nil {
						cancel()
					}
					time.Sleep(5 * time.Millisecond)
				}
			}()
		}
		r := b.callIn(ctx, "exec", c.command, nil)
		cancel()
		if !strings.Contains(r.Text, c.want) || c.stopped && !strings.HasSuffix(r.Text, "[exit 137]\n") {
			t.Errorf("a command %s: %q", name, r.Text)
		}
		for _, word := range strings.Fields(b.get("pids")) {
			pid, _ := strconv.Atoi(word)
			if err := syscall.Kill(pid, 0); pid < 2 || !errors.Is(err, syscall.ESRCH) {
				t.Errorf("a command %s: process %d is still there: %v", name, pid, err)
			}
		}
		os.Remove(filepath.Join(b.dir, "pids"))
		os.Remove(filepath.Join(b.dir, "go"))
	}
	// Outside of the workspace the kernel refuses.
	if r := b.call("exec", "echo x > ../outside/new; ls ../outside", nil); !strings.Contains(r.Text, "ermission denied") || strings.Contains(r.Text, "new\n[") {
		t.Errorf("%q", r.Text)
	}
}

func TestExecEndsInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.limits.Exec = 50 * time.Millisecond
	for _, supervised := range []bool{false, true} {
		if supervised {
			b.supervised()
		}
		r := b.call("exec", "sleep 300", nil)
		if r.Outcome != verbs.Failed || !strings.Contains(r.Text, "ERR: stopped after 50ms, with everything it had started. Adapt: ") || !strings.Contains(r.Text, "\n[exit 1") {
			t.Errorf("%q", r.Text)
		}
	}
}

// TestTheGroupEndsWithoutASupervisor is what other systems have.
func TestTheGroupEndsWithoutASupervisor(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, command := range []string{
		"sleep 300 & echo $! > pids; exit 0",
		"(sleep 300 & echo $! > pids; wait) & while [ ! -s pids ]; do sleep 0.02; done",
	} {
		r := b.call("exec", command, nil)
		if !strings.Contains(r.Text, "background was ended") {
			t.Errorf("%s: %q", command, r.Text)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(b.get("pids")))
		if err != nil {
			t.Fatal(err)
		}
		if ended(pid) {
			continue
		}
		t.Errorf("%s: process %d is still there", command, pid)
	}
}

// ended waits for a killed process whose new parent collects it, as long as
// that one needs for it.
func ended(pid int) bool {
	for range 30_000 {
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(raw), ") Z ") {
			return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func TestExecEndsWithItsConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	b.gate.decision = func(verbs.Call, Act) Decision {
		cancel() // before it begins: TestNothingOutlivesACommand ends what has begun
		return Decision{Verdict: dialect.Allow, Ticket: "t"}
	}
	if r := b.callIn(ctx, "exec", "sleep 300", nil); !strings.Contains(r.Text, "ERR: stopped with its conversation") {
		t.Errorf("%q", r.Text)
	}
	if len(b.gate.reports) != 1 || !b.gate.reports[0].Failed {
		t.Errorf("%+v", b.gate.reports)
	}
}

func TestExecOutputIsCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := b.call("exec", "echo begin; i=0; while [ $i -lt 3000 ]; do echo 'ééééééééé'; i=$((i+1)); done; echo the end; exit 1", nil)
	if len(r.Text) > b.limits.Body || !strings.HasPrefix(r.Text, "begin\né") || !strings.HasSuffix(r.Text, "the end\n[exit 1]\n") || !strings.Contains(r.Text, "[… cut; 57014 bytes in all …]") {
		t.Errorf("%d bytes: %.100q … %q", len(r.Text), r.Text, r.Text[len(r.Text)-100:])
	}
	if !utf8.ValidString(r.Text) || strings.Contains(r.Text, "\uFFFD") {
		t.Error("it is cut inside of a rune")
	}
	if len(r.Keep) != 1 || len(r.Keep[0].Data) < b.limits.Output || len(r.Keep[0].Data) > b.limits.Output+100 {
		t.Errorf("kept %d artifacts", len(r.Keep))
	}
	if r := b.call("exec", "head -c 20000 /dev/zero | tr '\\0' x", nil); len(r.Keep) != 1 || len(r.Keep[0].Data) != 20_000 {
		t.Errorf("what fits the output's limit is not kept whole: %d", len(r.Keep[0].Data))
	}
	if r := b.call("exec", "yes | head -c 300000000 | tail -c 1", nil); r.Outcome != verbs.Done {
		t.Errorf("%q", r.Text)
	}
}

// TestOutput compares with a plain way to do it, for small sizes and all cuts.
func TestOutput(t *testing.T) {
	const text = "aébcdé\nfghi€jkl"
	for most := 1; most < 24; most++ {
		for step := 1; step < 8; step++ {
			o := &output{most: most}
			for i := 0; i < len(text); i += step {
				o.Write([]byte(text[i:min(i+step, len(text))]))
			}
			for limit := 0; limit < 24; limit++ {
				got, cut := o.text(limit)
				if whole := len(text) <= most && len(text) <= limit; whole != !cut || whole && got != text {
					t.Fatalf("most %d, step %d, limit %d: %q, %v", most, step, limit, got, cut)
				}
				if !cut {
					continue
				}
				head, tail, _ := strings.Cut(got, "\n[… cut; 19 bytes in all …]\n")
				if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head)+len(tail) > limit || strings.Contains(got, "\uFFFD") {
					t.Fatalf("most %d, step %d, limit %d: %q", most, step, limit, got)
				}
			}
		}
	}
}

// TestReadOfWhatIsNoFile does not wait for a writer.
func TestReadOfWhatIsNoFile(t *testing.T) {
	b := newBench(t, nil)
	if err := syscall.Mkfifo(filepath.Join(b.dir, "fifo"), 0o644); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if r := b.call("read", "fifo", nil); !strings.HasPrefix(r.Text, "ERR: fifo is no plain file") {
		t.Errorf("%q", r.Text)
	}
}
