// Package gitcommit reads what a git repository says of a commit – its difference from
// its parents, blob by blob, and the statements kept beside it – and puts the hook
// into it that asks Writ about commits.
//
// It runs git, and nothing that the repository's settings name.
package gitcommit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/origin"
)

// Repository asks git about the repository around a folder. It takes no replaced
// objects, since those would show another difference than the commit's.
type Repository struct {
	Dir string
	Env []string // of git's process
}

// Git is git's answer without its last line end, or what it complains of.
func (r Repository) Git(ctx context.Context, args ...string) (string, error) {
	return r.git(ctx, nil, args...)
}

// Output is git's answer as it is, or what it complains of.
func (r Repository) Output(ctx context.Context, args ...string) (string, error) {
	return r.output(ctx, nil, args...)
}

func (r Repository) git(ctx context.Context, in io.Reader, args ...string) (string, error) {
	out, err := r.output(ctx, in, args...)
	return strings.TrimSuffix(out, "\n"), err
}

func (r Repository) output(ctx context.Context, in io.Reader, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"--no-replace-objects", "-c", "core.fsmonitor=false", "-c", "core.commitGraph=false", "-c", "core.quotePath=false", "-c", "core.warnAmbiguousRefs=true"}, args...)...)
	c.Dir, c.Env, c.Stdin = r.Dir, append(slices.Clone(r.Env), "GIT_OPTIONAL_LOCKS=0", "GIT_GRAFT_FILE="+os.DevNull, "LC_ALL=C"), in
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			return "", errors.New(excerpt.Line(text))
		}
		return "", err
	}
	if text := complaint.String(); strings.Contains(text, "is ambiguous") {
		return "", errors.New(excerpt.Line(strings.TrimPrefix(text, "warning: ")) + " A tag or a branch of somebody else's may bear this name: give the whole of it, such as refs/remotes/origin/main")
	}
	return out.String(), nil
}

// Difference reads what a commit changed against its parents, or with a range
// A..B what B changed since it left A.
func (r Repository) Difference(ctx context.Context, revision string) (d schemas.AttestRequest, err error) {
	from, to, ranged := strings.Cut(revision, "..")
	if !ranged {
		to = revision
	}
	to = cmp.Or(strings.TrimPrefix(to, "."), "HEAD")
	if d.Commit, err = r.commit(ctx, to); err != nil {
		return d, err
	}
	if d.Tree, err = r.git(ctx, nil, "rev-parse", "--verify", d.Commit+"^{tree}"); err != nil {
		return d, err
	}
	if ranged {
		if from, err = r.commit(ctx, cmp.Or(from, "HEAD")); err != nil {
			return d, err
		}
		base, err := r.git(ctx, nil, "merge-base", from, d.Commit)
		if err != nil {
			return d, fmt.Errorf("%s and %s have no commit in common: %w", from, to, err)
		}
		d.Parents = []string{base}
	} else {
		line, err := r.git(ctx, nil, "rev-list", "--parents", "--max-count=1", d.Commit)
		if err != nil {
			return d, err
		}
		d.Parents = strings.Fields(line)[1:]
	}
	if err = r.place(ctx, &d); err != nil {
		return d, err
	}
	if d.Repository.First != "" && len(d.Parents) > 0 { // that of what is there already, whoever made the rest
		if d.Repository.First, err = r.git(ctx, nil, "rev-list", "--max-parents=0", "--first-parent", d.Parents[0]); err != nil {
			return d, err
		}
	}
	d.Changes, err = r.changes(ctx, d.Commit, d.Parents)
	return d, err
}

