package testrun

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/testrun/outcome"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// base is the project as a commit has it, in a folder of its own.
type base struct {
	commit string
	dir    string // to be removed
	root   string // the project's in it
}

// baseline finds the last commit before a session began by its date, which whoever
// commits may choose, and atHead the one that is known. Both print the commit and the
// project's folder in the repository.
const (
	baseline = `git rev-list -1 --first-parent --before=@%d HEAD && git rev-parse --show-prefix`
	atHead   = `git rev-parse --verify --quiet %s && git rev-parse --show-prefix`
)

// before finds the commit that failures are compared with; why says that there is
// none.
func (r *runs) before(ctx context.Context) (commit, prefix, why string) {
	if r.run.Began == 0 {
		return "", "", "when the session began is not known"
	}
	find := fmt.Sprintf(baseline, r.run.Began)
	switch r.run.Head {
	case "":
	case schemas.NoHead:
		return "", "", "no commit is older than the session"
	default:
		find = fmt.Sprintf(atHead, quoted(r.run.Head+"^{commit}"))
	}
	printed, said := &start{most: maxOutput}, &end{most: maxOutput}
	status, err := execute(ctx, process{command: find, confine: r.run.Confine, dir: r.run.Project, out: printed, errs: said}, r.world)
	if err != nil || status != 0 {
		why, _, _ = strings.Cut(said.String(), "\n")
		return "", "", strings.TrimSuffix("no git repository tells what was there before: "+strings.TrimPrefix(why, "fatal: "), ": ")
	}
	commit, prefix, _ = strings.Cut(printed.String(), "\n")
	if prefix = strings.TrimSpace(prefix); commit == "" {
		return "", "", "no commit is older than the session"
	}
	return commit, prefix, ""
}

// checkOut lays a commit out in a temporary folder, without touching the index, the
// work tree or the references of the project's repository.
func (r *runs) checkOut(ctx context.Context, commit, prefix string) (b base, err error) {
	b = base{commit: commit}
	if b.dir, err = os.MkdirTemp("", "writ-base-"); err != nil {
		return b, err
	}
	tree := filepath.Join(b.dir, "tree")
	b.root = filepath.Join(tree, filepath.FromSlash(prefix))
	command := "cd \"$(git rev-parse --show-toplevel)\" && export GIT_INDEX_FILE=" + quoted(filepath.Join(b.dir, "index")) +
		" && git read-tree " + quoted(commit) + " && git checkout-index --all --quiet --prefix=" + quoted(tree+"/")
	said := &end{most: maxOutput}
	status, err := execute(ctx, process{command: command, confine: r.run.Confine, dir: r.run.Project, out: said, errs: said}, r.world)
	if err == nil && status != 0 {
		err = fmt.Errorf("git: %s", outcome.LastLine(said.String()))
	}
	if err == nil {
		err = os.MkdirAll(b.root, 0o755)
	}
	return b, err
}

// environments are folders with what a project's tools installed, which no commit
// has.
var environments = []string{".venv", "venv", "env", "vendor", ".pnp.cjs", ".pnp.loader.mjs", ".yarn"}

// furnish gives a place of the base what the project has installed in the same
// place and above it.
func (b base) furnish(at place) error {
	var err error
	at.up(func(at place) bool {
		there := place{root: b.root, dir: at.dir}
		for _, name := range environments {
			if _, missing := os.Lstat(there.path(name)); missing != nil && at.has(name) && err == nil {
				err = os.Symlink(at.path(name), there.path(name))
			}
		}
		if at.has("node_modules") && !there.has("node_modules") && err == nil {
			err = b.modules(at.root, at.path("node_modules"), there.path("node_modules"))
		}
		return false
	})
	return err
}

// modules lays out the packages of a folder: those that are the project's own lead
// to the base's, and all others to where they are installed.
func (b base) modules(root, from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	root, err = filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if e.IsDir() && strings.HasPrefix(e.Name(), "@") {
			if err := b.modules(root, source, target); err != nil {
				return err
			}
			continue
		}
		if e.Type()&fs.ModeSymlink != 0 {
			if real, err := filepath.EvalSymlinks(source); err == nil {
				source = real
				rel, err := filepath.Rel(root, real)
				if err == nil && filepath.IsLocal(rel) && !slices.Contains(strings.Split(rel, string(filepath.Separator)), "node_modules") {
					source = filepath.Join(b.root, rel)
				}
			}
		}
		if err := os.Symlink(source, target); err != nil {
			return err
		}
	}
	return nil
}

