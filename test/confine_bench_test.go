package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkConfinement is what `writ confine` adds to a command that does
// nothing, run in turn with it: for a project in the home folder, and for one in
// the temp folder with whatever neighbours it has.
func BenchmarkConfinement(b *testing.B) {
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
			confined := func() *exec.Cmd {
				cmd := exec.Command(filepath.Join(bin, "writ"), "confine", "--project", project, "--profile", "implementation", "--whole", "--", "/bin/true")
				cmd.Dir = project
				return cmd
			}
			if out, err := confined().CombinedOutput(); err != nil {
				b.Skipf("no confinement here: %v\n%s", err, out)
			}
			var with, without durations
			for b.Loop() {
				without = append(without, timed(b, exec.Command("/bin/true")))
				with = append(with, timed(b, confined()))
			}
			b.ReportMetric(float64((with.at(.5)-without.at(.5)).Microseconds())/1000, "adds-p50-ms")
			b.ReportMetric(float64((with.at(0)-without.at(0)).Microseconds())/1000, "adds-least-ms")
		})
	}
}
