package dashboard

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// errScript is returned for a module that says more than joining understands.
var errScript = errors.New("dashboard: the scripts cannot be joined")

// What modules may import and export here: names, in a line that begins with
// the word.
var (
	importLine = regexp.MustCompile(`(?m)^import (\{ [\w, ]+ \}) from '\./([a-z]+)\.js';$`)
	exportWord = regexp.MustCompile(`(?m)^export (?:async )?(?:function|const) (\w+)`)
	leftWord   = regexp.MustCompile(`(?m)^(?:import|export)\b.*$`)
)

// joined is the module of a name and those that it imports as one script: a
// browser fetches it with one request instead of fourteen, each of which costs
// it some milliseconds. Each module becomes a function that returns what it
// exports, so that names are kept apart as before.
func joined(assets fs.FS, entry string) ([]byte, error) {
	j := joiner{assets: assets, state: map[string]int{}}
	if err := j.add(entry); err != nil {
		return nil, err
	}
	return []byte(j.out.String()), nil
}

const (
	adding = 1
	added  = 2
)

type joiner struct {
	assets fs.FS
	state  map[string]int
	out    strings.Builder
}

// add writes a module behind those that it imports.
func (j *joiner) add(name string) error {
	switch j.state[name] {
	case added:
		return nil
	case adding:
		return fmt.Errorf("%w: %s imports itself by way of others", errScript, name)
	}
	j.state[name] = adding
	raw, err := fs.ReadFile(j.assets, "js/"+name+".js")
	if err != nil {
		return fmt.Errorf("%w: %w", errScript, err)
	}
	text := string(raw)
	for _, m := range importLine.FindAllStringSubmatch(text, -1) {
		if err := j.add(m[2]); err != nil {
			return err
		}
	}
	var exports []string
	for _, m := range exportWord.FindAllStringSubmatch(text, -1) {
		exports = append(exports, m[1])
	}
	text = importLine.ReplaceAllString(text, "const $1 = from_$2;")
	text = exportWord.ReplaceAllStringFunc(text, func(line string) string { return strings.TrimPrefix(line, "export ") })
	if left := leftWord.FindString(text); left != "" {
		return fmt.Errorf("%w: %s says %q", errScript, name, left)
	}
	fmt.Fprintf(&j.out, "const from_%s = (() => {\n%s\nreturn { %s };\n})();\n", name, strings.TrimSpace(text), strings.Join(exports, ", "))
	j.state[name] = added
	return nil
}
