package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

// write is /write [--persist] PATH … /endwrite.
func (w *handlers) write(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	if c.Body == nil {
		return verbs.Err("/write has no content", "put it on the lines after it and end it with /endwrite"), nil
	}
	raw := strings.TrimSpace(c.Args)
	persist := false
	if rest, ok := strings.CutPrefix(raw, "--persist"); ok && strings.TrimLeft(rest, " \t") != rest {
		persist, raw = true, strings.TrimSpace(rest)
	}
	f, err := openFolder(c)
	if err != nil {
		return told(err)
	}
	defer f.close()
	name, err := f.name(raw)
	if err != nil {
		return told(err)
	}
	if err := w.writable(f, name); err != nil {
		return told(err)
	}
	if what := sensitive(f.path, name, c.Constitution); what != "" && !c.Confirmed {
		return verbs.Ask(name + " is " + what), nil
	}
	act := Act{Path: filepath.Join(f.path, filepath.FromSlash(name)), Content: c.Body}
	d, err := w.Gate.Ask(ctx, c, act)
	if err != nil {
		return verbs.Result{}, err
	}
	if r, refused := d.refused(c); refused {
		return r, nil
	}
	started := time.Now()
	was, err := replace(f.root, name, c.Body)
	report := Report{Millis: time.Since(started).Milliseconds()}
	if err != nil {
		report.Failed, report.Error = true, err.Error()
	}
	more, gateErr := w.Gate.Done(context.WithoutCancel(ctx), c, act, d.Ticket, report)
	if err != nil {
		r, err := told(err)
		return r, errors.Join(err, gateErr)
	}
	r := verbs.OK("wrote %s (%s)", name, change(was, c.Body)).With("path", name).With("sha256", digest.Hex(c.Body))
	r.Text = join(r.Text, d.Context, more)
	if persist {
		r.Keep = []verbs.Artifact{{Name: name, MIME: mimeOf(name, c.Body), Data: c.Body, Size: len(c.Body)}}
	}
	return r, gateErr
}

// refused makes a result of a decision that does not allow, or not yet.
func (d Decision) refused(c verbs.Call) (verbs.Result, bool) {
	switch {
	case d.Verdict == dialect.Allow, d.Verdict == dialect.Ask && c.Confirmed:
		return verbs.Result{}, false
	case d.Verdict == dialect.Ask:
		return verbs.Ask(d.Reason), true
	default:
		return verbs.Err(d.Reason, "do first what it says, or ask the user"), true
	}
}

// writable refuses what no confirmation makes writable.
func (w *handlers) writable(f *folder, name string) error {
	if name == "." {
		return problem{"the workspace is a folder", "name a file"}
	}
	if w.private(filepath.Join(f.path, filepath.FromSlash(name))) {
		return problem{name + " is among Writ's own data", "do without it"}
	}
	for part := range strings.SplitSeq(name, "/") {
		if gitFolder(part) {
			return problem{name + " is in a .git folder", "use git itself with /exec"}
		}
	}
	return nil
}

// gitFolder reports the names by which some file system finds ".git": without
// case, with its short name, with what it ignores at the end or in between.
func gitFolder(part string) bool {
	part = strings.TrimRight(strings.ToLower(part), " .")
	part, _, _ = strings.Cut(part, ":")
	part = strings.Map(func(r rune) rune {
		if r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1 // what HFS+ leaves out of comparisons
		}
		return r
	}, part)
	return part == ".git" || strings.HasPrefix(part, "git~")
}

// asked are the settings of agents, editors and hooks that programs run or obey
// without being told to, besides those that enforcement protects. One that ends
// in a slash is a folder.
var asked = []string{
	".claude/", ".cursor/", ".codex/", ".gemini/", ".opencode/", ".writ/", ".vscode/", ".idea/", ".husky/", ".githooks/", ".devcontainer/",
	".mcp.json", ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".envrc", ".gitmodules",
}

// sensitive says what a path is that takes a person's word, "" for others. Names
// are compared without case. An agent that wrote the constitutions beside its own
// would grant itself what it likes.
func sensitive(root, name, constitution string) string {
	if folder := filepath.Join(root, filepath.FromSlash(path.Dir(name))); constitution != "" && strings.HasSuffix(strings.ToLower(name), ".json") &&
		strings.EqualFold(folder, filepath.Dir(resolved(constitution))) {
		return "a constitution of agents"
	}
	layout := enforcement.Layout{Project: filepath.ToSlash(root), CaseInsensitive: true}
	if enforcement.Classify(layout, filepath.ToSlash(root)+"/"+name).Class == enforcement.ClassProtected {
		return "a setting of agents, hooks or git"
	}
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		for _, entry := range asked {
			folder, isFolder := strings.CutSuffix(entry, "/")
			if part == folder && (i < len(parts)-1) == isFolder {
				return "a setting of agents, editors or hooks"
			}
		}
	}
	return ""
}

