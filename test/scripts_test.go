package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/writbus/writ/test/integration"
	"github.com/writbus/writ/test/programs"
)

// bin holds the binaries under test, built once; onlyWrit has writ without
// writd beside it.
var bin, onlyWrit string

// atOnce is how many parallel tests run at least: most of their time they wait
// for programs that they started. -parallel overrides it.
const atOnce = 6

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	programs.Main(m, func() (err error) {
		if bin, err = programs.Built(); err != nil {
			return err
		}
		onlyWrit = filepath.Join(bin, "only")
		if err := os.Mkdir(onlyWrit, 0o755); err != nil {
			return err
		}
		return os.Link(filepath.Join(bin, "writ"), filepath.Join(onlyWrit, "writ"))
	})
}

// patience is how often a program is asked again that itself waits for some seconds.
const patience = 100

// settled is a data directory into which a daemon has brought the shipped rules,
// which takes most of the time of its first start. Whoever begins with a copy has
// used Writ before.
var settled = sync.OnceValues(func() (string, error) {
	data := filepath.Join(bin, "settled")
	writ := func(args ...string) error {
		cmd := exec.Command(filepath.Join(bin, "writ"), args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + bin, "WRIT_HOME=" + data, "WRIT_DURABILITY=interval"}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("writ %v: %w\n%s", args, err, out)
		}
		return nil
	}
	err := writ("up", "--detach")
	for range patience { // until the rules are there, a question says so
		if err = writ("query", "retry"); err == nil {
			break
		}
	}
	return data, errors.Join(err, writ("down"))
})

// settle makes a data directory of somebody who has used Writ before.
func settle(data string) error {
	from, err := settled()
	if err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", from, data).CombinedOutput(); err != nil {
		return fmt.Errorf("copy a data directory: %w\n%s", err, out)
	}
	return nil
}

// firstStarts are the scripts to which it matters that nobody has used Writ before.
var firstStarts = []string{"conversation", "tour"}

// TestScripts runs the scripts that describe the product, each with a data
// directory and a daemon of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params("scripts", killPlan{}))
}

// TestConversationSurvivesKillAtAnyStep runs the whole conversation again and
// again with the daemon killed before other steps, each step of it once: every
// answer must be the same. WRIT_CONVERSATIONS sets how many runs share the kills
// among them; from as many on as there are steps, each has one.
func TestConversationSurvivesKillAtAnyStep(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join("scripts", "conversation.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	steps := strings.Count("\n"+string(script), "\nstep ")
	if steps < 10 {
		t.Fatalf("the conversation has only %d steps", steps)
	}
	runs := min(fromEnv(t, "WRIT_CONVERSATIONS", integration.Rounds(1, 4)), steps-1)
	for first := 2; first < 2+runs; first++ {
		t.Run(fmt.Sprintf("killed before step %d, then every %d", first, runs), func(t *testing.T) {
			t.Parallel()
			p := params("", killPlan{first: first, every: runs})
			p.Files = []string{filepath.Join("scripts", "conversation.txtar")}
			testscript.Run(t, p)
		})
	}
}

// canConfine asks the client under test whether this system can confine.
var canConfine = sync.OnceValue(func() bool {
	return exec.Command(filepath.Join(bin, "writ"), "confine", "--project", os.TempDir(), "--profile", "scratch", "--", "true").Run() == nil
})

// killPlan has the daemon killed before the first-th step of a script and every so
// many steps behind it; where first is 0, before none.
type killPlan struct{ first, every, step int }

// next begins a step, and says whether the daemon is killed before it.
func (p *killPlan) next() bool {
	p.step++
	return p.first > 0 && p.step >= p.first && (p.step-p.first)%p.every == 0
}

// params sets a script's world: a home, a project and a data directory, the
// binaries on the PATH.
func params(dir string, kills killPlan) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			switch name {
			case "landlock":
				return canConfine(), nil
			case "integration":
				return integration.Wanted(), nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			project := filepath.Join(env.WorkDir, "project")
			for _, dir := range []string{home, project} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
			}
			data := filepath.Join(env.WorkDir, "data")
			// The first steps are also taken, and killed, while the rules are brought in.
			if kills.first > 0 && kills.first < 4 || kills.first == 0 && slices.Contains(firstStarts, strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")) {
				if err := os.Mkdir(data, 0o700); err != nil {
					return err
				}
			} else if err := settle(data); err != nil {
				return err
			}
			// The scripts act for a person, without a terminal.
			if err := os.WriteFile(filepath.Join(data, "config.yaml"), []byte("scripts: allow\n"), 0o600); err != nil {
				return err
			}
			env.Vars = append(env.Vars,
				"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
				"HOME="+home, "PROJECT="+project, "WRIT_HOME="+data,
				"WRIT_DURABILITY=interval",
				"WRIT_HOOK_BUDGET=9s", // a loaded machine changes no answer
				"ONLYWRIT="+onlyWrit,
			)
			plan := kills // each script takes its own steps
			env.Values["kill"] = &plan
			env.Defer(func() {
				// A script may have used more than one data directory.
				endpoints, _ := filepath.Glob(filepath.Join(env.WorkDir, "*", "run", "endpoint.json"))
				for _, endpoint := range endpoints {
					_ = killDaemon(filepath.Dir(filepath.Dir(endpoint)))
				}
			})
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until":      cmdUntil,
			"step":       cmdStep,
			"kill":       cmdKill,
			"expand":     cmdExpand,
			"jsonfield":  cmdJSONField,
			"concurrent": cmdConcurrent,
			"repeat":     cmdRepeat,
			"corrupt":    cmdCorrupt,
			"listen":     cmdListen,
			"bash":       cmdBash,
			"shorten":    cmdShorten,
			"fill":       cmdFill,
			"wreck":      cmdWreck,
		},
	}
}

