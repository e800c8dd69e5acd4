// Package statediff compares two folded states of a session, as they travel: JSON
// whose shape it does not know.
//
// What a state lists is compared as a multiset.
package statediff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is a field that is not the same.
type Change struct {
	Field   string   `json:"field"` // path in the state, "work.gates.plan.channel"
	Was     string   `json:"was,omitempty"`
	Is      string   `json:"is,omitempty"`
	Added   []string `json:"added,omitempty"` // of a list
	Removed []string `json:"removed,omitempty"`
}

// Between compares two folded states field by field.
func Between(was, is json.RawMessage) ([]Change, error) {
	var a, b any
	if err := json.Unmarshal(was, &a); err != nil {
		return nil, fmt.Errorf("the state before: %w", err)
	}
	if err := json.Unmarshal(is, &b); err != nil {
		return nil, fmt.Errorf("the state after: %w", err)
	}
	changes := []Change{}
	compareFields("", a, b, &changes)
	return changes, nil
}

func compareFields(path string, was, is any, into *[]Change) {
	wasMap, wasIs := was.(map[string]any)
	isMap, isIs := is.(map[string]any)
	if (wasIs || was == nil) && (isIs || is == nil) && (wasIs || isIs) {
		names := slices.Sorted(maps.Keys(wasMap))
		for name := range isMap {
			if _, also := wasMap[name]; !also {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			at := name
			if path != "" {
				at = path + "." + name
			}
			compareFields(at, wasMap[name], isMap[name], into)
		}
		return
	}
	wasList, wasMany := was.([]any)
	isList, isMany := is.([]any)
	if (wasMany || was == nil) && (isMany || is == nil) && (wasMany || isMany) {
		added, removed := listChanges(textsOf(wasList), textsOf(isList))
		if len(added)+len(removed) > 0 {
			*into = append(*into, Change{Field: path, Added: added, Removed: removed})
		}
		return
	}
	if before, after := textOf(was), textOf(is); before != after {
		*into = append(*into, Change{Field: path, Was: before, Is: after})
	}
}

// listChanges compares lists as multisets: what a state lists is sorted, or in
// the order of its events.
func listChanges(was, is []string) (added, removed []string) {
	count := map[string]int{}
	for _, text := range was {
		count[text]++
	}
	for _, text := range is {
		if count[text] > 0 {
			count[text]--
			continue
		}
		added = append(added, text)
	}
	for _, text := range was {
		if count[text] > 0 {
			count[text]--
			removed = append(removed, text)
		}
	}
	return added, removed
}

func textsOf(list []any) (texts []string) {
	for _, one := range list {
		texts = append(texts, textOf(one))
	}
	return texts
}

// textOf is a value as text: a string as it is, anything else as JSON.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimRight(text.String(), "\n")
}
