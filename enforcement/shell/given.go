package shell

import "strings"

// given reports one of the options, alone, with a value, shortened or among
// bundled letters: "-o" is in "-xo", "-xofile" and "-o=file", "--output" in
// "--out=file", and "-profile" in "--profile=file". A word that may be any
// number of words may be any option.
func (c *call) given(options ...string) bool {
	for _, a := range c.args {
		if a.val == "--" && a.known {
			return false
		}
		if a.split {
			return true
		}
		for _, o := range options {
			if a.isOption(o) {
				return true
			}
		}
	}
	return false
}

func (a arg) isOption(option string) bool {
	name, _, _ := strings.Cut(a.val, "=")
	prefix, any := strings.CutSuffix(option, "*")
	switch {
	case len(name) < 2 || name[0] != '-':
		return false
	case any:
		return strings.HasPrefix(name, prefix) || strings.HasPrefix(name, "-"+prefix)
	case strings.HasPrefix(option, "--"):
		return name == option || shortens(name, option)
	case len(option) > 2:
		return name == option || name == "-"+option
	}
	return name == "-"+option || !strings.HasPrefix(name, "--") && strings.Contains(name[1:], option[1:])
}
