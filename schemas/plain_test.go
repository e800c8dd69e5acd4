package schemas

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// simple holds a field of every kind that a plan knows, and one it does not.
type simple struct {
	S string   `json:"s"`
	B []byte   `json:"b,omitempty"`
	T bool     `json:"t"`
	I int      `json:"i"`
	L int64    `json:"l"`
	F float64  `json:"f"`
	N []string `json:"n"`
}

// TestPlainBodiesDecodeFast: what this package writes takes the short way.
func TestPlainBodiesDecodeFast(t *testing.T) {
	for _, body := range []string{
		`{}`, `{"s":"a"}`, `{"s":"","b":"","t":false,"i":0,"l":-1,"f":1e3}`, `{"b":"AP8=","t":true,"f":-0.5}`,
		`{"s":"tab\tquote\" \u003c\u00e9 ü \/"}`, `{"s":"` + strings.Repeat("long ", 1000) + `","i":7}`, `{"i":1,"i":2}`,
	} {
		var got, want simple
		if !planOf(reflect.TypeFor[simple]()).decode([]byte(body), reflect.ValueOf(&got).Elem()) {
			t.Errorf("%.60s took the long way", body)
		}
		if err := json.Unmarshal([]byte(body), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.60s: (-encoding/json +plan)\n%s", body, diff)
		}
	}
}

// TestEveryFlatTypeHasAPlan: an event type whose fields are simple does not
// fall back by accident.
func TestEveryFlatTypeHasAPlan(t *testing.T) {
	for _, typ := range Types() {
		flat := definitions()[typ].goType
		for i := range flat.NumField() {
			if !isPlain(flat.Field(i).Type) {
				flat = nil
				break
			}
		}
		if flat == nil {
			continue
		}
		body, err := json.Marshal(sampleEvent(typ).Data)
		if err != nil {
			t.Fatal(err)
		}
		if !planOf(flat).decode(body, reflect.New(flat).Elem()) {
			t.Errorf("%s takes the long way: %s", typ, body)
		}
	}
}

// FuzzPlan: what a plan accepts, encoding/json reads in the same way.
func FuzzPlan(f *testing.F) {
	for _, seed := range []string{
		`{"s":"a","b":"AP8=","t":true,"i":-1,"l":9,"f":0.25}`, `{"s":null}`, `{"S":"a"}`, `{"s":"\ud800"}`, `{"s":"\u00"}`, `{"i":01}`,
		`{"i":1.5}`, `{"f":1.}`, `{"f":.5}`, `{"f":1e}`, `{"f":1e999}`, `{"i":99999999999999999999}`, `{"b":"A"}`, `{"b":"A\nA=="}`, `{"t":truex}`, `{"s":"a",}`,
		`{"s":"a"}}`, `{"n":["x"],"s":"a"}`, `{"s":"\x00"}`, "{\"s\":\"\xff\"}", `{"s" :"a"}`, `{,}`, `{"s":"a"`, `{"s":"\`, `{"i":-}`, `{"\u0073":"a"}`, `{"f":-0}`,
	} {
		f.Add([]byte(seed))
	}
	p := planOf(reflect.TypeFor[simple]())
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, want simple
		if !p.decode(body, reflect.ValueOf(&got).Elem()) {
			return
		}
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatalf("accepted %q: %v", body, err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%q: read %+v, encoding/json reads %+v", body, got, want)
		}
	})
}

// FuzzUnparsedHeader: an unparsed header decodes like the parsed one.
func FuzzUnparsedHeader(f *testing.F) {
	m, err := Encode(sampleEvent("mode.changed"))
	if err != nil {
		f.Fatal(err)
	}
	block := "NATS/1.0\r\n"
	for name, values := range m.Header {
		block += name + ": " + values[0] + "\r\n"
	}
	f.Add([]byte(block + "Nats-Expected-Last-Sequence: 3\r\n\r\n"))
	f.Add([]byte(block + "ce-id: other\r\n: no name\r\nodd:\t \r\n\r\n"))
	f.Add([]byte("NATS/1.0\r\nce-id"))
	f.Fuzz(func(t *testing.T, block []byte) {
		raw := m
		raw.Header, raw.Block = nil, block
		parsed := raw.Unfolded()
		if parsed.Block != nil {
			t.Fatal("still unparsed")
		}
		for name := range parsed.Header {
			if a, b := raw.Attribute(name), parsed.Attribute(name); a != b {
				t.Fatalf("%q is %q unparsed and %q parsed, in %q", name, a, b, block)
			}
		}
		want, wantErr := Decode(parsed)
		got, gotErr := Decode(raw)
		if (wantErr == nil) != (gotErr == nil) || !reflect.DeepEqual(want, got) {
			t.Fatalf("unparsed: %+v, %v; parsed: %+v, %v", got, gotErr, want, wantErr)
		}
	})
}

func BenchmarkDecodeObservation(b *testing.B) {
	e := sampleEvent("observation.recorded")
	m, err := Encode(e)
	if err != nil {
		b.Fatal(err)
	}
	raw := m
	raw.Block = []byte("NATS/1.0\r\n")
	for name, values := range m.Header {
		raw.Block = append(raw.Block, name+": "+values[0]+"\r\n"...)
	}
	for name, m := range map[string]Message{"parsed": m, "unparsed": raw} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var events []Event
			for b.Loop() {
				if events, err = AppendDecoded(events[:0], m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
