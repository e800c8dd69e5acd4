package shell

import (
	"path"
	"strings"
)

// findJudge judges find, whose expression may delete, write and run.
func findJudge(r *reading) {
	c := r.call
	var bases []arg
	i := 0
	for ; i < len(c.args); i++ {
		v := c.args[i].val
		if v == "-H" || v == "-L" || v == "-P" || strings.HasPrefix(v, "-O") {
			continue
		}
		if v == "-D" {
			i++
			continue
		}
		if strings.HasPrefix(v, "-") || v == "(" || v == "!" {
			break
		}
		c.unsureIf(c.args[i].split, "its expression is known only at run time")
		bases = append(bases, c.args[i])
	}
	if len(bases) == 0 {
		bases = []arg{literal(".")}
	}
	c.searches(bases)
	all := findsAll(c.args[i:])
	for ; i < len(c.args); i++ {
		a := c.args[i]
		switch a.val {
		case "-delete":
			c.found(bases, all)
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if file, ok := c.arg(i + 1); ok {
				c.write(file)
			}
			i++
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(c.args) && c.args[end].val != ";" && (c.args[end].val != "+" || c.args[end-1].val != "{}") {
				end++
			}
			c.forEach(c.args[i+1:end], bases)
			i = end
		default:
			c.unsureIf(a.split, "its expression is known only at run time")
		}
	}
}

// findsAll reports an expression of find that leaves nothing out, hidden files of
// settings included.
func findsAll(expression []arg) bool {
	for i, a := range expression {
		switch a.val {
		case "-empty":
			return false
		case "-name", "-iname", "-path", "-ipath", "-wholename":
			if i+1 < len(expression) && !forSettings(expression[i+1]) {
				return false
			}
		}
	}
	return true
}

// forSettings reports a name pattern that takes hidden folders or the files of
// settings.
func forSettings(pattern arg) bool {
	if !pattern.known && !pattern.glob {
		return true
	}
	for _, name := range []string{".writ", "config.yaml", "./.writ", "./.writ/config.yaml"} {
		if ok, err := path.Match(pattern.val, name); ok || err != nil {
			return true
		}
	}
	return strings.Contains(pattern.val, "writ")
}

// searches notes folders whose names a command is about to print.
func (c *call) searches(folders []arg) {
	for _, a := range folders {
		dir, ok := a.folder()
		paths, _ := c.sh.resolve(dir)
		for _, p := range paths {
			if ok && len(c.sh.a.found) < maxItems {
				c.sh.a.found = append(c.sh.a.found, p)
			}
		}
	}
}

// found records that files under the folders change, which ones being unknown.
func (c *call) found(bases []arg, all bool) {
	c.unsure("deletes what it finds")
	for _, b := range bases {
		c.write(b)
		if all {
			c.gone(b)
		}
	}
}

// forEach runs a command for the files found under the folders.
func (c *call) forEach(args, bases []arg) {
	if len(args) == 0 {
		return
	}
	for _, base := range bases {
		folder := ""
		if base.known {
			folder = base.val
		}
		run := make([]arg, len(args))
		for i, a := range args {
			if strings.Contains(a.val, "{}") {
				a = arg{val: strings.ReplaceAll(a.val, "{}", unknownArg(folder).val)}
			}
			run[i] = a
		}
		c.sh.fork().exec(run)
	}
}

// fdJudge judges fd, which runs what follows -x or -X.
func fdJudge(r *reading) {
	c := r.call
	c.searches(afterPattern(r.p))
	if c.sh.a.found == nil {
		c.searches([]arg{literal(".")})
	}
	for i, a := range c.args {
		switch a.val {
		case "-x", "--exec", "-X", "--exec-batch":
			run := append([]arg(nil), c.args[i+1:]...)
			if len(run) > 0 {
				c.sh.fork().exec(append(run, unknownArg(".")))
			}
			return
		}
	}
	// Bundled with other letters, or with its command attached.
	p := optSpec{short: "dEtecSoj", long: r.entry.takes.long}.parse(c.args)
	c.unsureIf(p.has("-x", "-X", "--exec", "--exec-batch") || p.unsplit, "runs a command for every file")
}
