package shell

import (
	"path"
	"slices"
	"strings"
)

// teeJudge judges tee, which may write into a command.
func teeJudge(r *reading) {
	for _, a := range r.p.operands {
		if a.subst == nil {
			r.writeOut(a)
		}
	}
}

// mkdirJudge keeps which folders are made, and nothing else.
func mkdirJudge(r *reading) {
	c := r.call
	for _, a := range r.p.operands {
		paths, ok := c.sh.resolve(a.val)
		fresh := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			_, written := c.sh.a.paths[p]
			_, folder := c.sh.a.folders[p]
			return written && !folder
		})
		c.sh.change(c.line(), a, false)
		if !a.known || a.guess {
			continue
		}
		for _, p := range fresh {
			c.sh.a.folders[p] = struct{}{}
		}
		if ok {
			c.sh.made[paths[0]] = true
		}
	}
}

func mktempJudge(r *reading) {
	c := r.call
	values := make([]string, len(c.args))
	for i, a := range c.args {
		values[i] = a.val
		if !a.known {
			c.unsure("the name is known only at run time")
			return
		}
	}
	if c.flagged("-u", "--dry-run") {
		return
	}
	name, ok := c.sh.temporaryName(values)
	name = strings.TrimSpace(name)
	if !ok || !c.sh.temporary(path.Clean(name)) {
		c.unsure("chooses a random name")
		name = parent(name)
	}
	c.writeName(name)
}

// copyJudge is cp and mv: the last operand, or the target folder, and for mv
// the sources as well.
func copyJudge(moves bool) act {
	return func(r *reading) {
		c, p := r.call, r.p
		sources, target, folder := c.destination(p)
		switch {
		case moves:
			c.unname(sources...)
		case p.has("-l", "--link"):
			// A second name of the same file: who writes the one writes the other.
			c.write(sources...)
		case p.has("-s", "--symbolic-link"):
			c.links(sources, target, folder)
		case p.has("-r", "-R", "-a", "--recursive", "--archive"):
			c.readsTrees(sources)
		}
		c.into(target, sources, folder, c.write)
		if moves || p.has("-r", "-R", "-a", "-d", "-P", "--recursive", "--archive", "--no-dereference", "--preserve") {
			c.copies(sources, target)
		}
	}
}

// copies records that links in the sources get a place at or below target.
func (c *call) copies(sources []arg, target arg) {
	to, ok := c.place(target)
	for _, s := range sources {
		from, known := c.place(s)
		if !ok || !known {
			continue
		}
		c.sh.a.copyTo(from, to)
		c.sh.a.copyTo(from, tidy(under(to, path.Base(from))))
	}
}

// place is the path of a known operand, in the first folder the shell may be in.
func (c *call) place(a arg) (p string, ok bool) {
	if !a.known || a.val == "" {
		return "", false
	}
	paths, _ := c.sh.resolve(a.val)
	return paths[0], true
}

// unname records operands whose names are deleted or moved away: a symbolic link
// is, its target is not.
func (c *call) unname(args ...arg) {
	for _, a := range args {
		c.sh.change(c.line(), a, false)
		c.gone(a)
	}
}

// gone records that a folder goes, or is closed, with everything in it. Of a
// pattern only one for hidden names takes more than what can be seen.
func (c *call) gone(a arg) {
	name := a.val
	if a.glob {
		dir, _ := a.folder()
		if name = dir; !hiddenNames(a.template()) {
			return
		}
	} else if !a.known {
		return
	}
	paths, _ := c.sh.resolve(name)
	for _, p := range paths {
		if len(c.sh.a.gone) < maxFindings {
			c.sh.a.gone[p] = struct{}{}
		}
	}
}

// destination splits operands into sources and target; folder says that the
// target is surely a folder.
func (c *call) destination(p parsed) (sources []arg, target arg, folder bool) {
	if t, ok := p.last("-t", "--target-directory"); ok {
		return p.operands, t, true
	}
	n := len(p.operands)
	if n == 0 {
		return nil, arg{}, false
	}
	target = p.operands[n-1]
	sources = p.operands[:n-1]
	if p.has("-T", "--no-target-directory") {
		return sources, target, false
	}
	return sources, target, target.known && isFolder(target.val) || len(sources) > 1
}

