package host

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// serverKeys are the keys by which tools of MCP servers name files, beside those
// that hosts use.
var serverKeys = []string{"relative_path", "path_in_project", "pathInProject", "filename", "uri", "source", "destination", "old_path", "new_path", "from", "to", "file", "filepath", "target", "document", "dest", "dst"}

// remoteKeys say that a path is one of another place: a repository on a forge or
// a bucket. They are heeded of the servers of such places alone, which the user
// has named: an agent may add a key to any call.
var (
	remoteKeys    = []string{"owner", "repo", "repository", "project_id", "bucket"}
	remoteServers = []string{"github", "gitlab", "gitea", "forgejo", "bitbucket", "azure", "s3", "gcs"}
)

var (
	readingVerbs = []string{"read", "get", "list", "search", "find", "grep", "query", "view", "show", "open", "fetch", "describe", "stat", "tree", "check", "count", "lookup", "resolve", "think", "analyze", "diff"}
	writingVerbs = []string{"write", "edit", "create", "append", "delete", "remove", "move", "rename", "copy", "insert", "replace", "patch", "save", "truncate", "modify", "mkdir", "touch"}
	contentWords = []string{"body", "new_text", "code_edit", "patch", "replacement", "new_content"}
	codeKeys     = []string{"code", "script", "source_code", "snippet", "expression", "program"}
	codeRunners  = []string{"exec", "execute", "executes", "run", "runs", "eval", "evaluate", "repl", "interpreter", "interpret", "python", "javascript", "node", "ruby", "kernel"}
)

// ReadUnknown fills in what a tool does that no table of a host knows, one of an MCP
// server, or of a version of the host that is to come:
// its name and what its input carries decide: one that writes by its name, or is
// given content, writes the files it names; one that runs by its name runs the
// Command it is given, or code that nobody can judge; others read. A name that begins with reading, and goes on
// without writing, only reads.
//
// What is not known to do no more than read, or than to write the files it names,
// is unproven, whatever else is read from it. Of the host's own tools the name alone
// is no cause for that, unless it says that files are changed, or the host's settings.
func (c *Call) ReadUnknown(name string, raw json.RawMessage, fromServer bool) {
	if server, tool, ok := strings.Cut(name, "-"); ok && !strings.Contains(name, "__") && !strings.HasPrefix(name, "MCP:") {
		name = "mcp__" + server + "__" + tool
	}
	in, _, err := ReadInput(raw)
	if err != nil {
		c.Unproven = "its input cannot be read"
		return
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal(raw, &all)
	for _, key := range serverKeys {
		if path := textAt(all, key); path != nil && *path != "" {
			in.Paths = append(in.Paths, *path)
		}
	}
	for i, path := range in.Paths {
		in.Paths[i] = strings.TrimPrefix(path, "file://")
	}
	var values any
	_ = json.Unmarshal(raw, &values)
	words := nameWords(name)
	defer func() {
		c.FromServer = fromServer && !c.own(name)
		c.Unproven, c.Holds = c.unproven(name, all)
		if c.Holds == name && !fromServer {
			if c.Holds = ""; !(some(words, writes) && some(words, filed)) && !setting(name, all) {
				c.Unproven = ""
			}
		}
		for _, path := range pathsIn(nil, values, 0) {
			if !slices.Contains(c.Reads, path) && !slices.ContainsFunc(c.Writes, func(w Write) bool { return w.Path == path }) {
				c.Reads = append(c.Reads, path)
			}
		}
	}()
	writing := slices.ContainsFunc(words, func(word string) bool { return slices.Contains(writingVerbs, word) })
	reads := len(words) > 0 && slices.Contains(readingVerbs, words[0]) && !writing
	content := in.content != nil || len(in.edits) > 0 || all["edits"] != nil || slices.ContainsFunc(contentWords, func(key string) bool { return all[key] != nil })
	switch {
	case remote(name, all), reads:
		c.Reads, c.Elsewhere = in.Paths, remote(name, all)
	case in.Command != nil && runs(strings.Join(words, "_")):
		c.Shell = in.Command
		for key := range all {
			if folder := textAt(all, key); folder != nil && folderNames[keyWords(key)] {
				c.enter(*folder)
			}
		}
	case (content || writing) && len(in.Paths) > 0:
		if fromServer {
			in.content, in.edits = nil, nil
		}
		c.Writes = in.writes()
	default:
		c.Reads = in.Paths
		c.Code = runsCode(words, all)
	}
}

// runsCode tells that a tool runs a program it is given in another language than
// the shell's.
func runsCode(name []string, input map[string]json.RawMessage) bool {
	return slices.ContainsFunc(name, func(word string) bool { return slices.Contains(codeRunners, word) }) &&
		slices.ContainsFunc(codeKeys, func(key string) bool { return input[key] != nil })
}

// remote tells that the paths of a tool's input are of another place.
func remote(name string, input map[string]json.RawMessage) bool {
	server := nameWords(name[:max(strings.LastIndex(name, "__"), 0)])
	return slices.ContainsFunc(server, func(word string) bool { return slices.Contains(remoteServers, word) }) &&
		slices.ContainsFunc(remoteKeys, func(key string) bool { return input[key] != nil })
}

// nameWords are the words of a tool's own name, without its server's:
// "mcp__fs__write_file" and "MCP:writeFile" are both write and file.
func nameWords(name string) []string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	name = name[strings.LastIndexByte(name, ':')+1:]
	var spaced strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case unicode.IsUpper(r) && lower:
			spaced.WriteByte(' ')
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		}
		lower = unicode.IsLower(r)
		spaced.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(spaced.String())
}
