package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// shell is one shell process as far as it can be followed: where it is and what
// it knows. A subshell is a fork of it.
type shell struct {
	place

	vars    map[string]expand.Variable
	funcs   map[string]*syntax.Stmt
	aliases map[string]string
	rebound map[string]string // hash -p: name to program
	env     map[string]arg    // hazardous environment variables that are set
	expands bool              // shopt -s expand_aliases
	traps   []string          // what the shell runs by itself, at any time
	exports bool              // functions are exported
	errexit bool              // set -e
	in      input
}

// input is what is known of a command's standard input.
type input struct {
	text  string
	known bool // text is all of it
	given bool // redirected or piped, not inherited
	names bool // it is what a program lists: names of files, commits or services
}

func newShell(a *analysis) *shell {
	sh := &shell{
		place:   place{a: a, dirs: []string{path.Clean(a.env.Dir)}, made: map[string]bool{}, guessed: map[string]bool{}},
		vars:    map[string]expand.Variable{},
		funcs:   map[string]*syntax.Stmt{},
		aliases: map[string]string{},
		rebound: map[string]string{},
		env:     map[string]arg{},
	}
	sh.prev = sh.dirs
	sh.vars["PATH"] = exported("/usr/local/bin:/usr/bin:/bin")
	sh.vars["TMPDIR"] = exported("/tmp")
	for name, value := range a.env.Vars {
		if !shellsOwn[name] {
			sh.vars[name] = exported(value)
		}
	}
	if a.env.Home != "" {
		sh.vars["HOME"] = exported(a.env.Home)
	}
	sh.positional(nil)
	return sh
}

// exported is a variable that programs get to see.
func exported(s string) expand.Variable {
	v := text(s)
	v.Exported = true
	return v
}

// child is the shell as a new shell process finds it: with exported variables
// only, and without what lives in the old one.
func (sh *shell) child() *shell {
	c := sh.fork()
	maps.DeleteFunc(c.vars, func(_ string, v expand.Variable) bool { return !v.Exported })
	if !c.exports {
		c.funcs = map[string]*syntax.Stmt{}
	}
	c.aliases, c.rebound, c.traps = map[string]string{}, map[string]string{}, nil
	c.errexit, c.expands = false, false
	c.positional(nil)
	return c
}

func text(s string) expand.Variable {
	return expand.Variable{Set: true, Kind: expand.String, Str: s}
}

// fork returns a copy whose changes do not reach sh.
func (sh *shell) fork() *shell {
	f := *sh
	f.dirs = slices.Clone(sh.dirs)
	f.vars = maps.Clone(sh.vars)
	f.funcs = maps.Clone(sh.funcs)
	f.aliases = maps.Clone(sh.aliases)
	f.rebound = maps.Clone(sh.rebound)
	f.made = maps.Clone(sh.made)
	f.env = maps.Clone(sh.env)
	return &f
}

// join makes sh what it is after one of the branches, without knowing which.
func (sh *shell) join(branches ...*shell) {
	first := branches[0]
	in := sh.in
	*sh = *first.fork()
	sh.in = in
	for _, b := range branches[1:] {
		sh.lost = sh.lost || b.lost
		for _, dir := range b.dirs {
			sh.addDir(dir)
		}
		for name := range b.vars {
			if _, ok := sh.vars[name]; !ok {
				sh.setVar(name, unknownVar())
			}
		}
		for name, v := range sh.vars {
			if other, ok := b.vars[name]; !ok || !sameVar(v, other) {
				sh.setVar(name, unknownVar())
			}
		}
		maps.Copy(sh.funcs, b.funcs)
		maps.Copy(sh.aliases, b.aliases)
		maps.Copy(sh.rebound, b.rebound)
		maps.Copy(sh.env, b.env)
	}
}

func sameVar(a, b expand.Variable) bool {
	return a.Set == b.Set && a.Kind == b.Kind && a.Str == b.Str && slices.Equal(a.List, b.List)
}

func unknownVar() expand.Variable { return text(string(hole)) }

