package shell

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/enforcement/query"
)

// reading is a call while an entry of the table is applied to it.
type reading struct {
	*call
	entry     *entry
	git       *gitRun // where the program is git
	p         parsed
	after     []arg // what stands behind "--"
	separated bool  // there is a "--"
}

// parse takes the arguments apart as the entry says.
func (r *reading) parse() {
	var front []arg
	front, r.after, r.separated = pathspecs(r.args)
	if !r.entry.before {
		front = r.args
	}
	r.p = r.entry.takes.parse(front)
}

// readTest reads a condition; the head of the table lists them.
func readTest(words []string) test {
	name, negated := strings.CutPrefix(words[0], "!")
	var holds test
	if strings.HasPrefix(name, "-") {
		names := append([]string{name}, words[1:]...)
		holds = func(r *reading) bool { return r.p.has(names...) }
	} else {
		make, ok := tests[name]
		if !ok {
			panic("shell: no test " + name)
		}
		holds = make(quoted(words[1:]))
	}
	if negated {
		return func(r *reading) bool { return !holds(r) }
	}
	return holds
}

// quoted turns ” into the empty word.
func quoted(words []string) []string {
	words = slices.Clone(words)
	for i, w := range words {
		if w == "''" {
			words[i] = ""
		}
	}
	return words
}

var tests map[string]func(words []string) test

func init() {
	is := func(holds test) func([]string) test { return func([]string) test { return holds } }
	among := func(word func(*reading) (string, bool)) func([]string) test {
		return func(words []string) test {
			return func(r *reading) bool {
				w, ok := word(r)
				return ok && slices.Contains(words, w)
			}
		}
	}
	anyArg := func(holds func(arg) bool) func([]string) test {
		return is(func(r *reading) bool { return slices.ContainsFunc(r.args, holds) })
	}
	tests = map[string]func([]string) test{
		"given":  func(w []string) test { return func(r *reading) bool { return r.given(w...) } },
		"word":   func(w []string) test { return func(r *reading) bool { return r.flagged(w...) } },
		"arg":    func(w []string) test { return func(r *reading) bool { return containsAny(r.args, w) } },
		"option": func(w []string) test { return func(r *reading) bool { return isAnyOption(r.args, w) } },
		"value":  func(w []string) test { return func(r *reading) bool { return len(r.p.values(w...)) > 0 } },
		"flags":  func(w []string) test { return func(r *reading) bool { return len(r.flagValues(w)) > 0 } },
		"called": among(func(r *reading) (string, bool) { return r.name, true }),
		"first":  among(func(r *reading) (string, bool) { return r.first(), true }),
		"sub":    among(func(r *reading) (string, bool) { word, _ := r.nextWord(r.args); return word, true }),
		"shows":  among(func(r *reading) (string, bool) { return r.nextWord(r.args) }),
		"second": among(func(r *reading) (string, bool) {
			sub, _ := r.nextWord(r.args)
			return r.nextWord(r.args[1+slices.IndexFunc(r.args, func(a arg) bool { return a.val == sub }):])
		}),
		"lead": among(func(r *reading) (string, bool) {
			return r.operand(0).val, len(r.p.operands) > 0
		}),
		"first~":   func(w []string) test { return func(r *reading) bool { return pattern(w[0])(r.first()) } },
		"args":     func(w []string) test { return count(w[0], func(r *reading) int { return len(r.args) }) },
		"operands": func(w []string) test { return count(w[0], func(r *reading) int { return len(r.p.operands) }) },
		"any~":     matching(func(r *reading) []arg { return r.args }),
		"operand~": matching(func(r *reading) []arg { return r.p.operands }),
		"words~": func(w []string) test {
			matches := pattern(strings.Join(w, " "))
			return func(r *reading) bool {
				var words []string
				for _, a := range r.args {
					if !strings.HasPrefix(a.val, "-") && len(words) < 2 {
						words = append(words, a.val)
					}
				}
				return matches(strings.Join(words, " "))
			}
		},
		"last~": func(w []string) test {
			matches := pattern(w[0])
			return func(r *reading) bool { v, ok := r.p.last(w[1:]...); return ok && matches(v.val) }
		},
		"other": func(w []string) test {
			matches := pattern(w[0])
			return func(r *reading) bool {
				return slices.ContainsFunc(r.p.values(w[1:]...), func(v arg) bool { return !matches(v.val) })
			}
		},
		"untrusted": func(w []string) test {
			return func(r *reading) bool {
				return slices.ContainsFunc(r.p.values(w...), func(v arg) bool { return !v.known || !r.sh.trustedFile(v.val) })
			}
		},
		"unlike": func(w []string) test {
			matches := pattern(w[0])
			return func(r *reading) bool {
				return slices.ContainsFunc(append(r.p.values("--url"), r.p.operands...), func(a arg) bool { return !matches(a.val) })
			}
		},
		"asks":      asks,
		"looks":     is(looks),
		"fed":       is(func(r *reading) bool { return r.sh.in.given && (r.sh.in.text != "" || !r.sh.in.known) }),
		"unknown":   anyArg(func(a arg) bool { return !a.known }),
		"piped":     anyArg(func(a arg) bool { return a.subst != nil }),
		"split":     anyArg(func(a arg) bool { return a.split }),
		"splits":    is(func(r *reading) bool { return len(r.args) > 0 && r.args[0].split }),
		"unsplit":   is(func(r *reading) bool { return r.p.unsplit }),
		"vague":     is(func(r *reading) bool { return slices.ContainsFunc(r.p.operands, func(a arg) bool { return !a.known }) }),
		"known":     is(func(r *reading) bool { return r.operand(0).known }),
		"separated": is(func(r *reading) bool { return r.separated }),
		"after":     is(func(r *reading) bool { return len(r.after) > 0 }),
		"file":      is(func(r *reading) bool { return len(r.p.operands) > 0 && fileLike(r.operand(0)) }),
		"head":      is(func(r *reading) bool { return r.p.isHead(0) }),
		"remote": is(func(r *reading) bool {
			t := r.operand(len(r.p.operands) - 1)
			return t.known && remote(t.val)
		}),
		"outside": is(func(r *reading) bool {
			dir, ok := r.sh.cwd()
			return !ok || !inside(path.Clean(dir), r.sh.a.env.Project)
		}),
		"scratch": is(func(r *reading) bool {
			dir, ok := r.sh.cwd()
			return !ok || r.sh.temporary(path.Clean(dir))
		}),
	}
}

