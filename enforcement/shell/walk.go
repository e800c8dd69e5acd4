package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// list follows statements one after the other.
func (sh *shell) list(stmts []*syntax.Stmt) {
	for _, st := range stmts {
		sh.stmt(st)
		sh.settle()
	}
}

func (sh *shell) stmt(st *syntax.Stmt) {
	if st == nil || sh.a.exhausted() || !sh.a.enter() {
		return
	}
	defer sh.a.leave()
	if fn, ok := st.Cmd.(*syntax.FuncDecl); ok {
		sh.define(fn, st.Redirs)
		return
	}
	run := sh
	if st.Background || st.Coprocess {
		sh.a.background = true
		run = sh.fork()
	}
	in := run.in
	run.redirects(st.Redirs)
	if st.Cmd != nil {
		run.command(st.Cmd)
	}
	run.in = in
}

// define keeps a function; what is in it counts when it is called.
func (sh *shell) define(fn *syntax.FuncDecl, redirs []*syntax.Redirect) {
	body := &syntax.Stmt{Cmd: fn.Body.Cmd, Redirs: append(append([]*syntax.Redirect(nil), fn.Body.Redirs...), redirs...)}
	names := fn.Names
	if fn.Name != nil {
		names = []*syntax.Lit{fn.Name}
	}
	if len(names) == 0 {
		// An anonymous function of zsh runs at once.
		sh.stmt(body)
		return
	}
	for _, name := range names {
		if len(sh.funcs) < maxVars {
			sh.funcs[name.Value] = body
		}
		if calledByShell[name.Value] || strings.HasPrefix(name.Value, "TRAP") {
			sh.a.unsure(name.Value, "a function that the shell calls by itself")
			sub := sh.fork()
			sub.traps = nil
			sub.stmt(body)
		}
	}
}

// calledByShell are the functions that bash or zsh call without being told to.
var calledByShell = setOf("command_not_found_handle command_not_found_handler chpwd precmd preexec periodic zshexit zshaddhistory")

func (sh *shell) command(cmd syntax.Command) {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		sh.simple(cmd)
	case *syntax.Block:
		sh.list(cmd.Stmts)
	case *syntax.Subshell:
		sh.fork().list(cmd.Stmts)
	case *syntax.IfClause:
		sh.ifClause(cmd)
	case *syntax.WhileClause:
		sh.loop(func(body *shell) {
			body.list(cmd.Cond)
			body.list(cmd.Do)
		}, cmd)
	case *syntax.ForClause:
		sh.forClause(cmd)
	case *syntax.CaseClause:
		sh.caseClause(cmd)
	case *syntax.BinaryCmd:
		sh.binary(cmd)
	case *syntax.DeclClause:
		sh.substitutions(cmd)
		sh.declare(cmd)
	case *syntax.LetClause:
		sh.substitutions(cmd)
		sh.arithmetic(cmd)
		sh.forget(cmd)
		sh.letRedirects(cmd)
	case *syntax.ArithmCmd, *syntax.TestClause:
		sh.substitutions(cmd)
		sh.arithmetic(cmd)
		sh.forget(cmd)
	case *syntax.TimeClause:
		sh.stmt(cmd.Stmt)
	case *syntax.CoprocClause:
		sh.fork().stmt(cmd.Stmt)
	case *syntax.TestDecl:
		sh.a.unsure("", "a test declaration")
	}
}

func (sh *shell) ifClause(c *syntax.IfClause) {
	sh.list(c.Cond)
	yes, no := sh.fork(), sh.fork()
	yes.list(c.Then)
	if c.Else != nil {
		if len(c.Else.Cond) == 0 {
			no.list(c.Else.Then)
		} else if sh.a.enter() {
			no.ifClause(c.Else)
			sh.a.leave()
		}
	}
	switch {
	case leaves(c.Then):
		sh.join(no)
	case c.Else != nil && leaves(c.Else.Then) && c.Else.Else == nil:
		sh.join(yes)
	default:
		sh.join(yes, no)
	}
}

