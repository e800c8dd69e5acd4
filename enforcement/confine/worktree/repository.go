package worktree

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Repository is what stands to be lost in a work tree.
type Repository struct {
	// Dirty are files that git knows and whose content it does not have, relative
	// to the work tree, sorted; at most maxDirty.
	Dirty []string
	// Staged says that the index may hold what no commit does. It is also true
	// where that cannot be told.
	Staged bool
	// Published says that a remote is known to have the commit that is checked
	// out. One that a remote has only below a later one is not found.
	Published bool
	// Unknown says that there is no index that can be read: nothing is known of
	// changes.
	Unknown bool
}

// Bounds of what ReadRepository reads.
const (
	maxDirty  = 100
	maxCommit = 1 << 20 // bytes of a commit
	maxRefs   = 16 << 20
)

// ReadRepository looks at a work tree and at git's data about it. No program
// runs, see [Tree].
func ReadRepository(root string) Repository {
	dir := gitDir(root)
	index, extensions := readWholeIndex(dir)
	head := headCommit(dir)
	r := Repository{Unknown: index == nil, Published: head != "" && published(commonDir(dir), head)}
	r.Staged = r.Unknown || !committed(dir, head, extensions)
	t := &Tree{options: TreeOptions{Root: root}}
	for _, p := range slices.Sorted(maps.Keys(index)) {
		s, err := stampOf(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil || index[p].clean(s) || s.mode.IsDir() {
			continue // what is gone cannot be overwritten
		}
		if s.size <= maxHashedFile {
			if h, ok := t.hash(p, s); ok && h == index[p].oid {
				continue
			}
		}
		if r.Dirty = append(r.Dirty, p); len(r.Dirty) == maxDirty {
			break
		}
	}
	return r
}

// commonDir is where a git folder keeps what its work trees share.
func commonDir(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir
	}
	common := strings.TrimSpace(string(raw))
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return filepath.Clean(common)
}

// headCommit is the commit that is checked out, in hexadecimal, "" where there
// is none or it cannot be told.
func headCommit(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	if err != nil {
		return ""
	}
	name, symbolic := strings.CutPrefix(strings.TrimSpace(string(raw)), "ref: ")
	if !symbolic {
		return name
	}
	common := commonDir(dir)
	if filepath.IsLocal(name) {
		if raw, err := os.ReadFile(filepath.Join(common, filepath.FromSlash(name))); err == nil {
			return strings.TrimSpace(string(raw))
		}
	}
	var found string
	packedRefs(common, func(commit, ref string) {
		if ref == name {
			found = commit
		}
	})
	return found
}

func packedRefs(common string, each func(commit, ref string)) {
	file, err := os.Open(filepath.Join(common, "packed-refs"))
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }() // read only
	raw, _ := io.ReadAll(io.LimitReader(file, maxRefs))
	for line := range strings.Lines(string(raw)) {
		if commit, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			each(commit, ref)
		}
	}
}

// published reports whether a remote-tracking reference is a commit.
func published(common, commit string) (found bool) {
	packedRefs(common, func(at, ref string) {
		found = found || at == commit && strings.HasPrefix(ref, "refs/remotes/")
	})
	if found {
		return true
	}
	_ = filepath.WalkDir(filepath.Join(common, "refs", "remotes"), func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // no remote, or one that is not readable
		}
		if raw, err := os.ReadFile(p); err == nil && strings.TrimSpace(string(raw)) == commit {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// committed reports whether the index holds exactly what a commit does: its
// note of the trees, which every change of the index breaks, names that
// commit's tree.
func committed(dir, commit string, extensions []byte) bool {
	tree, ok := cachedTree(extensions)
	if !ok || commit == "" {
		return false
	}
	of, ok := treeOf(commonDir(dir), commit)
	return ok && of == hex.EncodeToString(tree[:])
}

// cachedTree reads the tree of the whole index from its extension TREE, see
// gitformat-index.
func cachedTree(extensions []byte) (tree oid, ok bool) {
	for len(extensions) >= 8 {
		name, size := string(extensions[:4]), int(binary.BigEndian.Uint32(extensions[4:]))
		body := extensions[8:]
		if size > len(body) {
			return oid{}, false
		}
		if name != "TREE" {
			extensions = body[size:]
			continue
		}
		// The root's name is empty: a zero byte, its entries, its subtrees.
		line, rest, found := bytes.Cut(body[:size], []byte("\n"))
		if !found || len(rest) < len(tree) || !bytes.HasPrefix(line, []byte{0}) || bytes.HasPrefix(line, []byte("\x00-")) {
			return oid{}, false
		}
		return oid(rest[:len(tree)]), true
	}
	return oid{}, false
}

// treeOf reads a commit's tree. Commits in packs are not read.
func treeOf(common, commit string) (tree string, ok bool) {
	if raw, err := hex.DecodeString(commit); err != nil || len(raw) != len(oid{}) {
		return "", false
	}
	file, err := os.Open(filepath.Join(common, "objects", commit[:2], commit[2:]))
	if err != nil {
		return "", false
	}
	defer func() { _ = file.Close() }() // read only
	z, err := zlib.NewReader(file)
	if err != nil {
		return "", false
	}
	raw, err := io.ReadAll(io.LimitReader(z, maxCommit))
	if err != nil {
		return "", false
	}
	header, body, found := bytes.Cut(raw, []byte{0})
	if !found || !bytes.HasPrefix(header, []byte("commit ")) {
		return "", false
	}
	line, _, _ := strings.Cut(string(body), "\n")
	return strings.CutPrefix(line, "tree ")
}