// asks reads what is said to a data base, by options or on standard input.
func asks(words []string) test {
	harmless := pattern(words[0])
	return func(r *reading) bool {
		said := r.p.values(words[1:]...)
		if len(said) == 0 && r.sh.in.known {
			said = []arg{literal(r.sh.in.text)}
		}
		return len(said) > 0 && !slices.ContainsFunc(said, func(a arg) bool {
			return !harmless(a.val) && (!a.known || a.guess || !query.AllRead(strings.TrimPrefix(a.val, "query=")))
		})
	}
}

// operand is the i-th operand, a zero one where there is none.
func (r *reading) operand(i int) arg {
	if i < 0 || i >= len(r.p.operands) {
		return arg{}
	}
	return r.p.operands[i]
}

// pattern compiles a pattern of the table, which may match in a text of several
// lines.
func pattern(expr string) func(string) bool { return regexp.MustCompile("(?s)" + expr).MatchString }

// count is a number: at least so many, or with = exactly as many.
func count(number string, of func(*reading) int) test {
	exact, isExact := strings.CutPrefix(number, "=")
	n, err := strconv.Atoi(exact)
	if err != nil {
		panic("shell: no number " + number)
	}
	return func(r *reading) bool { return of(r) == n || of(r) > n && !isExact }
}

// matching is a pattern for one of several words: all of them, those from a
// place on ("1.."), or the one at a place ("1").
func matching(all pick) func(words []string) test {
	return func(words []string) test {
		from, to := 0, -1
		if len(words) == 2 {
			number, rest := strings.CutSuffix(words[0], "..")
			from, _ = strconv.Atoi(number)
			if !rest {
				to = from + 1
			}
		}
		matches := pattern(words[len(words)-1])
		return func(r *reading) bool {
			args := all(r)
			end := len(args)
			if to >= 0 {
				end = min(to, end)
			}
			return slices.ContainsFunc(args[min(from, end):end], func(a arg) bool { return matches(a.val) })
		}
	}
}

func containsAny(args []arg, words []string) bool {
	return slices.ContainsFunc(args, func(a arg) bool { return slices.Contains(words, a.val) })
}

