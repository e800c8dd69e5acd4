package test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/test/integration"
)

// TestKilledInTheMiddle kills what mends, restores and backs up at random moments,
// and runs it once more: that ends it, nothing is lost, and nothing is left behind.
// WRIT_MENDING_KILLS sets how often each is killed, WRIT_FLIPS_SEED when.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	rounds, seed := fromEnv(t, "WRIT_MENDING_KILLS", 1), fromEnv(t, "WRIT_FLIPS_SEED", 1)
	f := newFlipped(t)
	for name, one := range map[string]func(*flipped, flipWorld, *rand.Rand){
		"repair": killedRepair, "repair from a backup": killedRepairFrom, "restore": killedRestore, "backup": killedBackup, "forget": killedForget,
	} {
		for i := range rounds {
			t.Run(name+" "+strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				if name != "restore" {
					integration.Only(t, "the restore that is killed")
				}
				w := f.copied(t)
				defer w.kill()
				one(f, w, rand.New(rand.NewPCG(uint64(seed), uint64(i)))) //nolint:gosec // chooses a moment
				f.nothingLeft(w)
			})
		}
	}
}

// wreck makes the record of a stream with a text unreadable.
func (w flipWorld) wreck(stream, text string) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.data(), "streams", "jetstream", "$G", "streams", stream, "msgs", "*.blk"))
	if err != nil || len(files) == 0 {
		w.t.Fatalf("%v: %v", files, err)
	}
	path := files[len(files)-1]
	body, err := os.ReadFile(path)
	at := bytes.LastIndex(body, []byte(text))
	if err != nil || at < 0 {
		w.t.Fatalf("%q in %s: %v", text, path, err)
	}
	for i := range text {
		body[at+i] ^= 0xA5
	}
	if err := os.WriteFile(path, body, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// killed starts a command and kills it at some moment, before its end or after.
func (w flipWorld) killed(random *rand.Rand, args ...string) {
	w.t.Helper()
	c := exec.Command(filepath.Join(bin, "writd"), args...)
	c.Dir, c.Env = w.home, w.env()
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	time.AfterFunc(time.Duration(random.IntN(120))*time.Millisecond, func() { _ = c.Process.Kill() })
	var ended *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &ended) {
		w.t.Fatal(err)
	}
}

func killedRepair(f *flipped, w flipWorld, random *rand.Rand) {
	w.wreck("WRIT_SESSIONS", "stripes stripes stripes")
	w.wreck("WRIT_AGENTS", `"schedule_id"`)
	w.killed(random, "repair")
	w.must("repair")
	if out := w.must("repair"); !strings.Contains(out, "nothing to repair") {
		w.t.Errorf("a third run finds something: %s", out)
	}
	w.must("up", "--detach")
	missing := 0
	got := w.fact("replay --json --data")
	for line := range strings.Lines(f.facts["replay --json --data"]) {
		if !strings.Contains(got, strings.TrimSpace(line)) {
			missing++
		}
	}
	if missing != 2 {
		w.t.Errorf("%d records are gone, not the two that were wrecked", missing)
	}
	if out := w.fact("replay --type records.lost --json"); strings.Count(out, `"type":"records.lost"`) != 2 {
		w.t.Errorf("the log does not say once of each that it is lost: %s", out)
	}
	if out := w.must("audit", "verify"); strings.Count(out, "1 record lost") != 2 {
		w.t.Errorf("the audit does not name what is lost: %s", out)
	}
}

func killedRepairFrom(f *flipped, w flipWorld, random *rand.Rand) {
	w.wreck("WRIT_SESSIONS", "stripes stripes stripes")
	w.wreck("WRIT_MEMORY", `"observation_id"`)
	w.killed(random, "repair", "--from", filepath.Join(w.home, "backup"))
	w.must("repair", "--from", filepath.Join(w.home, "backup"))
	f.whole(w)
}

func killedRestore(f *flipped, w flipWorld, random *rand.Rand) {
	if err := os.Rename(w.data(), w.data()+".old"); err != nil {
		w.t.Fatal(err)
	}
	w.killed(random, "restore", filepath.Join(w.home, "backup"))
	if out, ok := w.run("", "restore", filepath.Join(w.home, "backup")); !ok && !strings.Contains(out, "is not empty") {
		w.t.Fatalf("a second run does not end it: %s", out)
	}
	f.whole(w)
	if out := w.fact("replay --type log.restored --json"); strings.Count(out, `"type":"log.restored"`) != 1 {
		w.t.Errorf("the log does not say that it was restored: %s", out)
	}
}

func killedBackup(f *flipped, w flipWorld, random *rand.Rand) {
	w.must("up", "--detach")
	to := filepath.Join(w.home, "another")
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run("", "backup", to)
	}()
	time.AfterFunc(time.Duration(random.IntN(120))*time.Millisecond, w.kill)
	<-done
	w.kill()
	w.must("up", "--detach")
	w.must("backup", to)
	w.must("down")
	if err := os.Rename(w.data(), w.data()+".old"); err != nil {
		w.t.Fatal(err)
	}
	w.must("restore", to)
	f.whole(w)
}

func killedForget(_ *flipped, w flipWorld, random *rand.Rand) {
	const text = "stripes stripes stripes"
	w.must("up", "--detach")
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run("", "session", "forget", "long-1", "--reason", "private")
	}()
	time.AfterFunc(time.Duration(random.IntN(400))*time.Millisecond, w.kill)
	<-done
	w.kill()
	w.must("up", "--detach")
	if out := w.must("replay", "--type", "records.lost", "--json", "--data"); !strings.Contains(out, "long-1") {
		w.must("session", "forget", "long-1", "--reason", "private") // it was not certain yet
	}
	w.must("audit", "verify")
	w.must("down")
	w.nowhere(text)
	// A repair takes the record from a backup that still has it: it does not stay.
	w.wreck("WRIT_SESSIONS", `"prompt":"[forgotten]"`)
	w.must("repair", "--from", filepath.Join(w.home, "backup"))
	w.must("up", "--detach")
	w.must("audit", "verify")
	w.must("down")
	w.nowhere(text)
}

// nowhere wants no file of the data folder to hold a text.
func (w flipWorld) nowhere(text string) {
	w.t.Helper()
	err := filepath.WalkDir(w.data(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(path)
		if bytes.Contains(body, []byte(text)) {
			w.t.Errorf("%s still holds %q", path, text)
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
}

// whole wants every fact.
func (f *flipped) whole(w flipWorld) {
	w.t.Helper()
	if wrong, told := f.compare(w); wrong != "" {
		w.t.Errorf("wrong: %s\ntold: %s", wrong, told)
	}
}

// nothingLeft wants no file that a killed program was about to give a name.
func (f *flipped) nothingLeft(w flipWorld) {
	w.t.Helper()
	for _, pattern := range []string{".*restoring-*", "*/.unfinished-*", "data/.probe-*", "data/streams/.probe-*", "data/.new-*"} {
		if left, err := filepath.Glob(filepath.Join(w.home, pattern)); err != nil || len(left) > 0 {
			w.t.Errorf("left behind: %v, %v", left, err)
		}
	}
}
