package dialect

import (
	"net/url"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/writbus/writ/enforcement/dialect/programnames"
	"github.com/writbus/writ/schemas/glob"
)

// target is one thing that a command reaches for: what scopes are compared with.
type target struct {
	values map[string]string
	listed map[string]bool // keys that a listing spans; its handler shows only what is granted
	port   string
}

// targets returns what a command reaches for. None means that it cannot be
// told, which no scope covers.
func targets(v *Verb, args, workspace string) []target {
	first, rest := cutWord(args)
	single := func(key, value string) []target {
		if value == "" {
			return nil
		}
		return []target{{values: map[string]string{key: value}}}
	}
	switch v.Name {
	case "fetch", "browse":
		return hostOf(args)
	case "exec":
		names, ok := programnames.Names(args)
		if !ok {
			return nil
		}
		var all []target
		for _, name := range names {
			all = append(all, single("cmd", name)...)
		}
		return all
	case "read", "write", "map":
		return single("path", pathOf(v, args, workspace))
	case "agent", "pane":
		return single("id", first)
	case "mcp":
		return toolOf(first, rest)
	case "a2a":
		if first == "list" {
			return []target{{listed: map[string]bool{"name": true}}}
		}
		name, _ := cutWord(rest)
		return single("name", name)
	default:
		return []target{{}}
	}
}

// hostOf reads the host of a command whose argument is one URL and nothing else.
func hostOf(args string) []target {
	u, err := url.Parse(strings.Trim(args, " \t"))
	if err != nil || u.Host == "" || u.Opaque != "" || strings.ContainsAny(args, " \t\\") {
		return nil
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	// What clients fold into other letters may become another host.
	if host == "" || norm.NFKC.String(host) != host || strings.ContainsAny(host, "。%") {
		return nil
	}
	t := target{values: map[string]string{"host": host}, port: u.Port()}
	if t.port == "" {
		t.port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return []target{t}
}

// pathOf returns the path below the workspace, "" for one that is not in it.
func pathOf(v *Verb, args, workspace string) string {
	name := strings.Trim(args, " \t")
	if flag, rest := cutWord(name); v.Name == "write" && flag == "--persist" {
		name = rest
	}
	switch {
	case name == "" && v.Name == "map":
		return "."
	case name == "" || v.Name == "read" && name[0] == '#' || strings.ContainsAny(name, "\\\x00"):
		return ""
	}
	if v.Name == "read" {
		name, _ = CutLines(name)
	}
	return below(name, workspace)
}

// below cleans a path and makes it relative to the workspace.
func below(name, workspace string) string {
	name = path.Clean(name)
	if path.IsAbs(name) {
		root := path.Clean(workspace)
		switch {
		case !path.IsAbs(root):
			return ""
		case name == root:
			return "."
		case root != "/":
			root += "/"
		}
		rest, ok := strings.CutPrefix(name, root)
		if !ok {
			return ""
		}
		return rest
	}
	if name == ".." || strings.HasPrefix(name, "../") {
		return ""
	}
	return name
}

func toolOf(sub, rest string) []target {
	server, rest := cutWord(rest)
	tool, _ := cutWord(rest)
	t := target{values: map[string]string{"server": server}, listed: map[string]bool{}}
	switch {
	case sub == "tools":
		t.listed["tool"], t.listed["server"] = true, server == ""
	case sub == "call" && server != "" && tool != "":
		t.values["tool"] = tool
	default:
		return nil
	}
	return []target{t}
}

// meets reports whether one pattern of a scope matches.
func (t target) meets(s scope, workspace string) bool {
	if t.listed[s.key] {
		return true
	}
	value, ok := t.values[s.key]
	if !ok {
		return false
	}
	for _, pattern := range s.patterns {
		switch s.key {
		case "host":
			ok = t.meetsHost(pattern)
		case "path":
			pattern = below(pattern, workspace)
			ok = pattern != "" && glob.Stars(pattern).Match(value)
		default:
			ok = glob.Text(pattern, value)
		}
		if ok {
			return true
		}
	}
	return false
}

// meetsHost compares the port only where the pattern has one.
func (t target) meetsHost(pattern string) bool {
	host, port := pattern, ""
	if i := strings.LastIndexByte(pattern, ':'); i >= 0 && !strings.HasSuffix(pattern, "]") && (strings.Count(pattern, ":") == 1 || pattern[i-1] == ']') {
		host, port = pattern[:i], pattern[i+1:]
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	return glob.Text(host, t.values["host"]) && (port == "" || glob.Text(port, t.port))
}