func isAnyOption(args []arg, options []string) bool {
	return slices.ContainsFunc(args, func(a arg) bool { return slices.ContainsFunc(options, a.isOption) })
}

// flagValues are the values of options in Go's manner, with one dash or two.
func (r *reading) flagValues(names []string) (values []arg) {
	for i, a := range r.args {
		name, v, attached := strings.Cut(a.val, "=")
		if !slices.Contains(names, name) && !slices.Contains(names, strings.TrimPrefix(name, "-")) {
			continue
		}
		switch {
		case attached:
			values = append(values, arg{val: v, known: a.known, guess: a.guess})
		case i+1 < len(r.args):
			values = append(values, r.args[i+1])
		}
	}
	return values
}

// readPick reads which arguments an act is about.
func readPick(words []string) pick {
	var picks []pick
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, number, numbered := strings.Cut(w, ":")
		n, err := strconv.Atoi(number)
		switch {
		case numbered && err == nil && name == "operands":
			picks = append(picks, func(r *reading) []arg { return r.p.operands[min(n, len(r.p.operands)):] })
		case numbered && err == nil && name == "operand":
			picks = append(picks, func(r *reading) []arg { return r.p.operands[min(n, len(r.p.operands)):min(n+1, len(r.p.operands))] })
		case numbered && err == nil && name == "args":
			picks = append(picks, func(r *reading) []arg { return r.args[min(n, len(r.args)):] })
		case numbered && err == nil && name == "arg":
			picks = append(picks, func(r *reading) []arg { return r.args[min(n, len(r.args)):min(n+1, len(r.args))] })
		case name == "after" && numbered:
			picks = append(picks, func(r *reading) []arg { return r.cut(number) })
		case name == "except":
			inner, matches := picks, pattern(number)
			picks = []pick{func(r *reading) []arg {
				return slices.DeleteFunc(slices.Clone(picked(r, inner)), func(a arg) bool { return matches(a.val) })
			}}
		case name == "or":
			inner := picks
			picks = []pick{func(r *reading) []arg {
				if args := picked(r, inner); len(args) > 0 {
					return args
				}
				return []arg{literal(number)}
			}}
		case w == "last" || w == "flags":
			rest := readPick(words[i+1:])
			if w == "flags" {
				names := words[i+1:]
				rest = func(r *reading) []arg { return r.flagValues(names) }
			}
			if w == "last" {
				all := rest
				rest = func(r *reading) []arg { args := all(r); return args[max(0, len(args)-1):] }
			}
			picks = append(picks, rest)
			i = len(words)
		case strings.HasPrefix(w, "-"):
			end := i + 1
			for end < len(words) && strings.HasPrefix(words[end], "-") {
				end++
			}
			names := words[i:end]
			picks = append(picks, func(r *reading) []arg { return r.p.values(names...) })
			i = end - 1
		default:
			one, ok := namedPicks[w]
			if !ok {
				panic("shell: nothing is called " + w)
			}
			picks = append(picks, one)
		}
	}
	return func(r *reading) []arg { return picked(r, picks) }
}

func picked(r *reading, picks []pick) []arg {
	if len(picks) == 1 {
		return picks[0](r)
	}
	var args []arg
	for _, p := range picks {
		args = append(args, p(r)...)
	}
	return args
}

var namedPicks = map[string]pick{
	"operands": func(r *reading) []arg { return r.p.operands },
	"names":    func(r *reading) []arg { return afterPattern(r.p) },
	"sources":  func(r *reading) []arg { return r.p.operands[:max(0, len(r.p.operands)-1)] },
	"target":   func(r *reading) []arg { return r.p.operands[max(0, len(r.p.operands)-1):] },
	"plain": func(r *reading) []arg {
		return slices.DeleteFunc(slices.Clone(r.args), func(a arg) bool { return strings.HasPrefix(a.val, "-") })
	},
	"after": func(r *reading) []arg { return r.after },
	"whole": func(r *reading) []arg { return []arg{{val: ":/", known: true}} },
	"root":  func(r *reading) []arg { return []arg{literal(r.git.root())} },
}

// cut are the arguments that begin with a prefix, without it.
func (r *reading) cut(prefix string) (args []arg) {
	for _, a := range r.args {
		if v, ok := strings.CutPrefix(a.val, prefix); ok {
			a.val = v
			args = append(args, a)
		}
	}
	return args
}
