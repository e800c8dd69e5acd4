package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ToolKind is what a tool of a host does, as far as a gate is concerned.
type ToolKind int

// The kinds of tools.
const (
	unknownTool ToolKind = iota // judged by what its input carries
	PlainTool                   // touches no file
	ReadingTool
	WritingTool
	ShellTool
	PatchTool // its command is a patch's text
)

// Tool is one of a host's tools: the name policy knows it by, which is Claude
// Code's where that has the same tool.
type Tool struct {
	Name string
	Kind ToolKind
}

// Plain is a tool that touches no file, by the name policy knows it by.
func Plain(name string) Tool { return Tool{name, PlainTool} }

// Reading is a tool that reads files.
func Reading(name string) Tool { return Tool{name, ReadingTool} }

// Writing is a tool that writes files.
func Writing(name string) Tool { return Tool{name, WritingTool} }

// Shell is a tool that runs a command line.
func Shell(name string) Tool { return Tool{name, ShellTool} }

// Patch is a tool that is given a patch's text.
func Patch(name string) Tool { return Tool{name, PatchTool} }

// Keys that hosts use for the same things. Only these spellings count: a host
// that reads filePath does not read FILEPATH.
var (
	pathKeys    = []string{"file_path", "filePath", "path", "target_file", "notebook_path", "target_notebook", "absolute_path"}
	contentKeys = []string{"content", "contents", "file_text"}
	oldKeys     = []string{"old_string", "oldString", "old_str"}
	newKeys     = []string{"new_string", "newString", "new_str"}
	allKeys     = []string{"replace_all", "replaceAll", "allow_multiple"}
	commandKeys = []string{"command", "cmd", "chars"}
	folderKeys  = []string{"working_directory", "workdir", "directory", "dir_path"}
)

// ToolInput is what a tool's input says about files and commands.
type ToolInput struct {
	Paths   []string
	content *string
	edits   []Edit
	Command *string
	folder  string
}

// ReadInput reads a tool's input, an object or a string that holds one.
func ReadInput(raw json.RawMessage) (ToolInput, json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		raw = bytes.TrimSpace([]byte(text))
	}
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return ToolInput{}, nil, err
	}
	in := ToolInput{content: firstText(all, contentKeys), Command: commandOf(all)}
	for _, key := range pathKeys {
		if path := textAt(all, key); path != nil && *path != "" {
			in.Paths = append(in.Paths, *path)
		}
	}
	if folder := firstText(all, folderKeys); folder != nil {
		in.folder = *folder
	}
	in.addEdit(all)
	var several []map[string]json.RawMessage
	if json.Unmarshal(all["edits"], &several) == nil {
		for _, one := range several {
			in.addEdit(one)
		}
	}
	return in, raw, nil
}

func (in *ToolInput) addEdit(from map[string]json.RawMessage) {
	before, after := firstText(from, oldKeys), firstText(from, newKeys)
	if after == nil {
		return
	}
	e := Edit{New: *after}
	if before != nil {
		e.Old = *before
	}
	for _, key := range allKeys {
		_ = json.Unmarshal(from[key], &e.All)
	}
	var expected float64
	if json.Unmarshal(from["expected_replacements"], &expected) == nil && expected > 1 {
		e.All = true
	}
	in.edits = append(in.edits, e)
}

func textAt(all map[string]json.RawMessage, key string) *string {
	var s *string
	if json.Unmarshal(all[key], &s) != nil {
		return nil
	}
	return s
}

func firstText(all map[string]json.RawMessage, keys []string) *string {
	for _, key := range keys {
		if s := textAt(all, key); s != nil {
			return s
		}
	}
	return nil
}

