package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects judges the redirections of a statement and notes where its standard
// input comes from.
func (sh *shell) redirects(redirs []*syntax.Redirect) {
	for _, r := range redirs {
		sh.substitutions(r.Word)
		if r.Hdoc != nil {
			sh.substitutions(r.Hdoc)
		}
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob,
			syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
			sh.redirectTo(r)
		case syntax.RdrInOut:
			sh.redirectTo(r)
			sh.setInput(r, input{given: true})
		case syntax.DplOut:
			sh.duplicate(r)
			sh.sameFile(r)
		case syntax.RdrIn:
			sh.inputFrom(r)
		case syntax.DplIn:
			sh.setInput(r, input{given: true})
			sh.sameFile(r)
		case syntax.Hdoc, syntax.DashHdoc:
			body, known := sh.document(r.Hdoc)
			if r.Op == syntax.DashHdoc {
				body = untab(body)
			}
			sh.setInput(r, input{text: body, known: known, given: true})
		case syntax.WordHdoc:
			a := sh.value(r.Word)
			sh.setInput(r, input{text: a.val + "\n", known: a.known && !a.guess, given: true})
		}
	}
}

func untab(body string) string {
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "\t")
	}
	return strings.Join(lines, "\n")
}

func (sh *shell) setInput(r *syntax.Redirect, in input) {
	if r.N == nil || r.N.Value == "0" {
		sh.in = in
	}
}

// inputFrom notes a file, or a command in <( ), as standard input.
func (sh *shell) inputFrom(r *syntax.Redirect) {
	in := input{given: true}
	for _, a := range sh.word(r.Word) {
		sh.mention(a)
		sh.openedFor(descriptor(r, "0"), a)
		if a.subst != nil {
			in.text, in.known = sh.capture(a.subst.Stmts)
		}
		in.known = in.known || a.known && a.val == "/dev/null"
	}
	sh.setInput(r, in)
}

// redirectTo judges the target of an output redirection. Only one word is a
// target in bash; zsh writes all of them.
func (sh *shell) redirectTo(r *syntax.Redirect) {
	targets := sh.word(r.Word)
	for _, a := range targets {
		if a.subst != nil {
			continue
		}
		sh.write("> "+a.val, a)
		sh.redirected(a)
		if len(targets) > 1 {
			sh.a.unsure("> "+a.val, "a redirection to several names")
		}
	}
}

// duplicate judges >&word, which copies a descriptor or writes a file.
func (sh *shell) duplicate(r *syntax.Redirect) {
	for _, a := range sh.word(r.Word) {
		fd := strings.TrimSuffix(a.val, "-")
		if a.known && strings.Trim(fd, "0123456789") == "" {
			continue
		}
		sh.write(">& "+a.val, a)
		sh.redirected(a)
	}
}

// redirected notes a file that the shell itself writes, and what it sends to.
func (sh *shell) redirected(a arg) {
	paths, _ := sh.resolve(a.val)
	for _, p := range paths {
		if !device(p) || strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/") {
			sh.a.redirected = append(sh.a.redirected, p)
		}
	}
}

// write records an operand that is written.
func (w *place) write(command string, a arg) { w.change(command, a, true) }

// change records an operand that is written (follows) or whose name is deleted
// or replaced.
func (w *place) change(command string, a arg, follows bool) {
	switch {
	case a.known && !a.guess:
		w.touch(command, a.val, follows)
	case a.known:
		w.touch(command, a.val, follows)
		w.a.unsure(command, "the name depends on a variable that may be set")
	default:
		if dir, ok := a.folder(); ok {
			w.touch(command, dir, true)
			if w.temporary(dir) && !a.open(follows) {
				return
			}
		}
		w.a.unsure(command, "the name is known only at run time")
	}
}

// open reports a name in a scratch folder that may still be one to worry about:
// it may lead out of the folder, or be that of a symbolic link that somebody
// laid there before.
func (a arg) open(follows bool) bool {
	t := a.template()
	return strings.ContainsRune(t, hole) || follows && strings.ContainsRune(t, globHole)
}
