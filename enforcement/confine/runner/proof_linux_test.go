package runner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/confine"
)

// holdsVar says how much the hold of these tests' own client is worth.
const holdsVar = "WRIT_TEST_HOLDS"

// TestMain lets the test binary be the client: `confine` with the options that
// [Runner.Prove] gives.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "confine" {
		os.Exit(m.Run())
	}
	if os.Args[2] == confine.ProbeOption {
		prober, _ := strconv.Atoi(os.Args[4])
		for _, name := range append(confine.Probes(os.Args[3], prober, os.Args[5]), confine.ProbesEnded) {
			fmt.Println(name)
		}
		os.Exit(0)
	}
	os.Exit(client(os.Args[2:]))
}

func client(args []string) (exit int) {
	value := func(name string) string { return args[slices.Index(args, name)+1] }
	o := confine.Options{
		Profile: confine.Profile(value("--profile")), Project: value("--project"), DataDir: value("--data"), Whole: true, Quiet: true,
		Args: args[slices.Index(args, "--")+1:], Vars: os.Environ(), Dir: value("--project"),
	}
	switch os.Getenv(holdsVar) {
	case "nothing":
		cmd := exec.Command(o.Args[0], o.Args[1:]...)
		cmd.Stdout = os.Stdout
		for range 5 {
			cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(3+len(cmd.ExtraFiles)), "of the host"))
		}
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	case "no signals":
		o.Profile = confine.Implementation
	case "no probe":
		return 0
	}
	exit, err := confine.Run(o, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return exit
}

// TestWhatAProbeGetsThroughIsAbsent: a hold counts only where every probe is
// refused, and what was not is named.
func TestWhatAProbeGetsThroughIsAbsent(t *testing.T) {
	if _, why := confine.Supported(); why != "" {
		t.Skip("no confinement here: " + why)
	}
	for _, c := range []struct {
		holds string
		want  []string
	}{
		{"everything", nil},
		{"no signals", []string{"does not hold signals to processes outside"}},
		{"no probe", []string{"did not run to their end"}},
		{"nothing", []string{"writing outside", "reading credentials", "signals", "sockets outside", "inherited descriptors"}},
	} {
		t.Run(c.holds, func(t *testing.T) {
			t.Setenv(holdsVar, c.holds)
			data := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
			secret := filepath.Join(data, "credentials", "admin.json")
			if err := os.MkdirAll(filepath.Dir(secret), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(secret, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r := Runner{Writ: os.Args[0], DataDir: data, proof: &proof{ended: make(chan struct{})}}
			r.Prove(t.Context())
			got := r.Absent()
			if (got == "") != (len(c.want) == 0) {
				t.Fatalf("absent: %q", got)
			}
			for _, part := range c.want {
				if !strings.Contains(got, part) {
					t.Errorf("absent: %q, want %q in it", got, part)
				}
			}
			if c.want != nil && !strings.HasPrefix(r.String(), "none ("+got) {
				t.Errorf("shown as %q", r)
			}
			if _, err := os.Stat(filepath.Join(data, "run", "probe")); !os.IsNotExist(err) {
				t.Errorf("the probes left their folder: %v", err)
			}
		})
	}
}

// TestADecisionWaitsForTheProbes, and takes none that did not end for a hold.
func TestADecisionWaitsForTheProbes(t *testing.T) {
	r := Runner{Writ: "writ", proof: &proof{ended: make(chan struct{})}}
	go r.proof.end("")
	if why := r.Absent(); why != "" {
		t.Error(why)
	}
	for out, refused := range map[string]bool{confine.ProbesEnded: false, "": true, "writing outside": true, "writing outside\n" + confine.ProbesEnded: true} {
		if why := let(out); (why != "") != refused {
			t.Errorf("%q: %q", out, why)
		}
	}
}
