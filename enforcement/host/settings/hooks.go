package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Hook is a hook found in settings.
type Hook struct {
	Event   string
	Matcher string
	Command string
	Args    []string // empty: Command is for a shell
}

// Merge returns the settings with Writ's hooks, which run the given program.
// It returns the same bytes where they are there already. Without settings it
// returns a file's worth of new ones.
func (h Host) Merge(settings []byte, program string) ([]byte, error) {
	d, err := h.parse(settings)
	if err != nil {
		return nil, err
	}
	changed := false
	for _, key := range h.Base {
		if d.root.member(key.Name) == nil {
			changed = true
			d = d.add(d.root, key.Name, key.Value)
		}
	}
	for _, w := range h.Hooks {
		if h.installed(d, w, program) {
			continue
		}
		changed = true
		d = h.without(d, w.Event, func(string) bool { return true })
		d = d.withEntry(w.Event, h.entry(w, program))
	}
	if h.Line.Key != "" {
		var added bool
		d, added = h.Line.with(d, program)
		changed = changed || added
	}
	for _, event := range d.events() {
		if !h.wants(event) && len(h.ownIn(d, event)) > 0 {
			changed = true
			d = h.without(d, event, nil)
		}
	}
	if !changed {
		return settings, nil
	}
	if len(bytes.TrimSpace(settings)) == 0 {
		return append(d.text, '\n'), nil
	}
	return d.text, nil
}

// Remove returns the settings without Writ's hooks. A list or object that is
// empty then goes too, unless the original settings, from before Merge, had
// it; so does a key of Base.
func (h Host) Remove(settings, original []byte) ([]byte, error) {
	d, err := h.parse(settings)
	if err != nil {
		return nil, err
	}
	before, err := h.parse(original)
	if err != nil {
		before, _ = parse(nil)
	}
	had := before.root.member("hooks")
	removed := false
	for _, event := range d.events() {
		if len(h.ownIn(d, event)) > 0 {
			removed = true
			d = h.without(d, event, func(event string) bool { return had.index(event) >= 0 })
		}
	}
	if h.Line.Key != "" {
		var taken bool
		d, taken = h.Line.without(d)
		removed = removed || taken
	}
	if !removed {
		return settings, nil
	}
	if hooks := d.root.index("hooks"); had == nil && hooks >= 0 && len(d.root.children[hooks].children) == 0 {
		d = d.remove(d.root, hooks)
	}
	return h.withoutBase(d, before).text, nil
}

// withoutBase takes out the keys that Merge added. Without the original that is
// known only where nothing else is left.
func (h Host) withoutBase(d, before document) document {
	if len(before.root.children) == 0 && len(d.root.children) > len(h.Base) {
		return d
	}
	for _, key := range slices.Backward(h.Base) {
		if i := d.root.index(key.Name); i >= 0 && before.root.index(key.Name) < 0 && string(d.bytes(d.root.children[i])) == quoteValue(key.Value) {
			d = d.remove(d.root, i)
		}
	}
	return d
}

func quoteValue(value any) string {
	raw, _ := json.Marshal(value)
	return string(raw)
}

// Installed lists Writ's hooks in settings, in their order.
func (h Host) Installed(settings []byte) ([]Hook, error) {
	d, err := h.parse(settings)
	if err != nil {
		return nil, err
	}
	var found []Hook
	for _, event := range d.events() {
		for _, o := range h.ownIn(d, event) {
			found = append(found, Hook{event, o.matcher, o.handler.line(), o.handler.Args})
		}
	}
	return found, nil
}

// Missing lists events Writ answers for which settings have no hook of Writ's.
func (h Host) Missing(settings []byte) ([]string, error) {
	installed, err := h.Installed(settings)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, w := range h.Hooks {
		if !slices.ContainsFunc(installed, func(found Hook) bool { return found.Event == w.Event }) {
			missing = append(missing, w.Event)
		}
	}
	return missing, nil
}

// Outdated lists events whose hook of Writ's is called for other tools than this
// version judges: one of an earlier version, or narrowed by hand.
func (h Host) Outdated(settings []byte) ([]string, error) {
	d, err := h.parse(settings)
	if err != nil {
		return nil, err
	}
	var outdated []string
	for _, w := range h.Hooks {
		found := h.ownIn(d, w.Event)
		if len(found) > 0 && !slices.ContainsFunc(found, func(o ownHandler) bool { return o.matcher == w.Matcher }) {
			outdated = append(outdated, w.Event)
		}
	}
	return outdated, nil
}