func (sh *shell) caseClause(c *syntax.CaseClause) {
	sh.substitutions(c.Word)
	branches := []*shell{sh.fork()}
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			sh.substitutions(p)
		}
		b := sh.fork()
		b.list(item.Stmts)
		if !leaves(item.Stmts) {
			branches = append(branches, b)
		}
	}
	sh.join(branches...)
}

// loop follows a body that runs any number of times: what it assigns is
// unknown, and if it moves the shell, the folder is too.
func (sh *shell) loop(body func(*shell), node syntax.Node) {
	sh.forget(node)
	once := sh.fork()
	body(once)
	if !sh.at(&once.place) {
		again := once.fork()
		again.lost = true
		body(again)
		once = again
	}
	sh.join(sh.fork(), once)
}

func (sh *shell) forClause(c *syntax.ForClause) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		sh.substitutions(c.Loop)
		sh.arithmetic(c.Loop)
		sh.loop(func(body *shell) { body.list(c.Do) }, c)
		return
	}
	for _, w := range iter.Items {
		sh.substitutions(w)
	}
	items := sh.words(iter.Items)
	if slices.ContainsFunc(iter.Items, func(w *syntax.Word) bool { return sh.foreign(w) }) || slices.ContainsFunc(items, matches) {
		sh.a.foreign[iter.Name.Value] = true
	}
	if !iter.InPos.IsValid() {
		for _, s := range sh.vars["@"].List {
			items = append(items, literal(s))
		}
	}
	if len(items) > maxItems || c.Select {
		items = []arg{unknownArg("")}
	}
	for _, item := range items {
		v := item.template()
		if item.split {
			v = string(hole)
		}
		sh.setVar(iter.Name.Value, text(v))
		if item.known && !item.guess {
			sh.list(c.Do)
			continue
		}
		sh.loop(func(body *shell) {
			body.setVar(iter.Name.Value, text(v))
			body.list(c.Do)
		}, c)
	}
}

func (sh *shell) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		sh.and(c)
	case syntax.OrStmt:
		failed := sh.fork()
		sh.stmt(c.X)
		ok := sh.fork()
		failed.vars, failed.funcs = ok.fork().vars, ok.fork().funcs
		failed.stmt(c.Y)
		if leaves([]*syntax.Stmt{c.Y}) {
			sh.doubt = nil
			return
		}
		sh.join(ok, failed)
	default:
		left, right := sh.fork(), sh.fork()
		left.stmt(c.X)
		out, known := sh.capture([]*syntax.Stmt{c.X})
		right.in = input{text: out, known: known, given: true, names: sh.lists(c.X) || (left.in.names && passesOn(c.X))}
		right.stmt(c.Y)
	}
}

// and follows X && Y. Where X is a test, either outcome is as likely; other
// commands are taken to succeed, as one expects of them.
func (sh *shell) and(c *syntax.BinaryCmd) {
	sh.stmt(c.X)
	skipped := sh.fork()
	sh.stmt(c.Y)
	if isTest(c.X) {
		sh.join(sh.fork(), skipped)
	}
}

func isTest(st *syntax.Stmt) bool {
	switch cmd := st.Cmd.(type) {
	case *syntax.TestClause:
		return true
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && (cmd.Args[0].Lit() == "[" || cmd.Args[0].Lit() == "test")
	}
	return false
}

// leaves reports statements whose end is never passed.
func leaves(stmts []*syntax.Stmt) bool {
	if len(stmts) == 0 {
		return false
	}
	switch cmd := stmts[len(stmts)-1].Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) > 0 {
			switch cmd.Args[0].Lit() {
			case "exit", "return", "break", "continue":
				return true
			}
		}
	case *syntax.Block:
		return leaves(cmd.Stmts)
	}
	return false
}
