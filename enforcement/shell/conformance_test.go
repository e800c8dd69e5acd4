package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/test/conformance"
)

// conformanceCase is one line of shell.jsonl.
type conformanceCase struct {
	ID       string   `json:"id"`
	Command  string   `json:"command"`
	Expect   string   `json:"expect"`
	Accept   []string `json:"accept"`
	Paths    []string `json:"paths"`
	Resolved []string `json:"resolved"`
	Match    string   `json:"match"`
	Note     string   `json:"note"`
	Observed struct {
		Worktree []string `json:"worktree"`
		Git      bool     `json:"git"`
		Outside  []string `json:"outside"`
	} `json:"observed"`
}

const repoDir, homeDir = "/scratch/repo", "/scratch/home"

func repoEnv() Env { return Env{Dir: repoDir, Home: homeDir, Project: repoDir} }

func TestConformanceShell(t *testing.T) {
	conformance.Run(t, "shell", func(t *testing.T, c conformanceCase) {
		r := Analyse(c.Command, repoEnv())
		if problem := c.check(r); problem != "" {
			t.Errorf("%s\ncommand  %s\nresult   %v %v\nexpected %s %v %v %s\nreasons  %v",
				problem, c.Command, r.Effect, r.Paths, c.Expect, c.Accept, c.Paths, c.Match, r.Reasons)
		}
	})
}

// accepts reports an effect that is right for the case. Some commands were seen
// to change nothing only because the run failed or met nothing to change.
func (c conformanceCase) accepts(e Effect) bool {
	return e.String() == c.Expect || slices.Contains(c.Accept, e.String())
}

// check compares a result with the case; "" means that it is right.
func (c conformanceCase) check(r Result) string {
	if !c.accepts(r.Effect) {
		return "wrong effect"
	}
	if r.Effect != Writes || len(c.Paths) == 0 {
		return ""
	}
	want := absolute(c.Paths)
	paths := slices.DeleteFunc(cleaned(r.Paths), func(p string) bool {
		return inGit(p) && !slices.Contains(want, p)
	})
	switch c.Match {
	case "":
		want = slices.DeleteFunc(want, func(p string) bool { return inGit(p) && !slices.Contains(paths, p) })
		if !sameSet(paths, want) && !sameSet(paths, absolute(c.Resolved)) {
			return "wrong paths"
		}
	case "cover":
		for _, w := range want {
			if !slices.ContainsFunc(paths, func(p string) bool { return inside(w, p) }) {
				return "path not covered: " + w
			}
		}
	case "within":
		for _, p := range paths {
			if !slices.ContainsFunc(want, func(w string) bool { return inside(p, w) }) {
				return "path outside the expected ones: " + p
			}
		}
	default:
		return "unknown match " + c.Match
	}
	return ""
}

// cleaned are the paths without the detours that are kept for their links; the
// cases know of none but those they name as resolved.
func cleaned(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = path.Clean(p)
	}
	return out
}

func inGit(p string) bool {
	git := path.Join(repoDir, ".git")
	return inside(p, git) && !inside(p, path.Join(git, "hooks"))
}

func absolute(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		switch rest, home := strings.CutPrefix(n, "~/"); {
		case home:
			out[i] = path.Join(homeDir, rest)
		case strings.HasPrefix(n, "/"):
			out[i] = path.Clean(n)
		default:
			out[i] = path.Join(repoDir, n)
		}
	}
	return out
}

func sameSet(a, b []string) bool {
	set := func(s []string) []string {
		m := map[string]bool{}
		for _, v := range s {
			m[v] = true
		}
		return slices.Sorted(maps.Keys(m))
	}
	return slices.Equal(set(a), set(b))
}

// TestConfusion compares the result with what the command was seen to change.
// A writer judged a reader is the one mistake that must not happen; a reader
// judged a writer costs an agent a refusal.
func TestConfusion(t *testing.T) {
	matrix := map[bool]map[Effect]int{true: {}, false: {}}
	var missed, falseWriters []string
	for _, c := range conformance.Cases[conformanceCase](t, "shell") {
		writer := len(c.Observed.Worktree) > 0 || len(c.Observed.Outside) > 0
		r := Analyse(c.Command, repoEnv())
		effect := r.Effect
		if r.GitMetadata {
			// The observation keeps the repository's own data apart.
			effect = ReadsOnly
		}
		matrix[writer][effect]++
		if writer && effect == ReadsOnly {
			missed = append(missed, c.ID)
		}
		if !writer && effect == Writes && !c.accepts(Writes) {
			falseWriters = append(falseWriters, c.ID)
		}
	}
	t.Log("observed     reads_only  writes  cannot_tell")
	for _, writer := range []bool{true, false} {
		name := map[bool]string{true: "changed", false: "unchanged"}[writer]
		t.Logf("%-12s %10d %7d %12d", name, matrix[writer][ReadsOnly], matrix[writer][Writes], matrix[writer][CannotTell])
	}
	t.Logf("non-writers judged writers: %v", falseWriters)
	if len(missed) > 0 {
		t.Errorf("writers judged readers: %v", missed)
	}
	total := 0
	for _, n := range matrix[false] {
		total += n
	}
	if wrong := len(falseWriters); wrong*100 > total*2 {
		t.Errorf("%d of %d non-writers judged writers, more than 2 %%", wrong, total)
	}
}
