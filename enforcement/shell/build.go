package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// goFolderJudge moves to where the go command is told to work by -C.
func goFolderJudge(r *reading) {
	c := r.call
	args, moved := c.goFolder(c.args)
	if len(args) > 1 && !moved {
		rest, _ := c.goFolder(args[1:])
		args = append(args[:1:1], rest...)
	}
	r.call = &call{sh: c.sh, name: c.name, args: args}
	r.parse()
}

// goFolder takes -C off the front of arguments and moves there.
func (c *call) goFolder(args []arg) (rest []arg, moved bool) {
	if len(args) == 0 {
		return args, false
	}
	name, dir, attached := strings.Cut(args[0].val, "=")
	if name != "-C" && name != "--C" {
		return args, false
	}
	rest = args[1:]
	folder := arg{val: dir, known: args[0].known}
	if !attached {
		if len(rest) == 0 {
			return rest, true
		}
		folder, rest = rest[0], rest[1:]
	}
	c.sh = c.sh.fork()
	c.sh.moveInto(folder)
	return rest, true
}

// goFlagsJudge judges what is handed on to the compiler, the linker and the
// assembler, which write files and run programs by their own options, and how
// go.mod is treated.
func goFlagsJudge(r *reading) {
	for _, v := range r.flagValues([]string{"-gcflags", "-ldflags", "-asmflags", "-gccgoflags"}) {
		r.unsureIf(!plainToolFlags.MatchString(v.val), "hands options to a tool that may write files or run programs")
	}
	if mods := r.flagValues([]string{"-mod"}); len(mods) > 0 && r.first() != "mod" {
		if mod := mods[len(mods)-1].val; mod != "vendor" && mod != "readonly" {
			r.unsure("may write go.mod")
			r.writeName("go.mod")
			r.writeName("go.sum")
		}
	}
}

// plainToolFlags are options of Go's tools that change only what is built.
var plainToolFlags = lazyregexp.New(`^(?:[\w./]+=)?\s*(?:-?-(?:s|w|N|l|m|S|B|e|h|race|msan|shared|dynlink|X(?:[ =]\S+|[ =]?'[^']*')|buildid=\S*|compressdwarf=\w+|m=\d|l=\d|c=\d)(?:\s+|$))*$`)

// compilerFiles are options of compilers that name further files to write, or
// whose values reach the linker and the assembler.
var compilerFiles = []string{
	"-Wl,", "-Wa,", "-Xlinker", "-Xassembler", "-MF", "-aux-info", "-specs", "-fdump", "-dumpdir", "-dumpbase", "-fstack-usage",
	"-fcallgraph-info", "-fprofile", "-ftest-coverage", "-fdiagnostics-add-output", "-T",
}

// compilerJudge judges C compilers.
func compilerJudge(r *reading) {
	c := r.call
	var sources []string
	output, mode := arg{}, ""
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch v := a.val; {
		case v == "-o" && i+1 < len(c.args):
			i++
			output = c.args[i]
		case strings.HasPrefix(v, "-o") && len(v) > 2:
			output = literal(v[2:])
		case v == "-c" || v == "-S" || v == "-E" || v == "-fsyntax-only" || v == "-M" || v == "-MM" || v == "-v" || v == "-dumpversion" || v == "-dumpmachine" || strings.HasPrefix(v, "-print-"):
			mode = v
		case strings.HasPrefix(v, "-fplugin") || v == "-wrapper" || strings.HasPrefix(v, "-B") || strings.HasPrefix(v, "@") || strings.HasPrefix(v, "-save-temps") || strings.HasPrefix(v, "-MD") || strings.HasPrefix(v, "-MMD") || v == "--coverage":
			c.unsure("an option loads code or writes other files")
		case v == "-":
			sources = append(sources, v)
		case slices.ContainsFunc(compilerFiles, func(option string) bool { return strings.HasPrefix(v, option) }):
			c.unsure("an option that writes other files")
		case v == "-I" || v == "-L" || v == "-D" || v == "-x" || v == "-include" || v == "-isystem":
			i++
		case strings.HasPrefix(v, "-"):
		default:
			c.unsureIf(!a.known, "the names are known only at run time")
			sources = append(sources, v)
		}
	}
	switch {
	case mode == "-fsyntax-only" || len(sources) == 0:
	case output.val != "":
		c.writeOut(output)
	case mode == "-c" || mode == "-S":
		suffix := map[string]string{"-c": ".o", "-S": ".s"}[mode]
		for _, s := range sources {
			base := path.Base(s)
			c.writeName(strings.TrimSuffix(base, path.Ext(base)) + suffix)
		}
	case mode == "":
		c.writeName("a.out")
	}
}