// before is what stood at a path.
type before struct {
	exists bool
	size   int64
}

// replace puts a content at a path of the workspace: it makes the folders on the
// way, writes beside the path, renames, and reads back. It goes through no link.
func replace(root *os.Root, name string, content []byte) (was before, err error) {
	dir, made, err := descend(root, path.Dir(name))
	defer func() {
		if err != nil {
			undo(root, made)
		}
	}()
	if err != nil {
		return was, err
	}
	defer func() { _ = dir.Close() }() // nothing is buffered in it
	base := path.Base(name)
	switch info, err := dir.Lstat(base); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return was, problem{name + " cannot be written: " + reason(err), "use another path"}
	case info.Mode()&fs.ModeSymlink != 0:
		return was, problem{name + " is a link", "write to what it leads to"}
	case info.IsDir():
		return was, problem{name + " is a folder", "name a file in it"}
	case !info.Mode().IsRegular():
		return was, problem{name + " is no plain file", "use another path"}
	default:
		was = before{true, info.Size()}
	}
	if err := atomicfile.WriteIn(dir, base, content, atomicfile.Options{Mode: 0o644, Keep: true}); err != nil {
		return was, problem{name + " was not written: " + reason(err), "check the path and the disk, then try again"}
	}
	return was, verify(dir, base, name, content)
}

// verify reads back what was written.
func verify(dir *os.Root, base, name string, content []byte) error {
	file, _, err := openRegular(dir, base)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	got, err := io.ReadAll(file)
	if err != nil || !bytes.Equal(got, content) {
		return problem{name + " does not hold what was written to it: somebody else changes it", "read it, then try again"}
	}
	return nil
}

// descend opens a folder of the workspace part by part and makes those that are
// missing. It refuses links: each part is opened in the one before it and has to
// be what was looked at.
func descend(root *os.Root, dir string) (at *os.Root, made []string, err error) {
	at, err = root.OpenRoot(".")
	if err != nil || dir == "." {
		return at, nil, err
	}
	so := ""
	for part := range strings.SplitSeq(dir, "/") {
		so = path.Join(so, part)
		info, err := at.Lstat(part)
		if errors.Is(err, fs.ErrNotExist) {
			if err = at.Mkdir(part, 0o755); err == nil {
				made = append(made, so)
				info, err = at.Lstat(part)
			}
		}
		switch {
		case err != nil:
			return closed(at), made, problem{so + " cannot be opened: " + reason(err), "use another path"}
		case info.Mode()&fs.ModeSymlink != 0:
			return closed(at), made, problem{so + " is a link", "write to what it leads to"}
		case !info.IsDir():
			return closed(at), made, problem{so + " is no folder", "use another path"}
		}
		next, err := at.OpenRoot(part)
		if err != nil {
			return closed(at), made, problem{so + " cannot be opened: " + reason(err), "use another path"}
		}
		closed(at)
		at = next
		if now, err := at.Stat("."); err != nil || !os.SameFile(info, now) {
			return closed(at), made, problem{so + " changed while it was opened", "try again"}
		}
	}
	return at, made, nil
}

func closed(r *os.Root) *os.Root {
	_ = r.Close() // nothing is buffered in it
	return nil
}

// undo takes folders out again that were made for a file that was not written.
func undo(root *os.Root, made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		if root.Remove(made[i]) != nil {
			return
		}
	}
}

func change(was before, content []byte) string {
	lines := bytes.Count(content, []byte("\n"))
	if len(content) > 0 && content[len(content)-1] != '\n' {
		lines++
	}
	what := "new"
	if was.exists {
		what = fmt.Sprintf("it had %d bytes", was.size)
	}
	return fmt.Sprintf("%d bytes, %d lines; %s", len(content), lines, what)
}

// mimeOf is the type of an artifact.
func mimeOf(name string, content []byte) string {
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	if binary(content[:min(len(content), sniffed)]) {
		return "application/octet-stream"
	}
	return "text/plain; charset=utf-8"
}

func join(texts ...string) string {
	var kept []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n\n")
}
