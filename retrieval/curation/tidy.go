package curation

import (
	"reflect"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Tidy returns the node with what is blank taken for missing: texts of nothing
// but white space are empty, blank entries of lists are gone. A file could not
// hold them, nor bytes that are not UTF-8. The argument and what it points to
// stay as they are.
func Tidy(node schemas.Rule) schemas.Rule {
	tidyPart(reflect.ValueOf(&node).Elem())
	return node
}

func tidyPart(part reflect.Value) {
	for i := range part.NumField() {
		field := part.Field(i)
		switch field.Kind() {
		case reflect.String:
			field.SetString(strings.ToValidUTF8(field.String(), "\uFFFD"))
			if strings.TrimSpace(field.String()) == "" {
				field.SetString("")
			}
		case reflect.Slice:
			switch list := field.Interface().(type) {
			case []string:
				field.Set(reflect.ValueOf(withoutBlanks(list)))
			case []schemas.Edge:
				field.Set(reflect.ValueOf(readable(list)))
			}
		case reflect.Pointer:
			if !field.IsNil() {
				fresh := reflect.New(field.Type().Elem())
				fresh.Elem().Set(field.Elem())
				tidyPart(fresh.Elem())
				field.Set(fresh)
			}
		default:
		}
	}
}

func withoutBlanks(list []string) []string {
	var kept []string
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			kept = append(kept, strings.ToValidUTF8(s, "\uFFFD"))
		}
	}
	return kept
}

func readable(edges []schemas.Edge) []schemas.Edge {
	var kept []schemas.Edge
	for _, e := range edges {
		kept = append(kept, schemas.Edge{
			Type: strings.ToValidUTF8(e.Type, "\uFFFD"), Target: strings.ToValidUTF8(e.Target, "\uFFFD"),
		})
	}
	return kept
}
