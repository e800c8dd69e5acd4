package test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// TestSoak has a daemon work for WRIT_SOAK minutes as it would for months: decisions of
// sessions, of which every second ends and one is at work all the time, emitted events, observations, edits of a rule, builds of an index,
// backups, and an archive into which old events leave. In the first third it is stopped,
// killed and has to forget a session, by turns. In the end all that was told is in the
// log once, and in the last quarter it holds no more memory, files and goroutines than
// in the one before.
func TestSoak(t *testing.T) {
	t.Parallel()
	long := time.Duration(fromEnv(t, "WRIT_SOAK", 0)) * time.Minute
	if long == 0 {
		t.Skip("WRIT_SOAK says for how many minutes")
	}
	k := newKilledDaemon(t, t.TempDir(), "power-loss")
	defer k.kill()
	for name, text := range map[string]string{
		filepath.Join(k.data(), "config.yaml"): "scripts: allow\nmax_bytes: 12000000\n", // some minutes' worth
		filepath.Join(k.project, "a.go"):       "package a\n", filepath.Join(k.home, "rule.md"): soakRule,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k.must("up", "--detach")
	k.must("rule", "add", filepath.Join(k.home, "rule.md"))
	k.must("index", "build", "--project", k.project)

	began, worked := time.Now(), sync.WaitGroup{}
	ctx, stop := context.WithDeadline(t.Context(), began.Add(long))
	defer stop()
	every := func(pause time.Duration, do func(i int)) {
		worked.Go(func() {
			next := time.NewTicker(pause)
			defer next.Stop()
			for i := 0; ; i++ {
				select {
				case <-next.C:
					do(i)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	// What never leaves for the archive is told so often at most, however long it takes: of
	// the bound that has sessions' events leave, that is less than what a person is told of.
	const kept = 5000
	tell := func(pause time.Duration, kind string, args ...string) {
		every(max(pause, long/kept), func(i int) {
			id := kind + "-" + strconv.Itoa(i)
			now := slices.Clone(args)
			for i := range now {
				now[i] = strings.ReplaceAll(now[i], "$ID", id)
			}
			if _, ok := k.run("", now...); ok {
				k.tells(id)
			}
		})
	}
	for caller := range 4 {
		s := &soakCaller{killedDaemon: k}
		every(20*time.Millisecond, func(i int) {
			session := fmt.Sprintf("s-%d-%d", caller, i/100)
			if i%50 == 0 {
				session = "always"
			}
			s.call(ctx, session, fmt.Sprintf("t-0-%d-%d", caller, i), i%200 == 99)
		})
	}
	tell(500*time.Millisecond, "emit", "log", "emit", "proposal.made", "--id", "global", "--event-id", "$ID", "--data", `{"proposal_id":"$ID","text":"tests need -race"}`)
	tell(300*time.Millisecond, "seen", "observe", "--id", "$ID", "[gate=allow] the build $ID needs Go")
	tell(3*time.Second, "edit", "rule", "edit", "ZOO-SOAK-001", "--file", filepath.Join(k.home, "rule.md"), "--reason", "$ID")
	every(max(2*time.Second, long/kept), func(i int) {
		text := fmt.Sprintf("package a\n\n// Zebra%d paints stripes.\nfunc Zebra%d() {}\n", i, i)
		if err := os.WriteFile(filepath.Join(k.project, fmt.Sprintf("zebra%d.go", i%50)), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
		k.run("", "index", "build", "--project", k.project)
	})
	every(long/10, func(int) { k.run("", "backup", filepath.Join(k.home, "backup")) })
	every(long/20, func(i int) {
		switch {
		case time.Since(began) > long/3:
			return
		case i%3 == 0:
			k.kill()
		case i%3 == 1:
			k.run("", "down")
		default:
			k.run("", "session", "forget", "s-0-0", "--reason", "soaked")
		}
		if said, ok := k.run("", "up", "--detach"); !ok {
			t.Error(said)
		}
	})
	var quarters [4][]holds
	every(long/64, func(int) {
		if now, err := k.holds(); err == nil {
			at := min(3, int(4*time.Since(began)/long))
			quarters[at] = append(quarters[at], now)
		}
	})
	worked.Wait()

	third, last := middle(quarters[2]), middle(quarters[3])
	t.Logf("resident bytes, files, goroutines: %v in the third quarter, %v in the last", third, last)
	for i, most := range (holds{third[0] + third[0]/8 + 8<<20, third[1] + 8, third[2] + 16}) {
		if third[i] == 0 || last[i] > most {
			t.Errorf("%s grew from %d to %d", held[i], third[i], last[i])
		}
	}
	k.must("backup", filepath.Join(k.home, "backup"))
	k.compare(0)
	k.awaitStatus("archive ")
	if said := k.must("status"); strings.Contains(said, "max_bytes") {
		t.Errorf("a stream was full: %s", said)
	}
}

const soakRule = `---
id: ZOO-SOAK-001
title: Paint stripes
domain: zoo
severity: high
trigger: A zebra is drawn on a plain canvas for the gazette of the zoo.
statement: Paint the stripes before printing.
symptoms: [the animal looks like a horse, readers write in, all white]
violation: draw(horse)
pass_example: draw(horse, stripes)
rationale: Readers know zebras by their stripes.
---
`

// soakCaller asks for decisions on a connection that it makes anew with each daemon.
type soakCaller struct {
	*killedDaemon
	conn  *bus.Conn
	ended string // the session that is to end before anything else is asked
}

// call asks for a decision, or ends the session whose last one there was.
func (s *soakCaller) call(ctx context.Context, session, id string, last bool) {
	done, err := false, error(nil)
	if s.conn == nil {
		if s.conn, err = s.dial("hook"); err != nil {
			return // the next time
		}
	}
	if s.ended != "" {
		done = s.endSession(ctx, s.conn, s.ended)
	} else if done = s.ask(ctx, s.conn, session, id); done {
		s.tells(id)
	}
	switch {
	case !done:
		s.conn.Close()
		s.conn = nil
	case s.ended != "":
		s.ended = ""
	}
	if last {
		s.ended = session
	}
}

// holds are what a process has.
type holds [3]int

var held = [3]string{"process_resident_memory_bytes", "process_open_fds", "go_goroutines"}

// holds asks the daemon's metrics.
func (k *killedDaemon) holds() (now holds, err error) {
	said, _ := k.run("", "status", "--json")
	var status schemas.Status
	if err := json.Unmarshal([]byte(said), &status); err != nil {
		return now, err
	}
	token, err := os.ReadFile(filepath.Join(k.data(), "credentials", "metrics.token"))
	if err != nil {
		return now, err
	}
	request, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, status.Metrics, nil)
	if err != nil {
		return now, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return now, err
	}
	defer func() { _ = reply.Body.Close() }()
	for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if i := slices.Index(held[:], name); i >= 0 {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return now, err
			}
			now[i] = int(n)
		}
	}
	return now, nil
}

// middle is the median of each.
func middle(all []holds) (m holds) {
	for i := range m {
		slices.SortFunc(all, func(a, b holds) int { return a[i] - b[i] })
		if len(all) > 0 {
			m[i] = all[len(all)/2][i]
		}
	}
	return m
}