// cmdStep names what comes next: "step the user approves the plan".
func cmdStep(ts *testscript.TestScript, _ bool, args []string) {
	ts.Logf("── %s", strings.Join(args, " "))
	if ts.Value("kill").(*killPlan).next() {
		ts.Check(killDaemon(ts.Getenv("WRIT_HOME")))
	}
}

// cmdKill kills the daemon the way a power cut would stop a process.
func cmdKill(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(killDaemon(ts.Getenv("WRIT_HOME")))
}

// killDaemon returns when the kernel has taken back what the daemon held.
func killDaemon(data string) error {
	daemon, err := programs.Announced(data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return daemon.Kill(data)
}

// cmdExpand replaces $VARIABLES in files: "expand payloads/*.json".
func cmdExpand(ts *testscript.TestScript, _ bool, args []string) {
	for _, pattern := range args {
		files, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(files) == 0 {
			ts.Fatalf("expand: nothing matches %s", pattern)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			ts.Check(err)
			ts.Check(os.WriteFile(file, []byte(os.Expand(string(content), ts.Getenv)), 0o644))
		}
	}
}

// cmdJSONField checks a field of the last output: "jsonfield a.b.c value",
// "! jsonfield a.b" where it must be absent.
func cmdJSONField(ts *testscript.TestScript, neg bool, args []string) {
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc); err != nil {
		ts.Fatalf("standard output is not JSON: %v\n%s", err, ts.ReadFile("stdout"))
	}
	for _, name := range strings.Split(args[0], ".") {
		switch at := doc.(type) {
		case map[string]any:
			doc = at[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(at) {
				doc = nil
				break
			}
			doc = at[i]
		default:
			doc = nil
		}
	}
	switch {
	case neg && doc != nil:
		ts.Fatalf("%s is there: %v", args[0], doc)
	case neg:
	case doc == nil:
		ts.Fatalf("%s is not there:\n%s", args[0], ts.ReadFile("stdout"))
	case len(args) > 1 && fmt.Sprint(doc) != args[1]:
		ts.Fatalf("%s is %v, want %s", args[0], doc, args[1])
	}
}

// worldOf is what a command needs of its script's world, the patience with hooks
// above all: many that run at once take longer than one.
func worldOf(ts *testscript.TestScript) []string {
	var vars []string
	for _, name := range []string{"PATH", "HOME", "WRIT_HOME", "WRIT_DURABILITY", "WRIT_HOOK_BUDGET"} {
		vars = append(vars, name+"="+ts.Getenv(name))
	}
	return vars
}

// cmdConcurrent runs the same command many times at once, each with the same
// file as standard input: "concurrent 20 payload.json writ hook claude X". All
// must exit 0; their outputs are compared and must be alike.
func cmdConcurrent(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	input := []byte(ts.ReadFile(args[1]))
	type result struct {
		out []byte
		err error
	}
	results := make(chan result, n)
	for range n {
		go func() {
			cmd := exec.Command(filepath.Join(bin, args[2]), args[3:]...)
			cmd.Stdin = strings.NewReader(string(input))
			cmd.Dir = ts.MkAbs(".")
			cmd.Env = worldOf(ts)
			out, err := cmd.CombinedOutput()
			results <- result{out, err}
		}()
	}
	var first string
	for i := range n {
		r := <-results
		if (r.err != nil) != neg {
			ts.Fatalf("run %d of %d: %v\n%s", i+1, n, r.err, r.out)
		}
		if i == 0 {
			first = string(r.out)
		}
	}
	ts.Logf("%d runs, the first said: %s", n, first)
}

// cmdRepeat replaces a word of a file by a text repeated n times:
// "repeat FILE WORD TEXT N".
func cmdRepeat(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[3])
	ts.Check(err)
	file := ts.MkAbs(args[0])
	content := strings.Replace(ts.ReadFile(file), args[1], strings.Repeat(args[2], n), 1)
	ts.Check(os.WriteFile(file, []byte(content), 0o644))
}