// commit is the id of the commit that a name is that of.
func (r Repository) commit(ctx context.Context, name string) (string, error) {
	id, err := r.git(ctx, nil, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return id, nil
}

// place says where the repository lies on this machine, and which it is.
func (r Repository) place(ctx context.Context, d *schemas.AttestRequest) (err error) {
	d.Repository = origin.Of(ctx, r.Dir)
	d.Repository.Below = "" // paths of a difference are from the root
	d.Roots, err = r.roots(ctx)
	return err
}

// roots are the folders of the repository's work trees, as a project's root is
// written.
func (r Repository) roots(ctx context.Context) ([]string, error) {
	list, err := r.git(ctx, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	var roots []string
	for line := range strings.Lines(list) {
		if root, is := strings.CutPrefix(strings.TrimSpace(line), "worktree "); is {
			if real, err := filepath.EvalSymlinks(root); err == nil {
				root = real
			}
			roots = append(roots, root)
		}
	}
	return roots, nil
}

// side is a file in a commit: git's mode, and the id of its content.
type side struct{ mode, id string }

// changes are the files that are not as in every parent; of a first commit, all.
func (r Repository) changes(ctx context.Context, commit string, parents []string) ([]schemas.AttestChange, error) {
	against := parents
	if len(parents) == 0 {
		empty, err := r.git(ctx, strings.NewReader(""), "hash-object", "-t", "tree", "--stdin")
		if err != nil {
			return nil, err
		}
		against = []string{empty}
	}
	now, were := map[string]side{}, make([]map[string]side, len(against))
	for i, parent := range against {
		raw, err := r.git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none", parent, commit)
		if err != nil {
			return nil, err
		}
		if were[i], err = rawDifference(raw, now); err != nil {
			return nil, err
		}
	}
	sums, err := r.contents(ctx, now, were)
	if err != nil {
		return nil, err
	}
	var all []schemas.AttestChange
	for name, is := range now {
		c := schemas.AttestChange{Path: name, Mode: is.mode, SHA256: sums[is.id], Parents: []string{}}
		for i := range parents {
			was, differs := were[i][name]
			if !differs {
				was = is // as in this parent
			}
			c.Parents = append(c.Parents, strings.TrimSpace(was.mode+" "+sums[was.id]))
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b schemas.AttestChange) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// rawDifference reads git's raw format: what files are goes into now, what they were
// is returned. A file that is gone has neither mode nor id.
func rawDifference(raw string, now map[string]side) (was map[string]side, err error) {
	was = map[string]side{}
	fields := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(words) != 5 {
			return nil, fmt.Errorf("git's difference has the line %.80q", fields[i])
		}
		name := fields[i+1]
		if _, twice := was[name]; twice || path.Clean(name) != name || strings.HasPrefix(name, "../") {
			return nil, fmt.Errorf("the commit has a tree that git itself never writes, with %.80q in it", name)
		}
		was[name] = sideOf(words[0], words[2])
		now[name] = sideOf(words[1], words[3])
	}
	return was, nil
}

func sideOf(mode, id string) side {
	if mode == "000000" {
		return side{}
	}
	return side{mode, id}
}

// contents are the SHA-256 of the contents, by git's ids. Another repository's
// commit has none.
func (r Repository) contents(ctx context.Context, now map[string]side, were []map[string]side) (map[string]string, error) {
	var ids []string
	for _, sides := range append([]map[string]side{now}, were...) {
		for _, s := range sides {
			if s.id != "" && s.mode != "160000" {
				ids = append(ids, s.id)
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil, nil
	}
	sums := make(map[string]string, len(ids))
	err := r.each(ctx, ids, func(id string, content io.Reader) error {
		h := sha256.New()
		if _, err := io.Copy(h, content); err != nil {
			return err
		}
		sums[id] = hex.EncodeToString(h.Sum(nil))
		return nil
	})
	return sums, err
}

// each hands over the contents of blobs by their ids, from one process of git.
func (r Repository) each(ctx context.Context, ids []string, fn func(id string, content io.Reader) error) error {
	c := exec.CommandContext(ctx, "git", "--no-replace-objects", "cat-file", "--batch")
	c.Dir, c.Env, c.Stdin = r.Dir, append(slices.Clone(r.Env), "LC_ALL=C"), strings.NewReader(strings.Join(ids, "\n")+"\n")
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	if err := readBatch(bufio.NewReader(out), ids, fn); err != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		return err
	}
	return c.Wait()
}

// readBatch reads what git cat-file --batch writes of each id: "ID blob SIZE", the
// content, and a line's end.
func readBatch(out *bufio.Reader, ids []string, fn func(id string, content io.Reader) error) error {
	for _, id := range ids {
		line, err := out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("git ended before the content of %s: %w", id, err)
		}
		words := strings.Fields(line)
		if len(words) != 3 || words[1] != "blob" {
			return fmt.Errorf("git has no content of %s (%s): fetch the whole history, such as with fetch-depth: 0", id, strings.TrimSpace(line))
		}
		size, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return err
		}
		content := &io.LimitedReader{R: out, N: size}
		if err := fn(id, content); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return err
		}
		if content.N > 0 {
			return fmt.Errorf("git ended within the content of %s: %w", id, io.ErrUnexpectedEOF)
		}
		if _, err := out.Discard(1); err != nil {
			return err
		}
	}
	return nil
}

// NotesRef is where statements are kept beside commits, as git notes.
const NotesRef = "writ"

// mostNote bounds what is read of one note. Anybody who may push can make one.
const mostNote = 16 << 20

// Statements are all that git notes hold, one text a commit.
func (r Repository) Statements(ctx context.Context) ([]string, error) {
	list, err := r.git(ctx, nil, "notes", "--ref="+NotesRef, "list")
	if err != nil {
		return nil, nil //nolint:nilerr // there are none
	}
	var notes, all []string
	for line := range strings.Lines(list) {
		note, _, _ := strings.Cut(line, " ")
		notes = append(notes, note)
	}
	err = r.each(ctx, notes, func(_ string, content io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(content, mostNote))
		all = append(all, string(text))
		return err
	})
	return all, err
}