// compare finds which failures of a suite the base has too. A failure whose test
// the base has not is new. A runner that comes to no test is told: whether that is the
// change's doing shows only beside the base.
func (r *runs) compare(ctx context.Context, f *failing) {
	known := map[string]bool{}
	why := r.compared(ctx, *f, known)
	r.result.Uncompared = cmp.Or(why, r.result.Uncompared)
	for _, one := range f.failed {
		key, name := f.key(one), one.Name
		if name == "" || name == f.command {
			name = f.shown()
		}
		name = "`" + excerpt.Runes(name, 80) + "`"
		switch {
		case !known[key] && why != "" && f.tool != "" && one.Name == f.command:
			r.unrun(name + " came to no test: " + one.Line)
			continue
		case !known[key]:
			r.result.New, f.fresh = append(r.result.New, key), append(f.fresh, one)
			continue
		case one.Whole:
			r.unrun(name + " fails without this session's changes too: " + one.Line)
		}
		r.result.Known = append(r.result.Known, key)
	}
}

// key is what makes two failures the same: the test, or, where none of a file's could
// begin, what kept them from it.
func (f failing) key(one schemas.TestFailure) string {
	if !one.Whole || f.tool == "" {
		return one.Name
	}
	words := strings.FieldsFunc(one.Line, func(r rune) bool { return r == ' ' || r >= '0' && r <= '9' })
	words = slices.DeleteFunc(words, func(word string) bool { return strings.Contains(word, "/") })
	return one.Name + ": " + strings.Join(words, " ")
}

// compared adds the failures that the base has to known, and says why it could not
// find all of them.
func (r *runs) compared(ctx context.Context, f failing, known map[string]bool) (why string) {
	commit, prefix, why := r.before(ctx)
	if why != "" {
		return why
	}
	r.result.Base = commit
	asked := f.failed
	if commit == r.run.Base { // some of them were looked for there before
		for _, key := range r.run.Known {
			known[key] = true
		}
		asked = slices.DeleteFunc(slices.Clone(asked), func(one schemas.TestFailure) bool {
			return known[f.key(one)] || slices.Contains(r.run.New, f.key(one))
		})
	}
	if len(asked) == 0 {
		return ""
	}
	b, err := r.checkOut(ctx, commit, prefix)
	defer func() { _ = os.RemoveAll(b.dir) }() // a temporary folder
	if err != nil {
		return err.Error()
	}
	there := place{root: b.root, dir: f.at.dir}
	if _, err := os.Stat(there.path(".")); err != nil {
		return "" // all of it is new
	}
	if err := b.furnish(f.at); err != nil {
		return err.Error()
	}
	command := f.command
	if f.alone != nil {
		names := namesOf(asked)
		if slices.Contains(names, f.command) || slices.Contains(names, "") {
			names = nil // it failed as a whole
		}
		command = f.alone(names, there)
	}
	if command == "" {
		return "" // all of it is new
	}
	// The base's modules are found before those that an environment leads to.
	command = "export PYTHONPATH=" + quoted(there.path("src")) + ":" + quoted(there.path(".")) + "${PYTHONPATH:+:$PYTHONPATH} CARGO_TARGET_DIR=\"${CARGO_TARGET_DIR:-\"" + quoted(f.at.built()) + "\"}\"; " + command
	again := r.once(ctx, suite{at: there, tool: f.tool, command: command})
	if again.ended != "" {
		return "the tests of the commit before the session did not end in time"
	}
	for _, one := range again.failed {
		if one.Name == command {
			one.Name = f.command // the command failed as a whole
		}
		known[f.key(one)] = true
	}
	return ""
}

// built is where cargo builds a place's crate: beside the lock file of its workspace.
func (p place) built() string {
	return filepath.Join(p.root, filepath.FromSlash(path.Dir(p.lock())), "target")
}

// lock is the lock file of a place's crate, relative to the project, whether it is
// there or not.
func (p place) lock() string {
	if at, _, found := p.holding("Cargo.lock"); found {
		p = at
	}
	return path.Join(p.dir, "Cargo.lock")
}

func namesOf(failed []schemas.TestFailure) (names []string) {
	for _, f := range failed {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}