// Disabled says whether settings switch all hooks off, by the key that does.
func Disabled(settings []byte, key string) bool {
	d, err := parse(settings)
	if err != nil {
		return false
	}
	n := d.root.member(key)
	return n != nil && string(d.bytes(n)) == "true"
}

// Empty says whether settings hold nothing.
func Empty(settings []byte) bool {
	d, err := parse(settings)
	return err == nil && len(d.root.children) == 0
}

func (h Host) wants(event string) bool {
	return slices.ContainsFunc(h.Hooks, func(w Wanted) bool { return w.Event == event })
}

// parse reads settings as their host does, and checks the shape that the functions here
// rely on.
func (h Host) parse(settings []byte) (document, error) {
	d, err := parse(settings)
	if err != nil {
		return d, err
	}
	if at := d.commented(); at >= 0 && !h.Comments {
		line, column := position(settings, at)
		return d, fmt.Errorf("%w: line %d, column %d begins a comment, which JSON does not have", ErrSyntax, line, column)
	}
	hooks := d.root.member("hooks")
	if hooks == nil {
		return d, nil
	}
	line, _ := position(d.text, hooks.start)
	if hooks.kind != '{' {
		return d, fmt.Errorf("%w: line %d: \"hooks\" is not an object", ErrShape, line)
	}
	for i, event := range hooks.children {
		line, _ := position(d.text, event.start)
		if event.kind != '[' {
			return d, fmt.Errorf("%w: line %d: the hooks of %s are not a list", ErrShape, line, hooks.keys[i])
		}
	}
	return d, nil
}

func (d document) events() []string {
	hooks := d.root.member("hooks")
	if hooks == nil {
		return nil
	}
	return slices.Compact(slices.Clone(hooks.keys))
}

// ownHandler is the place of one of Writ's handlers in an event's list.
type ownHandler struct {
	entry, handlerAt int
	alone            bool // its entry holds nothing else
	matcher          string
	handler          handler
	text             []byte
}

func (h Host) ownIn(d document, event string) []ownHandler {
	list := d.root.member("hooks").member(event)
	if list == nil {
		return nil
	}
	var found []ownHandler
	for e, entry := range list.children {
		matcher := ""
		if m := entry.member("matcher"); m != nil {
			_ = json.Unmarshal(d.bytes(m), &matcher)
		}
		handlers := []*node{entry}
		if h.Nested {
			inner := entry.member("hooks")
			if inner == nil || inner.kind != '[' {
				continue
			}
			handlers = inner.children
		}
		for i, n := range handlers {
			var one handler
			if json.Unmarshal(d.bytes(n), &one) == nil && one.own(h.Agent) {
				found = append(found, ownHandler{e, i, len(handlers) == 1, matcher, one, d.bytes(n)})
			}
		}
	}
	return found
}

// installed says whether an event has Writ's hook, once and as it should be.
func (h Host) installed(d document, w Wanted, program string) bool {
	found := h.ownIn(d, w.Event)
	if len(found) != 1 {
		return false
	}
	return found[0].matcher == w.Matcher && h.asWanted(found[0].text, w.Event, program)
}

// without takes Writ's handlers out of an event, and what is empty then,
// except the event's list where keep says so.
func (h Host) without(d document, event string, keep func(event string) bool) document {
	for {
		found := h.ownIn(d, event)
		if len(found) == 0 {
			break
		}
		// From the end, so that earlier places stay.
		last := found[len(found)-1]
		list := d.root.member("hooks").member(event)
		if last.alone {
			d = d.remove(list, last.entry)
		} else {
			d = d.remove(list.children[last.entry].member("hooks"), last.handlerAt)
		}
	}
	hooks := d.root.member("hooks")
	i := hooks.index(event)
	if i >= 0 && len(hooks.children[i].children) == 0 && (keep == nil || !keep(event)) {
		d = d.remove(hooks, i)
	}
	return d
}

func (d document) withEntry(event string, entry any) document {
	if d.root.member("hooks") == nil {
		d = d.add(d.root, "hooks", struct{}{})
	}
	hooks := d.root.member("hooks")
	if list := hooks.member(event); list != nil {
		return d.add(list, "", entry)
	}
	return d.add(hooks, event, []any{entry})
}
