package runner

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/writbus/writ/enforcement/confine"
)

const probesEnded = confine.ProbesEnded

// probeTime bounds a run of the probes.
const probeTime = 20 * time.Second

// Prove runs the probes of the hold, once a process. Where commands cannot be held
// anyway it does nothing.
func (r Runner) Prove(ctx context.Context) {
	if r.Writ == "" || r.proof == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	out, err := r.probe(ctx)
	if err != nil {
		r.proof.end("the probes of the hold failed: " + err.Error())
		return
	}
	r.proof.end(let(out))
}

// probe sets up what the probes try to reach, in the data folder, and runs them in
// the strictest hold.
func (r Runner) probe(ctx context.Context) (out string, err error) {
	dir := filepath.Join(r.DataDir, "run", "probe")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := os.OpenFile(filepath.Join(dir, confine.ProbeFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // nothing is written
	folder, err := os.Open(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = folder.Close() }() // only a handle
	prober := strconv.Itoa(os.Getpid())
	// The folder's own path may be too long for the name of a socket.
	for _, name := range []string{"/proc/self/fd/" + strconv.Itoa(int(folder.Fd())) + "/" + confine.ProbeSocket, "@" + confine.ProbeAbstract + prober} {
		listener, err := net.Listen("unix", name)
		if err != nil {
			return "", err
		}
		defer func() { _ = listener.Close() }() // nobody is to connect
	}
	if err := untilOlder(ctx, filepath.Join(dir, confine.ProbeSocket)); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, r.Writ, "confine", "--data", r.DataDir, "--project", dir, "--profile", string(confine.Scratch), "--quiet", "--whole",
		"--", r.Writ, "confine", confine.ProbeOption, dir, prober, filepath.Join(r.DataDir, "credentials", "admin.json"))
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append(os.Environ(), "WRIT_HOME="+r.DataDir)
	cmd.ExtraFiles = []*os.File{file, file, file, file, file}
	raw, err := cmd.Output()
	return string(raw), err
}

// untilOlder waits until the clock of files has gone on since one was made: what is
// as young as a command counts as made by it.
func untilOlder(ctx context.Context, path string) error {
	made, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := made.Sys().(*syscall.Stat_t)
	for ok && confine.FileClock() <= stat.Ctim.Nano() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}
