package shell

import (
	"maps"
	"strings"
)

// family is a part of the table of programs.
type family map[string]command

// registry is the table of programs, by base name. It is filled once and never
// changed.
var registry family

func init() {
	registry = family{}
	for _, f := range []family{
		readers(), builtins(), coreutils(), editors(), archives(), network(),
		wrappers(), interpreters(), buildTools(), checkers(), platforms(), versionControl(),
	} {
		maps.Copy(registry, f)
	}
}

// add puts the same entry under several names, separated by spaces.
func (f family) add(names string, c command) {
	for name := range strings.FieldsSeq(names) {
		f[name] = c
	}
}

// opaque is a program that runs code which is not in the command line.
func opaque(text string) judge { return func(c *call) { c.unsure(text) } }

// operands is a program that writes every operand.
func operands(spec optSpec) judge {
	return func(c *call) { c.write(spec.parse(c.args).operands...) }
}

// optionFiles is a program that writes the values of some options.
func optionFiles(spec optSpec, names ...string) judge {
	return func(c *call) {
		p := spec.parse(c.args)
		if p.unsplit {
			c.unsure("its options are known only at run time")
		}
		for _, v := range p.values(names...) {
			c.writeOut(v)
		}
	}
}

// writeOut records an output file; "-" means standard output.
func (c *call) writeOut(a arg) {
	if a.known && a.val == "-" {
		return
	}
	c.write(a)
}

// subcommands is a program whose first operand says what it does. Subcommands
// that are not listed cannot be told.
type subcommands struct {
	options optSpec // before the subcommand
	reads   string  // subcommands that only read, "two words" as "two:words"
	table   map[string]judge
}

func (s subcommands) judge(c *call) {
	options := s.options
	options.stop = true
	p := options.parse(c.args)
	if len(p.operands) == 0 {
		if !p.has("--version", "--help", "-V", "-h", "-v") {
			c.unsure("no subcommand that is known")
		}
		return
	}
	sub := p.operands[0]
	if !sub.known || sub.guess {
		c.unsure("the subcommand is known only at run time")
		return
	}
	rest := &call{sh: c.sh, name: c.name + " " + sub.val, args: p.operands[1:]}
	if j, ok := s.table[sub.val]; ok {
		if j != nil {
			j(rest)
		}
		return
	}
	for word := range strings.FieldsSeq(s.reads) {
		outer, inner, two := strings.Cut(word, ":")
		if outer == sub.val && (!two || inner == nextWord(rest.args)) {
			return
		}
	}
	if informs(rest.args) {
		return
	}
	c.unsure("a subcommand that may write anything")
}

// nextWord is the first argument that is not an option.
func nextWord(args []arg) string {
	for _, a := range args {
		if !strings.HasPrefix(a.val, "-") {
			return a.val
		}
	}
	return ""
}

// flagged reports whether an argument is one of the options, or one of them
// with =value.
func (c *call) flagged(names ...string) bool {
	for _, a := range c.args {
		name, _, _ := strings.Cut(a.val, "=")
		for _, want := range names {
			if name == want {
				return true
			}
		}
	}
	return false
}

// unless reads only when one of the options is given, and is otherwise judged.
func unless(otherwise judge, names ...string) judge {
	return func(c *call) {
		if !c.flagged(names...) {
			otherwise(c)
		}
	}
}

// when is judged when one of the options is given, and otherwise reads only.
func when(j judge, names ...string) judge {
	return func(c *call) {
		if c.flagged(names...) {
			j(c)
		}
	}
}
