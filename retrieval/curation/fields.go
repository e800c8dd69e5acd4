package curation

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/schemas"
)

// fieldText is a field of a node as lines of text: a list has one line an item,
// a text as many as it has.
type fieldText struct {
	name  string // as in front matter, "abstraction.members" within a part
	lines []string
}

// fieldTexts lists the fields of a node that hold something, in the order of
// its front matter. Edges are sorted, for their order means nothing.
func fieldTexts(node schemas.Rule) []fieldText {
	node.Edges = slices.Clone(node.Edges)
	slices.SortFunc(node.Edges, func(a, b schemas.Edge) int {
		return strings.Compare(a.Type+" "+a.Target, b.Type+" "+b.Target)
	})
	node.Type = node.NodeType()
	return appendFields(nil, "", reflect.ValueOf(node))
}

func appendFields(texts []fieldText, prefix string, part reflect.Value) []fieldText {
	for i := range part.NumField() {
		name, _, _ := strings.Cut(part.Type().Field(i).Tag.Get("json"), ",")
		value := part.Field(i)
		switch {
		case value.Kind() == reflect.Pointer && value.IsNil():
		case value.Kind() == reflect.Pointer:
			texts = appendFields(texts, prefix+name+".", value.Elem())
		default:
			if lines := linesOf(value); len(lines) > 0 {
				texts = append(texts, fieldText{prefix + name, lines})
			}
		}
	}
	return texts
}

func linesOf(value reflect.Value) []string {
	if value.IsZero() {
		return nil
	}
	switch v := value.Interface().(type) {
	case []string:
		return v
	case []schemas.Edge:
		var lines []string
		for _, e := range v {
			lines = append(lines, e.Type+" "+e.Target)
		}
		return lines
	case bool:
		return []string{"true"}
	case int:
		return []string{strconv.Itoa(v)}
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}
	}
	return strings.Split(strings.TrimSuffix(value.String(), "\n"), "\n")
}

type fieldPair struct {
	name     string
	old, new []string
}

// pairedFields joins the fields of two nodes by name. Both lists are in the
// order of the struct, so that a merge keeps it.
func pairedFields(a, b schemas.Rule) []fieldPair {
	olds, news := fieldTexts(a), fieldTexts(b)
	var pairs []fieldPair
	has := func(texts []fieldText, name string) bool {
		return slices.ContainsFunc(texts, func(f fieldText) bool { return f.name == name })
	}
	for len(olds) > 0 || len(news) > 0 {
		switch {
		case len(olds) > 0 && (len(news) == 0 || !has(news, olds[0].name)):
			pairs = append(pairs, fieldPair{olds[0].name, olds[0].lines, nil})
			olds = olds[1:]
		case len(olds) > 0 && olds[0].name == news[0].name:
			pairs = append(pairs, fieldPair{olds[0].name, olds[0].lines, news[0].lines})
			olds, news = olds[1:], news[1:]
		default:
			pairs = append(pairs, fieldPair{news[0].name, nil, news[0].lines})
			news = news[1:]
		}
	}
	return pairs
}
