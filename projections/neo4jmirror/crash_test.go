package neo4jmirror

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// childRun makes the test's program push and nothing else: "<rounds>", how
// often the log has changed since the graph was made.
const childRun = "WRIT_TEST_NEO4J_PUSH"

func TestMain(m *testing.M) {
	if rounds := os.Getenv(childRun); rounds != "" {
		os.Exit(pushAsChild(rounds))
	}
	os.Exit(m.Run())
}

// crashBatches are small, so that there are many places to be killed at.
var crashBatches = batches{nodes: 20, edges: 60, bytes: 1 << 20, changes: 5, sweep: 40}

// crashSource is the same in every process: a graph, changed a number of times.
func crashSource(rounds int) *memory {
	s := generate("log", 11, 200)
	r := rand.New(rand.NewPCG(12, 12))
	for range rounds {
		for range 25 {
			i := r.IntN(230)
			if r.IntN(3) == 0 {
				s.retire(nodeID(i))
			} else {
				s.put(random(r, i, 230, 4))
			}
		}
	}
	return s
}

func pushAsChild(rounds string) int {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		fmt.Println("error", err)
		return 2
	}
	target, _ := serverTarget()
	m, err := Open(context.Background(), target)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	m.batch = crashBatches
	goOn := make([]byte, 1)
	_, err = m.Push(context.Background(), crashSource(n), PushOptions{Progress: func(r Report) {
		fmt.Println("step", r.Phase, r.Full, r.Done)
		_, _ = os.Stdin.Read(goOn)
	}})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

// TestKilledPushGoesOn kills the pushing process – SIGKILL, behind every
// transaction in turn and a moment later, in the middle of the next – starts
// it again, and requires in the end that the mirror is the graph.
func TestKilledPushGoesOn(t *testing.T) {
	m := server(t)
	random := rand.New(rand.NewPCG(13, 13))
	killed, phases := 0, map[string]int{}
	for rounds := range 4 {
		for at := 1; ; at++ {
			phase, finished := killedChild(t, rounds, 1+at%3, time.Duration(random.IntN(12))*time.Millisecond)
			if finished {
				break
			}
			killed++
			phases[phase]++
			if at > 300 {
				t.Fatal("the push does not get on")
			}
		}
		mirrors(t, m, crashSource(rounds).all())
		if t.Failed() {
			t.Fatalf("round %d, killed %d times: %v", rounds, killed, phases)
		}
		if rounds == 1 {
			// From here on a full pass over a mirror that is there.
			one(t, m, "MATCH (c:WritMirror) SET c.layout = 0")
		}
	}
	t.Logf("killed %d times: %v", killed, phases)
	if killed < 12 || phases["nodes"] == 0 || phases["edges"] == 0 || phases["live"] == 0 {
		t.Errorf("killed only %d times: %v", killed, phases)
	}
}

// killedChild runs a push and kills it after a number of transactions and a
// moment. It says in which phase that was, or that the push was finished. However
// slow this process is, the push is one transaction ahead of it at most.
func killedChild(t *testing.T, rounds, steps int, moment time.Duration) (phase string, finished bool) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childRun+"="+strconv.Itoa(rounds))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if word != "step" {
			_ = cmd.Wait()
			t.Fatalf("the pushing process: %s", lines.Text())
		}
		phase, _, _ = strings.Cut(rest, " ")
		if strings.HasSuffix(rest, "true") {
			_ = in.Close()
			return phase, cmd.Wait() == nil
		}
		if _, err := in.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
		if steps--; steps == 0 {
			// Not the moment counts, but that it is another one every time.
			timer := time.NewTimer(moment)
			<-timer.C
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	return phase, cmd.Wait() == nil
}