func isFolder(name string) bool {
	return name == "." || name == ".." || strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.") || strings.HasSuffix(name, "/..")
}

// into records what the sources become in target: files that are written, or
// with unname names that are made. Without being told that target is a folder,
// the target itself is what changes.
func (c *call) into(target arg, sources []arg, folder bool, record func(...arg)) {
	if target.val == "" {
		return
	}
	if !folder || !target.known {
		record(target)
		return
	}
	for _, s := range sources {
		if base := path.Base(s.val); s.known && base != "." && base != ".." && base != "/" {
			record(arg{val: under(target.val, base), known: true, guess: target.guess})
			continue
		}
		c.write(target)
	}
}

func installJudge(r *reading) {
	sources, target, folder := r.destination(r.p)
	r.into(target, sources, folder, r.write)
}

func linkJudge(r *reading) {
	c, p := r.call, r.p
	sources, target, folder := c.destination(p)
	if len(p.operands) == 1 && !p.has("-t", "--target-directory") {
		sources, target, folder = p.operands, literal("."), true
	}
	if !p.has("-s", "--symbolic") {
		// A hard link is the file itself under another name.
		c.write(sources...)
		c.into(target, sources, folder, c.write)
		return
	}
	c.links(sources, target, folder)
	c.into(target, sources, folder, c.unname)
}

// links records symbolic links to the sources at or in target.
func (c *call) links(sources []arg, target arg, folder bool) {
	c.unsureIf(!target.known || target.guess, "the name of the link is known only at run time")
	for _, s := range sources {
		base := path.Base(s.val)
		if !s.known {
			base = "*"
		}
		// Whether the target is a folder to put the link in, the system knows.
		names := []string{target.val, under(target.val, base)}
		if folder {
			names = names[1:]
		}
		for _, name := range names {
			if !target.known {
				continue
			}
			places, _ := c.sh.resolve(name)
			for _, at := range places {
				c.sh.a.linkAt(at, s)
			}
		}
	}
}

// modeJudge is a program whose first operand is a mode or an owner.
func modeJudge(r *reading) {
	// A mode such as -x or -R,g looks like an option.
	ops := r.p.operands
	if !r.p.has("--reference") && len(ops) > 0 && !r.modeOption() {
		ops = ops[1:]
	}
	r.write(ops...)
	if r.p.has("-R", "--recursive") {
		for _, a := range ops {
			r.gone(a)
		}
	}
}

// hiddenNames reports a pattern for hidden names.
func hiddenNames(template string) bool {
	first := strings.IndexFunc(template, isHole)
	return first >= 0 && strings.HasPrefix(template[strings.LastIndexByte(template[:first], '/')+1:], ".")
}

// modeOption reports a chmod mode that removes permissions, as in "chmod -x f".
func (c *call) modeOption() bool {
	for _, a := range c.args {
		if c.name == "chmod" && len(a.val) > 1 && a.val[0] == '-' && strings.Trim(a.val[1:], "rwxXst") == "" {
			return true
		}
	}
	return false
}

// rewritten records the files of a program that rewrites them when told to.
func rewritten(r *reading) {
	for i, a := range r.args {
		// The first operand may be an expression; a name that is no file does no
		// harm in the result.
		if !strings.HasPrefix(a.val, "-") && i > 0 && looksLikeFile(a) {
			r.write(a)
		}
	}
	r.unsureIf(len(r.sh.a.paths) == 0, "rewrites its files")
}

// looksLikeFile tells a file operand from an expression.
func looksLikeFile(a arg) bool {
	return !a.known || !strings.ContainsAny(a.val, " =|()[]{}") && !strings.HasPrefix(a.val, ".") || strings.HasPrefix(a.val, "./") || strings.HasPrefix(a.val, "../")
}