// cmdUntil runs a program until it succeeds, for as long as a machine under load may
// need to bring something in that the program itself waits for a while.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: until program [args]")
	}
	var err error
	for range patience {
		if err = ts.Exec(args[0], args[1:]...); err == nil {
			return
		}
	}
	ts.Fatalf("%v: %v", args, err)
}

// cmdCorrupt overwrites the middle of a file, or of every table and log below a
// folder.
func cmdCorrupt(ts *testscript.TestScript, _ bool, args []string) {
	damaged := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".sst", ".log":
		default:
			if !strings.HasPrefix(entry.Name(), "MANIFEST") && path != ts.MkAbs(args[0]) {
				return nil
			}
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := len(content) / 4; i < len(content)*3/4; i++ {
			content[i] ^= 0xA5
		}
		damaged++
		return os.WriteFile(path, content, 0o644)
	}))
	if damaged == 0 {
		ts.Fatalf("corrupt: nothing to damage below %s", args[0])
	}
}

// cmdWreck makes the last record of a stream that has a text unreadable: "wreck
// STREAM TEXT".
func cmdWreck(ts *testscript.TestScript, _ bool, args []string) {
	blocks, err := filepath.Glob(filepath.Join(ts.Getenv("WRIT_HOME"), "streams", "jetstream", "$G", "streams", args[0], "msgs", "*.blk"))
	ts.Check(err)
	for i := len(blocks) - 1; i >= 0; i-- {
		content, err := os.ReadFile(blocks[i])
		ts.Check(err)
		at := bytes.LastIndex(content, []byte(args[1]))
		if at < 0 {
			continue
		}
		for j := range args[1] {
			content[at+j] ^= 0xA5
		}
		ts.Check(os.WriteFile(blocks[i], content, 0o600))
		return
	}
	ts.Fatalf("wreck: no record of %s has %q", args[0], args[1])
}

// cmdListen takes a port of loopback and names it in $LISTENING.
func cmdListen(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv("LISTENING", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// cmdBash writes the payload of a shell tool: "bash FILE COMMAND". A command
// that opens a here-document gets a body.
func cmdBash(ts *testscript.TestScript, _ bool, args []string) {
	command := args[1]
	if strings.HasSuffix(command, "<<EOF") {
		command += "\npackage main\nEOF\n"
	}
	if strings.HasSuffix(command, `<<"PY"`) {
		command += "\nopen('a.go','w').write('x')\nPY\n"
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": "shell-1", "cwd": ts.Getenv("PROJECT"), "hook_event_name": "PreToolUse",
		"tool_name": "Bash", "tool_input": map[string]any{"command": command},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), payload, 0o644))
}

// cmdShorten cuts the last third off every message block of a folder.
func cmdShorten(ts *testscript.TestScript, _ bool, args []string) {
	blocks, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.blk"))
	ts.Check(err)
	if len(blocks) == 0 {
		ts.Fatalf("shorten: no block in %s", args[0])
	}
	for _, block := range blocks {
		info, err := os.Stat(block)
		ts.Check(err)
		ts.Check(os.Truncate(block, info.Size()*2/3))
	}
}

// cmdFill sends a payload whose prompt is 100 kB ten times, each of which is to be taken
// without a word: "fill FILE COMMAND…".
func cmdFill(ts *testscript.TestScript, _ bool, args []string) {
	payload := strings.Replace(ts.ReadFile(args[0]), "BIG", strings.Repeat("x ", 50_000), 1)
	for range 10 {
		cmd := exec.Command(filepath.Join(bin, args[1]), args[2:]...)
		cmd.Stdin = strings.NewReader(payload)
		cmd.Dir = ts.Getenv("PROJECT")
		cmd.Env = worldOf(ts)
		out, err := cmd.Output()
		if err != nil || strings.Contains(string(out), "systemMessage") {
			ts.Fatalf("%v: %s", err, out)
		}
	}
}
