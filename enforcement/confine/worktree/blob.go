package worktree

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Blobs reads contents from a repository by their names, as far as they are
// there. This plumbing command of git runs no hook, filter or monitor; a
// repository that would fetch what it lacks may not.
func Blobs(ctx context.Context, root string, names []string) map[string][]byte {
	if len(names) == 0 {
		return nil
	}
	out, err := plumb(ctx, root, strings.Join(names, "\n")+"\n", "cat-file", "--batch")
	if err != nil {
		return nil
	}
	return parseBatch(out)
}

// plumb runs a plumbing command of git that only reads.
func plumb(ctx context.Context, root, in string, args ...string) ([]byte, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, git, append([]string{"--no-replace-objects", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false"}, args...)...)
	c.Dir = root
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	c.Stdin = strings.NewReader(in)
	return c.Output()
}

// Staged is what git's index has of a file, relative to a folder of its work tree.
func Staged(ctx context.Context, root, rel string) (content []byte, known bool) {
	return Committed(ctx, root, "", rel)
}

// Before is the last commit of the branch that is checked out which is older than a
// moment, "" where there is none.
func Before(ctx context.Context, root string, at time.Time) string {
	out, err := plumb(ctx, root, "", "rev-list", "-1", "--first-parent", "--before=@"+strconv.FormatInt(at.Unix(), 10), "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Committed is what a commit has of a file, relative to a folder of the work tree;
// the index for no commit.
func Committed(ctx context.Context, root, commit, rel string) (content []byte, known bool) {
	if strings.ContainsAny(rel, "\n\r") {
		return nil, false
	}
	for _, content := range Blobs(ctx, root, []string{commit + ":./" + rel}) {
		return content, true
	}
	return nil, false
}

// parseBatch reads the answers of git cat-file --batch: a line "NAME TYPE SIZE",
// the content, a line break; for what is missing one other line.
func parseBatch(out []byte) map[string][]byte {
	found := map[string][]byte{}
	reader := bufio.NewReader(bytes.NewReader(out))
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return found
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size > len(out) {
			return found
		}
		content := make([]byte, size)
		if _, err := io.ReadFull(reader, content); err != nil {
			return found
		}
		if fields[1] == "blob" {
			found[fields[0]] = content
		}
		_, _ = reader.ReadByte() // the line break
	}
}
