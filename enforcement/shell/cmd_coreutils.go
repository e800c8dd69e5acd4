package shell

import (
	"path"
	"slices"
	"strings"
)

// coreutils are the programs that create, change, move and delete files.
func coreutils() family {
	f := family{}
	f.add("tee", command{judge: func(c *call) {
		p := optSpec{maybe: "p"}.parse(c.args)
		for _, a := range p.operands {
			if a.subst == nil {
				c.writeOut(a)
			}
		}
	}})
	f.add("sponge", command{judge: operands(optSpec{})})
	f.add("cp gcp", command{judge: copyJudge(optSpec{short: "tS", long: "--target-directory --suffix --backup-suffix"}, false)})
	f.add("mv gmv", command{judge: copyJudge(optSpec{short: "tS", long: "--target-directory --suffix"}, true)})
	f.add("install ginstall", command{judge: installJudge})
	f.add("ln gln", command{judge: linkJudge})
	f.add("link", command{judge: operands(optSpec{})})
	f.add("touch", command{judge: operands(optSpec{short: "drt", long: "--date --reference --time"})})
	f.add("mkdir", command{judge: func(c *call) {
		ops := optSpec{short: "mZ", long: "--mode --context"}.parse(c.args).operands
		for _, a := range ops {
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
	}})
	f.add("mkfifo", command{judge: operands(optSpec{short: "mZ", long: "--mode --context"})})
	f.add("mknod", command{judge: func(c *call) {
		if ops := (optSpec{short: "mZ", long: "--mode --context"}).parse(c.args).operands; len(ops) > 0 {
			c.write(ops[0])
		}
	}})
	f.add("rm rmdir unlink grm trash trash-put srm", command{judge: func(c *call) { c.unname(optSpec{}.parse(c.args).operands...) }})
	f.add("shred", command{judge: operands(optSpec{short: "ns", long: "--iterations --size --random-source"})})
	f.add("truncate", command{judge: operands(optSpec{short: "sr", long: "--size --reference"})})
	f.add("fallocate", command{judge: operands(optSpec{short: "lo", long: "--length --offset"})})
	f.add("chmod", command{judge: afterFirst(optSpec{long: "--reference"})})
	f.add("chown chgrp", command{judge: afterFirst(optSpec{long: "--reference --from"})})
	f.add("setfacl", command{judge: operands(optSpec{short: "mxMX", long: "--modify --remove --set"})})
	f.add("chattr", command{judge: afterFirst(optSpec{})})
	f.add("setfattr", command{judge: operands(optSpec{short: "nvx", long: "--name --value --remove"})})
	f.add("dd", command{judge: func(c *call) {
		for _, a := range c.args {
			if v, ok := strings.CutPrefix(a.val, "of="); ok {
				a.val = v
				c.write(a)
			} else if !a.known && a.split {
				c.unsure("its operands are known only at run time")
			}
		}
	}})
	f.add("split", command{judge: splitJudge(optSpec{short: "abClnt", long: "--suffix-length --bytes --line-bytes --lines --number --separator --filter --additional-suffix"}, 1, "x")})
	f.add("csplit", command{judge: func(c *call) {
		p := optSpec{short: "bfn", long: "--suffix-format --prefix --digits"}.parse(c.args)
		prefix, ok := p.last("-f", "--prefix")
		if !ok {
			prefix = literal("xx")
		}
		c.prefixed(prefix)
	}})
	f.add("mktemp", command{judge: func(c *call) {
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
	}})
	f.add("rename prename", command{judge: opaque("renames what its expression says")})
	f.add("mmv zmv", command{judge: opaque("renames what its pattern matches")})
	f.add("ctags etags", command{judge: func(c *call) {
		if v, ok := (optSpec{short: "foLR"}).parse(c.args).last("-f", "-o"); ok {
			c.writeOut(v)
			return
		}
		c.writeName("tags")
	}})
	return f
}

// copyJudge is cp and mv: the last operand, or the target folder, and for mv
// the sources as well.
func copyJudge(spec optSpec, moves bool) judge {
	return func(c *call) {
		p := spec.parse(c.args)
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
		c.into(target, sources, folder)
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

// into records copies of sources under target. Without being told that target
// is a folder, the target itself is what is written.
func (c *call) into(target arg, sources []arg, folder bool) {
	if target.val == "" {
		return
	}
	if !folder || !target.known {
		c.write(target)
		return
	}
	for _, s := range sources {
		base := path.Base(s.val)
		if !s.known || base == "." || base == ".." || base == "/" || strings.HasSuffix(s.val, "/.") {
			c.write(target)
			continue
		}
		c.write(arg{val: under(target.val, base), known: true, guess: target.guess})
	}
}

func installJudge(c *call) {
	p := optSpec{short: "gmotS", long: "--group --mode --owner --target-directory --suffix --strip-program"}.parse(c.args)
	if v, ok := p.last("--strip-program"); ok {
		c.run([]arg{v})
	}
	if p.has("-d", "--directory") {
		c.write(p.operands...)
		return
	}
	sources, target, folder := c.destination(p)
	c.into(target, sources, folder)
}

func linkJudge(c *call) {
	p := optSpec{short: "tS", long: "--target-directory --suffix"}.parse(c.args)
	sources, target, folder := c.destination(p)
	if len(p.operands) == 1 && !p.has("-t", "--target-directory") {
		sources, target, folder = p.operands, literal("."), true
	}
	if !p.has("-s", "--symbolic") {
		// A hard link is the file itself under another name.
		c.write(sources...)
		c.into(target, sources, folder)
		return
	}
	c.links(sources, target, folder)
	c.renamed(target, sources, folder)
}

// links records symbolic links to the sources at or in target.
func (c *call) links(sources []arg, target arg, folder bool) {
	if !target.known || target.guess {
		c.unsure("the name of the link is known only at run time")
	}
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

// renamed records links under target, whose names are what changes.
func (c *call) renamed(target arg, sources []arg, folder bool) {
	if !folder || !target.known {
		c.unname(target)
		return
	}
	for _, s := range sources {
		if base := path.Base(s.val); s.known && base != "." && base != ".." && base != "/" {
			c.unname(arg{val: under(target.val, base), known: true, guess: target.guess})
			continue
		}
		c.write(target)
	}
}

// afterFirst is a program whose first operand is a mode or an owner.
func afterFirst(spec optSpec) judge {
	return func(c *call) {
		// A mode such as -x or -R,g looks like an option.
		p := spec.parse(c.args)
		ops := p.operands
		if !p.has("--reference") && len(ops) > 0 && !c.modeOption() {
			ops = ops[1:]
		}
		c.write(ops...)
		if p.has("-R", "--recursive") {
			for _, a := range ops {
				c.gone(a)
			}
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

// splitJudge is a program that makes up names from a prefix operand.
func splitJudge(spec optSpec, n int, standard string) judge {
	return func(c *call) {
		p := spec.parse(c.args)
		if v, ok := p.last("--filter"); ok {
			c.text(v)
			c.unsure("runs a command for every part")
		}
		prefix := literal(standard)
		if len(p.operands) > n {
			prefix = p.operands[n]
		}
		c.prefixed(prefix)
	}
}

// prefixed records files whose names begin with a prefix.
func (c *call) prefixed(prefix arg) {
	c.unsure("makes up the names of its files")
	if prefix.known {
		c.writeName(parent(prefix.val))
	}
}
