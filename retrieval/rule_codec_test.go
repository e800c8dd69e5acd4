package retrieval

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/writbus/writ/schemas"
)

// Whatever fields a rule has, now or later, they come back.
func TestEveryFieldOfARuleIsStored(t *testing.T) {
	var all schemas.Rule
	n := 0
	fillValue(reflect.ValueOf(&all).Elem(), &n)
	rules := []schemas.Rule{all}
	for i := range reflect.TypeFor[schemas.Rule]().NumField() {
		var one schemas.Rule
		reflect.ValueOf(&one).Elem().Field(i).Set(reflect.ValueOf(all).Field(i))
		rules = append(rules, one)
	}
	for i, rule := range rules {
		doc := Document{Type: "Rule", Rule: &rule}
		stored, err := doc.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalDocument(stored)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if !reflect.DeepEqual(*back.Rule, rule) {
			t.Errorf("%d: got %+v, want %+v", i, *back.Rule, rule)
		}
	}
}

// fillValue sets everything in a value to something that is not zero.
func fillValue(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillValue(v.Index(0), n)
		fillValue(v.Index(1), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(v.Field(i), n)
		}
	default:
		panic("no value of kind " + v.Kind().String())
	}
}
