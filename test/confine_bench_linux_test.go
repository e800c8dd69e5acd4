package test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/writbus/writ/enforcement/confine/runner"
)

// BenchmarkConfinement is what a hold adds to a command that does nothing: the line
// that a host runs in its place, the process included that keeps the command, by
// turns with the command itself; for a project in the home folder, and for one in
// the temp folder with whatever neighbours it has.
func BenchmarkConfinement(b *testing.B) {
	// What is left without its parent becomes this process's child, and counts.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		b.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		b.Skip(err)
	}
	for name, dir := range map[string]string{"home": home, "temp": ""} {
		b.Run(name, func(b *testing.B) {
			project, err := os.MkdirTemp(dir, "writ-bench-") //nolint:usetesting // where it lies is what is measured
			if err != nil {
				b.Skip("no project can be made there: " + err.Error())
			}
			defer os.RemoveAll(project)
			hold := runner.Runner{Writ: filepath.Join(bin, "writ"), DataDir: filepath.Join(project, "data")}
			held := hold.Rewrite("true", []string{"--project", project, "--profile", "implementation"}, true)
			if out, err := hostRuns(project, held).CombinedOutput(); err != nil {
				b.Skipf("no confinement here: %v\n%s", err, out)
			}
			var with, without durations
			var used time.Duration
			for b.Loop() {
				before := childrensTime(b)
				without = append(without, timed(b, hostRuns(project, "true")))
				between := childrensTime(b)
				with = append(with, timed(b, hostRuns(project, held)))
				used += childrensTime(b) - between - (between - before)
			}
			b.ReportMetric(float64((with.at(.5)-without.at(.5)).Microseconds())/1000, "adds-p50-ms")
			b.ReportMetric(float64((with.at(0)-without.at(0)).Microseconds())/1000, "adds-least-ms")
			b.ReportMetric(float64(used.Microseconds())/1000/float64(len(with)), "adds-cpu-ms")
		})
	}
}

// hostRuns is a command line as a host runs it.
func hostRuns(dir, line string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", `eval "$1"; exit $?`, "bash", line)
	cmd.Dir = dir
	return cmd
}

// childrensTime is the processor time of all children so far, once the last of
// them has ended.
func childrensTime(b *testing.B) time.Duration {
	b.Helper()
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); errors.Is(err, unix.ECHILD) {
			break
		}
	}
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
