package gitcommit_test

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git names its files so
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/projections/audit/gitcommit"
)

// repository is one of two commits, base and HEAD, the second of which adds b.go.
func repository(t *testing.T) (r gitcommit.Repository, sh func(script string) string) {
	t.Helper()
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s: %v", program, err)
		}
	}
	r = gitcommit.Repository{Dir: t.TempDir(), Env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")}
	sh = func(script string) string {
		t.Helper()
		c := exec.Command("sh", "-ec", script)
		c.Dir, c.Env = r.Dir, r.Env
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	sh("git init -q; echo a >a.go; git add .; git commit -qm base; git tag base; echo b >b.go; git add .; git commit -qm work")
	return r, sh
}

// TestDifferenceHidesNothing: what somebody pushes does not keep a change from being
// seen. Each script leads to a change of the file, or to a reason against the commit.
func TestDifferenceHidesNothing(t *testing.T) {
	const doubled = `b=$(git rev-parse HEAD:b.go); e=$(echo evil | git hash-object -w --stdin)
git tag doubled $(git commit-tree -p base -m x $(printf '100644 blob %s\tb.go\n100644 blob %s\tb.go\n' $1 $2 | git mktree))`
	for name, c := range map[string]struct{ script, revision, file, why string }{
		"a repository whose changes are to be ignored": {script: `printf '[submodule "s"]\n\tpath = s\n\turl = ./s\n\tignore = all\n' >.gitmodules; git add .
git update-index --add --cacheinfo 160000,$(git rev-parse base),s; git commit -qm one
git update-index --cacheinfo 160000,$(git rev-parse HEAD),s; git commit -qm two`, revision: "HEAD~1..HEAD", file: "s"},
		"a tag with the name of a branch": {script: "git update-ref refs/remotes/origin/main base; git tag origin/main HEAD", revision: "origin/main..HEAD", why: "refs/remotes/"},
		"the branch in full":              {script: "git update-ref refs/remotes/origin/main base; git tag origin/main HEAD", revision: "refs/remotes/origin/main..HEAD", file: "b.go"},
		"an evil file before the good":    {script: strings.NewReplacer("$1", "$e", "$2", "$b").Replace(doubled), revision: "base..doubled", why: "git itself never writes"},
		"an evil file behind the good":    {script: strings.NewReplacer("$1", "$b", "$2", "$e").Replace(doubled), revision: "base..doubled", why: "git itself never writes"},
		"a graft":                         {script: `echo "$(git rev-parse HEAD) $(git commit-tree -m x HEAD^{tree})" >.git/info/grafts`, revision: "HEAD", file: "b.go"},
		"two histories":                   {script: "git checkout -q --orphan other; git commit -qm other", revision: "base..HEAD", why: "in common"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, sh := repository(t)
			sh(c.script)
			d, err := r.Difference(t.Context(), c.revision)
			if c.why != "" {
				if err == nil || !strings.Contains(err.Error(), c.why) {
					t.Fatalf("%v, %v; want %q", d.Changes, err, c.why)
				}
				return
			}
			if err != nil || len(d.Changes) != 1 || d.Changes[0].Path != c.file {
				t.Fatalf("%v, %v; want %s", d.Changes, err, c.file)
			}
		})
	}
}

// TestAForgedGraphHidesNothing: git takes parents from the graph of commits that it keeps
// beside them, which whoever commits may write.
func TestAForgedGraphHidesNothing(t *testing.T) {
	r, sh := repository(t)
	sh("git update-ref refs/heads/x $(git commit-tree -m x HEAD^{tree}); git commit-graph write --reachable")
	path := filepath.Join(r.Dir, ".git/objects/info/commit-graph")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw = raw[:len(raw)-sha1.Size]
	at := func(chunk string) int { // the table of chunks is behind eight bytes
		entry := 8 + bytes.Index(raw[8:], []byte(chunk))
		return int(binary.BigEndian.Uint64(raw[entry+4:]))
	}
	ids, commits := at("OIDL"), at("CDAT")
	nth := func(revision string) int {
		id, err := hex.DecodeString(sh("git rev-parse " + revision))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Index(raw[ids:], id) / sha1.Size
	}
	binary.BigEndian.PutUint32(raw[commits+36*nth("HEAD")+sha1.Size:], uint32(nth("x")))
	sum := sha1.Sum(raw)
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, append(raw, sum[:]...), 0o600)); err != nil {
		t.Fatal(err)
	}
	if sh("git rev-list --parents --max-count=1 HEAD") != sh("git rev-parse HEAD")+" "+sh("git rev-parse x") {
		t.Fatal("git itself does not go by it")
	}
	if d, err := r.Difference(t.Context(), "HEAD"); err != nil || len(d.Changes) != 1 || d.Changes[0].Path != "b.go" {
		t.Fatalf("%v, %v; want b.go", d.Changes, err)
	}
}

// TestDifferenceSaysWhichRepository by the first commit of what was there before, which
// whoever makes the rest does not choose.
func TestDifferenceSaysWhichRepository(t *testing.T) {
	r, sh := repository(t)
	first := sh("git rev-parse base")
	sh("git checkout -q --orphan other; git commit -qm other; git merge -q --allow-unrelated-histories -m merge base")
	if d, err := r.Difference(t.Context(), "base..HEAD"); err != nil || d.Repository.First != first {
		t.Fatalf("%+v, %v; want %s", d.Repository, err, first)
	}
	shallow := filepath.Join(t.TempDir(), "clone")
	sh("git clone -q --depth 1 file://" + r.Dir + " " + shallow)
	r.Dir = shallow
	if d, err := r.Difference(t.Context(), "HEAD"); err != nil || d.Repository.First == d.Commit {
		t.Fatalf("%+v, %v", d.Repository, err)
	}
}
