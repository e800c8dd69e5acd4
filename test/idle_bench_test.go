package test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writbus/writ/test/programs"
)

// idleFor is how long a daemon is left alone before it is looked at;
// WRIT_BENCH_IDLE overrides it, such as 5m.
func idleFor(b *testing.B) time.Duration {
	v := os.Getenv("WRIT_BENCH_IDLE")
	if v == "" {
		return time.Minute
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkIdle tells what a daemon holds in memory a while after its first
// start, and after the conversation of the scripts and another while, and what
// it does while nobody asks. Own is what is not a page of the program's file:
// how many of those are mapped for each that is touched is the kernel's choice.
func BenchmarkIdle(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("this system has no /proc that tells what a process holds")
	}
	for b.Loop() {
		w := newBench(b, "power-loss")
		endpoint, err := programs.Announced(w.data)
		if err != nil {
			b.Fatal(err)
		}
		process := filepath.Join("/proc", strconv.Itoa(endpoint.PID))
		look := func(when string) {
			b.ReportMetric(statusMiB(b, process, "VmRSS"), when+"-MiB")
			b.ReportMetric(statusMiB(b, process, "RssAnon"), when+"-own-MiB")
		}
		time.Sleep(idleFor(b))
		look("started")
		w.converse()
		look("talking")
		time.Sleep(idleFor(b))
		look("talked")
		before, began := processorTime(b, endpoint.PID), time.Now()
		time.Sleep(idleFor(b))
		look("later")
		b.ReportMetric(float64((processorTime(b, endpoint.PID)-before).Milliseconds())/time.Since(began).Seconds(), "processor-ms/s")
	}
}

// converse plays the hooks of test/scripts/conversation.txtar, whatever they
// answer.
func (w *bench) converse() {
	w.b.Helper()
	script, err := txtar.ParseFile(filepath.Join("scripts", "conversation.txtar"))
	if err != nil {
		w.b.Fatal(err)
	}
	names := strings.NewReplacer("$PROJECT", w.project, "$WORK", "/", "$HOME", filepath.Dir(w.project))
	files := map[string]string{}
	for _, f := range script.Files {
		files["//"+f.Name] = names.Replace(string(f.Data))
	}
	stdin, hooks := "", 0
	for line := range strings.Lines(string(script.Comment)) {
		words := strings.Fields(names.Replace(strings.TrimPrefix(line, "! ")))
		switch {
		case len(words) == 2 && words[0] == "stdin":
			stdin = files[words[1]]
		case len(words) == 3 && words[0] == "cp":
			to := filepath.Join(w.project, words[2])
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				w.b.Fatal(err)
			}
			if err := os.WriteFile(to, []byte(files[words[1]]), 0o600); err != nil {
				w.b.Fatal(err)
			}
		case len(words) > 3 && words[0] == "exec" && words[1] == "writ" && (words[2] == "hook" || words[2] == "mode"):
			_, _ = w.command(stdin, words[2:]...).CombinedOutput() // a refusal is a failure of the command
			hooks++
		}
	}
	if hooks < 20 {
		w.b.Fatalf("the conversation has %d commands", hooks)
	}
}

// statusMiB is a field of a process's status, in MiB.
func statusMiB(b *testing.B, process, field string) float64 {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join(process, "status"))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == field+":" {
			kB, err := strconv.ParseFloat(words[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kB / 1024
		}
	}
	b.Fatalf("%s has no %s", process, field)
	return 0
}
