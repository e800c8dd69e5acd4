package early

import (
	"os"
	"path"
	"strconv"

	"github.com/writbus/writ/cmd/writ/confined"
	"github.com/writbus/writ/enforcement/confine"
)

func init() {
	if len(os.Args) > 2 && os.Args[1] == "confine" {
		if os.Args[2] == confine.ProbeOption && len(os.Args) == 6 {
			os.Exit(probe(os.Args[3:]))
		}
		if exit, ran := run(os.Args[2:]); ran {
			os.Exit(exit)
		}
	}
}

// probe tries a hold from within, and says what it let through.
func probe(args []string) (exit int) {
	prober, err := strconv.Atoi(args[1])
	if err != nil {
		return confine.ExitUsage
	}
	for _, name := range append(confine.Probes(args[0], prober, args[2]), confine.ProbesEnded) {
		if _, err := os.Stdout.WriteString(name + "\n"); err != nil {
			return 1
		}
	}
	return 0
}

// run runs what the arguments say, if all is as it should be.
func run(args []string) (exit int, ran bool) {
	if args[0] == "-h" || args[0] == "--help" {
		return 0, false
	}
	dir, err := os.Getwd()
	if err != nil && args[0] == confine.KeptOption {
		dir, err = "/", nil // what keeps a job goes on where its folder is gone
	}
	if err != nil {
		return 0, false
	}
	o := confine.Options{Home: os.Getenv("HOME"), Dir: dir, Vars: os.Environ(), DataDir: dataDir(dir)}
	if o.DataDir == "" {
		return 0, false
	}
	o, err = confined.Read(o, args, confined.World{
		Absolute: func(p string) string { return absolute(dir, p) },
		Project:  func() (string, bool) { return "", false },
		Reveal:   reveal,
	})
	if err != nil {
		return 0, false
	}
	exit, err = confine.Run(o, os.Stderr)
	return exit, err == nil
}

func absolute(dir, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// dataDir is config.DataDir, "" where that is an error.
func dataDir(dir string) string {
	if own := os.Getenv("WRIT_HOME"); own != "" {
		return absolute(dir, own)
	}
	if state := os.Getenv("XDG_STATE_HOME"); path.IsAbs(state) {
		return path.Join(state, "writ")
	}
	if home := os.Getenv("HOME"); home != "" {
		return path.Join(home, ".local", "state", "writ")
	}
	return ""
}

// reveal are config.EndpointPath and the agent's config.CredentialPath.
func reveal(dataDir string) []string {
	return []string{path.Join(dataDir, "run", "endpoint.json"), path.Join(dataDir, "credentials", "agent.json")}
}
