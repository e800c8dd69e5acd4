package settings

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Line is a key of settings whose command prints a line about the session. A
// user's own stays, whatever it runs.
type Line struct {
	Key        string // "" for hosts without one
	Subcommand string // of writ
}

type lineValue struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

func (l Line) value(program string) lineValue {
	return lineValue{"command", Quote(program) + " " + l.Subcommand}
}

// own says whether a key's value is Writ's, of whatever path.
func (l Line) own(raw []byte) bool {
	var v lineValue
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	program, found := strings.CutSuffix(strings.TrimSpace(v.Command), " "+l.Subcommand)
	return found && isWrit(strings.Trim(program, `"'`))
}

// with puts the line into settings that have none, or an old one of Writ's.
func (l Line) with(d document, program string) (document, bool) {
	i := d.root.index(l.Key)
	if i < 0 {
		return d.add(d.root, l.Key, l.value(program)), true
	}
	is := d.bytes(d.root.children[i])
	var have lineValue
	if !l.own(is) || json.Unmarshal(is, &have) == nil && have.Command == l.value(program).Command {
		return d, false
	}
	d = d.remove(d.root, i)
	return d.add(d.root, l.Key, l.value(program)), true
}

// without takes Writ's line out.
func (l Line) without(d document) (document, bool) {
	i := d.root.index(l.Key)
	if i < 0 || !l.own(d.bytes(d.root.children[i])) {
		return d, false
	}
	return d.remove(d.root, i), true
}

// Foreign says whether settings have a line that is not Writ's.
func (l Line) Foreign(settings []byte) bool {
	if l.Key == "" || len(bytes.TrimSpace(settings)) == 0 {
		return false
	}
	d, err := parse(settings)
	if err != nil {
		return false
	}
	n := d.root.member(l.Key)
	return n != nil && !l.own(d.bytes(n))
}
