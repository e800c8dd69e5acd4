package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas/excerpt"
)

// Bounds of one map.
const (
	maxEntries = 50_000    // looked at
	maxDepth   = 64        // folders
	maxSource  = 512 << 10 // bytes of a file whose outline is shown
	maxOutline = 200       // bytes of an outline
	minOutline = 40        // bytes of room for one
)

// node is a file or a folder of a map.
type node struct {
	name     string // of the last part
	path     string // relative to the workspace
	dir      bool
	link     bool
	ignored  bool // by .gitignore; not looked into
	unread   bool // beyond the bounds, or not to be read
	size     int64
	files    int // below a folder
	children []*node
	open     bool // its children are shown
	outline  string
}

// show is /map [DIR].
func (w *handlers) show(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	f, err := openFolder(c)
	if err != nil {
		return told(err)
	}
	defer f.close()
	name := cmp.Or(strings.TrimSpace(c.Args), ".")
	if name, err = f.name(name); err != nil {
		return told(err)
	}
	real, err := w.follow(c, f, name)
	if err != nil {
		return told(err)
	}
	if info, err := f.root.Stat(real); err != nil || !info.IsDir() {
		return verbs.Err(name+" is no folder", "/read "+name+" shows a file"), nil
	}
	survey := survey{w: w, f: f, ignored: worktree.NewIgnored(f.path)}
	top := &node{name: real, path: real, dir: true}
	survey.above(real)
	survey.enter(ctx, top, 0)
	if ctx.Err() != nil {
		return verbs.Err("the map took too long", "name a smaller folder"), nil
	}
	limit := limits(c).Body - 400
	left := unfold(top, limit)
	w.outlines(ctx, f, top, left)
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", shown(name), top.sum())
	render(&out, top, 0)
	if survey.cut {
		fmt.Fprintf(&out, "WARN: only %d entries were looked at; name a smaller folder.\n", maxEntries)
	}
	return verbs.Content(verbs.TrustFile, out.String()).With("files", strconv.Itoa(top.files)), nil
}

// survey reads a tree.
type survey struct {
	w       *handlers
	f       *folder
	ignored *worktree.Ignored
	entries int
	cut     bool
}

// rules reads the .gitignore file of a folder, where it is a file.
func (s *survey) rules(dir string) {
	if info, err := s.f.root.Lstat(path.Join(dir, gitignore)); err == nil && info.Mode().IsRegular() {
		s.ignored.Enter(dir, []string{gitignore})
	}
}

// above reads the rules of the folders around the one that is shown.
func (s *survey) above(dir string) {
	if dir == "." {
		return
	}
	s.rules("")
	for i, c := range dir {
		if c == '/' {
			s.rules(dir[:i])
		}
	}
}

const gitignore = ".gitignore"

func (s *survey) enter(ctx context.Context, at *node, depth int) {
	if depth > maxDepth || s.entries >= maxEntries || ctx.Err() != nil {
		at.unread, s.cut = true, true
		return
	}
	if s.w.private(filepath.Join(s.f.path, filepath.FromSlash(at.path))) {
		at.unread = true
		return
	}
	entries, err := fs.ReadDir(s.f.root.FS(), at.path)
	if err != nil {
		at.unread = true
		return
	}
	rel := at.path
	if rel == "." {
		rel = ""
	}
	s.rules(rel)
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		s.entries++
		child := &node{name: e.Name(), path: path.Join(at.path, e.Name()), dir: e.IsDir(), link: e.Type()&fs.ModeSymlink != 0}
		child.ignored = s.ignored.Ignores(rel, e.Name(), e.IsDir())
		at.children = append(at.children, child)
		switch {
		case child.ignored:
		case child.dir:
			s.enter(ctx, child, depth+1)
			at.files += child.files
			at.size += child.size
		default:
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				child.size = info.Size()
			}
			at.files++
			at.size += child.size
		}
	}
}

// unfold opens folders, those above first, as long as their children fit. It
// returns the bytes that are left.
func unfold(top *node, limit int) (left int) {
	left = limit
	level := []*node{top}
	for depth := 1; len(level) > 0; depth++ {
		var next []*node
		for _, n := range level {
			cost := 0
			for _, child := range n.children {
				cost += len(child.line(depth))
			}
			if cost > left {
				continue
			}
			left -= cost
			n.open = true
			for _, child := range n.children {
				if child.dir {
					next = append(next, child)
				}
			}
		}
		level = next
	}
	return left
}

// outlines adds what source files declare while there is room.
func (w *handlers) outlines(ctx context.Context, f *folder, top *node, left int) {
	if w.Outline == nil {
		return
	}
	for level := []*node{top}; len(level) > 0 && left > minOutline; {
		var next []*node
		for _, n := range level {
			for _, child := range n.children {
				if left <= minOutline || ctx.Err() != nil {
					return
				}
				switch {
				case !n.open || child.ignored || child.link:
				case child.dir:
					next = append(next, child)
				default:
					text := w.outline(f, child)
					if text != "" && len(text)+2 <= left {
						child.outline, left = text, left-len(text)-2
					}
				}
			}
		}
		level = next
	}
}

func (w *handlers) outline(f *folder, n *node) string {
	if n.size == 0 || n.size > maxSource || !strings.Contains(n.name, ".") {
		return ""
	}
	file, _, err := openRegular(f.root, n.path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // only read
	source, err := io.ReadAll(io.LimitReader(file, maxSource))
	if err != nil || binary(source[:min(len(source), sniffed)]) {
		return ""
	}
	text := excerpt.Line(strings.Join(w.Outline(n.path, source), ", "))
	return excerpt.Bytes(text, maxOutline)
}

func render(out *strings.Builder, at *node, depth int) {
	if !at.open {
		return
	}
	for _, child := range at.children {
		line := child.line(depth + 1)
		if child.outline != "" {
			line = strings.TrimSuffix(line, "\n") + ": " + child.outline + "\n"
		}
		out.WriteString(line)
		render(out, child, depth+1)
	}
}

// line is a node's own line.
func (n *node) line(depth int) string {
	name := n.name
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		name = strconv.Quote(name)
	}
	indent := strings.Repeat("  ", depth-1)
	switch {
	case n.dir && n.ignored:
		return indent + name + "/ (ignored by git)\n"
	case n.ignored:
		return indent + name + " (ignored by git)\n"
	case n.dir && n.unread:
		return indent + name + "/ (not read)\n"
	case n.dir:
		return indent + name + "/ (" + n.sum() + ")\n"
	case n.link:
		return indent + name + " (a link)\n"
	}
	return indent + name + " " + bytesOf(n.size) + "\n"
}

func (n *node) sum() string {
	files := "files"
	if n.files == 1 {
		files = "file"
	}
	return fmt.Sprintf("%d %s, %s", n.files, files, bytesOf(n.size))
}

// bytesOf is a size for people.
func bytesOf(n int64) string {
	value, unit := float64(n), 0
	for value >= 1000 && unit < 4 {
		value, unit = value/1000, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, []string{"B", "kB", "MB", "GB", "TB"}[unit])
}
