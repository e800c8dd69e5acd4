package origin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestNormalKeepsWhatClonesShare(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org/shop/web.git":                "example.org/shop/web",
		"https://ann:token-1@Example.org/shop/web":        "example.org/shop/web",
		"ssh://git@example.org:2222/shop/web.git/":        "example.org/shop/web",
		"git@example.org:shop/web.git":                    "example.org/shop/web",
		"example.org:/shop//web":                          "example.org/shop/web",
		"https://example.org/Shop/web":                    "example.org/Shop/web",
		"https://example.org/../../shop/web":              "example.org/shop/web",
		"https://example.org/shop/web.git?access=token-1": "example.org/shop/web",
		"https://example.org":                             "",
		"https://exa mple.org/%zz":                        "",
		"web":                                             "",
		"":                                                "",
	} {
		if got := Normal(address); got != want {
			t.Errorf("%q is %q, want %q", address, got, want)
		}
	}
}

func FuzzNormal(f *testing.F) {
	for _, seed := range []string{"https://u:p@h/a/b.git", "git@h:a/b", "file:///a", "h:", ":", "a@b@c:d@e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if got := Normal(address); got != "" && (!strings.Contains(got, "/") || strings.HasSuffix(got, "/")) {
			t.Errorf("%q is %q", address, got)
		}
	})
}

// world is a folder with repositories.
type world struct {
	*testing.T
	dir string
}

func newWorld(t *testing.T) world {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: repositories cannot be told apart")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return world{t, dir}
}

func (w world) git(in string, args ...string) string {
	w.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	c.Dir = filepath.Join(w.dir, in)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := c.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v in %s: %v\n%s", args, in, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w world) repository(in string) schemas.Repository {
	return Of(w.Context(), filepath.Join(w.dir, in))
}

// TestOfIsTheSameInWorkTreesAndClones makes what people and agents make of one
// repository, and of others.
func TestOfIsTheSameInWorkTreesAndClones(t *testing.T) {
	w := newWorld(t)
	w.git("", "init", "-q", "-b", "main", "web")
	w.git("web", "commit", "-q", "--allow-empty", "-m", "one")
	w.git("web", "commit", "-q", "--allow-empty", "-m", "two")
	first := w.repository("web")
	if len(first.First) != 40 || first.Remote != "" || first.Below != "" {
		t.Fatalf("%+v", first)
	}
	w.git("web", "worktree", "add", "-q", "-b", "side", "../tree")
	w.git("web", "worktree", "add", "-q", "--detach", "../orphan")
	w.git("orphan", "checkout", "-q", "--orphan", "pages")
	w.git("", "clone", "-q", "web", "clone")
	w.git("", "clone", "-q", "clone", "twice")
	w.git("", "clone", "-q", "--bare", "web", "bare.git")
	w.git("", "clone", "-q", "bare.git", "frombare")
	w.git("", "clone", "-q", "--depth", "1", "file://"+filepath.ToSlash(filepath.Join(w.dir, "web")), "shallow")
	w.git("", "init", "-q", "-b", "main", "other")
	w.git("other", "commit", "-q", "--allow-empty", "-m", "other's first")
	for _, in := range []string{"tree", "orphan", "clone", "twice", "frombare", "shallow"} {
		if r := w.repository(in); !r.Same(first) {
			t.Errorf("%s is of %+v, not of %+v", in, r, first)
		}
	}
	if r := w.repository("other"); r.Same(first) {
		t.Errorf("another repository is of %+v", r)
	}

	// What is merged in does not change where it began.
	w.git("clone", "fetch", "-q", "../other", "main:theirs")
	w.git("clone", "merge", "-q", "--allow-unrelated-histories", "-m", "both", "theirs")
	if r := w.repository("clone"); r.First != first.First {
		t.Errorf("after a merge of another history it began with %s", r.First)
	}

	// With remotes these decide, whatever the protocol.
	w.git("web", "remote", "add", "origin", "https://ann:token-1@example.org/shop/web.git")
	w.git("shallow", "remote", "set-url", "origin", "git@example.org:shop/web")
	w.git("twice", "remote", "set-url", "origin", "https://example.org/ann/web")
	upstream := w.repository("web")
	if upstream.Remote != "example.org/shop/web" {
		t.Errorf("%+v", upstream)
	}
	if r := w.repository("shallow"); r.First != "" || !r.Same(upstream) {
		t.Errorf("a shallow clone over ssh is of %+v", r)
	}
	if r := w.repository("twice"); r.Same(upstream) {
		t.Errorf("a fork is of %+v", r)
	}
	r := w.repository("tree")
	if head := w.git("tree", "rev-parse", "HEAD"); r != (schemas.Repository{Remote: "example.org/shop/web", First: first.First, Head: head}) {
		t.Errorf("the work tree is of %+v", r)
	}

	// A folder has its place, and what is no repository has none.
	for _, dir := range []string{"web/services/mail", "shallow/services/mail", "plain"} {
		if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := w.repository("web/services/mail"), w.repository("shallow/services/mail"); a.Below != "services/mail" || !a.Same(b) || a.Same(upstream) {
		t.Errorf("folders are of %+v and %+v", a, b)
	}
	for _, in := range []string{"plain", "nowhere"} {
		if r := w.repository(in); r != (schemas.Repository{}) {
			t.Errorf("%s is of %+v", in, r)
		}
	}
	if none := (schemas.Repository{}); none.Same(none) {
		t.Error("what is in no repository is of one")
	}
}

// TestOfEndsWhereRemotesLeadInACircle: two repositories are each other's remotes.
func TestOfEndsWhereRemotesLeadInACircle(t *testing.T) {
	w := newWorld(t)
	for _, one := range []string{"a", "b"} {
		w.git("", "init", "-q", "-b", "main", one)
		w.git(one, "commit", "-q", "--allow-empty", "-m", one)
	}
	w.git("a", "remote", "add", "origin", "../b")
	w.git("b", "remote", "add", "origin", "../a")
	if r := w.repository("a"); r.Remote != "" || r.First == "" {
		t.Errorf("%+v", r)
	}
}
