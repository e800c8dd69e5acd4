package shell

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/wordset"
)

// optSpec says which options of a program take a value, in the GNU manner.
type optSpec struct {
	short string   // letters of short options with a value
	maybe string   // letters whose value is optional and attached
	long  []string // long options with a value
	alone string   // letters of options without one, which stand before a subcommand
	stop  bool     // options end at the first operand
}

// option is one option as given.
type option struct {
	name  string // "-o" or "--output"
	value arg
	has   bool // a value was given
}

// parsed is a command line taken apart.
type parsed struct {
	opts     []option
	operands []arg
	unsplit  bool // a word may expand to any options
}

// parse takes the arguments apart. An argument that is not known is an operand.
func (o optSpec) parse(args []arg) parsed {
	var p parsed
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.split {
			p.unsplit = true
		}
		next := func(take bool) (arg, bool) {
			if i+1 >= len(args) {
				return arg{}, false
			}
			if take {
				i++
				return args[i], true
			}
			return args[i+1], true
		}
		switch {
		case a.val == "--" && a.known:
			p.operands = append(p.operands, args[i+1:]...)
			return p
		case strings.HasPrefix(a.val, "--") && len(a.val) > 2:
			p.opts = append(p.opts, longOption(a, o.long, next))
		case strings.HasPrefix(a.val, "-") && len(a.val) > 1:
			p.opts = append(p.opts, o.cluster(a, next)...)
		default:
			p.operands = append(p.operands, a)
			if o.stop {
				p.operands = append(p.operands, args[i+1:]...)
				return p
			}
		}
	}
	return p
}

func longOption(a arg, long []string, next func(take bool) (arg, bool)) option {
	name, value, ok := strings.Cut(a.val, "=")
	opt := option{name: name, has: ok}
	if ok {
		opt.value = arg{val: value, known: a.known || isKnown(value) && !a.glob, guess: a.guess}
	} else if slices.Contains(long, name) {
		opt.value, opt.has = next(true)
	} else if slices.ContainsFunc(long, func(whole string) bool { return shortens(name, whole) }) {
		// Whether it is an option in short, or one of its own without a value, only
		// the program knows: the next word counts as both.
		opt.value, opt.has = next(false)
	}
	return opt
}

// cluster takes apart bundled short options.
func (o optSpec) cluster(a arg, next func(take bool) (arg, bool)) []option {
	var opts []option
	letters := a.val[1:]
	for j := 0; j < len(letters); j++ {
		letter := letters[j : j+1]
		opt := option{name: "-" + letter}
		rest := letters[j+1:]
		attached := arg{val: rest, known: a.known, guess: a.guess, glob: a.glob}
		switch {
		case strings.Contains(o.short, letter):
			if rest != "" {
				opt.value, opt.has = attached, true
			} else {
				opt.value, opt.has = next(true)
			}
			return append(opts, opt)
		case strings.Contains(o.maybe, letter):
			opt.value, opt.has = attached, rest != ""
			return append(opts, opt)
		}
		opts = append(opts, opt)
	}
	return opts
}

// has reports whether one of the options was given. A long option may be
// shortened, to one letter where no other begins with it.
func (p parsed) has(names ...string) bool {
	return slices.ContainsFunc(p.opts, func(o option) bool { return o.is(names) })
}

func (o option) is(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return o.name == name || shortens(o.name, name)
	})
}

// shortens reports a long option that is the beginning of another one. Options
// of their own that are, too, are told apart.
func shortens(name, whole string) bool {
	return len(name) > 2 && strings.HasPrefix(name, "--") && len(name) < len(whole) && strings.HasPrefix(whole, name) && !wholeOptions[name]
}

// wholeOptions are options without a value that begin like one with a value.
var wholeOptions = setOf("--backup --partial --head --no --quiet --progress --color --all --test")

// values returns the values of the options, in order.
func (p parsed) values(names ...string) []arg {
	var out []arg
	for _, o := range p.opts {
		if o.has && o.is(names) {
			out = append(out, o.value)
		}
	}
	return out
}

// last returns the last value of the options.
func (p parsed) last(names ...string) (arg, bool) {
	vs := p.values(names...)
	if len(vs) == 0 {
		return arg{}, false
	}
	return vs[len(vs)-1], true
}

var setOf = wordset.Of
