package shell

import (
	_ "embed" // the table of variables
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hazardous is an environment variable that turns a safe program into another
// one.
type hazardous struct {
	kind     string         // "loads", "runs", "finds" or "turns"
	programs []string       // the ones it acts on; none means every program
	safe     []string       // of a family: names, and beginnings of names, that do nothing
	harmless *regexp.Regexp // values that do nothing
}

//go:embed variables.table
var variablesTable string

// hazardTable is the table of variables, by names and by "PREFIX*".
var hazardTable = sync.OnceValue(func() map[string]hazardous {
	table := map[string]hazardous{}
	for _, line := range tableLines(variablesTable) {
		colon := slices.Index(line, ":")
		h := hazardous{kind: line[0], programs: line[1:colon]}
		names := line[colon+1:]
		if but := slices.Index(names, "but"); but >= 0 {
			names, h.safe = names[:but], names[but+1:]
		}
		for _, name := range names {
			one := h
			name, values, some := strings.Cut(name, "=")
			if some {
				one.harmless = regexp.MustCompile("(?s)" + values)
			}
			table[name] = one
		}
	}
	return table
})

// hazardOf finds a variable in the table, or its family.
func hazardOf(name string) (h hazardous, ok bool) {
	if h, ok = hazardTable()[name]; ok {
		return h, true
	}
	for i := len(name); i > 0; i-- {
		if h, ok = hazardTable()[name[:i]+"*"]; ok {
			return h, !slices.ContainsFunc(h.safe, func(safe string) bool {
				prefix, family := strings.CutSuffix(safe, "*")
				return name == safe || family && strings.HasPrefix(name, prefix)
			})
		}
	}
	return hazardous{}, false
}

// hazard notes an assignment to a variable of the table. Values that switch a
// feature off are no hazard.
func (sh *shell) hazard(name string, value arg) {
	h, ok := hazardOf(name)
	if !ok {
		return
	}
	if name == "PS4" {
		if strings.ContainsAny(value.val, "$`") || !value.known {
			sh.a.unsure(name, "a trace prompt that runs what is in it")
		}
		return
	}
	delete(sh.env, name)
	switch {
	case value.known && (value.val == "" || value.val == "/dev/null" || h.harmless != nil && h.harmless.MatchString(value.val)):
		return
	case h.kind == "turns":
		sh.a.unsure(name, "the variable changes what the shell does, or the shell what it holds")
		return
	case (name == "GOCACHE" || name == "GOMODCACHE" || name == "GOTMPDIR" || name == "GOPATH") && value.known && sh.caches(value.val):
		return
	case name == "KUBECONFIG" && value.known && sh.trustedFile(value.val):
		return
	case name == "GOTOOLCHAIN" && value.known && !strings.Contains(value.val, "path"):
		return
	case name == "HOME" && value.known && value.val == sh.a.env.Home:
		return
	case h.kind == "finds" && sh.trustedPath(value):
		return
	}
	sh.env[name] = value
}

// hazards judges the variables that act on the program about to run.
func (sh *shell) hazards(c *call, line string) {
	for _, name := range slices.Sorted(maps.Keys(sh.env)) {
		value := sh.env[name]
		h, _ := hazardOf(name)
		if len(h.programs) > 0 && !slices.Contains(h.programs, c.name) {
			continue
		}
		if h.kind != "runs" {
			sh.a.unsure(line, "the variable "+name+" changes what the program does")
			continue
		}
		words, simple := []arg(nil), false
		if value.known {
			words, simple = sh.fork().split(value.val)
		}
		if !simple || len(words) == 0 {
			sh.a.unsure(line, "the variable "+name+" is a command line")
			c.text(value)
			continue
		}
		// The program adds the file to edit or compare.
		if _, harmless := harmlessEditors[words[0].val]; !harmless || strings.Contains(value.val, "Command") {
			sh.fork().exec(append(words, arg{val: string(hole)}))
		}
	}
}

// harmlessEditors leave the file that an editor or pager is given as it is.
var harmlessEditors = map[string]struct{}{"true": {}, ":": {}, "cat": {}, "less": {}, "more": {}, "false": {}, "echo": {}, "ssh": {}, "delta": {}}
