package neo4jmirror

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/writbus/writ/schemas"
)

// fill sets every field below v to a value of its own.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case v.Kind() == reflect.Pointer:
		// Details belong to one type each; the test sets its own.
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint("text-", *n))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(int64(*n))
	case v.CanFloat():
		v.SetFloat(float64(*n) + 0.5)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	default:
		t.Fatalf("the mirror was never told about fields of kind %s", v.Type())
	}
}

// whole is a node of a type with every field set.
func whole(t *testing.T, kind schemas.NodeType) schemas.Rule {
	t.Helper()
	var r schemas.Rule
	n := 0
	fill(t, reflect.ValueOf(&r).Elem(), &n)
	r.Type, r.Edges = "", nil
	v := reflect.ValueOf(&r).Elem()
	own := "Check"
	if kind != schemas.NodeRule {
		r.Type, own = kind, string(kind)
	}
	field := v.FieldByName(own)
	if !field.IsValid() {
		t.Fatalf("a %s has no fields of its own", kind)
	}
	field.Set(reflect.New(field.Type().Elem()))
	fill(t, field.Elem(), &n)
	return r
}

// stored is what a node's properties are after they were in a database: lists
// come back as lists of anything, and what is nil is not there.
func stored(t *testing.T, r schemas.Rule) map[string]any {
	t.Helper()
	set, err := propertiesOf(r)
	if err != nil {
		t.Fatal(err)
	}
	back := map[string]any{"writ_generation": int64(1)}
	for name, v := range set {
		switch v := v.(type) {
		case nil:
		case []string:
			var list []any
			for _, s := range v {
				list = append(list, s)
			}
			back[name] = list
		default:
			back[name] = v
		}
	}
	return back
}

func TestEveryFieldComesBack(t *testing.T) {
	for _, kind := range schemas.NodeTypes() {
		t.Run(string(kind), func(t *testing.T) {
			want := whole(t, kind)
			r := newReader(kind, stored(t, want))
			got := r.node()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("\ngot  %+v\nwant %+v", got, want)
			}
			if len(r.unknown)+len(r.unfit)+len(r.assumed) > 0 {
				t.Errorf("unknown %q, unfit %q, assumed %q", r.unknown, r.unfit, r.assumed)
			}
		})
	}
}

func TestPropertyNamesAreOneNodesOwn(t *testing.T) {
	seen := map[string][]property{}
	for _, p := range properties() {
		for _, other := range seen[p.name] {
			if p.owner == "" || other.owner == "" || p.owner == other.owner {
				t.Errorf("%s is a field of %q and of %q", p.name, p.owner, other.owner)
			}
		}
		seen[p.name] = append(seen[p.name], p)
		if apart[p.name] || p.name == "" {
			t.Errorf("%q is no property", p.name)
		}
	}
}

func TestNothingOfTheOldFieldsStays(t *testing.T) {
	set, err := propertiesOf(schemas.Rule{ID: "A-B-001", Statement: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range properties() {
		if _, there := set[p.name]; !there {
			t.Errorf("%s would keep its old value", p.name)
		}
	}
}