// Keep writes a statement beside its commit, in place of an earlier one of the same
// signer's.
func (r Repository) Keep(ctx context.Context, commit string, text string) error {
	_, err := r.git(ctx, strings.NewReader(text), "notes", "--ref="+NotesRef, "add", "--force", "--file=-", commit)
	return err
}

// Staged is what git is about to commit, against HEAD and what is merged into it.
func (r Repository) Staged(ctx context.Context) (d schemas.AttestRequest, err error) {
	if d.Tree, err = r.git(ctx, nil, "write-tree"); err != nil {
		return d, err
	}
	d.Commit, d.Parents = d.Tree, []string{} // it is no commit yet
	if head, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		d.Parents = append(d.Parents, head)
	}
	merged, err := r.git(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD")
	if err != nil {
		return d, err
	}
	if heads, err := os.ReadFile(merged); err == nil {
		d.Parents = append(d.Parents, strings.Fields(string(heads))...)
	}
	if err = r.place(ctx, &d); err != nil {
		return d, err
	}
	d.Changes, err = r.changes(ctx, d.Tree, d.Parents)
	return d, err
}

// Named is a session that a message's trailer names, and how many of the files it
// left as the commit has them.
type Named struct {
	Session string `json:"session"`
	Wrote   int    `json:"wrote"`
}

// Trailers resolves the trailers of the commits of a difference by what the log
// knows of their files.
func (r Repository) Trailers(ctx context.Context, d schemas.AttestRequest, ranged bool, s attest.Statement) ([]Named, error) {
	which := []string{"--max-count=1", d.Commit}
	if ranged {
		which = []string{d.Parents[0] + ".." + d.Commit}
	}
	text, err := r.git(ctx, nil, append([]string{"log", "--format=%(trailers:key=" + TrailerSession + ",valueonly)"}, which...)...)
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(text)
	slices.Sort(ids)
	var all []Named
	for _, id := range slices.Compact(ids) {
		one := Named{Session: id}
		for _, p := range s.Predicate.Paths {
			if p.State == attest.Written && p.Write != nil && p.Write.Session == id {
				one.Wrote++
			}
		}
		all = append(all, one)
	}
	return all, nil
}