// commandOf is a command line; a list of words is quoted back into one.
func commandOf(all map[string]json.RawMessage) *string {
	if line := firstText(all, commandKeys); line != nil {
		return line
	}
	for _, key := range commandKeys {
		var words []string
		if json.Unmarshal(all[key], &words) != nil || len(words) == 0 {
			continue
		}
		if len(words) == 2 && words[0] == "apply_patch" {
			return &words[1]
		}
		for i, word := range words {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		line := strings.Join(words, " ")
		return &line
	}
	return nil
}

// ReadTool fills in what a tool call does, by the host's own name for the tool.
func (c *Call) ReadTool(known map[string]Tool, host string, raw json.RawMessage, fromServer bool) error {
	if host == "" {
		return fmt.Errorf("%w: a tool without a name", ErrPayload)
	}
	t, isKnown := known[host]
	if !isKnown {
		t = Tool{Name: host}
	}
	c.Tool = t.Name
	in, object, err := ReadInput(raw)
	if err != nil {
		// A patch may come as nothing but its text.
		var text string
		if t.Kind == PatchTool && json.Unmarshal(raw, &text) == nil {
			c.Input = raw
			return c.readPatch(text)
		}
		if t.Kind > ReadingTool {
			return fmt.Errorf("%w: input of %s: %w", ErrPayload, host, err)
		}
		if !isKnown {
			c.ReadUnknown(host, raw, fromServer)
		}
		return nil
	}
	c.Input = object
	switch t.Kind {
	case unknownTool:
		c.ReadUnknown(host, object, fromServer)
	case PlainTool:
	case ReadingTool:
		c.Reads = in.Paths
		if in.folder != "" {
			c.Reads = append(c.Reads, in.folder)
		}
	case WritingTool:
		if len(in.Paths) == 0 {
			return fmt.Errorf("%w: %s without a path", ErrPayload, host)
		}
		c.Writes = in.writes()
	case PatchTool:
		if in.Command == nil {
			return fmt.Errorf("%w: %s without a patch", ErrPayload, host)
		}
		return c.readPatch(*in.Command)
	case ShellTool:
		if in.Command == nil {
			return fmt.Errorf("%w: %s without a command", ErrPayload, host)
		}
		c.Shell = in.Command
		c.enter(in.folder)
	}
	return nil
}

func (in ToolInput) writes() []Write {
	var all []Write
	for _, path := range in.Paths {
		all = append(all, Write{
			Path: path, Content: in.content, Edits: in.edits,
			Opaque: in.content == nil && len(in.edits) == 0,
		})
	}
	return all
}

// enter makes a shell tool's own folder the call's. A relative one is below
// the host's.
func (c *Call) enter(folder string) {
	switch {
	case folder == "":
	case strings.HasPrefix(folder, "/"), strings.HasPrefix(folder, "~"), c.Dir == "", len(folder) > 1 && folder[1] == ':':
		c.Dir = folder
	default:
		c.Dir = strings.TrimSuffix(c.Dir, "/") + "/" + folder
	}
}

// runs says whether a tool that no table knows runs commands, by its name.
func runs(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"shell", "bash", "terminal", "exec", "command", "run", "process", "spawn"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

var errPatch = errors.New("it is not a patch with files")

// Headers of a patch in the form of apply_patch.
const (
	patchAdd    = "*** Add File: "
	patchUpdate = "*** Update File: "
	patchDelete = "*** Delete File: "
	patchMove   = "*** Move to: "
)

// readPatch takes the files from a patch. Whatever looks like a header counts
// as one: the applier is lenient with space around it.
func (c *Call) readPatch(text string) error {
	var p patch
	for line := range strings.Lines(text) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	p.endFile()
	if len(p.writes) == 0 {
		return fmt.Errorf("%w: %s: %w", ErrPayload, c.Tool, errPatch)
	}
	c.Writes = p.writes
	return nil
}

// patch is the state of reading one.
type patch struct {
	writes []Write
	now    *Write
	added  []string
	before []string
	after  []string
	adding bool
}

func (p *patch) line(line string) {
	trimmed := strings.TrimSpace(line)
	for _, header := range []string{patchAdd, patchUpdate, patchDelete} {
		if path, found := strings.CutPrefix(trimmed, header); found {
			p.endFile()
			p.adding = header == patchAdd
			p.now = &Write{Path: strings.TrimSpace(path), Opaque: header == patchDelete, Gone: header == patchDelete}
			return
		}
	}
	if path, found := strings.CutPrefix(trimmed, patchMove); found {
		// The file goes from one name to the other; neither result is certain.
		if p.now != nil {
			p.now.Opaque = true
		}
		p.writes = append(p.writes, Write{Path: strings.TrimSpace(path), Opaque: true})
		return
	}
	switch {
	case trimmed == "*** End Patch":
		p.endFile()
	case p.now == nil || p.now.Opaque:
	case p.adding && strings.HasPrefix(line, "+"):
		p.added = append(p.added, line[1:]+"\n")
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(trimmed, "*** "):
		p.endHunk()
	case strings.HasPrefix(line, "+"):
		p.after = append(p.after, line[1:])
	case strings.HasPrefix(line, "-"):
		p.before = append(p.before, line[1:])
	default:
		line = strings.TrimPrefix(line, " ")
		p.before, p.after = append(p.before, line), append(p.after, line)
	}
}

func (p *patch) endHunk() {
	if len(p.before)+len(p.after) > 0 && p.now != nil && !p.adding {
		p.now.Edits = append(p.now.Edits, Edit{Old: strings.Join(p.before, "\n"), New: strings.Join(p.after, "\n")})
	}
	p.before, p.after = nil, nil
}

func (p *patch) endFile() {
	p.endHunk()
	if p.now == nil {
		return
	}
	if p.adding {
		content := strings.Join(p.added, "")
		p.now.Content = &content
	}
	if p.now.Content == nil && len(p.now.Edits) == 0 {
		p.now.Opaque = true
	}
	if p.now.Path != "" {
		p.writes = append(p.writes, *p.now)
	}
	p.now, p.added = nil, nil
}
