// Package origin tells which repository a folder belongs to, in a way that is
// the same in each of its work trees and clones: by git's remote and by the first
// commit.
//
// It runs git, bounded in time, and nothing that the repository's settings name;
// it fetches nothing. What cannot be told is left empty, which is never an error: a
// folder outside of git belongs to no repository. What counts as the same is the
// business of [schemas.Repository].
package origin

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

const (
	// patience bounds all that git is asked of one folder.
	patience = 500 * time.Millisecond
	// hops bounds how far remotes that are folders of this machine are followed.
	hops = 4
)

// Of is the repository that holds a folder, with the folder's place in its work
// tree; the zero value where there is none, or git cannot be asked.
func Of(ctx context.Context, dir string) schemas.Repository {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := at(ctx, dir, hops)
	if r != (schemas.Repository{}) {
		r.Head, _ = git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	}
	return r
}

func at(ctx context.Context, dir string, left int) (r schemas.Repository) {
	told, err := git(ctx, dir, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-prefix", "--is-shallow-repository")
	if err != nil {
		return r
	}
	// A bare repository has no work tree, and git tells no prefix of it.
	lines := strings.Split(told, "\n")
	common, shallow := lines[0], lines[len(lines)-1] == "true"
	if len(lines) > 2 {
		r.Below = strings.TrimSuffix(lines[1], "/")
	}
	// The repository's own HEAD: a work tree may be on a branch without a history.
	// First parents alone lead to one commit, whatever was merged into it.
	if !shallow {
		r.First, _ = git(ctx, dir, "--git-dir="+common, "rev-list", "--max-parents=0", "--first-parent", "HEAD")
	}
	remote := remoteOf(ctx, dir, common)
	if folder, is := local(remote, common); !is {
		r.Remote = Normal(remote)
	} else if left > 0 {
		from := at(ctx, folder, left-1)
		r.Remote = from.Remote
		r.First = cmp.Or(r.First, from.First)
	}
	return r
}

// remoteOf is the address of the remote origin, or of the first by name.
func remoteOf(ctx context.Context, dir, common string) (address string) {
	list, err := git(ctx, dir, "--git-dir="+common, "config", "--get-regexp", `^remote\..*\.url$`)
	if err != nil {
		return ""
	}
	first := ""
	for line := range strings.Lines(list) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "remote.origin.url" {
			return value
		}
		if first == "" || key < first {
			first, address = key, value
		}
	}
	return address
}

// local is the folder of this machine that an address names, resolved against the
// repository that has it.
func local(address, common string) (folder string, is bool) {
	if after, found := strings.CutPrefix(address, "file://"); found {
		return filepath.FromSlash(after), true
	}
	if address == "" || strings.Contains(address, "://") {
		return "", false
	}
	if !filepath.IsAbs(address) {
		if colon := strings.IndexByte(address, ':'); colon >= 0 && !strings.Contains(address[:colon], "/") {
			return "", false // host:path, as scp has it
		}
		address = filepath.Join(filepath.Dir(common), address)
	}
	return address, true
}

// Normal is a remote's address without what differs between those who clone it:
// the protocol, the user and the password, the port and ".git". The host is in
// lower case. "" is what names no host.
func Normal(address string) string {
	host, place := "", ""
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		host, place = u.Hostname(), u.Path
	} else {
		host, place, _ = strings.Cut(address, ":")
		host = host[strings.LastIndexByte(host, '@')+1:]
	}
	place = strings.TrimSuffix(strings.Trim(path.Clean("/"+place), "/"), ".git")
	if host == "" || place == "" {
		return ""
	}
	return strings.ToLower(host) + "/" + place
}

// git is the answer of a plumbing command that runs no hook, filter or monitor and
// fetches nothing.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"--no-replace-objects", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false"}, args...)...)
	c.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	c.WaitDelay = 50 * time.Millisecond
	out, err := c.Output()
	return strings.TrimSuffix(string(out), "\n"), err
}