func (sh *shell) setVar(name string, v expand.Variable) {
	if _, ok := sh.vars[name]; !ok && len(sh.vars) >= maxVars {
		return
	}
	size := len(v.Str)
	for _, s := range append([]string{v.Str}, v.List...) {
		size += len(s)
		if runsCode(s) {
			sh.a.unsure(name, "the value runs a command where it is used as a number or a name")
		}
	}
	if size > maxValue || sh.a.bound[name] {
		v = unknownVar()
	}
	v.Exported = v.Exported || sh.vars[name].Exported
	sh.vars[name] = v
	sh.hazard(name, literal(v.Str))
}

// forget makes the variables that node assigns unknown: a loop may have run
// any number of times.
func (sh *shell) forget(nodes ...syntax.Node) {
	for _, node := range nodes {
		syntax.Walk(node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					sh.setVar(n.Name.Value, unknownVar())
				}
			case *syntax.BinaryArithm:
				sh.forgetArithm(n.X)
			case *syntax.UnaryArithm:
				sh.forgetArithm(n.X)
			case *syntax.CallExpr:
				if len(n.Args) > 0 && (n.Args[0].Lit() == "read" || n.Args[0].Lit() == "mapfile" || n.Args[0].Lit() == "printf") {
					for _, w := range n.Args[1:] {
						if name := w.Lit(); syntax.ValidName(name) {
							sh.setVar(name, unknownVar())
						}
					}
				}
			}
			return true
		})
	}
}

func (sh *shell) forgetArithm(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
		sh.setVar(w.Lit(), unknownVar())
	}
}

// moveInto moves a program that was told to work in another folder. It opens
// the folder, so that ".." means what it means to the system.
func (sh *shell) moveInto(target arg) {
	physical := sh.physical
	sh.physical = true
	sh.chdir(target)
	sh.physical, sh.doubt = physical, nil
}

// chdir moves the shell, as cd does: unless it is told otherwise, ".." drops
// the last name of the folder, whatever a symbolic link has led to.
func (sh *shell) chdir(target arg) {
	old := sh.dirs
	if sh.a.moves++; sh.a.moves > maxMoves {
		sh.lost = true
		return
	}
	if _, own := sh.vars["OLDPWD"]; own && target.val == "-" {
		sh.lost = true
		return
	}
	if target.known && target.val == "-" {
		sh.dirs, sh.prev = sh.prev, old
		return
	}
	sh.prev = old
	if cdpath := sh.vars["CDPATH"].Str; cdpath != "" && cdpath != "." && !strings.HasPrefix(target.val, "/") {
		sh.lost = true
		return
	}
	if !target.known || target.guess {
		sh.lost = true
		if dir, ok := target.folder(); ok {
			sh.dirs, _ = sh.resolve(dir)
		}
		return
	}
	sh.enter(target.val, sh.tempDir())
}

// settle is called after a statement: the ones after it run even if a cd in it
// failed. What a trap runs, it runs with what the shell has become.
func (sh *shell) settle() {
	for _, trap := range sh.traps {
		sub := sh.fork()
		sub.traps = nil
		sub.script(trap)
	}
	if !sh.errexit {
		for _, dir := range sh.doubt {
			if !slices.Contains(sh.dirs, dir) {
				sh.addDir(dir)
				if !sh.guessed[dir] {
					sh.guessed = maps.Clone(sh.guessed)
					sh.guessed[dir] = true
				}
			}
		}
	}
	sh.doubt = nil
}

// positional sets $1, $2 … and $@.
func (sh *shell) positional(args []arg) {
	for name := range sh.vars {
		if name != "" && strings.Trim(name, "0123456789") == "" && name != "0" {
			delete(sh.vars, name)
		}
	}
	list := make([]string, 0, len(args))
	for i, a := range args {
		list = append(list, a.template())
		if i < 9 {
			sh.vars[string(rune('1'+i))] = text(a.template())
		}
	}
	sh.vars["@"] = expand.Variable{Set: true, Kind: expand.Indexed, List: list}
	sh.vars["*"] = sh.vars["@"]
}
